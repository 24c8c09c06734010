// For tests only: Kaldi's files as Kaldi writes them, in binary.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/files.h"
#include "speaker/scoring.h"

namespace sotto::testing {

inline std::string KaldiInt32(Eigen::Index value) {
  const auto size = static_cast<std::int32_t>(value);
  return '\x04' + std::string(reinterpret_cast<const char*>(&size), sizeof size);
}

// Behind the mark "\0B" of a file.
inline std::string KaldiValue(const Eigen::VectorXd& v) {
  return "DV " + KaldiInt32(v.size()) +
         std::string(reinterpret_cast<const char*>(v.data()),
                     static_cast<std::size_t>(v.size()) * sizeof(double));
}
inline std::string KaldiValue(const Eigen::MatrixXd& m) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = m;
  return "DM " + KaldiInt32(m.rows()) + KaldiInt32(m.cols()) +
         std::string(reinterpret_cast<const char*>(rows.data()),
                     static_cast<std::size_t>(m.size()) * sizeof(double));
}

inline std::string KaldiFile(const std::string& content) { return std::string("\0B", 2) + content; }
inline std::string KaldiPlda(const Plda& plda) {
  return KaldiFile("<Plda> " + KaldiValue(plda.mean) + KaldiValue(plda.transform) +
                   KaldiValue(plda.psi) + "</Plda> ");
}
inline std::string KaldiTransform(const AffineTransform& transform) {
  Eigen::MatrixXd m(transform.matrix.rows(), transform.matrix.cols() + 1);
  m << transform.matrix, transform.offset;
  return KaldiFile(KaldiValue(m));
}

inline void WritePldaBackend(const PldaBackend& backend, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  WriteFileAtomically(folder / "mean.vec", KaldiFile(KaldiValue(backend.mean)));
  if (backend.lda) WriteFileAtomically(folder / "transform.mat", KaldiTransform(*backend.lda));
  WriteFileAtomically(folder / "plda", KaldiPlda(backend.plda));
}

}  // namespace sotto::testing
