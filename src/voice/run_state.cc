#include "voice/run_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "audio/corpus.h"
#include "base/error.h"
#include "base/files.h"
#include "base/tsv.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTitle = "sotto run state 2";
constexpr std::string_view kAnyTitle = "sotto run state ";

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
      Start();
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

void RunState::Start() {
  key_ = given_key_ ? *given_key_ : Key::FromSystem();
  std::string hex = given_key_ ? "given" : key_->Hex();
  std::string text =
      fmt::format("{}\nkey {}\nparameters {}\n", kTitle, hex, Fingerprint(*key_, {}));
  Wipe(hex);
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
  const fs::path path = work_ / "state";
  std::string text = ReadTextFile(path);
  const std::unique_ptr<std::string, void (*)(std::string*)> wiped(
      &text, [](std::string* secret) { Wipe(*secret); });
  const auto lines = SplitLines(text);
  if (!lines.empty() && lines[0] != kTitle && lines[0].starts_with(kAnyTitle)) {
    const std::string_view number = lines[0].substr(kAnyTitle.size());
    const bool earlier = number == "1";
    throw Error(
        fmt::format("'{}' holds a run begun by {} version of sotto (run state {}): finish "
                    "it with that version, or remove the folder and start again",
                    out_.string(), earlier ? "an earlier" : "another", number));
  }
  if (lines.size() >= 2 && lines[0] == kTitle && lines[1] == "finishing") {
    return ReadFinishing(text);
  }
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
  if (fields[0] == "written" && fields.size() == 2) written_.push_back(Unescape(fields[1]));
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

bool RunState::SetWritten(const fs::path& file) {
  const std::string name = fs::absolute(file).lexically_normal().string();
  if (std::find(written_.begin(), written_.end(), name) != written_.end()) return true;
  Append(Signed("written " + Escape(name)));
  written_.push_back(name);
  return false;
}

void RunState::BeginFinishing(const std::string& corpus, const std::string& record,
                              const std::vector<std::string>& files) {
  // A salt in the place of the key: it tells whether key, parameters and corpus are still the same,
  // and no target.
  const Key salt = Key::FromSystem();
  std::string text =
      fmt::format("{}\nfinishing\nsalt {}\nparameters {}\ncorpus {}\nrecord {}\n", kTitle,
                  salt.Hex(), GivenFingerprint(salt), Fingerprint(salt, corpus), Escape(record));
  for (const std::string& file : files) text += fmt::format("file {}\n", Escape(file));
  for (const std::string& file : written_) text += fmt::format("written {}\n", Escape(file));
  WritePrivateFile(work_ / "state", text + EndLine(salt, text), IfExists::kReplace);
}

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
  const Key salt = Key::FromHex(salt_, where);
  const std::string end =
      EndLine(salt, std::string_view(text).substr(
                        0, static_cast<std::size_t>(lines.back().data() - text.data())));
  if (!text.ends_with(end) || lines.back().size() + 1 != end.size()) throw damaged;
  if (GivenFingerprint(salt) != lines[3].substr(11)) throw OtherParameters(out_);
  corpus_ = lines[4].substr(7);
  record_ = Unescape(lines[5].substr(7));
  for (const std::string_view line : std::span(lines).subspan(6)) {
    if (line.starts_with("file ")) files_.push_back(Unescape(line.substr(5)));
    if (line.starts_with("written ")) written_.push_back(Unescape(line.substr(8)));
  }
}

void RunState::Restart() {
  for (const std::string& file : files_) fs::remove(JoinInside(out_, file));
  const std::vector<std::string> written = std::exchange(written_, {});
  record_.reset();
  Start();
  for (const std::string& file : written) SetWritten(file);
}

bool RunState::IsSameCorpus(const std::string& corpus) const {
  return Fingerprint(Key::FromHex(salt_, (work_ / "state").string()), corpus) == corpus_;
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
