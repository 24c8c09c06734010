// The nets of the neural anonymiser.
//   neural_bench [CONTENT SYNTH]         real-time factor of each on one core (untrained nets of
//   the
//                                        default sizes when no files are given)
//   neural_bench --stream [CONTENT SYNTH]
//     the same of the whole method on a stream that comes in pieces of 20 ms (untrained nets that
//     look 5 content frames and 4 frames ahead when no files are given), and the longest time one
//     piece took
//   neural_bench --words CONTENT CORPUS [N]
//     word errors of Moonshine's decoder on (1) its own encoder's states, (2) these through the
//     bottleneck and linearly back, (3) the student's: what content keeps, without any synthesis.
//     The way back is fitted on the same recordings. N: utterances, spread over the corpus.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>

#include "assess/wer.h"
#include "audio/corpus.h"
#include "audio/sound_file.h"
#include "base/error.h"
#include "base/parallel.h"
#include "dsp/fbank.h"
#include "nn/eigen_backend.h"
#include "nn/net_testing.h"
#include "utility/moonshine.h"
#include "utility/text.h"
#include "voice/live_voice.h"
#include "voice/moonshine_content.h"
#include "voice/training_features.h"

namespace sotto {
namespace {

template <class Function>
double Seconds(const Function& body) {
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    const auto start = std::chrono::steady_clock::now();
    body();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

void Speed(const TensorFile& content_file, const TensorFile& synth_file) {
  const ContentNet content(content_file);
  const SynthNet synth(synth_file);
  constexpr int kSeconds = 20;
  SeededRng random(1);
  std::vector<float> x(kSeconds * 16000);
  for (float& v : x) v = static_cast<float>(0.1 * random.Gaussian());
  Features mels;
  Eigen::MatrixXf z;
  const double mel_s = Seconds([&] { mels = LogMel(x, FbankOptions::Encoder()); });
  const double content_s = Seconds([&] {
    z = content.Encode(Eigen::Map<const Eigen::MatrixXf>(mels.values.data(), 80,
                                                         static_cast<Eigen::Index>(mels.frames)),
                       ContentFrames(static_cast<std::int64_t>(x.size())));
  });
  const double f0_s = Seconds([&] { SynthesisF0(x); });
  std::size_t samples = 0;
  const double synth_s = Seconds([&] {
    SynthStream stream(
        synth, std::vector<float>(static_cast<std::size_t>(synth.Options().embedding), 1.0f), 1);
    std::vector<float> out;
    for (Eigen::Index j = 0; j < z.cols(); ++j) {
      const std::array<double, 2> f0 = {120.0, 121.0};
      const std::array<bool, 2> voiced = {true, true};
      stream.Push(z.col(j), f0, voiced, out);
    }
    stream.Finish(out);
    samples = out.size();
  });
  const auto row = [](const char* name, double s) {
    fmt::print("{:<22} {:.4f} of real time ({:.0f} x)\n", name, s / kSeconds, kSeconds / s);
  };
  row("log mel", mel_s);
  row("content encoder", content_s);
  row("F0 (noise)", f0_s);
  row("synthesiser", synth_s);
  row("together", mel_s + content_s + f0_s + synth_s);
  if (samples != x.size()) throw Error("the synthesiser gave another number of samples");
}

void StreamSpeed(TensorFile content, TensorFile synth) {
  const auto models = std::make_shared<const NeuralModels>(std::move(content), std::move(synth));
  NeuralVoiceOptions options;
  options.target.embedding.assign(static_cast<std::size_t>(models->Synth().Options().embedding),
                                  1.0f);
  options.target.log_f0_mean = std::log(200.0);
  options.target.log_f0_deviation = 0.2;
  options.content_key = Key::ForExperiment(ExperimentKey(1));
  constexpr int kSeconds = 20;
  constexpr std::size_t kPiece = 320;
  SeededRng random(1);
  std::vector<float> x(kSeconds * 16000);
  double phase = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {  // a buzz in noise, so that F0 is found and refined
    phase += (120.0 + 30.0 * std::sin(static_cast<double>(i) / 8000.0)) / 16000.0;
    x[i] = static_cast<float>(0.3 * (phase - std::floor(phase) - 0.5) + 0.01 * random.Gaussian());
  }
  double longest = 0.0, latency_ms = 0.0;
  const double all = Seconds([&] {
    const auto transformer = MakeLiveTransformer(16000, models, options, {});
    latency_ms = static_cast<double>(transformer->LatencySamples()) / 16.0;
    std::vector<float> out;
    longest = 0.0;
    for (std::size_t at = 0; at < x.size(); at += kPiece) {
      const auto start = std::chrono::steady_clock::now();
      transformer->Push(std::span(x).subspan(at, kPiece), out);
      longest = std::max(
          longest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    transformer->Finish(out);
    if (out.size() != x.size()) throw Error("the stream gave another number of samples");
  });
  fmt::print(
      "stream, pieces of 20 ms  {:.4f} of real time; a piece at most {:.1f} ms; latency "
      "{:.1f} ms\n",
      all / kSeconds, 1000.0 * longest, latency_ms);
}

// Untrained, of the default sizes, with the look-ahead of a stream.
ContentOptions StreamContent() {
  ContentOptions options;
  options.body.ahead = {1, 0, 0};
  return options;
}
SynthOptions StreamSynth() {
  SynthOptions options;
  options.body.ahead = {1, 0};
  return options;
}

// One value at the teacher's times from content frames.
Eigen::MatrixXf AtTeacherTimes(const Eigen::MatrixXf& z, Eigen::Index states) {
  Eigen::MatrixXf y(z.rows(), states);
  for (Eigen::Index i = 0; i < states; ++i) {
    const double place = std::clamp(
        (static_cast<double>(kTeacherHop * i + kTeacherCentre - kContentCentre)) / kContentHop, 0.0,
        static_cast<double>(z.cols() - 1));
    const auto j = std::min(static_cast<Eigen::Index>(place), z.cols() - 1);
    const auto part = static_cast<float>(place - static_cast<double>(j));
    y.col(i) = (1.0f - part) * z.col(j) + part * z.col(std::min(j + 1, z.cols() - 1));
  }
  return y;
}

void Words(const std::string& content_file, const std::string& folder, std::size_t limit) {
  const ModelFolders models = ModelFolders::Default();
  const OnnxRuntimePtr runtime = OnnxRuntime::Open(models);
  const MoonshineContent teacher(runtime, models);
  const MoonshineRecogniser recogniser(runtime, models);
  const ContentNet net(ReadTensorFile(content_file));
  const Corpus corpus = ScanCorpus(folder).corpus;
  const auto text = static_cast<std::size_t>(
      std::find(corpus.header.begin(), corpus.header.end(), "text") - corpus.header.begin());
  const std::size_t rows = corpus.recordings.size(), n = std::min(limit, rows);
  struct Item {
    Eigen::MatrixXf states, bottleneck, student;
    double seconds = 0.0;
    std::string reference;
  };
  std::vector<Item> items(n);
  ParallelFor(n, DefaultJobs(), [&](std::size_t i) {
    const std::size_t row = i * rows / n;
    const std::vector<float> x = ReadSound(corpus.recordings[row].path).channels[0];
    Item& item = items[i];
    item.seconds = static_cast<double>(x.size()) / 16000.0;
    item.reference = corpus.rows[row].at(text);
    item.states = teacher.States(x);
    const std::int64_t frames = ContentFrames(static_cast<std::int64_t>(x.size()));
    const Features mels = LogMel(x, FbankOptions::Encoder());
    item.bottleneck = AtTeacherTimes(net.FromTeacher(item.states, frames), item.states.cols());
    item.student = AtTeacherTimes(
        net.Encode(Eigen::Map<const Eigen::MatrixXf>(mels.values.data(), 80,
                                                     static_cast<Eigen::Index>(mels.frames)),
                   frames),
        item.states.cols());
  });
  // The way back: least squares from the bottleneck (and 1) to the states.
  const Eigen::Index size = net.Options().bottleneck + 1;
  Eigen::MatrixXd gram = Eigen::MatrixXd::Identity(size, size) * 1e-3;
  Eigen::MatrixXd cross = Eigen::MatrixXd::Zero(net.Options().teacher, size);
  const auto with_one = [](const Eigen::MatrixXf& z) {
    Eigen::MatrixXf y(z.rows() + 1, z.cols());
    y << z, Eigen::RowVectorXf::Ones(z.cols());
    return y;
  };
  for (const Item& item : items) {
    const Eigen::MatrixXd z = with_one(item.bottleneck).cast<double>();
    gram += z * z.transpose();
    cross += item.states.cast<double>() * z.transpose();
  }
  const Eigen::MatrixXf back = gram.ldlt().solve(cross.transpose()).transpose().cast<float>();
  std::vector<std::array<EditCounts, 3>> counts(n);
  const auto words = [](const std::string& t) {
    return SplitWords(DecodeUtf8(NormaliseTranscript(t, "text"), "text"), TextNormaliser::kLower);
  };
  ParallelFor(n, DefaultJobs(), [&](std::size_t i) {
    const Item& item = items[i];
    const std::array<Eigen::MatrixXf, 3> states = {item.states, back * with_one(item.bottleneck),
                                                   back * with_one(item.student)};
    for (std::size_t k = 0; k < 3; ++k) {
      const std::span<const float> values(states[k].data(),
                                          static_cast<std::size_t>(states[k].size()));
      counts[i][k] = AlignTokens(
          words(item.reference),
          words(recogniser.TranscribeStates(values, net.Options().teacher, item.seconds)));
    }
  });
  const std::array<const char*, 3> names = {"teacher", "bottleneck", "student"};
  double lost = 0.0, all = 0.0;
  for (const Item& item : items) {
    lost += (item.student - item.bottleneck).squaredNorm();
    all += item.bottleneck.squaredNorm();
  }
  fmt::print("{} utterances, bottleneck of {}; the student's error {:.1f} %\n", n,
             net.Options().bottleneck, 100.0 * lost / all);
  for (std::size_t k = 0; k < 3; ++k) {
    EditCounts sum;
    for (const auto& c : counts) sum += c[k];
    fmt::print("{:<12} word error {:.2f} %\n", names[k], 100.0 * sum.Rate());
  }
}

}  // namespace
}  // namespace sotto

int main(int argc, char** argv) {
  sotto::PrepareBlas(argv);
  const std::vector<std::string> a(argv + 1, argv + argc);
  try {
    if (a.size() == 3 && a[0] == "--stream") {
      sotto::StreamSpeed(sotto::ReadTensorFile(a[1]), sotto::ReadTensorFile(a[2]));
    } else if (a.size() == 1 && a[0] == "--stream") {
      sotto::StreamSpeed(sotto::RandomContent(sotto::StreamContent()),
                         sotto::RandomSynth(sotto::StreamSynth()));
    } else if (a.size() >= 3 && a[0] == "--words") {
      sotto::Words(a[1], a[2], a.size() > 3 ? std::strtoull(a[3].c_str(), nullptr, 10) : 1000000);
    } else if (a.size() == 2) {
      sotto::Speed(sotto::ReadTensorFile(a[0]), sotto::ReadTensorFile(a[1]));
    } else {  // flags of the other benchmarks are ignored
      sotto::Speed(sotto::RandomContent({}), sotto::RandomSynth({}));
      sotto::StreamSpeed(sotto::RandomContent(sotto::StreamContent()),
                         sotto::RandomSynth(sotto::StreamSynth()));
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "neural_bench: {}\n", error.what());
    return 1;
  }
}
