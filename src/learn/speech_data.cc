#include "learn/speech_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "nn/content.h"
#include "nn/source.h"

namespace sotto {
namespace {

using torch::Tensor;

constexpr std::int64_t kHop = kContentHop;
constexpr double kLevel = 0.05;  // root mean square of voiced frames after LevelGain
constexpr std::uint64_t kShortest = 8000;

Tensor OnDevice(const std::vector<std::int64_t>& values, torch::Device device) {
  return torch::tensor(values, torch::kInt64).to(device);
}

// What brings the voiced frames to kLevel.
float GainToLevel(const SpeechPack& pack, const PackedUtterance& speech,
                  const std::vector<double>& f0_hz) {
  double energy = 0.0, energetic = 1e-9;
  for (std::size_t t = 0; t < f0_hz.size(); ++t) {
    if (f0_hz[t] <= 0.0) continue;
    const std::uint64_t end = std::min<std::uint64_t>(speech.count, 160 * (t + 1));
    for (std::uint64_t k = 160 * t; k < end; k += 2) {
      const double v = pack.samples[speech.begin + k] / 32768.0;
      energy += v * v;
      energetic += 1.0;
    }
  }
  const double rms = std::sqrt(energy / energetic);
  return static_cast<float>(rms > 1e-5 ? std::clamp(kLevel / rms, 0.05, 20.0) : 1.0);
}

}  // namespace

Tensor UnitEmbeddings(const Tensor& e) {
  return torch::nn::functional::normalize(e, torch::nn::functional::NormalizeFuncOptions().dim(1)) *
         std::sqrt(static_cast<double>(e.size(1)));
}

SpeechData::SpeechData(const SpeechPack& pack, const FeaturePack& features, const HoldOut& hold_out,
                       const std::vector<double>& emphasis, std::uint64_t seed,
                       torch::Device device) {
  if (pack.rate_hz != 16000) throw Error("speech packs for training are at 16000 Hz");
  RequireMatch(pack, features);
  if (!emphasis.empty() && emphasis.size() != pack.utterances.size()) {
    throw Error(
        fmt::format("{} weights for {} utterances", emphasis.size(), pack.utterances.size()));
  }
  samples_ = torch::from_blob(const_cast<std::int16_t*>(pack.samples.data()),
                              {static_cast<std::int64_t>(pack.samples.size())}, torch::kInt16)
                 .clone()
                 .to(device);
  std::vector<std::int64_t> begins, cycles, frame_begins;
  std::int64_t frames = 0;
  for (const PackedUtterance& u : pack.utterances) {
    const auto count = static_cast<std::int64_t>(u.count);
    begins.push_back(static_cast<std::int64_t>(u.begin));
    cycles.push_back(std::max<std::int64_t>(1, count / kHop));  // whole content frames
    content_begins_.push_back(content_total_);
    content_counts_.push_back(ContentFrames(count));
    content_total_ += content_counts_.back();
    frame_begins.push_back(frames);
    frames += PitchFrames(u.count);
    sample_counts_.push_back(count);
    sample_begins_.push_back(begins.back());
  }
  begin_ = OnDevice(begins, device);
  cycle_ = OnDevice(cycles, device);
  content_begin_ = OnDevice(content_begins_, device);
  frame_begin_ = OnDevice(frame_begins, device);
  NumberSpeakers(pack);
  LoadSpeakers(pack, hold_out, emphasis, seed);
  LoadFeatures(pack, features, device);
}

void SpeechData::LoadSpeakers(const SpeechPack& pack, const HoldOut& hold_out,
                              const std::vector<double>& emphasis, std::uint64_t seed) {
  const torch::Device device = samples_.device();
  std::map<std::string, std::vector<std::int64_t>> speakers;
  for (std::size_t i = 0; i < pack.utterances.size(); ++i) {
    if (pack.utterances[i].count >= kShortest) {
      speakers[pack.utterances[i].speaker].push_back(static_cast<std::int64_t>(i));
    }
  }
  std::vector<std::string> candidates;
  for (const auto& [name, utterances] : speakers) {
    if (utterances.size() >= 2) candidates.push_back(name);
  }
  const std::set<std::string> chosen = ChooseHeldOut(std::move(candidates), hold_out, 2, seed);
  if (chosen.empty() || speakers.size() < chosen.size() + 2) {
    throw Error(fmt::format("{} of {} speakers are to be held out and at least two kept",
                            chosen.size(), speakers.size()));
  }
  std::vector<double> weights;
  for (const auto& [name, utterances] : speakers) {
    for (const std::int64_t u : utterances) {
      if (chosen.contains(name)) {
        held_out_.push_back(u);
        continue;
      }
      training_.push_back(u);
      const double more = emphasis.empty() ? 1.0 : emphasis[static_cast<std::size_t>(u)];
      weights.push_back(more / std::sqrt(static_cast<double>(utterances.size())));
    }
  }
  double sum = 0.0;
  for (double& w : weights) w = sum += w;
  if (!(sum > 0.0)) throw Error("the weights of all utterances are 0");
  for (double& w : weights) w /= sum;
  cumulative_ = torch::tensor(weights, torch::kFloat64).to(device);
  training_index_ = OnDevice(training_, device);
}

void SpeechData::NumberSpeakers(const SpeechPack& pack) {
  const torch::Device device = samples_.device();
  // Utterances too short to train on belong to their speaker all the same.
  std::map<std::string, std::int64_t> number;
  for (const PackedUtterance& u : pack.utterances) {
    speaker_.push_back(
        number.emplace(u.speaker, static_cast<std::int64_t>(number.size())).first->second);
  }
  speaker_count_ = static_cast<std::int64_t>(number.size());
  speaker_index_ = OnDevice(speaker_, device);
  // Utterances of each speaker, one after the other, and where each stands there.
  std::vector<std::vector<std::int64_t>> by(static_cast<std::size_t>(speaker_count_));
  std::vector<std::int64_t> list, begins, counts, place(speaker_.size());
  for (std::size_t i = 0; i < speaker_.size(); ++i) {
    by[static_cast<std::size_t>(speaker_[i])].push_back(static_cast<std::int64_t>(i));
  }
  for (const auto& utterances : by) {
    begins.push_back(static_cast<std::int64_t>(list.size()));
    counts.push_back(static_cast<std::int64_t>(utterances.size()));
    for (std::size_t k = 0; k < utterances.size(); ++k) {
      place[static_cast<std::size_t>(utterances[k])] = static_cast<std::int64_t>(k);
      list.push_back(utterances[k]);
    }
  }
  other_list_ = OnDevice(list, device);
  other_begin_ = OnDevice(begins, device);
  other_count_ = OnDevice(counts, device);
  place_ = OnDevice(place, device);
}

void SpeechData::LoadFeatures(const SpeechPack& pack, const FeaturePack& features,
                              torch::Device device) {
  const auto state_size = features.state_size;
  std::int64_t state_total = 0;
  for (const UtteranceFeatures& u : features.utterances) {
    state_total += static_cast<std::int64_t>(u.states.size()) / state_size;
  }
  Tensor states = torch::empty({state_total, state_size}, torch::kHalf);
  auto* to = reinterpret_cast<std::uint16_t*>(states.data_ptr<at::Half>());
  std::vector<std::int64_t> index;
  std::vector<float> share, f0, voiced, embeddings, gains;
  index.reserve(static_cast<std::size_t>(content_total_));
  share.reserve(static_cast<std::size_t>(content_total_));
  std::int64_t first_state = 0;
  std::vector<double> pitch_sum(static_cast<std::size_t>(speaker_count_));
  std::vector<double> pitch_count(static_cast<std::size_t>(speaker_count_));
  for (std::size_t i = 0; i < features.utterances.size(); ++i) {
    const UtteranceFeatures& u = features.utterances[i];
    const auto count = static_cast<std::int64_t>(u.states.size()) / state_size;
    to = std::copy(u.states.begin(), u.states.end(), to);
    for (std::int64_t j = 0; j < content_counts_[i]; ++j) {  // as InterpolateTeacher
      const double place =
          std::clamp(static_cast<double>(kHop * j + kContentCentre - kTeacherCentre) / kTeacherHop,
                     0.0, static_cast<double>(count - 1));
      const auto at =
          std::min(static_cast<std::int64_t>(place), std::max<std::int64_t>(count - 2, 0));
      index.push_back(first_state + at);
      share.push_back(count == 1 ? 0.0f : static_cast<float>(place - static_cast<double>(at)));
    }
    first_state += count;
    const std::vector<double> hz(u.f0_hz.begin(), u.f0_hz.end());
    const std::vector<double> filled = FillUnvoiced(hz);
    for (std::size_t t = 0; t < hz.size(); ++t) {
      f0.push_back(static_cast<float>(filled[t]));
      voiced.push_back(hz[t] > 0.0 ? 1.0f : 0.0f);
      if (hz[t] <= 0.0) continue;
      pitch_sum[static_cast<std::size_t>(speaker_[i])] += std::log(hz[t]);
      pitch_count[static_cast<std::size_t>(speaker_[i])] += 1.0;
    }
    gains.push_back(GainToLevel(pack, pack.utterances[i], hz));
    embeddings.insert(embeddings.end(), u.embedding.begin(), u.embedding.end());
  }
  states_ = states.to(device);
  state_index_ = OnDevice(index, device);
  state_share_ = torch::tensor(share).to(device);
  f0_ = torch::tensor(f0).to(device);
  voiced_ = torch::tensor(voiced).to(device);
  gain_ = torch::tensor(gains).to(device);
  embeddings_ =
      UnitEmbeddings(torch::tensor(embeddings).view({-1, features.embedding_size})).to(device);
  means_ = torch::zeros({speaker_count_, features.embedding_size}, embeddings_.options());
  means_.index_add_(0, speaker_index_, embeddings_);
  means_ = UnitEmbeddings(means_);
  std::vector<float> pitch;
  for (std::size_t s = 0; s < pitch_sum.size(); ++s) {
    pitch.push_back(static_cast<float>(pitch_count[s] > 0.0 ? pitch_sum[s] / pitch_count[s]
                                                            : std::log(kNeutralF0Hz)));
  }
  pitch_ = torch::tensor(pitch).to(device);
}

Crops SpeechData::Draw(std::int64_t batch, std::int64_t frames) const {
  Crops crops;
  const Tensor at = torch::searchsorted(cumulative_, torch::rand({batch}, cumulative_.options()));
  crops.utterance = training_index_.index_select(0, at.clamp_max(training_index_.size(0) - 1));
  const Tensor room = (cycle_.index_select(0, crops.utterance) - frames).clamp_min(0) + 1;
  crops.start = (torch::rand({batch}, cumulative_.options()) * room).floor().to(torch::kInt64);
  return crops;
}

Crops SpeechData::Fixed(std::int64_t batch, std::int64_t frames) const {
  std::vector<std::int64_t> utterance, start;
  for (std::int64_t i = 0; i < batch; ++i) {
    // Spread over the list, since utterances of one speaker stand together.
    const auto at =
        static_cast<std::size_t>(i) * held_out_.size() / static_cast<std::size_t>(batch);
    utterance.push_back(held_out_[at]);
    start.push_back(std::max<std::int64_t>(0, ContentCount(held_out_[at]) - 1 - frames) / 2);
  }
  return {OnDevice(utterance, Device()), OnDevice(start, Device())};
}

Tensor SpeechData::Samples(const Crops& c, std::int64_t n) const {
  const Tensor at =
      torch::arange(n, c.start.options()).unsqueeze(0) + (c.start * kHop).unsqueeze(1);
  const Tensor cycle = (cycle_.index_select(0, c.utterance) * kHop).unsqueeze(1);
  const Tensor index =
      begin_.index_select(0, c.utterance).unsqueeze(1) + torch::remainder(at, cycle);
  return samples_.take(index.clamp_max(samples_.size(0) - 1)).to(torch::kFloat32) / 32768.0;
}

Tensor SpeechData::FrameIndex(const Crops& c, std::int64_t frames) const {
  const Tensor at =
      torch::arange(frames, c.start.options()).unsqueeze(0) + (c.start * 2).unsqueeze(1);
  const Tensor cycle = (cycle_.index_select(0, c.utterance) * 2).unsqueeze(1);
  return (frame_begin_.index_select(0, c.utterance).unsqueeze(1) + torch::remainder(at, cycle))
      .clamp_max(f0_.size(0) - 1);
}

Tensor SpeechData::F0(const Crops& c, std::int64_t frames) const {
  return f0_.take(FrameIndex(c, frames));
}

Tensor SpeechData::Voiced(const Crops& c, std::int64_t frames) const {
  return voiced_.take(FrameIndex(c, frames));
}

Tensor SpeechData::Content(const Tensor& table, const Crops& c, std::int64_t frames,
                           double speed) const {
  const Tensor along =
      ((torch::arange(frames, state_share_.options()) + 0.5) * speed - 0.5).clamp_min(0.0);
  const Tensor whole = along.floor();
  const Tensor share = (along - whole).view({1, 1, -1});
  const Tensor first = whole.to(torch::kInt64).unsqueeze(0) + c.start.unsqueeze(1);
  const Tensor cycle = cycle_.index_select(0, c.utterance).unsqueeze(1);
  const Tensor base = content_begin_.index_select(0, c.utterance).unsqueeze(1);
  const auto rows = [&](const Tensor& at) {
    const Tensor index = base + torch::remainder(at, cycle);
    return table.index_select(0, index.reshape({-1}))
        .view({index.size(0), frames, table.size(1)})
        .to(torch::kFloat32)
        .transpose(1, 2);
  };
  if (speed == 1.0) return rows(first);
  return rows(first) * (1.0 - share) + rows(first + 1) * share;
}

Tensor SpeechData::Whole(std::int64_t utterance, std::int64_t most_samples) const {
  const auto u = static_cast<std::size_t>(utterance);
  const std::int64_t n = std::min(sample_counts_[u], most_samples);
  return samples_.narrow(0, sample_begins_[u], n).to(torch::kFloat32).unsqueeze(0) / 32768.0;
}

// `share` (batch, in [0, 1)): which of the others.
Tensor SpeechData::OtherUtterance(const Crops& c, const Tensor& share) const {
  const Tensor speaker = speaker_index_.index_select(0, c.utterance);
  const Tensor count = other_count_.index_select(0, speaker);
  const Tensor step = 1 + (share * (count - 1)).floor().to(torch::kInt64);
  const Tensor place = torch::remainder(place_.index_select(0, c.utterance) + step, count);
  return other_list_.index_select(0, other_begin_.index_select(0, speaker) + place);
}

Tensor SpeechData::OtherEmbedding(const Crops& c) const {
  const Tensor share = torch::rand({c.utterance.size(0)}, cumulative_.options());
  return embeddings_.index_select(0, OtherUtterance(c, share)).unsqueeze(2);
}

Crops SpeechData::Other(const Crops& c, std::int64_t frames, bool fixed) const {
  const auto share = [&] {
    return fixed ? torch::zeros({c.utterance.size(0)}, cumulative_.options())
                 : torch::rand({c.utterance.size(0)}, cumulative_.options());
  };
  Crops other;
  other.utterance = OtherUtterance(c, share());
  const Tensor room = (cycle_.index_select(0, other.utterance) - frames).clamp_min(0) + 1;
  other.start = (share() * room).floor().to(torch::kInt64);
  return other;
}

Tensor SpeechData::MeanEmbedding(const Crops& c) const {
  return means_.index_select(0, speaker_index_.index_select(0, c.utterance)).unsqueeze(2);
}

Tensor SpeechData::LevelGain(const Crops& c) const {
  return gain_.index_select(0, c.utterance).unsqueeze(1);
}

Tensor SpeechData::SpeakerPitch(const Crops& c) const {
  return pitch_.index_select(0, speaker_index_.index_select(0, c.utterance)).unsqueeze(1);
}

Tensor SpeechData::TeacherStates(std::int64_t begin, std::int64_t end) const {
  const Tensor at = state_index_.narrow(0, begin, end - begin);
  const Tensor share = state_share_.narrow(0, begin, end - begin).unsqueeze(1);
  const Tensor a = states_.index_select(0, at).to(torch::kFloat32);
  const Tensor b =
      states_.index_select(0, (at + 1).clamp_max(states_.size(0) - 1)).to(torch::kFloat32);
  return a * (1.0 - share) + b * share;
}

}  // namespace sotto
