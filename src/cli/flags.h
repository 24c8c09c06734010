// The part of CLI11 that the verbs use, under its names and with its meaning, so that its manual is
// ours. CLI11 itself is included by flags.cc alone: every file that includes it compiles for three
// seconds more.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming)
namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace sotto::cli::CLI {

// Bad usage, found by a verb's callback.
class ValidationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a value has to be; shown in --help.
using Validator = std::shared_ptr<const ::CLI::Validator>;
extern const Validator PositiveNumber, NonNegativeNumber;
Validator Range(int lowest, int highest);
Validator Range(double lowest, double highest);
Validator IsMember(std::vector<std::string> values);

class Option {
 public:
  explicit Option(::CLI::Option* option) : option_(option) {}

  Option* required();  // --help shows no default then
  Option* option_text(const std::string& text);
  Option* default_str(const std::string& text);
  Option* check(const Validator& validator);
  // The empty string when the value is good, else what is wrong with it.
  Option* check(const std::function<std::string(const std::string&)>& check);
  Option* type_name(const std::string& name);
  Option* delimiter(char delimiter);  // one list, or the flag again
  Option* allow_extra_args(bool allow);
  Option* expected(int least, int most);  // -1: any number
  Option* needs(Option* other);
  Option* excludes(Option* other);
  Option* excludes(const std::string& other);
  std::size_t count() const;
  std::string name() const;

 private:
  ::CLI::Option* option_;

  Option* After(const ::CLI::Option* /*changed*/) { return this; }
};

class App {
 public:
  App(const std::string& description, const std::string& name);
  explicit App(std::shared_ptr<::CLI::App> app) : app_(std::move(app)) {}

  // For the types that are listed at the end of flags.cc. `type` stands for the value in --help.
  template <typename T>
  Option* add_option(const std::string& names, T& value, const std::string& help,
                     const std::string& type = "");
  Option* add_flag(const std::string& names, bool& value, const std::string& help);
  App* add_subcommand(const std::string& name, const std::string& description);
  App* get_subcommand(const std::string& name);
  void alias(const std::string& name);
  void heading(const std::string& name);  // in --help, of the flags and subcommands that follow
  void footer(const std::string& text);
  void require_subcommand(int count);
  void set_version_flag(const std::string& names, const std::string& version);
  void show_defaults();  // of all options added later, here and in subcommands
  void allow_extras();
  std::vector<std::string> remaining() const;
  void callback(const std::function<void()>& run);
  // Calls it with flags that live as long as the verb; they are given back, to be added.
  template <typename Flags>
  std::shared_ptr<std::remove_const_t<Flags>> runs(void (*run)(Flags&)) {
    auto flags = std::make_shared<std::remove_const_t<Flags>>();
    callback([run, flags] { run(*flags); });
    return flags;
  }

  // Reads the arguments and runs the callbacks. What it has to say itself (help, the version, bad
  // usage) is printed; the exit code is then 0 or 2. Errors of callbacks pass through.
  int parse(int argc, char** argv);

 private:
  std::shared_ptr<::CLI::App> app_;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<std::pair<std::string, std::unique_ptr<App>>> subcommands_;
  std::string heading_;  // of the subcommands that follow

  Option* Keep(::CLI::Option* option);
};

}  // namespace sotto::cli::CLI
// NOLINTEND(readability-identifier-naming)
