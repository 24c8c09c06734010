#include "privasp/demo.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "base/private_folder.h"
#include "privasp/local_deployment.h"
#include "privasp/run_party.h"
#include "spoof/spoof_corpus.h"
#include "spoof/spoof_features.h"
#include "spoof/spoof_model.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;

// Two sets of recordings: a microphone, and an audio book after MP3.
constexpr const char* kRecorded[] = {"/usr/share/pocketsphinx/test/data/cards",
                                     "/usr/share/pocketsphinx/test/data/librivox"};
constexpr const char* kFlite = "/usr/bin/flite";
constexpr const char* kVoices[] = {"slt", "rms", "awb"};
constexpr const char* kSentence = "My name is on the list, but my voice is my own.";
constexpr std::size_t kOfEach = 2;  // the first
constexpr double kPartySeconds = 60.0;

struct Inputs {
  std::vector<fs::path> genuine, synthetic;
};

Inputs FindInputs(const DemoOptions& options, const ScratchFolder& work,
                  std::vector<std::string>& notes) {
  Inputs inputs{options.genuine, options.synthetic};
  if (!inputs.genuine.empty() || !inputs.synthetic.empty()) return inputs;
  for (const char* folder : kRecorded) {
    std::vector<fs::path> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == ".wav") found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    found.resize(std::min(found.size(), kOfEach));
    inputs.genuine.insert(inputs.genuine.end(), found.begin(), found.end());
  }
  if (inputs.genuine.empty()) {
    notes.push_back(
        "no genuine recording is here: give --genuine FILE, or install pocketsphinx-testdata");
  }
  for (const char* voice : kVoices) {
    const fs::path out = work / (fmt::format("flite-{}.wav", voice));
    PartyProcess flite(kFlite, {"-voice", voice, "-t", kSentence, "-o", out.string()},
                       work / "flite.log");
    if (flite.Wait(kPartySeconds) == 0 && fs::exists(out)) inputs.synthetic.push_back(out);
  }
  if (inputs.synthetic.empty()) {
    notes.push_back("no synthetic recording is here: give --synthetic FILE, or install flite");
  }
  if (inputs.genuine.empty() && inputs.synthetic.empty()) {
    throw Error("no recordings: " + notes[0] + "; " + notes[1]);
  }
  return inputs;
}

// What a client's program makes of a recording before it knows any model.
struct Heard {
  std::string name;
  bool genuine = false;
  std::vector<float> features;
};

std::vector<Heard> Hear(const Inputs& inputs, std::vector<std::string>& notes) {
  const SpoofCorpora corpora = ListSpoofCorpora(inputs.genuine, inputs.synthetic);
  std::vector<std::size_t> all(corpora.list.utterances.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<std::vector<float>> features(all.size());
  const auto trouble = HearUtterances(
      corpora.list, all, 1,
      [&](std::size_t i, std::span<const float> x) { features[i] = SpoofFeatures(x); });
  std::vector<Heard> heard;
  for (const std::size_t i : all) {
    const std::string& id = corpora.list.utterances[i].id;
    if (trouble[i].empty()) {
      heard.push_back({id, corpora.bona_fide[i].value_or(false), std::move(features[i])});
    } else {
      notes.push_back(fmt::format("left out: {}: {}", id, trouble[i]));
    }
  }
  if (heard.empty()) throw Error("no recording could be used: " + notes.back());
  return heard;
}

struct Served {
  std::string name;
  SpoofModel model;
  int scenario = 2;
};

}  // namespace

DemoResult RunDemo(const DemoOptions& options) {
  DemoResult result;
  const ScratchFolder work;
  const std::vector<Heard> heard = Hear(FindInputs(options, work, result.notes), result.notes);

  const auto start = std::chrono::steady_clock::now();
  const fs::path parties = work / "parties";
  ServiceLimits limits;
  limits.stock = limits.ready = static_cast<std::uint32_t>(std::max<std::size_t>(8, heard.size()));
  MakeLocalDeployment(parties, 0, limits);
  const auto config = [&](Role role) { return LocalConfig(parties, role).string(); };
  const auto party = [&](const char* verb, Role role) {
    return std::make_unique<PartyProcess>(
        options.program,
        std::vector<std::string>{"privasp", verb, "--config", config(role), "--quiet"},
        work / (std::string(RoleName(role)) + ".log"));
  };
  const auto first = party("server", Role::kFirstServer);
  const auto second = party("server", Role::kSecondServer);
  const auto dealer = party("dealer", Role::kDealer);

  std::vector<Served> served;
  for (const std::string& name : options.models) {
    for (const int scenario : {2, 1}) {
      const std::string as =
          fmt::format("{}-scenario-{}", fs::path(name).stem().string(), scenario);
      PartyProcess provider(options.program,
                            {"privasp", "provider", "load", name, "--name", as, "--scenario",
                             std::to_string(scenario), "--config", config(Role::kProvider),
                             "--wait", std::to_string(static_cast<int>(kPartySeconds)), "--retry"},
                            work / "provider.log");
      if (provider.Wait(kPartySeconds + 10.0) != 0) {
        throw Error(fmt::format("the provider could not load {}: {}", name,
                                ReadTextFile(work / "provider.log")));
      }
      served.push_back({as, OpenSpoofModel(name), scenario});
    }
  }
  result.start_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  const PartyConfig client_config = ReadConfig(config(Role::kClient));
  for (const Served& one : served) {
    SecureClient client(client_config, one.name);
    for (const Heard& recording : heard) {
      const auto x = client.Offer().front_end.Quantise(recording.features);
      DemoQuery query;
      query.recording = recording.name;
      query.genuine = recording.genuine;
      query.scenario = one.scenario;
      query.model = one.model.name;
      query.units = one.model.net.units;
      const SecureAnswer answer = client.Ask(x)[0];
      query.cost = client.LastCost();
      query.secure_score = answer.score;
      query.secure_genuine = answer.genuine;
      query.plain_score = Evaluate(one.model.net, x);
      query.plain_genuine = query.plain_score >= one.model.net.threshold;
      query.equal = query.secure_genuine == query.plain_genuine &&
                    (!answer.score || *answer.score == query.plain_score);
      result.queries.push_back(query);
    }
  }
  for (PartyProcess* process : {dealer.get(), second.get(), first.get()}) {
    const int code = process->Stop();
    if (code != 0) throw Error(fmt::format("a party ended with {}", code));
  }
  return result;
}

}  // namespace sotto
