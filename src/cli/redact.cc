// sotto redact TEXT…|FILE|-
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/random.h"
#include "cli/redact_flags.h"
#include "cli/verbs.h"

namespace sotto::cli {
namespace fs = std::filesystem;
namespace {

struct Flags {
  std::vector<std::string> in;
  std::string format, out, record;
  JsonLineFields fields;
  RedactFlags what;
  std::string key_file, key_out, context;
  std::optional<std::uint64_t> seed;
  ForceFlag force;
  bool json = false;
  CLI::App* verb = nullptr;
};

// What is read: arguments are a text unless the only one names a file, or is "-".
struct Input {
  fs::path file;  // empty: no file
  bool is_stdin = false;
  std::string text;   // of the arguments
  std::string where;  // for messages

  ByteSource Source() const {
    if (is_stdin) return StandardInputSource();
    return file.empty() ? MemorySource(text) : FileSource(file);
  }
};

bool IsFile(const std::string& argument) {
  std::error_code code;
  return !argument.empty() && fs::exists(argument, code);
}

// No message quotes an argument that may be the text.
Input Chosen(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && arguments[0] == "-") {
    return {{}, /*is_stdin=*/true, {}, "standard input"};
  }
  if (arguments.size() == 1 && IsFile(arguments[0])) {
    return {arguments[0], false, {}, fmt::format("'{}'", arguments[0])};
  }
  if (arguments.size() > 1 && std::all_of(arguments.begin(), arguments.end(), IsFile)) {
    throw Error("one file at a time: all of the arguments name files");
  }
  const std::string& first = arguments.front();
  const bool one_word = arguments.size() == 1 && first.find_first_of(" \t\n") == std::string::npos;
  const std::string end = LowerCase(fs::path(first).extension().string());
  if (one_word && (first.find('/') != std::string::npos || end == ".txt" ||
                   FormatOf(first) != TextFormat::kPlain)) {
    throw Error(
        "IN looks like the name of a file, and there is none; a text that looks like one is read "
        "from standard input (-)");
  }
  Input input{{}, false, {}, "the text"};
  for (const std::string& word : arguments) input.text += (input.text.empty() ? "" : " ") + word;
  if (!input.text.empty() && !input.text.ends_with('\n')) input.text += '\n';
  return input;
}

void Check(const Flags& flags) {
  if (!flags.verb->remaining().empty()) {
    throw CLI::ValidationError(
        "an unknown flag, or a text that begins with a dash: flags first, then -- and the text");
  }
  if (flags.what.with != "surrogate" &&
      (flags.seed || !flags.key_file.empty() || !flags.key_out.empty() || !flags.context.empty())) {
    throw CLI::ValidationError(
        "--key, --key-out, --seed and --context belong to --with surrogate: nothing else is drawn");
  }
  if (!flags.fields.dialogue.empty() && !flags.what.dialogue) {
    throw CLI::ValidationError("--dialogue-field needs --dialogue");
  }
}

// Where results go: a file that is whole at the end or absent, or standard output, at once.
class Output {
 public:
  Output(const fs::path& path, IfExists if_exists) {
    if (!path.empty()) file_.emplace(path, WriteOptions{if_exists});
  }
  void Write(std::string_view piece) {
    if (!file_) {
      WriteAll(STDOUT_FILENO, piece, "standard output");
      return;
    }
    buffer_ += piece;
    if (buffer_.size() >= kBlock) Flush();
  }
  // All is on the disk; Commit() gives it its name.
  void Sync() {
    if (!file_) return;
    Flush();
    file_->Sync();
  }
  void Commit() {
    if (file_) file_->Commit();
  }

 private:
  static constexpr std::size_t kBlock = 1 << 16;

  void Flush() {
    WriteAll(file_->Descriptor(), buffer_, file_->FinalPath());
    buffer_.clear();
  }

  std::optional<PendingFile> file_;
  std::string buffer_;
};

std::vector<std::string> Notes(const Flags& flags, const PassageReader& passages) {
  std::vector<std::string> notes = passages.Notes();
  if (flags.seed) {
    notes.emplace_back(
        "--seed: the surrogates follow from a public number. This run is an experiment and "
        "protects nobody");
  }
  if (!flags.key_file.empty()) {
    notes.emplace_back(
        "--key: who has the key can draw the surrogates again; texts under one key and context "
        "are drawn together");
  }
  return notes;
}

void Run(Flags& flags) {
  Check(flags);
  const Input input = Chosen(flags.in);
  for (const fs::path& read : {input.file, fs::path(flags.what.words), fs::path(flags.what.model),
                               fs::path(flags.what.surrogates), fs::path(flags.key_file)}) {
    RequireDistinct({flags.out, flags.record, flags.key_out}, read);
  }
  for (const std::string& file : {flags.out, flags.record, flags.key_out}) flags.force.Check(file);
  const Key key = ChooseKey(flags.seed, flags.key_file);
  RedactParts parts = flags.what.Parts(key.Derive({"sotto redact", flags.context}));
  RedactReport& report = parts.report;
  report.version = SOTTO_VERSION;
  report.experiment = flags.seed.has_value();
  report.format = flags.format.empty() ? FormatOf(input.file) : ParseTextFormat(flags.format);
  // What was written cannot be taken back: a file is read to its end before that.
  if (flags.out.empty() && fs::is_regular_file(input.file)) {
    LineReader lines(input.Source(), input.where);
    CheckPassages(*ReadPassages(lines, report.format, flags.fields));
  }
  LineReader lines(input.Source(), input.where);
  const auto passages = ReadPassages(lines, report.format, flags.fields);
  Output output(flags.out, flags.force.OnExisting());
  std::optional<PendingFile> record;
  if (!flags.record.empty()) {
    record.emplace(flags.record, WriteOptions{flags.force.OnExisting()});
  }
  report.totals = RedactPassages(lines, *passages, parts.Made(), input.file.filename().string(),
                                 flags.json ? ResultForm::kJsonLines : ResultForm::kAsRead,
                                 [&output](std::string_view piece) { output.Write(piece); });
  report.notes = Notes(flags, *passages);
  output.Sync();
  if (!flags.key_out.empty()) key.WriteFile(flags.key_out, flags.force.OnExisting());
  if (record) {
    WriteAll(record->Descriptor(), RedactRecord(report), record->FinalPath());
    record->Sync();
  }
  output.Commit();
  if (record) record->Commit();
  if (flags.json) {
    fmt::print(stderr, "{}", RedactRecord(report, /*one_line=*/true));
    return;
  }
  for (const std::string& note : report.notes) fmt::print(stderr, "note: {}\n", note);
  fmt::print(stderr, "{}", RedactSummary(report));
}

}  // namespace

void AddRedact(CLI::App& app) {
  CLI::App* verb = AddVerb(
      app, "redact",
      "Replaces what a text tells of somebody: names, places, organisations, dates, times, numbers "
      "and addresses, by placeholders or by surrogates with a known epsilon. IN is a text, a file "
      "or - for standard input, which is worked on line by line. Formats: plain text, JSON lines, "
      "CTM, SRT and WebVTT; all that is not replaced stays byte for byte. What the finder misses "
      "stays in the text (docs/words.md).",
      "  sotto redact 'my name is anna smith'\n"
      "  sotto redact interview.srt -o redacted.srt --recall 0.99 --words project-names.txt\n"
      "  recogniser | sotto redact - --with surrogate --dialogue > safe.txt\n"
      "  sotto redact calls.jsonl --field transcript --with surrogate --p 0.9 --types PER,LOC -o "
      "out.jsonl --record out.json");
  auto flags = verb->runs(Run);
  flags->verb = verb;
  verb->allow_extras();
  verb->add_option("IN", flags->in, "A text, a file, or - for standard input", "TEXT…|FILE|-")
      ->required();
  verb->heading("How it is read");
  verb->add_option("--format", flags->format,
                   "Format of the text; default: by the end of the file's name, else plain text")
      ->check(CLI::IsMember(TextFormatNames()));
  verb->add_option("--field", flags->fields.text, "JSON lines: the field that holds the text",
                   "NAME");
  verb->add_option("--dialogue-field", flags->fields.dialogue,
                   "JSON lines: the field that tells conversations apart", "NAME");
  flags->what.Add(*verb);
  verb->heading("Key");
  CLI::Option* key = verb->add_option("--key", flags->key_file,
                                      "Draw surrogates with the key in this file", "FILE");
  CLI::Option* seed = verb->add_option(
      "--seed", flags->seed,
      "Draw surrogates from a public number: for experiments only, it protects nobody", "N");
  seed->excludes(key);
  verb->add_option("--key-out", flags->key_out,
                   "Write the key to this new file (mode 0600); without it nobody keeps it", "FILE")
      ->excludes(key)
      ->excludes(seed);
  verb->add_option("--context", flags->context, "A text that separates texts that share a key",
                   "TEXT");
  verb->heading("Output");
  verb->add_option("-o,--out", flags->out,
                   "The file to write, whole or not at all; default: standard output, line by line",
                   "FILE");
  flags->force.Add(*verb);
  verb->add_option("--record", flags->record,
                   "Write what was done (JSON): types, counts, epsilons; no words, no places",
                   "FILE");
  verb->add_flag("--json", flags->json,
                 "Write each line (utterance, cues of a sentence) as JSON with its new text and "
                 "counts, and the summary as JSON on standard error");
}

}  // namespace sotto::cli
