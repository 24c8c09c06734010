// The voiceprints of a study of defences: those that attackers train on and those that are tested.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "speaker/attributes.h"
#include "speaker/embed_corpus.h"
#include "speaker/embeddings.h"
#include "speaker/hider.h"
#include "speaker/hider_sources.h"

namespace sotto {

struct HidingSources {
  std::vector<std::filesystem::path> fit;     // defences; empty: models are given
  std::vector<std::filesystem::path> attack;  // attackers
  std::vector<std::filesystem::path> test;    //
  std::filesystem::path labels;               // a table; empty: the genders of spk2gender
  std::string attribute = "gender";
  std::vector<std::string> unknown;  // as HiderSources
};

struct HidingVoices {
  AttributeLabels labels;  // of everybody below, of categories that occur
  EmbeddingSet attack, test;
  std::vector<std::string> folders;    // tested: their names
  std::vector<std::size_t> folder_of;  // of each voiceprint tested
  EncoderRecord encoder;               // empty: the files do not say
};

// Ids with a '#' are crops of an utterance ("84-0001#2"): attackers hear all there is, error rates
// are of whole utterances.
bool IsCrop(const std::string& id);

// Appends the voiceprints of one source, `where`. Throws Error where they are none, of nobody, of
// another dimension or all zeros, or where a speaker's gender is another than before.
void AppendVoices(EmbeddingSet& to, const EmbeddingSet& from, const std::string& where);

// Throws Error where a folder is of another encoder or dimension, a voiceprint is all zeros, a
// speaker has no label, all have the same one, or a speaker who is tested is among those fitted or
// trained on.
HidingVoices ReadHidingVoices(const HidingSources& sources);
// What defences are fitted on: speakers of the same name are one person.
HiderData ReadFitVoices(const HidingSources& sources);

// The categories of these voiceprints as the defence numbers them. Throws Error where it hides
// another attribute, or has no such category, or asks for attributes that nobody told.
Categories CategoriesFor(const Hider& hider, const AttributeLabels& labels,
                         const EmbeddingSet& set);

}  // namespace sotto
