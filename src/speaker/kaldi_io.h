// Kaldi's files of vectors and matrices (Povey et al. 2011, "io-funcs", "kaldi-matrix"): binary
// (FV, DV, FM, DM) and text. Compressed matrices (CM …) and pipes are refused.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <string_view>

namespace sotto {

// Reads one value after the other from bytes in memory. Errors name `where` and the place.
class KaldiReader {
 public:
  KaldiReader(std::string_view bytes, std::string where, std::size_t offset = 0);

  bool AtEnd() const { return at_ == bytes_.size(); }
  std::size_t Offset() const { return at_; }

  // A table's key and the one blank behind it; empty at the end of the file.
  std::string Key();
  // Sees whether "\0B" stands here (binary) and steps over it.
  bool BinaryMark();

  // Values in the form BinaryMark() found.
  void Expect(std::string_view token);  // "<Plda>"
  std::string Token();                  // the next one, without the blank behind it
  std::int32_t Int32(bool binary);      // with its size byte
  double Number(bool binary);           // float or double, with its size byte
  Eigen::VectorXd Vector(bool binary);  // FV, DV or [ 1 2 3 ]
  Eigen::MatrixXd Matrix(bool binary);  // FM, DM or one row per line
  bool LooksLikeToken(std::string_view token) const;
  void SkipBlanks();  // spaces, tabs and newlines

  [[noreturn]] void Fail(const std::string& what) const;

 private:
  std::string_view Take(std::size_t n);
  template <typename Number>
  void Copy(Eigen::Ref<Eigen::VectorXd> to);
  double TextNumber();

  std::string_view bytes_;
  std::string where_;
  std::size_t at_;
};

// Writers; the values are appended to `out`, after "\0B" in the binary form.
void AppendKaldiVector(std::string& out, const Eigen::Ref<const Eigen::VectorXf>& v);
void AppendKaldiTextVector(std::string& out, const Eigen::Ref<const Eigen::VectorXf>& v);

// Whole files that hold one vector ("mean.vec") or one matrix ("transform.mat").
Eigen::VectorXd ParseKaldiVector(std::string_view bytes, const std::string& where);
Eigen::MatrixXd ParseKaldiMatrix(std::string_view bytes, const std::string& where);

}  // namespace sotto
