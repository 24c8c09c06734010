// What the forms of `sotto dp` print: text, or `json`.
#pragma once

#include <cstddef>
#include <string>

#include "dp/account.h"
#include "dp/audit.h"
#include "dp/syntactic.h"
#include "dp/table_release.h"

namespace sotto {

std::string PrintedAccount(const Account& account, bool json);
std::string PrintedNoise(const NoiseWish& wish, const WishedNoise& noise, bool json);
std::string PrintedAudit(const AuditFinding& finding, bool json);

// `table` is the one that was checked; of the groups that break what was asked the text has at most
// `shown`.
std::string PrintedSyntactic(const SyntacticResult& result, const CsvTable& table,
                             const SyntacticOptions& options, std::size_t shown, bool json);

// `file`: where the table was written; empty: it is in the JSON itself.
std::string TableReleaseJson(const TableRelease& release, const TableReleaseOptions& options,
                             const std::string& file);
// The table, or single numbers and choices, a line each.
std::string TableReleaseText(const TableRelease& release);
// The budget and exact counts: for the publisher, not for release.
std::string TableReleaseNote(const TableRelease& release, const TableReleaseOptions& options);

}  // namespace sotto
