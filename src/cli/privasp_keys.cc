// sotto privasp keys authority|request|sign|show: who the parties are to each other.
#include "report/privasp_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/privasp.h"
#include "cli/verbs.h"
#include "privasp/certificates.h"
#include "privasp/local_deployment.h"

namespace sotto::cli {
namespace {

struct KeysFlags {
  std::filesystem::path folder, request, certificate;
  std::string role, name = "authority";
  int days = 365;
  ForceFlag force;
  bool json = false;

  void AddRole(CLI::App& verb) {
    std::vector<std::string> roles(kRoles.size());
    std::transform(kRoles.begin(), kRoles.end(), roles.begin(), RoleName);
    verb.add_option("--role", role, "Role of the party in the deployment")
        ->required()
        ->check(CLI::IsMember(roles));
  }
  void AddDays(CLI::App& verb) {
    constexpr int kMost = 36500;
    verb.add_option("--days", days, "Days for which the certificate is valid, from now on")
        ->check(CLI::Range(1, kMost));
  }
};

std::string InFolder(const KeysFlags& flags, const char* file) {
  return (flags.folder / file).string();
}

void AddAuthority(CLI::App& keys) {
  auto flags = std::make_shared<KeysFlags>();
  flags->days = 3650;
  CLI::App* verb = AddVerb(
      keys, "authority",
      "Makes the authority of a deployment, whose signature says which role a party has. Its "
      "private key should be on no machine of the service.",
      "  sotto privasp keys authority -o authority/\n"
      "  sotto privasp keys authority -o authority/ --name helpline-2026 --days 1825");
  verb->add_option("-o,--out", flags->folder,
                   "New folder for authority.pem, authority.key and the list of what was signed")
      ->required()
      ->type_name("DIR");
  verb->add_option("--name", flags->name,
                   "Name of the authority: 1 to 64 letters, digits and . _ -");
  flags->AddDays(*verb);
  verb->callback([flags] {
    MakeAuthority(flags->folder, flags->name, flags->days);
    fmt::print("{} goes to every party, {} to nobody.\n", InFolder(*flags, "authority.pem"),
               InFolder(*flags, "authority.key"));
  });
}

void AddRequest(CLI::App& keys) {
  auto flags = std::make_shared<KeysFlags>();
  CLI::App* verb =
      AddVerb(keys, "request",
              "Makes a party's private key, which never leaves its machine, and its request for a "
              "certificate.",
              "  sotto privasp keys request --role server1 --name alpha -o alpha/\n"
              "  sotto privasp keys request --role client --name phone-7 -o phone/");
  flags->AddRole(*verb);
  verb->add_option("--name", flags->name, "Name of the party: 1 to 64 letters, digits and . _ -")
      ->required()
      ->default_str("");
  verb->add_option("-o,--out", flags->folder, "Folder for party.key and party.csr")
      ->required()
      ->type_name("DIR");
  verb->callback([flags] {
    MakeRequest(flags->folder, ParseRole(flags->role), flags->name);
    fmt::print("{} goes to the authority, {} to nobody.\n", InFolder(*flags, "party.csr"),
               InFolder(*flags, "party.key"));
  });
}

void AddSign(CLI::App& keys) {
  auto flags = std::make_shared<KeysFlags>();
  CLI::App* verb = AddVerb(
      keys, "sign",
      "Signs a party's request with the authority's key, and prints what the certificate says; its "
      "pin is what the other parties are told to expect. A key that was signed in another role "
      "before is refused.",
      "  sotto privasp keys sign alpha/party.csr --authority authority/ --role server1 "
      "-o alpha/party.pem\n"
      "  sotto privasp keys sign phone/party.csr --authority authority/ --role client --days 30 "
      "-o phone/party.pem");
  verb->add_option("REQUEST", flags->request, "Request of the party: its party.csr")->required();
  verb->add_option("--authority", flags->folder, "Folder of the authority")
      ->required()
      ->type_name("DIR");
  flags->AddRole(*verb);
  verb->add_option("-o,--out", flags->certificate,
                   "Write the certificate, which goes to the party, to this file")
      ->required()
      ->type_name("CERT.pem");
  flags->AddDays(*verb);
  flags->force.Add(*verb);
  verb->add_flag("--json", flags->json, "Print what the certificate says as JSON");
  verb->callback([flags] {
    flags->force.Check(flags->certificate);
    SignRequest(flags->folder, flags->request, ParseRole(flags->role), flags->days,
                flags->certificate);
    fmt::print("{}", PrintedCertificate(ReadCertificate(flags->certificate), flags->json));
  });
}

void AddShow(CLI::App& keys) {
  auto flags = std::make_shared<KeysFlags>();
  CLI::App* verb = AddVerb(
      keys, "show",
      "Prints what a party's certificate says: its role, name and pin, and when it is valid. "
      "Whether the authority signed it is checked when the party connects.",
      "  sotto privasp keys show alpha/party.pem\n"
      "  sotto privasp keys show alpha/party.pem --json");
  verb->add_option("CERT.pem", flags->certificate, "Certificate to be shown")->required();
  verb->add_flag("--json", flags->json, "Print what the certificate says as JSON");
  verb->callback([flags] {
    fmt::print("{}", PrintedCertificate(ReadCertificate(flags->certificate), flags->json));
  });
}

struct LocalFlags {
  std::string folder;
  int port = 7701;
};

void AddLocal(CLI::App& keys) {
  auto flags = std::make_shared<LocalFlags>();
  CLI::App* verb = AddVerb(keys, "local",
                           "Makes an authority and the keys, certificates and configurations of "
                           "all parties, to try the service on one host, which protects nobody.",
                           "  sotto privasp keys local -o parties/\n"
                           "  sotto privasp keys local -o parties/ --port 9000");
  verb->add_option("-o,--out", flags->folder,
                   "New folder, in which each party gets a folder of its own")
      ->required()
      ->type_name("DIR");
  verb->add_option("--port", flags->port,
                   "Port of the first server on the loopback; the second server has the next one")
      ->check(CLI::Range(1024, 65534));
  verb->callback([flags] {
    MakeLocalDeployment(flags->folder, flags->port);
    fmt::print("All parties' keys lie in {} together: for trying alone.\n", flags->folder);
    for (const auto& [party, role] :
         {std::pair("server", Role::kFirstServer), std::pair("server", Role::kSecondServer),
          std::pair("dealer", Role::kDealer),
          std::pair("provider load privasp-1024", Role::kProvider),
          std::pair("client recording.wav", Role::kClient)}) {
      fmt::print("  sotto privasp {} --config {}\n", party,
                 LocalConfig(flags->folder, role).string());
    }
  });
}

}  // namespace

void AddPrivaspKeys(CLI::App& privasp) {
  CLI::App* verb = AddVerb(
      privasp, "keys",
      "Makes the authority of a deployment, the keys of its parties and their certificates.",
      "  sotto privasp keys authority -o authority/\n"
      "  sotto privasp keys request --role server1 --name alpha -o alpha/\n"
      "  sotto privasp keys sign alpha/party.csr --authority authority/ --role server1 "
      "-o alpha/party.pem");
  verb->require_subcommand(1);
  verb->heading("At the authority");
  AddAuthority(*verb);
  AddSign(*verb);
  verb->heading("At each party");
  AddRequest(*verb);
  AddShow(*verb);
  verb->heading("To try it on one host");
  AddLocal(*verb);
}

}  // namespace sotto::cli
