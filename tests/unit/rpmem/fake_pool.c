/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_pool.c -- stands in for pool.c, method.c, lanes.c, lanes_tcp.c and the log. */
#include "fake_pool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/rpmemd/lanes.h"
#include "tools/rpmemd/log.h"
#include "tools/rpmemd/reason.h"
#include "tools/rpmemd/session.h"

struct pool {
	int unused;
};

static struct pool the_pool;

struct fake_pool fake;

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
	size_t at = strlen(fake.calls);
	va_list args;

	va_start(args, format);
	vsnprintf(fake.calls + at, sizeof(fake.calls) - at, format, args);
	va_end(args);
}

int pool_create(struct pool **pool, const char *directory, const char *name, size_t size,
		const struct rpmem_pool_attr *attr)
{
	note("create %s/%s %zu%s; ", directory, name, size, attr != NULL ? " attr" : "");
	if (fake.create_answer)
		return reason_set(-fake.create_answer, "no such thing");
	*pool = &the_pool;
	return 0;
}

int pool_open(struct pool **pool, const char *directory, const char *name, size_t size,
	      struct rpmem_pool_attr *attr)
{
	note("open %s/%s %zu; ", directory, name, size);
	if (fake.busy_tries > 0 && fake.busy_tries-- > 0)
		return reason_set(EBUSY, "it is locked");
	if (fake.open_answer)
		return reason_set(-fake.open_answer, "cannot open it");
	*pool = &the_pool;
	*attr = fake.attr;
	return 0;
}

int pool_set_attr(struct pool *pool, const struct rpmem_pool_attr *attr)
{
	note("set_attr %.8s; ", attr->signature);
	return 0;
}

void pool_close(struct pool **pool, bool remove)
{
	note("close%s; ", remove ? " remove" : "");
	*pool = NULL;
}

size_t pool_size(const struct pool *pool)
{
	return 16 << 20;
}

bool pool_has_headers(const struct pool *pool)
{
	return true;
}

const char *method_name(enum control_method method)
{
	return "GPSPM";
}

int lanes_most(const char *address, enum control_transport transport, uint32_t *nlanes)
{
	*nlanes = fake.most;
	return 0;
}

static int make_endpoint(const char *transport, const struct lanes_cfg *cfg, struct method *method,
			 struct control_pool_reply *endpoint)
{
	*method = (struct method){.method = CONTROL_GPSPM};
	note("%s lanes %u at %s; ", transport, cfg->nlanes, cfg->address);
	if (fake.lanes_answer)
		return reason_set(-fake.lanes_answer, "no lanes");
	snprintf(endpoint->address, sizeof(endpoint->address), "192.0.2.7");
	endpoint->port = 1234;
	endpoint->token = 0x0123456789abcdef;
	return 0;
}

int lanes_open(struct lanes **lanes, const struct lanes_cfg *cfg, struct method *method,
	       struct control_pool_reply *endpoint)
{
	int ret = make_endpoint("rdma", cfg, method, endpoint);

	if (ret == 0)
		*lanes = (struct lanes *)&the_pool;
	return ret;
}

void lanes_close(struct lanes **lanes)
{
	if (*lanes != NULL)
		note("lanes end; ");
	*lanes = NULL;
}

int lanes_tcp_open(struct lanes_tcp **lanes, const struct lanes_cfg *cfg, struct method *method,
		   struct control_pool_reply *endpoint)
{
	int ret = make_endpoint("tcp", cfg, method, endpoint);

	if (ret == 0)
		*lanes = (struct lanes_tcp *)&the_pool;
	return ret;
}

void lanes_tcp_close(struct lanes_tcp **lanes)
{
	if (*lanes != NULL)
		note("lanes end; ");
	*lanes = NULL;
}

void log_line(enum log_level level, const char *format, ...)
{
}
