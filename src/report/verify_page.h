// What `sotto assess verify` has to say: as JSON, as text and as a page.
#pragma once

#include <string>

#include "assess/trials.h"
#include "assess/verify.h"
#include "report/assess_page.h"

namespace sotto {

// As text, or as JSON.
std::string PrintedVerify(const Trials& trials, const ScoreLevels& data, const VerifyResult& result,
                          const VerifyOptions& options, bool json);
AssessPage VerifyPage(const Trials& trials, const ScoreLevels& data, const VerifyResult& result,
                      const VerifyOptions& options, const std::string& source);

}  // namespace sotto
