#include "cli/flags.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

namespace sotto::cli::CLI {

struct Validator::Impl {
  explicit Impl(::CLI::Validator what) : validator(std::move(what)) {}
  ::CLI::Validator validator;
};

struct Option::Impl {
  explicit Impl(::CLI::Option* of) : option(of) {}
  ::CLI::Option* option;
};

struct App::Impl {
  std::shared_ptr<::CLI::App> app;
  std::vector<std::unique_ptr<Option>> options;
  std::vector<std::pair<std::string, std::unique_ptr<App>>> subcommands;

  Option* Keep(::CLI::Option* option) {
    options.push_back(std::make_unique<Option>(std::make_unique<Option::Impl>(option)));
    return options.back().get();
  }
};

namespace {

Validator Made(::CLI::Validator validator) {
  return Validator(std::make_shared<const Validator::Impl>(std::move(validator)));
}

}  // namespace

Validator Range(int lowest, int highest) { return Made(::CLI::Range(lowest, highest)); }

Validator Range(double lowest, double highest) { return Made(::CLI::Range(lowest, highest)); }

Validator IsMember(std::vector<std::string> values) {
  return Made(::CLI::IsMember(std::move(values)));
}

Option::Option(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Option::~Option() = default;

Option* Option::required() {
  impl_->option->required();
  return this;
}

Option* Option::type_name(const std::string& name) {
  impl_->option->type_name(name);
  return this;
}

Option* Option::option_text(const std::string& text) {
  impl_->option->option_text(text);
  return this;
}

Option* Option::default_str(const std::string& text) {
  impl_->option->default_str(text);
  return this;
}

Option* Option::capture_default_str() {
  impl_->option->capture_default_str();
  return this;
}

Option* Option::check(Sign sign) {
  if (sign == Sign::kPositive) {
    impl_->option->check(::CLI::PositiveNumber);
  } else {
    impl_->option->check(::CLI::NonNegativeNumber);
  }
  return this;
}

Option* Option::check(const Validator& validator) {
  impl_->option->check(validator.impl().validator);
  return this;
}

Option* Option::check(const std::function<std::string(const std::string&)>& check) {
  impl_->option->check(check);
  return this;
}

Option* Option::delimiter(char delimiter) {
  impl_->option->delimiter(delimiter);
  return this;
}

Option* Option::allow_extra_args(bool allow) {
  impl_->option->allow_extra_args(allow);
  return this;
}

Option* Option::expected(int least, int most) {
  impl_->option->expected(least, most);
  return this;
}

Option* Option::needs(Option* other) {
  impl_->option->needs(other->impl_->option);
  return this;
}

Option* Option::excludes(Option* other) {
  impl_->option->excludes(other->impl_->option);
  return this;
}

Option* Option::excludes(const std::string& other) {
  impl_->option->excludes(other);
  return this;
}

std::size_t Option::count() const { return impl_->option->count(); }

App::App(const std::string& description, const std::string& name)
    : impl_(std::make_unique<Impl>()) {
  impl_->app = std::make_shared<::CLI::App>(description, name);
}

App::App(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
App::~App() = default;

template <typename T>
Option* App::add_option(const std::string& names, T& value, const std::string& help) {
  return impl_->Keep(impl_->app->add_option(names, value, help));
}

Option* App::add_flag(const std::string& names, bool& value, const std::string& help) {
  return impl_->Keep(impl_->app->add_flag(names, value, help));
}

App* App::add_subcommand(const std::string& name, const std::string& description) {
  auto impl = std::make_unique<Impl>();
  // CLI11 owns it and gives it away as a plain pointer.
  impl->app = {impl_->app, impl_->app->add_subcommand(name, description)};
  impl_->subcommands.emplace_back(name, std::make_unique<App>(std::move(impl)));
  return impl_->subcommands.back().second.get();
}

App* App::get_subcommand(const std::string& name) {
  for (const auto& [known, app] : impl_->subcommands) {
    if (known == name) return app.get();
  }
  throw std::logic_error("no verb " + name);
}

void App::alias(const std::string& name) { impl_->app->alias(name); }

void App::footer(const std::string& text) { impl_->app->footer(text); }

void App::require_subcommand(int count) { impl_->app->require_subcommand(count); }

void App::set_version_flag(const std::string& names, const std::string& version) {
  impl_->app->set_version_flag(names, version);
}

void App::show_defaults() { impl_->app->option_defaults()->always_capture_default(); }

void App::allow_extras() { impl_->app->allow_extras(); }

std::vector<std::string> App::remaining() const { return impl_->app->remaining(); }

void App::callback(const std::function<void()>& run) {
  impl_->app->callback([run] {
    try {
      run();
    } catch (const ValidationError& error) {
      throw ::CLI::ValidationError(error.what());
    }
  });
}

int App::parse(int argc, char** argv) {
  try {
    impl_->app->parse(argc, argv);
    return 0;
  } catch (const ::CLI::ParseError& error) {
    return impl_->app->exit(error) == 0 ? 0 : 2;
  }
}

#define SOTTO_FLAG_TYPE(...) \
  template Option* App::add_option(const std::string&, __VA_ARGS__&, const std::string&)
SOTTO_FLAG_TYPE(double);
SOTTO_FLAG_TYPE(int);
SOTTO_FLAG_TYPE(std::filesystem::path);
SOTTO_FLAG_TYPE(std::optional<double>);
SOTTO_FLAG_TYPE(std::optional<std::uint64_t>);
SOTTO_FLAG_TYPE(std::string);
SOTTO_FLAG_TYPE(std::uint64_t);
SOTTO_FLAG_TYPE(std::vector<double>);
SOTTO_FLAG_TYPE(std::vector<int>);
SOTTO_FLAG_TYPE(std::vector<std::filesystem::path>);
SOTTO_FLAG_TYPE(std::vector<std::string>);
SOTTO_FLAG_TYPE(std::vector<std::uint64_t>);
#undef SOTTO_FLAG_TYPE

}  // namespace sotto::cli::CLI
