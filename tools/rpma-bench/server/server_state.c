/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server_state.c -- the shared state of a server's sessions, and its limits.
 */
#include "server_state.h"

#include <stdlib.h>

void host_destroy(struct host *host)
{
	for (size_t i = 0; i < host->offers_count; i++)
		offer_close(&host->offers[i]);
	topology_free(&host->topology);
	free(host->environment);
}

bool host_take(struct host *host, const struct host_share *share)
{
	bool room;

	pthread_mutex_lock(&host->service.lock);
	room = share->lanes <= HOST_LANES_MAX - host->lanes &&
	       share->buffer_bytes <= HOST_BUFFERS_MAX - host->buffer_bytes;
	if (room) {
		host->lanes += share->lanes;
		host->buffer_bytes += share->buffer_bytes;
		host->users[share->target]++;
	}
	pthread_mutex_unlock(&host->service.lock);
	return room;
}

void host_give(struct host *host, const struct host_share *share)
{
	pthread_mutex_lock(&host->service.lock);
	host->lanes -= share->lanes;
	host->buffer_bytes -= share->buffer_bytes;
	host->users[share->target]--;
	pthread_mutex_unlock(&host->service.lock);
}

bool host_target_shared(struct host *host, uint32_t target)
{
	bool shared;

	pthread_mutex_lock(&host->service.lock);
	shared = host->users[target] > 1;
	pthread_mutex_unlock(&host->service.lock);
	return shared;
}

const struct clock *host_clock(struct host *host)
{
	pthread_mutex_lock(&host->service.lock);
	if (!host->clock_started)
		clock_start(&host->clock, NULL);
	host->clock_started = true;
	pthread_mutex_unlock(&host->service.lock);
	return &host->clock;
}
