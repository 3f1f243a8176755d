/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.c -- waits with an end: for completions of one queue, and for any of many objects.
 *
 * Both sleep in poll(2) on the descriptors of the channels, whatever their O_NONBLOCK, and count
 * what is left of the time again after a signal.
 */
#include "conn.h"
#include "log.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* When a wait of this time ends; INT64_MAX: never. */
static int64_t end_of(int timeout_ms)
{
	return timeout_ms < 0 ? INT64_MAX : now_ns() + (int64_t)timeout_ms * 1000000;
}

/* Polls like poll(2), until end_ns. 0: the time is over. -1: failed, and logged. */
static int poll_until(struct pollfd *fds, nfds_t count, int64_t end_ns)
{
	for (;;) {
		int64_t left_ns = end_ns - now_ns();
		struct timespec left = {left_ns / 1000000000, left_ns % 1000000000};

		if (left_ns < 0)
			left = (struct timespec){0, 0};
		int ready = ppoll(fds, count, end_ns == INT64_MAX ? NULL : &left, NULL);
		if (ready >= 0)
			return ready;
		if (errno == EINTR)
			continue;
		RPMA_LOG_ERRNO(errno, "ppoll()");
		return -1;
	}
}

/* The event that the queue's channel has. Another thread may have taken it. */
static int take_event(struct rpma_cq *cq)
{
	struct ibv_cq *ev_cq;
	void *ev_ctx;

	if (ibv_get_cq_event(cq->channel, &ev_cq, &ev_ctx)) {
		if (errno == EAGAIN || errno == EINTR)
			return 0;
		RPMA_LOG_ERRNO(errno, "ibv_get_cq_event()");
		return RPMA_E_PROVIDER;
	}
	rpma_cq_ack_event(cq);
	return 0;
}

static const char none_in_time[] = "no completion came in time";

static int sleep_for_event(struct rpma_cq *cq, int64_t end_ns)
{
	struct pollfd fd = {.fd = cq->channel->fd, .events = POLLIN};
	int ready = poll_until(&fd, 1, end_ns);

	if (ready == 0)
		return RPMA_FAIL_CONSTANT(RPMA_E_TIMEOUT, none_in_time);
	return ready < 0 ? RPMA_E_PROVIDER : take_event(cq);
}

/* RPMA_E_NO_COMPLETION: the wait may go on. */
static int look_ahead(const struct rpma_cq *cq, int timeout_ms)
{
	static const char function[] = "rpma_cq_await_wc";
	const enum rpma_prospect prospect =
		cq->conns != NULL ? rpma_cq_conns_prospect(cq) : rpma_sendq_prospect(cq->sendq);

	if (prospect == RPMA_PROSPECT_ROOM)
		return RPMA_FAIL_CONSTANT(RPMA_E_AGAIN, "the send queue has room again");
	if (prospect == RPMA_PROSPECT_OPEN || timeout_ms >= 0)
		return RPMA_E_NO_COMPLETION;
	if (prospect == RPMA_PROSPECT_WAITING)
		return RPMA_FAIL_OF(function, RPMA_E_INVAL,
				    "operations wait for rpma_submit(), so no completion can come");
	return RPMA_FAIL_OF(function, RPMA_E_INVAL,
			    "no operation under way leaves a completion, and no receive is posted");
}

int rpma_cq_await_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *num_entries_got,
		     unsigned spin_us, int timeout_ms)
{
	const int64_t end_ns = end_of(timeout_ms);
	const int64_t spin_end_ns = now_ns() + (int64_t)spin_us * 1000;
	int ret;

	do {
		ret = rpma_cq_get_wc(cq, num_entries, wc, num_entries_got);
		if (ret != RPMA_E_NO_COMPLETION)
			return ret;
	} while (now_ns() < (spin_end_ns < end_ns ? spin_end_ns : end_ns));
	if (cq->channel_shared)
		return RPMA_FAIL(RPMA_E_SHARED_CHANNEL, "the completion channel is shared");

	for (bool is_over = false;; is_over = now_ns() >= end_ns) {
		ret = rpma_cq_arm_again(cq);
		if (ret)
			return ret;
		ret = rpma_cq_get_wc(cq, num_entries, wc, num_entries_got);
		if (ret == RPMA_E_NO_COMPLETION && cq->sendq != NULL)
			ret = look_ahead(cq, timeout_ms);
		if (ret != RPMA_E_NO_COMPLETION)
			return ret;
		if (is_over)
			return RPMA_FAIL_CONSTANT(RPMA_E_TIMEOUT, none_in_time);
		ret = sleep_for_event(cq, end_ns);
		if (ret)
			return ret;
	}
}

/* The descriptor to poll for the one object that the item has. */
static int pollfd_of(const struct rpma_wait_item *item, struct pollfd *fd)
{
	const int objects = (item->cq != NULL) + (item->conn != NULL) + (item->ep != NULL) +
			    (item->peer != NULL) + (item->pollfd != NULL);

	fd->events = POLLIN;
	if (objects != 1)
		return RPMA_FAIL_WITH(RPMA_E_INVAL,
				      "rpma_wait(): an item has %d objects, expected one", objects);
	if (item->pollfd != NULL) {
		fd->fd = item->pollfd->fd;
		fd->events = item->pollfd->events;
		return 0;
	}
	if (item->peer != NULL) {
		fd->fd = item->peer->pd->context->async_fd;
		return 0;
	}
	if (item->conn != NULL)
		return rpma_conn_get_event_fd(item->conn, &fd->fd);
	if (item->ep != NULL)
		return rpma_ep_get_fd(item->ep, &fd->fd);
	if (item->cq->channel_shared)
		return RPMA_FAIL_WITH(RPMA_E_SHARED_CHANNEL,
				      "rpma_wait(): the completion channel of a queue is shared");
	return rpma_cq_get_fd(item->cq, &fd->fd);
}

/* Its event is taken already: an item before is of the same queue. */
static bool is_taken(const struct rpma_wait_item *items, const struct rpma_wait_item *item)
{
	while (items < item) {
		if (items->ready && items->cq == item->cq)
			return true;
		items++;
	}
	return false;
}

static int take_ready(const struct rpma_wait_item *items, struct rpma_wait_item *item,
		      const struct pollfd *fd)
{
	int ret = 0;

	if (item->pollfd != NULL)
		item->pollfd->revents = fd->revents;
	if (fd->revents == 0)
		return 0;
	if (item->cq != NULL && !is_taken(items, item)) {
		ret = take_event(item->cq);
		if (ret == 0)
			ret = rpma_cq_arm_again(item->cq);
	}
	item->ready = ret == 0;
	return ret;
}

int rpma_wait(struct rpma_wait_item *items, size_t count, int timeout_ms, size_t *num_ready)
{
	struct pollfd fds[RPMA_WAIT_ITEMS_MAX];
	size_t found = 0;
	int ret = 0;

	if (items == NULL)
		return RPMA_FAIL_NULL(items);
	if (count == 0 || count > RPMA_WAIT_ITEMS_MAX)
		return RPMA_FAIL(RPMA_E_INVAL, "count is %zu, expected 1 to %d", count,
				 RPMA_WAIT_ITEMS_MAX);
	for (size_t i = 0; ret == 0 && i < count; i++) {
		items[i].ready = false;
		ret = pollfd_of(&items[i], &fds[i]);
	}
	if (ret)
		return ret;

	int ready = poll_until(fds, count, end_of(timeout_ms));
	if (ready <= 0)
		return ready < 0
			       ? RPMA_E_PROVIDER
			       : RPMA_FAIL_CONSTANT(RPMA_E_TIMEOUT, "nothing became ready in time");
	for (size_t i = 0; ret == 0 && i < count; i++) {
		ret = take_ready(items, &items[i], &fds[i]);
		found += items[i].ready;
	}
	if (ret == 0 && num_ready != NULL)
		*num_ready = found;
	return ret;
}
