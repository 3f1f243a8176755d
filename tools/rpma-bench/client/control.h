/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control.h -- what a client and its server exchange on the control connection,
 * and the queue pairs it connects for one repeat.
 */
#pragma once

#include "run.h"
#include "tools/rpma-bench/measure/qps.h"

/* Connects, and learns what the server offers. */
int control_open(struct control *control, const uint8_t run_id[16], struct server_info *server);
/* Sends a goodbye first if the run is complete; a connection never opened is fine. */
void control_close(struct control *control, bool complete);

/* Asks for one repeat. -ENOTSUP with the error message set: the server refuses it. */
int control_begin(const struct control *control, const struct message_begin *begin,
		  struct message_ready *ready);
int control_start(const struct control *control, enum message_phase phase);
/* Ends the repeat; the caller decrefs the report. qps_count 0: none has touched anything. */
int control_end(const struct control *control, const struct qp *qps, uint32_t qps_count,
		json_t **report);

/* Connects one queue pair of a repeat. */
int control_connect_qp(const struct control *control, const struct message_ready *ready,
		       struct qps *qps, uint32_t index);

/* Something else to do while waiting, when a descriptor is readable. */
struct control_watch {
	int fd; /* negative: nothing */
	void (*ready)(void *arg);
	void *arg;
};

/*
 * Sleeps until fd is readable; meanwhile the server may show signs of life.
 * -ECANCELED: a signal.
 */
int control_wait(const struct control *control, int fd, const struct control_watch *watch);
