// What `sotto privasp keys` has to say of a certificate: text, or `json`.
#pragma once

#include <string>

#include "privasp/certificates.h"

namespace sotto {

// role, name, pin, not_before, not_after.
std::string PrintedCertificate(const CertificateFacts& facts, bool json);

}  // namespace sotto
