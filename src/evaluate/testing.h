// For tests only: a small corpus of real speech.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/testing.h"
#include "base/tsv.h"

namespace sotto::testing {

// The `each` shortest utterances of two women and two men of libri_eval, in `folder`; the sound
// files are linked. Gives the speakers.
inline std::vector<std::string> LinkSmallCorpus(const std::filesystem::path& folder,
                                                std::size_t each) {
  const std::filesystem::path source = SharedFolder() / "data/speech/libri_eval";
  const std::string text = ReadTextFile(source / "manifest.tsv");
  const Tsv table = ParseTsv(text, "manifest.tsv");
  const std::size_t speaker = table.Column("speaker"), gender = table.Column("gender"),
                    seconds = table.Column("seconds");
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> by_speaker;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    by_speaker[{std::string(table.rows[i][gender]), std::string(table.rows[i][speaker])}].push_back(
        i);
  }
  std::string manifest;
  const auto add = [&](const auto& fields) {
    for (std::size_t k = 0; k < fields.size(); ++k) {
      if (k > 0) manifest += '\t';
      manifest += fields[k];
    }
    manifest += '\n';
  };
  add(table.header);
  std::map<std::string, int> taken;
  std::vector<std::string> speakers;
  for (auto& [key, rows] : by_speaker) {
    if (taken[key.first]++ >= 2) continue;
    speakers.push_back(key.second);
    std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
      return std::stod(std::string(table.rows[a][seconds])) <
             std::stod(std::string(table.rows[b][seconds]));
    });
    for (std::size_t k = 0; k < each; ++k) add(table.rows[rows[k]]);
  }
  MakeFolder(folder);
  std::filesystem::create_directory_symlink(std::filesystem::absolute(source / "wav"),
                                            folder / "wav");
  WriteFileAtomically(folder / "manifest.tsv", manifest);
  return speakers;
}

}  // namespace sotto::testing
