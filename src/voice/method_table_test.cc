#include "voice/method_table.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "base/error.h"

namespace sotto {
namespace {

TEST(MethodText, TakesOptionsOfAnonymise) {
  EXPECT_EQ(ParseMethodText("mcadams").Text(), VoiceOptions("mcadams").Text());
  EXPECT_EQ(ParseMethodText("mcadams:alpha=0.50:0.9").Text(), VoiceOptions("mcadams").Text());
  const VoiceOptions fixed = ParseMethodText("mcadams:alpha=0.8,pitch=random");
  EXPECT_EQ(fixed.Value("alpha"), "0.8");
  EXPECT_EQ(fixed.Value("pitch"), "random");
  const VoiceOptions vtln = ParseMethodText("vtln:target-gender=other,f0=robust,pool=a=b.bin");
  EXPECT_EQ(vtln.Value("target-gender"), "other");
  EXPECT_EQ(vtln.Value("f0"), "robust");
  EXPECT_EQ(vtln.File("pool"), "a=b.bin");
  const VoiceOptions neural = ParseMethodText("neural:content=moonshine,target=pool,bend=1.5");
  EXPECT_EQ(neural.Value("content"), "moonshine");
  EXPECT_EQ(neural.Value("target"), "pool");
  EXPECT_EQ(neural.Number("bend"), 1.5);
  const VoiceOptions near = ParseMethodText("neural:target=voice-ind,eps=4");
  EXPECT_EQ(near.Value("target"), "voice-ind");
  EXPECT_EQ(near.Number("eps"), 4.0);
}

TEST(MethodText, NamesWhatIsWrong) {
  for (const char* text : {"",
                           "robot",
                           "mcadams:",
                           "mcadams:alpha",
                           "mcadams:alpha=0.9:0.5",
                           "mcadams:alpha=7",
                           "mcadams:alpha=0.2:0.8",
                           "mcadams:alpha=1.3",
                           "neural:alpha=0.8",
                           "vtln:alpha=0.8",
                           "mcadams:pitch=high",
                           "mcadams:pitch=keep,pitch=keep",
                           "vtln:f0=slow",
                           "vtln:profile=me",
                           "neural:content=ears",
                           "neural:bend=much",
                           "neural:bend=-1",
                           "neural:bend=13",
                           "neural:f0=robust",
                           "neural:trust-models",
                           "neural:models=x",
                           "neural:neural=",
                           "adain:content=moonshine",
                           "adain:streaming",
                           "neural:target=voice-ind",
                           "neural:target=voice-ind,eps=0",
                           "neural:target=voice-ind,eps=inf",
                           "neural:eps=1",
                           "neural:target=pool,eps=1",
                           "mcadams:eps=1",
                           "vtln:target=pool",
                           "mcadams:target-gender=other,pitch=keep"}) {
    try {
      ParseMethodText(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(std::string("'") + text), std::string::npos)
          << error.what();
    }
  }
}

TEST(MethodText, AnOptionOfAnotherMethodNamesItsOwners) {
  for (const auto& [text, owners] : std::vector<std::pair<std::string, std::string>>{
           {"vtln:bend=3", "--bend belongs to --method neural or adain"},
           {"voicemask:alpha=0.8", "--alpha belongs to --method mcadams"},
           {"neural:f0=fast", "--f0 belongs to --method mcadams, voicemask or vtln"},
           {"neural:eps=1", "--eps belongs to --target voice-ind; the target here is generated"},
           {"neural:target=pool,streaming,max-draws=2", "--max-draws belongs to --target"},
           {"adain:eps=1", "--eps belongs to --method neural"}}) {
    try {
      ParseMethodText(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(owners), std::string::npos) << error.what();
    }
  }
}

// Texts and fingerprints of earlier runs have the rules' parameters among the method's.
TEST(MethodTable, KeepsTheOrderOfParameters) {
  const auto names = [](const char* method) {
    std::vector<std::string> all;
    for (const Parameter& one : VoiceOptions(method).Method().Parameters()) all.push_back(one.name);
    return all;
  };
  EXPECT_EQ(names("neural"),
            (std::vector<std::string>{"pitch", "target-gender", "target", "target-pool", "bend",
                                      "neural", "eps", "content", "models", "trust-models",
                                      "streaming", "max-draws"}));
  EXPECT_EQ(names("adain"), (std::vector<std::string>{"pitch", "target-gender", "target",
                                                      "target-pool", "bend", "neural"}));
}

TEST(TargetRules, AreATableToo) {
  EXPECT_EQ(ProgramTargetRules().Names(),
            (std::vector<std::string>{"generated", "pool", "voice-ind"}));
  EXPECT_EQ(ProgramTargetRules().Blind().Names(), (std::vector<std::string>{"generated", "pool"}));
  TargetRules rules = ProgramTargetRules();
  EXPECT_THROW(rules.Add(rules.Find("pool")), Error);
  EXPECT_THROW(rules.Find("nobody"), Error);
}

// One place says them, for the program and for whoever calls the library.
TEST(MethodTable, HasTheDefaults) {
  EXPECT_EQ(VoiceOptions().MethodName(), kDefaultMethod);
  EXPECT_EQ(VoiceOptions().Method().DefaultStrategy(), Strategy::kRandom);
  EXPECT_EQ(VoiceOptions("vtln").Method().DefaultStrategy(), Strategy::kPerm);
  EXPECT_EQ(ProgramMethods().Owners("pitch").size(), ProgramMethods().All().size());
  MethodTable table = ProgramMethods();
  EXPECT_THROW(table.Add(ProgramMethods().Find("vtln")), Error);
}

// What a record or a flag can say of each parameter, the program understands: no preset is refused,
// and none of two parameters of a method goes by one name.
TEST(MethodTable, IsConsistent) {
  for (const auto& method : ProgramMethods().All()) {
    std::set<std::string> flags, fields;
    for (const Parameter& parameter : method->Parameters()) {
      SCOPED_TRACE(method->Name() + " " + parameter.name);
      EXPECT_FALSE(parameter.help.empty());
      EXPECT_TRUE(flags.insert(parameter.name).second);
      if (!parameter.record.empty()) {
        EXPECT_TRUE(fields.insert(parameter.record).second);
      }
      VoiceOptions options(method);
      if (!parameter.preset.empty()) {
        EXPECT_NO_THROW(options.Set(parameter.name, parameter.preset));
      }
      for (const std::string& choice : parameter.choices) {
        EXPECT_NO_THROW(options.Set(parameter.name, choice));
        EXPECT_EQ(options.Value(parameter.name), choice);
      }
      if (!parameter.choices.empty()) {
        EXPECT_THROW(options.Set(parameter.name, "?"), Error);
      }
    }
    for (const std::string& fact : method->FactFields()) EXPECT_TRUE(fields.insert(fact).second);
  }
}

}  // namespace
}  // namespace sotto
