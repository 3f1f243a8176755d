/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider.c -- what all parts of the scripted provider share: the state the
 * tests see, the check at the end of a test, and the fds of event channels.
 */
#include "provider_objects.h"

#include <sys/eventfd.h>

struct provider provider;

void provider_reset(void)
{
	memset(&provider, 0, sizeof(provider));
	provider.bound_port = 18515;
	calls_reset();
	provider_reset_verbs();
	provider_reset_cq();
	provider_reset_qp();
	provider_reset_rdmacm();
}

const char *provider_complaint(void)
{
	const struct {
		int count;
		const char *complaint;
	} leaks[] = {
		{provider.live.unacked_cm_events, "a CM event was not acked"},
		{provider.live.unacked_cq_events, "a CQ event was not acked"},
		{provider.live.mr, "a memory region leaked"},
		{provider.live.qp, "a QP leaked"},
		{provider.live.cq, "a CQ leaked"},
		{provider.live.srq, "an SRQ leaked"},
		{provider.live.pd, "a PD leaked"},
		{provider.live.id, "an rdma_cm_id leaked"},
		{provider.live.comp_channel, "a completion channel leaked"},
		{provider.live.event_channel, "an event channel leaked"},
		{provider.live.addrinfo, "an rdma_addrinfo leaked"},
		{calls_live_blocks(), "memory leaked"},
		{calls_live_mappings(), "a mapping leaked"},
	};

	if (provider.misuse != NULL)
		return provider.misuse;
	for (size_t i = 0; i < sizeof(leaks) / sizeof(leaks[0]); i++)
		if (leaks[i].count != 0)
			return leaks[i].complaint;
	return NULL;
}

void provider_break_rule(const char *rule)
{
	if (provider.misuse == NULL)
		provider.misuse = rule;
}

int provider_event_fd(void)
{
	int fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK);

	if (fd < 0)
		abort();
	return fd;
}

void provider_raise(int fd)
{
	if (eventfd_write(fd, 1) != 0)
		abort();
}

void provider_lower(int fd)
{
	eventfd_t value;

	if (eventfd_read(fd, &value) != 0)
		abort();
}
