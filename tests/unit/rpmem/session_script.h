/* SPDX-License-Identifier: BSD-3-Clause */
/* session_script.h -- sessions whose ssh follows a script. */
#pragma once

#include <errno.h>
#include <poll.h>

#include "session_test.h"

#define POOL_BYTES (8 << 20)

static const struct ssh_target host = {.host = "host"};

static inline int open_script(struct session **session, const char *script)
{
	const struct session_cfg cfg = {.target = &host,
					.command = test_script(script),
					.hello_timeout_ms = 5000,
					.reply_timeout_ms = 5000};

	*session = NULL;
	return session_open(session, &cfg);
}

static const struct control_pool_request request = {.pool_size = POOL_BYTES,
						    .nlanes = 16,
						    .transport = CONTROL_TCP,
						    .has_attr = true,
						    .attr = {.signature = "FAKE"},
						    .name = "pool.set"};

static inline int create(struct session *session)
{
	struct control_pool_reply reply;

	return session_create_pool(session, &request, &reply);
}

/* The result of a create in a session with this script. */
static inline int create_with(const char *script)
{
	struct session *session;
	int ret;

	assert_int_equal(open_script(&session, script), 0);
	ret = create(session);
	session_close(&session, false);
	return ret;
}

static inline bool has_ended(const struct session *session, int timeout_ms)
{
	struct pollfd pollfd = {.fd = session_fd(session), .events = POLLIN};

	return poll(&pollfd, 1, timeout_ms) == 1;
}

#define SESSION_TEST(name) TEST(name, test_setup, scratch_teardown)
