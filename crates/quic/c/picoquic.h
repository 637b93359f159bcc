/* SPDX-License-Identifier: MIT */
/*
 * What the example beside it uses of picoquic's <picoquic.h>, so that it compiles and runs without picoquic: names, types and
 * meanings are picoquic's, and a structure has the fields alone that the example reads or writes.
 */
#ifndef PICOQUIC_MODEL_H
#define PICOQUIC_MODEL_H

#include <stdint.h>

typedef enum {
	picoquic_congestion_notification_acknowledgement,
	picoquic_congestion_notification_repeat, /* packets are lost */
	picoquic_congestion_notification_timeout,
	picoquic_congestion_notification_spurious_repeat,
	picoquic_congestion_notification_rtt_measurement,
	picoquic_congestion_notification_ecn_ec,
	picoquic_congestion_notification_cwin_blocked,
	picoquic_congestion_notification_seed_cwin,
	picoquic_congestion_notification_reset,
	picoquic_congestion_notification_lost_feedback
} picoquic_congestion_notification_t;

typedef struct {
	uint64_t rtt_measurement; /* us; 0: none */
	uint64_t nb_bytes_acknowledged;
	uint64_t nb_bytes_newly_lost;
	uint64_t inflight_prior;
	uint64_t lost_packet_sent_time; /* us */
	unsigned int is_app_limited : 1;
	unsigned int is_cwnd_limited : 1;
} picoquic_per_ack_state_t;

typedef struct {
	uint64_t cwin;       /* bytes */
	uint64_t bytes_sent; /* ever */
	uint64_t send_mtu;
	uint64_t smoothed_rtt; /* us */
	uint64_t pacing_bytes_per_s;
	void *congestion_alg_state;
} picoquic_path_t;

typedef struct {
	picoquic_path_t *path;
} picoquic_cnx_t;

typedef struct {
	char const *congestion_algorithm_id;
	uint8_t congestion_algorithm_number;
	void (*alg_init)(picoquic_path_t *path, char const *option_string, uint64_t current_time);
	void (*alg_notify)(picoquic_cnx_t *cnx, picoquic_path_t *path,
			   picoquic_congestion_notification_t notification,
			   picoquic_per_ack_state_t *ack_state, uint64_t current_time);
	void (*alg_delete)(picoquic_path_t *path);
	void (*alg_observe)(picoquic_path_t *path, uint64_t *cc_state, uint64_t *cc_param);
} picoquic_congestion_algorithm_t;

void picoquic_update_pacing_rate(picoquic_cnx_t *cnx, picoquic_path_t *path, double pacing_rate,
				 uint64_t quantum);

#endif
