#include "utility/compare.h"

#include <fmt/format.h>

#include <map>

#include "audio/pairing.h"
#include "audio/sound_file.h"
#include "base/error.h"
#include "base/parallel.h"
#include "dsp/level.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

void Measure(ComparedPair& pair) {
  const Sound before = ReadSound(pair.original);
  const Sound after = ReadSound(pair.released);
  if (before.channels.size() != after.channels.size() ||
      before.channels[0].size() != after.channels[0].size() ||
      before.format.rate_hz != after.format.rate_hz) {
    throw Error(fmt::format("'{}' has {} samples at {} Hz, its copy {} at {} Hz", pair.id,
                            before.channels[0].size(), before.format.rate_hz,
                            after.channels[0].size(), after.format.rate_hz));
  }
  const int rate = before.format.rate_hz;
  pair.seconds = static_cast<double>(before.channels[0].size()) / rate;
  pair.level_change_db = ActiveSpeechLevel(after.channels[0], rate).active_db -
                         ActiveSpeechLevel(before.channels[0], rate).active_db;
  const auto f0 = TrackF0(before.channels[0], rate);
  pair.before = MeasureVoice(before.channels[0], rate, f0);
  pair.after = MeasureVoice(after.channels[0], rate, f0);
}

}  // namespace

std::optional<double> ChangePercent(const std::optional<double>& before,
                                    const std::optional<double>& after) {
  if (!before || !after || *before == 0.0) return std::nullopt;
  return 100.0 * (*after / *before - 1.0);
}

std::vector<ComparedPair> CompareCorpora(const fs::path& original, const fs::path& released,
                                         int jobs) {
  const CorpusPair both = OpenPair(original, released);
  const PairingRule rule{.original = original.string(),
                         .released = released.string(),
                         .what = "recordings",
                         .may_lack_originals = true};
  std::vector<ComparedPair> pairs;
  for (const IdPair& pair :
       PairById(IdsOf(both.original.recordings), IdsOf(both.released.recordings), rule)) {
    const Recording& recording = both.original.recordings[pair.original];
    const std::string speaker = recording.spans.empty() ? "" : recording.spans[0].speaker;
    pairs.push_back({recording.id,
                     speaker,
                     recording.path,
                     both.released.recordings[pair.released].path,
                     0.0,
                     0.0,
                     {},
                     {}});
  }
  ParallelFor(pairs.size(), jobs, [&](std::size_t i) { Measure(pairs[i]); });
  return pairs;
}

std::vector<ComparedCopy> CompareCopies(const fs::path& original,
                                        const std::vector<fs::path>& released, int jobs) {
  std::vector<ComparedCopy> copies;
  std::map<std::string, int> names;
  for (const fs::path& path : released) {
    const fs::path clean = fs::absolute(path).lexically_normal();
    const fs::path last = clean.has_filename() ? clean.filename() : clean.parent_path().filename();
    std::string name = (fs::is_directory(path) ? last : last.stem()).string();
    if (const int earlier = names[name]++; earlier > 0) name += fmt::format(" {}", earlier + 1);
    copies.push_back({name, CompareCorpora(original, path, jobs)});
  }
  return copies;
}

}  // namespace sotto
