/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A registry of two rows, found before ramp's own on the include path. */
#ifndef RAMP_REGISTRY_H
#define RAMP_REGISTRY_H

#include <ramp/traits.h>

#include "careful.h"
#include "forms.h"

#define RAMP_ALGORITHMS(X)                                                                       \
	X(careful, CAREFUL, RAMP_PACES | RAMP_NEEDS_HISTORY, "careful-resume",                   \
	  "a sketch of Careful Resume",                                                          \
	  "jump to half of what the path held last time, and take it back if that was too much") \
	X(forms, FORMS, RAMP_PACES, "forms", "a test", "says what its parameters say")

#endif
