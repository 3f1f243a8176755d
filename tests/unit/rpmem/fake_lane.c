/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_lane.c -- lane.h for tests of what is above it. */
#include "fake_lane.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/failure.h"

struct lanes {
	int end_fd;
};

struct fake_lanes fake_lanes;

static int give(int result)
{
	if (result != 0)
		failure_set(EXIT_RUN_FAILED, "lane", "the fake lane failed");
	return result;
}

int lanes_most(const char *host, enum control_transport transport, unsigned *nlanes)
{
	*nlanes = fake_lanes.most;
	return give(fake_lanes.most_result[transport]);
}

int lanes_open(struct lanes **lanes, const struct lanes_cfg *cfg)
{
	fake_lanes.opened++;
	fake_lanes.cfg = *cfg;
	snprintf(fake_lanes.host, sizeof(fake_lanes.host), "%s", cfg->host);
	fake_lanes.daemon = *cfg->daemon;
	if (fake_lanes.open_result != 0)
		return give(fake_lanes.open_result);
	*lanes = malloc(sizeof(**lanes));
	(*lanes)->end_fd = cfg->end_fd;
	return 0;
}

void lanes_close(struct lanes **lanes)
{
	fake_lanes.closed += *lanes != NULL;
	free(*lanes);
	*lanes = NULL;
}

static int call(const char *name, unsigned lane, size_t offset, size_t length, bool relaxed)
{
	fake_lanes.calls++;
	fake_lanes.name = name;
	fake_lanes.lane = lane;
	fake_lanes.offset = offset;
	fake_lanes.length = length;
	fake_lanes.relaxed = relaxed;
	return give(fake_lanes.result);
}

int lanes_flush(struct lanes *lanes, unsigned lane, size_t offset, size_t length, bool relaxed)
{
	return call("flush", lane, offset, length, relaxed);
}

int lanes_drain(struct lanes *lanes, unsigned lane)
{
	return call("drain", lane, 0, 0, false);
}

static int wait_for_end(const struct lanes *lanes)
{
	struct pollfd pollfd = {.fd = lanes->end_fd, .events = POLLIN};

	__atomic_fetch_add(&fake_lanes.blocked, 1, __ATOMIC_RELEASE);
	poll(&pollfd, 1, 10000);
	return give(-ECONNRESET);
}

int lanes_persist(struct lanes *lanes, unsigned lane, size_t offset, size_t length, bool relaxed)
{
	if (fake_lanes.is_blocking)
		return wait_for_end(lanes);
	return call("persist", lane, offset, length, relaxed);
}

int lanes_deep_persist(struct lanes *lanes, unsigned lane, size_t offset, size_t length)
{
	return call("deep_persist", lane, offset, length, false);
}

int lanes_read(struct lanes *lanes, unsigned lane, void *buffer, size_t offset, size_t length)
{
	return call("read", lane, offset, length, false);
}
