// Any bytes as the beginning of a segment's file: none, or a header that fits the file's size and
// is written again as the same bytes. The first byte chooses the file, the next eight are its size.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "privasp/material_store.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using sotto::SegmentHeader;
  std::uint64_t file_bytes = 0;
  if (size < 1 + sizeof file_bytes) return 0;
  const auto file = data[0] % 2 == 0 ? SegmentHeader::File::kMaterial : SegmentHeader::File::kKeys;
  std::memcpy(&file_bytes, data + 1, sizeof file_bytes);
  const auto start = std::span(data, size).subspan(1 + sizeof file_bytes);
  const auto header = SegmentHeader::Parse(file, start, file_bytes);
  if (!header) return 0;
  const auto written = header->Serialise(file);
  if (written.size() > std::min(start.size(), SegmentHeader::kMostBytes) ||
      !std::equal(written.begin(), written.end(), start.begin()) ||
      header->FileBytes(file) != file_bytes || header->pieces == 0 ||
      header->pieces > sotto::MaterialStore::kMaxPieces) {
    std::abort();
  }
  return 0;
}
