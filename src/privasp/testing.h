// For tests, benchmarks and demonstrations: a deployment's certificates made on the spot, and pairs
// of connected parties.
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "privasp/certificates.h"
#include "privasp/channel.h"

namespace sotto::testing {

// An authority in `folder`/authority and a party of each role, named after it. Ends that deal in
// private keys in one folder are for tests alone.
struct TestPki {
  std::filesystem::path folder;

  explicit TestPki(std::filesystem::path where) : folder(std::move(where)) {
    MakeAuthority(Authority(), "authority", 3650);
    for (const Role role : kRoles) Files(role);
  }

  std::filesystem::path Authority() const { return folder / "authority"; }
  std::filesystem::path Home(Role role, const std::string& name) const {
    return folder / (std::string(RoleName(role)) + "-" + name);
  }

  // Of the party of that role and name, which is made where it is not there yet.
  TlsFiles Files(Role role, const std::string& name) const {
    const std::filesystem::path home = Home(role, name);
    TlsFiles files{home / "party.pem", home / "party.key", Authority() / "authority.pem"};
    if (!std::filesystem::exists(files.certificate)) {
      MakeRequest(home, role, name);
      SignRequest(Authority(), home / "party.csr", role, 365, files.certificate);
    }
    return files;
  }
  TlsFiles Files(Role role) const { return Files(role, RoleName(role)); }

  std::string Pin(Role role, const std::string& name) const {
    return ReadCertificate(Files(role, name).certificate).identity.pin;
  }
  std::string Pin(Role role) const { return Pin(role, RoleName(role)); }
};

// The two ends of one connection over the loopback, the one that connected first.
struct ChannelPair {
  std::unique_ptr<Channel> connected, accepted;
};

inline ChannelPair Connected(const TlsParty& connects, const TlsParty& accepts,
                             const std::string& address = "127.0.0.1:0") {
  constexpr double kSeconds = 20.0;
  const ListeningPort listener(address);
  auto accepted = std::async(std::launch::async, [&] {
    return ListeningPort::Handshake(accepts, listener.Accept(After(kSeconds)), After(kSeconds));
  });
  ChannelPair pair;
  pair.connected = Channel::Connect(connects, listener.Address(), After(kSeconds));
  pair.accepted = accepted.get();
  return pair;
}

}  // namespace sotto::testing
