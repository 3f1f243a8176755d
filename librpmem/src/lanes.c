/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes.c -- the lanes of a pool as a whole: how they open, how many there may be,
 * and how they end. The first thread that finds the connection lost keeps the reason
 * for all.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "common/host/rlimits.h"
#include "common/rdma/device.h"
#include "common/rdma/limits.h"
#include "common/rdma/resolve.h"
#include "lane_private.h"
#include "local_memory.h"

#define FILES_SPARE 32 /* device, session, and files that are open for a moment */

/* --- the end of a connection ---------------------------------------------- */

static int lose(struct lanes *lanes, int error)
{
	int before = 0;

	if (!atomic_compare_exchange_strong(&lanes->lost, &before, error))
		return before;
	snprintf(lanes->why, sizeof(lanes->why), "%s", failure_get()->text);
	atomic_store(&lanes->has_why, true);
	/* threads that wait on other lanes need not find out one by one */
	eventfd_write(lanes->lost_fd, 1);
	return error;
}

int lanes_lost(struct lanes *lanes)
{
	return lose(lanes, -ECONNRESET);
}

int lanes_violated(struct lanes *lanes)
{
	return lose(lanes, -EPROTO);
}

int lanes_stopped(struct lanes *lanes)
{
	const int lost = atomic_load(&lanes->lost);

	if (lost != 0) {
		failure_because(CAUSE_CLOSED, EXIT_RUN_FAILED, "connection", "%s",
				atomic_load(&lanes->has_why) ? lanes->why
							     : "the connection to rpmemd is lost");
		return lost;
	}
	failure_because(CAUSE_CLOSED, EXIT_RUN_FAILED, "connection",
			"the session with rpmemd on %s ended", lanes->host);
	return lanes_lost(lanes);
}

static bool out_of_files(void)
{
	int fd = eventfd(0, EFD_CLOEXEC), error = errno;

	if (fd >= 0)
		close(fd);
	return fd < 0 && (error == EMFILE || error == ENFILE);
}

int lane_errno(int ret)
{
	static const int errors[CAUSES] = {
		[CAUSE_NAME] = EHOSTUNREACH,	[CAUSE_NO_DEVICE] = ENOMEDIUM,
		[CAUSE_NO_PERMISSION] = EACCES, [CAUSE_MEMLOCK] = ENOMEM,
		[CAUSE_NO_MEMORY] = ENOMEM,	[CAUSE_UNREACHABLE] = EHOSTUNREACH,
		[CAUSE_NO_ANSWER] = ETIMEDOUT,	[CAUSE_REFUSED] = ECONNRESET,
		[CAUSE_BUSY] = EBUSY,		[CAUSE_WRONG_PEER] = EPROTO,
		[CAUSE_CLOSED] = ECONNRESET,	[CAUSE_LOST] = ECONNRESET,
	};
	const struct failure *failure = failure_get();

	if (ret != -EIO && ret != -EINVAL)
		return ret;
	if (out_of_files())
		return -EMFILE;
	if (failure->code == EXIT_NO_DEVICE)
		return -ENOMEDIUM;
	return errors[failure->cause] != 0 ? -errors[failure->cause] : -EIO;
}

void lane_daemon_name(const struct lanes *lanes, const char *address,
		      char name[CONNECTION_PEER_MAX])
{
	snprintf(name, CONNECTION_PEER_MAX, "rpmemd at %s port %u", address, lanes->daemon.port);
}

/* --- how many there may be ------------------------------------------------ */

static uint32_t by_open_files(enum control_transport transport)
{
	const size_t most =
		open_files_left(FILES_SPARE) / (transport == CONTROL_TCP ? 1 : LANE_FILES_RDMA);

	return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

static int find_any_device(void)
{
	struct device any;
	struct sysroot root;
	int ret;

	if (sysroot_open(&root, "/") != 0)
		return 0;
	ret = device_choose(&root, NULL, &any);
	sysroot_close(&root);
	return ret == 0 ? 0 : -ENOMEDIUM;
}

/*
 * The host that ssh reaches may have another address for RDMA, which the daemon will
 * tell: then its device is not known yet, and does not limit.
 */
static void limit_by_device(const char *host, unsigned *most)
{
	char address[RESOLVE_ADDRESS_MAX];
	struct limits limits;

	if (resolve_host(host, RESOLVE_TIMEOUT_MS, address) != 0 ||
	    limits_get(&limits, address, RPMA_UTIL_IBV_CONTEXT_REMOTE) != 0)
		return;
	*most = limits.queue_pairs < *most ? limits.queue_pairs : *most;
	*most = limits.completion_queues < *most ? limits.completion_queues : *most;
}

int lanes_most(const char *host, enum control_transport transport, unsigned *nlanes)
{
	unsigned most = by_open_files(transport);
	int ret;

	connection_log_to_failures(false);
	if (transport == CONTROL_RDMA && most > 0) { /* a device is made of files, too */
		ret = find_any_device();
		if (ret)
			return ret;
		limit_by_device(host, &most);
	}
	if (most == 0) {
		failure_set(EXIT_RUN_FAILED, "open",
			    "too few open files are allowed for a lane, which takes %d: raise the "
			    "limit (ulimit -n)",
			    transport == CONTROL_TCP ? 1 : LANE_FILES_RDMA);
		return -EMFILE;
	}
	*nlanes = most;
	return 0;
}

/* --- open and close ------------------------------------------------------- */

static int watch(int epoll_fd, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	return fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

/* One descriptor that is readable when either is. */
static int make_stop_fd(struct lanes *lanes, int end_fd)
{
	int ret = 0;

	lanes->lost_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	lanes->stop_fd = epoll_create1(EPOLL_CLOEXEC);
	if (lanes->lost_fd < 0 || lanes->stop_fd < 0)
		ret = -errno;
	else if ((ret = watch(lanes->stop_fd, lanes->lost_fd)) == 0)
		ret = watch(lanes->stop_fd, end_fd);
	if (ret)
		failure_set(EXIT_RUN_FAILED, "open", "cannot watch the session: %s",
			    strerror(-ret));
	return ret;
}

static int make_lanes(struct lanes *lanes)
{
	const size_t count = lanes->daemon.nlanes, bytes = count * sizeof(*lanes->lane);

	if (count == 0) {
		failure_because(CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "open",
				"rpmemd on %s offers no lane", lanes->host);
		return -EPROTO;
	}
	lanes->lane = aligned_alloc(_Alignof(struct lane), bytes);
	if (lanes->lane == NULL) {
		failure_set(EXIT_RUN_FAILED, "open", "out of memory for %zu lanes", count);
		return -ENOMEM;
	}
	memset(lanes->lane, 0, bytes);
	lanes->count = (uint32_t)count;
	for (uint32_t i = 0; i < lanes->count; i++) {
		lanes->lane[i].lanes = lanes;
		lanes->lane[i].index = i;
	}
	return 0;
}

static struct lanes *lanes_new(const struct lanes_cfg *cfg)
{
	struct lanes *lanes = calloc(1, sizeof(*lanes));

	if (lanes == NULL) {
		failure_set(EXIT_RUN_FAILED, "open", "out of memory");
		return NULL;
	}
	lanes->transport = cfg->transport == CONTROL_TCP ? &lane_tcp : &lane_rdma;
	lanes->daemon = *cfg->daemon;
	snprintf(lanes->host, sizeof(lanes->host), "%s", cfg->host);
	lanes->memory = cfg->memory;
	lanes->bytes = cfg->bytes;
	lanes->work_queue = cfg->work_queue;
	lanes->lost_fd = -1;
	lanes->stop_fd = -1;
	return lanes;
}

int lanes_open(struct lanes **lanes, const struct lanes_cfg *cfg)
{
	struct lanes *l = lanes_new(cfg);
	int ret;

	if (l == NULL)
		return -ENOMEM;
	connection_log_to_failures(false);
	if ((ret = local_memory_check(cfg->memory, cfg->bytes)) == 0 &&
	    (ret = make_stop_fd(l, cfg->end_fd)) == 0 && (ret = make_lanes(l)) == 0 &&
	    (ret = lane_errno(l->transport->open(l))) == 0)
		ret = lane_connect(&l->lane[0]);
	if (ret) {
		lanes_close(&l);
		return ret;
	}
	*lanes = l;
	return 0;
}

/* A daemon that does not answer delays the end once, not once for each lane. */
static void disconnect_all(struct lanes *lanes)
{
	const int64_t end = monotonic_ms() + CONNECTION_CLOSE_MS;

	for (uint32_t i = 0; i < lanes->count; i++) {
		if (lanes->lane[i].connected)
			lanes->transport->hang_up(&lanes->lane[i]);
	}
	for (uint32_t i = 0; i < lanes->count; i++) {
		const int64_t left = end - monotonic_ms();

		if (lanes->lane[i].connected)
			lanes->transport->disconnect(&lanes->lane[i], left > 0 ? (int)left : 0);
	}
}

void lanes_close(struct lanes **lanes)
{
	struct lanes *l = *lanes;
	struct failure kept = *failure_get();

	*lanes = NULL;
	if (l == NULL)
		return;
	disconnect_all(l);
	l->transport->close(l);
	if (l->stop_fd >= 0)
		close(l->stop_fd);
	if (l->lost_fd >= 0)
		close(l->lost_fd);
	free(l->lane);
	free(l);
	*failure_get() = kept;
}
