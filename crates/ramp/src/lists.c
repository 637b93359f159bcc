/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The lists of the contract as the preprocessor writes them out; build.rs makes Rust of that. */
#include <ramp/registry.h>

#define WORD(NAME, word, meaning) ramp_entry NAME word, meaning
#define EXIT(NAME, word, unit, limit, comparison, clause) \
	ramp_entry NAME word, unit, limit, comparison, clause
#define TRAIT(NAME, word, meaning) ramp_entry NAME RAMP_##NAME word, meaning
#define OWN_EXIT(NAME, id) ramp_entry NAME id
#define OVERRIDE(ENVIRONMENT, value, id, parameter, reason) \
	ramp_entry ENVIRONMENT value #id, #parameter, reason

ramp_version RAMP_CONTRACT
ramp_list HintSource RAMP_HINTS(WORD)
ramp_list EventKind RAMP_EVENTS(WORD)
ramp_list Phase RAMP_PHASES(WORD)
ramp_list ExitReason RAMP_EXITS(EXIT)
ramp_list Traits RAMP_TRAITS(TRAIT)
ramp_list Needs RAMP_NEEDS(TRAIT)
ramp_list Families RAMP_FAMILIES(TRAIT)
ramp_list OwnExits RAMP_OWN_EXITS(OWN_EXIT)
ramp_list Overrides RAMP_OVERRIDES(OVERRIDE)
ramp_end
