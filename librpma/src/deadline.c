/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deadline.c -- a timer beside an event channel, with RPMA_CONN_OPT_CONNECT_MS only.
 */
#include "conn.h"
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int watch(const struct rpma_deadline *deadline, int fd)
{
	struct epoll_event readable = {.events = EPOLLIN};

	return epoll_ctl(deadline->fd, EPOLL_CTL_ADD, fd, &readable);
}

static int set(struct rpma_deadline *deadline, int evch_fd, uint32_t timeout_ms)
{
	const struct itimerspec once = {
		.it_value = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000},
	};
	const int flags = fcntl(evch_fd, F_GETFL);

	deadline->fd = epoll_create1(EPOLL_CLOEXEC);
	if (deadline->fd < 0)
		return -1;
	deadline->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (deadline->timer_fd < 0 || timerfd_settime(deadline->timer_fd, 0, &once, NULL))
		return -1;
	if (watch(deadline, evch_fd) || watch(deadline, deadline->timer_fd))
		return -1;
	return flags < 0 ? -1 : fcntl(evch_fd, F_SETFL, flags | O_NONBLOCK);
}

int rpma_deadline_set(struct rpma_deadline *deadline, const struct rdma_event_channel *evch,
		      uint32_t timeout_ms)
{
	*deadline = (struct rpma_deadline){.is_set = true, .fd = -1, .timer_fd = -1};
	if (set(deadline, evch->fd, timeout_ms) == 0)
		return 0;

	RPMA_LOG_ERRNO(errno, "a timer of %u ms: epoll_create1() or timerfd_create()", timeout_ms);
	return RPMA_E_PROVIDER;
}

void rpma_deadline_drop(struct rpma_deadline *deadline)
{
	if (!deadline->is_set || deadline->timer_fd < 0)
		return;
	(void)close(deadline->timer_fd); /* and epoll(7) forgets it */
	deadline->timer_fd = -1;
}

void rpma_deadline_close(struct rpma_deadline *deadline)
{
	rpma_deadline_drop(deadline);
	if (deadline->is_set && deadline->fd >= 0)
		(void)close(deadline->fd);
	deadline->is_set = false;
}

bool rpma_deadline_is_over(const struct rpma_deadline *deadline)
{
	uint64_t times;

	return deadline->is_set && deadline->timer_fd >= 0 &&
	       read(deadline->timer_fd, &times, sizeof(times)) == sizeof(times);
}

int rpma_deadline_wait(const struct rpma_deadline *deadline)
{
	struct pollfd fd = {.fd = deadline->fd, .events = POLLIN};

	if (fcntl(deadline->fd, F_GETFL) & O_NONBLOCK)
		return RPMA_E_NO_EVENT;
	if (poll(&fd, 1, -1) >= 0)
		return 0;
	if (errno == EINTR)
		return RPMA_E_NO_EVENT;
	RPMA_LOG_ERRNO(errno, "poll()");
	return RPMA_E_PROVIDER;
}
