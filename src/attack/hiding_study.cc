#include "attack/hiding_study.h"

#include <fmt/format.h>
#include <time.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "dp/allows.h"
#include "speaker/scoring.h"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

// What of the test voiceprints a figure is about.
struct Part {
  std::string name;
  AttackedVoices attacked;
  HidingTrials trials;
};

std::vector<Part> Parts(const HidingVoices& voices) {
  const std::vector<int> category = voices.labels.Of(voices.test, "--test");
  std::vector<Part> parts;
  const auto add = [&](const std::string& name, const std::function<bool(std::size_t)>& takes) {
    std::vector<std::size_t> all, whole;
    for (std::size_t i = 0; i < voices.test.size(); ++i) {
      if (!takes(i)) continue;
      all.push_back(i);
      if (!IsCrop(voices.test.ids[i])) whole.push_back(i);
    }
    parts.push_back({name, AttackedVoices(voices.test, voices.labels, all, name),
                     HidingTrials(voices.test, category, voices.labels.categories, whole)});
  };
  const std::size_t n = voices.folders.size();
  add(n == 1 ? voices.folders[0] : "all", [](std::size_t) { return true; });
  for (std::size_t f = 0; n > 1 && f < n; ++f) {
    add(voices.folders[f], [&](std::size_t i) { return voices.folder_of[i] == f; });
  }
  return parts;
}

class Protector {
 public:
  Protector(const StudiedDefence& defence, const HidingVoices& voices, const Key& key)
      : defence_(defence), voices_(voices), key_(key) {}

  ProtectedSides Sides() const {
    ProtectedSides sides;
    const EmbeddingSet& set = voices_.test;
    if (defence_.hider == nullptr) {
      sides.enrolment = sides.login = UnitLength(set.vectors);
      return sides;
    }
    const Categories own = CategoriesFor(*defence_.hider, voices_.labels, set);
    sides.enrolment = Release(set, own, "enrolment", defence_.per);
    const bool other_draws = defence_.eps && defence_.per == ProtectPer::kUtterance;
    sides.login = other_draws ? Release(set, own, "login", defence_.per) : sides.enrolment;
    if (!defence_.hider->AsksForCategories()) return sides;
    const auto n = static_cast<int>(defence_.hider->Header().attributes[0].categories.size());
    for (int shift = 1; shift < n; ++shift) {
      const Categories declared =
          own.unaryExpr([&](int category) { return (category + shift) % n; });
      sides.declared.push_back(
          Release(set, declared, fmt::format("declared {}", shift), defence_.per));
    }
    return sides;
  }

  EmbeddingSet Training() const {
    EmbeddingSet set = voices_.attack;
    if (defence_.hider == nullptr) {
      set.vectors = UnitLength(set.vectors);
    } else {
      const Categories own = CategoriesFor(*defence_.hider, voices_.labels, set);
      set.vectors = Release(set, own, "attackers", ProtectPer::kUtterance);
    }
    return set;
  }

 private:
  MatrixXf Release(const EmbeddingSet& set, const Categories& categories,
                   const std::string& context, ProtectPer per) const {
    HideOptions options;
    options.eps = defence_.eps;
    options.per = per;
    options.context = "study: " + context;
    return HideAttributes(*defence_.hider, set, categories, options, key_).set.vectors;
  }

  const StudiedDefence& defence_;
  const HidingVoices& voices_;
  const Key& key_;
};

AttributeExamples Examples(const EmbeddingSet& set, const AttributeLabels& labels) {
  AttributeExamples examples;
  examples.vectors = set.vectors;
  examples.labels = labels.Of(set, "--attack");
  examples.n_categories = static_cast<int>(labels.categories.size());
  std::map<std::string, int> number;
  for (const std::string& speaker : set.speakers) {
    examples.speakers.push_back(
        number.emplace(speaker, static_cast<int>(number.size())).first->second);
  }
  return examples;
}

// Of this thread.
double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// One study: its tasks run in any order and each writes a place of its own.
class Study {
 public:
  Study(const HidingVoices& voices, const std::vector<StudiedDefence>& defences,
        const HidingStudyOptions& options, const Key& key)
      : voices_(voices), options_(options), parts_(Parts(voices)) {
    // Tasks run side by side; within them nothing does.
    attack_ = options.attack;
    attack_.classifier.jobs = attack_.intervals.jobs = 1;
    rows_.resize(1 + defences.size());
    rows_[0].defence.name = "unprotected";
    for (std::size_t d = 0; d < defences.size(); ++d) rows_[d + 1].defence = defences[d];
    for (HidingRow& row : rows_) protectors_.emplace_back(row.defence, voices, key);
    sides_.resize(rows_.size());
    for (HidingRow& row : rows_) Prepare(row);
  }

  void Run(HidingStudy& study) {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      Add("protection", [this, r] {
        sides_[r] = protectors_[r].Sides();
        rows_[r].dimension = sides_[r].login.rows();
      });
    }
    RunTasks("protect", study);
    AddUninformed();
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      AddInformed(r);
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        if (!rows_[r].defence.only_curve) AddInDomain(r, p);
        Add("error rates", [this, r, p] { rows_[r].parts[p].utility = Utility(r, p); });
      }
    }
    RunTasks("attack", study);
    for (HidingRow& row : rows_) {
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        const HidingUtility& before = rows_[0].parts[p].utility;
        HidingPart& part = row.parts[p];
        const double level = attack_.intervals.level;
        part.pairs_ratio = PairedRatio(before.pairs, part.utility.pairs, level);
        part.templates_ratio = PairedRatio(before.templates, part.utility.templates, level);
      }
    }
    study.rows = std::move(rows_);
  }

 private:
  void Prepare(HidingRow& row) const {
    for (const Part& part : parts_) {
      HidingPart out;
      out.name = part.name;
      out.speakers = part.attacked.n_speakers;
      out.utterances = part.trials.Utterances();
      out.voiceprints = part.attacked.places.size();
      row.parts.push_back(std::move(out));
    }
    const Hider* hider = row.defence.hider.get();
    if (hider == nullptr) return;
    row.asks_for_categories = hider->AsksForCategories();
    if (!row.defence.eps) return;
    row.auc_ceiling = AucCeiling(*row.defence.eps, 0.0);
    row.all_noised = NoisesAll(*hider);
  }

  struct Task {
    std::string kind;
    std::function<void()> body;
    double cpu_seconds = 0.0;
  };

  void RunTasks(const char* name, HidingStudy& study) {
    Progress progress(name, tasks_.size(), static_cast<double>(tasks_.size()));
    ParallelFor(tasks_.size(), options_.jobs, [&](std::size_t i) {
      const double start = CpuSeconds();
      tasks_[i].body();
      tasks_[i].cpu_seconds = CpuSeconds() - start;
      progress.Done(1.0, 0.0);
    });
    for (const Task& task : tasks_) study.cpu_seconds[task.kind] += task.cpu_seconds;
    tasks_.clear();
  }

  void Add(std::string kind, std::function<void()> body) {
    tasks_.push_back({std::move(kind), std::move(body)});
  }

  static std::string Kind(const char* learning, std::size_t classifier) {
    return fmt::format("{} {}", learning, Name(kAttributeClassifiers[classifier]));
  }

  bool IsReadable(std::size_t r) const { return rows_[r].dimension == rows_[0].dimension; }

  // Places in the lists first, so that tasks write side by side.
  template <typename Which>
  void Reserve(std::size_t r, const Which& which) {
    for (HidingPart& part : rows_[r].parts) {
      for (const AttributeClassifier classifier : kAttributeClassifiers) {
        which(part.privacy).push_back({classifier, {}});
      }
    }
  }

  // Trained once on clean voiceprints, tried on what all defences release.
  void AddUninformed() {
    std::vector<std::size_t> readable;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (!IsReadable(r)) continue;
      readable.push_back(r);
      Reserve(
          r, [](HidingPrivacy & privacy) -> auto& { return privacy.uninformed; });
    }
    for (std::size_t k = 0; k < kAttributeClassifiers.size(); ++k) {
      Add(Kind("uninformed", k), [this, readable, k] {
        const Index n = voices_.test.vectors.cols();
        MatrixXf all(rows_[0].dimension, n * std::ssize(readable));
        for (std::size_t i = 0; i < readable.size(); ++i) {
          all.middleCols(static_cast<Index>(i) * n, n) = sides_[readable[i]].login;
        }
        const MatrixXf scores = ClassifyAttribute(
            kAttributeClassifiers[k], Examples(protectors_[0].Training(), voices_.labels), all,
            attack_.classifier);
        for (std::size_t i = 0; i < readable.size(); ++i) {
          for (std::size_t p = 0; p < parts_.size(); ++p) {
            rows_[readable[i]].parts[p].privacy.uninformed[k].auc =
                ScoreAuc(scores.middleCols(static_cast<Index>(i) * n, n), parts_[p].attacked,
                         attack_.intervals);
          }
        }
      });
    }
  }

  void AddInformed(std::size_t r) {
    Reserve(
        r, [](HidingPrivacy & privacy) -> auto& { return privacy.informed; });
    for (std::size_t k = 0; k < kAttributeClassifiers.size(); ++k) {
      Add(Kind("informed", k), [this, r, k] {
        const MatrixXf scores = ClassifyAttribute(
            kAttributeClassifiers[k], Examples(protectors_[r].Training(), voices_.labels),
            sides_[r].login, attack_.classifier);
        for (std::size_t p = 0; p < parts_.size(); ++p) {
          rows_[r].parts[p].privacy.informed[k].auc =
              ScoreAuc(scores, parts_[p].attacked, attack_.intervals);
        }
      });
    }
  }

  void AddInDomain(std::size_t r, std::size_t p) {
    std::vector<AttackerAuc>& found = rows_[r].parts[p].privacy.in_domain;
    for (const AttributeClassifier classifier : kAttributeClassifiers) {
      found.push_back({classifier, {}});
    }
    for (std::size_t k = 0; k < kAttributeClassifiers.size(); ++k) {
      Add(Kind("in-domain", k), [this, r, p, k] {
        EmbeddingSet released = voices_.test;
        released.vectors = sides_[r].login;
        rows_[r].parts[p].privacy.in_domain[k].auc =
            InDomainAuc(kAttributeClassifiers[k], released.Select(parts_[p].attacked.places),
                        voices_.labels, attack_);
      });
    }
  }

  HidingUtility Utility(std::size_t r, std::size_t p) const {
    return parts_[p].trials.Measure(sides_[r], attack_.intervals, rows_[r].defence.only_curve);
  }

  const HidingVoices& voices_;
  const HidingStudyOptions& options_;
  AttributeAttackOptions attack_;
  std::vector<Part> parts_;
  std::vector<HidingRow> rows_;
  std::vector<Protector> protectors_;
  std::vector<ProtectedSides> sides_;
  std::vector<Task> tasks_;
};

void CheckEncoders(const HidingVoices& voices, const std::vector<StudiedDefence>& defences) {
  for (const StudiedDefence& defence : defences) {
    const Hider& hider = *defence.hider;
    if (hider.Dimension() != voices.test.Dimension()) {
      throw Error(fmt::format("{}: fitted for {} dimensions; the voiceprints have {}", defence.name,
                              hider.Dimension(), voices.test.Dimension()));
    }
    const std::string& own = hider.Header().encoder.fingerprint;
    if (own.empty() || voices.encoder.fingerprint.empty() || own == voices.encoder.fingerprint) {
      continue;
    }
    throw Error(fmt::format("{}: fitted for voiceprints of encoder {} ({}); these are of {} ({})",
                            defence.name, hider.Header().encoder.encoder, own,
                            voices.encoder.encoder, voices.encoder.fingerprint));
  }
}

}  // namespace

HidingStudy StudyHiding(const HidingVoices& voices, const std::vector<StudiedDefence>& defences,
                        const HidingStudyOptions& options, const Key& key) {
  options.attack.Validate();
  CheckEncoders(voices, defences);
  const auto start = std::chrono::steady_clock::now();
  HidingStudy study;
  study.options = options;
  study.attribute = voices.labels.name;
  study.categories = voices.labels.categories;
  study.attack_voiceprints = voices.attack.size();
  std::vector<std::size_t> everybody(voices.attack.size());
  for (std::size_t i = 0; i < everybody.size(); ++i) everybody[i] = i;
  study.attack_speakers =
      AttackedVoices(voices.attack, voices.labels, everybody, "--attack").n_speakers;
  Study(voices, defences, options, key).Run(study);
  study.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return study;
}

}  // namespace sotto
