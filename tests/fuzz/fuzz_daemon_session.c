/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_daemon_session.c -- the bytes that a client sends to rpmemd over ssh.
 *
 * Whatever they are the session ends, and at its end each pool and its lanes are
 * closed, the lanes first.
 */
#include <fcntl.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "fuzz.h"
#include "tools/rpmemd/lanes.h"
#include "tools/rpmemd/log.h"
#include "tools/rpmemd/session.h"

struct pool {
	bool is_open, has_lanes;
};

static struct pool the_pool;

/* --- a pool and lanes that are only opened and closed ---------------------- */

static int open_pool(struct pool **pool, const char *name)
{
	hold(!the_pool.is_open && strlen(name) < CONTROL_NAME_MAX);
	the_pool.is_open = true;
	*pool = &the_pool;
	return 0;
}

int pool_create(struct pool **pool, const char *directory, const char *name, size_t size,
		const struct rpmem_pool_attr *attr)
{
	(void)directory, (void)size, (void)attr;
	return open_pool(pool, name);
}

int pool_open(struct pool **pool, const char *directory, const char *name, size_t size,
	      struct rpmem_pool_attr *attr)
{
	(void)directory, (void)size, (void)attr;
	return open_pool(pool, name);
}

int pool_set_attr(struct pool *pool, const struct rpmem_pool_attr *attr)
{
	(void)attr;
	hold(pool->is_open);
	return 0;
}

void pool_close(struct pool **pool, bool remove)
{
	(void)remove;
	hold((*pool)->is_open && !(*pool)->has_lanes);
	(*pool)->is_open = false;
	*pool = NULL;
}

size_t pool_size(const struct pool *pool)
{
	(void)pool;
	return 1 << 20;
}

bool pool_has_headers(const struct pool *pool)
{
	(void)pool;
	return true;
}

const char *method_name(enum control_method method)
{
	(void)method;
	return "";
}

int lanes_most(const char *address, enum control_transport transport, uint32_t *nlanes)
{
	(void)address, (void)transport;
	*nlanes = 4;
	return 0;
}

static int open_lanes(const struct lanes_cfg *cfg, struct method *method,
		      struct control_pool_reply *endpoint)
{
	hold(the_pool.is_open && !the_pool.has_lanes && cfg->nlanes > 0 && cfg->nlanes <= 4);
	the_pool.has_lanes = true;
	*method = (struct method){.method = CONTROL_GPSPM};
	strcpy(endpoint->address, "127.0.0.1");
	endpoint->port = 1;
	endpoint->token = 1;
	return 0;
}

int lanes_open(struct lanes **lanes, const struct lanes_cfg *cfg, struct method *method,
	       struct control_pool_reply *endpoint)
{
	*lanes = (struct lanes *)(void *)&the_pool;
	return open_lanes(cfg, method, endpoint);
}

void lanes_close(struct lanes **lanes)
{
	the_pool.has_lanes &= *lanes == NULL;
	*lanes = NULL;
}

int lanes_tcp_open(struct lanes_tcp **lanes, const struct lanes_cfg *cfg, struct method *method,
		   struct control_pool_reply *endpoint)
{
	*lanes = (struct lanes_tcp *)(void *)&the_pool;
	return open_lanes(cfg, method, endpoint);
}

void lanes_tcp_close(struct lanes_tcp **lanes)
{
	the_pool.has_lanes &= *lanes == NULL;
	*lanes = NULL;
}

void log_line(enum log_level level, const char *format, ...)
{
	(void)level, (void)format;
}

/* --- the bytes ------------------------------------------------------------------ */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int out = -1;
	struct session_cfg cfg = {.stop_fd = -1, .poolset_dir = "/sets", .address = "127.0.0.1"};
	int in[2];

	if (out < 0)
		out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	hold(pipe(in) == 0);
	hold(write(in[1], data, size) == (ssize_t)size); /* a pipe has room for more */
	close(in[1]);
	cfg.in = in[0];
	cfg.out = out;
	session_run(&cfg);
	close(in[0]);
	hold(!the_pool.is_open && !the_pool.has_lanes);
	return 0;
}

size_t fuzz_seed(size_t index, uint8_t input[FUZZ_INPUT_MAX])
{
	struct control_pool_request request = {.pool_size = 1 << 20,
					       .nlanes = 8,
					       .transport = index == 0 ? CONTROL_RDMA : CONTROL_TCP,
					       .has_attr = index == 0,
					       .name = "pool.set"};
	const struct rpmem_pool_attr attr = {.major = 1};
	size_t at;

	if (index > 1)
		return 0;
	at = control_encode_pool_request(index == 0 ? CONTROL_CREATE : CONTROL_OPEN, &request,
					 input, FUZZ_INPUT_MAX);
	at += control_encode_set_attr(&attr, input + at, FUZZ_INPUT_MAX - at);
	at += control_encode_plain(CONTROL_PERSISTED, false, 0, NULL, input + at,
				   FUZZ_INPUT_MAX - at);
	return at + control_encode_close(0, input + at, FUZZ_INPUT_MAX - at);
}
