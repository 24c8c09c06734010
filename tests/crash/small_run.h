// A small corpus, runs of the program on it, and how their outputs are compared.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/testing.h"
#include "file_log.h"

namespace sotto::testing {

// Everything below a folder: path from there -> content; a folder ends in '/' and has none.
using Tree = std::map<std::string, std::string>;

Tree ReadTree(const std::filesystem::path& folder);
void WriteTree(const std::filesystem::path& folder,
               const Tree& tree);  // nothing else is left there
// What differs between two trees, for messages; empty: nothing.
std::string Difference(const Tree& expected, const Tree& found);

// The operations the shim told of in `log`.
std::vector<FileOperation> ReadFileLog(const std::filesystem::path& log);

// A fresh folder in memory where the system has one: hundreds of runs sync every file they write.
class QuickFolder {
 public:
  QuickFolder();
  QuickFolder(const QuickFolder&) = delete;
  QuickFolder& operator=(const QuickFolder&) = delete;
  ~QuickFolder();
  const std::filesystem::path& Path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// A folder with what goes in (in/, the key) and what comes out (made/: OUT = made/out, and the
// files
// --map-out and --key-out name), so that the whole of made/ can be watched, emptied and compared.
class SmallRun {
 public:
  // Two speakers, recordings of 0.3 s, WAV and FLAC: four, of kLargerKaldi sixteen.
  enum class Corpus { kKaldi, kLargerKaldi, kSegments, kPipes, kFolder };
  explicit SmallRun(Corpus corpus);

  // anonymise in made/out --method mcadams --jobs 1 and `more`.
  std::vector<std::string> Command(const std::vector<std::string>& more) const;
  std::vector<std::string> WithKey(std::vector<std::string> more = {}) const;

  std::string In(const std::string& name = "") const { return folder_ / ("in/" + name); }
  std::string Made(const std::string& name = "") const { return folder_ / ("made/" + name); }
  std::string At(const std::string& name) const { return folder_ / name; }

  void Clear() const;  // made/ is empty again
  Tree Result() const { return ReadTree(Made()); }
  // What an uninterrupted run makes in the place of the others; it is cleared away again.
  Tree Reference(const std::vector<std::string>& command) const;

  // What in made/out differs from a run with the key in `key_file`, below made/; `more` as of
  // Command. The record is left out, since it tells where the key came from. Clears made/.
  std::string OfOtherKey(const std::string& key_file, const std::vector<std::string>& more) const;

  Settings Watched(const Settings& more = {}) const;  // the shim, over made/
  Outcome KilledAt(const std::vector<std::string>& command, std::size_t change) const;
  // The operations of an uninterrupted run; its result stays.
  std::vector<FileOperation> Operations(const std::vector<std::string>& command) const;

  // Whether a piece of an input's sound lies anywhere below made/ or the program's TMPDIR.
  std::optional<std::string> FindOriginal() const;

  void WriteVoice(const std::string& name, int voice, double seconds = 0.3) const;  // below in/

 private:
  QuickFolder folder_;
};

// Calls that change something among `operations`.
std::size_t CountChanges(const std::vector<FileOperation>& operations);

// `count` of 1 … n spread evenly, with both ends; all where there are fewer.
std::vector<std::size_t> Spread(std::size_t n, std::size_t count);

// The release in `tree` says of itself that it is complete.
bool SaysComplete(const Tree& tree);
// And no state is left: the same command finds a folder that is not empty.
bool IsOver(const Tree& tree);

}  // namespace sotto::testing
