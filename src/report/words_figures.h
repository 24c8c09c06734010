// What words tell of gender and age (attack/word_study.h): tables 13 and 14 of COMPRISE D2.2 with
// ours beside, as text, JSON, CSV and a page.
#pragma once

#include <string>
#include <vector>

#include "attack/word_study.h"
#include "report/assess_page.h"

namespace sotto {

std::string WordsText(const WordStudy& study);
std::string WordsJson(const WordStudy& study);
// A line for each row, in plain numbers.
std::string WordsCsv(const WordStudy& study);
AssessPage WordsPage(const WordStudy& study);

// Table 13: how many speakers of each class, the published ones first.
PageTable WordsSizeTable(const WordStudy& study);
// Table 14 of one corpus and attribute.
PageTable WordsTable(const WordStudy& study, std::size_t corpus, std::size_t attribute);
// What one must know to read them.
std::vector<std::string> WordsNotes(const WordStudy& study);

}  // namespace sotto
