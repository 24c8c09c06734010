#include "small_run.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

#include "audio/testing.h"
#include "base/files.h"

namespace sotto::testing {
namespace fs = std::filesystem;

Tree ReadTree(const fs::path& folder) {
  Tree tree;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (entry.is_directory()) {
      tree[name + "/"];
    } else {
      tree[name] = ReadTextFile(entry.path());
    }
  }
  return tree;
}

void WriteTree(const fs::path& folder, const Tree& tree) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const auto& [name, content] : tree) {
    if (name.back() == '/') {
      fs::create_directories(folder / name);
    } else {
      fs::create_directories((folder / name).parent_path());
      WriteFileAtomically(folder / name, content);
    }
    if (name.find(".sotto-work/") != std::string::npos) {  // as the program made it
      fs::permissions(folder / name, fs::perms::group_all | fs::perms::others_all,
                      fs::perm_options::remove);
    }
  }
}

std::string Difference(const Tree& expected, const Tree& found) {
  std::string text;
  for (const auto& [name, content] : expected) {
    const auto other = found.find(name);
    if (other == found.end()) {
      text += fmt::format("missing: {}\n", name);
    } else if (other->second != content) {
      text += fmt::format("differs: {} ({} bytes for {})\n", name, other->second.size(),
                          content.size());
    }
  }
  for (const auto& [name, content] : found) {
    if (!expected.contains(name)) text += fmt::format("unexpected: {}\n", name);
  }
  return text;
}

SmallRun::SmallRun(Corpus corpus) {
  fs::create_directories(In());
  fs::create_directories(At("tmp"));
  Clear();
  WritePrivateFile(At("key"), std::string(64, '7') + "\n");
  if (corpus == Corpus::kFolder) {
    for (const char* name : {"anna/1.flac", "anna/2.wav", "ben/3.flac", "ben/4.wav"}) {
      WriteVoice(name, name[0] + name[std::string(name).find('/') + 1]);
    }
    return;
  }
  const bool segments = corpus == Corpus::kSegments;
  std::vector<std::string> ids = {"anna-1", "anna-2", "ben-3", "ben-4"};
  if (corpus == Corpus::kLargerKaldi) {
    ids.clear();
    // No two of the same voice.
    for (const char* some : {"anna-12345678", "ben-ABCDEFGH"}) {
      const std::string all = some, speaker = all.substr(0, all.find('-') + 1);
      for (const char one : all.substr(speaker.size())) ids.push_back(speaker + one);
    }
  }
  std::string wav_scp, utt2spk, times, text;
  for (const std::string& id : ids) {
    const std::string speaker = id.substr(0, id.find('-'));
    const std::string file = id + (id[speaker.size() + 1] % 2 == 1 ? ".flac" : ".wav");
    WriteVoice("sound/" + file, id[0] + id[speaker.size() + 1]);
    wav_scp += corpus == Corpus::kPipes ? fmt::format("{} cat {} |\n", id, In("sound/" + file))
                                        : fmt::format("{} sound/{}\n", id, file);
    for (const char* part : {"a", "b"}) {
      const std::string utterance = segments ? id + part : id;
      if (!segments && part[0] == 'b') continue;
      utt2spk += fmt::format("{} {}\n", utterance, speaker);
      text += fmt::format("{} the words of {}\n", utterance, utterance);
      times += fmt::format("{} {} {}\n", utterance, id, part[0] == 'a' ? "0.02 0.12" : "0.15 0.28");
    }
  }
  WriteFileAtomically(In("wav.scp"), wav_scp);
  WriteFileAtomically(In("utt2spk"), utt2spk);
  WriteFileAtomically(In("text"), text);
  WriteFileAtomically(In("spk2gender"), "anna f\nben m\n");
  if (segments) WriteFileAtomically(In("segments"), times);
}

void SmallRun::WriteVoice(const std::string& name, int voice, double seconds) const {
  const fs::path path = In(name);
  fs::create_directories(path.parent_path());
  const double shift = 1.0 + 0.01 * (voice % 17);
  WriteAny(path, (path.extension() == ".flac" ? SF_FORMAT_FLAC : SF_FORMAT_WAV) | SF_FORMAT_PCM_16,
           16000, 1,
           SyntheticVowel(seconds, 16000, 100.0 + voice % 101,
                          {700.0 * shift, 1220.0 * shift, 2600.0 * shift}));
}

std::vector<std::string> SmallRun::Command(const std::vector<std::string>& more) const {
  std::vector<std::string> command = {"anonymise", In(),     Made("out"), "--method",
                                      "mcadams",   "--jobs", "1"};
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

std::vector<std::string> SmallRun::WithKey(std::vector<std::string> more) const {
  more.insert(more.end(), {"--key", At("key")});
  return Command(more);
}

void SmallRun::Clear() const {
  fs::remove_all(Made());
  fs::create_directories(Made());
}

Tree SmallRun::Reference(const std::vector<std::string>& command) const {
  Clear();
  const Outcome outcome = Sotto(command, {{"TMPDIR", At("tmp")}});
  if (outcome.code != 0) throw std::runtime_error(outcome.Text());
  Tree tree = Result();
  Clear();
  return tree;
}

std::string SmallRun::OfOtherKey(const std::string& key_file,
                                 const std::vector<std::string>& more) const {
  const auto release = [](Tree tree) {
    std::erase_if(tree, [](const auto& item) {
      return !item.first.starts_with("out/") || item.first == "out/sotto-run.json";
    });
    return tree;
  };
  const Tree made = Result();
  if (!made.contains(key_file)) return "there is no key '" + key_file + "'";
  fs::remove(At("kept"));
  WritePrivateFile(At("kept"), made.at(key_file));
  std::vector<std::string> words = more;
  words.insert(words.end(), {"--key", At("kept")});
  return Difference(release(Reference(Command(words))), release(made));
}

Settings SmallRun::Watched(const Settings& more) const {
  Settings settings = {
      {kShimRoot, folder_ / "made"}, {"LD_PRELOAD", SOTTO_FILE_SHIM}, {"TMPDIR", At("tmp")}};
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

Outcome SmallRun::KilledAt(const std::vector<std::string>& command, std::size_t change) const {
  return Sotto(command, Watched({{kShimKill, std::to_string(change)}}));
}

std::vector<FileOperation> SmallRun::Operations(const std::vector<std::string>& command) const {
  fs::remove(At("log"));
  const Outcome outcome = Sotto(command, Watched({{kShimLog, At("log")}}));
  if (outcome.code != 0) throw std::runtime_error(outcome.Text());
  return ReadFileLog(At("log"));
}

std::optional<std::string> SmallRun::FindOriginal() const {
  constexpr std::size_t kPiece = 64;  // bytes; no two recordings share so many by chance
  std::vector<std::string> pieces;
  for (const auto& [name, content] : ReadTree(In("sound"))) {
    for (const std::size_t part : {1, 2, 3}) {
      pieces.push_back(content.substr(content.size() * part / 4, kPiece));
    }
  }
  for (const std::string& folder : {Made(), At("tmp")}) {
    for (const auto& [name, content] : ReadTree(folder)) {
      for (const std::string& piece : pieces) {
        if (content.find(piece) != std::string::npos) return name;
      }
    }
  }
  return std::nullopt;
}

std::size_t CountChanges(const std::vector<FileOperation>& operations) {
  return static_cast<std::size_t>(
      std::count_if(operations.begin(), operations.end(), [](const FileOperation& operation) {
        return operation.call != FileCall::kLook &&
               (operation.call != FileCall::kOpen || (operation.flags & (O_CREAT | O_TRUNC)) != 0);
      }));
}

std::vector<std::size_t> Spread(std::size_t n, std::size_t count) {
  std::vector<std::size_t> points;
  const std::size_t m = std::min(n, count);
  for (std::size_t i = 0; i < m; ++i) {
    points.push_back(m == 1 ? 1 : 1 + i * (n - 1) / (m - 1));
  }
  return points;
}

bool SaysComplete(const Tree& tree) {
  const auto record = tree.find("out/sotto-run.json");
  return record != tree.end() && record->second.find("\"complete\": true") != std::string::npos;
}

bool IsOver(const Tree& tree) {
  return SaysComplete(tree) && !tree.contains("out/.sotto-work/state");
}

std::vector<FileOperation> ReadFileLog(const fs::path& log) {
  const std::string bytes = ReadTextFile(log);
  std::size_t at = 0;
  const auto number = [&](auto& value) {
    if (bytes.size() - at < sizeof value) throw std::runtime_error("the shim's log is cut");
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
  };
  std::vector<FileOperation> operations;
  while (at < bytes.size()) {
    FileOperation& operation = operations.emplace_back();
    number(operation.call);
    number(operation.handle);
    number(operation.offset);
    number(operation.flags);
    for (std::string* text : {&operation.path, &operation.path2, &operation.data}) {
      std::uint64_t size = 0;
      number(size);
      *text = bytes.substr(at, size);
      at += size;
    }
  }
  return operations;
}

QuickFolder::QuickFolder() {
  const fs::path memory = "/dev/shm";
  const fs::path base =
      ::access(memory.c_str(), W_OK | X_OK) == 0 ? memory : fs::temp_directory_path();
  std::string name = fs::canonical(base) / "sotto-test-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
  path_ = name;
}

QuickFolder::~QuickFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace sotto::testing
