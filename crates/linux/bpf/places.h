/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The map of remembered places, read and written by all processors at once without a lock: the kernel
 * allows none in maps that push out old entries.
 *
 * bpf_map_update_elem() never writes into an element that can be found. It fills another, puts that in the
 * old one's place, and the old one goes at once to what needs an element next. So who has found an
 * element may read a mixture of it and of what it has become, even another place's. A seal over place and
 * value tells: a mixture counts as nothing known, and nothing is learnt in its stead.
 *
 * Of two processors that write the same place at the same time, the last one wins, and what it writes is
 * what it would have written alone. One word changes in place, when a connection gets it and when it gives
 * that back; the seal leaves it out. Where the element has just become another's, that one's next
 * connection begins without it; where the place is written at that moment, a second connection may get it
 * with the first, as after RAMP_MEMORY_TAKEN_NS.
 */
#ifndef RAMP_LINUX_PLACES_H
#define RAMP_LINUX_PLACES_H

#include <ramp/history.h>

#define PLACES_MAX 4096 /* half a megabyte */

struct place {
	__u64 namespace;
	__u64 address[2]; /* in the network's order; IPv4 as IPv6 maps it */
	__u64 interface;  /* of a link-local address; otherwise 0 */
};

struct remembered {
	struct ramp_memory memory;
	__u64 seal;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PLACES_MAX);
	__type(key, struct place);
	__type(value, struct remembered);
} history SEC(".maps");

static __always_inline __u64 mixed(__u64 seal, __u64 word)
{
	seal = (seal ^ word) * 0x9e3779b97f4a7c15ull; /* Knuth's multiplier, 2^64 / golden ratio */
	return seal ^ seal >> 32;
}

static __always_inline __u64 seal_of(const struct place *place, const struct ramp_memory *m)
{
	__u64 seal = mixed(mixed(1, place->namespace), place->interface);

	seal = mixed(mixed(seal, place->address[0]), place->address[1]);
	seal = mixed(mixed(seal, m->window_bytes), m->bytes_per_s);
	return mixed(mixed(seal, m->seen_ns), m->rtt_us);
}

#ifndef READ_WORD /* a test waits before each */
#define READ_WORD(word) (*(const volatile __typeof__(word) *)&(word))
#endif

/* Returns whether it is a value that was written for this place. */
static __always_inline _Bool read_whole(const struct remembered *known, const struct place *place,
					struct ramp_memory *m)
{
	m->window_bytes = READ_WORD(known->memory.window_bytes);
	m->bytes_per_s = READ_WORD(known->memory.bytes_per_s);
	m->seen_ns = READ_WORD(known->memory.seen_ns);
	m->taken_ns = READ_WORD(known->memory.taken_ns);
	m->rtt_us = READ_WORD(known->memory.rtt_us);
	return READ_WORD(known->seal) == seal_of(place, m);
}

/* Returns whether no one else has taken it since it was read. */
static __always_inline _Bool take(struct remembered *known, __u64 before_ns, __u64 now_ns)
{
	return __sync_val_compare_and_swap(&known->memory.taken_ns, before_ns, now_ns) == before_ns;
}

static __always_inline void keep(const struct place *place, struct remembered *now, __u64 flags)
{
	now->seal = seal_of(place, &now->memory);
	bpf_map_update_elem(&history, place, now, flags);
}

#endif
