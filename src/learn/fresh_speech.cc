#include "learn/fresh_speech.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "learn/augment.h"
#include "nn/content.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr std::int64_t kFade = 160;
constexpr std::size_t kGroups = 3;  // speeds in a batch: one resampling each

Tensor Chosen(const Tensor& like, double share) {
  return (torch::rand({like.size(0), 1}, like.options()) < share).to(like.scalar_type());
}

Tensor Power(const Tensor& x) { return x.square().mean(1, true).clamp_min(1e-10); }

}  // namespace

const OptionTable<FreshSpeechOptions>& FreshSpeechOptions::Table() {
  using F = FreshSpeechOptions;
  static const OptionTable<F> table = {
      {"fresh_spliced", &F::spliced, "Share of fresh crops that is joined of pieces", 0, 1},
      {"fresh_pieces", &F::pieces, "Pieces of each of these", 1, 64},
      {"fresh_mixed", &F::mixed, "Share of fresh crops with another voice behind", 0, 1},
  };
  return table;
}

void FreshSpeechOptions::Validate() const {
  RequireRanges(Table(), *this);
  RequireRange("speeds of fresh speech", speeds, 0.5, 2.0);
  if (mixed_db_low > mixed_db_high) throw Error("levels of mixed speech go from low to high");
}

Tensor Splice(const std::vector<Tensor>& from, const Tensor& chosen) {
  const Tensor& x = from[0];
  const auto n = static_cast<double>(x.size(1));
  const auto cuts = static_cast<std::int64_t>(from.size()) - 1;
  const Tensor at = torch::arange(x.size(1), x.options()).unsqueeze(0);
  const Tensor places =
      std::get<0>((torch::rand({x.size(0), cuts}, x.options()) * n).sort(/*dim=*/1));
  Tensor joined = x;
  for (std::int64_t i = 0; i < cuts; ++i) {
    // 0 before the place, 1 behind it.
    const Tensor behind =
        chosen * ((at - places.narrow(1, i, 1)) / static_cast<double>(kFade) + 0.5).clamp(0.0, 1.0);
    joined = joined + behind * (from[static_cast<std::size_t>(i) + 1] - joined);
  }
  return joined;
}

Tensor AtContentFrames(const Tensor& states, std::int64_t frames) {
  const std::int64_t count = states.size(2);
  const auto most = static_cast<double>(count - 1);
  const Tensor place =
      ((torch::arange(frames, states.options()) * static_cast<double>(kContentHop) +
        static_cast<double>(kContentCentre - kTeacherCentre)) /
       static_cast<double>(kTeacherHop))
          .clamp(0.0, most);
  const Tensor below = place.floor().clamp_max(std::max(0.0, most - 1.0));
  const Tensor share = (place - below).view({1, 1, -1});
  const Tensor index = below.to(torch::kInt64);
  return states.index_select(2, index) * (1.0 - share) +
         states.index_select(2, (index + 1).clamp_max(count - 1)) * share;
}

FreshSpeech::FreshSpeech(const SpeechData& data, const Words& teacher, FreshSpeechOptions options,
                         std::mt19937_64& random)
    : data_(data), teacher_(teacher), o_(std::move(options)), random_(random) {
  o_.Validate();
}

FreshSpeech::Batch FreshSpeech::Draw(std::int64_t batch, std::int64_t frames) {
  torch::NoGradGuard no_grad;
  const std::int64_t n = frames * kContentHop;
  std::vector<Tensor> groups;
  for (const std::int64_t share : EvenShares(batch, kGroups)) {
    if (share == 0) continue;
    const std::int64_t source = SamplesAtSpeed(n, o_.speeds[random_() % o_.speeds.size()]);
    const auto some = [&] {
      return data_.Samples(data_.Draw(share, (source + kContentHop - 1) / kContentHop), source);
    };
    std::vector<Tensor> pieces;
    for (std::int64_t i = 0; i < o_.pieces; ++i) pieces.push_back(some());
    Tensor x = Splice(pieces, Chosen(pieces[0], o_.spliced));
    const Tensor other = some();
    const Tensor db = torch::rand({share, 1}, x.options()) * (o_.mixed_db_high - o_.mixed_db_low) +
                      o_.mixed_db_low;
    const Tensor gain = (Power(x) / Power(other)).sqrt() * torch::pow(10.0, -db / 20.0);
    x = x + Chosen(x, o_.mixed) * gain * other;
    groups.push_back(ChangeSpeed(x, n));
  }
  Batch result;
  result.samples = torch::cat(groups);
  result.content = AtContentFrames(teacher_(result.samples), frames);
  return result;
}

}  // namespace sotto
