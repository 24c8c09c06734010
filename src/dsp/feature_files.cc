#include "dsp/feature_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "audio/corpus.h"
#include "audio/sound_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/npy.h"
#include "base/parallel.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
constexpr double kBlockS = 60.0;

fs::path ArrayPath(const Recording& recording, const fs::path& out, const char* what) {
  return fmt::format("{}.{}.npy", JoinInside(out, recording.relative).string(), what);
}

RecordingFeatures WriteOne(const Recording& item, const fs::path& out, const FeatureOptions& o) {
  SoundReader reader(item.path);
  const int rate = reader.Format().rate_hz;
  if (reader.Format().channels != 1) {
    throw Error(fmt::format("'{}' has {} channels: must be 1", item.path.string(),
                            reader.Format().channels));
  }
  try {
    o.vocoder.Validate(rate);
  } catch (const Error& error) {
    throw Error(fmt::format("'{}': {}", item.path.string(), error.what()));
  }
  RecordingFeatures result;
  result.id = item.id;
  result.rate_hz = rate;
  result.bins = VocoderFftSize(rate, o.vocoder.f0_floor_hz) / 2 + 1;
  MakeFolder(ArrayPath(item, out, "f0").parent_path());
  NpyWriter<double> f0(ArrayPath(item, out, "f0"), 0, o.if_exists);
  NpyWriter<float> sp(ArrayPath(item, out, "sp"), result.bins, o.if_exists);
  NpyWriter<float> ap(ArrayPath(item, out, "ap"), result.bins, o.if_exists);
  const auto write = [&](const VocoderFrames& frames) {
    f0.Append(frames.f0_hz);
    sp.Append(frames.envelope);
    ap.Append(frames.aperiodicity);
    result.frames += frames.Frames();
    result.voiced += static_cast<std::size_t>(
        std::count_if(frames.f0_hz.begin(), frames.f0_hz.end(), [](double hz) { return hz > 0; }));
  };
  BlockAnalyser analyser(rate, o.vocoder, kBlockS);
  std::vector<float> buffer(static_cast<std::size_t>(rate));
  std::size_t samples = 0;
  while (const std::size_t n = reader.Read(buffer)) {
    samples += n;
    write(analyser.Push({buffer.data(), n}));
  }
  write(analyser.Finish());
  result.seconds = static_cast<double>(samples) / rate;
  f0.Close();
  sp.Close();
  ap.Close();
  return result;
}

}  // namespace

std::vector<RecordingFeatures> WriteFeatures(const fs::path& input, const fs::path& out,
                                             const FeatureOptions& options) {
  const std::vector<Recording> items = OpenCorpus(input, {.allow_file = true}).recordings;
  for (const Recording& item : items) {
    for (const char* what : {"f0", "sp", "ap"}) {
      RefuseExisting(ArrayPath(item, out, what), options.if_exists);
    }
  }
  std::vector<RecordingFeatures> results(items.size());
  ParallelFor(items.size(), options.jobs,
              [&](std::size_t i) { results[i] = WriteOne(items[i], out, options); });
  return results;
}

}  // namespace sotto
