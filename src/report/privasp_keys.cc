#include "report/privasp_keys.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/json_values.h"

namespace sotto {

std::string PrintedCertificate(const CertificateFacts& facts, bool json) {
  const PartyIdentity& identity = facts.identity;
  if (json) {
    return JsonText({{"role", RoleName(identity.role)},
                     {"name", identity.name},
                     {"pin", identity.pin},
                     {"not_before", facts.not_before},
                     {"not_after", facts.not_after}});
  }
  return fmt::format(
      "role        {}\nname        {}\npin         {}\nvalid from  {}\nvalid to    {}\n",
      RoleName(identity.role), identity.name, identity.pin, facts.not_before, facts.not_after);
}

}  // namespace sotto
