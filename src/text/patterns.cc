#include "text/patterns.h"

#include <algorithm>
#include <cstddef>

#include "text/lexemes.h"
#include "text/patterns_scan.h"

namespace sotto {

std::vector<Entity> PatternFinder::Find(std::string_view text) const {
  const LexedText lexed(text);
  PatternScan scan(lexed);
  FindAddresses(scan);
  FindSpokenAddresses(scan);
  FindFixedForms(scan);
  FindDates(scan);
  FindTimes(scan);
  FindCodes(scan);
  // Those that overlap stand together; each such group is settled by itself, since to settle all
  // of a long text at once would take the square of its length.
  std::vector<Entity> found = scan.found();
  std::sort(found.begin(), found.end(),
            [](const Entity& a, const Entity& b) { return a.begin < b.begin; });
  std::vector<Entity> kept;
  for (std::size_t first = 0; first < found.size();) {
    std::size_t last = first + 1;
    std::size_t end = found[first].end;
    for (; last < found.size() && found[last].begin < end; ++last) {
      end = std::max(end, found[last].end);
    }
    if (last == first + 1) {
      kept.push_back(found[first]);
    } else {
      const auto settled = WithoutOverlap({found.begin() + static_cast<std::ptrdiff_t>(first),
                                           found.begin() + static_cast<std::ptrdiff_t>(last)});
      kept.insert(kept.end(), settled.begin(), settled.end());
    }
    first = last;
  }
  return kept;
}

}  // namespace sotto
