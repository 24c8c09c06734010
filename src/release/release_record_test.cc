#include "release/release_record.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "release/anonymise.h"
#include "speaker/protect_record.h"

namespace sotto {
namespace {

constexpr const char* kMcAdams =
    R"({"method": "mcadams", "alpha": "0.5:0.9", "pitch": "keep", "strategy": "random",
        "randomness": "key file", "context_given": true, "ids": "kept", "complete": true})";

std::string ErrorOf(const std::string& json) {
  try {
    ParseReleaseRecord(json, "run");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ReleaseRecord, SaysHowARunWasMade) {
  const ReleaseRecord record = ParseReleaseRecord(kMcAdams, "run");
  EXPECT_EQ(record.voice.MethodName(), "mcadams");
  EXPECT_EQ(record.voice.Value("alpha"), "0.5:0.9");
  EXPECT_EQ(record.strategy, Strategy::kRandom);
  EXPECT_TRUE(record.context_given);
  EXPECT_TRUE(record.HasDraws());
  const ReleaseRecord fixed = ParseReleaseRecord(
      R"({"method": "mcadams", "alpha": "0.8", "pitch": "keep", "strategy": "perm"})", "run");
  EXPECT_FALSE(fixed.HasDraws());
  EXPECT_EQ(fixed.Describe(), "mcadams, alpha 0.8, pitch keep, strategy perm");
  const ReleaseRecord vtln = ParseReleaseRecord(
      R"({"method": "vtln", "pitch": "target", "target_gender": "other", "pool": "given",
          "f0": "robust", "strategy": "perm"})",
      "run");
  EXPECT_TRUE(vtln.lacks_pool);
  EXPECT_EQ(vtln.voice.Value("target-gender"), "other");
  EXPECT_EQ(vtln.voice.Value("f0"), "robust");
}

TEST(ReleaseRecord, KnowsMethodNeural) {
  const std::string neural =
      R"({"method": "neural", "pitch": "target", "target": "pool", "target_gender": "random",
          "target_pool": "given", "nets": "00ff", "content": "moonshine", "bend_semitones": 2.0,
          "strategy": "random"})";
  const ReleaseRecord record = ParseReleaseRecord(neural, "run");
  EXPECT_EQ(record.voice.Value("target"), "pool");
  EXPECT_EQ(record.voice.Value("content"), "moonshine");
  EXPECT_EQ(record.voice.Number("bend"), 2.0);
  EXPECT_TRUE(record.lacks_pool);
  EXPECT_TRUE(record.HasDraws());
  EXPECT_EQ(record.nets, "00ff");
  std::string other = neural;
  other.replace(other.find("bend_semitones"), 4, "bent");
  EXPECT_NE(ErrorOf(other).find("bend_semitones"), std::string::npos);
}

TEST(ReleaseRecord, KnowsMethodAdain) {
  const std::string adain =
      R"({"method": "adain", "pitch": "target", "target": "generated", "target_gender": "random",
          "target_pool": "default", "nets": "00ff", "content": "adain", "bend_semitones": 0.0,
          "strategy": "random"})";
  const ReleaseRecord record = ParseReleaseRecord(adain, "run");
  EXPECT_EQ(record.voice.MethodName(), "adain");
  EXPECT_TRUE(record.HasDraws());
  EXPECT_EQ(record.nets, "00ff");
}

TEST(ReleaseRecord, VoiceIndHasItsEpsilon) {
  const std::string text =
      R"({"method": "neural", "pitch": "target", "target": "voice-ind", "eps": 4.0,
          "target_gender": "random", "target_pool": "default", "nets": "00ff",
          "content": "student", "bend_semitones": 0.0, "strategy": "random"})";
  const ReleaseRecord record = ParseReleaseRecord(text, "run");
  EXPECT_EQ(record.voice.Number("eps"), 4.0);
  EXPECT_NE(record.Describe().find("eps 4"), std::string::npos);
  std::string other = text;
  other.replace(other.find("\"eps\""), 5, "\"era\"");
  EXPECT_NE(ErrorOf(other).find("eps"), std::string::npos);
  // The bound on the draws of a stream; earlier versions had none.
  const auto streamed = [&](const std::string& bound) {
    return text.substr(0, text.size() - 1) + R"(, "streaming": true)" + bound + "}";
  };
  EXPECT_FALSE(ParseReleaseRecord(streamed(""), "run").voice.Has("max-draws"));
  const ReleaseRecord bounded = ParseReleaseRecord(streamed(R"(, "max_draws": 3)"), "run");
  EXPECT_EQ(bounded.voice.Number("max-draws"), 3.0);
  EXPECT_NE(bounded.Describe().find("max_draws 3"), std::string::npos);
  for (const char* wrong : {"0", "-1", "1.5", R"("3")"}) {
    EXPECT_NE(ErrorOf(streamed(std::string(R"(, "max_draws": )") + wrong)).find("draws"),
              std::string::npos)
        << wrong;
  }
}

TEST(ReleaseRecord, TheRecordOfARunSaysHowToRepeatIt) {
  AnonymiseOptions options;
  options.Use("neural");
  options.strategy = Strategy::kRandom;
  options.Set("target", "voice-ind");
  options.Set("eps", "2.0");
  options.Set("streaming");
  options.Set("max-draws", "3");
  const ReleaseRecord record = ParseReleaseRecord(PlannedRecord(options, "test"), "run");
  EXPECT_EQ(record.voice.Text(), options.Text());
  EXPECT_EQ(record.strategy, options.TargetStrategy());
}

TEST(ReleaseRecord, AnAlphaThatNobodyMayAskForAnyMoreIsStillRead) {
  const ReleaseRecord old = ParseReleaseRecord(
      R"({"method": "mcadams", "alpha": "0.2:2", "pitch": "keep", "strategy": "perm"})", "run");
  EXPECT_EQ(old.voice.Value("alpha"), "0.2:2");
  const TargetDraws draws(Key::ForExperiment(ExperimentKey(1)), old.strategy,
                          old.voice.MethodName());
  EXPECT_NO_THROW(MakeVoiceMethod(old.voice, draws)->MakeTransformer(16000, 1.0, "s", "u"));
}

TEST(PoolRule, IsReadFromTheRecordsOfBothVerbs) {
  const auto rule = [](const std::string& text) { return ParsePoolRule(text, "run"); };
  const auto pool = [&](const std::string& region) {
    return rule(R"({"verb": "protect-embedding", "method": "pool", "pool": {"region": ")" + region +
                R"("}})")
        .rule;
  };
  EXPECT_EQ(pool("farthest"), PoolRule::kFarthest);
  EXPECT_EQ(pool("nearest"), PoolRule::kNearest);
  for (const char* region : {"random", "dense", "sparse"}) {
    EXPECT_EQ(pool(region), PoolRule::kIndependent);
  }
  const PoolRuleRecord near = rule(
      R"({"verb": "protect-embedding", "method": "voice-ind", "voice_ind": {"epsilon": 5.0}})");
  EXPECT_EQ(near.rule, PoolRule::kNearest);
  EXPECT_EQ(near.text, "voice-ind, eps 5");
  // A record of earlier versions, with figures that are no part of records any more.
  EXPECT_EQ(rule(R"({"verb": "protect-embedding", "method": "voice-ind", "voice_ind": {
                     "epsilon": 5.0, "guarantee": {"candidates_among_protected": 0},
                     "verified": {"holds": true, "largest_ratio_to_bound": 0.4},
                     "expected_distance": 0.3}})")
                .text,
            "voice-ind, eps 5");
  ProtectOptions options;
  VoiceIndProtection voice_ind;
  voice_ind.options.eps = 5.0;
  options.by = voice_ind;
  EXPECT_EQ(rule(ProtectRecord(options, {4, 2, 30, 2, {}}, {}, "test")).text, "voice-ind, eps 5");
  PoolProtection from_pool;
  from_pool.options.region = ProgramPoolRegions().Find("farthest");
  options.by = from_pool;
  EXPECT_EQ(rule(ProtectRecord(options, {4, 2, 30, 2, {}}, {}, "test")).rule, PoolRule::kFarthest);
  // A defence that hides attributes: no voice of a pool.
  options.by = HiderProtection{};
  HidingFacts facts;
  facts.method = "leace";
  facts.attributes = {"gender", "age"};
  const PoolRuleRecord hidden = rule(ProtectRecord(options, {4, 2, 0, 2, {}}, facts, "test"));
  EXPECT_EQ(hidden.rule, PoolRule::kIndependent);
  EXPECT_EQ(hidden.text, "leace");
  EXPECT_THROW(rule(R"({"verb": "protect-embedding", "method": "voice-ind"})"), Error);
  EXPECT_THROW(rule(R"({"verb": "protect-embedding", "method": "hash"})"), Error);
  EXPECT_THROW(rule(R"({"verb": 7})"), Error);
  EXPECT_EQ(rule(R"({"verb": "anonymise", "method": "mcadams", "alpha": "0.8", "pitch": "keep",
                     "strategy": "perm"})")
                .rule,
            PoolRule::kIndependent);
}

TEST(ReleaseRecord, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(ErrorOf("[]").find("run: not a JSON object"), std::string::npos);
  EXPECT_NE(ErrorOf("{}").find("no text 'method'"), std::string::npos);
  EXPECT_NE(ErrorOf(R"({"method": "magic", "pitch": "keep", "strategy": "perm"})").find("'magic'"),
            std::string::npos);
  EXPECT_NE(ErrorOf(R"({"method": "voicemask", "pitch": "keep", "strategy": "perm",
                        "complete": false})")
                .find("not complete"),
            std::string::npos);
}

}  // namespace
}  // namespace sotto
