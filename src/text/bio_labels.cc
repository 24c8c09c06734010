#include "text/bio_labels.h"

namespace sotto {

std::vector<Entity> EntitiesOf(std::span<const Token> tokens, std::span<const BioLabel> labels) {
  std::vector<Entity> entities;
  BioLabel before = kOutside;
  for (std::size_t i = 0; i < tokens.size() && i < labels.size(); ++i) {
    const BioLabel label = labels[i];
    if (label != kOutside) {
      if (IsBegin(label) || !MayFollow(before, label)) {
        entities.push_back({tokens[i].begin, tokens[i].end, TypeOf(label)});
      } else {
        entities.back().end = tokens[i].end;
      }
    }
    before = label;
  }
  return entities;
}

}  // namespace sotto
