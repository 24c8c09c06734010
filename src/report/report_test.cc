#include <gtest/gtest.h>
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "audio/testing.h"
#include "base/error.h"
#include "base/testing.h"
#include "report/compare_page.h"
#include "report/png.h"

namespace sotto {
namespace {

using testing::SyntheticVowel;
using testing::TemporaryFolder;
using testing::WriteWav;

TEST(Base64, MatchesRfc4648) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
}

TEST(EncodePng, DecodesToTheSamePixels) {
  const Picture picture{2, 2, {{{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {9, 8, 7}}}};
  const std::string png = EncodePng(picture);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  const std::size_t at = png.find("IDAT") + 4;
  std::string rows(14, '\0');
  uLongf size = rows.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                       reinterpret_cast<const Bytef*>(png.data() + at),
                       static_cast<uLong>(png.find("IEND") - 4 - at)),
            Z_OK);
  EXPECT_EQ(rows, std::string("\0\xFF\0\0\0\xFF\0\0\0\0\xFF\x09\x08\x07", 14));
}

TEST(PaintSpectrogram, PutsLowFrequenciesAtTheBottom) {
  Spectrogram s{1, 3, 100.0, {0.0F, -100.0F, -100.0F}};
  const Picture picture = PaintSpectrogram(s, 1, 3, 300.0);
  EXPECT_GT(picture.pixels[2][0], 200);  // bright
  EXPECT_LT(picture.pixels[0][0], 20);
}

TEST(CompareCopies, ShowsEveryCopyBesideTheOriginal) {
  const TemporaryFolder folder;
  const auto x = SyntheticVowel(1.0, 16000);
  for (const char* name : {"o", "mcadams", "vtln", "other/vtln"}) {
    WriteWav(folder / (std::string(name) + "/s/1.wav"), x);
  }
  const auto copies =
      CompareCopies(folder / "o", {folder / "mcadams", folder / "vtln", folder / "other/vtln"}, 1);
  ASSERT_EQ(copies.size(), 3U);
  EXPECT_EQ(copies[0].name, "mcadams");
  EXPECT_EQ(copies[2].name, "vtln 2");
  const std::string page = ComparePage(copies, {folder / "page.html", 8, {900.0, 80.0}});
  std::size_t pictures = 0;
  for (std::size_t at = 0; (at = page.find("<img", at)) != std::string::npos; ++at) ++pictures;
  EXPECT_EQ(pictures, 4U);
  for (const char* title : {"original", "mcadams", "vtln", "vtln 2"}) {
    EXPECT_NE(page.find(std::string("<figcaption>") + title + "<"), std::string::npos) << title;
  }
  const auto rows = nlohmann::json::parse(CompareJson(copies));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[2]["protected"], "vtln 2");
  EXPECT_EQ(rows[0]["f0_hz"][0], rows[0]["f0_hz"][1]);
  EXPECT_NE(CompareText(copies).find("+0.0 %"), std::string::npos);
  EXPECT_THROW(ReadTimesRealTime(folder / "o/s/1.wav"), Error);
}

}  // namespace
}  // namespace sotto
