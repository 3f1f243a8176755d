/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_state.c -- the shared state of a server's sessions, and its limits.
 */
#include "shared_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tools/common/base/failure.h"

int host_init(struct host *host)
{
	*host = (struct host){.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	host->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&host->lock, NULL);
	pthread_cond_init(&host->changed, NULL);
	if (host->stop_fd < 0 || host->ended_fd < 0)
		return failure_set(EXIT_INTERNAL, "start", "cannot make an eventfd: %s",
				   strerror(errno));
	return 0;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void host_destroy(struct host *host)
{
	for (size_t i = 0; i < host->offers_count; i++)
		offer_close(&host->offers[i]);
	rpma_peer_delete(&host->peer);
	topology_free(&host->topology);
	free(host->environment);
	pthread_cond_destroy(&host->changed);
	pthread_mutex_destroy(&host->lock);
	close_fd(host->ended_fd);
	close_fd(host->stop_fd);
}

bool host_take(struct host *host, const struct host_share *share)
{
	bool room;

	pthread_mutex_lock(&host->lock);
	room = share->lanes <= HOST_LANES_MAX - host->lanes &&
	       share->buffer_bytes <= HOST_BUFFERS_MAX - host->buffer_bytes;
	if (room) {
		host->lanes += share->lanes;
		host->buffer_bytes += share->buffer_bytes;
		host->users[share->target]++;
	}
	pthread_mutex_unlock(&host->lock);
	return room;
}

void host_give(struct host *host, const struct host_share *share)
{
	pthread_mutex_lock(&host->lock);
	host->lanes -= share->lanes;
	host->buffer_bytes -= share->buffer_bytes;
	host->users[share->target]--;
	pthread_mutex_unlock(&host->lock);
}

bool host_target_shared(struct host *host, uint32_t target)
{
	bool shared;

	pthread_mutex_lock(&host->lock);
	shared = host->users[target] > 1;
	pthread_mutex_unlock(&host->lock);
	return shared;
}

const struct clock *host_clock(struct host *host)
{
	pthread_mutex_lock(&host->lock);
	if (!host->clock_started)
		clock_start(&host->clock, NULL);
	host->clock_started = true;
	pthread_mutex_unlock(&host->lock);
	return &host->clock;
}

bool host_allows(const struct host *host, const struct rpma_conn_req *req)
{
	return allow_request(host->allow, req);
}

void host_say(const struct host *host, const char *what)
{
	if (!host->quiet)
		fprintf(stderr, "rpma-bench server: %s\n", what);
}
