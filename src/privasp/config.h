// What a party is told by its operator: one JSON file, of which every field is known and checked.
// Paths are relative to the file's folder.
//
//   { "certificate": "party.pem", "key": "party.key", "authority": "authority.pem",
//     "listen": "0.0.0.0:7701", "state": "/var/lib/sotto/server1",
//     "peers": { "server2": { "address": "b.example.org:7701", "pin": "…" },
//                "dealer": { "pin": "…" }, "provider": { "pin": "…" } },
//     "limits": { "quota_per_hour": 1000 } }
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "privasp/channel.h"

namespace sotto {

// Where a party is and whose key it has: 64 hexadecimal digits, as `sotto privasp keys show`
// prints.
struct PeerConfig {
  std::string address;  // "host:port"; empty where the peer connects to us
  std::string pin;
};

// Counts are utterances unless they say otherwise.
struct ServiceLimits {
  std::uint32_t stock = 256;            // of a model, on the server's disk
  std::uint32_t ready = 32;             // of a model, in memory, taken out of the stock in blocks
  std::uint32_t segment = 8;            // that the dealer sends at a time
  std::uint32_t connections = 64;       // of clients, at a time
  std::uint32_t quota_per_hour = 1000;  // a client certificate's reservations
  std::uint32_t reserved = 128;         // a client certificate's, at a time: half the stock
  std::uint32_t reserved_total = 512;   // all clients', at a time: 1 GB in memory at 1024 units
  double reservation_s = 60.0;          // after which what is reserved is burnt
  double query_s = 5.0;                 // from a query's input to its answer
  double request_s = 20.0;              // any other message
  double idle_s = 300.0;                // a connection on which nothing is asked
  double link_s = 5.0;                  // without a sign of the other server
  double orphan_s = 60.0;               // after which a segment that the other server lacks goes
  double forget_s = 600.0;              // after which the dealer forgets a model that no server has
};

struct PartyConfig {
  TlsFiles files;
  std::string listen;           // servers
  std::filesystem::path state;  // servers and dealer
  // Servers: "score" or "decision", of the models that they take; empty: of all.
  std::string policy;
  std::map<Role, PeerConfig> peers;
  ServiceLimits limits;

  const PeerConfig& Peer(Role role) const { return peers.at(role); }
};

// Throws Error that names the file and the field.
PartyConfig ReadConfig(const std::filesystem::path& path);
// `folder`: where relative paths begin; `where` appears in messages.
PartyConfig ParseConfig(const std::string& text, const std::filesystem::path& folder,
                        const std::string& where);
std::string FormatConfig(const PartyConfig& config);

// Throws Error unless all that a party of this role needs is there, each other party is one key,
// and none of them is its own.
void CheckConfig(const PartyConfig& config, const PartyIdentity& own);

}  // namespace sotto
