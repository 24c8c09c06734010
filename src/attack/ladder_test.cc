#include "attack/ladder.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "base/testing.h"

namespace sotto {
namespace {

// --- the field's own anonymiser (B1), as x-vectors ---

EmbeddingSet Join(EmbeddingSet a, const EmbeddingSet& b) {
  EmbeddingSet joined;
  joined.ids = a.ids;
  joined.ids.insert(joined.ids.end(), b.ids.begin(), b.ids.end());
  joined.speakers = a.speakers;
  joined.speakers.insert(joined.speakers.end(), b.speakers.begin(), b.speakers.end());
  joined.genders = a.genders;
  joined.genders.insert(b.genders.begin(), b.genders.end());
  joined.vectors.resize(a.Dimension(), a.vectors.cols() + b.vectors.cols());
  joined.vectors << a.vectors, b.vectors;
  return joined;
}

class XVectorLadder : public ::testing::Test {
 protected:
  static std::filesystem::path Folder(const char* encoder) {
    return testing::SharedFolder() / "data/xvectors" / encoder;
  }
  static EmbeddingSet Read(const char* encoder, const char* suffix, bool enrolls) {
    const auto part = [&](const std::string& name) {
      return ReadEmbeddings(Folder(encoder) / (name + suffix));
    };
    const EmbeddingSet trials = Join(part("trials_f"), part("trials_m"));
    return enrolls ? Join(part("enrolls"), trials) : trials;
  }
};

TEST_F(XVectorLadder, ReproducesTheKnownPictureOfB1) {
  SOTTO_NEEDS_SHARED("data/xvectors");
  AttackMaterial material;
  material.base.original = Read("b1", "", true);
  material.base.released = Read("b1", "_anon", false);
  material.base.own_enrolment = ReadEmbeddings(Folder("b1") / "enrolls_anon");
  material.retrained.emplace();
  material.retrained->released = Read("b1_retrained_encoder", "_anon", false);
  material.retrained->own_enrolment =
      ReadEmbeddings(Folder("b1_retrained_encoder") / "enrolls_anon");
  PlanOptions plan_options;
  plan_options.l = {0};
  for (const char* list : {"trials_f/trials", "trials_m/trials"}) {
    const auto path = Folder("b1") / list;
    const auto lines = ParseTrialList(ReadTextFile(path), path.string());
    plan_options.listed.insert(plan_options.listed.end(), lines.begin(), lines.end());
  }
  const TrialPlan plan(*material.base.original, plan_options);
  LadderOptions options;
  options.verify.resamples = 0;
  options.map_points = 0;
  const LadderResult result = RunLadder(plan, material, options);
  for (const auto& row : result.unprotected) {
    printf("%s %s %s %d %.4f top1 %.3f\n", row.attacker.c_str(), row.backend.c_str(), row.impostors.c_str(),
           row.l, row.Value("eer"), row.Value("top_k.1"));
  }
  for (const auto& row : result.rows) {
    printf("%s %s %s %d %d %.4f top1 %.3f %s\n", row.attacker.c_str(), row.backend.c_str(), row.impostors.c_str(),
           row.l, row.ran, row.Value("eer"), row.Value("top_k.1"), row.reason.c_str());
    for (auto& f : row.figures) if (!row.links_speakers) printf("  %s %.4f\n", f.name.c_str(), f.value);
  }
}

}  // namespace
}  // namespace sotto
