#include "audio/transcripts.h"

#include <gtest/gtest.h>

namespace sotto {
namespace {

using Map = std::map<std::string, std::string>;

TEST(Transcripts, ComeFromTheColumnTextOfAManifest) {
  const Corpus corpus = ParseManifest(
                            "utt_id\tpath\tspeaker\ttext\tage\n"
                            "u1\ta.wav\tanna\tgood day\tteens\n"
                            "u2\tb.wav\tanna\t \t\n"
                            "u3\tc.wav\tbert\tbye\tteens\n"
                            "u4\td.wav\tbert\tbye bye\tforties\n",
                            "manifest.tsv")
                            .corpus;
  EXPECT_EQ(Transcripts(corpus), (Map{{"u1", "good day"}, {"u3", "bye"}, {"u4", "bye bye"}}));
  EXPECT_EQ(SpeakerColumn(corpus, "age"), (Map{{"anna", "teens"}}));
  EXPECT_EQ(SpeakerColumn(corpus, "accent"), Map{});
}

TEST(Transcripts, ComeFromKaldisTableText) {
  const Corpus corpus = ParseKaldi({.wav_scp = "u1 a.wav\nu2 b.wav\n",
                                    .utt2spk = "u1 anna\nu2 anna\n",
                                    .segments = {},
                                    .spk2utt = {},
                                    .spk2gender = {},
                                    .text = "u1 good day\nu2\n"},
                                   "/data", {})
                            .corpus;
  EXPECT_EQ(Transcripts(corpus), (Map{{"u1", "good day"}}));
  EXPECT_EQ(SpeakerColumn(corpus, "age"), Map{});
}

TEST(Transcripts, AFolderOfSoundsHasNone) { EXPECT_EQ(Transcripts(Corpus{}), Map{}); }

}  // namespace
}  // namespace sotto
