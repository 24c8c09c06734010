#include "utility/one_side.h"

#include <fmt/format.h>

#include <cstring>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/private_folder.h"
#include "base/progress.h"
#include "speaker/embedding_stream.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

// Processor time of the calling thread: what a judge costs on one core, whoever else is working.
double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <typename Open>
std::string Try(const Open& open) {
  try {
    open();
    return {};
  } catch (const UntrustedModel&) {
    throw;  // somebody changed it: not the same as not having it
  } catch (const Error& error) {
    return error.what();
  }
}

// What one judge says about one utterance, measured, and as it is kept.
struct Part {
  std::string name;  // with all that decides what the judge says
  std::function<void(SideMeasures&, std::size_t, std::span<const float>)> measure;
  std::function<json(const SideMeasures&)> keep;
  std::function<void(const json&, SideMeasures&)> take;
};

template <typename T>
json Binary(const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
  return json::binary({bytes, bytes + values.size() * sizeof(T)});
}

template <typename T>
std::vector<T> FromBinary(const json& kept) {
  const json::binary_t& bytes = kept.get_binary();
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

Part ProsodyPart(const Judges& judges) {
  return {"prosody 1, " + (judges.detector ? judges.models : "no detector"),
          [&judges](SideMeasures& side, std::size_t, std::span<const float> x) {
            if (!x.empty()) side.prosody = MeasureProsody(x, judges.detector.get());
          },
          [](const SideMeasures& side) -> json {
            if (!side.prosody) return nullptr;
            const Prosody& p = *side.prosody;
            return {Binary(p.f0),    Binary(p.energy_db),
                    p.seconds,       p.level_db,
                    p.speaking_rate, p.pause_ratio ? json(*p.pause_ratio) : json(nullptr)};
          },
          [](const json& kept, SideMeasures& side) {
            if (kept.is_null()) return;
            Prosody& p = side.prosody.emplace();
            p.f0 = FromBinary<double>(kept.at(0));
            p.energy_db = FromBinary<double>(kept.at(1));
            p.seconds = kept.at(2).get<double>();
            p.level_db = kept.at(3).get<double>();
            p.speaking_rate = kept.at(4).get<double>();
            if (!kept.at(5).is_null()) p.pause_ratio = kept.at(5).get<double>();
          }};
}

// "0110…": which utterances a judge was asked about.
std::string Digits(const std::vector<char>& chosen) {
  std::string digits;
  for (const char one : chosen) digits += one != 0 ? '1' : '0';
  return digits;
}

Part DnsMosPart(const Judges& judges) {
  return {fmt::format("dnsmos 1, {}, {}", judges.models, Digits(judges.rated)),
          [&judges](SideMeasures& side, std::size_t i, std::span<const float> x) {
            if (!judges.rated.empty() && judges.rated[i] == 0) return;
            if (!x.empty()) side.dnsmos = judges.dnsmos->Judge(x);
          },
          [](const SideMeasures& side) -> json {
            if (!side.dnsmos) return nullptr;
            return {side.dnsmos->sig, side.dnsmos->bak, side.dnsmos->ovr};
          },
          [](const json& kept, SideMeasures& side) {
            if (kept.is_null()) return;
            side.dnsmos = DnsMos{kept.at(0), kept.at(1), kept.at(2)};
          }};
}

Part VoicePart(const Judges& judges) {
  return {fmt::format("voice 2, {}, {}", kEmbeddingRule, judges.encoder->Fingerprint()),
          [&judges](SideMeasures& side, std::size_t, std::span<const float> x) {
            Try([&] { side.voice = judges.encoder->Embed(x, kRecogniserRateHz); });
          },
          [](const SideMeasures& side) { return Binary(side.voice); },
          [](const json& kept, SideMeasures& side) { side.voice = FromBinary<float>(kept); }};
}

Part TranscriberPart(const Judges& judges, std::size_t k) {
  const Judges::Transcriber& transcriber = judges.transcribers[k];
  return {fmt::format("heard 1, {}, {}, {}, {}", transcriber.recogniser->Name(),
                      transcriber.recogniser->Model(), judges.models, Digits(transcriber.hears)),
          [&transcriber, k](SideMeasures& side, std::size_t i, std::span<const float> x) {
            if (transcriber.hears[i] == 0) return;
            const double start = ThreadSeconds();
            side.heard[k].text = transcriber.recogniser->Transcribe(x);
            side.heard[k].cpu_s = ThreadSeconds() - start;
            side.heard[k].audio_s = static_cast<double>(x.size()) / kRecogniserRateHz;
          },
          [k](const SideMeasures& side) -> json {
            return {side.heard[k].text, side.heard[k].audio_s, side.heard[k].cpu_s};
          },
          [k](const json& kept, SideMeasures& side) {
            side.heard[k] = {kept.at(0), kept.at(1), kept.at(2)};
          }};
}

std::vector<Part> PartsOf(const Judges& judges) {
  std::vector<Part> parts = {ProsodyPart(judges)};
  if (judges.dnsmos) parts.push_back(DnsMosPart(judges));
  if (judges.encoder) parts.push_back(VoicePart(judges));
  for (std::size_t k = 0; k < judges.transcribers.size(); ++k) {
    if (judges.transcribers[k].recogniser) parts.push_back(TranscriberPart(judges, k));
  }
  return parts;
}

void MeasureParts(std::span<const Part* const> parts, std::size_t i, std::span<const float> x,
                  SideMeasures& side) {
  side.seconds = static_cast<double>(x.size()) / kRecogniserRateHz;
  for (const Part* part : parts) part->measure(side, i, x);
}

// False when there is no such file, or when it holds something else.
bool Take(const fs::path& file, const Part& part, std::vector<SideMeasures>& sides) {
  if (!fs::exists(file)) return false;
  const json kept = json::from_cbor(ReadTextFile(file), true, /*allow_exceptions=*/false);
  if (!kept.is_array() || kept.size() != sides.size()) return false;
  std::vector<SideMeasures> taken = sides;
  try {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      taken[i].seconds = kept[i].at(0).get<double>();
      part.take(kept[i].at(1), taken[i]);
    }
  } catch (const json::exception&) {
    return false;
  }
  sides = std::move(taken);
  return true;
}

void Keep(const fs::path& file, const Part& part, const std::vector<SideMeasures>& sides) {
  json kept = json::array();
  for (const SideMeasures& side : sides) kept.push_back({side.seconds, part.keep(side)});
  const std::vector<std::uint8_t> bytes = json::to_cbor(kept);
  WriteInPrivateFolder(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

std::string DescribeModelFiles(const ModelFolders& models) {
  std::string text = FileStamp("/usr/share/pocketsphinx/model/en-us/en-us.lm.bin");
  for (const char* name : {"onnxruntime/libonnxruntime.so.1", "silero/silero_vad_v5.onnx",
                           "dnsmos/sig_bak_ovr.onnx", "moonshine/encoder_model.onnx",
                           "moonshine/decoder_model_merged.onnx", "moonshine/tokens.txt"}) {
    const auto file = models.Find(name);
    text += file ? ", " + FileStamp(*file) : fmt::format(", no {}", name);
  }
  return text;
}

Judges OpenJudges(const ModelFolders& models, const std::string& encoder) {
  Judges judges;
  OnnxRuntimePtr runtime;
  const std::string no_runtime = Try([&] { runtime = OnnxRuntime::Open(models); });
  judges.no_detector = judges.no_dnsmos = no_runtime;
  if (runtime != nullptr) {
    judges.no_detector =
        Try([&] { judges.detector = std::make_unique<SpeechDetector>(runtime, models); });
    judges.no_dnsmos = Try([&] { judges.dnsmos = std::make_unique<DnsMosJudge>(runtime, models); });
  }
  judges.no_encoder = Try([&] { judges.encoder = OpenEncoder(encoder, models.Trusted()); });
  judges.models = DescribeModelFiles(models);
  return judges;
}

SideMeasures MeasureSide(const Judges& judges, std::size_t i, std::span<const float> x) {
  SideMeasures side;
  side.heard.resize(judges.transcribers.size());
  const std::vector<Part> parts = PartsOf(judges);
  std::vector<const Part*> all;
  all.reserve(parts.size());
  for (const Part& part : parts) all.push_back(&part);
  MeasureParts(all, i, x, side);
  return side;
}

std::vector<SideMeasures> MeasureOriginals(const Judges& judges,
                                           const std::vector<PairedUtterance>& utterances,
                                           const fs::path& cache, int jobs) {
  MakePrivateFolder(cache, ".cbor");
  std::string sounds;
  for (const PairedUtterance& one : utterances) {
    sounds += fmt::format("{}\t{}\t{}\t{}\n", one.id, FileStamp(one.original.path),
                          one.original.begin_s, one.original.end_s);
  }
  std::vector<SideMeasures> sides(utterances.size());
  for (SideMeasures& side : sides) side.heard.resize(judges.transcribers.size());
  const std::vector<Part> parts = PartsOf(judges);
  const auto groups = GroupByRecording(utterances);
  // One judge after the other: a run that is killed loses the work of one.
  for (const Part& part : parts) {
    const fs::path file =
        cache /
        (ContentDigest("sotto original side 2\n" + part.name + "\n" + sounds).substr(0, 40) +
         ".cbor");
    if (Take(file, part, sides)) continue;
    const Part* const wanted = &part;
    const std::string judge = part.name.substr(0, part.name.find(' '));
    Progress progress("originals, " + judge, groups.size(), static_cast<double>(sides.size()));
    ParallelFor(groups.size(), jobs, [&](std::size_t g) {
      const auto heard = ReadUtterances(utterances, groups[g], &PairedUtterance::original);
      double audio_s = 0.0;
      for (std::size_t place = 0; place < groups[g].size(); ++place) {
        const std::size_t i = groups[g][place];
        MeasureParts({&wanted, 1}, i, heard[place], sides[i]);
        audio_s += sides[i].seconds;
      }
      progress.Done(static_cast<double>(groups[g].size()), audio_s);
    });
    Keep(file, part, sides);
  }
  return sides;
}

}  // namespace sotto
