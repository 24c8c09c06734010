// privasp keys, run as a user would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "base/testing.h"
#include "cli/testing.h"

namespace sotto {
namespace {

using testing::Has;
using testing::Outcome;
using testing::Sotto;
using testing::TemporaryFolder;

TEST(PrivaspKeysVerb, FromAnAuthorityToACertificate) {
  const TemporaryFolder folder;
  const auto at = [&](const char* name) { return (folder / name).string(); };
  const std::string keys = "privasp keys ";
  const Outcome authority = Sotto(keys + "authority -o " + at("authority"));
  EXPECT_EQ(authority.code, 0) << authority.output;
  EXPECT_TRUE(Has(authority, "authority.key to nobody")) << authority.output;
  EXPECT_EQ(Sotto(keys + "authority -o " + at("authority")).code, 1);  // a key is there

  const Outcome request =
      Sotto(fmt::format("{}request --role server1 --name alpha -o {}", keys, at("alpha")));
  EXPECT_EQ(request.code, 0) << request.output;
  const std::string sign =
      fmt::format("{}sign {} --authority {} -o {}", keys, at("alpha/party.csr"), at("authority"),
                  at("alpha/party.pem"));
  const Outcome other = Sotto(sign + " --role dealer");
  EXPECT_EQ(other.code, 1);
  EXPECT_TRUE(Has(other, "asks for the role server1, not dealer")) << other.output;
  const Outcome signed_one = Sotto(sign + " --role server1 --days 30 --json");
  ASSERT_EQ(signed_one.code, 0) << signed_one.output;
  const nlohmann::json facts = ParseJson(signed_one.out);
  EXPECT_EQ(facts["role"], "server1");
  EXPECT_EQ(facts["name"], "alpha");
  const std::string pin = facts["pin"];
  EXPECT_EQ(pin.size(), 64U);
  EXPECT_NE(ReadTextFile(folder / "authority/issued.tsv").find(pin + "\tserver1\talpha\t"),
            std::string::npos);
  EXPECT_EQ(Sotto(sign + " --role server1").code, 1);  // the certificate is there
  EXPECT_EQ(Sotto(sign + " --role server1 --force").code, 0);

  const Outcome shown = Sotto(keys + "show " + at("alpha/party.pem"));
  EXPECT_EQ(shown.code, 0);
  EXPECT_TRUE(Has(shown, "role        server1\nname        alpha\npin         " + pin + "\n"))
      << shown.output;
  const Outcome no_party = Sotto(keys + "show " + at("authority/authority.pem"));
  EXPECT_EQ(no_party.code, 1);
  EXPECT_TRUE(Has(no_party, "the subject must have one role")) << no_party.output;
}

TEST(PrivaspKeysVerb, BadUsageIsSaidSo) {
  const TemporaryFolder folder;
  const std::string out = " -o " + (folder / "x").string();
  EXPECT_EQ(Sotto("privasp keys").code, 2);
  EXPECT_EQ(Sotto("privasp keys request --role server --name a" + out).code, 2);
  EXPECT_EQ(Sotto("privasp keys request --role client" + out).code, 2);
  EXPECT_EQ(Sotto("privasp keys authority --days 0" + out).code, 2);
  EXPECT_EQ(Sotto("privasp keys request --role client --name a/b" + out).code, 1);
  for (const char* form : {"", " authority", " request", " sign", " show"}) {
    const Outcome help = Sotto("privasp keys" + std::string(form) + " --help");
    EXPECT_EQ(help.code, 0);
    EXPECT_TRUE(Has(help, "e.g.:")) << help.output;
  }
}

}  // namespace
}  // namespace sotto
