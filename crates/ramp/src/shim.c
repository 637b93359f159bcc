/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The registry as a table that Rust can read. No algorithm is named here. */
#include <stddef.h>

#include <ramp/history.h>
#include <ramp/registry.h>

struct ramp_parameter_row {
	const char *name, *unit;
	ramp_u64 initial, minimum, maximum;
	const char *source, *meaning;
};

struct ramp_algorithm_row {
	const char *id, *name, *source, *idea;
	ramp_u32 traits;
	size_t state_bytes;
	const struct ramp_parameter_row *parameters;
	size_t parameter_count;
	void (*init)(void *, const struct ramp_config *, struct ramp_decision *);
	void (*on_ack)(void *, const struct ramp_ack *, struct ramp_decision *);
	void (*on_event)(void *, const struct ramp_event *, struct ramp_decision *);
};

#define PARAMETER(NAME, name, unit, initial, minimum, maximum, source, meaning) \
	{#name, unit, initial, minimum, maximum, source, meaning},

#define SHIM(id, NAME, traits, name, source, idea)                                           \
	static const struct ramp_parameter_row id##_parameters[] = {                         \
		RAMP_##NAME##_PARAMETERS(PARAMETER, NAME){NULL, NULL, 0, 0, 0, NULL, NULL}}; \
	static void id##_init(void *s, const struct ramp_config *c, struct ramp_decision *d) \
	{                                                                                    \
		ramp_##id##_init((struct ramp_##id *)s, c, d);                               \
	}                                                                                    \
	static void id##_on_ack(void *s, const struct ramp_ack *a, struct ramp_decision *d)  \
	{                                                                                    \
		ramp_##id##_on_ack((struct ramp_##id *)s, a, d);                             \
	}                                                                                    \
	static void id##_on_event(void *s, const struct ramp_event *e,                       \
				  struct ramp_decision *d)                                   \
	{                                                                                    \
		ramp_##id##_on_event((struct ramp_##id *)s, e, d);                           \
	}

RAMP_ALGORITHMS(SHIM)

#define ROW(id, NAME, traits, name, source, idea)                  \
	{#id,                                                      \
	 name,                                                     \
	 source,                                                   \
	 idea,                                                     \
	 traits,                                                   \
	 sizeof(struct ramp_##id),                                 \
	 id##_parameters,                                          \
	 sizeof(id##_parameters) / sizeof(id##_parameters[0]) - 1, \
	 id##_init,                                                \
	 id##_on_ack,                                              \
	 id##_on_event},

const struct ramp_algorithm_row ramp_algorithm_rows[] = {RAMP_ALGORITHMS(ROW)};
const size_t ramp_algorithm_count = sizeof(ramp_algorithm_rows) / sizeof(ramp_algorithm_rows[0]);

/* The numbers of the contract that Rust writes out again. */
const ramp_u64 ramp_numbers[] = {
	RAMP_UNSET,
	RAMP_AS_HOST_LIKES,
	RAMP_BACK_TO_BACK,
	RAMP_PARAMETERS_MAX,
	RAMP_DELAYED_ACKS,
	RAMP_CWND_LIMITED,
	RAMP_APP_LIMITED,
	RAMP_ECE,
	RAMP_PACED,
	RAMP_RECOVERING,
	RAMP_RATE_APP_LIMITED,
};
const size_t ramp_number_count = sizeof(ramp_numbers) / sizeof(ramp_numbers[0]);

/* The rule of a host's history. */
const ramp_u64 ramp_memory_lifetime_ns = RAMP_MEMORY_LIFETIME_NS;
const ramp_u32 ramp_seen_flags[] = {
	RAMP_RATE_APP_LIMITED,
	RAMP_SEEN_TOLD,
	RAMP_SEEN_CONGESTED,
	RAMP_SEEN_CLOSING,
};

ramp_u32 ramp_history_remember(struct ramp_memory *m, const struct ramp_seen *s)
{
	return ramp_observe(m, s);
}

ramp_u32 ramp_history_recall(struct ramp_memory *m, ramp_u64 now_ns, struct ramp_hint *hint)
{
	return ramp_recall(m, now_ns, hint);
}

const size_t ramp_history_layout[] = {
	sizeof(struct ramp_seen),
	offsetof(struct ramp_seen, now_ns),
	offsetof(struct ramp_seen, initial_window_bytes),
	offsetof(struct ramp_seen, bytes_per_s),
	offsetof(struct ramp_seen, delivered_bytes),
	offsetof(struct ramp_seen, rtt_us),
	offsetof(struct ramp_seen, flags),
	sizeof(struct ramp_memory),
	offsetof(struct ramp_memory, window_bytes),
	offsetof(struct ramp_memory, bytes_per_s),
	offsetof(struct ramp_memory, seen_ns),
	offsetof(struct ramp_memory, taken_ns),
	offsetof(struct ramp_memory, rtt_us),
	offsetof(struct ramp_memory, reserved),
};
