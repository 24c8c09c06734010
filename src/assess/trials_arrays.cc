// Scores as two arrays: NumPy's .npy (format 1.0 to 3.0) and raw little-endian float64.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "assess/trials.h"
#include "base/error.h"
#include "base/files.h"
#include "base/npy.h"

namespace sotto {
namespace {

static_assert(std::endian::native == std::endian::little);

void RefuseNan(const std::vector<double>& values, const std::string& where) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      throw Error(fmt::format("{}: element {} is NaN; scores are numbers, inf or -inf", where, i));
    }
  }
}

std::vector<double> ReadArray(const std::filesystem::path& path) {
  const std::string bytes = ReadTextFile(path, kLargestFile);
  if (path.extension() == ".npy") return ParseNpy(bytes, path.string());
  if (path.extension() == ".f64") return ParseF64(bytes, path.string());
  throw Error(fmt::format("'{}' is neither .npy nor .f64", path.string()));
}

}  // namespace

std::vector<double> ParseNpy(std::string_view bytes, const std::string& where) {
  const NpyView view = ParseNpyView(bytes, where);
  if (view.shape.size() != 1) {
    throw Error(fmt::format("{}: the .npy array must have one dimension", where));
  }
  std::vector<double> values = view.Doubles();
  RefuseNan(values, where);
  return values;
}

std::vector<double> ParseF64(std::string_view bytes, const std::string& where) {
  if (bytes.size() % 8 != 0) {
    throw Error(fmt::format("{}: {} bytes are not a whole number of float64", where, bytes.size()));
  }
  std::vector<double> values(bytes.size() / sizeof(double));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  RefuseNan(values, where);
  return values;
}

Trials ReadTrialArrays(const std::filesystem::path& tar, const std::filesystem::path& non) {
  Trials trials;
  trials.scores = ReadArray(tar);
  trials.is_target.assign(trials.scores.size(), 1);
  const std::vector<double> other = ReadArray(non);
  trials.scores.insert(trials.scores.end(), other.begin(), other.end());
  trials.is_target.resize(trials.scores.size(), 0);
  return trials;
}

}  // namespace sotto
