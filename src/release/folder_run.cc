#include "release/folder_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <utility>

#include "audio/sound_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/private_folder.h"
#include "release/protect_recording.h"
#include "release/run_inputs.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

struct GivenFile {
  FolderFile file;
  int rate_hz = 0;
  std::size_t frames = 0;
};

// Keeps what it lets through.
class Cutter : public StreamTransformer {
 public:
  Cutter(const fs::path& path, const SoundFormat& format, std::size_t& frames)
      : writer_(path, format), frames_(frames) {}
  void Push(std::span<const float> in, std::vector<float>& out) override {
    writer_.Write(in);
    frames_ += in.size();
    out.insert(out.end(), in.begin(), in.end());
  }
  void Finish(std::vector<float>& /*out*/) override { writer_.Close(); }
  std::size_t LatencySamples() const override { return 0; }

 private:
  SoundWriter writer_;
  std::size_t& frames_;
};

// The method that changes nothing: it cuts.
class CuttingMethod : public VoiceMethod {
 public:
  explicit CuttingMethod(fs::path in) : in_(std::move(in)) {}

  void Cut(const Recording& recording, bool merge_overlaps) {
    const std::size_t before = given_.size();
    try {
      const RecordingInput input(recording, in_);
      SoundReader reader(input.Path());
      format_ = OutputFormat(reader.Format(), Container::kWav);
      SoundWriter rest(in_ / "rest.wav", format_);  // never closed, so never there
      format_.channels = 1;
      ProtectRecording(reader, rest, 1.0, recording.spans, *this, merge_overlaps);
    } catch (const Error&) {
      // It fails when its turn comes.
      for (; given_.size() > before; given_.pop_back()) fs::remove(in_ / given_.back().file.name);
    }
  }
  const std::deque<GivenFile>& Given() const { return given_; }

 private:
  std::unique_ptr<StreamTransformer> MakeChannel(int rate_hz, double /*peak_limit*/,
                                                 const std::string& speaker,
                                                 const std::string& utterance,
                                                 std::size_t channel) const override {
    const std::size_t folder = folders_.emplace(speaker, folders_.size() + 1).first->second;
    const std::string name = fmt::format("{:04}/{:06}.wav", folder, given_.size() + 1);
    MakeFolder((in_ / name).parent_path());
    given_.push_back({{name, speaker, utterance, channel}, rate_hz, 0});
    return std::make_unique<Cutter>(in_ / name, format_, given_.back().frames);
  }

  fs::path in_;
  SoundFormat format_;
  mutable std::map<std::string, std::size_t> folders_;  // by speaker
  mutable std::deque<GivenFile> given_;                 // whose places the cutters know
};

void RequireWhole(const GivenFile& given, const fs::path& made) {
  const std::string& utterance = given.file.utterance;
  std::error_code code;
  if (!fs::is_regular_file(fs::symlink_status(made, code))) {
    throw Error(fmt::format("the method made no file of utterance '{}'", utterance));
  }
  SoundReader reader(made);
  const SoundFormat& format = reader.Format();
  if (format.rate_hz != given.rate_hz || format.channels != 1) {
    throw Error(fmt::format("the method made {} of utterance '{}': {} Hz, 1 channel is allowed",
                            format.Describe(), utterance, given.rate_hz));
  }
  std::array<float, 16384> block;
  std::size_t frames = 0;
  while (const std::size_t read = reader.Read(block)) frames += read;
  if (frames != given.frames) {
    throw Error(fmt::format("the method made {} samples of utterance '{}', which has {}", frames,
                            utterance, given.frames));
  }
}

// What was made of one channel of an utterance, in place of what is pushed.
class Replay : public StreamTransformer {
 public:
  Replay(std::shared_ptr<const ScratchFolder> work, const fs::path& made, std::string utterance,
         double peak_limit)
      : work_(std::move(work)),
        reader_(made),
        utterance_(std::move(utterance)),
        limit_(static_cast<float>(peak_limit)) {}

  void Push(std::span<const float> in, std::vector<float>& out) override {
    std::size_t at = out.size();
    out.resize(at + in.size());
    while (at < out.size()) {
      const std::size_t frames = reader_.Read(std::span(out).subspan(at));
      if (frames == 0) {
        throw Error(fmt::format("utterance '{}' is longer than what was made of it", utterance_));
      }
      for (const std::size_t end = at + frames; at < end; ++at) {
        out[at] = std::clamp(out[at], -limit_, limit_);
      }
    }
  }
  void Finish(std::vector<float>& /*out*/) override {}
  std::size_t LatencySamples() const override { return 0; }

 private:
  std::shared_ptr<const ScratchFolder> work_;
  SoundReader reader_;
  std::string utterance_;
  float limit_;
};

class MadeMethod : public VoiceMethod {
 public:
  MadeMethod(std::shared_ptr<const ScratchFolder> work, const std::deque<GivenFile>& given)
      : work_(std::move(work)) {
    for (const GivenFile& one : given) made_[{one.file.utterance, one.file.channel}] = one;
  }

 private:
  std::unique_ptr<StreamTransformer> MakeChannel(int rate_hz, double peak_limit,
                                                 const std::string& speaker,
                                                 const std::string& utterance,
                                                 std::size_t channel) const override {
    const auto made = made_.find({utterance, channel});
    if (made == made_.end() || made->second.file.speaker != speaker ||
        made->second.rate_hz != rate_hz) {
      throw Error(fmt::format("the method was not given utterance '{}' of '{}' at {} Hz", utterance,
                              speaker, rate_hz));
    }
    return std::make_unique<Replay>(work_, *work_ / "out" / made->second.file.name, utterance,
                                    peak_limit);
  }

  std::shared_ptr<const ScratchFolder> work_;
  std::map<std::pair<std::string, std::size_t>, GivenFile> made_;
};

}  // namespace

std::unique_ptr<VoiceMethod> RunFolderMethod(const FolderMethod& method, const Corpus& corpus,
                                             const fs::path& work, bool merge_overlaps) {
  const auto folder = std::make_shared<const ScratchFolder>(work);
  MakeFolder(*folder / "in");
  MakeFolder(*folder / "out");
  CuttingMethod cutting(*folder / "in");
  for (const Recording& recording : corpus.recordings) cutting.Cut(recording, merge_overlaps);
  const std::deque<GivenFile>& given = cutting.Given();
  std::vector<FolderFile> files;
  files.reserve(given.size());
  for (const GivenFile& one : given) files.push_back(one.file);
  method.Protect(*folder / "in", *folder / "out", files);
  for (const GivenFile& one : given) RequireWhole(one, *folder / "out" / one.file.name);
  fs::remove_all(*folder / "in");
  return std::make_unique<MadeMethod>(folder, given);
}

}  // namespace sotto
