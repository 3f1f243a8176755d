/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine.c -- what fio finds when it loads the engine: one table of hooks for
 * each name that it may ask for.
 *
 * The tables differ in nothing but the name, from which options.c derives the
 * job's mode. They are not constant: fio keeps its own things in them.
 */
#include "guard.h"
#include "job.h"
#include "options.h"
#include "struct_guard.h"

/* Flags that fio looks at before it calls any hook; a server adds its own to the job's. */
#define FLAGS                                                                                      \
	(FIO_DISKLESSIO | FIO_NODISKUTIL | FIO_NO_OFFLOAD | FIO_BARRIER | FIO_MEMALIGN |           \
	 FIO_ASYNCIO_SETS_ISSUE_TIME)

#define EXPORTED __attribute__((visibility("default")))
EXPORTED extern struct ioengine_ops ioengine, librpma_apm_client, librpma_apm_server,
	librpma_gpspm_client, librpma_gpspm_server;
static struct ioengine_ops *const tables[] = {&ioengine, &librpma_apm_client, &librpma_apm_server,
					      &librpma_gpspm_client, &librpma_gpspm_server};
#define TABLES (sizeof(tables) / sizeof(tables[0]))

static bool is_table(const struct ioengine_ops *io_ops)
{
	for (size_t i = 0; i < TABLES; i++)
		if (io_ops == tables[i])
			return true;
	return false;
}

/* Set where a job is not what the headers tell: nothing of it is touched from then on. */
static bool unfit;

static bool fits(struct thread_data *td)
{
	unfit = unfit || !struct_guard_job(td, is_table);
	return !unfit;
}

static int engine_setup(struct thread_data *td)
{
	if (!fits(td))
		return EINVAL;
	return options_role(td) == ROLE_SERVER ? server_setup(td) : client_setup(td);
}

static int engine_init(struct thread_data *td)
{
	if (!fits(td))
		return EINVAL;
	return options_role(td) == ROLE_SERVER ? server_init(td) : client_init(td);
}

/* From its init on a server has this flag, which costs less than its options do. */
static bool serves(const struct thread_data *td)
{
	return (td->flags >> TD_ENG_FLAG_SHIFT) & FIO_NOIO;
}

static int engine_post_init(struct thread_data *td)
{
	return serves(td) ? 0 : client_post_init(td);
}

static enum fio_q_status engine_queue(struct thread_data *td, struct io_u *io_u)
{
	return serves(td) ? server_queue(td, io_u) : client_queue(td, io_u);
}

static int engine_commit(struct thread_data *td)
{
	return serves(td) ? 0 : client_commit(td);
}

static int engine_getevents(struct thread_data *td, unsigned min, unsigned max,
			    const struct timespec *timeout)
{
	return serves(td) ? 0 : client_getevents(td, min, max, timeout);
}

#if FIO_IOOPS_VERSION >= 36
static char *engine_errdetails(struct thread_data *td, struct io_u *io_u)
{
	(void)td;
	return client_errdetails(io_u);
}
#else
static char *engine_errdetails(struct io_u *io_u)
{
	return client_errdetails(io_u);
}
#endif

static void engine_cleanup(struct thread_data *td)
{
	if (unfit)
		return;
	if (serves(td))
		server_cleanup(td);
	else
		client_cleanup(td);
}

/* There is nothing to open, and nothing to remove: a file is a range of the region. */
static int engine_file(struct thread_data *td, struct fio_file *file)
{
	(void)td;
	(void)file;
	return 0;
}

#define ENGINE(engine_name)                                                                        \
	{                                                                                          \
		.name = (engine_name), .version = FIO_IOOPS_VERSION, .flags = FLAGS,               \
		.setup = engine_setup, .init = engine_init, .post_init = engine_post_init,         \
		.queue = engine_queue, .commit = engine_commit, .getevents = engine_getevents,     \
		.event = client_event, .errdetails = engine_errdetails, .open_file = engine_file,  \
		.close_file = engine_file, .invalidate = engine_file, .unlink_file = engine_file,  \
		.cleanup = engine_cleanup, .option_struct_size = sizeof(struct rpma_options),      \
		.options = rpma_option_table,                                                      \
	}

struct ioengine_ops ioengine = ENGINE("librpma");
struct ioengine_ops librpma_apm_client = ENGINE("librpma_apm_client");
struct ioengine_ops librpma_apm_server = ENGINE("librpma_apm_server");
struct ioengine_ops librpma_gpspm_client = ENGINE("librpma_gpspm_client");
struct ioengine_ops librpma_gpspm_server = ENGINE("librpma_gpspm_server");

/* A fio that it was not built for is given tables that it refuses, whatever it is. */
__attribute__((constructor)) static void check_program(void)
{
	if (guard_check(FIO_HEADERS_VERSION) && struct_guard_program())
		return;
	for (size_t i = 0; i < TABLES; i++)
		tables[i]->version = -1;
}
