// Defences that hide attributes in a voiceprint (gender, age group, accent) and keep the speaker.
// Each is fitted once, from voiceprints of other people whose attributes are known, and stored in a
// file; applied to a voiceprint it may need to be told the owner's own attributes, which the device
// of the owner knows.
//
//   x ──Latent──> z ──(noise on the first NoisyRows() coordinates)──> FromLatent ──> x̃
//
// Without noise a defence has no guarantee: what attackers read off x̃ is measured. With noise of
// scale 2C/eps on coordinates of L1 norm at most C, those coordinates are eps-differentially
// private for each draw, whatever the attacker knows (Dwork et al. 2006; Chouchane et al. 2023);
// k draws for one owner cost k·eps. What is not noised, C and the weights are not covered: they
// were learnt from the training speakers, whom no epsilon protects.
#pragma once

#include <Eigen/Core>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/definition_table.h"
#include "base/files.h"
#include "base/random.h"
#include "dp/budget.h"
#include "nn/safetensors.h"
#include "speaker/attributes.h"
#include "speaker/embed_corpus.h"
#include "speaker/embeddings.h"
#include "speaker/voice_indistinguishability.h"

namespace sotto {

struct HiddenAttribute {
  std::string name;
  std::vector<std::string> categories;
};

// One row per attribute, one column per voiceprint; an index into the attribute's categories.
using Categories = Eigen::MatrixXi;

// Who they were fitted on and for which voiceprints.
struct HiderHeader {
  std::string method;     // its name in the table
  EncoderRecord encoder;  // empty: the files did not say
  std::vector<HiddenAttribute> attributes;
  std::string training;  // one line: how many voiceprints and speakers, settings, seed
};

class Hider {
 public:
  Hider(HiderHeader header, Eigen::Index dimension)
      : header_(std::move(header)), dimension_(dimension) {}
  virtual ~Hider() = default;

  const HiderHeader& Header() const { return header_; }
  Eigen::Index Dimension() const { return dimension_; }  // of the voiceprints it takes
  // Whether Latent() looks at the owner's categories.
  virtual bool AsksForCategories() const { return false; }

  // Columns are voiceprints of length 1 (HideAttributes sees to that). `categories` may have no
  // columns unless AsksForCategories().
  virtual Eigen::MatrixXf Latent(const Eigen::Ref<const Eigen::MatrixXf>& x,
                                 const Categories& categories) const = 0;
  virtual Eigen::MatrixXf FromLatent(const Eigen::Ref<const Eigen::MatrixXf>& z) const { return z; }
  // The first coordinates of the latent vector, which noise can be put on; 0: none.
  virtual Eigen::Index NoisyRows() const { return 0; }
  // C: Latent() keeps their L1 norm at or below it, so that two inputs differ by 2C at most.
  virtual double L1Bound() const { return 0.0; }
  // A method whose claim is empty without noise says so here: eps must then be given.
  virtual bool NeedsEpsilon() const { return false; }

  // All of it into a file; the header goes into the metadata.
  TensorFile File() const;

 protected:
  virtual void Store(TensorFile& file) const = 0;

 private:
  HiderHeader header_;
  Eigen::Index dimension_;
};

// What a defence is fitted on: columns of length 1.
struct HiderData {
  Eigen::MatrixXf x;
  Categories categories;
  std::vector<int> speaker;  // of each column, from 0
  std::vector<int> domain;   // of each column, from 0: the corpus it comes from
  HiderHeader header;        // method and training are filled in by Fit
};

// Whether there is an epsilon to choose at use, and whether one must.
enum class HiderNoise { kNone, kOptional, kNeeded };

// A defence, defined in files of its own; flags, help and files come from the table.
class HiderMethod : public TableEntry {
 public:
  using TableEntry::TableEntry;
  // Of all its models: kNone where NoisyRows() is 0, kNeeded where NeedsEpsilon() holds.
  virtual HiderNoise Noise() const { return HiderNoise::kNone; }
  // The file of a model in the program, fitted to voiceprints of its own encoder; empty: none.
  virtual std::string_view OwnModel() const { return {}; }
  // `values`: of Parameters(). Throws Error where the data do not suffice.
  virtual std::unique_ptr<Hider> Fit(HiderData data, const ParameterValues& values) const = 0;
  // Throws Error for a file that is damaged or of another method.
  virtual std::unique_ptr<Hider> Load(const TensorFile& file, HiderHeader header) const = 0;
};

class HiderMethods : public DefinitionTable<HiderMethod> {
 public:
  HiderMethods() : DefinitionTable("defence") {}
};
const HiderMethods& ProgramHiders();

// Any file that a Hider wrote. Throws Error for others.
std::unique_ptr<Hider> ReadHider(const std::filesystem::path& path);
std::unique_ptr<Hider> ParseHider(const TensorFile& file);
// The header alone.
HiderHeader ReadHiderHeader(const TensorFile& file);
void WriteHider(const Hider& hider, const std::filesystem::path& path,
                IfExists if_exists = IfExists::kRefuse);

// The joint category of each column: one number for each combination of all attributes.
std::vector<int> JointCategories(const Categories& categories,
                                 const std::vector<HiddenAttribute>& attributes);

struct HideOptions {
  std::optional<double> eps;  // none: no noise
  // kSpeaker: the noisy coordinates of a speaker are drawn once, from the mean of the speaker's
  // latent vectors, and serve all of their voiceprints; kUtterance: a draw for each.
  ProtectPer per = ProtectPer::kSpeaker;
  std::string context;  // separates releases that share a key
};

struct HideRelease {
  EmbeddingSet set;            // vectors of length 1
  std::size_t draws_most = 0;  // for one speaker; 0 without noise
  Budget budget;               // of that speaker
};

// Draws depend on key, context, id, eps, defence and input, so the same login twice is one draw.
// Throws Error for a vector of zeros, another dimension, eps for a defence without noise, none for
// one that needs it.
HideRelease HideAttributes(const Hider& hider, const EmbeddingSet& source,
                           const Categories& categories, const HideOptions& options,
                           const Key& key);

// Without noise, as fast as it goes: columns of length 1 in and out.
Eigen::MatrixXf HideWithoutNoise(const Hider& hider, const Eigen::Ref<const Eigen::MatrixXf>& x,
                                 const Categories& categories);

}  // namespace sotto
