#include "attack/word_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "attack/reading_sessions.h"
#include "base/error.h"

namespace sotto {
namespace {

std::vector<PlannedUtterance> AllPlanned(const TrialPlan& plan) {
  std::vector<PlannedUtterance> all = plan.Enrolment();
  all.insert(all.end(), plan.Trials().begin(), plan.Trials().end());
  return all;
}

// The books that a speaker's trials come from: the later half of them (none of a single one).
std::map<std::string, std::set<std::size_t>> TrialBooks(const TrialPlan& plan,
                                                        const ReadingSessions& sessions) {
  std::map<std::string, std::set<std::size_t>> books;
  for (const PlannedUtterance& utterance : AllPlanned(plan)) {
    books[utterance.speaker].insert(sessions.BookOf(utterance.id));
  }
  for (auto& [speaker, of_speaker] : books) {
    const std::size_t enrolled = (of_speaker.size() + 1) / 2;
    for (std::size_t i = 0; i < enrolled; ++i) of_speaker.erase(of_speaker.begin());
  }
  return books;
}

class Linker {
 public:
  Linker(const TrialPlan& plan, const WordMaterial& material)
      : plan_(plan), material_(material), sessions_(AllPlanned(plan)) {
    if (sessions_.Known() && !plan.Listed()) trial_books_ = TrialBooks(plan, sessions_);
  }

  WordLinks Run(int l, TextScore score) {
    MakeModels(l);
    UseTrials();
    std::vector<TextWords> enrolment, trials;
    for (const PlannedModel& model : links_.models) {
      TextWords& text = enrolment.emplace_back();
      for (const Eigen::Index member : model.members) {
        const TextWords& said = material_.original.at(Enrolled(member).id);
        text.insert(text.end(), said.begin(), said.end());
      }
    }
    for (std::size_t t = 0; t < plan_.Trials().size(); ++t) {
      trials.push_back(links_.used[t] ? material_.released.at(plan_.Trials()[t].id) : TextWords{});
    }
    std::vector<TextWords> background = material_.background;
    if (background.empty()) background = Enrolment();
    links_.scores = TextScorer(score, background).Score(enrolment, trials);
    const std::size_t within = LeaveOutBooks();
    NormaliseScores(links_.scores);
    links_.remark = Remark(within);
    return std::move(links_);
  }

 private:
  const PlannedUtterance& Enrolled(Eigen::Index member) const {
    return plan_.Enrolment()[static_cast<std::size_t>(member)];
  }
  bool IsTrialBook(const PlannedUtterance& utterance) const {
    const auto books = trial_books_.find(utterance.speaker);
    return books != trial_books_.end() && books->second.contains(sessions_.BookOf(utterance.id));
  }
  bool CanEnrol(Eigen::Index member) const {
    const PlannedUtterance& utterance = Enrolled(member);
    return material_.original.contains(utterance.id) && !IsTrialBook(utterance);
  }

  // The enrolment by speaker, in groups of l as TrialPlan makes them.
  void MakeModels(int l) {
    if (plan_.Listed()) {
      for (PlannedModel& model : plan_.Models(l)) {
        const bool said = std::all_of(
            model.members.begin(), model.members.end(),
            [&](Eigen::Index member) { return material_.original.contains(Enrolled(member).id); });
        if (said) links_.models.push_back(std::move(model));
      }
    } else {
      std::map<std::string, std::vector<Eigen::Index>> places;
      for (Eigen::Index i = 0; i < static_cast<Eigen::Index>(plan_.Enrolment().size()); ++i) {
        if (CanEnrol(i)) places[Enrolled(i).speaker].push_back(i);
      }
      for (const auto& [speaker, members] : places) {
        const std::size_t size = l == 0 ? members.size() : static_cast<std::size_t>(l);
        for (std::size_t at = 0; at + size <= members.size(); at += size) {
          const auto first = members.begin() + static_cast<std::ptrdiff_t>(at);
          links_.models.push_back({fmt::format("{}#{}", speaker, at / size + 1),
                                   speaker,
                                   {first, first + static_cast<std::ptrdiff_t>(size)}});
        }
      }
    }
    std::set<std::string> speakers;
    for (const PlannedModel& model : links_.models) speakers.insert(model.speaker);
    if (speakers.size() < 2) {
      throw Error(fmt::format("{} speakers have {} enrolment utterances with transcripts{}",
                              speakers.size(), l == 0 ? "any" : fmt::to_string(l),
                              trial_books_.empty() ? "" : " outside the books of their trials"));
    }
  }

  // Of a speaker of several books, those of the trial books.
  void UseTrials() {
    for (const PlannedUtterance& trial : plan_.Trials()) {
      const auto books = trial_books_.find(trial.speaker);
      const bool divided = books != trial_books_.end() && !books->second.empty();
      const bool used = material_.released.contains(trial.id) && (!divided || IsTrialBook(trial));
      links_.used.push_back(used);
      if (used) ++trials_;
    }
    if (trials_ == 0) throw Error("no trial has a transcript");
  }

  // How many comparisons of a model with a trial of one of its books.
  std::size_t LeaveOutBooks() {
    if (!sessions_.Known()) return 0;
    std::size_t n = 0;
    for (std::size_t m = 0; m < links_.models.size(); ++m) {
      std::set<std::size_t> books;
      for (const Eigen::Index member : links_.models[m].members) {
        books.insert(sessions_.BookOf(Enrolled(member).id));
      }
      for (std::size_t t = 0; t < links_.used.size(); ++t) {
        if (!links_.used[t] || !books.contains(sessions_.BookOf(plan_.Trials()[t].id))) continue;
        links_.scores(static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(t)) =
            std::numeric_limits<float>::quiet_NaN();
        ++n;
      }
    }
    return n;
  }

  std::vector<TextWords> Enrolment() const {
    std::vector<TextWords> texts;
    for (const PlannedUtterance& utterance : plan_.Enrolment()) {
      const auto found = material_.original.find(utterance.id);
      if (found != material_.original.end()) texts.push_back(found->second);
    }
    return texts;
  }

  std::string Remark(std::size_t within) const {
    std::string text = fmt::format("{} of {} trials", trials_, plan_.Trials().size());
    if (sessions_.Known()) {
      return text + fmt::format(
                        ", across books alone, since a book links its reader ({} comparisons "
                        "within one are left out; chapters within {} numbers are taken for one)",
                        within, ReadingSessions::kNearChapters);
    }
    return text + ", which may share what they speak of with the enrolment";
  }

  const TrialPlan& plan_;
  const WordMaterial& material_;
  ReadingSessions sessions_;
  std::map<std::string, std::set<std::size_t>> trial_books_;
  WordLinks links_;
  std::size_t trials_ = 0;
};

}  // namespace

WordLinks LinkByWords(const TrialPlan& plan, const WordMaterial& material, int l, TextScore score) {
  return Linker(plan, material).Run(l, score);
}

}  // namespace sotto
