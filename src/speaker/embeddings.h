// Sets of speaker embeddings and their files: Kaldi ark/scp (binary and text), NumPy's .npy with a
// list of ids, and folders of them:
//   xvector.ark  binary float32 vectors        utt2spk     utterance and speaker
//   xvector.scp  where each one lies in it     spk2gender  speaker and f or m
//   xvector.npy  (optional) n × d float32      ids         (optional) its utterances, one per line
// Reading is strict: whatever is missing, double or not a number is an Error that says how many.
#pragma once

#include <Eigen/Core>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/gender.h"

namespace sotto {

struct EmbeddingSet {
  std::vector<std::string> ids;           // of utterances, distinct
  Eigen::MatrixXf vectors;                // d × n, one column per id
  std::vector<std::string> speakers;      // of each id; empty when the files do not say
  std::map<std::string, Gender> genders;  // of speakers; those not known are absent

  std::size_t size() const { return ids.size(); }
  Eigen::Index Dimension() const { return vectors.rows(); }
  bool HasSpeakers() const { return !speakers.empty() || ids.empty(); }

  // Those at these places, in this order.
  EmbeddingSet Select(const std::vector<std::size_t>& places) const;
  // Place of every id.
  std::map<std::string, std::size_t> Index() const;
  // Places of the utterances of each speaker, speakers in order of name. Throws Error without
  // speakers.
  std::map<std::string, std::vector<std::size_t>> BySpeaker() const;
  // Speakers without a gender, in order of name.
  std::vector<std::string> WithoutGender() const;
};

// Throws Error naming `where` and the counts when ids repeat or are empty, hold blanks, are
// no UTF-8 or hold control characters, when a number is not finite, or the sizes of the parts
// differ.
void ValidateEmbeddings(const EmbeddingSet& set, const std::string& where);
// Throws Error that counts speakers without a gender and names the first.
void RequireGenders(const EmbeddingSet& set, const std::string& where);

// Any of: a folder as above (utt2spk must be there; spk2gender may name fewer speakers), an .ark,
// .scp or .npy file (without speakers; the .npy has "ids", or its own name with ".ids", beside it).
EmbeddingSet ReadEmbeddings(const std::filesystem::path& path);

enum class ArkForm { kBinary, kText };
struct EmbeddingFiles {
  ArkForm ark = ArkForm::kBinary;
  bool npy = false;  // also xvector.npy and ids
  IfExists if_exists = IfExists::kReplace;
};
// Throws Error that names the first of the files (encoder.json too) that is there and must not be
// replaced: before the work of embedding.
void RefuseExistingEmbeddings(const std::filesystem::path& folder, const EmbeddingFiles& files);
// Writes the folder; speakers must be known. scp lines name "xvector.ark", beside them.
void WriteEmbeddings(const EmbeddingSet& set, const std::filesystem::path& folder,
                     const EmbeddingFiles& files = {});

// The parts, for files in memory.
EmbeddingSet ParseArk(std::string_view bytes, const std::string& where);
std::string SerialiseArk(const EmbeddingSet& set);
EmbeddingSet ParseNpyEmbeddings(std::string_view npy, std::string_view ids,
                                const std::string& where);
// utt2spk and spk2gender onto a set; `where` is the folder's name.
void AddSpeakers(EmbeddingSet& set, std::string_view utt2spk, const std::string& where);
void AddGenders(EmbeddingSet& set, std::string_view spk2gender, const std::string& where);

}  // namespace sotto
