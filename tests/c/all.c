/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Every function of every algorithm, called, so that each language generates code for it. */
#include <ramp/registry.h>

#define CALL(id, NAME, traits, name, source, idea)                                                 \
	void call_##id(struct ramp_##id *, const struct ramp_config *, const struct ramp_ack *,    \
		       const struct ramp_event *, struct ramp_decision *);                         \
	void call_##id(struct ramp_##id *s, const struct ramp_config *c, const struct ramp_ack *a, \
		       const struct ramp_event *e, struct ramp_decision *d)                        \
	{                                                                                          \
		ramp_##id##_init(s, c, d);                                                         \
		ramp_##id##_on_ack(s, a, d);                                                       \
		ramp_##id##_on_event(s, e, d);                                                     \
	}

RAMP_ALGORITHMS(CALL)
