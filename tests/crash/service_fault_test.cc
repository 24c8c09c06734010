// The secure comparison under load while its parties are killed, stopped and cut off from each
// other: no answer is wrong, no material comes twice, every query is answered or refused with a
// reason, and when all are there again the service answers.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "privasp/load.h"
#include "privasp/middleman_testing.h"
#include "privasp/run_party.h"
#include "privasp/service_testing.h"
#include "small_run.h"
#include "spoof/testing.h"

namespace sotto::testing {
namespace {

namespace fs = std::filesystem;

constexpr Role kFirst = Role::kFirstServer, kSecond = Role::kSecondServer, kDealer = Role::kDealer;
constexpr double kPatienceSeconds = 120.0;  // nothing is asserted of how long anything takes
constexpr std::uint32_t kQueries = 1000;
constexpr std::uint32_t kBetween = 20;  // two faults
constexpr const char* kModel = "small";

bool Soon(const std::function<bool()>& true_now) { return Eventually(true_now, kPatienceSeconds); }

// Short, so that what a fault holds up is given up within seconds.
ServiceLimits FaultLimits() {
  ServiceLimits limits = SmallLimits();
  limits.stock = 160;
  limits.segment = 32;  // more than a server takes into memory at a time
  limits.ready = 16;
  limits.reservation_s = 3.0;
  limits.query_s = 1.5;
  limits.request_s = 3.0;
  limits.link_s = 1.5;
  limits.orphan_s = 2.0;
  return limits;
}

// Two ports that follow each other, below those that the system gives to who connects: nobody takes
// them while a server is away.
int FreePorts() {
  for (int port = 10000 + 2 * (::getpid() % 5000);; port += 2) {
    try {
      const ListeningPort first(fmt::format("127.0.0.1:{}", port));
      const ListeningPort second(fmt::format("127.0.0.1:{}", port + 1));
      return port;
    } catch (const Error&) {
      // Somebody has one of them.
    }
  }
}

// Servers and dealer as processes. The second server reaches the first, and the clients reach the
// first, by middlemen who can fall silent.
class Processes {
 public:
  explicit Processes(const SpoofModel& model) {
    MakeLocalDeployment(folder_ / "parties", FreePorts(), FaultLimits());
    status_ = ReadConfig(Config(Role::kClient));
    const std::string first = status_.Peer(kFirst).address;
    link_ = std::make_unique<Middleman>(first);
    front_ = std::make_unique<Middleman>(first);
    PartyConfig second = ReadConfig(Config(kSecond));
    second.peers[kFirst].address = link_->Address();
    WriteFileAtomically(Config(kSecond), FormatConfig(second));
    client_ = status_;
    client_.peers[kFirst].address = front_->Address();
    for (const Role role : {kFirst, kSecond, kDealer}) Start(role);
    EXPECT_TRUE(Soon([&] { return LinkIs(true); }));
    const auto loaded = LoadModelAtServers(ReadConfig(Config(Role::kProvider)), model, kModel,
                                           Scenario::kSharedModel, kPatienceSeconds);
    EXPECT_TRUE(loaded.active);
  }
  ~Processes() {
    if (!::testing::Test::HasFailure()) return;
    for (const auto& [role, process] : processes_) {
      const std::string log = ReadTextFile(LogOf(role));
      std::cerr << RoleName(role) << ": …" << log.substr(log.size() - std::min(log.size(), kTail))
                << "\n";
    }
  }

  const PartyConfig& Client() const { return client_; }
  Middleman& Link() { return *link_; }    // second → first server
  Middleman& Front() { return *front_; }  // clients → first server

  void Start(Role role) {
    processes_[role] = std::make_unique<PartyProcess>(
        Binary(),
        std::vector<std::string>{"privasp", role == kDealer ? "dealer" : "server", "--config",
                                 Config(role).string(), "--quiet"},
        LogOf(role));
  }
  void Signal(Role role, int signal) { processes_.at(role)->Signal(signal); }
  void Kill(Role role) {
    EXPECT_TRUE(processes_.at(role)->Running()) << RoleName(role) << " had ended by itself";
    Signal(role, SIGKILL);
    EXPECT_EQ(processes_.at(role)->Wait(kPatienceSeconds), 128 + SIGKILL);
  }
  void Stop(Role role) {
    EXPECT_EQ(processes_.at(role)->Stop(kPatienceSeconds), 0) << RoleName(role);
  }
  fs::path State(Role role) const { return ReadConfig(Config(role)).state; }

  // What a server says of itself; null where it does not answer.
  nlohmann::json Status(Role role) const {
    try {
      const TlsParty party(status_.files);
      Conversation server(party, status_, role);
      return ParseJson(server.Ask<StatusMessage>(AskStatusMessage{}).json);
    } catch (const Error&) {
      return {};
    }
  }
  bool LinkIs(bool up, std::vector<Role> servers = {kFirst, kSecond}) const {
    return std::all_of(servers.begin(), servers.end(), [&](Role role) {
      const auto status = Status(role);
      return !status.is_null() && status["link"] == up;
    });
  }
  // What a server says of the model: "stored", "ready", "reserved", "running"; −1 where it does
  // not.
  int Count(Role role, const char* what) const {
    const auto status = Status(role);
    return status.is_null() || status["models"].empty() ? -1 : status["models"][0].value(what, -1);
  }
  bool NothingIsLeftOf(const char* what) const {
    return Count(kFirst, what) == 0 && Count(kSecond, what) == 0;
  }

 private:
  static constexpr std::size_t kTail = 2000;

  fs::path Config(Role role) const { return LocalConfig(folder_ / "parties", role); }
  fs::path LogOf(Role role) const { return folder_ / (std::string(RoleName(role)) + ".log"); }

  QuickFolder folder_;  // the load is not to wait for other programs' writes
  PartyConfig status_, client_;
  std::unique_ptr<Middleman> link_, front_;
  std::map<Role, std::unique_ptr<PartyProcess>> processes_;
};

// A load that goes on beside the test, and what it has come to so far.
class LoadUnderway {
 public:
  LoadUnderway(const Processes& parties, const SpoofModel& plain, std::uint32_t queries) {
    LoadOptions options;
    options.model = kModel;
    options.queries = queries;
    options.concurrency = 16;
    options.plain = plain;
    options.after_each = [this](const std::string& refused) {
      const std::scoped_lock lock(mutex_);
      ++over_[refused];
    };
    // Processes end with the thread that started them: the load has the other one.
    result_ = std::async(std::launch::async, RunLoad, parties.Client(), options);
  }

  std::uint64_t Answered() const { return Over(""); }
  std::uint64_t Over(const std::string& refused) const {
    const std::scoped_lock lock(mutex_);
    const auto found = over_.find(refused);
    return found == over_.end() ? 0 : found->second;
  }
  std::uint64_t Over() const {
    const std::scoped_lock lock(mutex_);
    std::uint64_t sum = 0;
    for (const auto& [refused, count] : over_) sum += count;
    return sum;
  }
  // What was not there yet when this was called.
  bool AnswersAgain() const {
    const std::uint64_t before = Answered();
    return Soon([&] { return Answered() > before; });
  }
  bool RefusesFor(const std::string& reason) const {
    const std::uint64_t before = Over(reason);
    return Soon([&] { return Over(reason) > before; });
  }
  LoadResult Get() { return result_.get(); }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> over_;  // queries, by reason
  std::future<LoadResult> result_;
};

// Each leaves everything as it was before.
struct Fault {
  const char* name;
  std::function<void(Processes&, const LoadUnderway&)> happens;
};

void StopForAWhile(Processes& parties, const LoadUnderway& load, Role stopped, Role other) {
  parties.Signal(stopped, SIGSTOP);
  EXPECT_TRUE(load.RefusesFor("connection"));  // whose deadline has passed
  EXPECT_TRUE(Soon([&] { return parties.LinkIs(false, {other}); }));
  parties.Signal(stopped, SIGCONT);
}

void StallTheLink(Processes& parties, bool there, bool back) {
  parties.Link().Stall(there, back);
  EXPECT_TRUE(Soon([&] { return parties.LinkIs(false); }));
  parties.Link().Stall(false, false);
}

const Fault kFaults[] = {
    {"the second server is killed",
     [](Processes& parties, const LoadUnderway&) {
       parties.Kill(kSecond);
       parties.Start(kSecond);
     }},
    {"the first server is killed",
     [](Processes& parties, const LoadUnderway&) {
       parties.Kill(kFirst);
       parties.Start(kFirst);
     }},
    {"the dealer is killed, and away until the stock is spent",
     [](Processes& parties, const LoadUnderway& load) {
       parties.Kill(kDealer);
       EXPECT_TRUE(load.RefusesFor("stock"));
       parties.Start(kDealer);
     }},
    {"nothing comes over the link",
     [](Processes& parties, const LoadUnderway&) { StallTheLink(parties, true, true); }},
    {"both servers are killed",
     [](Processes& parties, const LoadUnderway&) {
       parties.Kill(kFirst);
       parties.Kill(kSecond);
       parties.Start(kSecond);
       parties.Start(kFirst);
     }},
    {"the first server is stopped",
     [](Processes& parties, const LoadUnderway& load) {
       StopForAWhile(parties, load, kFirst, kSecond);
     }},
    {"nothing comes over the link from the first server",
     [](Processes& parties, const LoadUnderway&) { StallTheLink(parties, false, true); }},
    {"dealer and second server are killed",
     [](Processes& parties, const LoadUnderway&) {
       parties.Kill(kDealer);
       parties.Kill(kSecond);
       parties.Start(kSecond);
       parties.Start(kDealer);
     }},
    {"nothing comes from the clients to the first server",
     [](Processes& parties, const LoadUnderway& load) {
       parties.Front().Stall(true, false);
       EXPECT_TRUE(load.RefusesFor("connection"));
       parties.Front().Stall(false, false);
     }},
    {"the second server is stopped",
     [](Processes& parties, const LoadUnderway& load) {
       StopForAWhile(parties, load, kSecond, kFirst);
     }},
    {"the second server ends in good order",
     [](Processes& parties, const LoadUnderway&) {
       parties.Stop(kSecond);
       parties.Start(kSecond);
     }},
    {"the first server is killed while nothing comes over the link",
     [](Processes& parties, const LoadUnderway&) {
       parties.Link().Stall(true, true);
       parties.Kill(kFirst);
       parties.Start(kFirst);
       EXPECT_TRUE(Soon([&] { return parties.LinkIs(false); }));
       parties.Link().Stall(false, false);
     }},
};

std::string Text(const LoadResult& result) {
  std::string text =
      fmt::format("{:.1f} s: {} answered, {} wrong, {} refused, {} reused", result.seconds,
                  result.answered, result.wrong, result.Refused(), result.reused);
  for (const auto& [reason, count] : result.refused) text += fmt::format(", {} {}", reason, count);
  return text;
}

TEST(ServiceFaultsSlow, NothingIsWrongOrUsedTwiceWhateverHappensToParties) {
  const SpoofModel model = SmallSpoofModel();
  Processes parties(model);
  ASSERT_FALSE(HasFailure());
  LoadUnderway load(parties, model, kQueries);
  std::uint64_t begin = 0;
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(fault.name);
    // Some queries lie between them, and some are left for the end.
    begin = std::max(begin, load.Over()) + kBetween;
    ASSERT_TRUE(Soon([&] { return load.Over() >= begin; }));
    fault.happens(parties, load);
    ASSERT_TRUE(load.AnswersAgain());
    ASSERT_FALSE(HasFailure());
  }
  const LoadResult result = load.Get();
  SCOPED_TRACE(Text(result));
  RecordProperty("load", Text(result));
  EXPECT_EQ(result.wrong, 0U);
  EXPECT_EQ(result.reused, 0U);
  EXPECT_EQ(result.compared, result.answered);
  EXPECT_EQ(result.answered + result.Refused(), kQueries);
  EXPECT_GT(result.answered, kQueries / 2);
  // What happened was no client's fault.
  for (const char* never : {"malformed", "role", "quota", "features", "storage"}) {
    EXPECT_FALSE(result.refused.contains(never)) << never;
  }

  // Nothing of it is left with the servers, and they go on.
  EXPECT_TRUE(Soon([&] {
    return parties.NothingIsLeftOf("reserved") && parties.NothingIsLeftOf("running") &&
           parties.Count(kFirst, "ready") == parties.Count(kSecond, "ready");
  })) << parties.Status(kFirst)
      << parties.Status(kSecond);
  const auto x = SomeInputs(model, 1, 1);
  EXPECT_TRUE(Soon([&] {
    try {
      SecureClient client(parties.Client(), kModel);
      ExpectPlainAnswers(client, model, x);
      return true;
    } catch (const Refused&) {
      return false;  // a host that is busy with other things
    }
  }));
  for (const Role role : {kDealer, kSecond, kFirst}) parties.Stop(role);
}

// What the test above relies on. Both servers' disks set back to one moment are what nobody in the
// deployment can notice (docs/mpc.md).
TEST(ServiceFaultsSlow, TheLoadNoticesWrongAnswersAndMaterialThatComesTwice) {
  const SpoofModel model = SmallSpoofModel();
  SpoofModel other = model;
  ++other.net.b_out;
  Processes parties(model);
  ASSERT_FALSE(HasFailure());
  const LoadResult wrong = LoadUnderway(parties, other, 20).Get();
  EXPECT_GT(wrong.answered, 0U);
  EXPECT_EQ(wrong.wrong, wrong.answered);

  ASSERT_TRUE(Soon([&] {
    return parties.Count(kFirst, "stored") >= 24 && parties.Count(kSecond, "stored") >= 24;
  }));
  parties.Stop(kDealer);  // nothing is new below
  for (const Role role : {kFirst, kSecond}) {
    parties.Kill(role);
    fs::copy(parties.State(role), parties.State(role) += "-before", fs::copy_options::recursive);
  }
  for (const Role role : {kFirst, kSecond}) parties.Start(role);
  ASSERT_TRUE(Soon([&] { return parties.LinkIs(true); }));
  LoadUnderway load(parties, model, 100);
  ASSERT_TRUE(Soon([&] { return load.Answered() >= 8; }));
  for (const Role role : {kFirst, kSecond}) {
    parties.Kill(role);
    fs::remove_all(parties.State(role));
    fs::rename(parties.State(role) += "-before", parties.State(role));
  }
  for (const Role role : {kFirst, kSecond}) parties.Start(role);
  EXPECT_GT(load.Get().reused, 0U);
}

}  // namespace
}  // namespace sotto::testing
