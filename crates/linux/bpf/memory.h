/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the host remembers of a place, for rows that need it. When it is looked at, and what is kept,
 * is ramp/history.h; here is where: the least recently used entries go first when the map is full.
 *
 * A place is an IPv4 address, or an IPv6 /64, as one network namespace reaches it. Prefixes whose /64 is
 * not one network are kept by the whole address: IPv4 behind NAT64 (RFC 6052, RFC 8215), Teredo (RFC
 * 4380), and link-local addresses, which name a host only with the interface.
 */
#ifndef RAMP_LINUX_MEMORY_H
#define RAMP_LINUX_MEMORY_H

#if TRAITS & RAMP_NEEDS_HISTORY

#include "places.h"
#include "tuple.h"

static __always_inline _Bool is_link_local(const __u8 *byte)
{
	return byte[0] == 0xfe && (byte[1] & 0xc0) == 0x80; /* fe80::/10 */
}

/* Whether hosts that share the first 64 bits are anywhere. */
static __always_inline _Bool is_scattered(const __u8 *byte)
{
	__u32 first = (__u32)byte[0] << 24 | byte[1] << 16 | byte[2] << 8 | byte[3];
	__u32 second = (__u32)byte[4] << 24 | byte[5] << 16 | byte[6] << 8 | byte[7];

	if (first == 0x0064ff9b) /* 64:ff9b::/96 and 64:ff9b:1::/48 */
		return !second || second >> 16 == 1;
	return first == 0x20010000 || is_link_local(byte); /* 2001::/32 */
}

static __always_inline void place_of(struct sock *sk, struct place *place)
{
	const __u8 *byte = (const __u8 *)place->address;
	_Bool is_4;

	place->namespace = sk->__sk_common.skc_net.net->net_cookie;
	record_remote(sk, (ramp_u8 *)place->address);
	is_4 = !place->address[0] && !byte[8] && !byte[9] && byte[10] == 0xff && byte[11] == 0xff;
	if (!is_4 && !is_scattered(byte))
		place->address[1] = 0;
	if (is_link_local(byte))
		place->interface = sk->__sk_common.skc_bound_dev_if;
}

/* Since long before the machine started, so that it may know what was seen before that. */
static __always_inline __u64 clock_ns(void)
{
	return RAMP_MEMORY_LIFETIME_NS + bpf_ktime_get_boot_ns();
}

/*
 * Gives a connection that begins what is remembered; what the loader knows counts as seen then. Of
 * two that begin at the same time one gets it: the other finds that it was taken meanwhile.
 */
static __noinline void recall(struct sock *sk, struct flow *f)
{
	struct ramp_hint *hint = &f->hint;
	struct place place = {};
	struct remembered told = {}, *known;
	__u64 now_ns = clock_ns(), before_ns;

	place_of(sk, &place);
	known = bpf_map_lookup_elem(&history, &place);
	if (known) {
		if (!read_whole(known, &place, &told.memory))
			return;
		before_ns = told.memory.taken_ns;
		if (!ramp_recall(&told.memory, now_ns, hint))
			return;
		f->told = take(known, before_ns, now_ns);
		if (!f->told)
			__builtin_memset(hint, 0, sizeof(*hint));
		return;
	}
	/* Field by field: clang takes settings copied whole for the zeros they are compiled with. */
	if (settings.config.hint.source != RAMP_HINT_HISTORY)
		return;
	told.memory.window_bytes = settings.config.hint.window_bytes;
	told.memory.bytes_per_s = settings.config.hint.bytes_per_s;
	told.memory.rtt_us = settings.config.hint.rtt_us;
	told.memory.seen_ns = ramp_sub(now_ns, (__u64)settings.config.hint.age_s * 1000000000);
	f->told = ramp_recall(&told.memory, now_ns, hint);
	keep(&place, &told, BPF_NOEXIST);
}

/* Congestion is about to be reported. */
static __always_inline void doubt(struct sock *sk, struct flow *f)
{
	__u64 delivered = tcp_sk(sk)->bytes_acked - f->acked_base;

	if (f->told && ramp_is_unvalidated(f->hint.window_bytes, f->initial_window_bytes, delivered))
		f->congested = 1;
}

/* `closing`: it has sent all it had. */
static __noinline void observe(struct sock *sk, struct flow *f, _Bool closing)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct place place = {};
	struct remembered now = {}, *known;
	struct ramp_seen seen = {};
	__u64 taken_ns, seen_ns;

	seen.now_ns = clock_ns();
	seen.initial_window_bytes = f->initial_window_bytes;
	seen.delivered_bytes = tp->bytes_acked - f->acked_base;
	if (tp->rate_interval_us && tp->rtt_min.s[0].v != ~0u) {
		seen.bytes_per_s =
			(__u64)tp->rate_delivered * tp->mss_cache * 1000000 / tp->rate_interval_us;
		seen.rtt_us = tp->rtt_min.s[0].v;
	}
	if (f->told)
		seen.flags |= RAMP_SEEN_TOLD;
	if (f->congested)
		seen.flags |= RAMP_SEEN_CONGESTED;
	if (closing)
		seen.flags |= RAMP_SEEN_CLOSING;
	if (closing || BPF_CORE_READ_BITFIELD(tp, rate_app_limited))
		seen.flags |= RAMP_RATE_APP_LIMITED;
	place_of(sk, &place);
	known = bpf_map_lookup_elem(&history, &place);
	if (known && !read_whole(known, &place, &now.memory))
		return;
	taken_ns = now.memory.taken_ns;
	seen_ns = now.memory.seen_ns;
	if (!ramp_observe(&now.memory, &seen))
		return;
	/* It has only been given back: the rest may have been forgotten since it was read. */
	if (known && now.memory.seen_ns == seen_ns)
		take(known, taken_ns, now.memory.taken_ns);
	else
		keep(&place, &now, BPF_ANY);
}

#else

static __always_inline void recall(struct sock *sk, struct flow *f)
{
}

static __always_inline void doubt(struct sock *sk, struct flow *f)
{
}

static __always_inline void observe(struct sock *sk, struct flow *f, _Bool closing)
{
}

#endif

#endif
