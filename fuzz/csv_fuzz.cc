// The CSV reader on any bytes: it returns a table or throws Error; what it returns reads back the
// same, and the syntactic checks can be run on it.
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
    if (again.header != table.header || again.rows != table.rows) std::abort();
    sotto::SyntacticOptions options;
    options.quasi_identifiers = {table.header.front()};
    options.sensitive = table.header.back();
    sotto::CheckSyntactic(table, options, "fuzz");
  } catch (const sotto::Error&) {
  }
  return 0;
}
