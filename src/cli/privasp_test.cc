// The secure comparison as a service, run as a user would: the demonstration, and every party as a
// process of its own from its key to the answer.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "audio/testing.h"
#include "base/files.h"
#include "base/json.h"
#include "base/testing.h"
#include "cli/testing.h"
#include "spoof/testing.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using testing::Has;
using testing::Outcome;
using testing::Program;
using testing::Sotto;
using testing::SottoWords;
using testing::TemporaryFolder;

// Of processes whose command line holds `text`.
std::size_t ProcessesWith(const std::string& text) {
  std::size_t count = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    const std::string line{std::istreambuf_iterator<char>(file), {}};
    count += line.find(text) != std::string::npos ? 1 : 0;
  }
  return count;
}

std::vector<float> Voice(double f0_hz, double noise) {
  SeededRng rng(1);
  std::vector<float> x = testing::SyntheticVowel(2.0, kSpoofRateHz, f0_hz);
  for (float& v : x) v += static_cast<float>(noise * rng.Gaussian());
  return x;
}

TEST(PrivaspDemo, EveryAnswerIsThatOfThePlainNetAndNothingIsLeft) {
  const TemporaryFolder folder;
  const fs::path scratch = folder / "tmp";
  fs::create_directory(scratch);
  testing::WriteWav(folder / "person.wav", Voice(120.0, 0.005));
  testing::WriteWav(folder / "program.wav", Voice(180.0, 0.0005));
  const Outcome demo = Sotto({"privasp", "demo", "--genuine", folder / "person.wav", "--synthetic",
                              folder / "program.wav", "--json"},
                             {{"TMPDIR", scratch.string()}});
  ASSERT_EQ(demo.code, 0) << demo.Text();
  const nlohmann::json said = ParseJson(demo.out);
  std::set<std::pair<int, int>> seen;
  for (const auto& query : said.at("queries")) {
    seen.emplace(query.at("scenario"), query.at("units"));
    EXPECT_EQ(query.at("equal"), true) << query;
    EXPECT_EQ(query.at("secure_score"), query.at("plain_score")) << query;
    EXPECT_TRUE(query.at("secure_score").is_number()) << query;
    EXPECT_EQ(query.at("secure_decision"), query.at("plain_decision"));
    EXPECT_EQ(query.at("genuine"), query.at("recording") == "person");
    EXPECT_GT(query.at("ms"), 0.0);
    EXPECT_EQ(query.at("rounds"), 1);
    EXPECT_LE(query.at("bytes_client"), 26'000);
    EXPECT_GT(query.at("bytes_client"), 2970 * 8);  // all of the input, hidden
    EXPECT_LE(query.at("bytes_servers"), 8'400);
    EXPECT_GT(query.at("bytes_servers"), query.at("units").get<int>() * 8);
  }
  EXPECT_EQ(said["queries"].size(), 8U);
  EXPECT_EQ(seen, (std::set<std::pair<int, int>>{{1, 512}, {1, 1024}, {2, 512}, {2, 1024}}));
  EXPECT_NE(said.at("warning").get<std::string>().find("Four roles on one host protect nobody"),
            std::string::npos);
  EXPECT_TRUE(fs::is_empty(scratch));
  EXPECT_EQ(ProcessesWith(scratch.string()), 0U);
}

TEST(PrivaspDemo, WithoutRecordingsThatCanBeUsedItSaysSoInOneLine) {
  const TemporaryFolder folder;
  testing::WriteWav(folder / "silent.wav", std::vector<float>(16000, 0.0F));
  const Outcome demo = Sotto({"privasp", "demo", "--genuine", folder / "silent.wav"},
                             {{"TMPDIR", folder.Path().string()}});
  EXPECT_EQ(demo.code, 1);
  EXPECT_EQ(demo.out, "");
  EXPECT_TRUE(Has(demo, "no recording could be used")) << demo.output;
  EXPECT_EQ(std::count(demo.err.begin(), demo.err.end(), '\n'), 1) << demo.err;
  EXPECT_EQ(ProcessesWith(folder.Path().string()), 0U);
}

// A deployment as docs/mpc.md sets it up: each party's key in its own folder, one authority.
class PrivaspParties : public ::testing::Test {
 protected:
  std::string At(const std::string& name) const { return (folder_ / name).string(); }

  static Outcome Good(const std::string& arguments) {
    Outcome outcome = Sotto(arguments);
    EXPECT_EQ(outcome.code, 0) << arguments << "\n" << outcome.Text();
    return outcome;
  }

  void MakeKeys(const std::string& role, const std::string& extra = "") {
    Good(fmt::format("privasp keys request --role {} --name {} -o {}", role, role, At(role)));
    const Outcome signed_one = Good(fmt::format(
        "privasp keys sign {} --authority {} --role {} -o {} --json {}", At(role + "/party.csr"),
        At("authority"), role, At(role + "/party.pem"), extra));
    pins_[role] = ParseJson(signed_one.out).at("pin");
  }

  // The configuration of a party that knows these peers; the servers' addresses where they are
  // known.
  std::string Config(const std::string& role, const std::vector<std::string>& peers,
                     const std::string& listen = "") {
    nlohmann::json config = {{"certificate", "party.pem"},
                             {"key", "party.key"},
                             {"authority", "../authority/authority.pem"},
                             {"limits", {{"stock", 8}, {"ready", 4}}}};
    for (const std::string& peer : peers) {
      config["peers"][peer]["pin"] = pins_.at(peer);
      if (addresses_.contains(peer)) config["peers"][peer]["address"] = addresses_.at(peer);
    }
    if (!listen.empty()) config["listen"] = listen;
    if (!listen.empty() || role == "dealer") config["state"] = "state";
    WriteFileAtomically(folder_ / role / "config.json", config.dump());
    return At(role + "/config.json");
  }

  std::unique_ptr<Program> Start(const std::string& verb, const std::string& config) {
    return std::make_unique<Program>(SottoWords({"privasp", verb, "--config", config}));
  }

  // The field of the first line of its log that tells of this event.
  static std::string FromLog(const Program& party, const std::string& event,
                             const std::string& field) {
    for (int i = 0; i < 2000 && !party.HasEnded(); ++i) {
      std::istringstream lines(party.ErrSoFar());
      for (std::string line; std::getline(lines, line);) {
        const nlohmann::json said = TryParseJson(line);
        if (said.is_object() && said.value("event", "") == event) return said.at(field);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "no " << event << " in: " << party.ErrSoFar();
    return "";
  }

  static Outcome End(Program& party) {
    ::kill(party.Id(), SIGTERM);
    return party.Wait(60.0);
  }

  TemporaryFolder folder_;
  std::map<std::string, std::string> pins_, addresses_;
};

bool OneLine(const std::string& text) {
  return !text.empty() && std::count(text.begin(), text.end(), '\n') == 1;
}

TEST_F(PrivaspParties, FromTheirKeysToAnAnswer) {
  Good("privasp keys authority -o " + At("authority"));
  for (const char* role : {"server1", "server2", "dealer", "provider", "client"}) MakeKeys(role);

  const auto first =
      Start("server", Config("server1", {"server2", "dealer", "provider"}, "127.0.0.1:0"));
  addresses_["server1"] = FromLog(*first, "listening", "address");
  const auto second =
      Start("server", Config("server2", {"server1", "dealer", "provider"}, "127.0.0.1:0"));
  addresses_["server2"] = FromLog(*second, "listening", "address");
  const std::vector<std::string> servers = {"server1", "server2"};
  const auto dealer = Start("dealer", Config("dealer", servers));
  const std::string provider = Config("provider", servers), client = Config("client", servers);

  // Two servers without a model are not healthy, and say so.
  Outcome waiting;
  for (int i = 0; i < 500; ++i) {
    waiting = Sotto("privasp status --config " + client);
    if (!Has(waiting, "has no link")) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(waiting.code, 1);
  for (const std::string& server : servers) {
    EXPECT_NE(waiting.err.find(server + ": no model is active\n"), std::string::npos)
        << waiting.output;
  }

  // What nobody has loaded cannot be asked for.
  testing::WriteWav(folder_ / "person.wav", Voice(120.0, 0.005));
  const std::string ask = fmt::format("privasp client {} --config {}", At("person.wav"), client);
  const Outcome early = Sotto(ask);
  EXPECT_EQ(early.code, 1);
  EXPECT_TRUE(OneLine(early.err) && Has(early, "refuses (model)")) << early.output;

  const Outcome loaded =
      Good(fmt::format("privasp provider load privasp-512 --config {}", provider));
  EXPECT_TRUE(Has(loaded, "in use at both servers")) << loaded.output;

  // The answer is what the plain net says.
  const auto answer = ParseJson(Good(ask + " --json").out);
  EXPECT_EQ(answer.at("units"), 512);
  const nlohmann::json query = answer.at("queries").at(0);
  const auto plain = ParseJson(
      Good(fmt::format("spoof score {} --model privasp-512 --json", At("person.wav"))).out);
  const nlohmann::json row = plain.at("scores").at(0);
  EXPECT_NEAR(query.at("score").get<double>(), row.at("score").get<double>(), 1e-6);
  EXPECT_EQ(query.at("decision"), row.at("decision")) << row;

  const auto status = ParseJson(Good(fmt::format("privasp status --config {} --json", client)).out);
  for (const std::string& server : servers) {
    EXPECT_EQ(status.at(server).at("link"), true);
    EXPECT_EQ(status.at(server).at("models").at(0).at("state"), "active");
    EXPECT_EQ(status.at(server).at("counts").at("utterances_answered"), 1);
    EXPECT_TRUE(Has(Good("privasp status --config " + client), server + ": up "));
  }

  // What is no speech is refused in its own line, what is speech answered.
  testing::WriteWav(folder_ / "silent.wav", std::vector<float>(16000, 0.0F));
  testing::WriteWav(folder_ / "slow.wav", Voice(120.0, 0.005), 8000);
  const Outcome some =
      Sotto(fmt::format("privasp client {} {} {} --config {} --json", At("silent.wav"),
                        At("slow.wav"), At("person.wav"), client));
  EXPECT_EQ(some.code, 1);
  EXPECT_EQ(std::count(some.err.begin(), some.err.end(), '\n'), 2) << some.err;
  EXPECT_EQ(ParseJson(some.out).at("refused").size(), 2U);
  EXPECT_EQ(ParseJson(some.out).at("queries").at(0).at("score"), query.at("score"));

  // A second process of the same party: the port is taken.
  std::string busy = ReadTextFile(At("server1/config.json"));
  busy.replace(busy.find("127.0.0.1:0"), std::string("127.0.0.1:0").size(),
               addresses_.at("server1"));
  WriteFileAtomically(folder_ / "server1/again.json", busy);
  const Outcome again = Sotto("privasp server --config " + At("server1/again.json"));
  EXPECT_EQ(again.code, 1);
  EXPECT_TRUE(OneLine(again.err) && Has(again, "Address already in use")) << again.output;

  Good("privasp provider retire --name default --config " + provider);
  EXPECT_EQ(Sotto(ask).code, 1);

  EXPECT_EQ(End(*second).code, 0);
  const Outcome half = Sotto("privasp status --config " + client);
  EXPECT_EQ(half.code, 1);
  EXPECT_TRUE(Has(half, "server2: not there") && Has(half, "the other server is NOT there"))
      << half.output;
  EXPECT_NE(half.err.find("server1: has no link to the other server\n"), std::string::npos)
      << half.err;
  EXPECT_NE(half.err.find("server2: does not answer\n"), std::string::npos) << half.err;
  const Outcome gone = Sotto(ask);
  EXPECT_EQ(gone.code, 1);
  EXPECT_TRUE(OneLine(gone.err)) << gone.output;
  EXPECT_EQ(End(*dealer).code, 0);
  EXPECT_EQ(End(*first).code, 0);
  EXPECT_EQ(ProcessesWith(folder_.Path().string()), 0U);
}

TEST_F(PrivaspParties, WhoseFilesAreNotInOrderDoNotStart) {
  Good("privasp keys authority -o " + At("authority"));
  for (const char* role : {"server1", "server2", "dealer", "provider"}) MakeKeys(role);
  const std::string config = Config("server1", {"server2", "dealer", "provider"}, "127.0.0.1:0");
  const auto expect = [&](const std::string& verb, const std::string& with,
                          const std::string& words) {
    const Outcome outcome = Sotto("privasp " + verb + " --config " + with);
    EXPECT_EQ(outcome.code, 1) << outcome.Text();
    EXPECT_TRUE(OneLine(outcome.err) && Has(outcome, words)) << words << "\n" << outcome.output;
  };
  expect("dealer", config, "role dealer; this one is server1");
  expect("client x.wav", config, "");
  expect("server", At("nowhere.json"), "nowhere.json");
  fs::permissions(At("server1/party.key"), fs::perms::group_read, fs::perm_options::add);
  expect("server", config, "others may use the private key");
  fs::permissions(At("server1/party.key"), fs::perms::group_read, fs::perm_options::remove);
  fs::copy_file(At("server2/party.pem"), At("server1/party.pem"),
                fs::copy_options::overwrite_existing);
  expect("server", config, "is the key of another certificate");
  WriteFileAtomically(folder_ / "broken.json", "{\"certificate\": ");
  expect("server", At("broken.json"), "is no JSON");
  expect("status", At("broken.json"), "is no JSON");
}

}  // namespace
}  // namespace sotto
