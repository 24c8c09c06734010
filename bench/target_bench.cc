// Whose voice comes out of method neural: how often what was made is nearer to its target than to
// its source, and how often the target ranks first among itself and 99 voices of the pool.
//   target_bench CORPUS [--encoder FILE]… [--utterances N] [--references R] [--seed S] [--jobs J]
// CORPUS says the gender of its speakers (libri_eval). Targets are generated, of the speaker's
// gender, one for each utterance, drawn from a public seed.
//
// By the encoder that the nets were trained with ("own"), the target is its embedding e(t):
//   nearer  cos(e(y), e(t)) > cos(e(y), e(x)), x the very utterance that y was made from: no
//           other recording of the speaker lies nearer
//   first   cos(e(y), e(t)) above the cosines with 99 pool voices of the same gender
// Any other encoder (an i-vector, an x-vector: --encoder) has no embedding of a voice that nobody
// has. A voice is then known by speech: R utterances (six seconds of each) of other speakers of
// that gender, the reference speakers, converted to it. So is every one of the 99 pool voices, by
// the same utterances: what is compared differs in the voice alone, not in words, rooms or the
// synthesiser, which a comparison with the pool's original recordings would reward. Reference
// speakers are never tested. The source is known by R other utterances of the speaker, once as
// recorded (natural) and once said again by the synthesiser with the speaker's own embedding and
// pitch (resynthesised): the second is the stricter, since a made voice is near to anything made.
// Embeddings are made to length 1 and averaged, and compared by cosine. The same is measured with
// the own encoder, so that the two ways can be compared.
#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <mutex>

#include "audio/utterances.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/tsv.h"
#include "speaker/encoder.h"
#include "voice/neural_nets.h"
#include "voice/training_features.h"

namespace sotto {
namespace {

constexpr std::size_t kRivals = 99;
constexpr std::size_t kReferenceSpeakers = 3;  // of each gender
constexpr std::size_t kReferenceSamples = 6 * kEncoderRateHz;

struct Arguments {
  std::string corpus;
  std::vector<std::string> encoders = {kDefaultEncoder};
  std::size_t utterances = 60, references = 3;
  std::uint64_t seed = 1;
  int jobs = DefaultJobs();
};

struct Item {
  std::string id, speaker;
  Gender gender = Gender::kUnknown;
  std::vector<float> x;
};

Eigen::VectorXf Unit(const std::vector<float>& v) {
  return Eigen::Map<const Eigen::VectorXf>(v.data(), static_cast<Eigen::Index>(v.size()))
      .normalized();
}

struct Share {
  int hits = 0, all = 0;
  void Add(bool hit) {
    hits += hit ? 1 : 0;
    ++all;
  }
  std::string Text() const {
    return fmt::format("{:5.1f} % ({} of {})", 100.0 * hits / std::max(1, all), hits, all);
  }
};

class Bench {
 public:
  explicit Bench(const Arguments& a)
      : a_(a),
        nets_(OpenNeuralNets({})),
        generator_(nets_.pool),
        draws_(Key::ForExperiment(ExperimentKey(a.seed)), Strategy::kRandom, "target bench") {
    for (const std::string& name : a_.encoders) encoders_.push_back(OpenEncoder(name));
    if (encoders_[0]->WeightsFingerprint() != nets_.pool.encoder) {
      throw Error("the pool's voices were embedded by another encoder than the program's");
    }
    Read();
    Choose();
  }

  void Run() {
    Rivals();
    OwnVoices();
    struct Figures {
      Share nearer_natural, nearer_resynthesised, first;
    };
    Share own_nearer, own_first;
    std::vector<Figures> by_speech(encoders_.size());
    std::mutex mutex;
    ParallelFor(tests_.size(), a_.jobs, [&](std::size_t i) {
      const Item& item = items_[tests_[i]];
      const SpeakerVoice target = generator_.Draw(draws_, item.gender, item.speaker, item.id);
      const std::vector<float> y = Convert(item, target);
      std::vector<std::vector<float>> target_speech, natural, again;
      for (const std::size_t r : references_.at(item.gender)) {
        target_speech.push_back(Convert(Reference(r), target));
      }
      for (const std::size_t r : OthersOf(tests_[i])) {
        natural.push_back(Reference(r).x);
        again.push_back(Convert(Reference(r), own_.at(item.speaker)));
      }
      const Eigen::VectorXf made = Unit(encoders_[0]->Embed(y, kEncoderRateHz));
      const float to_target = made.dot(Unit(target.embedding));
      const float to_source = made.dot(Unit(encoders_[0]->Embed(item.x, kEncoderRateHz)));
      float to_rival = -1.0F;
      for (const std::size_t v : rivals_.at(item.gender)) {
        to_rival = std::max(to_rival, made.dot(Unit(nets_.pool.voices[v].embedding)));
      }
      std::vector<std::array<bool, 3>> found;
      for (std::size_t e = 0; e < encoders_.size(); ++e) {
        const Eigen::VectorXf heard = Unit(encoders_[e]->Embed(y, kEncoderRateHz));
        const float near = heard.dot(Mean(*encoders_[e], target_speech));
        const Eigen::MatrixXf& others = rival_speech_[e].at(item.gender);
        found.push_back({near > heard.dot(Mean(*encoders_[e], natural)),
                         near > heard.dot(Mean(*encoders_[e], again)),
                         near > (others.transpose() * heard).maxCoeff()});
      }
      const std::lock_guard lock(mutex);
      own_nearer.Add(to_target > to_source);
      own_first.Add(to_target > to_rival);
      for (std::size_t e = 0; e < encoders_.size(); ++e) {
        by_speech[e].nearer_natural.Add(found[e][0]);
        by_speech[e].nearer_resynthesised.Add(found[e][1]);
        by_speech[e].first.Add(found[e][2]);
      }
    });
    fmt::print("{} utterances, {} reference utterances for each voice, nets {}\n", tests_.size(),
               a_.references, NetsFingerprint({}));
    fmt::print("own encoder, the target's embedding: nearer than the source {}, first of {} {}\n",
               own_nearer.Text(), kRivals + 1, own_first.Text());
    for (std::size_t e = 0; e < encoders_.size(); ++e) {
      const Figures& f = by_speech[e];
      fmt::print(
          "{} ({}), voices known by speech: nearer than the source, natural {}, "
          "resynthesised {}; first of {} {}\n",
          a_.encoders[e], encoders_[e]->Name(), f.nearer_natural.Text(),
          f.nearer_resynthesised.Text(), kRivals + 1, f.first.Text());
    }
  }

 private:
  void Read() {
    const UtteranceList list = ListUtterances({a_.corpus});
    items_.resize(list.utterances.size());
    std::vector<std::size_t> all(items_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    ForEachUtterance(list, all, a_.jobs, [&](std::size_t i, std::span<const float> x) {
      const Utterance& u = list.utterances[i];
      const auto gender = list.genders.find(u.speaker);
      if (gender == list.genders.end()) {
        throw Error(fmt::format("speaker '{}' has no gender", u.speaker));
      }
      items_[i] = {u.id, u.speaker, gender->second, {x.begin(), x.end()}};
    });
    for (std::size_t i = 0; i < items_.size(); ++i) of_[items_[i].speaker].push_back(i);
  }

  // Reference speakers are the first of each gender in order of name; rivals the first voices of
  // the pool; tests are spread over the utterances of the other speakers.
  void Choose() {
    std::map<Gender, std::vector<std::string>> speakers;
    for (const auto& [speaker, places] : of_) {
      speakers[items_[places[0]].gender].push_back(speaker);
    }
    std::map<std::string, bool> is_reference;
    for (const auto& [gender, names] : speakers) {
      if (names.size() <= kReferenceSpeakers) {
        throw Error(fmt::format("{} speakers of gender {}: more than {} are needed", names.size(),
                                Name(gender), kReferenceSpeakers));
      }
      for (std::size_t s = 0; s < kReferenceSpeakers; ++s) is_reference[names[s]] = true;
      // By turns, so that few references are still of several speakers.
      for (std::size_t k = 0; references_[gender].size() < a_.references; ++k) {
        const auto& places = of_.at(names[k % kReferenceSpeakers]);
        references_[gender].push_back(places.at(k / kReferenceSpeakers));
      }
      for (std::size_t v = 0; v < nets_.pool.voices.size(); ++v) {
        if (nets_.pool.voices[v].gender == gender && rivals_[gender].size() < kRivals) {
          rivals_[gender].push_back(v);
        }
      }
      if (rivals_[gender].size() < kRivals) throw Error("too few voices in the pool");
    }
    std::vector<std::size_t> possible;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!is_reference[items_[i].speaker]) possible.push_back(i);
    }
    const std::size_t n = possible.size(), kept = std::min(n, a_.utterances);
    for (std::size_t i = 0; i < n; ++i) {
      if ((i + 1) * kept / n > i * kept / n) tests_.push_back(possible[i]);
    }
  }

  void Rivals() {
    rival_speech_.resize(encoders_.size());
    for (const auto& [gender, voices] : rivals_) {
      std::vector<Eigen::MatrixXf> means;
      for (const auto& encoder : encoders_) {
        means.emplace_back(static_cast<Eigen::Index>(encoder->Dimension()),
                           static_cast<Eigen::Index>(voices.size()));
      }
      ParallelFor(voices.size(), a_.jobs, [&, gender = gender, &voices = voices](std::size_t v) {
        std::vector<std::vector<float>> speech;
        for (const std::size_t r : references_.at(gender)) {
          speech.push_back(Convert(Reference(r), nets_.pool.voices[voices[v]]));
        }
        for (std::size_t e = 0; e < encoders_.size(); ++e) {
          means[e].col(static_cast<Eigen::Index>(v)) = Mean(*encoders_[e], speech);
        }
      });
      for (std::size_t e = 0; e < encoders_.size(); ++e) {
        rival_speech_[e][gender] = std::move(means[e]);
      }
    }
  }

  // Other utterances of the speaker.
  std::vector<std::size_t> OthersOf(std::size_t test) const {
    std::vector<std::size_t> others = of_.at(items_[test].speaker);
    std::erase(others, test);
    others.resize(std::min(others.size(), a_.references));
    return others;
  }

  void OwnVoices() {
    for (const std::size_t i : tests_) own_[items_[i].speaker];
    std::vector<std::string> speakers;
    for (const auto& [speaker, voice] : own_) speakers.push_back(speaker);
    ParallelFor(speakers.size(), a_.jobs,
                [&](std::size_t s) { own_.at(speakers[s]) = OwnVoice(speakers[s]); });
  }

  Item Reference(std::size_t i) const {
    Item item = items_[i];
    item.x.resize(std::min(item.x.size(), kReferenceSamples));
    return item;
  }

  // The speaker as a voice of the pool would be: mean embedding and pitch of all utterances.
  SpeakerVoice OwnVoice(const std::string& speaker) const {
    SpeakerVoice voice;
    voice.name = speaker;
    Eigen::VectorXf sum =
        Eigen::VectorXf::Zero(static_cast<Eigen::Index>(encoders_[0]->Dimension()));
    double n = 0.0, mean = 0.0, square = 0.0;
    for (const std::size_t i : of_.at(speaker)) {
      sum += Unit(encoders_[0]->Embed(items_[i].x, kEncoderRateHz));
      for (const float hz : SynthesisF0(items_[i].x)) {
        if (hz <= 0.0F) continue;
        n += 1.0;
        mean += std::log(hz);
        square += std::log(hz) * std::log(hz);
      }
    }
    sum.normalize();
    voice.embedding.assign(sum.data(), sum.data() + sum.size());
    if (n < 2.0) throw Error(fmt::format("speaker '{}' has no voiced frames", speaker));
    voice.log_f0_mean = mean / n;
    voice.log_f0_deviation =
        std::sqrt(std::max(0.0, square / n - voice.log_f0_mean * voice.log_f0_mean));
    return voice;
  }

  std::vector<float> Convert(const Item& item, const SpeakerVoice& target) const {
    NeuralVoiceOptions options;
    options.target = target;
    options.content_key = draws_.Derive("content noise", item.id);
    options.noise_seed = a_.seed;
    const auto transformer = MakeNeuralTransformer(kEncoderRateHz, nets_.models, options);
    std::vector<float> y;
    transformer->Push(item.x, y);
    transformer->Finish(y);
    return y;
  }

  static Eigen::VectorXf Mean(const SpeakerEncoder& encoder,
                              const std::vector<std::vector<float>>& speech) {
    Eigen::VectorXf sum = Eigen::VectorXf::Zero(static_cast<Eigen::Index>(encoder.Dimension()));
    for (const auto& x : speech) sum += Unit(encoder.Embed(x, kEncoderRateHz));
    return sum.normalized();
  }

  const Arguments& a_;
  const NeuralNets nets_;
  const PseudoSpeakers generator_;
  const TargetDraws draws_;
  std::vector<std::unique_ptr<SpeakerEncoder>> encoders_;
  std::vector<Item> items_;
  std::map<std::string, std::vector<std::size_t>> of_;           // speaker to items
  std::map<Gender, std::vector<std::size_t>> references_;        // gender to items
  std::map<Gender, std::vector<std::size_t>> rivals_;            // gender to voices of the pool
  std::vector<std::map<Gender, Eigen::MatrixXf>> rival_speech_;  // by encoder
  std::map<std::string, SpeakerVoice> own_;                      // of the speakers that are tested
  std::vector<std::size_t> tests_;
};

Arguments Parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (!flag.starts_with("--")) {
      a.corpus = flag;
      continue;
    }
    if (i + 1 == argc) throw Error(fmt::format("{}: a value is missing", flag));
    const std::string value = argv[++i];
    const auto number = [&] { return static_cast<std::size_t>(ParseNumber(value, flag)); };
    if (flag == "--encoder") {
      a.encoders.push_back(value);
    } else if (flag == "--utterances") {
      a.utterances = number();
    } else if (flag == "--references") {
      a.references = std::max<std::size_t>(1, number());
    } else if (flag == "--seed") {
      a.seed = number();
    } else if (flag == "--jobs") {
      a.jobs = static_cast<int>(std::max<std::size_t>(1, number()));
    } else {
      throw Error(fmt::format(
          "{}: --encoder, --utterances, --references, --seed and --jobs are known", flag));
    }
  }
  if (a.corpus.empty()) throw Error("target_bench CORPUS [--encoder FILE]…");
  return a;
}

}  // namespace
}  // namespace sotto

int main(int argc, char** argv) {
  try {
    const sotto::Arguments arguments = sotto::Parse(argc, argv);
    sotto::Bench(arguments).Run();
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    fmt::print(stderr, "target_bench: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
