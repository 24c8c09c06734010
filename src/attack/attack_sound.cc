#include "attack/attack_sound.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "attack/attacker_header.h"
#include "attack/protector.h"
#include "attack/voiceprints.h"
#include "audio/pairing.h"
#include "audio/transcripts.h"
#include "base/error.h"
#include "base/files.h"
#include "base/tsv.h"
#include "speaker/embed_corpus.h"
#include "speaker/encoder.h"
#include "text/word_corpus.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

constexpr int kQuickTrials = 2, kQuickEnrolment = 3;
constexpr int kQuickSpeakers = 150, kQuickUtterances = 4;

// What was asked for, 0 meaning no limit; a quick run has limits of its own where nothing was.
int Limit(int asked, bool quick, int quick_limit) {
  return quick && asked == 0 ? quick_limit : asked;
}

// "level original new" lines, as --map-out writes them: new utterance id to original.
std::map<std::string, std::string> ReadIdMap(const fs::path& path) {
  const std::string text = ReadTextFile(path);
  const Tsv table = ParseTsv(text, path.string());
  const std::size_t level = table.Column("level"), original = table.Column("original"),
                    renamed = table.Column("new");
  if (level == Tsv::kNone || original == Tsv::kNone || renamed == Tsv::kNone) {
    throw Error(fmt::format("{}: columns level, original and new are needed", path.string()));
  }
  std::map<std::string, std::string> map;
  for (const auto& row : table.rows) {
    if (row[level] == "utterance") map[std::string(row[renamed])] = std::string(row[original]);
  }
  return map;
}

// The released utterances under the ids and speakers of the originals.
void MatchReleased(UtteranceList& released, const UtteranceList& original,
                   const AttackOptions& options, bool new_ids) {
  if (new_ids) {
    if (options.id_map.empty()) {
      throw Error("the release has new ids: give the file of --map-out (--id-map)");
    }
    const auto map = ReadIdMap(options.id_map);
    for (Utterance& utterance : released.utterances) {
      const auto found = map.find(utterance.id);
      if (found == map.end()) {
        throw Error(fmt::format("{}: released utterance '{}' is not in it", options.id_map.string(),
                                utterance.id));
      }
      utterance.id = found->second;
    }
  }
  const PairingRule rule{.original = options.original.string(),
                         .released = options.released.string(),
                         .may_lack_released = true};
  for (const IdPair& pair :
       PairById(IdsOf(original.utterances), IdsOf(released.utterances), rule)) {
    released.utterances[pair.released].speaker = original.utterances[pair.original].speaker;
  }
  released.genders = original.genders;
}

// The first utterances of speakers spread over the names, those with one utterance left out.
std::vector<std::size_t> ChooseBackground(const UtteranceList& list, int speakers, int utterances) {
  std::map<std::string, std::vector<std::size_t>> by_speaker;
  for (std::size_t i = 0; i < list.utterances.size(); ++i) {
    by_speaker[list.utterances[i].speaker].push_back(i);
  }
  std::erase_if(by_speaker, [](const auto& speaker) { return speaker.second.size() < 2; });
  const std::size_t n = by_speaker.size();
  const std::size_t kept =
      speakers == 0 ? n : std::min<std::size_t>(n, static_cast<std::size_t>(speakers));
  std::vector<std::size_t> chosen;
  std::size_t s = 0;
  for (const auto& [speaker, places] : by_speaker) {
    const bool taken = (s + 1) * kept / n > s * kept / n;
    ++s;
    if (!taken) continue;
    const std::size_t some =
        utterances == 0
            ? places.size()
            : std::min<std::size_t>(places.size(), static_cast<std::size_t>(utterances));
    chosen.insert(chosen.end(), places.begin(), places.begin() + static_cast<std::ptrdiff_t>(some));
  }
  return chosen;
}

std::string Metadata(const SpeakerEncoder& encoder, const char* key) {
  const auto found = encoder.Metadata().find(key);
  return found == encoder.Metadata().end() ? "" : found->second;
}

// Makes all material from sound.
class Gatherer {
 public:
  explicit Gatherer(const AttackOptions& options)
      : o_(options),
        record_(ReadReleaseRecord(options.released, options.method_table)),
        encoder_(OpenEncoder(options.encoder.empty() ? kDefaultEncoder : options.encoder,
                             options.trust_models)),
        original_(ListUtterances({options.original})),
        released_(ListUtterances({options.released})) {
    TakeFiles();
    if (!o_.attacker_encoder.empty()) {
      attacker_ = OpenEncoder(o_.attacker_encoder.string(), o_.trust_models);
      RequireAttackerOf(Metadata(*attacker_, "sotto.attacker"), record_,
                        encoder_->WeightsFingerprint(), o_.attacker_encoder.string());
    }
    MatchReleased(released_, original_, o_, record_.new_ids);
    if (!o_.background.empty()) CheckBackground();
  }

  LadderResult Run() {
    const TrialPlan plan(LabelsOf(original_, AllOf(original_)), o_.plan);
    FindUtterances(released_, IdsOf(plan.Trials()), "release");
    Gather(plan);
    LadderResult result = RunLadder(plan, material_, o_.ladder);
    notes_.insert(notes_.end(), result.notes.begin(), result.notes.end());
    result.notes = std::move(notes_);
    return result;
  }

 private:
  bool Quick() const { return o_.ladder.quick; }

  // The record tells of files and does not hold them.
  void TakeFiles() {
    VoiceOptions& voice = record_.voice;
    for (const Parameter& parameter : voice.Method().Parameters()) {
      const auto given = o_.files.find(parameter.attack_flag);
      if (given == o_.files.end() || given->second.empty()) continue;
      voice.Set(parameter.name, given->second.string());
      if (parameter.kind == Parameter::Kind::kVoices) record_.lacks_pool = false;
    }
    if (o_.trust_models) voice.SetIfKnown("trust-models");
  }

  void CheckBackground() {
    background_ = ListUtterances({o_.background});
    chosen_ = ChooseBackground(background_, Limit(o_.background_speakers, Quick(), kQuickSpeakers),
                               Limit(o_.background_utterances, Quick(), kQuickUtterances));
    std::set<std::string> speakers, unlabelled;
    for (const std::size_t i : chosen_) {
      const std::string& speaker = background_.utterances[i].speaker;
      speakers.insert(speaker);
      if (!background_.genders.contains(speaker)) unlabelled.insert(speaker);
    }
    if (!unlabelled.empty() && o_.plan.unlabelled == Unlabelled::kError) {
      throw Error(fmt::format(
          "background '{}': {} of {} speakers have no gender, which the gender attackers need "
          "(--unlabelled exclude leaves them out there)",
          o_.background.string(), unlabelled.size(), speakers.size()));
    }
    notes_.push_back(fmt::format(
        "background: {} utterances of {} speakers{}", chosen_.size(), speakers.size(),
        unlabelled.empty() ? ""
                           : fmt::format("; {} without a gender do not train the gender attackers",
                                         unlabelled.size())));
  }

  // What the attacker's own copy of the method lacks; empty: nothing.
  std::string MissingParts() const {
    const MethodDefinition& method = record_.voice.Method();
    for (const Parameter& parameter : method.Parameters()) {
      if (parameter.kind == Parameter::Kind::kVoices && record_.lacks_pool) {
        return fmt::format("the release used a pool of its own: give it with --{}",
                           parameter.attack_flag);
      }
      if (parameter.fact.empty()) continue;
      for (const auto& [field, value] : method.Facts(record_.voice)) {
        if (field != parameter.fact || value == record_.nets) continue;
        return fmt::format("the release used other nets ({}) than these: give them with --{}",
                           record_.nets, parameter.attack_flag);
      }
    }
    return {};
  }

  void Gather(const TrialPlan& plan) {
    if (plan.Excluded() > 0) {
      notes_.push_back(fmt::format("{} speakers without a gender were left out", plan.Excluded()));
    }
    notes_.push_back("release: " + record_.Describe());
    notes_.push_back(
        fmt::format("encoder: {} {}", encoder_->Name(), encoder_->Fingerprint().substr(0, 8)));
    const std::vector<std::string> enrol_ids = IdsOf(plan.Enrolment());
    enrol_ = FindUtterances(original_, enrol_ids, "originals");
    trial_ = FindUtterances(released_, IdsOf(plan.Trials()), "release");
    if (const std::string missing = MissingParts(); !missing.empty()) {
      for (const Attacker attacker :
           {Attacker::kLazyInformed, Attacker::kSemiInformedQuick, Attacker::kSemiInformed,
            Attacker::kInformed, Attacker::kGenderProtected}) {
        material_.absent[attacker] = missing;
      }
    } else {
      enrolment_ = OnlyUtterances(OpenCorpus(o_.original), {enrol_ids.begin(), enrol_ids.end()});
      voices_ = ModelFor(record_.voice, enrolment_, o_.jobs);
      own_ = std::make_unique<Protector>(record_.voice, record_.strategy,
                                         Key::ForExperiment(ExperimentKey(o_.attacker_seed)),
                                         "attacker, enrolment", voices_, enrolment_);
      MakeBackgroundProtector();
    }
    const Hearers base{{encoder_.get()}, {&material_.base}};
    material_.base.original = One(Hear(base, original_, {"originals", AllOf(original_), {}, {}}));
    material_.base.released = One(Hear(base, released_, {"release", AllOf(released_), {}, {}}));
    if (chosen_.empty()) {
      material_.absent[Attacker::kSemiInformedQuick] =
          "it needs the attacker's own speech (--background)";
    } else {
      material_.base.background = One(Hear(base, background_, {"background", chosen_, {}, {}}));
    }
    Undo(base);
    KnowPoolRule();
    KnowWords();
    Hearers all = base, background;
    if (attacker_) {
      material_.retrained.emplace();
      background = {{attacker_.get()}, {&*material_.retrained}};
      material_.retrained->released =
          One(Hear(background, released_, {"release, retrained", trial_, {}, {}}));
      all.encoders.push_back(attacker_.get());
      all.materials.push_back(&*material_.retrained);
    }
    if (Quick()) background = all;  // otherwise the base encoder's is not asked for
    EmbedProtected(all, background, plan);
    if (attacker_) {
      material_.curve =
          ParseTrainingCurve(Metadata(*attacker_, "sotto.training"), o_.attacker_encoder.string());
      material_.remarks[Attacker::kSemiInformed] =
          fmt::format("encoder {}", attacker_->Fingerprint().substr(0, 8));
    } else if (!material_.absent.contains(Attacker::kSemiInformed)) {
      material_.absent[Attacker::kSemiInformed] =
          "it needs an encoder retrained on protected speech (sotto train encoder, "
          "--attacker-encoder)";
    }
    if (Quick()) {
      material_.remarks[Attacker::kSemiInformedQuick] =
          "quick: mean, LDA and PLDA re-estimated, the encoder is the clean one";
    }
  }

  // The attacker's background speech gets a fresh draw for each utterance, whatever the strategy:
  // per-speaker draws would teach the back-end pseudo-speakers.
  void MakeBackgroundProtector() {
    if (chosen_.empty()) return;
    std::set<std::string> ids;
    for (const std::size_t i : chosen_) ids.insert(background_.utterances[i].id);
    const Corpus corpus = OnlyUtterances(OpenCorpus(o_.background), ids);
    background_protector_ = std::make_unique<Protector>(
        record_.voice, Strategy::kRandom, Key::ForExperiment(ExperimentKey(o_.attacker_seed)),
        "attacker, background", ModelFor(record_.voice, corpus, o_.jobs), corpus);
  }

  // Who hears the same sound, and what each has heard.
  struct Hearers {
    std::vector<const SpeakerEncoder*> encoders;
    std::vector<EncoderMaterial*> materials;
  };

  static EmbeddingSet One(std::vector<EmbeddingSet> sets) { return std::move(sets.front()); }

  std::vector<EmbeddingSet> Hear(const Hearers& hearers, const UtteranceList& list,
                                 const VoiceprintJob& job) const {
    return Voiceprinter(hearers.encoders, {o_.cache, o_.jobs}).Embed(list, job);
  }

  void EmbedProtected(const Hearers& all, const Hearers& background, const TrialPlan& plan) {
    if (!own_) return;
    const auto keep = [](const Hearers& hearers, std::vector<EmbeddingSet> sets,
                         std::optional<EmbeddingSet> EncoderMaterial::*place) {
      for (std::size_t i = 0; i < sets.size(); ++i) {
        hearers.materials[i]->*place = std::move(sets[i]);
      }
    };
    keep(
        all,
        Hear(all, original_, {"enrolment, attacker's draws", enrol_, own_->Change(), own_->Text()}),
        &EncoderMaterial::own_enrolment);
    if (!background.encoders.empty() && background_protector_) {
      keep(background,
           Hear(background, background_,
                {"background, attacker's draws", chosen_, background_protector_->Change(),
                 background_protector_->Text()}),
           &EncoderMaterial::own_background);
    }
    Inform(all, plan);
  }

  void Inform(const Hearers& hearers, const TrialPlan& plan) {
    if (!record_.HasDraws()) {
      for (EncoderMaterial* material : hearers.materials) {
        material->informed.emplace();
        material->informed->columns =
            VectorsOf(*material->own_enrolment, plan.Enrolment(), "enrolment");
      }
      material_.remarks[Attacker::kInformed] =
          "every utterance is treated alike: there is no draw to know";
      return;
    }
    const std::optional<Key> key = GivenKey(o_.seed, o_.key_file);
    if (!key) {
      material_.absent[Attacker::kInformed] = "it needs the key of the release (--key)";
      return;
    }
    if (record_.context_given && o_.context.empty()) {
      material_.absent[Attacker::kInformed] = "the release used a context: give it with --context";
      return;
    }
    if (record_.Rule().rule != PoolRule::kIndependent) {
      material_.remarks[Attacker::kInformed] = fmt::format(
          "the key alone does not tell a target of {}: it is drawn by the embedding of the "
          "original, in place of which that of the enrolment is used",
          record_.voice.Method().Rule(record_.voice)->Name());
    }
    const Protector same(record_.voice, record_.strategy, *key, o_.context, voices_, enrolment_);
    if (same.WorksOnFolders() && record_.strategy == Strategy::kRandom) {
      material_.absent[Attacker::kInformed] =
          "the method works on whole folders, and does not repeat the draw of one utterance";
      return;
    }
    for (EncoderMaterial* material : hearers.materials) material->informed.emplace();
    if (record_.strategy == Strategy::kRandom) {
      InformByTrial(hearers, plan, same);
      return;
    }
    const std::vector<EmbeddingSet> made = Hear(
        hearers, original_, {"enrolment, the release's draws", enrol_, same.Change(), same.Text()});
    for (std::size_t i = 0; i < made.size(); ++i) {
      hearers.materials[i]->informed->columns = VectorsOf(made[i], plan.Enrolment(), "enrolment");
    }
  }

  void InformByTrial(const Hearers& hearers, const TrialPlan& plan, const Protector& same) {
    const int most_trials = Limit(o_.informed_trials, Quick(), kQuickTrials);
    const int most_enrolment = Limit(o_.informed_enrolment, Quick(), kQuickEnrolment);
    std::vector<std::size_t> enrol, columns;
    std::map<std::string, int> taken;
    for (std::size_t i = 0; i < enrol_.size(); ++i) {
      if (taken[plan.Enrolment()[i].speaker]++ >= most_enrolment && most_enrolment > 0) continue;
      enrol.push_back(enrol_[i]);
      columns.push_back(i);
    }
    taken.clear();
    const auto n = static_cast<Eigen::Index>(enrol_.size());
    std::size_t tried = 0;
    for (std::size_t t = 0; t < plan.Trials().size(); ++t) {
      const PlannedUtterance& trial = plan.Trials()[t];
      if (taken[trial.speaker]++ >= most_trials && most_trials > 0) continue;
      const std::vector<EmbeddingSet> made =
          Hear(hearers, original_,
               {fmt::format("enrolment, draw of '{}'", trial.id), enrol, same.ChangeAs(trial.id),
                same.Text() + "\tas " + trial.id});
      for (std::size_t i = 0; i < made.size(); ++i) {
        Eigen::MatrixXf all = Eigen::MatrixXf::Constant(made[i].Dimension(), n, std::nanf(""));
        for (std::size_t k = 0; k < columns.size(); ++k) {
          all.col(static_cast<Eigen::Index>(columns[k])) =
              made[i].vectors.col(static_cast<Eigen::Index>(k));
        }
        hearers.materials[i]->informed->by_trial[t] = std::move(all);
      }
      ++tried;
    }
    std::string& remark = material_.remarks[Attacker::kInformed];
    remark = fmt::format(
        "{} of {} trials, {} of {} enrolment utterances re-transformed for each{}{}", tried,
        plan.Trials().size(), enrol.size(), enrol_.size(), remark.empty() ? "" : "; ", remark);
  }

  // What a corpus says beside its sound. What a recogniser would hear is not tried.
  void KnowWords() {
    const auto words_of = [](const std::map<std::string, std::string>& transcripts) {
      std::map<std::string, TextWords> words;
      for (const auto& [id, text] : transcripts) words[id] = WordsOf(text);
      return words;
    };
    WordMaterial words;
    words.original = words_of(Transcripts(OpenCorpus(o_.original)));
    std::map<std::string, std::string> released = Transcripts(OpenCorpus(o_.released));
    if (words.original.empty() || released.empty()) {
      material_.absent[Attacker::kWords] =
          fmt::format("the {} has no transcripts", words.original.empty() ? "original" : "release");
      return;
    }
    if (record_.new_ids) {
      std::map<std::string, std::string> renamed;
      for (const auto& [id, original] : ReadIdMap(o_.id_map)) {
        const auto found = released.find(id);
        if (found != released.end()) renamed[original] = std::move(found->second);
      }
      released = std::move(renamed);
    }
    words.released = words_of(released);
    if (!o_.background.empty()) {
      for (auto& [id, text] : words_of(Transcripts(OpenCorpus(o_.background)))) {
        words.background.push_back(std::move(text));
      }
    }
    material_.words = std::move(words);
  }

  void KnowPoolRule() {
    const PoolRuleRecord known = record_.Rule();
    SetPoolRule(known, material_);
    if (!material_.rule) return;
    // On every page that shows this row.
    material_.remarks[Attacker::kPoolRule] += record_.RuleRemark();
    if (record_.lacks_pool) return;
    const std::optional<SpeakerPool> known_pool = record_.voice.Method().RulePool(record_.voice);
    if (!known_pool) return;
    const SpeakerPool& pool = *known_pool;
    if (pool.encoder != encoder_->WeightsFingerprint()) return;  // of another space
    Eigen::MatrixXf& voices = material_.rule->pool;
    voices.resize(static_cast<Eigen::Index>(encoder_->Dimension()),
                  static_cast<Eigen::Index>(pool.voices.size()));
    for (std::size_t i = 0; i < pool.voices.size(); ++i) {
      voices.col(static_cast<Eigen::Index>(i)) =
          Eigen::Map<const Eigen::VectorXf>(pool.voices[i].embedding.data(), voices.rows());
    }
  }

  void Undo(const Hearers& base) {
    const std::vector<Undoing> grid = UndoGrid(record_.voice, Quick());
    for (const Undoing& undoing : grid) {
      material_.undone.push_back(
          One(Hear(base, released_,
                   {"release undone, " + undoing.name, trial_, undoing.change,
                    "undo " + record_.voice.Text() + undoing.name}))
              .vectors);
    }
    if (grid.empty()) {
      material_.absent[Attacker::kWaveformInversion] =
          "this method makes new sound: there is no warp to undo";
      return;
    }
    material_.remarks[Attacker::kWaveformInversion] =
        fmt::format("best of {} grid point{}", grid.size(), grid.size() == 1 ? "" : "s");
  }

  const AttackOptions& o_;
  ReleaseRecord record_;
  std::unique_ptr<SpeakerEncoder> encoder_, attacker_;
  UtteranceList original_, released_, background_;
  std::vector<std::size_t> chosen_;         // of background_
  std::vector<std::size_t> enrol_, trial_;  // of original_ and released_, in the plan's order
  Corpus enrolment_;                        // of the originals
  ModelledVoices voices_;                   // of the enrolment speakers
  std::unique_ptr<Protector> own_, background_protector_;
  AttackMaterial material_;
  std::vector<std::string> notes_;
};

}  // namespace

void SetPoolRule(const PoolRuleRecord& known, AttackMaterial& material) {
  if (known.rule == PoolRule::kIndependent) {
    material.absent[Attacker::kPoolRule] =
        fmt::format("the target does not depend on the source ({})", known.text);
    return;
  }
  material.rule.emplace();
  material.rule->lowest = known.rule == PoolRule::kFarthest;
  material.remarks[Attacker::kPoolRule] =
      fmt::format("{}: the {} cosine to the pseudonym", known.text,
                  material.rule->lowest ? "lowest" : "highest");
}

LadderResult AttackSound(const AttackOptions& options) { return Gatherer(options).Run(); }

}  // namespace sotto
