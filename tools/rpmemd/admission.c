/* SPDX-License-Identifier: BSD-3-Clause */
/* admission.c -- compares tokens, and keeps which lanes are connected. */
#include "admission.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "common/rdma/handshake.h"
#include "reason.h"

int admission_open(struct admission *admission, uint32_t nlanes)
{
	struct admission a = {.nlanes = nlanes};

	if (getrandom(&a.token, sizeof(a.token), 0) != sizeof(a.token))
		return reason_set(EIO, "the kernel gave no random bytes");
	a.taken = calloc(nlanes, sizeof(*a.taken));
	if (a.taken == NULL)
		return reason_set(ENOMEM, "out of memory for %u lanes", nlanes);
	*admission = a;
	pthread_mutex_init(&admission->lock, NULL);
	return 0;
}

void admission_close(struct admission *admission)
{
	if (admission->taken == NULL)
		return;
	free(admission->taken);
	admission->taken = NULL;
	pthread_mutex_destroy(&admission->lock);
}

int admission_enter(struct admission *admission, const void *handshake, size_t len, uint32_t *lane)
{
	struct handshake_request request;
	enum handshake_answer answer;
	bool busy;

	if (handshake_judge_request(handshake, len, HANDSHAKE_RPMEM, &request, &answer) != 0 ||
	    answer != HANDSHAKE_WELCOME)
		return -EPROTO;
	if (request.token != admission->token)
		return -EACCES;
	if (request.number >= admission->nlanes)
		return -EBUSY;
	pthread_mutex_lock(&admission->lock);
	busy = admission->taken[request.number];
	admission->taken[request.number] = true;
	pthread_mutex_unlock(&admission->lock);
	*lane = request.number;
	return busy ? -EBUSY : 0;
}

void admission_leave(struct admission *admission, uint32_t lane)
{
	pthread_mutex_lock(&admission->lock);
	admission->taken[lane] = false;
	pthread_mutex_unlock(&admission->lock);
}

const char *admission_refusal(int error)
{
	switch (error) {
	case -EACCES:
		return "it does not have the token of this session";
	case -EBUSY:
		return "there is no such lane, or it is connected already";
	default:
		return "it is not a client of this version of rpmemd";
	}
}
