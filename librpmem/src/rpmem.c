/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpmem.c -- the functions of librpmem.h: checks of their arguments, in the order
 * that the manual has them, and what they set when they fail.
 *
 * A wrong argument leaves the pool usable. The end of the session, or of a lane's
 * connection, is the end of the pool: every later call fails with the same errno.
 */
#include <errno.h>
#include <librpmem.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "pool.h"
#include "report.h"

enum errors_call {
	ERRORS_CREATE,
	ERRORS_OPEN,
	ERRORS_SET_ATTR,
	ERRORS_CLOSE,
	ERRORS_REMOVE,
	ERRORS_PERSIST,
	ERRORS_DEEP_PERSIST,
	ERRORS_FLUSH,
	ERRORS_DRAIN,
	ERRORS_READ,
};

#define ROW_MAX 20

/* Each row ends with 0. */
static const int documented[][ROW_MAX] = {
	[ERRORS_CREATE] = {EINVAL, ENOENT, EACCES, ENOSPC, EEXIST, EBUSY, EFBIG, ENOMEDIUM,
			   ECONNRESET, EPROTO, EPROTONOSUPPORT, ETIMEDOUT, EHOSTUNREACH, EMFILE,
			   ENOMEM, EAGAIN, EFAULT, ENOTSUP},
	[ERRORS_OPEN] = {EINVAL, ENOENT, EACCES, ENOSPC, EBUSY, EFBIG, ENOMEDIUM, ECONNRESET,
			 EPROTO, EPROTONOSUPPORT, ETIMEDOUT, EHOSTUNREACH, EMFILE, ENOMEM, EAGAIN,
			 EFAULT, ENOTSUP},
	[ERRORS_SET_ATTR] = {EINVAL, ECONNRESET, EPROTO},
	[ERRORS_CLOSE] = {EINVAL, ECONNRESET, EPROTO},
	[ERRORS_REMOVE] = {EINVAL, ENOENT, EACCES, EBUSY, ECONNRESET, EMFILE, ENOMEM, EAGAIN,
			   ECHILD},
	[ERRORS_PERSIST] = {EINVAL, ECONNRESET, EPROTO, EIO, ETIMEDOUT, EMFILE, ENOMEM, EFAULT},
	[ERRORS_DEEP_PERSIST] = {EINVAL, ECONNRESET, EPROTO, EIO, ETIMEDOUT, EMFILE, ENOMEM,
				 EFAULT},
	[ERRORS_FLUSH] = {EINVAL, ECONNRESET, EPROTO, ETIMEDOUT, EMFILE, ENOMEM, EFAULT},
	[ERRORS_DRAIN] = {EINVAL, ECONNRESET, EPROTO, EIO, ETIMEDOUT, EMFILE, ENOMEM},
	[ERRORS_READ] = {EINVAL, ECONNRESET, EPROTO, ETIMEDOUT, EMFILE, ENOMEM, EFAULT},
};

/*
 * The daemon, its kernel and the libraries below may fail with any errno. Callers rely on those
 * that the header documents; every other one becomes EREMOTEIO, and rpmem_errormsg() has what
 * happened.
 */
static int errors_documented(enum errors_call call, int ret)
{
	for (const int *error = documented[call]; *error != 0; error++)
		if (ret == -*error)
			return ret;
	return -EREMOTEIO;
}

#define REPORT_WAIT_MS 1000 /* at most: standard error may take nothing */

static struct settings settings;

__attribute__((constructor)) static void load(void)
{
	settings_load(&settings);
	pool_watch_forks();
}

#define refuse(...) failure_set(EXIT_WRONG_USAGE, "argument", __VA_ARGS__) /* -EINVAL */

static int fail(enum errors_call call, int ret)
{
	return report_errno(errors_documented(call, ret));
}

/* --- pools --- */

static int check_names(const char *target, const char *pool_set)
{
	if (target == NULL)
		return refuse("the target is NULL");
	if (pool_set == NULL)
		return refuse("the name of the pool set is NULL");
	return 0;
}

static int check_pool(const void *addr, size_t size, const unsigned *nlanes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (addr == NULL)
		return refuse("the address of the pool is NULL");
	if ((uintptr_t)addr % page != 0)
		return refuse("the address of the pool, %p, is not a multiple of the page size, "
			      "%zu",
			      addr, page);
	if (size % page != 0)
		return refuse("the size of the pool, %zu, is not a multiple of the page size, %zu",
			      size, page);
	if (size == 0)
		return refuse("the size of the pool is 0");
	if (nlanes == NULL)
		return refuse("the number of lanes is NULL");
	if (*nlanes == 0)
		return refuse("the number of lanes is 0");
	return 0;
}

static void report_call(const char *call, const char *target, const char *pool_set)
{
	char what[512];

	snprintf(what, sizeof(what), "%s of pool set '%.200s' on %.200s failed", call,
		 pool_set != NULL ? pool_set : "(null)", target != NULL ? target : "(null)");
	report_failure(what);
}

static RPMEMpool *connect_pool(const struct pool_cfg *cfg, unsigned *nlanes,
			       struct rpmem_pool_attr *attr)
{
	struct pool_cfg checked = *cfg;
	struct rpmem_pool *pool = NULL;
	int ret;

	ret = check_names(cfg->target, cfg->pool_set);
	if (ret == 0)
		ret = check_pool(cfg->memory, cfg->size, nlanes);
	if (ret == 0) {
		checked.nlanes = *nlanes;
		ret = pool_connect(&pool, &checked, attr);
	}
	if (ret != 0) {
		report_call(cfg->create ? "rpmem_create" : "rpmem_open", cfg->target,
			    cfg->pool_set);
		fail(cfg->create ? ERRORS_CREATE : ERRORS_OPEN, ret);
		return NULL;
	}
	*nlanes = pool->nlanes;
	return pool;
}

RPMEMpool *rpmem_create(const char *target, const char *pool_set_name, void *pool_addr,
			size_t pool_size, unsigned *nlanes,
			const struct rpmem_pool_attr *create_attr)
{
	static const struct rpmem_pool_attr zero;
	const bool has_attr = create_attr != NULL && memcmp(create_attr, &zero, sizeof(zero)) != 0;
	const struct pool_cfg cfg = {
		.settings = &settings,
		.target = target,
		.pool_set = pool_set_name,
		.memory = pool_addr,
		.size = pool_size,
		.create = true,
		.create_attr = has_attr ? create_attr : NULL,
	};

	return connect_pool(&cfg, nlanes, NULL);
}

RPMEMpool *rpmem_open(const char *target, const char *pool_set_name, void *pool_addr,
		      size_t pool_size, unsigned *nlanes, struct rpmem_pool_attr *open_attr)
{
	const struct pool_cfg cfg = {
		.settings = &settings,
		.target = target,
		.pool_set = pool_set_name,
		.memory = pool_addr,
		.size = pool_size,
	};

	return connect_pool(&cfg, nlanes, open_attr);
}

int rpmem_remove(const char *target, const char *pool_set, int flags)
{
	char command[SETTINGS_COMMAND_MAX];
	struct ssh_target parsed;
	const struct session_cfg cfg = {.target = &parsed, .command = command};
	int ret;

	ret = check_names(target, pool_set);
	if (ret == 0 && (flags & ~(RPMEM_REMOVE_FORCE | RPMEM_REMOVE_POOL_SET)) != 0)
		ret = refuse("unknown flags 0x%x", (unsigned)flags);
	if (ret == 0)
		ret = ssh_target_parse(target, &parsed);
	if (ret == 0)
		ret = settings_next_command(&settings, command);
	if (ret == 0)
		ret = session_remove(&cfg, pool_set, (flags & RPMEM_REMOVE_FORCE) != 0,
				     (flags & RPMEM_REMOVE_POOL_SET) != 0);
	if (ret == 0)
		return 0;
	report_call("rpmem_remove", target, pool_set);
	return fail(ERRORS_REMOVE, ret);
}

/* --- calls on a pool --- */

/* The arguments of a call, those that it has. */
struct call {
	unsigned lane;
	unsigned unknown_flags;
	bool relaxed;
	size_t offset;
	size_t length;
	void *buffer;
};

/* The headers may only be read. */
static int check_range(const struct rpmem_pool *pool, const struct call *call, bool is_read)
{
	if (pool->has_headers && !is_read && call->offset < POOL_HEADER_BYTES)
		return refuse("offset %zu is below %d, where the pool's metadata is", call->offset,
			      POOL_HEADER_BYTES);
	if (call->offset >= pool->size || call->length > pool->size - call->offset)
		return refuse("%zu bytes at offset %zu are beyond the pool's %zu bytes",
			      call->length, call->offset, pool->size);
	return 0;
}

static int check_call(const struct rpmem_pool *pool, enum errors_call which,
		      const struct call *call)
{
	int ret = session_ended(pool->session);

	if (ret == 0 && call->unknown_flags != 0)
		ret = refuse("unknown flags 0x%x", call->unknown_flags);
	if (ret == 0 && which != ERRORS_DRAIN)
		ret = check_range(pool, call, which == ERRORS_READ);
	if (ret == 0 && call->lane >= pool->nlanes)
		ret = refuse("lane %u of a pool with %u", call->lane, pool->nlanes);
	if (ret == 0 && which == ERRORS_READ && call->buffer == NULL && call->length > 0)
		ret = refuse("the buffer is NULL");
	return ret;
}

static int enter(RPMEMpool *rpp, unsigned lane)
{
	return rpp != NULL ? pool_enter(rpp, lane) : refuse("the pool is NULL");
}

/*
 * The first to see the end of the session tells the user, as the program may not. The others
 * wait a while for that: libpmemobj crashes as soon as one of them returns.
 */
static void report_end(RPMEMpool *rpp)
{
	int none = POOL_NOT_REPORTED;

	if (__atomic_compare_exchange_n(&rpp->report, &none, POOL_REPORTING, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		if (!__atomic_load_n(&rpp->is_closing, __ATOMIC_RELAXED))
			report_failure(rpp->name);
		__atomic_store_n(&rpp->report, POOL_REPORTED, __ATOMIC_RELEASE);
		return;
	}
	for (int i = 0; i < REPORT_WAIT_MS; i++) {
		if (__atomic_load_n(&rpp->report, __ATOMIC_ACQUIRE) == POOL_REPORTED)
			return;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

static int lose(RPMEMpool *rpp, int ret)
{
	int ended;

	if (ret == -ECONNRESET || ret == -EPROTO)
		session_end(rpp->session, ret);
	ended = session_ended(rpp->session);
	if (ended == 0)
		return ret;
	report_end(rpp);
	return ended;
}

/*
 * Data of a new pool is durable: from now on its parts stay. No call that made data durable
 * returns before the daemon knows that, or it would remove them if ssh died.
 */
static int keep_parts(RPMEMpool *rpp)
{
	int ret;

	if (!__atomic_load_n(&rpp->is_new, __ATOMIC_RELAXED))
		return 0;
	ret = session_persisted(rpp->session);
	if (ret == 0)
		__atomic_store_n(&rpp->is_new, false, __ATOMIC_RELAXED);
	return ret;
}

static int leave(RPMEMpool *rpp, unsigned lane, enum errors_call call, int ret)
{
	if (ret != 0 && ret != -EINVAL)
		ret = lose(rpp, ret);
	pool_leave(rpp, lane);
	return ret == 0 ? 0 : fail(call, ret);
}

static int work(RPMEMpool *rpp, enum errors_call which, const struct call *c)
{
	switch (which) {
	case ERRORS_PERSIST:
		return lanes_persist(rpp->lanes, c->lane, c->offset, c->length, c->relaxed);
	case ERRORS_DEEP_PERSIST:
		return lanes_deep_persist(rpp->lanes, c->lane, c->offset, c->length);
	case ERRORS_FLUSH:
		return lanes_flush(rpp->lanes, c->lane, c->offset, c->length, c->relaxed);
	case ERRORS_DRAIN:
		return lanes_drain(rpp->lanes, c->lane);
	default:
		return lanes_read(rpp->lanes, c->lane, c->buffer, c->offset, c->length);
	}
}

static int run(RPMEMpool *rpp, enum errors_call which, const struct call *call)
{
	int ret = enter(rpp, call->lane);

	if (ret != 0)
		return report_errno(ret);
	ret = check_call(rpp, which, call);
	if (ret == 0 && (call->length > 0 || which == ERRORS_DRAIN)) {
		ret = work(rpp, which, call);
		if (ret == 0 && which != ERRORS_FLUSH && which != ERRORS_READ)
			ret = keep_parts(rpp);
	}
	return leave(rpp, call->lane, which, ret);
}

int rpmem_persist(RPMEMpool *rpp, size_t offset, size_t length, unsigned lane, unsigned flags)
{
	return run(rpp, ERRORS_PERSIST,
		   &(struct call){.lane = lane,
				  .unknown_flags = flags & ~RPMEM_PERSIST_RELAXED,
				  .relaxed = (flags & RPMEM_PERSIST_RELAXED) != 0,
				  .offset = offset,
				  .length = length});
}

int rpmem_deep_persist(RPMEMpool *rpp, size_t offset, size_t length, unsigned lane)
{
	return run(rpp, ERRORS_DEEP_PERSIST,
		   &(struct call){.lane = lane, .offset = offset, .length = length});
}

int rpmem_flush(RPMEMpool *rpp, size_t offset, size_t length, unsigned lane, unsigned flags)
{
	return run(rpp, ERRORS_FLUSH,
		   &(struct call){.lane = lane,
				  .unknown_flags = flags & ~RPMEM_FLUSH_RELAXED,
				  .relaxed = (flags & RPMEM_FLUSH_RELAXED) != 0,
				  .offset = offset,
				  .length = length});
}

int rpmem_drain(RPMEMpool *rpp, unsigned lane, unsigned flags)
{
	return run(rpp, ERRORS_DRAIN, &(struct call){.lane = lane, .unknown_flags = flags});
}

int rpmem_read(RPMEMpool *rpp, void *buff, size_t offset, size_t length, unsigned lane)
{
	return run(
		rpp, ERRORS_READ,
		&(struct call){.lane = lane, .offset = offset, .length = length, .buffer = buff});
}

int rpmem_set_attr(RPMEMpool *rpp, const struct rpmem_pool_attr *attr)
{
	static const struct rpmem_pool_attr zero;
	int ret = enter(rpp, 0);

	if (ret != 0)
		return report_errno(ret);
	ret = session_ended(rpp->session);
	if (ret == 0 && !rpp->has_headers && attr != NULL)
		ret = refuse("a pool without headers has no attributes");
	else if (ret == 0 && rpp->has_headers)
		ret = session_set_attr(rpp->session, attr != NULL ? attr : &zero);
	return leave(rpp, 0, ERRORS_SET_ATTR, ret);
}

int rpmem_close(RPMEMpool *rpp)
{
	int ret = enter(rpp, 0); /* is it ours, and not being closed? */

	if (ret != 0)
		return report_errno(ret);
	pool_leave(rpp, 0);
	ret = pool_close(&rpp);
	return ret == 0 ? 0 : fail(ERRORS_CLOSE, ret);
}

/* --- the library --- */

const char *rpmem_check_version(unsigned major_required, unsigned minor_required)
{
	if (major_required != RPMEM_MAJOR_VERSION)
		return "librpmem has another major version than the program requires";
	if (minor_required > RPMEM_MINOR_VERSION)
		return "librpmem has an older minor version than the program requires";
	return NULL;
}

const char *rpmem_errormsg(void)
{
	return report_message();
}
