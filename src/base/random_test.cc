#include "base/random.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/testing.h"

namespace sotto {
namespace {

double Correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double n = static_cast<double>(a.size());
  double ma = 0, mb = 0, saa = 0, sbb = 0, sab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ma += a[i] / n;
    mb += b[i] / n;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    saa += (a[i] - ma) * (a[i] - ma);
    sbb += (b[i] - mb) * (b[i] - mb);
    sab += (a[i] - ma) * (b[i] - mb);
  }
  return sab / std::sqrt(saa * sbb);
}

// A line of /proc/self/status in kB.
long StatusKb(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind(name + ":", 0) == 0) return std::stol(line.substr(name.size() + 1));
  }
  return -1;
}

// Runs a test's body in a process of its own, whose limits it may change: 0 when all held.
template <typename Body>
int InChild(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

rlim_t CoreLimit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  return limit.rlim_cur;
}

#ifdef __SANITIZE_ADDRESS__
constexpr bool kLocks = false;  // the address sanitizer makes nothing of mlock()
#else
constexpr bool kLocks = true;
#endif

TEST(Key, KeepsCoreDumpsAwayAndItsPageLockedWhileItIsThere) {
  EXPECT_EQ(InChild([] {
              rlimit limit{};
              ::getrlimit(RLIMIT_CORE, &limit);
              limit.rlim_cur = limit.rlim_max;
              ::setrlimit(RLIMIT_CORE, &limit);
              const rlim_t before = CoreLimit();
              rlimit lockable{};
              ::getrlimit(RLIMIT_MEMLOCK, &lockable);
              const long locked = StatusKb("VmLck");
              {
                const Key key = Key::FromSystem();
                const Key copy = key;  // NOLINT(performance-unnecessary-copy-initialization)
                if (::prctl(PR_GET_DUMPABLE) != 0) return 1;
                if (CoreLimit() != 0) return 2;
                if (kLocks && lockable.rlim_cur > 65536 && StatusKb("VmLck") <= locked) return 3;
                const Key other = copy;  // NOLINT(performance-unnecessary-copy-initialization)
                if (other.Hex() != key.Hex()) return 4;
              }
              if (::prctl(PR_GET_DUMPABLE) != 1) return 5;
              if (CoreLimit() != before) return 6;
              if (StatusKb("VmLck") != locked) return 7;
              // The key of an experiment is public.
              const Key experiment = Key::ForExperiment(ExperimentKey(1));
              return ::prctl(PR_GET_DUMPABLE) == 1 ? 0 : 8;
            }),
            0);
}

TEST(Key, DoesNotNeedLockedMemory) {
  EXPECT_EQ(InChild([] {
              const rlimit none{0, 0};
              ::setrlimit(RLIMIT_MEMLOCK, &none);
              if (::geteuid() == 0 && ::setuid(65534) != 0) return 1;  // root may lock all the same
              const Key key = Key::FromSystem();
              if (StatusKb("VmLck") != 0) return 2;
              return key.Hex().size() == 64 ? 0 : 3;
            }),
            0);
}

TEST(Wipe, LeavesNothingOfTheText) {
  std::string text(100, 'k');
  text.resize(10);
  const char* data = text.data();
  Wipe(text);
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(text.data(), data);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(data[i], '\0');
}

TEST(Key, DrawsOfTwoKeysAreIndependentAndUniform) {
  const Key first = Key::FromSystem();
  const Key second = Key::FromSystem();
  std::vector<double> a, b;
  double below_half = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string id = std::to_string(i);
    a.push_back(first.Uniform({"alpha", id}));
    b.push_back(second.Uniform({"alpha", id}));
    below_half += a.back() < 0.5 ? 1 : 0;
  }
  // 5 standard deviations of each statistic under independence: 5/sqrt(20000) = 0.035.
  EXPECT_LT(std::abs(Correlation(a, b)), 0.035);
  EXPECT_NEAR(below_half / 20000, 0.5, 0.018);
}

TEST(Key, FieldsAreLengthPrefixed) {
  const Key key = Key::ForExperiment(ExperimentKey(1));
  EXPECT_NE(key.Hash({"ab", "c"}), key.Hash({"a", "bc"}));
  EXPECT_NE(key.Hash({"ab"}), key.Hash({"ab", ""}));
  EXPECT_EQ(key.Hash({"ab", "c"}), key.Hash({"ab", "c"}));
}

TEST(Key, FileIsPrivateAndRoundTrips) {
  const testing::TemporaryFolder folder;
  const Key key = Key::FromSystem();
  key.WriteFile(folder / "key");
  struct stat info {};
  ASSERT_EQ(::stat((folder / "key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(Key::FromFile(folder / "key").Hash({"x"}), key.Hash({"x"}));
  EXPECT_THROW(key.WriteFile(folder / "key"), Error);
}

TEST(Key, RefusesFilesThatAreNoKeys) {
  const testing::TemporaryFolder folder;
  for (const char* content : {"", "abc", "zz", "0123456789"}) {
    WriteFileAtomically(folder / "key", content);
    EXPECT_THROW(Key::FromFile(folder / "key"), Error);
  }
  EXPECT_THROW(Key::FromFile(folder / "absent"), Error);
}

// The compiler holds to it: what protects is fed from no seed but through the one door.
static_assert(!std::is_convertible_v<ExperimentKey, Key>);
static_assert(!std::is_constructible_v<Key, ExperimentKey>);
static_assert(!std::is_constructible_v<Key, std::uint64_t>);
static_assert(!std::is_assignable_v<Key&, ExperimentKey>);
static_assert(!std::is_convertible_v<std::uint64_t, ExperimentKey>);
static_assert(!std::is_constructible_v<KeyedGaussian, ExperimentKey>);
static_assert(!std::is_convertible_v<Key, ExperimentKey>);

TEST(Key, ExperimentsFollowFromTheirNumber) {
  EXPECT_EQ(Key::ForExperiment(ExperimentKey(7)).Hex(), Key::ForExperiment(ExperimentKey(7)).Hex());
  EXPECT_NE(Key::ForExperiment(ExperimentKey(7)).Hex(), Key::ForExperiment(ExperimentKey(8)).Hex());
}

TEST(SeededRng, GaussianHasUnitVariance) {
  SeededRng rng(3);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = rng.Gaussian();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 100000, 0.0, 0.016);
  EXPECT_NEAR(squares / 100000, 1.0, 0.025);
}

TEST(KeyedGaussian, IsStandardNormalAndTheKeysAlone) {
  const Key key = Key::ForExperiment(ExperimentKey(3));
  KeyedGaussian first(key), again(key), other(Key::ForExperiment(ExperimentKey(4)));
  constexpr int kDraws = 20000;
  double sum = 0.0, squares = 0.0, product = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = first();
    EXPECT_EQ(x, again());
    product += x * other();
    sum += x;
    squares += x * x;
  }
  // Five standard deviations of each mean.
  EXPECT_NEAR(sum / kDraws, 0.0, 5.0 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0, 5.0 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(product / kDraws, 0.0, 5.0 / std::sqrt(kDraws));
}

}  // namespace
}  // namespace sotto
