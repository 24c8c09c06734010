// sotto verify A B
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "cli/verbs.h"
#include "speaker/embed_corpus.h"
#include "speaker/scoring.h"
#include "speaker/verbal_scale.h"

namespace sotto::cli {
namespace {

struct Flags {
  std::string a, b;
  std::string encoder = kDefaultEncoder;
  bool json = false, trust_models = false;
};

void Run(const Flags& flags) {
  const auto encoder = OpenEncoder(flags.encoder, flags.trust_models);
  const auto embed = [&](const std::string& path) {
    const std::vector<float> x = EmbedFile(*encoder, path);
    return Eigen::VectorXf(
        Eigen::Map<const Eigen::VectorXf>(x.data(), static_cast<Eigen::Index>(x.size())));
  };
  const double cosine = CosineScores(embed(flags.a), embed(flags.b))(0, 0);
  const auto& calibration = encoder->Calibration();
  const double llr = calibration ? calibration->scale * cosine + calibration->offset : 0.0;
  if (flags.json) {
    nlohmann::ordered_json json = {{"encoder", encoder->Name()}, {"cosine", cosine}};
    json["llr"] = nullptr;
    if (calibration) {
      json["llr"] = llr;
      json["words"] = VerbalScale(llr);
    } else {
      json["reason"] = "the encoder's file holds no calibration";
    }
    fmt::print("{}\n", DumpJson(json, 2));
    return;
  }
  fmt::print("cosine {:.4f} ({}, {} dimensions)\n", cosine, encoder->Name(), encoder->Dimension());
  if (calibration) {
    fmt::print("LLR {:+.2f} (natural log): {}\n", llr, VerbalScale(llr));
  } else {
    fmt::print("uncalibrated: the encoder's file does not say what likelihood ratio that is\n");
  }
}

}  // namespace

void AddVerify(CLI::App& app) {
  CLI::App* verb = AddVerb(app, "verify",
                           "Do two recordings come from one speaker? A calibrated likelihood "
                           "ratio, and what it means in words.",
                           "  sotto verify a.wav b.wav\n"
                           "  sotto verify original.flac protected.flac --encoder my.safetensors "
                           "--json");
  auto flags = std::make_shared<Flags>();
  verb->add_option("A", flags->a, "A recording (its first channel)")->required();
  verb->add_option("B", flags->b, "Another")->required();
  verb->add_option("--encoder", flags->encoder, "A file from sotto train (or foreign safetensors)")
      ->type_name("FILE");
  AddTrustFlag(*verb, flags->trust_models);
  verb->add_flag("--json", flags->json, "Print cosine and LLR as JSON");
  verb->callback([flags] { Run(*flags); });
}

}  // namespace sotto::cli
