#include "cli/verbs.h"

#include <fmt/format.h>

#include "base/error.h"

namespace sotto::cli {
namespace {

// For CLI11: the empty string when `text` is a usable alpha or range, else what is wrong.
std::string CheckAlpha(const std::string& text) {
  try {
    RequireAskedAlpha(Range::Parse(text, "alpha"));
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

CLI::App* AddVerb(CLI::App& app, const std::string& name, const std::string& description,
                  const std::string& examples) {
  CLI::App* verb = app.add_subcommand(name, description);
  verb->footer("e.g.:\n" + examples);
  return verb;
}

void ForceFlag::Add(CLI::App& verb) {
  verb.add_flag("--force", force, "Replace an output file that is there");
}

void ForceFlag::Check(const std::filesystem::path& path) const {
  if (!path.empty()) RefuseExisting(path, OnExisting());
}

void AddTrustFlag(CLI::App& verb, bool& trust_models) {
  verb.add_flag("--trust-models", trust_models,
                "Take ONNX Runtime and foreign models as they are, where they are not the files "
                "this program knows by their SHA-256 (docs/models.md)");
}

void TargetFlags::Add(CLI::App& verb) {
  CLI::Option* key_option =
      verb.add_option("--key", key_file, "Draw targets with the key in this file")
          ->type_name("FILE");
  verb.add_option("--seed", seed,
                  "Draw targets from a public number: experiments only, protects nobody")
      ->type_name("N")
      ->excludes(key_option);
  verb.add_option("--context", context, "Separates releases that share a key")->type_name("TEXT");
}

void MethodFlags::Add(CLI::App& verb) {
  verb.add_option("--method", method,
                  "How the voice is changed: moved poles (mcadams), a warped frequency axis "
                  "(voicemask), warps towards a voice of a pool (vtln), a new voice by nets "
                  "(neural; adain)")
      ->default_str(fallback)
      ->check(CLI::IsMember({"mcadams", "voicemask", "vtln", "neural", "adain"}));
  verb.add_option("--alpha", alpha,
                  "mcadams: its coefficient, from 0.3 to 1.2: fixed (0.8 is B2), or a range drawn "
                  "in secret "
                  "(0.7:0.9 is B2r)")
      ->type_name("A|LO:HI")
      ->default_str("0.5:0.9")
      ->check(CheckAlpha);
  verb.add_option("--pitch", pitch,
                  "keep it, move it to a target voice's, or scale it by a secret factor, up to 4 "
                  "semitones (default: keep; vtln, neural and adain: target, which is part of "
                  "those methods)")
      ->check(CLI::IsMember({"keep", "target", "random"}));
  verb.add_option("--target-gender", target_gender,
                  "Of the target voice, compared with the speaker's (same and other need a method "
                  "with a target voice, or --pitch target)")
      ->check(CLI::IsMember({"same", "other", "random"}));
  verb.add_option("--pool", pool, "Target voices, from sotto build (default: those in the program)")
      ->type_name("FILE");
  verb.add_option(
          "--profile", profile,
          "The voice to be changed, from sotto fit (default: fitted from IN where the method "
          "needs it)")
      ->type_name("FILE");
  verb.add_option("--f0", f0,
                  "How the vocoder finds the pitch: robust holds in noise, and is slower")
      ->check(CLI::IsMember({"fast", "robust"}));
  verb.add_option("--neural", neural,
                  "neural, adain: a folder of nets (docs/neural_training.md) in place of those in "
                  "the program")
      ->type_name("DIR");
  verb.add_option(
          "--target", target,
          "neural, adain: a voice nobody has, drawn from a distribution; one of a pool, whatever "
          "the source; neural: or one of a pool by the source's embedding with a bound "
          "(voice-ind)")
      ->check(CLI::IsMember({"generated", "pool", "voice-ind"}));
  verb.add_option(
          "--eps,--epsilon", eps,
          "neural: the bound of --target voice-ind, for each draw; no default. It covers "
          "the choice of target alone, and k utterances with --strategy random cost k times "
          "as much")
      ->type_name("E");
  verb.add_option("--target-pool", target_pool,
                  "neural, adain: voices from sotto train voices (default: those beside the nets)")
      ->type_name("FILE");
  verb.add_option("--content", content,
                  "neural: what hears the words, our own net or Moonshine where it is installed")
      ->check(CLI::IsMember({"student", "moonshine"}));
  verb.add_option("--models", models, "neural: the folder of Moonshine and ONNX Runtime")
      ->type_name("DIR");
  AddTrustFlag(verb, trust_models);
  verb.add_option("--bend", bend,
                  "neural, adain: bends the melody by up to so many semitones, in secret")
      ->check(CLI::Range(0.0, 12.0));
}

void MethodFlags::Set(VoiceOptions& options) const {
  options.method = method.empty() ? fallback : method;
  if (!alpha.empty() && options.method != "mcadams") {
    throw CLI::ValidationError(
        fmt::format("--alpha belongs to --method mcadams; the method here is {}{}", options.method,
                    method.empty() ? ", the default" : ""));
  }
  if (!alpha.empty()) options.alpha = Range::Parse(alpha, "alpha");
  if (!pitch.empty()) options.pitch = ParsePitchMode(pitch);
  options.target_gender = ParseTargetGender(target_gender);
  options.pool = pool;
  options.profile = profile;
  options.f0_method = f0 == "robust" ? F0Method::kRobust : F0Method::kFast;
  options.neural.folder = neural;
  options.neural.target = ParseNeuralTarget(target);
  options.neural.eps = eps;
  options.neural.target_pool = target_pool;
  options.neural.teacher = content == "moonshine";
  options.neural.models = models;
  options.neural.trust_models = trust_models;
  options.neural.bend_semitones = bend;
}

}  // namespace sotto::cli
