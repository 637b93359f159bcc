/* SPDX-License-Identifier: GPL-2.0-only */
/* Windows and thresholds: packets in the kernel, bytes in the core. host.h includes it. */
#ifndef RAMP_LINUX_WINDOWS_H
#define RAMP_LINUX_WINDOWS_H

/* The one place where bytes become packets: rounded down, at least one. */
static __always_inline __u32 packets(__u64 bytes, __u32 mss_bytes)
{
	__u32 mss = mss_bytes ? mss_bytes : 1;
	__u64 packets;

	/* Half the time of a 64-bit division. */
	packets = bytes >> 32 ? bytes / mss : (__u32)bytes / mss;
	if (packets > TCP_INFINITE_SSTHRESH)
		packets = TCP_INFINITE_SSTHRESH;
	return packets ? packets : 1;
}

/* packets(), spared the division where the window grew by a few packets, as it does with each ACK. */
static __always_inline __u32 window_packets(const struct flow *f, __u32 mss_bytes)
{
	__u64 more = f->decision.cwnd_bytes - (__u64)f->window_packets * mss_bytes;
	__u32 grown = f->window_packets;

	if (grown && more < 3 * (__u64)mss_bytes) /* a smaller window wraps to a large number */
		return grown + (more >= mss_bytes) + (more >= 2 * (__u64)mss_bytes);
	return packets(f->decision.cwnd_bytes, mss_bytes);
}

static __always_inline void write_cwnd(struct tcp_sock *tp, struct flow *f, __u32 packets)
{
	if (packets > tp->snd_cwnd_clamp)
		packets = tp->snd_cwnd_clamp;
	f->cwnd_packets = packets;
	tp->snd_cwnd = packets;
}

/* What recovery, timeouts, idle restarts or path MTU changes did to the windows. */
static __always_inline void notice(const struct tcp_sock *tp, struct flow *f)
{
	__u32 cwnd = tp->snd_cwnd, ssthresh = tp->snd_ssthresh;

	if (cwnd != f->cwnd_packets) {
		f->decision.cwnd_bytes = (__u64)cwnd * tp->mss_cache;
		f->cwnd_packets = cwnd;
	}
	if (ssthresh != f->ssthresh_packets) {
		f->decision.ssthresh_bytes = ssthresh >= TCP_INFINITE_SSTHRESH
			? RAMP_UNSET
			: (__u64)ssthresh * tp->mss_cache;
		f->ssthresh_bytes = f->decision.ssthresh_bytes;
		f->ssthresh_packets = ssthresh;
	}
}

static __always_inline void obey_ssthresh(struct tcp_sock *tp, struct flow *f)
{
	__u64 ssthresh_bytes = f->decision.ssthresh_bytes;

	if (ssthresh_bytes == f->ssthresh_bytes)
		return;
	f->ssthresh_bytes = ssthresh_bytes;
	f->ssthresh_packets = TCP_INFINITE_SSTHRESH;
	if (ssthresh_bytes != RAMP_UNSET) {
		f->ssthresh_packets = packets(ssthresh_bytes, tp->mss_cache);
		if (f->ssthresh_packets < 2)
			f->ssthresh_packets = 2;
	}
	tp->snd_ssthresh = f->ssthresh_packets;
}

/* What the decision says within the host's own bound, which the core does not know. */
static __always_inline __u32 allowed_packets(const struct tcp_sock *tp, struct flow *f)
{
	__u64 most = f->usage.most_in_flight_bytes * settings.window_bound;

	most += (__u64)f->first_window_packets * tp->mss_cache;
	if (!settings.window_bound || f->decision.cwnd_bytes <= most)
		return window_packets(f, tp->mss_cache);
	if (!f->bounded)
		count(&counters.bounded);
	f->bounded = 1;
	return packets(most, tp->mss_cache);
}

#endif
