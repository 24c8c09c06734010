// Any texts as the tables of a Kaldi data dir, separated by NUL.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "audio/corpus.h"
#include "base/error.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> parts(6);
  std::size_t part = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == 0 && part < 5) {
      ++part;
    } else {
      parts[part] += static_cast<char>(data[i]);
    }
  }
  sotto::KaldiTexts texts;
  texts.wav_scp = parts[0];
  if (part >= 1) texts.utt2spk = parts[1];
  if (part >= 2) texts.segments = parts[2];
  if (part >= 3) texts.spk2utt = parts[3];
  if (part >= 4) texts.spk2gender = parts[4];
  if (part >= 5) texts.text = parts[5];
  try {
    const auto scan = sotto::ParseKaldi(texts, "corpus", {});
    for (const sotto::Recording& recording : scan.corpus.recordings) {
      if (recording.relative.find("..") == 0) std::abort();
      if (sotto::FindUnclean(recording.id) != std::string::npos) std::abort();
    }
  } catch (const sotto::Error&) {
  }
  return 0;
}
