#include "learn/chain_crf.h"

#include <limits>

#include "text/bio_labels.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr float kNever = -1e4F;

// The rows 0 … n − 1 replaced, those of sentences that have ended kept.
Tensor WithFirst(const Tensor& rows, const Tensor& replaced) {
  const std::int64_t n = replaced.size(0);
  return n == rows.size(0) ? replaced : torch::cat({replaced, rows.narrow(0, n, rows.size(0) - n)});
}

}  // namespace

Tensor ChainLogPartition(const Tensor& emissions, const std::vector<std::int64_t>& sizes,
                         const ChainWeights& w) {
  const std::int64_t sentences = sizes.at(0);
  // forward[i, y] = log of the sum over all rows of labels up to here that end in y.
  Tensor forward = emissions.narrow(0, 0, sentences) + w.first;
  std::int64_t at = sentences;
  for (std::size_t t = 1; t < sizes.size(); ++t) {
    const Tensor now = emissions.narrow(0, at, sizes[t]);
    at += sizes[t];
    const Tensor before = forward.narrow(0, 0, sizes[t]);
    forward = WithFirst(forward, torch::logsumexp(before.unsqueeze(2) + w.between, 1) + now);
  }
  return torch::logsumexp(forward + w.last, 1);
}

Tensor ChainScore(const Tensor& emissions, const Tensor& labels,
                  const std::vector<std::int64_t>& sizes, const ChainWeights& w) {
  const std::int64_t sentences = sizes.at(0);
  const Tensor own = emissions.gather(1, labels.unsqueeze(1)).squeeze(1);
  Tensor now = labels.narrow(0, 0, sentences);
  Tensor score = own.narrow(0, 0, sentences) + w.first.index_select(0, now);
  std::int64_t at = sentences;
  for (std::size_t t = 1; t < sizes.size(); ++t) {
    const Tensor next = labels.narrow(0, at, sizes[t]);
    const Tensor from = now.narrow(0, 0, sizes[t]);
    const Tensor step = own.narrow(0, at, sizes[t]) +
                        w.between.reshape({-1}).index_select(0, from * w.between.size(1) + next);
    at += sizes[t];
    score = WithFirst(score, score.narrow(0, 0, sizes[t]) + step);
    now = WithFirst(now, next);
  }
  return score + w.last.index_select(0, now);
}

std::vector<std::int64_t> ChainBest(const Tensor& emissions, const std::vector<std::int64_t>& sizes,
                                    const ChainWeights& w) {
  const torch::NoGradGuard no_grad;
  // In plain loops: an L × L maximum is too small to be worth a kernel.
  const Tensor e = emissions.to(torch::kCPU, torch::kFloat32).contiguous();
  const Tensor b = w.between.to(torch::kCPU, torch::kFloat32).contiguous();
  const Tensor f = w.first.to(torch::kCPU, torch::kFloat32).contiguous();
  const Tensor l = w.last.to(torch::kCPU, torch::kFloat32).contiguous();
  const auto labels = static_cast<std::size_t>(e.size(1));
  const auto rows = static_cast<std::size_t>(e.size(0));
  const float* emission = e.data_ptr<float>();
  const float* between = b.data_ptr<float>();
  std::vector<std::size_t> begins = {0};  // of each time's rows
  for (const std::int64_t size : sizes)
    begins.push_back(begins.back() + static_cast<std::size_t>(size));
  std::vector<float> best(rows * labels);
  std::vector<std::size_t> from(rows * labels);
  for (std::size_t t = 0; t < sizes.size(); ++t) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(sizes[t]); ++i) {
      const std::size_t row = begins[t] + i;
      for (std::size_t y = 0; y < labels; ++y) {
        float top = t == 0 ? f.data_ptr<float>()[y] : -std::numeric_limits<float>::infinity();
        if (t > 0) {
          const float* before = &best[(begins[t - 1] + i) * labels];
          for (std::size_t x = 0; x < labels; ++x) {
            const float score = before[x] + between[x * labels + y];
            if (score <= top) continue;
            top = score;
            from[row * labels + y] = x;
          }
        }
        best[row * labels + y] = top + emission[row * labels + y];
      }
    }
  }
  std::vector<std::int64_t> chosen(rows);
  for (std::size_t t = sizes.size(); t-- > 0;) {
    const auto here = static_cast<std::size_t>(sizes[t]);
    const std::size_t further = t + 1 < sizes.size() ? static_cast<std::size_t>(sizes[t + 1]) : 0;
    for (std::size_t i = 0; i < here; ++i) {
      const std::size_t row = begins[t] + i;
      if (i < further) {
        const std::size_t next = begins[t + 1] + i;
        chosen[row] =
            static_cast<std::int64_t>(from[next * labels + static_cast<std::size_t>(chosen[next])]);
        continue;
      }
      std::size_t top = 0;
      for (std::size_t y = 1; y < labels; ++y) {
        if (best[row * labels + y] + l.data_ptr<float>()[y] >
            best[row * labels + top] + l.data_ptr<float>()[top]) {
          top = y;
        }
      }
      chosen[row] = static_cast<std::int64_t>(top);
    }
  }
  return chosen;
}

ChainWeights BioOnly() {
  const auto n = static_cast<std::int64_t>(kBioLabels);
  ChainWeights w{torch::zeros({n, n}), torch::zeros({n}), torch::zeros({n})};
  for (std::int64_t y = 0; y < n; ++y) {
    const auto label = static_cast<BioLabel>(y);
    if (!MayFollow(kOutside, label)) w.first[y] = kNever;
    for (std::int64_t x = 0; x < n; ++x) {
      if (!MayFollow(static_cast<BioLabel>(x), label)) w.between[x][y] = kNever;
    }
  }
  return w;
}

}  // namespace sotto
