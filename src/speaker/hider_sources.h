// What a defence is fitted on, from the files somebody names: folders of embeddings, and labels of
// their speakers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "speaker/hider.h"

namespace sotto {

struct HiderSources {
  std::vector<std::filesystem::path> embeddings;  // each is a domain of its own
  // Tables (speaker/attributes.h): one for all, or one for each of `embeddings`. None: the genders
  // of spk2gender.
  std::vector<std::filesystem::path> labels;
  std::vector<std::string> attributes = {"gender"};
  // Speakers with these labels are left out, and if there are any of them (one may be empty), so
  // are speakers without a label.
  std::vector<std::string> unknown;
  // Speakers of the same name in two folders are one person.
  bool merge_speakers = false;
};

struct HiderInput {
  HiderData data;
  std::vector<std::vector<std::size_t>> speakers;  // of each category of each attribute
  std::size_t left_out = 0;                        // speakers
};

// Throws Error for embeddings without speakers, of two encoders, of two dimensions or all zeros;
// for speakers without a label, of whom one name has two labels, or who are of an unknown gender;
// and where all are alike.
HiderInput ReadHiderInput(const HiderSources& sources);

}  // namespace sotto
