/* SPDX-License-Identifier: BSD-3-Clause */
/* session_script.h -- sessions whose ssh follows a script. */
#pragma once

#include <errno.h>
#include <poll.h>

#include "session_test.h"

#define POOL_BYTES (8 << 20)
#define LIMIT_MS   300000 /* for what is to come */

static const struct ssh_target host = {.host = "host"};

/* The session of a test, closed after it. */
static struct session *session;

static inline int open_script(const char *script)
{
	const struct session_cfg cfg = {.target = &host,
					.command = test_script(script),
					.start_timeout_ms = LIMIT_MS,
					.reply_timeout_ms = LIMIT_MS};

	session = NULL;
	return session_open(&session, &cfg);
}

static const struct control_pool_request request = {.pool_size = POOL_BYTES,
						    .nlanes = 16,
						    .transport = CONTROL_TCP,
						    .has_attr = true,
						    .attr = {.signature = "FAKE"},
						    .name = "pool.set"};

static inline int create(void)
{
	struct control_pool_reply reply;

	return session_create_pool(session, &request, &reply);
}

static inline void begin(const char *script)
{
	EQUAL((open_script(script), 0), (create(), 0));
}

/* The result of a create in a session with this script. */
static inline int create_with(const char *script)
{
	int ret;

	assert_int_equal(open_script(script), 0);
	ret = create();
	session_close(&session, false);
	return ret;
}

static inline bool has_ended(int timeout_ms)
{
	struct pollfd pollfd = {.fd = session_fd(session), .events = POLLIN};

	return poll(&pollfd, 1, timeout_ms) == 1;
}

static inline int session_teardown(void **state)
{
	session_close(&session, false);
	return scratch_teardown(state);
}

#define SESSION_TEST(name) TEST(name, test_setup, session_teardown)
