/* SPDX-License-Identifier: BSD-3-Clause */
/* test_deadline.c -- RPMA_CONN_OPT_CONNECT_MS: how long a handshake may take. */
#include "every_call_fails.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SHORT_MS = 20, NEVER_MS = 60000 };

static int setup_ms(uint32_t timeout_ms, bool passive)
{
	setup_cfg(NULL);
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_CONNECT_MS, timeout_ms));
	if (passive) {
		make_ep();
		make_incoming();
	} else {
		make_req();
	}
	make_conn();
	return 0;
}

static int setup_short(void **unused)
{
	return setup_ms(SHORT_MS, false);
}

static int setup_short_accepted(void **unused)
{
	return setup_ms(SHORT_MS, true);
}

static int setup_long(void **unused)
{
	return setup_ms(NEVER_MS, false);
}

SETUP(setup_short_cfg, setup_cfg,
      expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_CONNECT_MS, SHORT_MS)))

static int event_fd(void)
{
	int fd = -1;

	expect(0, rpma_conn_get_event_fd(w.conn, &fd));
	return fd;
}

static bool readable(int fd, int timeout_ms)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};

	return poll(&polled, 1, timeout_ms) == 1;
}

static void expect_event(enum rpma_conn_event expected)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	expect(0, rpma_conn_next_event(w.conn, &event));
	assert_int_equal(event, expected);
}

static void expect_no_event(void)
{
	enum rpma_conn_event event;

	fcntl(event_fd(), F_SETFL, O_NONBLOCK);
	expect(RPMA_E_NO_EVENT, rpma_conn_next_event(w.conn, &event));
}

TEST(deadline__ends_a_wait, setup_short, teardown)
{
	assert_int_equal(fcntl(event_fd(), F_GETFL) & O_NONBLOCK, 0);
	expect_event(RPMA_CONN_UNREACHABLE);
	expect_text("connection with 192.0.2.1:7204: not established within 20 ms");
}

TEST(deadline__ends_the_wait_of_a_server, setup_short_accepted, teardown)
{
	expect_event(RPMA_CONN_UNREACHABLE);
}

TEST(deadline__makes_the_descriptor_readable, setup_short, teardown)
{
	fcntl(event_fd(), F_SETFL, O_NONBLOCK);
	assert_true(readable(event_fd(), NEVER_MS));
	expect_event(RPMA_CONN_UNREACHABLE);
	assert_false(readable(event_fd(), 0));
	expect_no_event();
}

TEST(deadline__ends_rpma_wait, setup_short, teardown)
{
	struct rpma_wait_item item = {.conn = w.conn};

	expect(0, rpma_wait(&item, 1, NEVER_MS, NULL));
	assert_true(item.ready);
	expect_event(RPMA_CONN_UNREACHABLE);
}

TEST(deadline__is_final, setup_short, teardown)
{
	expect_event(RPMA_CONN_UNREACHABLE);
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	expect_no_event();
}

TEST(deadline__ends_with_the_handshake, setup_short, teardown)
{
	const int fd = event_fd();

	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	assert_true(readable(fd, 0));
	expect_event(RPMA_CONN_ESTABLISHED);
	EQUAL((readable(fd, 2 * SHORT_MS), false), (event_fd(), fd));
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_DISCONNECTED, NULL, 0);
	assert_true(readable(fd, 0));
	expect_event(RPMA_CONN_CLOSED);
}

TEST(deadline__prefers_what_came_in_time, setup_short, teardown)
{
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_REJECTED, NULL, 0);
	assert_false(readable(-1, 2 * SHORT_MS));
	expect_event(RPMA_CONN_REJECTED);
	expect_no_event();
}

/* An event of no consequence does not end the handshake. */
TEST(deadline__outlasts_other_events, setup_short, teardown)
{
	enum rpma_conn_event event;

	fcntl(event_fd(), F_SETFL, O_NONBLOCK);
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ADDR_CHANGE, NULL, 0);
	expect(RPMA_E_UNKNOWN, rpma_conn_next_event(w.conn, &event));
	assert_true(readable(event_fd(), 100 * SHORT_MS));
	expect_event(RPMA_CONN_UNREACHABLE);
}

TEST(deadline__is_told_from_no_event, setup_long, teardown)
{
	assert_false(readable(event_fd(), 0));
	expect_no_event();
}

TEST(deadline__covers_all_of_rpma_conn_connect, setup_short_cfg, teardown)
{
	enum rpma_conn_event event;

	/* long enough for two calls on a busy host */
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_CONNECT_MS, 500));
	provider.addresses = 2;
	expect(0, rpma_conn_connect(w.peer, "192.0.2.1", "7204", w.cfg, NULL, &w.conn));
	fcntl(event_fd(), F_SETFL, O_NONBLOCK);
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ADDR_ERROR, NULL, 0);
	expect(RPMA_E_NO_EVENT, rpma_conn_next_event(w.conn, &event));
	assert_true(readable(event_fd(), NEVER_MS));
	expect_event(RPMA_CONN_UNREACHABLE);
	expect_text("connection with 192.0.2.2:7204: not established within 500 ms");
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ADDR_RESOLVED, NULL, 0);
	expect_no_event();
	assert_int_equal(provider.live.qp, 0);
}

/* A program with nothing else to do lets one call take all steps. */
TEST(deadline__ends_a_wait_for_rpma_conn_connect, setup_short_cfg, teardown)
{
	expect(0, rpma_conn_connect(w.peer, "192.0.2.1", "7204", w.cfg, NULL, &w.conn));
	fcntl(event_fd(), F_SETFL, 0);
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ADDR_RESOLVED, NULL, 0);
	expect_event(RPMA_CONN_UNREACHABLE);
	assert_int_equal(calls_count("rdma_resolve_route"), 1);
}

/* Each descriptor that it takes may be one too many. */
TEST(deadline__needs_descriptors, setup_short_cfg, teardown)
{
	struct rpma_conn *conn = UNTOUCHED;
	struct rlimit limit, low;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	for (rlim_t spare = 1; spare <= 2; spare++) {
		make_req();
		int next = dup(STDERR_FILENO);
		close(next);
		low = limit;
		low.rlim_cur = (rlim_t)next + spare; /* the channel has the first */
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
		int ret = rpma_conn_req_connect(&w.req, NULL, &conn);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		expect_named(RPMA_E_PROVIDER, "rpma_conn_req_connect", ret);
		expect_text("Too many open files");
		assert_ptr_equal(conn, UNTOUCHED);
	}
}
