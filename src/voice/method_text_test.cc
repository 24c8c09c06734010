#include "voice/method_text.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace sotto {
namespace {

TEST(MethodText, TakesOptionsOfAnonymise) {
  EXPECT_EQ(ParseMethodText("mcadams").Text(), VoiceOptions{}.Text());
  EXPECT_EQ(ParseMethodText("mcadams:alpha=0.5:0.9").Text(), VoiceOptions{}.Text());
  const VoiceOptions fixed = ParseMethodText("mcadams:alpha=0.8,pitch=random");
  EXPECT_TRUE(fixed.alpha.IsFixed());
  EXPECT_EQ(fixed.Pitch(), PitchMode::kRandom);
  const VoiceOptions vtln = ParseMethodText("vtln:target-gender=other,f0=robust,pool=a=b.bin");
  EXPECT_EQ(vtln.target_gender, TargetGender::kOther);
  EXPECT_EQ(vtln.f0_method, F0Method::kRobust);
  EXPECT_EQ(vtln.pool, "a=b.bin");
  const VoiceOptions neural = ParseMethodText("neural:content=moonshine,target=pool,bend=1.5");
  EXPECT_TRUE(neural.neural.teacher);
  EXPECT_EQ(neural.neural.target, NeuralTarget::kPool);
  EXPECT_EQ(neural.neural.bend_semitones, 1.5);
  const VoiceOptions near = ParseMethodText("neural:target=voice-ind,eps=4");
  EXPECT_EQ(near.neural.target, NeuralTarget::kVoiceInd);
  EXPECT_EQ(near.neural.eps, 4.0);
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

}  // namespace
}  // namespace sotto
