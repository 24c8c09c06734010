// What every verb's file offers to main.cc, and what the verbs share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace sotto::cli {

// Thrown by a verb that has said all there is to say and wants this exit code.
struct ExitWith {
  int code;
};

// Adds a verb whose --help ends with these example commands.
inline CLI::App* AddVerb(CLI::App& app, const std::string& name, const std::string& description,
                         const std::string& examples) {
  CLI::App* verb = app.add_subcommand(name, description);
  verb->footer("e.g.:\n" + examples);
  return verb;
}

// One function per verb, each in its own file.
void AddAssess(CLI::App& app);

}  // namespace sotto::cli
