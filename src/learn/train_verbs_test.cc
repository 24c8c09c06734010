#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "learn/training_flags.h"

namespace sotto {
namespace {

TEST(TrainVerbs, EveryFlagHasAHelpSentence) {
  CLI::App app;
  app.option_defaults()->always_capture_default();
  AddEncoderVerb(app);
  AddContentVerb(app);
  AddSynthVerb(app);
  AddAdainVerb(app);
  AddTaggerVerb(app);
  const auto verbs = app.get_subcommands([](CLI::App*) { return true; });
  ASSERT_EQ(verbs.size(), 5u);
  for (const CLI::App* verb : verbs) {
    EXPECT_GT(verb->get_options().size(), 15u);
    for (const CLI::Option* flag : verb->get_options()) {
      const std::string help = flag->get_description();
      SCOPED_TRACE(verb->get_name() + " " + flag->get_name() + ": " + help);
      EXPECT_GE(std::count(help.begin(), help.end(), ' '), 2);
      EXPECT_TRUE(!help.empty() && std::isupper(help[0]) != 0);
    }
    if (verb->get_name() == "tagger") continue;
    // What every training on speech has.
    for (const char* flag : {"--steps", "--minutes", "--warm-up", "--average", "--checkpoint",
                             "--resume", "--seed", "--device", "--held-out", "--curve"}) {
      EXPECT_NE(verb->get_option_no_throw(flag), nullptr) << verb->get_name() << " " << flag;
    }
  }
}

}  // namespace
}  // namespace sotto
