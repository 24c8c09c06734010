// sotto privasp server|dealer|provider|client|status|load|demo: the secure comparison as a service.
// keys are in privasp_keys.cc.
#include "cli/privasp.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "base/parallel.h"
#include "base/terminal.h"
#include "cli/verbs.h"
#include "privasp/conversation.h"
#include "privasp/provider_client.h"
#include "privasp/run_party.h"
#include "report/privasp_figures.h"
#include "spoof/spoof_model.h"

namespace sotto::cli {
namespace {

// "A file from sotto spoof train, or a net of the program".
std::string ModelHelp(const std::string& files) {
  return fmt::format("{} from sotto spoof train, or {} or {}, which are in the program", files,
                     kPrivasp1024, kPrivasp512);
}

void AddConfigFlag(CLI::App& verb, std::string& config) {
  verb.add_option("--config", config, "Configuration of the party that runs this (docs/mpc.md)")
      ->required()
      ->type_name("FILE.json");
}

struct PartyFlags {
  std::string config;
  bool quiet = false;
};

void AddParty(CLI::App& privasp, const std::string& name, const std::string& description,
              const std::string& examples, void (*run)(const PartyConfig&, bool)) {
  auto flags = std::make_shared<PartyFlags>();
  CLI::App* verb = AddVerb(privasp, name, description, examples);
  AddConfigFlag(*verb, flags->config);
  verb->add_flag("--quiet", flags->quiet, "Log only warnings");
  verb->callback([flags, run] { run(ReadConfig(flags->config), flags->quiet); });
}

struct ProviderFlags {
  std::string config, model, name = "default";
  int scenario = 2;
  double wait_s = 60.0;
  bool retry = false;
};

void Load(const ProviderFlags& flags) {
  const SpoofModel model = OpenSpoofModel(flags.model);
  const Deadline deadline = After(flags.wait_s);
  for (;;) {
    try {
      const LoadedModel loaded =
          LoadModelAtServers(ReadConfig(flags.config), model, flags.name,
                             static_cast<Scenario>(flags.scenario), flags.wait_s);
      fmt::print("model '{}' ({}), id {}: {}\n", flags.name, model.name, loaded.id,
                 loaded.active ? "in use at both servers"
                               : "at both servers, which wait for the dealer or each other");
      if (!loaded.active && flags.wait_s > 0) throw ExitWith{1};
      return;
    } catch (const Refused&) {
      throw;
    } catch (const Error&) {
      if (!flags.retry || std::chrono::steady_clock::now() > deadline) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void AddProvider(CLI::App& privasp) {
  CLI::App* verb = AddVerb(
      privasp, "provider", "Gives the two servers a model, or takes it away.",
      "  sotto privasp provider load privasp-1024 --config parties/provider/config.json\n"
      "  sotto privasp provider retire --name default --config parties/provider/config.json");
  verb->require_subcommand(1);
  verb->heading("Models");
  auto flags = std::make_shared<ProviderFlags>();
  CLI::App* load = AddVerb(
      *verb, "load",
      "Sends a model to both servers and waits until they use it. A model of the same name is "
      "replaced as soon as the new one has material; queries go on in the meantime.",
      "  sotto privasp provider load privasp-1024 --config parties/provider/config.json\n"
      "  sotto privasp provider load mine.safetensors --scenario 1 --config "
      "parties/provider/config.json");
  load->add_option("MODEL", flags->model, ModelHelp("A file"))->required();
  load->add_option(
          "--scenario", flags->scenario,
          "1: both servers know the model; 2: each holds a share of it, which alone says nothing")
      ->check(CLI::Range(1, 2));
  load->add_option("--name", flags->name, "Name by which clients ask for the model");
  load->add_option("--wait", flags->wait_s,
                   "Seconds in which the model must come into use; 0 means not to wait")
      ->check(CLI::NonNegativeNumber);
  load->add_flag("--retry", flags->retry, "Wait also for servers that do not answer yet");
  AddConfigFlag(*load, flags->config);
  load->callback([flags] { Load(*flags); });

  CLI::App* retire = AddVerb(
      *verb, "retire",
      "Retires the model of a name: it answers no new queries and is erased when those under way "
      "are over.",
      "  sotto privasp provider retire --name default --config parties/provider/config.json\n"
      "  sotto privasp status --config parties/provider/config.json");
  retire->add_option("--name", flags->name, "Name by which clients ask for the model");
  AddConfigFlag(*retire, flags->config);
  retire->callback([flags] { RetireModelAtServers(ReadConfig(flags->config), flags->name); });
}

struct ClientFlags {
  std::string config, model;
  std::vector<std::string> recordings;
  int jobs = DefaultJobs();
  bool json = false;
};

void Classify(const ClientFlags& flags) {
  const Classified classified =
      ClassifyAtService(ReadConfig(flags.config), flags.model,
                        {flags.recordings.begin(), flags.recordings.end()}, flags.jobs);
  fmt::print("{}", flags.json ? ClassifiedJson(classified) : ClassifiedText(classified));
  for (const ClassifiedRecording& row : classified.rows) {
    if (!row.refused.empty()) Complain("sotto", fmt::format("{}: {}", row.utterance, row.refused));
  }
  if (classified.Refused() > 0) throw ExitWith{1};
}

void AddClient(CLI::App& privasp) {
  auto flags = std::make_shared<ClientFlags>();
  CLI::App* verb = AddVerb(
      privasp, "client",
      "Asks the two servers whether recordings (mono, 16 kHz) are genuine, without showing them to "
      "either.",
      "  sotto privasp client recording.wav --config parties/client/config.json\n"
      "  sotto privasp client recordings/ --config parties/client/config.json --json");
  verb->add_option("RECORDING", flags->recordings, "Sound files or corpora, mono, 16 kHz")
      ->required();
  AddConfigFlag(*verb, flags->config);
  verb->add_option("--model", flags->model,
                   "Name of the model; default: the one that was loaded last");
  verb->add_option("--jobs", flags->jobs, "Recordings whose features are computed at a time")
      ->check(CLI::PositiveNumber);
  verb->add_flag("--json", flags->json, "Print everything as JSON");
  verb->callback([flags] { Classify(*flags); });
}

std::vector<ServerStatus> AskStatus(const PartyConfig& config) {
  const TlsParty party(config.files);
  std::vector<ServerStatus> servers;
  for (const Role role : {Role::kFirstServer, Role::kSecondServer}) {
    if (!config.peers.contains(role) || config.Peer(role).address.empty()) continue;
    ServerStatus& status = servers.emplace_back();
    status.server = RoleName(role);
    try {
      Conversation server(party, config, role);
      status.status = ParseStatus(server.Ask<StatusMessage>(AskStatusMessage{}).json);
    } catch (const Error& error) {
      status.trouble = error.what();
    }
  }
  if (servers.empty()) throw Error("status: the configuration has no server's address");
  return servers;
}

// Why no query can be answered there; "" where there is no reason that the server knows of.
std::string TroubleOf(const ServerStatus& server) {
  if (!server.trouble.empty()) return "does not answer";
  if (!server.status.link) return "has no link to the other server";
  const auto& models = server.status.models;
  const bool any = std::any_of(models.begin(), models.end(),
                               [](const auto& model) { return model.state == "active"; });
  return any ? "" : "no model is active";
}

void AddStatus(CLI::App& privasp) {
  auto flags = std::make_shared<ClientFlags>();
  CLI::App* verb = AddVerb(
      privasp, "status",
      "Prints what both servers say of themselves: models, stock and counts. The exit code is 1 "
      "where one does not answer, has no link to the other or no active model, as a health check "
      "needs it.",
      "  sotto privasp status --config parties/client/config.json\n"
      "  sotto privasp status --config parties/dealer/config.json --json");
  AddConfigFlag(*verb, flags->config);
  verb->add_flag("--json", flags->json, "Print everything as JSON");
  verb->callback([flags] {
    const auto servers = AskStatus(ReadConfig(flags->config));
    fmt::print("{}", flags->json ? ServiceStatusJson(servers) : ServiceStatusText(servers));
    bool good = true;
    for (const ServerStatus& server : servers) {
      const std::string trouble = TroubleOf(server);
      if (trouble.empty()) continue;
      Complain("sotto", fmt::format("{}: {}", server.server, trouble));
      good = false;
    }
    if (!good) throw ExitWith{1};
  });
}

struct LoadFlags {
  LoadOptions options;
  std::string config, plain;
  bool json = false;
};

void AddLoad(CLI::App& privasp) {
  auto flags = std::make_shared<LoadFlags>();
  LoadOptions& options = flags->options;
  CLI::App* verb = AddVerb(
      privasp, "load",
      "Puts a bounded load of random inputs on one's own servers, and compares the answers with "
      "the plain net where it is given. The exit code is 1 after a wrong answer, or where an id "
      "was given out twice.",
      "  sotto privasp load --config parties/client/config.json --queries 1000 --concurrency 16\n"
      "  sotto privasp load --config parties/client/config.json --plain privasp-1024 --json");
  AddConfigFlag(*verb, flags->config);
  verb->add_option("--model", options.model,
                   "Name of the model; default: the one that was loaded last");
  verb->add_option("--queries", options.queries, "Queries in all");
  verb->add_option("--concurrency", options.concurrency, "Clients at a time");
  verb->add_option("--batch", options.batch, "Utterances in each query");
  verb->add_option("--seed", options.seed, "Seed of the random inputs");
  verb->add_option("--plain", flags->plain,
                   "Compare the answers with this model: " + ModelHelp("a file"))
      ->type_name("MODEL");
  verb->add_flag("--json", flags->json, "Print everything as JSON");
  verb->callback([flags] {
    CheckUsage([&] { flags->options.Validate(); });
    if (!flags->plain.empty()) flags->options.plain = OpenSpoofModel(flags->plain);
    const LoadResult result = RunLoad(ReadConfig(flags->config), flags->options);
    fmt::print("{}",
               flags->json ? LoadJson(result, flags->options) : LoadText(result, flags->options));
    if (result.wrong > 0 || result.reused > 0) throw ExitWith{1};
  });
}

struct DemoFlags {
  std::vector<std::string> genuine, synthetic;
  std::vector<std::string> models = DemoOptions{}.models;
  bool json = false;
};

void AddDemo(CLI::App& privasp) {
  auto flags = std::make_shared<DemoFlags>();
  CLI::App* verb = AddVerb(
      privasp, "demo",
      "Starts all four roles on this host with fresh keys and classifies a few recordings in both "
      "scenarios, with the plain result beside each. Four roles on one host protect nobody.",
      "  sotto privasp demo\n"
      "  sotto privasp demo --genuine recording.wav --synthetic spoken.wav --json");
  verb->add_option("--genuine", flags->genuine,
                   "Recordings of people; default: those of the package pocketsphinx-testdata")
      ->type_name("FILE");
  verb->add_option("--synthetic", flags->synthetic,
                   "Synthetic speech; default: sentences spoken by flite")
      ->type_name("FILE");
  verb->add_option("--model", flags->models, ModelHelp("Models to show: files"));
  verb->add_flag("--json", flags->json, "Print everything as JSON");
  verb->callback([flags] {
    DemoOptions options;
    options.genuine = {flags->genuine.begin(), flags->genuine.end()};
    options.synthetic = {flags->synthetic.begin(), flags->synthetic.end()};
    options.models = flags->models;
    options.program = ThisProgram();
    const DemoResult result = RunDemo(options);
    fmt::print("{}", flags->json ? PrivaspDemoJson(result) : PrivaspDemoText(result));
    for (const DemoQuery& query : result.queries) {
      if (!query.equal) throw ExitWith{1};
    }
  });
}

}  // namespace

void AddPrivasp(CLI::App& app) {
  CLI::App* verb = AddVerb(
      app, "privasp",
      "Tells genuine voices from synthetic ones by two servers that see neither voice nor model. "
      "This verb runs the parties, each as a process of its own.",
      "  sotto privasp demo\n"
      "  sotto privasp client recording.wav --config parties/client/config.json");
  verb->require_subcommand(1);
  verb->heading("See it");
  AddDemo(*verb);
  verb->heading("Run the parties");
  AddPrivaspKeys(*verb);
  AddParty(*verb, "server",
           "Runs one of the two servers (its certificate says which one) until SIGTERM or SIGINT.",
           "  sotto privasp server --config parties/server1/config.json\n"
           "  sotto privasp status --config parties/client/config.json",
           RunServer);
  AddParty(
      *verb, "dealer",
      "Runs the dealer, which keeps both servers in stock with one-time material, until SIGTERM "
      "or SIGINT.",
      "  sotto privasp dealer --config parties/dealer/config.json\n"
      "  sotto privasp status --config parties/dealer/config.json",
      RunDealer);
  AddProvider(*verb);
  AddClient(*verb);
  verb->heading("Look after them");
  AddStatus(*verb);
  AddLoad(*verb);
}

}  // namespace sotto::cli
