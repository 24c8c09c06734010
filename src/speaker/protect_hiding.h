// Embeddings protected by a defence that hides attributes of their speakers (speaker/hider.h): the
// model is read from its file, fits the embeddings or is refused, and is told of the owners what it
// asks for.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "speaker/hider.h"

namespace sotto {

struct HiderProtection {
  std::string method;           // of ProgramHiders(): what the model must be one of
  std::filesystem::path model;  // of sotto train hide; empty: the program's own, where it has one
  // A table with the columns speaker and those of the attributes, for a defence that asks for them;
  // empty: the genders of spk2gender.
  std::filesystem::path labels;
  HideOptions options;
};

// What may be said of such a run: of the model, of what was asked for and of counts. No voiceprint
// and no owner's attribute is among it.
struct HidingFacts {
  std::string method, model;            // the model's fingerprint
  std::vector<std::string> attributes;  // that are hidden
  Eigen::Index dimension = 0;           // of what is released
  Eigen::Index noised = 0, latent = 0;  // coordinates that can be noised, of how many
  std::optional<double> eps;            // of a draw; none: no noise
  ProtectPer per = ProtectPer::kSpeaker;
  std::size_t draws = 0;     // for the speaker with most
  double eps_speaker = 0.0;  // what these spend
};

struct Hiding {
  EmbeddingSet set;  // without genders, where the defence hides these
  HidingFacts facts;
  // Where the released voiceprints lie: a space of the encoder and the model together, which is not
  // that of either.
  EncoderRecord space;
};

// `encoder`: what made `source`, where its files say; for the program's own model they must. Throws
// Error for a model that is damaged, of another method or of another encoder, for none where the
// method has none in the program, for labels that are missing, that the model does not know or that
// it does not ask for, and as HideAttributes.
Hiding HideInEmbeddings(const EmbeddingSet& source, const std::optional<EncoderRecord>& encoder,
                        const HiderProtection& protection, const Key& key);

}  // namespace sotto
