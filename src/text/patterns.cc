#include "text/patterns.h"

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
  return WithoutOverlap(scan.found());
}

}  // namespace sotto
