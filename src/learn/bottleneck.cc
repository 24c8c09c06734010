#include "learn/bottleneck.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "learn/torch_backend.h"
#include "nn/content.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr std::int64_t kChunk = 200000;

// Calls with (first content frame, states) over the whole corpus.
template <class Function>
void ForStates(const SpeechData& data, const Function& body) {
  for (std::int64_t at = 0; at < data.ContentTotal(); at += kChunk) {
    body(at, data.TeacherStates(at, std::min(data.ContentTotal(), at + kChunk)));
  }
}

// M^power of a symmetric positive matrix.
Tensor Power(const Tensor& m, double power) {
  const auto [values, vectors] = torch::linalg_eigh(m, "L");
  const Tensor floor = values.max() * 1e-8;
  return torch::matmul(vectors * torch::maximum(values, floor).pow(power), vectors.t());
}

}  // namespace

Bottleneck FitBottleneck(const SpeechData& data, std::int64_t size, std::int64_t directions) {
  torch::NoGradGuard no_grad;
  const std::int64_t n = data.StateSize();
  if (size < 1 || directions < 0 || size + directions > n) {
    throw Error(
        fmt::format("a bottleneck of {} without {} directions of {} states", size, directions, n));
  }
  // Whose frame it is; those of held-out speakers (−1) do not count.
  std::vector<std::int64_t> owner(static_cast<std::size_t>(data.ContentTotal()), -1);
  for (const std::int64_t u : data.Training()) {
    std::fill_n(owner.begin() + data.ContentBegin(u), data.ContentCount(u),
                data.Speakers()[static_cast<std::size_t>(u)]);
  }
  const Tensor owners = torch::tensor(owner, torch::kInt64).to(data.Device());
  const auto wide = torch::TensorOptions(data.Device()).dtype(torch::kFloat64);
  Tensor sums = torch::zeros({data.SpeakerCount() + 1, n}, wide);
  Tensor counts = torch::zeros({data.SpeakerCount() + 1}, wide);
  Tensor square = torch::zeros({n, n}, wide);
  ForStates(data, [&](std::int64_t at, const Tensor& states) {
    const Tensor mine = owners.narrow(0, at, states.size(0));
    const Tensor slot = torch::where(mine < 0, torch::full_like(mine, data.SpeakerCount()), mine);
    const Tensor h = states.to(torch::kFloat64);
    const Tensor used = h * (mine >= 0).to(torch::kFloat64).unsqueeze(1);
    sums.index_add_(0, slot, h);
    counts.index_add_(0, slot, torch::ones({h.size(0)}, wide));
    square += torch::matmul(used.t(), used);
  });
  sums = sums.narrow(0, 0, data.SpeakerCount()).to(torch::kCPU);
  counts = counts.narrow(0, 0, data.SpeakerCount()).to(torch::kCPU);
  square = square.to(torch::kCPU);
  const Tensor total = counts.sum(), mean = sums.sum(0) / total;
  Tensor w = square / total - torch::outer(mean, mean);
  const Tensor scale = w.diagonal().clamp_min(1e-12).sqrt();
  w = w / torch::outer(scale, scale);
  Tensor remove = torch::eye(n, torch::kFloat64);
  if (directions > 0) {
    const Tensor there = (counts > 0).to(torch::kFloat64);
    Tensor m = (sums / counts.clamp_min(1.0).unsqueeze(1) - mean) / scale;
    m = m * there.unsqueeze(1);
    const Tensor b = torch::matmul(m.t(), m) / there.sum();
    const Tensor whiten = Power(w, -0.5);
    const Tensor between = torch::matmul(torch::matmul(whiten, b), whiten);
    const Tensor vectors = std::get<1>(torch::linalg_eigh(between, "L"));
    const Tensor top = vectors.narrow(1, n - directions, directions);
    remove =
        remove - torch::matmul(torch::matmul(Power(w, 0.5), torch::matmul(top, top.t())), whiten);
  }
  const Tensor rest = torch::matmul(torch::matmul(remove, w), remove.t());
  const auto [values, vectors] = torch::linalg_eigh(rest, "L");
  const Tensor kept = values.narrow(0, n - size, size).clamp_min(0.0).sum();
  const Tensor axes = vectors.narrow(1, n - size, size).flip(1).t();  // the largest first
  const Tensor weight =
      torch::matmul(axes, remove) / scale / (kept / static_cast<double>(size)).sqrt();
  Bottleneck result;
  result.weight = weight.to(torch::kFloat32).contiguous().to(data.Device());
  result.bias = (-torch::matmul(weight, mean)).to(torch::kFloat32).contiguous().to(data.Device());
  result.kept = kept.item<double>() / static_cast<double>(n);
  return result;
}

Bottleneck ReadBottleneck(const TensorFile& content, torch::Device device) {
  const ContentOptions o = ReadContentOptions(content);
  const auto load = [&](const char* name, const std::vector<std::int64_t>& shape) {
    return AsTensor(content.Get(name, shape)).clone().to(device);
  };
  return {load("bottleneck.weight", {o.bottleneck, o.teacher}),
          load("bottleneck.bias", {o.bottleneck}), 0.0};
}

Tensor BottleneckTable(const SpeechData& data, const Bottleneck& bottleneck) {
  torch::NoGradGuard no_grad;
  std::vector<Tensor> parts;
  ForStates(data, [&](std::int64_t, const Tensor& states) {
    parts.push_back(torch::linear(states, bottleneck.weight, bottleneck.bias).to(torch::kHalf));
  });
  return torch::cat(parts);
}

Tensor TimeMeans(const SpeechData& data, const Tensor& table,
                 const std::vector<std::int64_t>& utterances) {
  std::vector<Tensor> means;
  means.reserve(utterances.size());
  for (const std::int64_t u : utterances) {
    means.push_back(
        table.narrow(0, data.ContentBegin(u), data.ContentCount(u)).to(torch::kFloat32).mean(0));
  }
  return torch::stack(means);
}

std::vector<std::int64_t> ProbeUtterances(const SpeechData& data, std::int64_t most_speakers) {
  std::map<std::int64_t, std::vector<std::int64_t>> by;
  for (const std::int64_t u : data.Training()) {
    by[data.Speakers()[static_cast<std::size_t>(u)]].push_back(u);
  }
  std::vector<std::int64_t> chosen;
  std::int64_t speakers = 0;
  for (const auto& [speaker, utterances] : by) {
    if (utterances.size() < 4 || speakers == most_speakers) continue;
    ++speakers;
    const std::size_t count = std::min<std::size_t>(8, utterances.size() / 2 * 2);
    chosen.insert(chosen.end(), utterances.begin(),
                  utterances.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return chosen;
}

double SpeakerProbe(const Tensor& means, const std::vector<std::int64_t>& speakers) {
  torch::NoGradGuard no_grad;
  if (speakers.empty()) return 0.0;
  std::map<std::int64_t, std::int64_t> number;
  std::vector<std::int64_t> labels, known, asked;
  for (std::size_t i = 0; i < speakers.size(); ++i) {
    labels.push_back(
        number.emplace(speakers[i], static_cast<std::int64_t>(number.size())).first->second);
    (i % 2 == 0 ? known : asked).push_back(static_cast<std::int64_t>(i));
  }
  const Tensor x = means.to(torch::kCPU, torch::kFloat64);
  const Tensor all = torch::tensor(labels, torch::kInt64);
  const Tensor known_at = torch::tensor(known, torch::kInt64),
               asked_at = torch::tensor(asked, torch::kInt64);
  Tensor learn = x.index_select(0, known_at), test = x.index_select(0, asked_at);
  const Tensor centre = x.mean(0), spread = x.std(0).clamp_min(1e-9);
  learn = (learn - centre) / spread;
  test = (test - centre) / spread;
  const Tensor hot =
      torch::one_hot(all.index_select(0, known_at), static_cast<std::int64_t>(number.size()))
          .to(torch::kFloat64);
  const Tensor gram =
      torch::matmul(learn.t(), learn) +
      torch::eye(learn.size(1), torch::kFloat64) * (0.02 * static_cast<double>(learn.size(0)));
  const Tensor map = torch::linalg_solve(gram, torch::matmul(learn.t(), hot - hot.mean(0)));
  const Tensor answer = torch::matmul(test, map).argmax(1);
  return (answer == all.index_select(0, asked_at)).to(torch::kFloat64).mean().item<double>();
}

}  // namespace sotto
