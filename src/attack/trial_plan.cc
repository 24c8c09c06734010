#include "attack/trial_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "assess/interner.h"
#include "audio/pairing.h"
#include "base/error.h"
#include "base/text.h"
#include "base/tsv.h"

namespace sotto {
namespace {

std::string Plural(std::size_t n, const char* word) {
  return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

// "3 speakers (the first: '1089')"
std::string CountAndFirst(const std::vector<std::string>& names, const char* word) {
  return fmt::format("{} (the first: '{}')", Plural(names.size(), word), names.front());
}

}  // namespace

std::vector<ListedTrial> ParseTrialList(std::string_view text, const std::string& where) {
  RequireClean(text, where);
  std::vector<ListedTrial> listed;
  std::size_t line = 0;
  for (const std::string_view row : SplitLines(text)) {
    ++line;
    const auto fields = SplitBlanks(row);
    if (fields.empty()) continue;
    if (fields.size() != 3 || (fields[2] != "target" && fields[2] != "nontarget")) {
      throw Error(fmt::format("{}, line {}: 'enrol trial target|nontarget' is expected, not '{}'",
                              where, line, row));
    }
    listed.push_back({std::string(fields[0]), std::string(fields[1]), fields[2] == "target"});
  }
  if (listed.empty()) throw Error(fmt::format("{}: no trial", where));
  return listed;
}

TrialPlan::TrialPlan(const EmbeddingSet& set, const PlanOptions& options)
    : l_(options.l), listed_(!options.listed.empty()) {
  for (const int l : l_) {
    if (l < 0) throw Error(fmt::format("{} enrolment utterances: 0 (all) or more is allowed", l));
  }
  const std::vector<std::string> without = set.WithoutGender();
  if (!without.empty() && options.unlabelled == Unlabelled::kError) {
    throw Error(fmt::format(
        "{} of {} have no gender, which same-gender impostors need (--unlabelled exclude leaves "
        "them out)",
        CountAndFirst(without, "speaker"), set.BySpeaker().size()));
  }
  genders_ = set.genders;
  if (listed_) {
    UseLists(set, options.listed);
  } else {
    Build(set);
  }
  std::set<std::string> names;
  for (const PlannedUtterance& utterance : trials_) names.insert(utterance.speaker);
  for (const PlannedUtterance& utterance : enrolment_) names.insert(utterance.speaker);
  speakers_.assign(names.begin(), names.end());
  excluded_ = without.size();
  if (speakers_.size() < 2) {
    throw Error(fmt::format("{} with a gender: an attack needs at least two",
                            Plural(speakers_.size(), "speaker")));
  }
}

void TrialPlan::Build(const EmbeddingSet& set) {
  std::vector<std::string> single;
  for (const auto& [speaker, places] : set.BySpeaker()) {
    if (!genders_.contains(speaker)) continue;
    if (places.size() < 2) {
      single.push_back(speaker);
      continue;
    }
    std::vector<std::string> ids;
    for (const std::size_t place : places) ids.push_back(set.ids[place]);
    std::sort(ids.begin(), ids.end());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      (i % 2 == 0 ? enrolment_ : trials_).push_back({ids[i], speaker});
    }
  }
  if (!single.empty()) {
    throw Error(
        fmt::format("{} with a single utterance: enrolment and trial need at least one each",
                    CountAndFirst(single, "speaker")));
  }
}

void TrialPlan::UseLists(const EmbeddingSet& set, const std::vector<ListedTrial>& listed) {
  const auto index = set.Index();
  const auto by_speaker = set.BySpeaker();
  std::set<std::string> tried, unknown;
  for (const ListedTrial& line : listed) {
    tried.insert(line.trial);
    if (!index.contains(line.trial)) unknown.insert(line.trial);
    if (!index.contains(line.enrol) && !by_speaker.contains(line.enrol)) unknown.insert(line.enrol);
  }
  if (!unknown.empty()) {
    throw Error(fmt::format("the trial lists name {} without an embedding",
                            CountAndFirst({unknown.begin(), unknown.end()}, "id")));
  }
  by_utterance_ = !by_speaker.contains(listed.front().enrol);
  std::map<std::string, std::size_t> place;
  std::set<std::string> enrolled, empty, both;
  const auto labelled = [&](const std::string& id) {
    return genders_.contains(set.speakers[index.at(id)]);
  };
  for (const std::string& id : tried) {
    if (!labelled(id)) continue;
    place[id] = trials_.size();
    trials_.push_back({id, set.speakers[index.at(id)]});
  }
  for (const ListedTrial& line : listed) {
    if (by_utterance_ == by_speaker.contains(line.enrol)) {
      throw Error(fmt::format(
          "the trial lists name speakers and utterances ('{}') for enrolment: one of them",
          line.enrol));
    }
    if (!place.contains(line.trial)) continue;
    if (by_utterance_ ? !labelled(line.enrol) : !genders_.contains(line.enrol)) continue;
    if (by_utterance_ && tried.contains(line.enrol)) both.insert(line.enrol);
    labels_[line.enrol][place.at(line.trial)] = line.is_target;
    if (!enrolled.insert(line.enrol).second) continue;
    if (by_utterance_) {
      enrolment_.push_back({line.enrol, set.speakers[index.at(line.enrol)]});
      continue;
    }
    std::vector<std::string> ids;
    for (const std::size_t i : by_speaker.at(line.enrol)) {
      if (!tried.contains(set.ids[i])) ids.push_back(set.ids[i]);
    }
    std::sort(ids.begin(), ids.end());
    if (ids.empty()) empty.insert(line.enrol);
    for (std::string& id : ids) enrolment_.push_back({std::move(id), line.enrol});
  }
  if (!empty.empty()) {
    throw Error(fmt::format("the trial lists leave {} without enrolment utterances",
                            CountAndFirst({empty.begin(), empty.end()}, "speaker")));
  }
  if (!both.empty()) {
    throw Error(fmt::format("the trial lists use {} for enrolment and as trial",
                            CountAndFirst({both.begin(), both.end()}, "utterance")));
  }
}

std::vector<PlannedModel> TrialPlan::Models(int l) const {
  if (by_utterance_ && l > 1) {
    throw Error("the trial lists name single enrolment utterances");
  }
  std::map<std::string, std::vector<Eigen::Index>> places;
  for (std::size_t i = 0; i < enrolment_.size(); ++i) {
    places[enrolment_[i].speaker].push_back(static_cast<Eigen::Index>(i));
  }
  std::vector<PlannedModel> models;
  std::vector<std::string> short_of;
  for (const auto& [speaker, members] : places) {
    const std::size_t size = by_utterance_ ? 1
                             : l == 0      ? members.size()
                                           : static_cast<std::size_t>(l);
    if (members.size() < size) short_of.push_back(speaker);
    for (std::size_t at = 0; at + size <= members.size(); at += size) {
      const auto first = members.begin() + static_cast<std::ptrdiff_t>(at);
      models.push_back({size == 1 ? enrolment_[static_cast<std::size_t>(*first)].id
                                  : fmt::format("{}#{}", speaker, at / size + 1),
                        speaker,
                        {first, first + static_cast<std::ptrdiff_t>(size)}});
    }
  }
  if (!short_of.empty()) {
    throw Error(fmt::format("{} of {} have fewer than {} enrolment utterances",
                            CountAndFirst(short_of, "speaker"), places.size(), l));
  }
  return models;
}

Trials TrialPlan::Compare(const std::vector<PlannedModel>& models,
                          const Eigen::Ref<const Eigen::MatrixXf>& scores, bool same_gender,
                          const std::vector<bool>& used) const {
  sotto::Trials trials;
  Interner enrol, test, speakers;
  const auto add = [&](std::size_t m, std::size_t t, bool is_target) {
    const PlannedModel& model = models[m];
    const PlannedUtterance& trial = trials_[t];
    if (same_gender && genders_.at(model.speaker) != genders_.at(trial.speaker)) return;
    trials.scores.push_back(scores(static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(t)));
    trials.is_target.push_back(is_target ? 1 : 0);
    trials.enrol.index.push_back(enrol.Add(model.id));
    trials.test.index.push_back(test.Add(trial.id));
    trials.enrol_spk.index.push_back(speakers.Add(model.speaker));
    trials.test_spk.index.push_back(speakers.Add(trial.speaker));
  };
  for (std::size_t m = 0; m < models.size(); ++m) {
    if (listed_) {
      const auto lines = labels_.find(by_utterance_ ? models[m].id : models[m].speaker);
      if (lines == labels_.end()) continue;
      for (const auto& [t, is_target] : lines->second) {
        if (used.empty() || used[t]) add(m, t, is_target);
      }
      continue;
    }
    for (std::size_t t = 0; t < trials_.size(); ++t) {
      if (used.empty() || used[t]) add(m, t, models[m].speaker == trials_[t].speaker);
    }
  }
  trials.enrol.names = enrol.TakeNames();
  trials.test.names = test.TakeNames();
  trials.enrol_spk.names = speakers.TakeNames();
  trials.test_spk.names = trials.enrol_spk.names;
  return trials;
}

Eigen::MatrixXf VectorsOf(const EmbeddingSet& set, const std::vector<PlannedUtterance>& utterances,
                          const std::string& what) {
  Eigen::MatrixXf vectors(set.Dimension(), static_cast<Eigen::Index>(utterances.size()));
  const PairingRule rule{.original = "plan", .released = what, .may_lack_originals = true};
  for (const IdPair& pair : PairById(IdsOf(utterances), set.ids, rule)) {
    vectors.col(static_cast<Eigen::Index>(pair.original)) =
        set.vectors.col(static_cast<Eigen::Index>(pair.released));
  }
  return vectors;
}

EmbeddingSet JoinEmbeddings(const std::vector<EmbeddingSet>& sets, const std::string& what) {
  EmbeddingSet joined;
  Eigen::Index n = 0;
  for (const EmbeddingSet& set : sets) n += set.vectors.cols();
  joined.vectors.resize(sets.front().Dimension(), n);
  Eigen::Index at = 0;
  for (const EmbeddingSet& set : sets) {
    if (set.Dimension() != joined.vectors.rows()) {
      throw Error(fmt::format("{}: embeddings of {} and of {} dimensions", what,
                              joined.vectors.rows(), set.Dimension()));
    }
    joined.ids.insert(joined.ids.end(), set.ids.begin(), set.ids.end());
    joined.speakers.insert(joined.speakers.end(), set.speakers.begin(), set.speakers.end());
    for (const auto& [speaker, gender] : set.genders) {
      if (joined.genders.emplace(speaker, gender).first->second != gender) {
        throw Error(fmt::format("{}: speaker '{}' has two genders", what, speaker));
      }
    }
    joined.vectors.middleCols(at, set.vectors.cols()) = set.vectors;
    at += set.vectors.cols();
  }
  ValidateEmbeddings(joined, what);
  return joined;
}

}  // namespace sotto
