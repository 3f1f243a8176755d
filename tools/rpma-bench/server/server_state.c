/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server_state.c -- the shared state of a server's sessions, and its limits.
 */
#include "server_state.h"

#include <stdlib.h>

void server_destroy(struct server_state *server)
{
	for (size_t i = 0; i < server->regions_count; i++) {
		if (server->owns_regions)
			region_close(&server->regions[i].region);
		if (server->owns_targets)
			target_close(&server->regions[i].target);
	}
	topology_free(&server->topology);
	free(server->environment);
}

bool server_take(struct server_state *server, const struct server_share *share)
{
	struct server_budget *budget = server->budget;
	bool room;

	pthread_mutex_lock(&budget->lock);
	room = share->qps <= SERVER_QPS_MAX - budget->qps &&
	       share->buffer_bytes <= SERVER_BUFFERS_MAX - budget->buffer_bytes;
	if (room) {
		budget->qps += share->qps;
		budget->buffer_bytes += share->buffer_bytes;
		budget->users[share->target]++;
	}
	pthread_mutex_unlock(&budget->lock);
	return room;
}

void server_give(struct server_state *server, const struct server_share *share)
{
	struct server_budget *budget = server->budget;

	pthread_mutex_lock(&budget->lock);
	budget->qps -= share->qps;
	budget->buffer_bytes -= share->buffer_bytes;
	budget->users[share->target]--;
	pthread_mutex_unlock(&budget->lock);
}

bool server_target_shared(struct server_state *server, uint32_t target)
{
	bool shared;

	pthread_mutex_lock(&server->budget->lock);
	shared = server->budget->users[target] > 1;
	pthread_mutex_unlock(&server->budget->lock);
	return shared;
}

const struct clock *server_clock(struct server_state *server)
{
	pthread_mutex_lock(&server->service.lock);
	if (!server->clock_started)
		clock_start(&server->clock, NULL);
	server->clock_started = true;
	pthread_mutex_unlock(&server->service.lock);
	return &server->clock;
}
