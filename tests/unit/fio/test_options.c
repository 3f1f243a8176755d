/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_options.c -- what the options of a job come to. The jobs are fio's own
 * structs, side by side as fio has them, with the values that it would put in.
 */
#include <limits.h>

#include "common/base/failure.h"
#include "fio_engine/job.h"
#include "fio_engine/options.h"
#include "tests/lib/test.h"

#define JOBS 3 /* in one section */

struct thread_segment segments[REAL_MAX_SEG];

static struct ioengine_ops engine;
static struct rpma_options options;
static struct settings settings;

static struct thread_data *job(unsigned number)
{
	return &segments[0].threads[number];
}

/* A section of three jobs of the engine with this name, as the defaults make it. */
static int make(const char *name)
{
	segments[0].threads = calloc(JOBS_PER_SEG, sizeof(struct thread_data));
	if (!segments[0].threads)
		return -1;
	engine.name = name;
	options = (struct rpma_options){
		.role = ROLE_CLIENT,
		.serverip = (char *)(uintptr_t) "127.0.0.1",
		.port = 7204,
		.busy_wait_polling = 1,
		.flush = FLUSH_AUTO,
		.flush_type = FLUSH_TYPE_AUTO,
		.write_op = WRITE_PLAIN,
		.region = REGION_AUTO,
		.connect_timeout = 10,
	};
	for (unsigned i = 0; i < JOBS; i++) {
		struct thread_data *td = job(i);

		td->io_ops = &engine;
		td->eo = &options;
		td->thread_number = i + 1;
		td->subjob_number = i ? JOBS - i : 0;
		td->o.numjobs = i ? 1 : JOBS;
		td->o.min_bs[DDIR_WRITE] = td->o.max_bs[DDIR_WRITE] = 4096;
	}
	return 0;
}

static int make_new_name(void **state)
{
	return make("librpma");
}

static int make_old_client(void **state)
{
	return make("librpma_gpspm_client");
}

static int make_old_server(void **state)
{
	return make("librpma_apm_server");
}

static int unmake(void **state)
{
	free(segments[0].threads);
	return 0;
}

#define NEW_NAME_TEST(name)   TEST(name, make_new_name, unmake)
#define OLD_CLIENT_TEST(name) TEST(name, make_old_client, unmake)
#define OLD_SERVER_TEST(name) TEST(name, make_old_server, unmake)

static void assert_refused(unsigned number, const char *words)
{
	assert_int_equal(options_settle(job(number), &settings), -EINVAL);
	if (!strstr(failure_get()->text, words))
		fail_msg("'%s' has no '%s'", failure_get()->text, words);
}

NEW_NAME_TEST(client_is_for_apm_at_the_port_of_all)
{
	EQUAL((options_settle(job(2), &settings), 0), (settings.role, ROLE_CLIENT),
	      (settings.method, METHOD_APM), (settings.port, 7204), (settings.job, 1),
	      (settings.jobs, 3), (settings.poll, true));
}

NEW_NAME_TEST(server_takes_any_method)
{
	job(0)->o.numjobs = 1;
	options.role = ROLE_SERVER;
	EQUAL((options_settle(job(0), &settings), 0), (settings.role, ROLE_SERVER),
	      (settings.method, METHOD_ANY));
}

NEW_NAME_TEST(port_may_follow_the_subjob)
{
	options.port_mode = PORT_SUBJOB;
	EQUAL((options_settle(job(1), &settings), 0), (settings.port, 7206), (settings.job, 0),
	      (settings.jobs, 1));
}

OLD_CLIENT_TEST(old_client_has_role_method_and_a_port_of_its_own)
{
	EQUAL((options_settle(job(2), &settings), 0), (settings.role, ROLE_CLIENT),
	      (settings.method, METHOD_GPSPM), (settings.port, 7206));
}

OLD_SERVER_TEST(old_server_needs_no_role)
{
	EQUAL((options_role(job(0)), ROLE_SERVER), (options_settle(job(1), &settings), 0),
	      (settings.method, METHOD_APM), (settings.port, 7205));
}

OLD_CLIENT_TEST(old_client_is_no_server)
{
	options.role = ROLE_SERVER;
	assert_refused(0, "role=server");
}

OLD_CLIENT_TEST(old_name_has_no_other_method)
{
	options.mode = METHOD_NATIVE;
	assert_refused(0, "mode=");
}

NEW_NAME_TEST(client_needs_a_port)
{
	options.port = 0;
	assert_refused(0, "port=0");
}

NEW_NAME_TEST(port_ends_where_ports_end)
{
	options.port = 65534;
	options.port_mode = PORT_THREAD;
	EQUAL((options_settle(job(1), &settings), 0), (settings.port, 65535));
	assert_refused(2, "65536");
}

/* fio stores what is negative as it is. */
NEW_NAME_TEST(negative_numbers_are_refused)
{
	job(0)->o.numjobs = 1;
	options.role = ROLE_SERVER;
	options.port = UINT_MAX;
	assert_refused(0, "port=-1");
	options.port = 7204;
	options.clients = UINT_MAX;
	assert_refused(0, "clients=-1");
}

NEW_NAME_TEST(servers_cannot_share_a_port)
{
	options.role = ROLE_SERVER;
	assert_refused(0, "port_mode=subjob");
	options.port_mode = PORT_SUBJOB;
	assert_int_equal(options_settle(job(0), &settings), 0);
}

NEW_NAME_TEST(atomic_write_has_8_bytes)
{
	options.write_op = WRITE_ATOMIC;
	assert_refused(0, "bs=8");
	job(0)->o.min_bs[DDIR_WRITE] = job(0)->o.max_bs[DDIR_WRITE] = 8;
	assert_int_equal(options_settle(job(0), &settings), 0);
}

NEW_NAME_TEST(immediate_data_of_gpspm_wants_blocks)
{
	options.write_op = WRITE_IMM;
	options.mode = METHOD_GPSPM;
	job(0)->o.min_bs[DDIR_WRITE] = 512;
	assert_refused(0, "bs=");
	options.mode = METHOD_APM;
	assert_int_equal(options_settle(job(0), &settings), 0);
}

NEW_NAME_TEST(immediate_data_of_gpspm_wants_flushes)
{
	options.write_op = WRITE_IMM;
	options.mode = METHOD_GPSPM;
	options.flush = FLUSH_NONE;
	assert_refused(0, "flush=none");
	options.flush = FLUSH_FSYNC;
	assert_refused(0, "flush=fsync");
	options.mode = METHOD_APM;
	assert_int_equal(options_settle(job(0), &settings), 0);
}

NEW_NAME_TEST(server_allows_a_list)
{
	char list[] = "10.0.0.1,10.1.0.0/16,fe80::/64";

	job(0)->o.numjobs = 1;
	options.role = ROLE_SERVER;
	options.allow = list;
	EQUAL((options_settle(job(0), &settings), 0), (settings.allow.count, 3));
}

NEW_NAME_TEST(malformed_item_of_a_list_is_named)
{
	char list[] = "10.0.0.1,10.0.0.300";

	job(0)->o.numjobs = 1;
	options.role = ROLE_SERVER;
	options.allow = list;
	assert_refused(0, "allow=10.0.0.300:");
}

NEW_NAME_TEST(every_option_says_what_it_is)
{
	for (const struct fio_option *o = rpma_option_table; o->name; o++) {
		assert_non_null(o->help);
		assert_true(o->off1 >= sizeof(void *)); /* 0 would be no place, to fio */
		for (size_t i = 0; o->posval[i].ival; i++)
			assert_non_null(o->posval[i].help);
	}
}
