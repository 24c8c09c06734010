// What is said of speakers besides their names: gender, age group, accent. One label for each
// attribute and speaker, from a closed list of categories.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "speaker/embeddings.h"

namespace sotto {

struct AttributeLabels {
  std::string name;                       // "gender"
  std::vector<std::string> categories;    // in order of name, two or more
  std::map<std::string, int> of_speaker;  // index into categories; those not labelled are absent

  // The category of each embedding. Throws Error that counts the speakers without one.
  std::vector<int> Of(const EmbeddingSet& set, const std::string& where) const;
  // Those of `set` that are labelled.
  EmbeddingSet Labelled(const EmbeddingSet& set) const;
};

// The genders of spk2gender: F and M. Throws Error when one of them is absent.
AttributeLabels GenderLabels(const EmbeddingSet& set, const std::string& where);

// Speaker and word, of a table (TSV with a header) with the columns "speaker" and `attribute`, one
// row for each speaker or for each of their recordings; an empty cell says that it is not known,
// and so does each of `unknown`. Throws Error without the columns, or where a speaker has two
// words.
std::map<std::string, std::string> ReadAttributeWords(const std::filesystem::path& table,
                                                      const std::string& attribute,
                                                      const std::vector<std::string>& unknown = {});
// The same as labels. Throws Error where all are alike.
AttributeLabels ReadAttributeLabels(const std::filesystem::path& table,
                                    const std::string& attribute,
                                    const std::vector<std::string>& unknown = {});

}  // namespace sotto
