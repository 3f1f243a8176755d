/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote_pool.c -- loads librpmem, and creates and removes a pool with it.
 *
 * No call of the API tells how the daemon makes a range durable, only the log of
 * our library: it goes to a file in memory, unless the user wants it elsewhere.
 */
#include "remote_pool.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "librpmem/include/librpmem.h"

#define LIBRARY	  "librpmem.so.1"
#define METADATA  4096
#define PAGE	  4096UL
#define PATTERN	  0x5a
#define LOG_BYTES 4096

static struct {
	void *handle;
	int log; /* -1: the user's own */
	__typeof__(&rpmem_create) create;
	__typeof__(&rpmem_close) close;
	__typeof__(&rpmem_persist) persist;
	__typeof__(&rpmem_remove) remove;
	__typeof__(&rpmem_errormsg) message;
} library;

struct remote_pool {
	RPMEMpool *rpp;
	char *memory;
	size_t memory_bytes;
	struct remote_pool_facts facts;
	char *target;
	char *set;
};

/* --- the library ---------------------------------------------------------- */

/* It reads these when it is loaded. */
static int redirect_log(void)
{
	char path[64];
	int fd = -1;

	if (getenv("RPMEM_LOG_FILE") == NULL && getenv("RPMEM_LOG_LEVEL") == NULL)
		fd = memfd_create("librpmem-log", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	setenv("RPMEM_LOG_FILE", path, 1);
	setenv("RPMEM_LOG_LEVEL", "2", 1);
	return fd;
}

static bool find_functions(void)
{
	library.create = dlsym(library.handle, "rpmem_create");
	library.close = dlsym(library.handle, "rpmem_close");
	library.persist = dlsym(library.handle, "rpmem_persist");
	library.remove = dlsym(library.handle, "rpmem_remove");
	library.message = dlsym(library.handle, "rpmem_errormsg");
	return library.create != NULL && library.close != NULL && library.persist != NULL &&
	       library.remove != NULL && library.message != NULL;
}

static int load(void)
{
	const char *why;

	if (library.handle != NULL)
		return 0;
	library.log = redirect_log();
	library.handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (library.handle != NULL && find_functions())
		return 0;
	why = library.handle != NULL ? "it lacks a function" : dlerror();
	failure_set(EXIT_RUN_FAILED, "pool",
		    "cannot load " LIBRARY ", which --persist rpmem measures: %s (builds with "
		    "RPMA_BUILD_RPMEM=ON have it)",
		    why);
	if (library.handle != NULL)
		dlclose(library.handle);
	library.handle = NULL;
	if (library.log >= 0)
		close(library.log);
	return -EIO;
}

/* The line of the last pool: "created, 1 lanes over RDMA, persistence by RDMA flush". */
static struct remote_pool_facts read_facts(void)
{
	struct remote_pool_facts facts = {0};
	char log[LOG_BYTES] = "";
	ssize_t got = library.log >= 0 ? pread(library.log, log, sizeof(log) - 1, 0) : 0;
	const char *line = got > 0 ? strstr(log, ": created, ") : NULL;

	if (library.log >= 0 && ftruncate(library.log, 0) != 0)
		line = NULL;
	if (line == NULL)
		return facts;
	facts.transport = strstr(line, " over RDMA,") != NULL  ? "rdma"
			  : strstr(line, " over TCP,") != NULL ? "tcp"
							       : NULL;
	facts.method = strstr(line, " by RDMA flush") != NULL	? "apm"
		       : strstr(line, " by the daemon") != NULL ? "gpspm"
								: NULL;
	return facts;
}

/* --- a pool --------------------------------------------------------------- */

static int map(struct remote_pool *p, const struct remote_pool_cfg *cfg)
{
	char size[UNITS_TEXT_BYTES];
	void *memory;

	p->memory_bytes = (METADATA + cfg->bytes + PAGE - 1) / PAGE * PAGE;
	memory = mmap(NULL, p->memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (memory == MAP_FAILED)
		return failure_set(EXIT_RUN_FAILED, "memory", "cannot map a pool of %s: %s",
				   units_print_size(p->memory_bytes, size), strerror(errno));
	p->memory = memory;
	if (cfg->node >= 0) /* buffers of the same threads tell if it is refused */
		topology_bind_memory(cfg->topology, memory, p->memory_bytes, cfg->node);
	memset(memory, PATTERN, p->memory_bytes);
	return 0;
}

static int create(struct remote_pool *p, const struct remote_pool_cfg *cfg)
{
	/* without a signature a pool set of the usual kind has no pool */
	static const struct rpmem_pool_attr attr = {.signature = "RPMABNC", .major = 1};
	unsigned lanes = cfg->lanes;

	p->rpp = library.create(cfg->target, cfg->set, p->memory, p->memory_bytes, &lanes, &attr);
	if (p->rpp == NULL)
		return failure_set(EXIT_RUN_FAILED, "pool",
				   "librpmem cannot create a pool of pool set %s on %s: %s",
				   cfg->set, cfg->target, library.message());
	p->facts = read_facts();
	if (lanes < cfg->lanes)
		return failure_set(EXIT_RUN_FAILED, "pool",
				   "the pool on %s has %u lanes: a thread needs one each, %u in "
				   "all",
				   cfg->target, lanes, cfg->lanes);
	return 0;
}

int remote_pool_open(struct remote_pool **pool, const struct remote_pool_cfg *cfg)
{
	struct remote_pool *p;
	int ret = load();

	if (ret)
		return ret;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return failure_set(EXIT_INTERNAL, "pool", "out of memory");
	p->target = strdup(cfg->target);
	p->set = strdup(cfg->set);
	ret = p->target != NULL && p->set != NULL
		      ? map(p, cfg)
		      : failure_set(EXIT_INTERNAL, "pool", "out of memory");
	if (ret == 0)
		ret = create(p, cfg);
	if (ret)
		remote_pool_close(&p);
	else
		*pool = p;
	return ret;
}

void remote_pool_close(struct remote_pool **pool)
{
	struct remote_pool *p = *pool;

	*pool = NULL;
	if (p == NULL)
		return;
	if (p->rpp != NULL) {
		library.close(p->rpp);
		library.remove(p->target, p->set, 0);
	}
	if (p->memory != NULL)
		munmap(p->memory, p->memory_bytes);
	free(p->target);
	free(p->set);
	free(p);
}

struct remote_pool_facts remote_pool_facts(const struct remote_pool *pool)
{
	return pool->facts;
}

int remote_pool_persist(const struct remote_pool *pool, uint32_t lane, uint64_t offset,
			uint64_t bytes, bool relaxed)
{
	if (__builtin_expect(library.persist(pool->rpp, METADATA + offset, bytes, lane,
					     relaxed ? RPMEM_PERSIST_RELAXED : 0) == 0,
			     1))
		return 0;
	return failure_set(EXIT_RUN_FAILED, "measure",
			   "rpmem_persist() of %llu bytes to %s failed: %s",
			   (unsigned long long)bytes, pool->target, library.message());
}
