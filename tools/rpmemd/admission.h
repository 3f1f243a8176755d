/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * admission.h -- which connections become lanes of this session: those that
 * present its token, each number once at a time.
 *
 * The token is random and reaches the client through ssh, so a peer without it is
 * not that client. Both transports ask here. Any thread.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct admission {
	uint64_t token;
	uint32_t nlanes;
	pthread_mutex_t lock;
	bool *taken; /* under lock; one for each lane */
};

/* 0 or -errno with the error message set. */
int admission_open(struct admission *admission, uint32_t nlanes);
void admission_close(struct admission *admission);

/*
 * Takes the lane that a handshake asks for. -EPROTO: these bytes are not a handshake of this
 * version for rpmemd; -EACCES: wrong token; -EBUSY: no such lane, or it is connected.
 */
int admission_enter(struct admission *admission, const void *handshake, size_t len, uint32_t *lane);
void admission_leave(struct admission *admission, uint32_t lane);
/* Why, for the log. */
const char *admission_refusal(int error);
