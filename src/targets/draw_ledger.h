// Which draws of a target looked at the source: each costs epsilon, so each is entered where it is
// made, once under its name however often it is made again.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sotto {

// Two draws of one name are one and the same.
struct TargetDraw {
  std::string speaker;
  std::string name;  // unlike for any two draws of a speaker
  auto operator<=>(const TargetDraw&) const = default;
};

class DrawLedger {
 public:
  // At most so many for an utterance of a speaker; not given: any number.
  explicit DrawLedger(std::optional<std::size_t> most = {}) : most_(most) {}

  // From any thread. Throws Error where the draw would be one more than allowed: it must not be
  // used then.
  void Enter(const std::string& utterance, const TargetDraw& draw);
  // The distinct draws for this utterance so far, in order.
  std::vector<TargetDraw> Of(const std::string& utterance) const;

 private:
  const std::optional<std::size_t> most_;
  mutable std::mutex mutex_;
  // By utterance, then speaker: an attacker draws for one utterance as if others had said it.
  std::map<std::string, std::map<std::string, std::set<std::string>>> names_;
};

}  // namespace sotto
