#include "cli/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

namespace sotto::cli::CLI {

namespace {

// Who reads --help of a verb has found it. Subcommands copy the flag, so it is hidden in the end.
void HideHelp(::CLI::App& app) {
  for (::CLI::App* verb : app.get_subcommands({})) {
    HideHelp(*verb);
    verb->get_help_ptr()->group("");
  }
}

Validator Made(::CLI::Validator validator) {
  return std::make_shared<const ::CLI::Validator>(std::move(validator));
}

constexpr std::size_t kHelpColumns = 100, kNameColumns = 28;

// Words filled into lines of the page, all but the first indented.
std::string Fill(const std::string& text, std::size_t indent) {
  std::string filled;
  std::size_t column = indent;
  std::istringstream words(text);
  for (std::string word; words >> word; column += word.size() + 1) {
    if (column > indent && column + word.size() > kHelpColumns) {
      filled.back() = '\n';
      filled.append(indent, ' ');
      column = indent;
    }
    filled += word + ' ';
  }
  if (!filled.empty()) filled.back() = '\n';
  return filled;
}

std::string TwoColumns(const std::string& name, const std::string& text) {
  const std::string start = fmt::format("  {:{}}", name, kNameColumns - 2);
  const bool fits = name.size() + 4 <= kNameColumns;
  return (fits ? start : "  " + name + "\n" + std::string(kNameColumns, ' ')) +
         (text.empty() ? "\n" : Fill(text, kNameColumns));
}

std::string Names(const std::set<::CLI::Option*>& options) {
  std::string names;
  for (const ::CLI::Option* option : options) {
    names += (names.empty() ? "" : " or ") + option->get_name();
  }
  return names;
}

// --help: sentences in two columns of a page, after each flag what it may be and is by default.
class Page : public ::CLI::Formatter {
 public:
  std::string make_description(const ::CLI::App* app) const override {
    std::string page;
    std::istringstream paragraphs(app->get_description());
    for (std::string line; std::getline(paragraphs, line);) {
      const std::size_t tab = line.find('\t');  // of a name and what it means
      page += tab == std::string::npos ? Fill(line, 0)
                                       : TwoColumns(line.substr(0, tab), line.substr(tab + 1));
    }
    return page.empty() ? page : page + "\n";
  }

  std::string make_option(const ::CLI::Option* option, bool is_positional) const override {
    std::string name = make_option_name(option, is_positional), text = option->get_description();
    const auto add = [&](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
    if (option->get_type_size() != 0 && !is_positional) {
      std::string type = option->get_type_name(), choices;
      for (const char* check : {":{", ":POSITIVE", ":NONNEGATIVE", ":INT in", ":FLOAT in"}) {
        const std::size_t at = type.find(check);
        if (at == std::string::npos) continue;
        if (check[1] == '{') choices = type.substr(at + 2, type.find('}') - at - 2);
        type.resize(at);
      }
      if (type == "INT" || type == "UINT") type = "N";
      if (type == "FLOAT") type = "X";
      if (!choices.empty() && name.size() + choices.size() + 5 <= kNameColumns) {
        std::replace(choices.begin(), choices.end(), ',', '|');
        type = choices;
      } else if (!choices.empty()) {
        add("one of " + ::CLI::detail::find_and_replace(choices, ",", ", "));
      }
      name += " " + type;
      if (option->get_expected_max() == ::CLI::detail::expected_max_vector_size) name += " ...";
      std::string preset = option->get_default_str();
      if (preset.starts_with('[')) {
        preset = ::CLI::detail::find_and_replace(preset.substr(1, preset.size() - 2), ",", ", ");
      }
      if (!preset.empty()) add("default: " + preset);
    }
    if (option->get_required() && !is_positional) add("required");
    if (!option->get_needs().empty()) add("only with " + Names(option->get_needs()));
    if (!option->get_excludes().empty()) add("not with " + Names(option->get_excludes()));
    return TwoColumns(name, text);
  }

  // One blank line between headings, where CLI11 leaves two.
  std::string make_help(const ::CLI::App* app, std::string name,
                        ::CLI::AppFormatMode mode) const override {
    return ::CLI::detail::find_and_replace(Formatter::make_help(app, std::move(name), mode),
                                           "\n\n\n", "\n\n");
  }

  std::string make_option_usage(const ::CLI::Option* option) const override {
    return ::CLI::detail::find_and_replace(Formatter::make_option_usage(option), "(1x)", "...");
  }

  // Examples run as they stand: a long one is broken as a shell takes it.
  std::string make_footer(const ::CLI::App* app) const override {
    std::string footer;
    std::istringstream examples(app->get_footer());
    for (std::string line; std::getline(examples, line); footer += line + "\n") {
      while (line.size() > kHelpColumns) {
        const std::size_t at = line.rfind(' ', kHelpColumns - 2);
        footer += line.substr(0, at) + " \\\n";
        line = "    " + line.substr(at + 1);
      }
    }
    return footer;
  }

  // Of a list of verbs: the first sentence; the verb's own --help says the rest.
  std::string make_subcommand(const ::CLI::App* app) const override {
    const std::string text = app->get_description();
    const std::size_t end = std::min(text.find(". "), text.find(".\n"));
    return TwoColumns(app->get_display_name(true),
                      text.substr(0, end) + (end < text.size() ? "." : ""));
  }
};

}  // namespace

const Validator PositiveNumber = Made(::CLI::PositiveNumber);
const Validator NonNegativeNumber = Made(::CLI::NonNegativeNumber);
Validator Range(int lowest, int highest) { return Made(::CLI::Range(lowest, highest)); }
Validator Range(double lowest, double highest) { return Made(::CLI::Range(lowest, highest)); }
Validator IsMember(std::vector<std::string> values) {
  return Made(::CLI::IsMember(std::move(values)));
}

Option* Option::required() { return After(option_->required()->default_str("")); }
Option* Option::option_text(const std::string& text) { return After(option_->option_text(text)); }
Option* Option::default_str(const std::string& text) { return After(option_->default_str(text)); }
Option* Option::check(const Validator& validator) { return After(option_->check(*validator)); }
Option* Option::check(const std::function<std::string(const std::string&)>& check) {
  return After(option_->check(check));
}
Option* Option::type_name(const std::string& name) { return After(option_->type_name(name)); }
Option* Option::delimiter(char delimiter) {
  return After(option_->delimiter(delimiter)->allow_extra_args(false));
}
Option* Option::allow_extra_args(bool allow) { return After(option_->allow_extra_args(allow)); }
Option* Option::expected(int least, int most) { return After(option_->expected(least, most)); }
Option* Option::needs(Option* other) { return After(option_->needs(other->option_)); }
Option* Option::excludes(Option* other) { return After(option_->excludes(other->option_)); }
Option* Option::excludes(const std::string& other) { return After(option_->excludes(other)); }
std::size_t Option::count() const { return option_->count(); }
std::string Option::name() const { return option_->get_name(); }

App::App(const std::string& description, const std::string& name)
    : app_(std::make_shared<::CLI::App>(description, name)) {
  app_->formatter(std::make_shared<Page>());
}

Option* App::Keep(::CLI::Option* option) {
  return options_.emplace_back(std::make_unique<Option>(option)).get();
}

template <typename T>
Option* App::add_option(const std::string& names, T& value, const std::string& help,
                        const std::string& type) {
  ::CLI::Option* option = app_->add_option(names, value, help);
  if (!type.empty()) option->type_name(type);
  return Keep(option);
}

Option* App::add_flag(const std::string& names, bool& value, const std::string& help) {
  return Keep(app_->add_flag(names, value, help));
}

App* App::add_subcommand(const std::string& name, const std::string& description) {
  // CLI11 owns it and gives it away as a plain pointer.
  std::shared_ptr<::CLI::App> verb(app_, app_->add_subcommand(name, description));
  if (!heading_.empty()) verb->group(heading_);
  verb->option_defaults()->group("Options");
  return subcommands_.emplace_back(name, std::make_unique<App>(std::move(verb))).second.get();
}

App* App::get_subcommand(const std::string& name) {
  for (const auto& [known, app] : subcommands_) {
    if (known == name) return app.get();
  }
  throw std::logic_error("no verb " + name);
}

void App::heading(const std::string& name) {
  heading_ = name;
  app_->option_defaults()->group(name);
}

void App::alias(const std::string& name) { app_->alias(name); }
void App::footer(const std::string& text) { app_->footer(text); }
void App::require_subcommand(int count) { app_->require_subcommand(count); }
void App::set_version_flag(const std::string& names, const std::string& version) {
  app_->set_version_flag(names, version);
}
void App::show_defaults() { app_->option_defaults()->always_capture_default(); }
void App::allow_extras() { app_->allow_extras(); }
std::vector<std::string> App::remaining() const { return app_->remaining(); }

void App::callback(const std::function<void()>& run) {
  app_->callback([run] {
    try {
      run();
    } catch (const ValidationError& error) {
      throw ::CLI::ValidationError(error.what());
    }
  });
}

int App::parse(int argc, char** argv) {
  HideHelp(*app_);
  try {
    app_->parse(argc, argv);
    return 0;
  } catch (const ::CLI::ParseError& error) {
    return app_->exit(error) == 0 ? 0 : 2;
  }
}

#define SOTTO_FLAG_TYPE(...)                                                             \
  template Option* App::add_option(const std::string&, __VA_ARGS__&, const std::string&, \
                                   const std::string&)
SOTTO_FLAG_TYPE(double);
SOTTO_FLAG_TYPE(int);
SOTTO_FLAG_TYPE(std::filesystem::path);
SOTTO_FLAG_TYPE(std::optional<double>);
SOTTO_FLAG_TYPE(std::optional<std::uint64_t>);
SOTTO_FLAG_TYPE(std::string);
SOTTO_FLAG_TYPE(std::uint32_t);
SOTTO_FLAG_TYPE(std::uint64_t);
SOTTO_FLAG_TYPE(std::vector<double>);
SOTTO_FLAG_TYPE(std::vector<int>);
SOTTO_FLAG_TYPE(std::vector<std::filesystem::path>);
SOTTO_FLAG_TYPE(std::vector<std::string>);
SOTTO_FLAG_TYPE(std::vector<std::uint64_t>);
#undef SOTTO_FLAG_TYPE

}  // namespace sotto::cli::CLI
