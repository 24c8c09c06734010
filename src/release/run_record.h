// What a run of `sotto anonymise` says about itself: to the user, in sotto-run.json, in the files.
#pragma once

#include <string>
#include <vector>

#include "release/anonymise.h"

namespace sotto {

// What the options mean for privacy, where they weaken it.
std::vector<std::string> PrivacyNotes(const AnonymiseOptions& options);

// sotto-run.json: method, parameters and counts that attackers are assumed to know; no key, no
// draw, nothing of the originals.
std::string RunRecord(const AnonymiseOptions& options, const AnonymiseReport& report,
                      const std::string& version);

// What a marked file says about itself (--mark).
std::string MarkText(const VoiceOptions& options);

}  // namespace sotto
