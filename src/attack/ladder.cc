#include "attack/ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "assess/pav.h"
#include "assess/verification.h"
#include "attack/attributes.h"
#include "attack/backends.h"
#include "attack/calibrated_sum.h"
#include "attack/ladder_parts.h"
#include "attack/procrustes.h"
#include "base/error.h"

namespace sotto {
namespace {

using Eigen::MatrixXf;
using Backends = std::vector<const Backend*>;
// Scores of all models against all trials.
using Scorer = std::function<MatrixXf(const Backend&, const std::vector<PlannedModel>&)>;

constexpr std::size_t kDrawnScores = 100'000'000;
constexpr int kMinResamples = 100;

class Ladder {
 public:
  Ladder(const TrialPlan& plan, const AttackMaterial& material, const LadderOptions& options)
      : plan_(plan), material_(material), options_(options) {
    if (!material.base.original) throw Error("the ladder needs embeddings of the originals");
    original_enrol_ = VectorsOf(*material.base.original, plan.Enrolment(), "originals, enrolment");
    released_trial_ = VectorsOf(material.base.released, plan.Trials(), "release, trials");
    plain_ = {&Add(MakeCosine()), &Add(MakeCentredCosine())};
    if (material.base.background) {
      try {
        plain_.push_back(&Add(MakePlda(TrainOnBackground(*material.base.background))));
      } catch (const Error& error) {
        result_.notes.push_back(fmt::format("no PLDA on original background: {}", error.what()));
      }
    }
    if (material.base.own_background) TrainQuick();
    if (material.retrained) TrainRetrained();
  }

  LadderResult Run() {
    result_.speakers = plan_.Speakers().size();
    result_.enrolment = plan_.Enrolment().size();
    result_.trials = plan_.Trials().size();
    Unprotected();
    Ignorant();
    WithinRelease();
    LazyInformed();
    SemiInformedQuick();
    SemiInformed();
    Informed();
    WaveformInversion();
    InvertEmbeddings();
    FollowPoolRule();
    LinkWords();
    Gender();
    result_.map = MapTrials(plan_, *material_.base.original, material_.base.released,
                            options_.map_points, options_.verify.jobs);
    FindWorst();
    result_.curve = material_.curve;
    return std::move(result_);
  }

 private:
  const Backend& Add(std::unique_ptr<Backend> backend) {
    owned_.push_back(std::move(backend));
    return *owned_.back();
  }

  void TrainQuick() {
    try {
      const PldaBackend trained = TrainOnBackground(*material_.base.own_background);
      quick_ = {&Add(MakePlda(trained)), &Add(MakeLdaCosine(trained))};
    } catch (const Error& error) {
      quick_reason_ = error.what();
    }
  }

  void TrainRetrained() {
    retrained_ = {&Add(MakeCosine()), &Add(MakeCentredCosine())};
    if (!material_.retrained->own_background) return;
    try {
      const PldaBackend trained = TrainOnBackground(*material_.retrained->own_background);
      retrained_.push_back(&Add(MakePlda(trained)));
    } catch (const Error& error) {
      result_.notes.push_back(fmt::format("no PLDA for the retrained encoder: {}", error.what()));
    }
  }

  LadderRow NewRow(Attacker attacker, const std::string& backend, bool same_gender = false,
                   int l = 0) const {
    LadderRow row;
    row.attacker = attacker;
    row.backend = backend;
    row.impostors = !row.LinksSpeakers() ? "none" : same_gender ? "same_gender" : "all";
    row.l = l;
    const auto remark = material_.remarks.find(attacker);
    if (remark != material_.remarks.end()) row.reason = remark->second;
    return row;
  }

  // What the material says of the attacker's absence, or what is said where it says nothing.
  std::string Why(Attacker attacker, std::string_view otherwise) const {
    const auto found = material_.absent.find(attacker);
    return found != material_.absent.end() ? found->second : std::string(otherwise);
  }

  void NotRun(Attacker attacker, const std::string& reason) {
    LadderRow row = NewRow(attacker, "none");
    row.reason = reason;
    result_.rows.push_back(std::move(row));
  }
  void NotRun(Attacker attacker) { NotRun(attacker, Why(attacker, InfoOf(attacker).lacks)); }

  // Rows for every l and kind of impostors; `suffix` goes to the back-end's name.
  void Score(std::vector<LadderRow>& rows, Attacker attacker, const Backend& backend,
             const Scorer& scorer, const std::string& suffix = {}) {
    for (const int l : plan_.L()) {
      std::vector<PlannedModel> models;
      MatrixXf scores;
      std::string reason;
      try {
        models = plan_.Models(l);
        scores = scorer(backend, models);
      } catch (const Error& error) {
        reason = error.what();
      }
      for (const bool same_gender : {false, true}) {
        LadderRow row = NewRow(attacker, backend.Name() + suffix, same_gender, l);
        if (reason.empty()) {
          Measure(row, models, scores);
        } else {
          row.reason = reason;
        }
        rows.push_back(std::move(row));
      }
    }
  }

  // Trials and models that the scorer could not make have NaN scores and are left out.
  Trials Compare(const std::vector<PlannedModel>& models, const MatrixXf& scores,
                 bool same_gender) const {
    std::vector<PlannedModel> kept_models;
    std::vector<Eigen::Index> kept_rows;
    std::vector<bool> used(static_cast<std::size_t>(scores.cols()));
    for (Eigen::Index t = 0; t < scores.cols(); ++t) {
      used[static_cast<std::size_t>(t)] = !scores.col(t).array().isNaN().all();
    }
    for (Eigen::Index m = 0; m < scores.rows(); ++m) {
      if (scores.row(m).array().isNaN().all()) continue;
      kept_models.push_back(models[static_cast<std::size_t>(m)]);
      kept_rows.push_back(m);
    }
    if (kept_rows.size() == models.size()) {
      return plan_.Compare(models, scores, same_gender, used);
    }
    MatrixXf kept(static_cast<Eigen::Index>(kept_rows.size()), scores.cols());
    for (std::size_t i = 0; i < kept_rows.size(); ++i) {
      kept.row(static_cast<Eigen::Index>(i)) = scores.row(kept_rows[i]);
    }
    return plan_.Compare(kept_models, kept, same_gender, used);
  }

  void Measure(LadderRow& row, const std::vector<PlannedModel>& models, const MatrixXf& scores) {
    Measure(row, Compare(models, scores, row.impostors == "same_gender"));
  }

  void Measure(LadderRow& row, Trials trials) {
    VerifyOptions verify = options_.verify;
    if (trials.size() > 0) {
      const auto most =
          static_cast<int>(std::max<std::size_t>(kMinResamples, kDrawnScores / trials.size()));
      verify.resamples = std::min(verify.resamples, most);
    }
    try {
      const ScoreLevels levels = MakeLevels(trials);
      VerifyResult verified = Verify(trials, levels, verify);
      row.figures = std::move(verified.figures);
      row.bootstrap = verified.bootstrap;
      for (Figure& figure : row.figures) figure.attacker = Name(row.attacker);
      row.ran = true;
    } catch (const Error& error) {
      row.reason = error.what();
      return;
    }
    const double eer = row.Value("eer");
    if (row.attacker != Attacker::kUnprotected && row.LinksVoices() && eer < lowest_eer_) {
      lowest_eer_ = eer;
      result_.worst_trials = std::move(trials);
    }
  }

  // One enrolment for all trials.
  Scorer Against(const MatrixXf& enrol, const MatrixXf& trial) const {
    return [&enrol, &trial](const Backend& backend, const std::vector<PlannedModel>& models) {
      return backend.Score(models, enrol, trial, trial);
    };
  }

  void Unprotected() {
    const MatrixXf trial = VectorsOf(*material_.base.original, plan_.Trials(), "originals, trials");
    for (const Backend* backend : plain_) {
      Score(result_.unprotected, Attacker::kUnprotected, *backend, Against(original_enrol_, trial));
    }
  }

  void Ignorant() {
    for (const Backend* backend : plain_) {
      Score(result_.rows, Attacker::kIgnorant, *backend, Against(original_enrol_, released_trial_));
    }
  }

  void WithinRelease() {
    MatrixXf enrol;
    try {
      enrol = VectorsOf(material_.base.released, plan_.Enrolment(), "release, enrolment");
    } catch (const Error& error) {
      NotRun(Attacker::kWithinRelease, Why(Attacker::kWithinRelease, error.what()));
      return;
    }
    for (const Backend* backend : plain_) {
      Score(result_.rows, Attacker::kWithinRelease, *backend, Against(enrol, released_trial_));
    }
  }

  void LazyInformed() {
    if (!material_.base.own_enrolment) {
      NotRun(Attacker::kLazyInformed);
      return;
    }
    own_enrol_ = VectorsOf(*material_.base.own_enrolment, plan_.Enrolment(),
                           "the attacker's protected enrolment");
    for (const Backend* backend : plain_) {
      Score(result_.rows, Attacker::kLazyInformed, *backend, Against(own_enrol_, released_trial_));
    }
  }

  void SemiInformedQuick() {
    if (!options_.quick) return;
    constexpr Attacker kName = Attacker::kSemiInformedQuick;
    if (quick_.empty() || own_enrol_.size() == 0) {
      quick_reason_.empty() ? NotRun(kName) : NotRun(kName, quick_reason_);
      return;
    }
    // The mean re-estimated on protected speech is already something.
    Score(result_.rows, kName, *plain_[1], Against(own_enrol_, released_trial_));
    for (const Backend* backend : quick_) {
      Score(result_.rows, kName, *backend, Against(own_enrol_, released_trial_));
    }
  }

  void SemiInformed() {
    if (!material_.retrained || !material_.retrained->own_enrolment) {
      NotRun(Attacker::kSemiInformed);
      return;
    }
    const EncoderMaterial& m = *material_.retrained;
    const MatrixXf enrol = VectorsOf(*m.own_enrolment, plan_.Enrolment(),
                                     "the attacker's protected enrolment by the retrained encoder");
    const MatrixXf trial =
        VectorsOf(m.released, plan_.Trials(), "release by the retrained encoder, trials");
    for (const Backend* backend : retrained_) {
      Score(result_.rows, Attacker::kSemiInformed, *backend, Against(enrol, trial));
    }
  }

  void Informed() {
    if (!material_.base.informed) {
      NotRun(Attacker::kInformed);
      return;
    }
    for (const Backend* backend : plain_) {
      ScoreInformed(*backend, *material_.base.informed, released_trial_, "");
    }
    for (const Backend* backend : quick_) {
      ScoreInformed(*backend, *material_.base.informed, released_trial_, "_protected");
    }
    if (!material_.retrained || !material_.retrained->informed) return;
    const MatrixXf trial = VectorsOf(material_.retrained->released, plan_.Trials(),
                                     "release by the retrained encoder, trials");
    for (const Backend* backend : retrained_) {
      ScoreInformed(*backend, *material_.retrained->informed, trial, "_retrained");
    }
  }

  void ScoreInformed(const Backend& backend, const InformedEnrolment& informed,
                     const MatrixXf& trial, const std::string& suffix) {
    if (informed.by_trial.empty()) {
      Score(result_.rows, Attacker::kInformed, backend, Against(informed.columns, trial), suffix);
      return;
    }
    const auto scorer = [&](const Backend& b, const std::vector<PlannedModel>& models) {
      MatrixXf scores =
          MatrixXf::Constant(static_cast<Eigen::Index>(models.size()), trial.cols(), std::nanf(""));
      for (const auto& [place, enrol] : informed.by_trial) {
        const auto t = static_cast<Eigen::Index>(place);
        scores.col(t) = ScoreWithGaps(b, models, enrol, trial.col(t));
      }
      return scores;
    };
    Score(result_.rows, Attacker::kInformed, backend, scorer, suffix);
  }

  void WaveformInversion() {
    if (material_.undone.empty()) {
      NotRun(Attacker::kWaveformInversion);
      return;
    }
    const auto scorer = [&](const Backend& backend, const std::vector<PlannedModel>& models) {
      MatrixXf best;
      for (const MatrixXf& trial : material_.undone) {
        const MatrixXf scores = backend.Score(models, original_enrol_, trial, trial);
        best = best.size() == 0 ? scores : MatrixXf(best.cwiseMax(scores));
      }
      return best;
    };
    for (const Backend* backend : plain_) {
      Score(result_.rows, Attacker::kWaveformInversion, *backend, scorer);
    }
  }

  // A pseudonym is what the release sounds like; the rule alone says who is likely behind it. For
  // farthest this is the opposite of what the ignorant attacker looks for.
  void FollowPoolRule() {
    if (!material_.rule) {
      NotRun(Attacker::kPoolRule);
      return;
    }
    const SourceRule& rule = *material_.rule;
    const float sign = rule.lowest ? -1.0F : 1.0F;
    const auto follow = [&](const MatrixXf& pseudonyms, const std::string& suffix) {
      const Scorer scorer = [&](const Backend& backend, const std::vector<PlannedModel>& models) {
        return MatrixXf(sign * backend.Score(models, original_enrol_, pseudonyms, pseudonyms));
      };
      for (const Backend* backend : {plain_[0], plain_[1]}) {
        Score(result_.rows, Attacker::kPoolRule, *backend, scorer,
              (rule.lowest ? "_lowest" : "_highest") + suffix);
      }
    };
    follow(released_trial_, "");
    if (rule.pool.cols() == 0) return;
    const MatrixXf scores = CosineScores(rule.pool, released_trial_);
    MatrixXf taken(rule.pool.rows(), released_trial_.cols());
    for (Eigen::Index t = 0; t < taken.cols(); ++t) {
      Eigen::Index voice = 0;
      scores.col(t).maxCoeff(&voice);
      taken.col(t) = rule.pool.col(voice);
    }
    follow(taken, "_pool_voice");
  }

  void LinkWords();
  void LinkWordsBy(int l);
  void InvertEmbeddings();
  void InvertWith(const EmbeddingSet& before, const EmbeddingSet& after, const std::string& suffix);
  void Gender();
  EmbeddingSet PlannedSet(const EmbeddingSet& set,
                          const std::vector<PlannedUtterance>& utterances) const {
    return SelectPlanned(plan_, set, utterances);
  }
  void AttackGenderWith(Attacker attacker, const EmbeddingSet& train);

  void FindWorst() {
    result_.worst = LowestRow(result_.rows);
    if (result_.worst == LadderResult::kNone) return;
    const ScoreLevels levels = MakeLevels(result_.worst_trials);
    result_.exposed = MeasureZoo(result_.worst_trials, WithLaplace(FitPav(levels)));
  }

  const TrialPlan& plan_;
  const AttackMaterial& material_;
  const LadderOptions& options_;
  LadderResult result_;
  std::vector<std::unique_ptr<Backend>> owned_;
  Backends plain_, quick_, retrained_;
  std::string quick_reason_;
  MatrixXf original_enrol_, released_trial_, own_enrol_;
  double lowest_eer_ = 2.0;
};

// Words are linked from all enrolment of a speaker, too: a single utterance says little.
void Ladder::LinkWords() {
  if (!material_.words) {
    NotRun(Attacker::kWords);
    NotRun(Attacker::kVoiceAndWords, Why(Attacker::kWords, InfoOf(Attacker::kWords).lacks));
    return;
  }
  std::vector<int> l = plan_.L();
  if (std::find(l.begin(), l.end(), 0) == l.end()) l.push_back(0);
  for (const int one : l) LinkWordsBy(one);
}

// The voice is heard as the strongest attacker without training or key hears it: against enrolment
// with the attacker's own draws, where there is some.
void Ladder::LinkWordsBy(int l) {
  const bool own = own_enrol_.size() > 0;
  const MatrixXf& enrol = own ? own_enrol_ : original_enrol_;
  const char* heard = own ? "lazy-informed" : "ignorant";
  WordLinks links;
  try {
    links = LinkByWords(plan_, *material_.words, l);
  } catch (const Error& error) {
    for (const Attacker attacker : {Attacker::kWords, Attacker::kVoiceAndWords}) {
      LadderRow row = NewRow(attacker, Name(kBestTextScore), false, l);
      row.reason = error.what();
      result_.rows.push_back(std::move(row));
    }
    return;
  }
  for (const bool same_gender : {false, true}) {
    const Trials trials =
        WithScores(plan_.Compare(links.models, links.scores, same_gender, links.used));
    LadderRow row = NewRow(Attacker::kWords, Name(kBestTextScore), same_gender, l);
    Measure(row, trials);
    if (row.ran) row.reason = links.remark;
    result_.rows.push_back(std::move(row));
    for (const Backend* backend : plain_) {
      LadderRow both = NewRow(Attacker::kVoiceAndWords,
                              backend->Name() + "+" + Name(kBestTextScore), same_gender, l);
      try {
        MatrixXf voice = backend->Score(links.models, enrol, released_trial_, released_trial_);
        voice = links.scores.array().isNaN().select(links.scores, voice);
        Trials summed = WithScores(plan_.Compare(links.models, voice, same_gender, links.used));
        const double alone = EerInterpolated(MakeLevels(summed));
        summed.scores = CalibratedSum(summed, trials.scores);
        Measure(both, std::move(summed));
        if (both.ran) {
          both.reason = fmt::format("voice: {} {}, EER {:.1f} % alone; {}", heard, backend->Name(),
                                    100.0 * alone, links.remark);
        }
      } catch (const Error& error) {
        both.reason = error.what();
      }
      result_.rows.push_back(std::move(both));
    }
  }
}

// Pairs of recordings before and after protection teach the rotation. Own pairs: the enrolment and
// the background speech under the attacker's draws. Known pairs: released recordings whose
// originals the attacker has (the enrolment again). Trials are never among them.
void Ladder::InvertEmbeddings() {
  const EncoderMaterial& base = material_.base;
  const EmbeddingSet enrolment = PlannedSet(*base.original, plan_.Enrolment());
  bool ran = false;
  if (base.own_enrolment) {
    EmbeddingSet before = enrolment;
    EmbeddingSet after = PlannedSet(*base.own_enrolment, plan_.Enrolment());
    if (base.background && base.own_background) {
      before = JoinEmbeddings({before, *base.background}, "pairs, original");
      after = JoinEmbeddings({after, *base.own_background}, "pairs, protected");
    }
    InvertWith(before, after, "_own_pairs");
    ran = true;
  }
  const auto released = base.released.Index();
  const bool has_pairs =
      std::all_of(plan_.Enrolment().begin(), plan_.Enrolment().end(),
                  [&](const PlannedUtterance& u) { return released.contains(u.id); });
  if (has_pairs) {
    InvertWith(enrolment, PlannedSet(base.released, plan_.Enrolment()), "_known_pairs");
    ran = true;
  }
  if (!ran) {
    NotRun(Attacker::kEmbeddingInversion,
           Why(Attacker::kLazyInformed, InfoOf(Attacker::kEmbeddingInversion).lacks));
  }
}

void Ladder::InvertWith(const EmbeddingSet& before, const EmbeddingSet& after,
                        const std::string& suffix) {
  const EmbeddingInversion inversion(before, after);
  const MatrixXf enrol = inversion.FromOriginal(original_enrol_);
  const MatrixXf trial = inversion.FromProtected(released_trial_);
  const std::size_t first = result_.rows.size();
  Score(result_.rows, Attacker::kEmbeddingInversion, *plain_.front(), Against(enrol, trial),
        suffix);
  const std::vector<Figure> found =
      InversionFigures(plan_, inversion, *material_.base.original, material_.base.released);
  for (std::size_t i = first; i < result_.rows.size(); ++i) {
    LadderRow& row = result_.rows[i];
    if (!row.ran) continue;
    row.reason = fmt::format("{} pairs", before.size());
    row.figures.insert(row.figures.end(), found.begin(), found.end());
  }
}

void Ladder::AttackGenderWith(Attacker attacker, const EmbeddingSet& train) {
  GenderTest data;
  if (options_.unlabelled == Unlabelled::kError) RequireGenders(train, "background speech");
  std::vector<std::size_t> labelled;
  for (std::size_t i = 0; i < train.size(); ++i) {
    if (train.genders.contains(train.speakers[i])) labelled.push_back(i);
  }
  data.train = train.Select(labelled);
  data.test = PlannedSet(material_.base.released, plan_.Trials());
  data.intervals = {options_.verify.resamples, options_.verify.interval_level, options_.verify.seed,
                    options_.verify.jobs};
  for (const auto classifier : {AttributeClassifier::kNearest, AttributeClassifier::kNet}) {
    LadderRow row;
    try {
      row = AttackGender(attacker, classifier, data);
    } catch (const Error& error) {
      row = NewRow(attacker, Name(classifier));
      row.reason = error.what();
    }
    result_.rows.push_back(std::move(row));
  }
}

// Without background speech the attacker learns from the enrolment, other speakers than those
// tested (attack/attributes.h).
void Ladder::Gender() {
  const auto enrolment = [&](const EmbeddingSet& set) {
    return PlannedSet(set, plan_.Enrolment());
  };
  const EncoderMaterial& base = material_.base;
  AttackGenderWith(Attacker::kGenderOriginal,
                   base.background ? *base.background : enrolment(*base.original));
  if (base.own_background) {
    AttackGenderWith(Attacker::kGenderProtected, *base.own_background);
  } else if (base.own_enrolment) {
    AttackGenderWith(Attacker::kGenderProtected, enrolment(*base.own_enrolment));
  } else {
    NotRun(Attacker::kGenderProtected);
  }
}

}  // namespace

LadderResult RunLadder(const TrialPlan& plan, const AttackMaterial& material,
                       const LadderOptions& options) {
  return Ladder(plan, material, options).Run();
}

}  // namespace sotto
