/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Any sequence of events leaves a sane state, under the sanitizers.
 *
 *     events-gcc [EVENTS [SEED]]
 *
 * Each connection gets random parameters, within or beyond their ranges, and a mixture of plausible
 * ACKs and nonsense. A failure prints the seed and the number of the event.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ramp/registry.h>

static ramp_u64 random_state;

/* Marsaglia's xorshift64*: any generator would do, as long as it is the same everywhere. */
__attribute__((no_sanitize("undefined")))
#ifdef __clang__
__attribute__((no_sanitize("unsigned-integer-overflow")))
#endif
static ramp_u64 random_u64(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1du;
}

static ramp_u64 below(ramp_u64 bound)
{
	return bound ? random_u64() % bound : 0;
}

/* Any number of bits with equal chance, and the ends of the range. */
static ramp_u64 nonsense(void)
{
	switch (below(8)) {
	case 0:
		return 0;
	case 1:
		return ~(ramp_u64)0;
	default:
		return random_u64() >> below(64);
	}
}

struct range {
	ramp_u64 initial, low, high;
};

#define RANGE(NAME, name, unit, initial, low, high, source, meaning) {initial, low, high},
#define MSS 1448u

/* A connection that makes sense, as far as the events go. */
struct host {
	ramp_u64 now_ns, sent, acked;
	ramp_u32 rtt_us;
};

static void random_config(struct ramp_config *c, const struct range *ranges, size_t count)
{
	size_t i;

	memset(c, 0, sizeof(*c));
	c->mss_bytes = below(16) ? MSS : (ramp_u32)nonsense();
	c->flags = (ramp_u32)below(2);
	c->initial_window_bytes = below(8) ? (1 + below(20)) * MSS : nonsense();
	c->initial_ssthresh_bytes = below(4) ? RAMP_UNSET : nonsense();
	c->abc_limit_packets = (ramp_u32)below(4);
	c->size_bytes = nonsense();
	c->receive_window_bytes = nonsense();
	c->now_ns = nonsense();
	c->tsval = (ramp_u32)nonsense();
	c->handshake_rtt_us = (ramp_u32)nonsense();
	c->unpaced_packets = (ramp_u32)below(20);
	c->hint.source = (ramp_u32)below(RAMP_HINT_COUNT);
	c->hint.window_bytes = nonsense();
	c->hint.bytes_per_s = nonsense();
	c->hint.rtt_us = (ramp_u32)nonsense();
	c->hint.age_s = (ramp_u32)nonsense();
	for (i = 0; i < count; i++) {
		c->parameter[i] = ranges[i].initial;
		if (!below(3))
			c->parameter[i] = ranges[i].low +
				below(ranges[i].high - ranges[i].low + 1);
		if (!below(50))
			c->parameter[i] = nonsense();
	}
}

static void plausible_ack(struct host *h, const struct ramp_decision *d, struct ramp_ack *a)
{
	ramp_u64 in_flight, acked;

	memset(a, 0, sizeof(*a));
	while (h->sent - h->acked + MSS <= d->cwnd_bytes && h->sent - h->acked < 4000u * MSS)
		h->sent += MSS;
	in_flight = h->sent - h->acked;
	acked = in_flight < MSS ? in_flight : (1 + below(4) / 2) * (ramp_u64)MSS;
	if (acked > in_flight)
		acked = in_flight;
	h->acked += acked;
	h->now_ns += below(4) ? below(200000) : below(20000000);
	h->rtt_us = 20000 + (ramp_u32)(in_flight / 2000) + (ramp_u32)below(3000);
	a->now_ns = h->now_ns + 1000000000u;
	a->newest_sent_ns = a->now_ns - h->rtt_us * 1000u;
	a->sent_bytes = h->sent;
	a->newest_acked_bytes = h->acked;
	a->delivered_bytes = h->acked;
	a->acked_bytes = acked;
	a->in_flight_bytes = in_flight;
	a->receive_window_bytes = RAMP_UNSET;
	a->pacing_bytes_per_s = d->pacing_bytes_per_s;
	a->rtt_us = below(20) ? h->rtt_us : 0;
	a->mss_bytes = MSS;
	a->flags = below(10) ? RAMP_CWND_LIMITED : (ramp_u32)below(64);
}

static void nonsense_ack(struct ramp_ack *a)
{
	a->now_ns = nonsense();
	a->newest_sent_ns = nonsense();
	a->sent_bytes = nonsense();
	a->newest_acked_bytes = nonsense();
	a->delivered_bytes = nonsense();
	a->acked_bytes = nonsense();
	a->in_flight_bytes = nonsense();
	a->lost_bytes = nonsense();
	a->receive_window_bytes = nonsense();
	a->delivery_bytes_per_s = nonsense();
	a->pacing_bytes_per_s = nonsense();
	a->rtt_us = (ramp_u32)nonsense();
	a->mss_bytes = (ramp_u32)nonsense();
	a->flags = (ramp_u32)nonsense();
	a->tsval = (ramp_u32)nonsense();
}

static const char *fault(const struct ramp_decision *before, const struct ramp_decision *after)
{
	if (before->phase == RAMP_DONE && after->phase == RAMP_DONE)
		return memcmp(before, after, sizeof(*before)) ? "a change after the end" : NULL;
	if (after->phase > RAMP_DONE)
		return "no such phase";
	if (after->phase == RAMP_DONE &&
	    (after->pacing_bytes_per_s || after->burst_until_bytes || after->pacing_burst_bytes ||
	     after->chirp_packets))
		return "a rate after the end";
	if ((after->exit_reason != RAMP_EXIT_NONE) != (after->phase >= RAMP_LEAVING))
		return "exit reason without exit, or exit without reason";
	return NULL;
}

/* Of an ACK alone: what the host wrote at a timeout is its own affair until then. */
static const char *window_fault(const struct ramp_decision *d, ramp_u32 mss)
{
	if (d->phase < RAMP_LEAVING &&
	    (d->cwnd_bytes < mss || d->cwnd_bytes > RAMP_CWND_MAX_BYTES))
		return "window out of bounds";
	return NULL;
}

#define DRIVE(id, NAME, traits, name, source, idea)                                            \
	static const char *drive_##id(ramp_u64 events, ramp_u64 *number)                       \
	{                                                                                      \
		static const struct range ranges[] = {RAMP_##NAME##_PARAMETERS(RANGE, NAME)};  \
		static struct ramp_##id s;                                                     \
		const char *problem = NULL;                                                    \
		struct ramp_config c;                                                          \
		struct ramp_decision d, before;                                                \
		struct ramp_event e;                                                           \
		struct ramp_ack a;                                                             \
		struct host h;                                                                 \
		ramp_u64 age = 0, wild = 0;                                                    \
                                                                                               \
		memset(&h, 0, sizeof(h));                                                      \
		memset(&d, 0, sizeof(d));                                                      \
		for (*number = 0; *number < events && !problem; ++*number) {                   \
			if (!age) {                                                            \
				memset(&s, 0, sizeof(s));                                      \
				memset(&d, 0x5a, sizeof(d));                                   \
				random_config(&c, ranges, sizeof(ranges) / sizeof(ranges[0])); \
				ramp_##id##_init(&s, &c, &d);                                  \
				memset(&h, 0, sizeof(h));                                      \
				age = 1 + below(3000);                                         \
				wild = below(3) ? 0 : 1 + below(20);                           \
			}                                                                      \
			age--;                                                                 \
			before = d;                                                            \
			if (!below(400) || (wild && !below(30))) {                             \
				e.now_ns = h.now_ns;                                           \
				e.lost_bytes = wild ? nonsense() : MSS;                        \
				e.in_flight_bytes = wild ? nonsense() : h.sent - h.acked;      \
				e.kind = (ramp_u32)below(RAMP_EVENT_COUNT);                    \
				e.mss_bytes = MSS;                                             \
				ramp_##id##_on_event(&s, &e, &d);                              \
				problem = fault(&before, &d);                                  \
				if (!problem && e.kind == RAMP_TIMEOUT) {                      \
					d.cwnd_bytes = wild ? nonsense() : MSS;                \
					d.ssthresh_bytes = nonsense();                         \
				}                                                              \
				if (!below(3))                                                 \
					age = 0;                                               \
				continue;                                                      \
			}                                                                      \
			if (wild && !below(wild))                                              \
				nonsense_ack(&a);                                              \
			else                                                                   \
				plausible_ack(&h, &d, &a);                                     \
			ramp_##id##_on_ack(&s, &a, &d);                                        \
			problem = fault(&before, &d);                                          \
			if (!problem)                                                          \
				problem = window_fault(&d, a.mss_bytes);                       \
			if (d.phase == RAMP_DONE && !below(20))                                \
				age = 0;                                                       \
		}                                                                              \
		return problem;                                                                \
	}

RAMP_ALGORITHMS(DRIVE)

#define RUN(id, NAME, traits, name, source, idea)                                  \
	random_state = seed;                                                       \
	problem = drive_##id(events, &number);                                     \
	if (problem) {                                                             \
		fprintf(stderr, "%s: %s at event %llu, seed %llu\n", #id, problem, \
			(unsigned long long)number, (unsigned long long)seed);     \
		return 1;                                                          \
	}

int main(int count, char **arguments)
{
	ramp_u64 events = count > 1 ? strtoull(arguments[1], NULL, 10) : 300000;
	ramp_u64 seed = count > 2 ? strtoull(arguments[2], NULL, 10) : 20260101;
	ramp_u64 number = 0;
	const char *problem;

	if (!events || !seed) {
		fprintf(stderr, "usage: %s [EVENTS [SEED]], both above 0\n", arguments[0]);
		return 2;
	}
	RAMP_ALGORITHMS(RUN)
	printf("events: %llu for each algorithm, none left a bad state\n",
	       (unsigned long long)events);
	return 0;
}
