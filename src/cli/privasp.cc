// sotto privasp server|dealer|provider|client|status|load|demo: the secure comparison as a service.
// keys are in privasp_keys.cc.
#include "cli/privasp.h"

#include <fmt/format.h>

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

void AddConfigFlag(CLI::App& verb, std::string& config) {
  verb.add_option("--config", config, "The party's configuration (docs/mpc.md)")
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
  verb->add_flag("--quiet", flags->quiet, "Log warnings alone");
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
  CLI::App* verb = AddVerb(privasp, "provider", "Gives the servers a model, or takes it away.",
                           "  sotto privasp provider load privasp-1024 --config provider.json\n"
                           "  sotto privasp provider retire --name default --config provider.json");
  verb->require_subcommand(1);
  auto flags = std::make_shared<ProviderFlags>();
  CLI::App* load = AddVerb(
      *verb, "load",
      "Sends a model to both servers and waits until they use it. A model of the same name is\n"
      "replaced as soon as the new one has material: queries go on in the meantime.",
      "  sotto privasp provider load privasp-1024 --config provider.json\n"
      "  sotto privasp provider load mine.safetensors --scenario 1 --config provider.json");
  load->add_option(
          "MODEL", flags->model,
          fmt::format("A file from sotto spoof train, or {} or {}", kPrivasp1024, kPrivasp512))
      ->required();
  load->add_option("--scenario", flags->scenario,
                   "1: the servers know the model; 2: they have shares of it")
      ->check(CLI::Range(1, 2));
  load->add_option("--name", flags->name, "That clients ask for");
  load->add_option("--wait", flags->wait_s, "Seconds until it must be in use; 0: does not wait")
      ->check(CLI::NonNegativeNumber);
  load->add_flag("--retry", flags->retry, "Servers that are not there yet are waited for as well");
  AddConfigFlag(*load, flags->config);
  load->callback([flags] { Load(*flags); });

  CLI::App* retire = AddVerb(
      *verb, "retire",
      "Models of this name answer no new queries and are erased when those under way are over.",
      "  sotto privasp provider retire --name default --config provider.json\n"
      "  sotto privasp status --config provider.json");
  retire->add_option("--name", flags->name, "That clients ask for");
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
      "Asks the two servers whether recordings (mono, 16 kHz) are genuine, without showing them.",
      "  sotto privasp client recording.wav --config client.json\n"
      "  sotto privasp client recordings/ --config client.json --json");
  verb->add_option("RECORDING", flags->recordings, "Sound files or corpora")->required();
  AddConfigFlag(*verb, flags->config);
  verb->add_option("--model", flags->model, "By name (default: the one that was loaded last)");
  verb->add_option("--jobs", flags->jobs, "Recordings heard at a time")->check(CLI::PositiveNumber);
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

void AddStatus(CLI::App& privasp) {
  auto flags = std::make_shared<ClientFlags>();
  CLI::App* verb = AddVerb(
      privasp, "status",
      "What both servers say of themselves: models, stock, counts. Exit code 1 where one does not\n"
      "answer: a health check.",
      "  sotto privasp status --config client.json\n"
      "  sotto privasp status --config dealer.json --json");
  AddConfigFlag(*verb, flags->config);
  verb->add_flag("--json", flags->json, "Print everything as JSON");
  verb->callback([flags] {
    const auto servers = AskStatus(ReadConfig(flags->config));
    fmt::print("{}", flags->json ? ServiceStatusJson(servers) : ServiceStatusText(servers));
    for (const ServerStatus& server : servers) {
      if (!server.trouble.empty()) throw ExitWith{1};
    }
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
      "the\n"
      "plain net where it is given. Exit code 1 for a wrong answer or an id that was given out "
      "twice.",
      "  sotto privasp load --config client.json --queries 1000 --concurrency 16\n"
      "  sotto privasp load --config client.json --plain privasp-1024 --json");
  AddConfigFlag(*verb, flags->config);
  verb->add_option("--model", options.model, "By name (default: the one that was loaded last)");
  verb->add_option("--queries", options.queries, "In all");
  verb->add_option("--concurrency", options.concurrency, "Clients at a time");
  verb->add_option("--batch", options.batch, "Utterances a query");
  verb->add_option("--seed", options.seed, "Of the inputs: an experiment's");
  verb->add_option("--plain", flags->plain, "The model itself, to compare with")
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
      "Starts all four roles on this host with fresh keys and classifies a few recordings in both\n"
      "scenarios, with the plain result beside each. Four roles on one host protect nobody.",
      "  sotto privasp demo\n"
      "  sotto privasp demo --genuine recording.wav --synthetic spoken.wav --json");
  verb->add_option("--genuine", flags->genuine,
                   "Recordings of people (default: those of pocketsphinx-testdata)")
      ->type_name("FILE");
  verb->add_option("--synthetic", flags->synthetic, "Synthetic speech (default: what flite speaks)")
      ->type_name("FILE");
  verb->add_option(
      "--model", flags->models,
      fmt::format("Files from sotto spoof train, or {} or {}", kPrivasp1024, kPrivasp512));
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
      "Genuine or synthetic, by two servers that see neither voice nor model. Runs the parties.",
      "  sotto privasp demo\n"
      "  sotto privasp client recording.wav --config client.json");
  verb->require_subcommand(1);
  verb->heading("See it");
  AddDemo(*verb);
  verb->heading("Run the parties");
  AddPrivaspKeys(*verb);
  AddParty(*verb, "server",
           "Runs one of the two servers (the certificate says which) until SIGTERM or SIGINT.",
           "  sotto privasp server --config server1.json\n"
           "  sotto privasp status --config client.json",
           RunServer);
  AddParty(*verb, "dealer",
           "Runs the dealer, which keeps both servers in stock with one-time material.",
           "  sotto privasp dealer --config dealer.json\n"
           "  sotto privasp status --config dealer.json",
           RunDealer);
  AddProvider(*verb);
  AddClient(*verb);
  verb->heading("Look after them");
  AddStatus(*verb);
  AddLoad(*verb);
}

}  // namespace sotto::cli
