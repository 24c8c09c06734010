#include "release/run_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <memory>
#include <utility>

#include "audio/corpus.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/no_core_dumps.h"
#include "base/tsv.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTitle = "sotto run state 2";
constexpr std::string_view kAnyTitle = "sotto run state ";
// For the head of a state, or the line of one name.
constexpr std::size_t kStateRoom = 512;
constexpr std::string_view kFinishing = "finishing", kRestarting = "restarting";

bool HoldsOtherFiles(const fs::path& out) {
  for (const auto& entry : fs::directory_iterator(out)) {
    if (entry.path().filename() != kWorkFolderName) return true;
  }
  return false;
}

// File names may hold anything; a line is split at blanks.
std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte != '%' && byte != 0x7F) {
      escaped += c;
    } else {
      escaped += fmt::format("%{:02x}", byte);
    }
  }
  return escaped;
}

std::string Unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 2 >= text.size()) {
      plain += text[i];
      continue;
    }
    unsigned byte = 0;
    std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

// Of the state of a finishing run: a checksum of all that stands before it.
std::string EndLine(const Key& salt, std::string_view text) {
  return fmt::format("end {}\n", salt.Name({"sotto finishing end 2", text}, 64));
}

Error OtherParameters(const fs::path& out) {
  return Error(
      fmt::format("'{}' holds an unfinished run with other parameters: start it with the "
                  "same ones, or remove the folder",
                  out.string()));
}

Error CannotRemove(const fs::path& path, const std::string& reason) {
  return Error(fmt::format("cannot remove '{}': {}", path.string(), reason));
}

std::string AbsoluteName(const fs::path& file) {
  return fs::absolute(file).lexically_normal().string();
}

std::string Stem(const std::string& file) { return fs::path(file).replace_extension().string(); }

}  // namespace

RunState::RunState(const fs::path& out, const std::optional<Key>& given_key,
                   std::initializer_list<std::string_view> parameters)
    : out_(out),
      work_(out / kWorkFolderName),
      given_key_(given_key),
      parameters_(parameters.begin(), parameters.end()) {
  if (fs::exists(out) && !fs::is_directory(out)) {
    throw Error(fmt::format("'{}' is a file: the output of a corpus is a folder", out.string()));
  }
  MakeFolder(out);
  Lock(out);
  try {
    SweepTemporaries(work_);
    resumed_ = fs::exists(work_ / "state");
    if (!resumed_ && HoldsOtherFiles(out)) {
      // Of a run that was stopped while it went away, or made just now.
      ::unlink((work_ / "lock").c_str());
      ::rmdir(work_.c_str());
      throw Error(
          fmt::format("'{}' is not empty: choose a new folder for the output", out.string()));
    }
    if (resumed_) {
      Read();
    } else {
      Start({});
    }
  } catch (...) {
    ::close(lock_);
    if (state_ >= 0) ::close(state_);
    throw;
  }
}

RunState::~RunState() {
  if (state_ >= 0) ::close(state_);
  ::close(lock_);
}

void RunState::Lock(const fs::path& out) {
  const fs::path path = work_ / "lock";
  while (true) {
    struct stat info {
    }, own{};
    // ENOENT, here and below: a run that finished has taken the folder away since.
    if (::mkdir(work_.c_str(), 0700) != 0) {
      const bool is_there = errno == EEXIST && ::lstat(work_.c_str(), &info) == 0;
      if (!is_there && errno == ENOENT && fs::exists(out)) continue;
      if (!is_there || !S_ISDIR(info.st_mode)) {
        throw Error(fmt::format("cannot create '{}': {}", work_.string(), SystemReason()));
      }
    }
    lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock_ < 0 && errno == ENOENT) continue;
    if (lock_ < 0) {
      throw Error(fmt::format("cannot create '{}': {}", path.string(), SystemReason()));
    }
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
      const bool taken = errno == EWOULDBLOCK;
      const std::string reason = SystemReason();
      ::close(lock_);
      throw Error(taken ? fmt::format("a run is under way in '{}': wait for it, or choose another "
                                      "folder",
                                      out.string())
                        : fmt::format("cannot lock '{}': {}", path.string(), reason));
    }
    // The lock counts only while the file has its name.
    if (::fstat(lock_, &own) == 0 && ::lstat(path.c_str(), &info) == 0 &&
        own.st_ino == info.st_ino && own.st_dev == info.st_dev) {
      return;
    }
    ::close(lock_);
  }
}

std::string RunState::Fingerprint(const Key& key, const std::string& text) const {
  std::string all;
  for (const std::string& parameter : parameters_) {
    all += fmt::format("{} {}\n", parameter.size(), parameter);
  }
  return key.Name({"sotto run 2", all, text}, 64);
}

void RunState::Start(const std::vector<std::string>& own) {
  key_ = given_key_ ? *given_key_ : Key::FromSystem();
  std::string hex = given_key_ ? "given" : key_->Hex();
  const NoCoreDumps while_the_key_is_text;
  // Appended to room of its own: no other place in memory is left with the key in it.
  std::string text;
  std::size_t room = kStateRoom;
  for (const std::string& name : own) room += 4 * name.size() + kStateRoom;
  text.reserve(room);
  text.append(kTitle).append("\nkey ").append(hex).append("\nparameters ");
  text.append(Fingerprint(*key_, {})).append("\n");
  Wipe(hex);
  for (const std::string& name : own) {
    const std::string fingerprint = OfFile(name);
    written_.emplace(name, fingerprint);
    text.append(Signed(fmt::format("written {} {}", Escape(name), fingerprint)));
  }
  WritePrivateFile(work_ / "state", text, IfExists::kReplace);
  Wipe(text);
  SyncFolder(out_);
  try {
    SyncFolder(fs::absolute(out_).lexically_normal().parent_path());
  } catch (const Error&) {
    // A folder that may be passed through and not read: the name of OUT is for others to keep.
  }
}

std::string RunState::Signed(const std::string& line) const {
  return fmt::format("{} {}\n", line, key_->Name({"sotto run line 2", line}, 16));
}

void RunState::Read() {
  const NoCoreDumps while_the_key_is_text;
  const fs::path path = work_ / "state";
  std::string text = ReadTextFile(path);
  const std::unique_ptr<std::string, void (*)(std::string*)> wiped(
      &text, [](std::string* secret) { Wipe(*secret); });
  const auto lines = SplitLines(text);
  if (!lines.empty() && lines[0] != kTitle && lines[0].starts_with(kAnyTitle)) {
    const std::string_view number = lines[0].substr(kAnyTitle.size());
    const bool earlier = number == "1";
    throw Error(
        fmt::format("'{}' holds a run started by {} version of sotto (run state {}): finish "
                    "it with that version, or remove the folder and start again",
                    out_.string(), earlier ? "an earlier" : "another", number));
  }
  const bool no_key = lines.size() >= 2 && (lines[1] == kFinishing || lines[1] == kRestarting);
  if (no_key && lines[0] == kTitle) return ReadFinishing(text);
  const std::string damaged =
      fmt::format("'{}' is damaged: remove '{}' and start again", path.string(), out_.string());
  if (lines.size() < 3 || lines[0] != kTitle || !lines[1].starts_with("key ") ||
      !lines[2].starts_with("parameters ")) {
    throw Error(damaged);
  }
  const std::string_view key = lines[1].substr(4);
  const bool stored = key != "given";
  if (stored) key_ = Key::FromHex(key, path.string());
  if (!stored) key_ = given_key_;
  if (stored == given_key_.has_value() || !key_ || Fingerprint(*key_, {}) != lines[2].substr(11)) {
    throw OtherParameters(out_);
  }
  // Lines behind one that is torn are torn as well: what they said is made again.
  std::size_t good = lines[0].size() + lines[1].size() + lines[2].size() + 3;
  for (std::size_t i = 3; i < lines.size(); ++i) {
    if (good + lines[i].size() >= text.size() || !ReadLine(lines[i])) break;
    good += lines[i].size() + 1;
  }
  if (good < text.size() && ::truncate(path.c_str(), static_cast<off_t>(good)) != 0) {
    throw Error(fmt::format("cannot write '{}': {}", path.string(), SystemReason()));
  }
  if (good > text.size()) throw Error(damaged);
}

bool RunState::ReadLine(std::string_view line) {
  const std::size_t mark = line.rfind(' ');
  if (mark == std::string_view::npos) return false;
  const std::string content(line.substr(0, mark));
  if (Signed(content) != std::string(line) + "\n") return false;
  const auto fields = SplitBlanks(content);
  if (fields[0] == "tables" && fields.size() == 2) tables_ = fields[1];
  if (fields[0] == "written" && fields.size() == 3) {
    written_.emplace(Unescape(fields[1]), fields[2]);
  }
  if (fields[0] == "made" && fields.size() >= 4) {
    MadeItem item{Unescape(fields[1]), std::string(fields[2]), std::string(fields[3]), {}};
    for (std::size_t i = 4; i < fields.size(); ++i) item.draws.emplace_back(fields[i]);
    made_.insert_or_assign(Stem(item.file), std::move(item));
  }
  return true;
}

void RunState::Append(const std::string& lines) {
  const fs::path path = work_ / "state";
  if (state_ < 0) state_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
  if (state_ < 0) throw Error(fmt::format("cannot write '{}': {}", path.string(), SystemReason()));
  WriteAll(state_, lines, path);
  if (::fdatasync(state_) != 0) {
    throw Error(fmt::format("cannot write '{}': {}", path.string(), SystemReason()));
  }
}

void RunState::AddMade(std::span<const MadeItem> items) {
  std::string lines;
  for (const MadeItem& item : items) {
    std::string line = fmt::format("made {} {} {}", Escape(item.file), item.output, item.input);
    for (const std::string& draw : item.draws) line += " " + draw;
    lines += Signed(line);
  }
  if (!lines.empty()) Append(lines);
}

bool RunState::SetTables(const std::string& text) {
  const std::string before = tables_;
  tables_ = key_->Name({"sotto run tables 2", text}, 64);
  if (tables_ != before) Append(Signed("tables " + tables_));
  return tables_ == before;
}

std::string RunState::OfFile(const fs::path& file) const {
  std::error_code code;
  if (!fs::is_regular_file(fs::symlink_status(file, code))) return {};
  return (key_ ? *key_ : Salt()).Name({"sotto run file 2", FileDigest(file)}, 64);
}

bool RunState::Wrote(const fs::path& file) const {
  const std::string found = OfFile(file);
  return !found.empty() && written_.contains({AbsoluteName(file), found});
}

std::vector<std::string> RunState::WrittenFiles() const {
  std::set<std::string> files;
  for (const auto& [name, fingerprint] : written_) {
    if (Wrote(name)) files.insert(name);
  }
  return {files.begin(), files.end()};
}

void RunState::SetWritten(const fs::path& file, const std::string& content) {
  const std::string name = AbsoluteName(file);
  const std::string fingerprint = key_->Name({"sotto run file 2", ContentDigest(content)}, 64);
  if (!written_.emplace(name, fingerprint).second) return;
  Append(Signed(fmt::format("written {} {}", Escape(name), fingerprint)));
}

void RunState::BeginFinishing(const Finished& finished) {
  // A salt in the place of the key: it tells whether key, parameters and corpus are still the same,
  // and no target.
  const Key salt = Key::FromSystem();
  const std::vector<std::string> secrets = WrittenFiles();
  salt_ = salt.Hex();
  std::string text = fmt::format("{}\nfinishing\nsalt {}\nparameters {}\ncorpus {}\nrecord {}\n",
                                 kTitle, salt_, GivenFingerprint(salt),
                                 Fingerprint(salt, finished.corpus), Escape(finished.record));
  key_.reset();
  for (const std::string& file : finished.files) {
    text += fmt::format("file {} {}\n", Escape(file), OfFile(JoinInside(out_, file)));
  }
  for (const std::string& name : secrets) {
    text += fmt::format("written {} {}\n", Escape(name), OfFile(name));
  }
  for (const auto& [id, reason] : finished.failures) {
    text += fmt::format("failed {} {}\n", Escape(id), Escape(reason));
  }
  WritePrivateFile(work_ / "state", text + EndLine(salt, text), IfExists::kReplace);
}

Key RunState::Salt() const { return Key::FromHex(salt_, (work_ / "state").string()); }

std::string RunState::GivenFingerprint(const Key& salt) const {
  return Fingerprint(
      salt, given_key_ ? salt.Name({"given key", given_key_->Name({"sotto finishing 2"}, 64)}, 64)
                       : "system");
}

void RunState::ReadFinishing(const std::string& text) {
  const auto lines = SplitLines(text);
  const std::string where = (work_ / "state").string();
  const Error damaged(
      fmt::format("'{}' is damaged: remove '{}' and start again", where, out_.string()));
  if (lines.size() < 7 || !lines[2].starts_with("salt ") || !lines[3].starts_with("parameters ") ||
      !lines[4].starts_with("corpus ") || !lines[5].starts_with("record ")) {
    throw damaged;
  }
  salt_ = lines[2].substr(5);
  const Key salt = Salt();
  const std::string end =
      EndLine(salt, std::string_view(text).substr(
                        0, static_cast<std::size_t>(lines.back().data() - text.data())));
  if (!text.ends_with(end) || lines.back().size() + 1 != end.size()) throw damaged;
  if (GivenFingerprint(salt) != lines[3].substr(11)) throw OtherParameters(out_);
  restarting_ = lines[1] == kRestarting;
  corpus_ = lines[4].substr(7);
  record_ = Unescape(lines[5].substr(7));
  for (const std::string_view line : std::span(lines).subspan(6)) {
    const auto fields = SplitBlanks(line);
    if (fields.size() < 2) throw damaged;
    const std::string name = Unescape(fields[1]), rest(fields.size() > 2 ? fields[2] : "");
    if (fields[0] == "file") files_.emplace_back(name, rest);
    if (fields[0] == "written") written_.emplace(name, rest);
    if (fields[0] == "failed") failures_.emplace_back(name, Unescape(rest));
  }
}

std::string RunState::NotWhole() const {
  if (restarting_) return "outputs that were being removed";
  for (const auto& [file, fingerprint] : files_) {
    if (fingerprint.empty() || OfFile(JoinInside(out_, file)) != fingerprint) return file;
  }
  return {};
}

void RunState::Restart() {
  const fs::path path = work_ / "state";
  if (!restarting_) {
    // Whoever takes it up now must not take the rest for the whole.
    std::string text = ReadTextFile(path);
    const std::string_view from = kFinishing;
    text.replace(text.find(from), from.size(), kRestarting);
    text.resize(text.rfind("end "));
    WritePrivateFile(path, text + EndLine(Salt(), text), IfExists::kReplace);
  }
  std::set<fs::path> folders;
  for (const auto& [file, fingerprint] : files_) {
    const fs::path output = JoinInside(out_, file);
    if (fs::remove(output)) folders.insert(output.parent_path());
  }
  for (const fs::path& folder : folders) SyncFolder(folder);
  const std::vector<std::string> own = WrittenFiles();
  written_.clear();
  record_.reset();
  restarting_ = false;
  Start(own);
}

bool RunState::IsSameCorpus(const std::string& corpus) const {
  return Fingerprint(Salt(), corpus) == corpus_;
}

void RunState::Complete() {
  // The state first: whatever happens next, what it holds is gone. The lock last.
  ::unlink((work_ / "state").c_str());
  for (const auto& entry : fs::directory_iterator(work_)) {
    std::error_code code;
    if (entry.path().filename() != "lock") fs::remove_all(entry.path(), code);
    if (code) throw CannotRemove(entry.path(), code.message());
  }
  if (::unlink((work_ / "lock").c_str()) != 0) throw CannotRemove(work_, SystemReason());
  // Without the lock the folder is anybody's: a run that looks in may hold it now, or have taken it
  // away.
  if (::rmdir(work_.c_str()) != 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST) {
    throw CannotRemove(work_, SystemReason());
  }
  SyncFolder(out_);
}

}  // namespace sotto
