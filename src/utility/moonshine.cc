#include "utility/moonshine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"

namespace sotto {
namespace {

constexpr std::int64_t kStart = 1, kEnd = 2;
constexpr std::size_t kShortest = 4000;  // samples; the front end's three convolutions need 0.1 s

// "past_key_values.3.decoder.key" is the input whose next value is "present.3.decoder.key".
constexpr std::string_view kPastPrefix = "past_key_values.";

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::string TokenText(std::string_view line) {
  if (line.size() == 6 && line.starts_with("<0x") && line.back() == '>' && HexDigit(line[3]) >= 0 &&
      HexDigit(line[4]) >= 0) {
    return {static_cast<char>(16 * HexDigit(line[3]) + HexDigit(line[4]))};
  }
  if (line == "<unk>" || line == "<s>" || line == "</s>") return {};
  constexpr std::string_view kBlank = "\xE2\x96\x81";  // "▁"
  std::string text;
  while (!line.empty()) {
    if (line.starts_with(kBlank)) {
      text += ' ';
      line.remove_prefix(kBlank.size());
    } else {
      text += line.front();
      line.remove_prefix(1);
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> ParseTokenTable(std::string_view text, const std::string& where) {
  // Only "\n" ends a line here: some tokens are other line ends.
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    pieces.push_back(TokenText(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (pieces.size() <= static_cast<std::size_t>(kEnd)) {
    throw Error(fmt::format("'{}': {} lines are not a token table", where, pieces.size()));
  }
  return pieces;
}

std::size_t RepeatedTail(std::span<const std::int64_t> tokens) {
  constexpr std::size_t kLongestPhrase = 8, kTimes = 4, kLeastTokens = 8;
  for (std::size_t period = 1; period <= kLongestPhrase; ++period) {
    const std::size_t needed = std::max(kTimes * period, kLeastTokens);
    if (tokens.size() < needed) continue;
    std::size_t same = 0;  // tokens at the end that equal the one a period before
    while (same + period < tokens.size() &&
           tokens[tokens.size() - 1 - same] == tokens[tokens.size() - 1 - same - period]) {
      ++same;
    }
    if (same + period >= needed) return same;
  }
  return 0;
}

MoonshineRecogniser::MoonshineRecogniser(const OnnxRuntimePtr& runtime, const ModelFolders& models,
                                         const MoonshineOptions& options)
    : options_(options),
      encoder_(runtime, models, "moonshine/encoder_model.onnx"),
      decoder_(runtime, models, "moonshine/decoder_model_merged.onnx",
               // The table of all tokens is stored as bytes: unpacking it for every token took a
               // third of the time.
               {.unpack_weights = true}),
      detector_(runtime, models) {
  pieces_ = ParseTokenTable(models.Read("moonshine/tokens.txt"),
                            models.Require("moonshine/tokens.txt").string());
  encoder_.Input("input_values");
  encoder_.Output("last_hidden_state");
  for (const char* name : {"input_ids", "encoder_hidden_states", "use_cache_branch"}) {
    decoder_.Input(name);
  }
  decoder_.Output("logits");
  for (const TensorInfo& input : decoder_.Inputs()) {
    if (!input.name.starts_with(kPastPrefix)) continue;
    Cache cache;
    cache.past = input.name;
    cache.present = "present." + input.name.substr(kPastPrefix.size());
    decoder_.Output(cache.present);
    cache.of_encoder = input.name.find(".encoder.") != std::string::npos;
    // batch, heads, time, channels: nothing is remembered at the start
    if (input.shape.size() != 4 || input.shape[1] < 1 || input.shape[3] < 1) {
      throw Error(
          fmt::format("moonshine/decoder_model_merged.onnx: '{}' is not a cache", input.name));
    }
    cache.empty_shape = {1, input.shape[1], 0, input.shape[3]};
    caches_.push_back(std::move(cache));
  }
}

std::vector<std::int64_t> MoonshineRecogniser::Decode(std::span<const float> x) const {
  const OnnxRuntimePtr& runtime = encoder_.Runtime();
  std::vector<float> padded(x.begin(), x.end());
  padded.resize(std::max(padded.size(), kShortest), 0.0F);
  const OnnxTensor sound =
      OnnxTensor::Floats(runtime, padded, {1, static_cast<std::int64_t>(padded.size())});
  const std::array<OnnxSession::Named, 1> heard = {{{"input_values", &sound}}};
  const std::array<std::string, 1> hidden_name = {"last_hidden_state"};
  const std::vector<OnnxTensor> hidden = encoder_.Run(heard, hidden_name);
  return Write(hidden[0], static_cast<double>(padded.size()) / kRecogniserRateHz);
}

std::vector<std::int64_t> MoonshineRecogniser::Write(const OnnxTensor& hidden,
                                                     double seconds) const {
  const OnnxRuntimePtr& runtime = encoder_.Runtime();
  std::vector<OnnxTensor> past;
  for (const Cache& cache : caches_) {
    past.push_back(OnnxTensor::Floats(runtime, {}, cache.empty_shape));
  }
  const auto limit = static_cast<std::size_t>(std::ceil(options_.tokens_per_second * seconds));
  std::vector<std::int64_t> tokens;
  std::int64_t last = kStart;
  while (tokens.size() < limit) {
    const bool first = tokens.empty();
    const OnnxTensor ids = OnnxTensor::Ints(runtime, {&last, 1}, {1, 1});
    const OnnxTensor use_cache = OnnxTensor::Bool(runtime, !first);
    std::vector<OnnxSession::Named> inputs = {
        {"input_ids", &ids}, {"encoder_hidden_states", &hidden}, {"use_cache_branch", &use_cache}};
    // With a cache the model gives no new keys of the encoder: the first ones stay.
    std::vector<std::string> outputs = {"logits"};
    for (std::size_t c = 0; c < caches_.size(); ++c) {
      inputs.emplace_back(caches_[c].past, &past[c]);
      if (first || !caches_[c].of_encoder) outputs.push_back(caches_[c].present);
    }
    std::vector<OnnxTensor> results = decoder_.Run(inputs, outputs);
    const std::span<const float> logits = results[0].Floats();
    last = std::max_element(logits.begin(), logits.end()) - logits.begin();
    if (last == kEnd) break;
    tokens.push_back(last);
    if (const std::size_t repeated = RepeatedTail(tokens); repeated > 0) {
      tokens.resize(tokens.size() - repeated);
      break;
    }
    std::size_t next = 1;
    for (std::size_t c = 0; c < caches_.size(); ++c) {
      if (first || !caches_[c].of_encoder) past[c] = std::move(results[next++]);
    }
  }
  return tokens;
}

std::string MoonshineRecogniser::Text(std::span<const std::int64_t> tokens) const {
  std::string text;
  for (const std::int64_t token : tokens) {
    // Numbers beyond the table are marks that stand for no text.
    if (static_cast<std::size_t>(token) < pieces_.size()) {
      text += pieces_[static_cast<std::size_t>(token)];
    }
  }
  while (text.starts_with(' ')) text.erase(0, 1);
  return text;
}

std::string MoonshineRecogniser::TranscribeStates(std::span<const float> states, std::int64_t size,
                                                  double seconds) const {
  const auto count = static_cast<std::int64_t>(states.size()) / size;
  return Text(Write(OnnxTensor::Floats(encoder_.Runtime(), states, {1, count, size}), seconds));
}

std::string MoonshineRecogniser::Transcribe(std::span<const float> x) const {
  if (x.empty()) return {};
  const auto longest = static_cast<std::size_t>(options_.longest_s * kRecogniserRateHz);
  std::vector<std::pair<std::size_t, std::size_t>> parts = {{0, x.size()}};
  if (x.size() > longest) parts = CutAtPauses(detector_.Probabilities(x), x.size(), longest);
  std::string text;
  for (const auto& [begin, end] : parts) {
    const std::string part = Text(Decode(x.subspan(begin, end - begin)));
    if (!text.empty() && !part.empty()) text += ' ';
    text += part;
  }
  return text;
}

}  // namespace sotto
