// What a method, or a rule for its targets, can be told: one description serves the flag, the
// method text ("vtln:f0=robust"), the run record and its reader, and the attackers who must agree
// with it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

// A value, or a range to draw from: "0.8" or "0.5:0.9".
struct Range {
  double lo = 0.5;
  double hi = 0.9;
  bool IsFixed() const { return lo == hi; }
  std::string Text() const;
  // Error unless both are numbers and lo ≤ hi.
  static Range Parse(const std::string& text, const std::string& name);
};

struct Parameter {
  enum class Kind {
    kText,    // one of `choices`, or what `check` takes
    kNumber,  // a number in a run record too
    kCount,   // a whole number from 1 on
    kSwitch,  // given or not
    kVoices,  // a file of target voices: a record says whether it is the program's own
    kNets,    // a folder of nets
    kPath,    // any other file or folder
  };

  std::string name;  // of the flag, without the dashes
  Kind kind = Kind::kText;
  std::string unit{};                  // what --help shows for the value: "A|LO:HI", "FILE"
  std::string preset{};                // the default; empty: none
  std::vector<std::string> choices{};  // nothing else is allowed; empty: see `check`
  std::string help{};                  // one sentence
  std::string alias{};                 // another name of the flag
  // Of the field in a run record; empty: it is not recorded.
  std::string record{};
  bool must_be_recorded = false;  // a record without it is an Error
  bool changes_sound = true;      // an attacker's encoder must have been trained with the same
  bool in_texts = true;           // may stand in a method text
  bool in_streams = true;         // is a flag of sotto stream
  // Throws Error for what nobody should ask for; a record of an earlier version may say it.
  std::function<void(const std::string&)> check{};
  // How a value is written, whatever it was given as. Throws Error when it cannot be read.
  std::function<std::string(const std::string&)> normalise{};
  // Of a file that a run record tells of and does not hold: the flag of sotto attack that gives it,
  // and, of nets, the fact in the record that tells which they were.
  std::string attack_flag{}, fact{};
  // Of a rule's parameter: the method's behind which it stands in texts and records.
  std::string after{};

  bool IsFile() const {
    return kind == Kind::kVoices || kind == Kind::kNets || kind == Kind::kPath;
  }
  // Throws Error that names the parameter and what is allowed, unless `value` can be read.
  void Read(const std::string& value) const;
};

// Values of parameters, for whom it does not matter whose they are.
class ParameterValues {
 public:
  virtual ~ParameterValues() = default;
  // Whether a value was set.
  virtual bool Has(std::string_view parameter) const = 0;
  // The value, or the default; empty where there is none, or no such parameter.
  virtual std::string Value(std::string_view parameter) const = 0;
  std::optional<double> Number(std::string_view parameter) const;
  std::filesystem::path File(std::string_view parameter) const { return Value(parameter); }
};

// "a", "a or b", "a, b or c".
std::string ListOf(const std::vector<std::string>& names, const char* last = "or");

}  // namespace sotto
