// Any bytes as a defence that hides attributes: an Error, or one that is written as it was read and
// whose voiceprints have length 1.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "speaker/hider.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto hider = sotto::ParseHider(
        sotto::ParseTensorFile({reinterpret_cast<const char*>(data), size}, "fuzz"));
    const std::string bytes = sotto::SerialiseTensorFile(hider->File(), sotto::StoredAs::kFloat32);
    const auto again = sotto::ParseHider(sotto::ParseTensorFile(bytes, "again"));
    if (sotto::SerialiseTensorFile(again->File(), sotto::StoredAs::kFloat32) != bytes) std::abort();

    sotto::EmbeddingSet set;
    set.ids = {"a", "b"};
    set.speakers = set.ids;
    set.vectors = Eigen::MatrixXf::Ones(hider->Dimension(), 2);
    set.vectors(0, 1) = -1.0F;
    const sotto::Categories categories =
        sotto::Categories::Zero(static_cast<Eigen::Index>(hider->Header().attributes.size()), 2);
    sotto::HideOptions options;
    if (hider->NoisyRows() > 0) options.eps = 1.0;
    static const sotto::Key key = sotto::Key::ForExperiment(sotto::ExperimentKey(1));
    const auto release = sotto::HideAttributes(*hider, set, categories, options, key);
    for (Eigen::Index i = 0; i < 2; ++i) {
      if (!(std::abs(release.set.vectors.col(i).norm() - 1.0F) < 0.01F)) std::abort();
    }
  } catch (const sotto::Error&) {
  }
  return 0;
}
