// A study of defences by folds of speakers, as text and JSON.
#pragma once

#include <string>

#include "attack/hiding_folds.h"

namespace sotto {

std::string FoldsText(const FoldStudy& study);
std::string FoldsJson(const FoldStudy& study);

}  // namespace sotto
