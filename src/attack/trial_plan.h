// Who is compared with whom: for every speaker some utterances are the attacker's (enrolment) and
// the others are what was released (trials); none is both.
#pragma once

#include <Eigen/Core>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assess/trials.h"
#include "speaker/embeddings.h"

namespace sotto {

enum class Unlabelled { kError, kExclude };

// A line of the user's list.
struct ListedTrial {
  std::string enrol;  // a speaker, or an utterance
  std::string trial;  // an utterance
  bool is_target = false;
};
// Kaldi/VPC form, "enrol trial target|nontarget". Throws Error that names `where` and the line.
std::vector<ListedTrial> ParseTrialList(std::string_view text, const std::string& where);

struct PlanOptions {
  Unlabelled unlabelled = Unlabelled::kError;  // speakers without a gender
  std::vector<int> l = {1, 3, 5};              // enrolment utterances averaged; 0: all there are
  std::vector<ListedTrial> listed;             // empty: lists are built
};

struct PlannedUtterance {
  std::string id, speaker;
};

// A mean of enrolment utterances that stands for a speaker.
struct PlannedModel {
  std::string id, speaker;
  std::vector<Eigen::Index> members;  // places among the enrolment utterances
};

class TrialPlan {
 public:
  // `set` names utterances, speakers and genders. Built lists: the utterances of each speaker in
  // order of id are enrolment and trial by turns. Given lists: trials are the utterances they name;
  // where they name a speaker for enrolment, it is with the speaker's utterances that no line
  // tries. Throws Error with counts for speakers with a single utterance (built lists), without
  // enrolment (given lists), ids the set lacks, and speakers without a gender (kExclude leaves them
  // out).
  TrialPlan(const EmbeddingSet& set, const PlanOptions& options);

  const std::vector<PlannedUtterance>& Enrolment() const { return enrolment_; }
  const std::vector<PlannedUtterance>& Trials() const { return trials_; }
  const std::vector<std::string>& Speakers() const { return speakers_; }
  Gender GenderOf(const std::string& speaker) const { return genders_.at(speaker); }
  const std::vector<int>& L() const { return l_; }
  std::size_t Excluded() const { return excluded_; }  // speakers without a gender
  bool Listed() const { return listed_; }             // the user gave lists

  // Groups of `l` consecutive enrolment utterances of a speaker, none in two groups; what is left
  // over is not used. Throws Error that counts the speakers who have fewer.
  std::vector<PlannedModel> Models(int l) const;

  // All planned comparisons of these models with their scores (one row for each model, one column
  // for each trial). `same_gender`: impostors of the target's gender alone. `used` (one flag for
  // each trial; empty: all) leaves trials out.
  sotto::Trials Compare(const std::vector<PlannedModel>& models,
                        const Eigen::Ref<const Eigen::MatrixXf>& scores, bool same_gender,
                        const std::vector<bool>& used = {}) const;

 private:
  void Build(const EmbeddingSet& set);
  void UseLists(const EmbeddingSet& set, const std::vector<ListedTrial>& listed);

  std::vector<PlannedUtterance> enrolment_, trials_;
  std::vector<std::string> speakers_;
  std::map<std::string, Gender> genders_;
  std::vector<int> l_;
  bool listed_ = false;
  // Given lists: label by (enrol, place of the trial), enrol being a speaker or an utterance.
  std::map<std::string, std::map<std::size_t, bool>> labels_;
  bool by_utterance_ = false;  // the lists name enrolment utterances
  std::size_t excluded_ = 0;
};

// Columns of `set` in the order of the utterances. Throws Error that names `what` and counts the
// utterances without an embedding.
Eigen::MatrixXf VectorsOf(const EmbeddingSet& set, const std::vector<PlannedUtterance>& utterances,
                          const std::string& what);

// Several sets of one encoder as one. Throws Error when they share an utterance, differ in size or
// disagree about a gender.
EmbeddingSet JoinEmbeddings(const std::vector<EmbeddingSet>& sets, const std::string& what);

}  // namespace sotto
