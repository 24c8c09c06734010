// The curves of `sotto protect-embedding --curve`: MSE and verification accuracy against epsilon
// and n.
#pragma once

#include <string>

#include "attack/voice_ind_study.h"
#include "report/assess_page.h"

namespace sotto {

std::string StudyJson(const VoiceIndStudy& study);
std::string StudyCsv(const VoiceIndStudy& study);
// As text, or as JSON; `page` is where the page lies.
std::string PrintedStudy(const VoiceIndStudy& study, const std::string& page, bool json);
AssessPage StudyPage(const VoiceIndStudy& study, const std::string& in, const std::string& pool);

}  // namespace sotto
