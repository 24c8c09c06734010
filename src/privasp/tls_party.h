// What a TlsParty holds, for the channels.
#pragma once

#include "base/no_core_dumps.h"
#include "privasp/channel.h"
#include "privasp/tls_handles.h"

namespace sotto {

struct TlsParty::Impl {
  NoCoreDumps guard;  // the private key is in memory
  SslContextHandle context;
  PartyIdentity own;
};

}  // namespace sotto
