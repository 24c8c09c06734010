// The report of `sotto assess verify`.
#pragma once

#include <string>

#include "assess/trials.h"
#include "assess/verify.h"
#include "report/assess_page.h"

namespace sotto {

AssessPage VerifyPage(const Trials& trials, const ScoreLevels& data, const VerifyResult& result,
                      const VerifyOptions& options, const std::string& source);

}  // namespace sotto
