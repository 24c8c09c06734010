#include "nn/live_nets.h"

#include <fmt/format.h>

#include "base/error.h"

namespace sotto {
namespace {

void AppendColumns(Eigen::MatrixXf& x, const Eigen::MatrixXf& more) {
  const Eigen::Index before = x.cols();
  x.conservativeResize(Eigen::NoChange, before + more.cols());
  x.rightCols(more.cols()) = more;
}

Eigen::MatrixXf AsFrames(const std::vector<float>& values, Eigen::Index rows) {
  return Eigen::Map<const Eigen::MatrixXf>(values.data(), rows,
                                           static_cast<Eigen::Index>(values.size()) / rows);
}

}  // namespace

LiveContent::LiveContent(const ContentNet& net)
    : net_(net),
      backend_(net.File()),
      student_(net.Options(), backend_),
      waiting_(net.Options().mels, 0) {}

Eigen::MatrixXf LiveContent::Push(const Eigen::MatrixXf& mels) {
  if (mels.rows() != net_.Options().mels) {
    throw Error(fmt::format("{}: features of {} bands, expected {}", net_.File().where, mels.rows(),
                            net_.Options().mels));
  }
  if (mels.cols() > 0) last_mel_ = mels.rightCols(1);
  taken_ += mels.cols();
  AppendColumns(waiting_, mels);
  return Run(false);
}

Eigen::MatrixXf LiveContent::Finish(std::int64_t frames) {
  if (taken_ == 0 || 2 * frames < taken_) {
    throw Error(fmt::format("{} mel frames for {} content frames", taken_, frames));
  }
  AppendColumns(waiting_, last_mel_.replicate(1, 2 * frames - taken_));
  return Run(true);
}

Eigen::MatrixXf LiveContent::Run(bool last) {
  const Eigen::Index pairs = waiting_.cols() / 2;
  if (pairs == 0 && !last) return {net_.Options().bottleneck, 0};
  backend_.Begin(last);
  const Eigen::MatrixXf piece = waiting_.leftCols(2 * pairs);
  waiting_ = waiting_.rightCols(waiting_.cols() - 2 * pairs).eval();
  return student_.Forward(piece);
}

LiveSynth::LiveSynth(const SynthNet& net, std::span<const float> embedding,
                     std::uint64_t noise_seed)
    : net_(net), backend_(net.File()), synthesiser_(net.Options(), backend_), source_(noise_seed) {
  SetVoice(embedding);
}

void LiveSynth::SetVoice(std::span<const float> embedding) {
  if (static_cast<std::int64_t>(embedding.size()) != net_.Options().embedding) {
    throw Error(fmt::format("{}: an embedding of {}, expected {}", net_.File().where,
                            embedding.size(), net_.Options().embedding));
  }
  condition_ = VoiceCondition(embedding);
}

void LiveSynth::PushPitch(double f0_hz, bool voiced) {
  pitch_.push_back(PitchFeature(f0_hz));
  pitch_.push_back(voiced ? 1.0f : 0.0f);
  source_.Push(f0_hz, harmonic_, noise_);
  ++pitch_frames_;
}

void LiveSynth::PushContent(const Eigen::MatrixXf& content, std::vector<float>& out) {
  if (content.rows() != net_.Options().content) {
    throw Error(fmt::format("{}: content of {}, expected {}", net_.File().where, content.rows(),
                            net_.Options().content));
  }
  content_frames_ += content.cols();
  Run(content, false, out);
}

void LiveSynth::Finish(std::vector<float>& out) {
  if (pitch_frames_ != 2 * content_frames_) {
    throw Error(
        fmt::format("{} frames of pitch for {} of content", pitch_frames_, content_frames_));
  }
  source_.Finish(harmonic_, noise_);
  Run(Eigen::MatrixXf(net_.Options().content, 0), true, out);
}

void LiveSynth::Run(const Eigen::MatrixXf& content, bool last, std::vector<float>& out) {
  backend_.Begin(last);
  const Eigen::MatrixXf y = synthesiser_.Forward(
      {content, AsFrames(pitch_, 2), AsFrames(harmonic_, 1), AsFrames(noise_, 1), condition_});
  out.insert(out.end(), y.data(), y.data() + y.size());
  pitch_.clear();
  harmonic_.clear();
  noise_.clear();
}

}  // namespace sotto
