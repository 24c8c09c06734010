// Takes out of content what does not change with the words.
//
// A bottleneck's state says what is heard now; its mean over a recording says who speaks and
// through what (the linear probe of learn/bottleneck.h reads nothing else). The synthesiser has a
// voice of its own and does not need it. The mean so far goes, as with the cepstral mean of Atal
// (1974); what a pool of speakers has in common is 0 already, since the bottleneck was fitted so,
// and that is the prior. Limits: what a speaker does to single sounds, rhythm and melody stay, and
// the mean of a few words is of these words, hence the prior.
#pragma once

#include <Eigen/Core>

namespace sotto {

class ContentCentre {
 public:
  // The prior counts as so many frames of mean 0.
  ContentCentre(Eigen::Index size, double prior_frames)
      : sum_(Eigen::VectorXd::Zero(size)), prior_(prior_frames) {}

  // Frames of 20 ms as columns; after a minute the oldest fade away.
  void Hear(const Eigen::Ref<const Eigen::MatrixXf>& content) {
    for (Eigen::Index t = 0; t < content.cols(); ++t) {
      if (heard_ >= kMostFrames) {
        sum_ *= 1.0 - 1.0 / kMostFrames;
      } else {
        heard_ += 1.0;
      }
      sum_ += content.col(t).cast<double>();
    }
  }
  Eigen::VectorXf Mean() const { return (sum_ / (heard_ + prior_)).cast<float>(); }

 private:
  static constexpr double kMostFrames = 60.0 * 50.0;
  Eigen::VectorXd sum_;
  double prior_ = 0.0, heard_ = 0.0;
};

}  // namespace sotto
