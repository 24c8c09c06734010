#include "evaluate/evaluate.h"

#include <fmt/format.h>

#include <ctime>
#include <map>
#include <set>

#include "assess/legal.h"
#include "assess/verify.h"
#include "attack/attack.h"
#include "attack/attacker_header.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "release/anonymise.h"
#include "speaker/embedding_stream.h"
#include "speaker/encoder.h"
#include "utility/one_side.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

double ProcessSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// All that a corpus says, and the stamps of its sound files.
std::string CorpusText(const Corpus& corpus) {
  std::string text;
  for (const Recording& recording : corpus.recordings) {
    text += fmt::format("{}\t{}\n", recording.id, FileStamp(recording.path));
    for (const Span& span : recording.spans) {
      text +=
          fmt::format("{}\t{}\t{}\t{}\n", span.utterance, span.speaker, span.begin_s, span.end_s);
    }
  }
  for (const Table* table : {&corpus.spk2gender, &corpus.text}) {
    for (const auto& [key, rest] : *table) text += fmt::format("{}\t{}\n", key, rest);
  }
  for (const auto& row : corpus.rows) {
    for (const std::string& field : row) text += fmt::format("{}\t", field);
  }
  return text;
}

std::vector<CellAttack::OneGender> ByGender(const Trials& all,
                                            const std::map<std::string, Gender>& genders,
                                            const VerifyOptions& options) {
  std::vector<CellAttack::OneGender> list;
  if (!all.HasSpeakers()) return list;
  for (const Gender gender : {Gender::kFemale, Gender::kMale}) {
    Trials some;
    for (auto column : {&Trials::enrol, &Trials::test, &Trials::enrol_spk, &Trials::test_spk}) {
      (some.*column).names = (all.*column).names;
    }
    CellAttack::OneGender one;
    one.gender = gender;
    one.eer.name = "eer";
    one.eer.value = std::nan("");
    for (std::size_t t = 0; t < all.size(); ++t) {
      const auto found = genders.find(all.enrol_spk.At(t));
      if (found == genders.end() || found->second != gender) continue;
      some.scores.push_back(all.scores[t]);
      some.is_target.push_back(all.is_target[t]);
      one.n_tar += all.is_target[t];
      for (auto column : {&Trials::enrol, &Trials::test, &Trials::enrol_spk, &Trials::test_spk}) {
        if ((all.*column).Present()) (some.*column).index.push_back((all.*column).index[t]);
      }
    }
    one.n_non = some.size() - one.n_tar;
    if (one.n_tar == 0 || one.n_non == 0) {
      one.eer.remark = "no comparisons of this gender";
    } else {
      const VerifyResult verified = Verify(some, MakeLevels(some), options);
      one.eer.value = verified.scores.eer;
      const Figure* eer = FindFigure(verified.figures, "eer");
      if (eer != nullptr) one.eer.interval = eer->interval;
    }
    list.push_back(std::move(one));
  }
  return list;
}

std::vector<CellAttack::Among> Legal(const Trials& trials) {
  std::vector<CellAttack::Among> list;
  if (!trials.HasSpeakers()) return list;
  LegalOptions options;
  options.population = {2, 5, 10, 20, 50, 100};
  options.utterances = {1};
  const LegalResult result = LegalMeter(trials).Measure(options);
  for (const LegalPoint& point : result.linkability) {
    CellAttack::Among one{point.n, point.value, point.chance, std::nan(""),
                          SinglingOutChance(point.n)};
    for (const LegalPoint& single : result.singling_out) {
      if (single.n == point.n) one.singling_out = single.value;
    }
    list.push_back(one);
  }
  return list;
}

class Runner {
 public:
  Runner(const EvaluateOptions& options, const std::string& version, const StepForms& forms)
      : o_(options),
        version_(version),
        forms_(forms),
        corpus_(OpenCorpus(options.original)),
        steps_(options.out) {
    encoder_ = OpenEncoder(o_.encoder.empty() ? kDefaultEncoder : o_.encoder, o_.trust_models);
    originals_ = CorpusText(corpus_);
    genders_ = SpeakerGenders(corpus_);
    if (!o_.background.empty()) background_ = CorpusText(OpenCorpus(o_.background));
    PlanCells();
    GiveAttackers();
  }

  Evaluation Run() {
    for (EvaluatedCell& cell : cells_) {
      Protect(cell);
      Attack(cell);
      MeasureUtility(cell);
    }
    Evaluation result;
    result.cells = std::move(cells_);
    result.version = version_;
    result.encoder = encoder_->Name();
    result.encoder_fingerprint = encoder_->Fingerprint();
    result.recordings = corpus_.recordings.size();
    result.utterances = corpus_.utterances;
    result.speakers = corpus_.speakers.size();
    result.steps_made = steps_.Made();
    result.steps_found = steps_.Found();
    result.quick = o_.quick;
    result.background = !o_.background.empty();
    result.seed = o_.seed;
    result.resamples = o_.resamples;
    result.level = o_.level;
    return result;
  }

 private:
  AnonymiseOptions Protection(const EvaluatedCell& cell) const {
    AnonymiseOptions options;
    static_cast<VoiceOptions&>(options) = o_.Voice(cell.method);
    options.in = o_.original;
    options.out = cell.folder / "protected";
    options.strategy = cell.strategy;
    options.experiment_seed = o_.seed;
    if (!o_.seed) options.key_out = KeyFile(cell);
    options.jobs = o_.jobs;
    return options;
  }

  // Of the cell's copy, for the informed attacker. It stays: a later run may attack again.
  static fs::path KeyFile(const EvaluatedCell& cell) { return cell.folder / "release.key"; }

  fs::path Released(const EvaluatedCell& cell) const {
    const fs::path folder = cell.folder / "protected";
    return corpus_.kind == CorpusKind::kManifest ? folder / corpus_.manifest_name : folder;
  }

  void PlanCells() {
    std::set<std::string> ids;
    for (const std::string& method : o_.methods) {
      const VoiceOptions voice = o_.Voice(method);
      for (const Strategy strategy : o_.StrategiesOf(voice)) {
        EvaluatedCell cell;
        cell.method = method;
        cell.strategy = strategy;
        cell.id = fmt::format("{}-{}-{}", voice.MethodName(), sotto::Name(strategy),
                              ContentDigest(voice.Text()).substr(0, 8));
        cell.folder = steps_.Path() / cell.id;
        if (!ids.insert(cell.id).second) {
          throw Error(fmt::format("method '{}' with strategy {} is asked for twice", method,
                                  sotto::Name(strategy)));
        }
        cell.record =
            ParseReleaseRecord(PlannedRecord(Protection(cell), version_), method, o_.method_table);
        cells_.push_back(std::move(cell));
      }
    }
  }

  void GiveAttackers() {
    for (const fs::path& file : o_.attacker_encoders) {
      const auto attacker = OpenEncoder(file.string(), o_.trust_models);
      const auto header = attacker->Metadata().find("sotto.attacker");
      const std::string text = header == attacker->Metadata().end() ? "" : header->second;
      std::string mismatch;
      std::size_t fits = 0;
      for (EvaluatedCell& cell : cells_) {
        const std::string why =
            AttackerMismatch(text, cell.record, encoder_->WeightsFingerprint(), file.string());
        if (!why.empty()) {
          mismatch = fmt::format("{}: {}", cell.Name(), why);
          continue;
        }
        if (!cell.attacker_encoder.empty()) {
          throw Error(fmt::format("'{}' and '{}' both fit {}: give one of them",
                                  cell.attacker_encoder.string(), file.string(), cell.Name()));
        }
        cell.attacker_encoder = file;
        cell.attacker_encoder_fingerprint = attacker->Fingerprint();
        ++fits;
      }
      if (fits == 0) {
        throw Error(fmt::format("--attacker-encoder '{}' fits none of {} protections ({})",
                                file.string(), cells_.size(), mismatch));
      }
    }
  }

  std::string ProtectInputs(const EvaluatedCell& cell) const {
    return fmt::format("protect 2\n{}\n{}\n{}\n{}\n{}", version_, Protection(cell).Text(),
                       sotto::Name(cell.strategy),
                       o_.seed ? fmt::format("seed {}", *o_.seed) : "key", originals_);
  }

  void Protect(EvaluatedCell& cell) {
    const std::string step = cell.id + "/protect", inputs = ProtectInputs(cell);
    const AnonymiseOptions options = Protection(cell);
    // The copy must still be the one that the step left.
    if (steps_.IsDone(step, inputs) && CopyText(cell) != ReadCopyText(cell)) {
      fs::remove(steps_.Path() / (step + ".json"));
    }
    cell.protection = steps_.Do<ProtectionResult>(step, inputs, forms_.protection, [&] {
      BeginCopy(cell, inputs);
      const double start = ProcessSeconds();
      const AnonymiseReport report = Anonymise(options, version_);
      const double cpu_s = ProcessSeconds() - start;
      if (!report.complete) {
        throw Error(
            fmt::format("{}: {} of {} recordings could not be protected; the first, '{}': "
                        "{}",
                        cell.Name(), report.failures.size(), report.recordings,
                        report.failures.front().id, report.failures.front().reason));
      }
      WriteFileAtomically(cell.folder / "copy.txt", CopyText(cell));
      return Protected(cell, report, cpu_s);
    });
  }

  // Makes room for a new copy; one that was begun from the same inputs is taken up as it is.
  void BeginCopy(const EvaluatedCell& cell, const std::string& inputs) {
    const fs::path begun = cell.folder / "protect.begun";
    const std::string fingerprint = ContentDigest(inputs) + "\n";
    MakeFolder(cell.folder);
    // Without its state an interrupted run cannot be taken up, nor with half a key beside it.
    const bool resumable = fs::exists(cell.folder / "protected/.sotto-work/state") ||
                           !fs::exists(cell.folder / "protected");
    const bool same = fs::exists(begun) && ReadTextFile(begun) == fingerprint && resumable &&
                      (!fs::exists(KeyFile(cell)) || fs::file_size(KeyFile(cell)) > 64);
    if (same) return;
    fs::remove(begun);
    fs::remove_all(cell.folder / "protected");
    fs::remove(KeyFile(cell));
    WriteFileAtomically(begun, fingerprint);
  }

  // Stamps of the copy's files, the run record apart.
  std::string CopyText(const EvaluatedCell& cell) const {
    if (!fs::exists(Released(cell))) return {};
    try {
      return ContentDigest(CorpusText(OpenCorpus(Released(cell)))) + "\n";
    } catch (const Error&) {
      return {};  // no corpus any more: it is made again
    }
  }
  static std::string ReadCopyText(const EvaluatedCell& cell) {
    const fs::path file = cell.folder / "copy.txt";
    return fs::exists(file) ? ReadTextFile(file) : "none";
  }

  ProtectionResult Protected(const EvaluatedCell& cell, const AnonymiseReport& report,
                             double cpu_s) const {
    ProtectionResult result{report.recordings,
                            report.utterances,
                            report.speakers,
                            report.audio_seconds,
                            cpu_s,
                            report.wall_seconds,
                            o_.jobs,
                            {},
                            {},
                            report.notes,
                            {}};
    if (report.resumed == 0 && report.audio_seconds > 0.0) {
      result.rtf = cpu_s / report.audio_seconds;
    } else {
      result.rtf_reason = fmt::format(
          "not timed: the run was interrupted, {} of {} recordings were protected before",
          report.resumed, report.recordings);
    }
    for (const Recording& recording : OpenCorpus(Released(cell)).recordings) {
      result.files.push_back({recording.id, Sha256(ReadTextFile(recording.path, kLargestFile))});
    }
    return result;
  }

  template <typename Result>
  static void WritePage(const EvaluatedCell& cell, const char* file, const StepForm<Result>& form,
                        const Result& result) {
    if (form.page) WriteFileAtomically(cell.folder / file, form.page(result, cell.Name()));
  }

  std::string CopyInputs(const EvaluatedCell& cell) const {
    return ProtectInputs(cell) + ReadCopyText(cell);
  }

  void Attack(EvaluatedCell& cell) {
    const std::string inputs = fmt::format(
        "attack 4\n{}\n{}\n{}\n{} {} {} {}\n{}\n{}", kEmbeddingRule, encoder_->Fingerprint(),
        cell.attacker_encoder_fingerprint, o_.quick, o_.resamples, o_.level,
        o_.unlabelled == Unlabelled::kExclude, CopyInputs(cell), background_);
    cell.attack = steps_.Do<CellAttack>(cell.id + "/attack", inputs, forms_.attack, [&] {
      AttackOptions options;
      options.original = o_.original;
      options.released = Released(cell);
      options.background = o_.background;
      options.encoder = o_.encoder;
      options.attacker_encoder = cell.attacker_encoder;
      options.seed = o_.seed;
      if (!o_.seed) options.key_file = KeyFile(cell);
      options.method_table = o_.method_table;
      const VoiceOptions voice = o_.Voice(cell.method);
      for (const Parameter& parameter : voice.Method().Parameters()) {
        if (parameter.attack_flag.empty()) continue;
        options.files[parameter.attack_flag] = voice.File(parameter.name);
      }
      options.trust_models = o_.trust_models;
      options.plan.unlabelled = o_.unlabelled;
      options.ladder.quick = o_.quick;
      options.ladder.verify.resamples = o_.resamples;
      options.ladder.verify.interval_level = o_.level;
      options.ladder.verify.jobs = o_.jobs;
      options.cache = steps_.Path() / "voiceprints";
      options.jobs = o_.jobs;
      CellAttack result{sotto::Attack(options), {}, {}};
      const Trials& trials = result.ladder.worst_trials;
      result.by_gender = ByGender(trials, genders_, options.ladder.verify);
      result.legal = Legal(trials);
      WritePage(cell, "attack.html", forms_.attack, result);
      return result;
    });
  }

  void MeasureUtility(EvaluatedCell& cell) {
    UtilityOptions options;
    options.original = o_.original;
    options.released = Released(cell);
    options.content = RecordedContent(options.released);
    options.models = o_.models;
    options.trust_models = o_.trust_models;
    options.recognisers = o_.Recognisers();
    options.encoder = o_.encoder.empty() ? kDefaultEncoder : o_.encoder;
    options.cache = steps_.Path() / "originals";
    if (o_.quick) options.rated = kQuickRatedUtterances;
    options.jobs = o_.jobs;
    options.intervals.resamples = o_.resamples;
    options.intervals.level = o_.level;
    options.intervals.jobs = o_.jobs;
    std::string inputs =
        fmt::format("utility 3\n{}\n{}\n{}\n{} {}\n{}", kEmbeddingRule, encoder_->Fingerprint(),
                    DescribeModelFiles(ModelFolders::Default(o_.models)), o_.resamples, o_.level,
                    CopyInputs(cell));
    inputs += fmt::format("\nrated {}", options.rated);
    for (const RecogniserChoice& choice : options.recognisers) {
      inputs += fmt::format("\n{}:{}", choice.name, choice.limit);
    }
    cell.utility = steps_.Do<UtilityResult>(cell.id + "/utility", inputs, forms_.utility, [&] {
      UtilityResult result = sotto::MeasureUtility(options);
      WritePage(cell, "utility.html", forms_.utility, result);
      return result;
    });
  }

  const EvaluateOptions& o_;
  const std::string version_;
  const StepForms& forms_;
  const Corpus corpus_;
  StepFolder steps_;
  std::unique_ptr<SpeakerEncoder> encoder_;
  std::string originals_, background_;
  std::map<std::string, Gender> genders_;
  std::vector<EvaluatedCell> cells_;
};

}  // namespace

std::string EvaluatedCell::Name() const {
  return fmt::format("{}, {}", method, sotto::Name(strategy));
}

std::vector<RecogniserChoice> EvaluateOptions::Recognisers() const {
  std::vector<RecogniserChoice> choices = recognisers;
  if (choices.empty()) choices = {{"moonshine", 0}, {"pocketsphinx", 0}};
  for (RecogniserChoice& choice : choices) {
    if (choice.limit != 0) continue;
    choice.limit = utterances != 0                 ? utterances
                   : choice.name == "pocketsphinx" ? kPocketSphinxUtterances
                                                   : 0;
  }
  return choices;
}

VoiceOptions EvaluateOptions::Voice(const std::string& method) const {
  VoiceOptions voice = ParseMethodText(method, method_table);
  if (trust_models) voice.SetIfKnown("trust-models");
  return voice;
}

std::vector<Strategy> EvaluateOptions::StrategiesOf(const VoiceOptions& voice) const {
  return strategies.empty() ? std::vector{voice.Method().DefaultStrategy()} : strategies;
}

void EvaluateOptions::Validate() const {
  if (methods.empty()) throw Error("--method: at least one");
  for (const std::string& method : methods) {
    const VoiceOptions voice = Voice(method);
    for (const Strategy strategy : StrategiesOf(voice)) {
      voice.Method().CheckStrategy(voice, strategy);
    }
  }
  if (jobs < 1) throw Error(fmt::format("--jobs {}: at least 1", jobs));
  IntervalOptions intervals;
  intervals.resamples = resamples;
  intervals.level = level;
  intervals.Validate();
}

Evaluation Evaluate(const EvaluateOptions& options, const std::string& version,
                    const StepForms& forms) {
  options.Validate();
  if (IsSingleFile(options.original)) {
    throw Error(fmt::format("'{}': a corpus is needed (folder, Kaldi data dir or manifest)",
                            options.original.string()));
  }
  return Runner(options, version, forms).Run();
}

}  // namespace sotto
