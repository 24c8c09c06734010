// The ladder on two corpora: makes all that the attackers need from sound.
#pragma once

#include "attack/attack.h"
#include "release/release_record.h"

namespace sotto {

// How pseudonyms were chosen: what row pool-rule needs, or why it is not run.
void SetPoolRule(const PoolRuleRecord& known, AttackMaterial& material);

// options.original and options.released are given. Throws Error where both do not fit together, or
// an encoder is not the release's attacker's.
LadderResult AttackSound(const AttackOptions& options);

}  // namespace sotto
