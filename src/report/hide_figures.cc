#include "report/hide_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "report/json_values.h"

namespace sotto {
namespace {

// "gender: F 255, M 495".
std::string SpeakersText(const HiddenAttribute& attribute,
                         const std::vector<std::size_t>& speakers) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < speakers.size(); ++k) {
    parts.push_back(fmt::format("{} {}", attribute.categories[k], speakers[k]));
  }
  return fmt::format("{}: {}", attribute.name, fmt::join(parts, ", "));
}

}  // namespace

std::string PrintedHider(const Hider& hider, const HiderInput& input, double seconds,
                         const std::string& file, bool json) {
  const HiderHeader& header = hider.Header();
  if (json) {
    JsonFields f;
    f("file", file)("method", header.method)("dimension", hider.Dimension());
    f("encoder")("name", header.encoder.encoder)("fingerprint", header.encoder.fingerprint);
    f("voiceprints", input.data.speaker.size());
    for (std::size_t a = 0; a < header.attributes.size(); ++a) {
      JsonFields of = f("speakers")(header.attributes[a].name);
      for (std::size_t k = 0; k < input.speakers[a].size(); ++k) {
        of(header.attributes[a].categories[k], input.speakers[a][k]);
      }
    }
    f("left_out", input.left_out)("training", header.training);
    f("asks_for_categories", hider.AsksForCategories());
    f("noisy_coordinates", hider.NoisyRows());
    if (hider.NoisyRows() > 0) f("l1_bound", hider.L1Bound());
    return f("seconds", seconds).Text();
  }
  std::string text = fmt::format("{}: {}, {}\n", file, header.method, header.training);
  for (std::size_t a = 0; a < header.attributes.size(); ++a) {
    text += fmt::format("speakers by {}\n", SpeakersText(header.attributes[a], input.speakers[a]));
  }
  if (input.left_out > 0) text += fmt::format("{} speakers left out\n", input.left_out);
  if (hider.NoisyRows() > 0) {
    text += fmt::format("noise can be put on {} coordinates of L1 norm {:.6g} at most\n",
                        hider.NoisyRows(), hider.L1Bound());
  }
  return text + fmt::format("{:.1f} s\n", seconds);
}

}  // namespace sotto
