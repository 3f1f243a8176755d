/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deadline.h -- the time that a handshake has, as a part of the descriptor that its events
 * come through: so a program that polls it needs no clock of its own.
 */
#ifndef RPMA_DEADLINE_H
#define RPMA_DEADLINE_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

struct rpma_deadline {
	bool is_set;
	int fd;	      /* epoll(7): for events of the channel, and the end of the time */
	int timer_fd; /* -1: it does not count any more */
};

/*
 * The time begins. The channel does not block from now on, and fd is what a program gets in its
 * place. RPMA_E_PROVIDER. The caller closes it in any case.
 */
int rpma_deadline_set(struct rpma_deadline *deadline, const struct rdma_event_channel *evch,
		      uint32_t timeout_ms);

/* The handshake has ended. fd stays. */
void rpma_deadline_drop(struct rpma_deadline *deadline);

/* Takes one that was never set. */
void rpma_deadline_close(struct rpma_deadline *deadline);

bool rpma_deadline_is_over(const struct rpma_deadline *deadline);

/* Sleeps until fd is readable. RPMA_E_NO_EVENT: a program made it non-blocking, or a signal came.
 */
int rpma_deadline_wait(const struct rpma_deadline *deadline);

#endif /* RPMA_DEADLINE_H */
