#include "speaker/protect_hiding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/digest.h"
#include "base/error.h"
#include "speaker/attributes.h"

namespace sotto {
namespace {

using Eigen::Index;
using Words = std::map<std::string, std::string>;

constexpr const char* kGender = "gender";

// The file of the method's model in the program. Throws Error where it has none.
TensorFile OwnModel(const std::string& method, const std::string& name) {
  const std::string_view bytes = ProgramHiders().Find(method)->OwnModel();
  if (bytes.empty()) {
    throw Error(
        fmt::format("method {} has no model in the program: name one with --model", method));
  }
  return ParseTensorFile(bytes, name);
}

std::unique_ptr<Hider> ReadModel(const HiderProtection& protection,
                                 const std::optional<EncoderRecord>& encoder) {
  const bool own = protection.model.empty();
  const std::string name = own ? "the program's own model" : protection.model.string();
  auto hider = own ? ParseHider(OwnModel(protection.method, name)) : ReadHider(protection.model);
  const HiderHeader& header = hider->Header();
  if (header.method != protection.method) {
    throw Error(fmt::format("'{}' is a model of method {}; the method here is {}", name,
                            header.method, protection.method));
  }
  const std::string& fitted = header.encoder.fingerprint;
  // Whoever names a file says that it fits; nobody said so of the program's own.
  if (own && !encoder) {
    throw Error(
        fmt::format("these voiceprints do not say which encoder made them (no encoder.json beside "
                    "them): {} is for those of its own encoder {} ({}) alone",
                    name, header.encoder.encoder, fitted.substr(0, 8)));
  }
  if (encoder && (own || !fitted.empty()) && fitted != encoder->fingerprint) {
    throw Error(
        fmt::format("'{}' was fitted to voiceprints of encoder {} ({}), these are of {} ({}): fit "
                    "one to theirs",
                    name, header.encoder.encoder, fitted.substr(0, 8), encoder->encoder,
                    encoder->fingerprint.substr(0, 8)));
  }
  return hider;
}

Words OwnersWords(const EmbeddingSet& source, const std::string& attribute,
                  const std::filesystem::path& labels) {
  Words words;
  if (!labels.empty()) {
    words = ReadAttributeWords(labels, attribute);
    if (attribute != kGender) return words;
    for (auto& [speaker, word] : words) {
      if (const Gender gender = ParseGender(word); gender != Gender::kUnknown) word = Name(gender);
    }
    return words;
  }
  if (attribute != kGender) {
    throw Error(fmt::format("the model asks for each owner's {}: --labels is needed", attribute));
  }
  for (const auto& [speaker, gender] : source.genders) words.emplace(speaker, Name(gender));
  return words;
}

// One row of Categories.
Eigen::RowVectorXi OwnersCategories(const EmbeddingSet& source, const HiddenAttribute& attribute,
                                    const std::filesystem::path& labels) {
  const Words words = OwnersWords(source, attribute.name, labels);
  Eigen::RowVectorXi row(std::ssize(source.ids));
  std::set<std::string> missing, unknown;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto word = words.find(source.speakers.at(i));
    if (word == words.end()) {
      missing.insert(source.speakers[i]);
      continue;
    }
    const auto& known = attribute.categories;
    const auto place = std::find(known.begin(), known.end(), word->second);
    if (place == known.end()) unknown.insert(word->second);
    row[static_cast<Index>(i)] = static_cast<int>(place - known.begin());
  }
  const std::string where = labels.empty() ? "spk2gender" : labels.string();
  if (!missing.empty()) {
    throw Error(fmt::format(
        "{}: the model asks for each owner's {}, and {} of {} speakers have none (the "
        "first: '{}')",
        where, attribute.name, missing.size(), source.BySpeaker().size(), *missing.begin()));
  }
  if (!unknown.empty()) {
    throw Error(fmt::format("{}: the model knows {} {}, not {}", where, attribute.name,
                            ListOf(attribute.categories, "and"),
                            ListOf({unknown.begin(), unknown.end()})));
  }
  return row;
}

Categories AllCategories(const Hider& hider, const EmbeddingSet& source,
                         const HiderProtection& protection) {
  if (!hider.AsksForCategories()) {
    if (protection.labels.empty()) return {};
    throw Error(fmt::format("'{}' does not ask for the owners' attributes: leave --labels out",
                            protection.model.string()));
  }
  const auto& attributes = hider.Header().attributes;
  Categories all(std::ssize(attributes), std::ssize(source.ids));
  for (std::size_t a = 0; a < attributes.size(); ++a) {
    all.row(static_cast<Index>(a)) = OwnersCategories(source, attributes[a], protection.labels);
  }
  return all;
}

// How many coordinates lie between Latent() and FromLatent(), found by nobody's voiceprint.
Index LatentSize(const Hider& hider) {
  const Categories first = Categories::Zero(std::ssize(hider.Header().attributes), 1);
  return hider.Latent(Eigen::MatrixXf::Identity(hider.Dimension(), 1), first).rows();
}

}  // namespace

Hiding HideInEmbeddings(const EmbeddingSet& source, const std::optional<EncoderRecord>& encoder,
                        const HiderProtection& protection, const Key& key) {
  const auto hider = ReadModel(protection, encoder);
  const HiderHeader& header = hider->Header();
  HideRelease release = HideAttributes(*hider, source, AllCategories(*hider, source, protection),
                                       protection.options, key);
  Hiding hiding;
  HidingFacts& facts = hiding.facts;
  facts.method = header.method;
  facts.model = Fingerprint(hider->File());
  for (const HiddenAttribute& attribute : header.attributes) {
    facts.attributes.push_back(attribute.name);
    if (attribute.name == kGender) release.set.genders.clear();
  }
  facts.dimension = release.set.Dimension();
  facts.noised = hider->NoisyRows();
  facts.latent = LatentSize(*hider);
  facts.eps = protection.options.eps;
  facts.per = protection.options.per;
  facts.draws = release.draws_most;
  if (facts.eps) facts.eps_speaker = release.budget.SequentialEpsilon(0.0);
  hiding.set = std::move(release.set);
  const EncoderRecord& from = encoder ? *encoder : header.encoder;
  hiding.space = {(from.encoder.empty() ? "unknown" : from.encoder) + "+" + header.method,
                  ContentDigest(from.fingerprint + "+" + facts.model).substr(0, 16)};
  return hiding;
}

}  // namespace sotto
