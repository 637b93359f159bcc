/* SPDX-License-Identifier: MIT */
/*
 * A stack in forty lines that drives the table: one sender, one bottleneck, every packet acknowledged, time in microseconds.
 * Arguments: rate in Mbit/s, round-trip time in ms, buffer in packets. One line for the exit, one for the end.
 */
#include <stdio.h>
#include <stdlib.h>

#include <ramp/interface.h>

#include "picoquic.h"

#define PACKETS 20000u
#define MTU 1252u

extern const picoquic_congestion_algorithm_t ramp_hystartpp_algorithm;

struct packet {
	uint64_t left_us, back_us; /* back 0: dropped */
};
static struct packet packets[PACKETS];

void picoquic_update_pacing_rate(picoquic_cnx_t *cnx, picoquic_path_t *path, double pacing_rate,
				 uint64_t quantum)
{
	(void)cnx;
	(void)quantum;
	path->pacing_bytes_per_s = (uint64_t)pacing_rate;
}

int main(int argc, char **argv)
{
	const picoquic_congestion_algorithm_t *algorithm = &ramp_hystartpp_algorithm;
	double rate = argc == 4 ? atof(argv[1]) : 10; /* bits per microsecond */
	uint64_t rtt_us = argc == 4 ? (uint64_t)(atof(argv[2]) * 1000) : 50000;
	uint64_t buffer = argc == 4 ? (uint64_t)atof(argv[3]) : 1000;
	uint64_t service_us = (uint64_t)(MTU * 8 / rate), now = 1, free_us = 0, in_flight = 0, state, evidence;
	uint64_t largest = 0, reductions = 0, lost = 0;
	unsigned int sent = 0, next = 0, exited = 0;
	picoquic_path_t path = {0};
	picoquic_cnx_t cnx = {&path};

	path.send_mtu = MTU;
	algorithm->alg_init(&path, NULL, now);
	while (next < PACKETS) {
		picoquic_per_ack_state_t ack = {0};
		uint64_t before;

		for (; sent < PACKETS && in_flight + MTU <= path.cwin; sent++) {
			uint64_t waits = free_us > now ? free_us - now : 0;
			struct packet *p = &packets[sent];
			p->left_us = now;
			if (waits <= buffer * service_us) {
				free_us = now + waits + service_us;
				p->back_us = free_us + rtt_us;
			}
			in_flight += MTU;
			path.bytes_sent += MTU;
		}
		/* What overtakes a dropped packet tells of it at once. */
		ack.inflight_prior = in_flight;
		ack.is_cwnd_limited = in_flight + MTU > path.cwin;
		before = path.cwin;
		if (!packets[next].back_us) {
			ack.nb_bytes_newly_lost = MTU;
			ack.lost_packet_sent_time = packets[next].left_us;
			lost++;
			algorithm->alg_notify(&cnx, &path, picoquic_congestion_notification_repeat, &ack, now);
			reductions += path.cwin < before;
		} else {
			now = packets[next].back_us;
			ack.rtt_measurement = now - packets[next].left_us;
			ack.nb_bytes_acknowledged = MTU;
			path.smoothed_rtt = path.smoothed_rtt ? (7 * path.smoothed_rtt + ack.rtt_measurement) / 8 : ack.rtt_measurement;
			algorithm->alg_notify(&cnx, &path, picoquic_congestion_notification_acknowledgement, &ack, now);
		}
		in_flight -= MTU;
		next++;
		largest = path.cwin > largest ? path.cwin : largest;
		algorithm->alg_observe(&path, &state, &evidence);
		if (!exited && state >> 32 == RAMP_DONE) {
			exited = 1;
			printf("exit at %llu us, reason %u, evidence %llu, window %llu\n", (unsigned long long)now,
			       (unsigned int)state, (unsigned long long)evidence, (unsigned long long)path.cwin);
		}
	}
	printf("end at %llu us, largest window %llu, lost %llu, reductions %llu\n", (unsigned long long)now,
	       (unsigned long long)largest, (unsigned long long)lost, (unsigned long long)reductions);
	algorithm->alg_delete(&path);
	return 0;
}
