/* SPDX-License-Identifier: MIT */
/*
 * One of ramp's headers in the function table of a C stack, as picoquic's congestion algorithms are. For another algorithm change
 * the include and the lines that name this one; for another stack, the table at the end and what is read of its ACK.
 *
 * Units: picoquic counts microseconds and bytes of packets, and so does the core here; an MSS is a full packet.
 */
#include <stdlib.h>

#include <ramp/hystartpp.h>

#include "picoquic.h"

#define NS_PER_US 1000u
#define INITIAL_WINDOW_PACKETS 10u /* RFC 9002 §7.2 */
#define MIN_WINDOW_PACKETS 2u
#define SAMPLES 512u

/* What had been sent when: the core asks what had been sent when a packet left, which picoquic does not tell. */
struct sample {
	uint64_t time_us;
	uint64_t sent_bytes;
};

struct controller {
	struct ramp_hystartpp core;
	struct ramp_decision decision;
	struct sample samples[SAMPLES];
	unsigned int newest;
	uint64_t delivered_bytes;
	uint64_t lost_bytes;
	uint64_t reduced_us; /* packets that left before are of the last recovery period; 0: none */
	uint64_t grown_bytes; /* acknowledged since the window last grew after start-up */
	int begun;
	int recovering;
};

static ramp_u32 mtu(const picoquic_path_t *path)
{
	return (ramp_u32)path->send_mtu;
}

static void begin(struct controller *c, const picoquic_path_t *path, uint64_t rtt_us, uint64_t now_us)
{
#define DEFAULT(NAME, name, unit, initial, minimum, maximum, source, meaning) initial,
	static const ramp_u64 defaults[] = {RAMP_HYSTARTPP_PARAMETERS(DEFAULT, HYSTARTPP)};
#undef DEFAULT
	struct ramp_config config = {0};
	unsigned int i;

	config.mss_bytes = mtu(path);
	config.flags = RAMP_DELAYED_ACKS;
	config.initial_window_bytes = path->cwin;
	config.initial_ssthresh_bytes = RAMP_UNSET;
	config.size_bytes = RAMP_UNSET;
	config.receive_window_bytes = RAMP_UNSET;
	config.now_ns = now_us * NS_PER_US;
	config.handshake_rtt_us = (ramp_u32)rtt_us;
	for (i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		config.parameter[i] = defaults[i];
	ramp_hystartpp_init(&c->core, &config, &c->decision);
	c->begun = 1;
}

/* What had been sent at a time, to the last call before it. */
static uint64_t sent_at(const struct controller *c, uint64_t time_us)
{
	unsigned int back;

	for (back = 0; back < SAMPLES; back++) {
		const struct sample *s = &c->samples[(c->newest + SAMPLES - back) % SAMPLES];
		if (s->time_us <= time_us)
			return s->sent_bytes;
	}
	return 0;
}

static void on_ack(struct controller *c, picoquic_path_t *path, const picoquic_per_ack_state_t *a,
		   uint64_t now_us)
{
	struct ramp_ack ack = {0};
	uint64_t left_us = now_us - a->rtt_measurement;

	c->delivered_bytes += a->nb_bytes_acknowledged;
	if (c->recovering && left_us > c->reduced_us) {
		struct ramp_event over = {now_us * NS_PER_US, 0, a->inflight_prior, RAMP_RECOVERED, mtu(path)};
		c->recovering = 0;
		ramp_hystartpp_on_event(&c->core, &over, &c->decision);
	}
	if (c->decision.phase == RAMP_DONE) {
		/* Congestion avoidance (RFC 9002 §7.3.3): a packet for each window that is acknowledged. */
		c->grown_bytes += c->recovering || !a->is_cwnd_limited ? 0 : a->nb_bytes_acknowledged;
		if (c->grown_bytes >= path->cwin) {
			c->grown_bytes -= path->cwin;
			c->decision.cwnd_bytes += mtu(path);
		}
		return;
	}
	ack.now_ns = now_us * NS_PER_US;
	ack.newest_sent_ns = left_us * NS_PER_US;
	ack.sent_bytes = path->bytes_sent;
	ack.newest_acked_bytes = sent_at(c, left_us);
	ack.delivered_bytes = c->delivered_bytes;
	ack.acked_bytes = a->nb_bytes_acknowledged;
	ack.in_flight_bytes = a->inflight_prior;
	ack.lost_bytes = c->lost_bytes;
	ack.receive_window_bytes = RAMP_UNSET;
	ack.rtt_us = (ramp_u32)a->rtt_measurement;
	ack.mss_bytes = mtu(path);
	ack.flags = (a->is_cwnd_limited ? RAMP_CWND_LIMITED : 0) | (a->is_app_limited ? RAMP_APP_LIMITED : 0) |
		(c->recovering ? RAMP_RECOVERING : 0) | RAMP_PACED;
	ramp_hystartpp_on_ack(&c->core, &ack, &c->decision);
}

/* One reduction for each recovery period (RFC 9002 §7.3.2). The window reduces from the flight by the host's rule. */
static void on_congestion(struct controller *c, const picoquic_path_t *path,
			  const picoquic_per_ack_state_t *a, ramp_u32 kind, uint64_t now_us)
{
	struct ramp_event event = {now_us * NS_PER_US, a->nb_bytes_newly_lost, a->inflight_prior, kind, mtu(path)};
	uint64_t least = MIN_WINDOW_PACKETS * path->send_mtu;
	uint64_t half = a->inflight_prior / 2;

	c->lost_bytes += a->nb_bytes_newly_lost;
	if (kind != RAMP_TIMEOUT && c->reduced_us && a->lost_packet_sent_time <= c->reduced_us)
		return;
	ramp_hystartpp_on_event(&c->core, &event, &c->decision);
	c->decision.ssthresh_bytes = half > least ? half : least;
	c->decision.cwnd_bytes = kind == RAMP_TIMEOUT ? least : c->decision.ssthresh_bytes;
	c->reduced_us = now_us;
	c->recovering = kind != RAMP_TIMEOUT;
	c->grown_bytes = 0;
}

static void ramp_alg_init(picoquic_path_t *path, char const *option_string, uint64_t current_time)
{
	struct controller *c = calloc(1, sizeof(*c));

	(void)option_string;
	(void)current_time;
	path->congestion_alg_state = c;
	path->cwin = INITIAL_WINDOW_PACKETS * path->send_mtu;
	if (c)
		c->decision.cwnd_bytes = path->cwin;
}

static void ramp_alg_notify(picoquic_cnx_t *cnx, picoquic_path_t *path,
			    picoquic_congestion_notification_t notification,
			    picoquic_per_ack_state_t *ack_state, uint64_t current_time)
{
	struct controller *c = path->congestion_alg_state;

	if (!c)
		return;
	c->newest = (c->newest + 1) % SAMPLES;
	c->samples[c->newest].time_us = current_time;
	c->samples[c->newest].sent_bytes = path->bytes_sent;
	if (!c->begun && ack_state->rtt_measurement)
		begin(c, path, ack_state->rtt_measurement, current_time);
	if (!c->begun)
		return;
	if (notification == picoquic_congestion_notification_acknowledgement)
		on_ack(c, path, ack_state, current_time);
	else if (notification == picoquic_congestion_notification_repeat)
		on_congestion(c, path, ack_state, RAMP_LOSS, current_time);
	else if (notification == picoquic_congestion_notification_ecn_ec)
		on_congestion(c, path, ack_state, RAMP_MARK, current_time);
	else if (notification == picoquic_congestion_notification_timeout)
		on_congestion(c, path, ack_state, RAMP_TIMEOUT, current_time);
	path->cwin = c->decision.cwnd_bytes;
	if (path->smoothed_rtt)
		picoquic_update_pacing_rate(cnx, path, 1.25e6 * (double)path->cwin / (double)path->smoothed_rtt, 2 * path->send_mtu);
}

static void ramp_alg_delete(picoquic_path_t *path)
{
	free(path->congestion_alg_state);
	path->congestion_alg_state = NULL;
}

/* Phase and threshold for logs; the exit's reason and evidence are in the decision. */
static void ramp_alg_observe(picoquic_path_t *path, uint64_t *cc_state, uint64_t *cc_param)
{
	const struct controller *c = path->congestion_alg_state;

	*cc_state = c ? (uint64_t)c->decision.phase << 32 | c->decision.exit_reason : 0;
	*cc_param = c ? c->decision.evidence : 0;
}

extern const picoquic_congestion_algorithm_t ramp_hystartpp_algorithm;
const picoquic_congestion_algorithm_t ramp_hystartpp_algorithm = {
	"ramp_hystartpp", 255, ramp_alg_init, ramp_alg_notify, ramp_alg_delete, ramp_alg_observe};
