// The CSV reader on any bytes: it returns a table or throws Error; what is written of it reads
// back the same, and the syntactic checks can be run on it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/csv.h"
#include "base/error.h"
#include "dp/syntactic.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const sotto::CsvTable table =
        sotto::ParseCsv({reinterpret_cast<const char*>(data), size}, "fuzz");
    const sotto::CsvTable again = sotto::ParseCsv(sotto::FormatCsv(table), "again");
    // Formulas are disarmed once; what was written stays as it is.
    const sotto::CsvTable third = sotto::ParseCsv(sotto::FormatCsv(again), "third");
    if (again.rows.size() != table.rows.size() || third.header != again.header ||
        third.rows != again.rows) {
      std::abort();
    }
    sotto::SyntacticOptions options;
    options.quasi_identifiers = {table.header.front()};
    options.sensitive = table.header.back();
    sotto::CheckSyntactic(table, options, "fuzz");
  } catch (const sotto::Error&) {
  }
  return 0;
}
