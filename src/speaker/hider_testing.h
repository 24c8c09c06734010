// For tests only: voiceprints of nobody whose attributes show, and parameters of a defence.
#pragma once

#include <map>
#include <string>

#include "base/random.h"
#include "speaker/hider.h"

namespace sotto::testing {

// Values by name, else the method's defaults.
class GivenValues : public ParameterValues {
 public:
  explicit GivenValues(const HiderMethod& method, std::map<std::string, std::string> given = {})
      : method_(method), given_(std::move(given)) {}
  bool Has(std::string_view name) const override { return given_.contains(std::string(name)); }
  std::string Value(std::string_view name) const override {
    if (Has(name)) return given_.at(std::string(name));
    const Parameter* known = method_.Find(name);
    return known == nullptr ? "" : known->preset;
  }

 private:
  const HiderMethod& method_;
  std::map<std::string, std::string> given_;
};

// Speakers of gender s mod 2 and, where it is asked for, age group (s div 2) mod 3, three
// voiceprints each. Coordinates are uniform on ±½ for the speaker, ±¼ for the voiceprint, plus
// `shift` for women in coordinate 0, in 1 (half of it), and for the age groups in coordinate 2.
// Only uniform numbers, so that other programs can repeat them to the last bit.
inline HiderData AttributeVoices(int speakers, int dimension, std::uint64_t seed,
                                 float shift = 0.5F, bool ages = false) {
  SeededRng rng(seed);
  HiderData data;
  const int n = 3 * speakers;
  data.header.attributes = {{"gender", {"F", "M"}}};
  if (ages) data.header.attributes.push_back({"age", {"old", "older", "young"}});
  data.x.resize(dimension, n);
  data.categories.resize(std::ssize(data.header.attributes), n);
  for (int s = 0; s < speakers; ++s) {
    Eigen::VectorXf centre(dimension);
    for (float& c : centre) c = static_cast<float>(rng.Uniform()) - 0.5F;
    if (s % 2 == 0) centre[0] += shift, centre[1] += 0.5F * shift;
    if (ages) centre[2] += shift * static_cast<float>(s / 2 % 3);
    for (int u = 0; u < 3; ++u) {
      const int i = 3 * s + u;
      for (int k = 0; k < dimension; ++k) {
        data.x(k, i) = centre[k] + 0.5F * (static_cast<float>(rng.Uniform()) - 0.5F);
      }
      data.categories(0, i) = s % 2;
      if (ages) data.categories(1, i) = s / 2 % 3;
      data.speaker.push_back(s);
      data.domain.push_back(0);
    }
  }
  return data;
}

}  // namespace sotto::testing
