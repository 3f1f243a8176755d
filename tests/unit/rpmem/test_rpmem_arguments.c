/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rpmem_arguments.c -- the functions of librpmem.h over a scripted daemon and
 * lanes without connections: arguments, and their errnos.
 *
 * Some variables are read when the library is loaded: for them, the program runs
 * itself.
 */
#include <limits.h>
#include <sys/wait.h>

#include "rpmem_test.h"

static const char *program; /* argv[0]: under valgrind, /proc/self/exe is valgrind */

/* --- create, open and remove --- */

POOL_TEST(arguments_of_create_and_open_are_checked)
{
	static unsigned sixteen = 16, none;
	static const struct {
		const char *target, *pool_set;
		size_t address_offset, size;
		unsigned *nlanes;
	} cases[] = {
		{NULL, "pool.set", 0, POOL_BYTES, &sixteen},
		{"host", NULL, 0, POOL_BYTES, &sixteen},
		{"host", "pool.set", SIZE_MAX, POOL_BYTES, &sixteen}, /* NULL */
		{"host", "pool.set", 1, POOL_BYTES, &sixteen},
		{"host", "pool.set", 2048, POOL_BYTES, &sixteen},
		{"host", "pool.set", 0, POOL_BYTES + 1, &sixteen},
		{"host", "pool.set", 0, 2048, &sixteen},
		{"host", "pool.set", 0, 0, &sixteen},
		{"host", "pool.set", 0, POOL_BYTES, NULL},
		{"host", "pool.set", 0, POOL_BYTES, &none},
		{"host", "", 0, POOL_BYTES, &sixteen},
		{"", "pool.set", 0, POOL_BYTES, &sixteen},
		{"-oProxyCommand=id", "pool.set", 0, POOL_BYTES, &sixteen},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void *address = cases[i].address_offset == SIZE_MAX
					? NULL
					: memory + cases[i].address_offset;

		expect_no_pool(rpmem_create(cases[i].target, cases[i].pool_set, address,
					    cases[i].size, cases[i].nlanes, &attr),
			       EINVAL);
		expect_no_pool(rpmem_open(cases[i].target, cases[i].pool_set, address,
					  cases[i].size, cases[i].nlanes, NULL),
			       EINVAL);
	}
	EQUAL((sixteen, 16), (fake_lanes.opened, 0));
}

POOL_TEST(a_name_that_is_too_long_is_refused)
{
	char name[CONTROL_NAME_MAX + 1];

	memset(name, 'n', sizeof(name));
	name[CONTROL_NAME_MAX] = '\0';
	expect_no_pool(open_set(name), EINVAL);
	name[CONTROL_NAME_MAX - 1] = '\0';
	pool = open_set(name);
	assert_non_null(pool);
}

POOL_TEST(a_pool_may_be_one_page)
{
	unsigned nlanes = 1;

	pool = rpmem_create("host", "pool.set", memory, PAGE, &nlanes, &attr);
	assert_non_null(pool);
	expect_failure(rpmem_persist(pool, 0, 1, 0, 0), EINVAL); /* all of it is metadata */
	assert_int_equal(rpmem_read(pool, memory, 0, PAGE, 0), 0);
}

POOL_TEST(lanes_are_the_least_of_all_limits)
{
	static const struct {
		unsigned requested, most, expected;
	} cases[] = {
		{1, 64, 1},	  {64, 64, 64},	      {1024, 64, 64},
		{1U << 31, 7, 7}, {1024, 1024, 1024}, {UINT_MAX, UINT_MAX, 1024},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned nlanes = cases[i].requested;

		fake_lanes.most = cases[i].most;
		pool = rpmem_create("host", "pool.set", memory, POOL_BYTES, &nlanes, &attr);
		assert_non_null(pool);
		EQUAL((nlanes, cases[i].expected),
		      (rpmem_persist(pool, PAGE, 1, nlanes - 1, 0), 0));
		expect_failure(rpmem_persist(pool, PAGE, 1, nlanes, 0), EINVAL);
		assert_int_equal(rpmem_close(pool), 0);
		pool = NULL;
	}
}

/* In a process that was started with RPMEM_MAX_NLANES=2 and RPMEM_CMD. */
static int check_variables_at_load(void)
{
	unsigned nlanes = LANES;
	void *state;

	if (setup(&state) != 0)
		return 1;
	set_script("argv=$D/argv,started,serve");
	for (int i = 0; i < 3; i++) {
		pool = rpmem_create("host", "pool.set", memory, POOL_BYTES, &nlanes, &attr);
		if (pool == NULL || nlanes != 2 || fake_lanes.cfg.work_queue != 7)
			return 2;
		rpmem_close(pool);
		nlanes = LANES;
	}
	if (strstr(test_file("argv"), "host\none x\n") == NULL ||
	    strstr(strstr(test_file("argv"), "host\ntwo\n"), "host\none x\n") == NULL)
		return 3;
	pool = NULL;
	return teardown(&state);
}

POOL_TEST(variables_are_read_at_load)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		setenv("RPMEM_MAX_NLANES", "2", 1);
		setenv("RPMEM_WORK_QUEUE_SIZE", "7", 1);
		setenv("RPMEM_CMD", "one x|two", 1);
		execl(program, program, "--variables-at-load", NULL);
		_exit(127);
	}
	EQUAL((waitpid(pid, &status, 0), pid), (status, 0));
}

POOL_TEST(without_a_transport_there_is_no_medium)
{
	unsigned nlanes = LANES;

	fake_lanes.most_result[CONTROL_RDMA] = -ENODEV;
	expect_no_pool(create(), ENOMEDIUM);
	setenv("RPMEM_ENABLE_VERBS", "0", 1);
	fake_lanes.most_result[CONTROL_RDMA] = 0;
	expect_no_pool(create(), ENOMEDIUM);
	assert_non_null(strstr(rpmem_errormsg(), "RPMEM_ENABLE_SOCKETS"));
	fake_lanes.most_result[CONTROL_RDMA] = -EMFILE;
	unsetenv("RPMEM_ENABLE_VERBS");
	expect_no_pool(rpmem_open("host", "s", memory, PAGE, &nlanes, NULL), EMFILE);
	assert_string_equal(test_file("log"), "");
}

POOL_TEST(verbs_win_and_sockets_step_in)
{
	setenv("RPMEM_ENABLE_SOCKETS", "1", 1);
	pool = create();
	assert_int_equal(fake_lanes.cfg.transport, CONTROL_RDMA);
	rpmem_close(pool);
	fake_lanes.most_result[CONTROL_RDMA] = -ENODEV;
	pool = create();
	assert_int_equal(fake_lanes.cfg.transport, CONTROL_TCP);
	rpmem_close(pool);
	fake_lanes.most_result[CONTROL_RDMA] = 0;
	setenv("RPMEM_ENABLE_VERBS", "0", 1);
	pool = create();
	assert_int_equal(fake_lanes.cfg.transport, CONTROL_TCP);
}

POOL_TEST(lanes_get_what_they_need)
{
	pool = create();
	assert_ptr_equal(fake_lanes.cfg.memory, memory);
	EQUAL((fake_lanes.cfg.bytes, POOL_BYTES), (fake_lanes.host, "host"),
	      (fake_lanes.cfg.work_queue, 50), (fake_lanes.daemon.port, 7204),
	      (fake_lanes.daemon.token, 0x0123456789abcdef));
}

POOL_TEST(attributes_come_from_the_daemon)
{
	static const struct rpmem_pool_attr zero;
	struct rpmem_pool_attr got;
	unsigned nlanes = LANES;

	memset(&got, 0x5a, sizeof(got));
	pool = rpmem_open("host", "pool.set", memory, POOL_BYTES, &nlanes, &got);
	assert_memory_equal(&got, &attr, sizeof(attr));
	rpmem_close(pool);
	pool = rpmem_open("host", "nohdrs.set", memory, POOL_BYTES, &nlanes, &got);
	assert_memory_equal(&got, &zero, sizeof(zero));
}

POOL_TEST(a_failed_create_takes_its_parts_along)
{
	fake_lanes.open_result = -ETIMEDOUT;
	expect_no_pool(create(), ETIMEDOUT);
	EQUAL((test_file("log"), "2 5 "), (fake_lanes.closed, 0));
}

POOL_TEST(each_status_of_the_daemon_is_the_errno)
{
	static const struct {
		int status, create, open; /* 0: the same */
	} cases[] = {
		{EINVAL, 0, 0},
		{ENOENT, 0, 0},
		{EACCES, 0, 0},
		{EFBIG, 0, 0},
		{ENOSPC, 0, 0},
		{ENOMEM, 0, 0},
		{ENOTSUP, 0, 0},
		{EPROTONOSUPPORT, 0, 0},
		{EREMOTEIO, 0, 0},
		{EEXIST, 0, EREMOTEIO},
		/* not in librpmem.h */
		{EROFS, EREMOTEIO, EREMOTEIO},
		{EDQUOT, EREMOTEIO, EREMOTEIO},
		{EIO, EREMOTEIO, EREMOTEIO},
		{ECONNABORTED, EREMOTEIO, EREMOTEIO},
		{EMEDIUMTYPE, EREMOTEIO, EREMOTEIO},
		{4095, EREMOTEIO, EREMOTEIO},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char script[64];

		snprintf(script, sizeof(script), "started,take,reply=%d,eof", cases[i].status);
		set_script(script);
		expect_no_pool(create(), cases[i].create ? cases[i].create : cases[i].status);
		expect_no_pool(open_set("pool.set"),
			       cases[i].open ? cases[i].open : cases[i].status);
		assert_non_null(strstr(rpmem_errormsg(), "because"));
	}
}

/* For a lock the daemon has waited. */
POOL_TEST(open_tries_again_what_may_pass)
{
	set_script("argv=$D/argv,started,take,reply=16,eof");
	expect_no_pool(open_set("pool.set"), EBUSY);
	assert_int_equal(count_starts(), 1);
	set_script("argv=$D/argv,started,take,half");
	expect_no_pool(open_set("pool.set"), ECONNRESET);
	assert_int_equal(count_starts(), 4);
	set_script("argv=$D/argv,started,take,reply=2,eof");
	expect_no_pool(open_set("pool.set"), ENOENT);
	assert_int_equal(count_starts(), 1);
	set_script("argv=$D/argv,exit=127");
	expect_no_pool(open_set("pool.set"), ECONNRESET);
	assert_int_equal(count_starts(), 1);
}

POOL_TEST(create_does_not)
{
	set_script("argv=$D/argv,started,take,reply=16,eof");
	expect_no_pool(create(), EBUSY);
	assert_int_equal(count_starts(), 1);
}

POOL_TEST(a_remove_has_its_arguments)
{
	set_script("exit=0");
	EQUAL((rpmem_remove("host", "pool.set", 0), 0),
	      (rpmem_remove("host", "pool.set", RPMEM_REMOVE_FORCE), 0));
	expect_failure(rpmem_remove("host", "pool.set", 4), EINVAL);
	expect_failure(rpmem_remove("host", "pool.set", -1), EINVAL);
	expect_failure(rpmem_remove(NULL, "pool.set", 0), EINVAL);
	expect_failure(rpmem_remove("host", NULL, 0), EINVAL);
	expect_failure(rpmem_remove("-l", "pool.set", 0), EINVAL);
	set_script("exit=16");
	expect_failure(rpmem_remove("host", "pool.set", 0), EBUSY);
	set_script("exit=30"); /* EROFS */
	expect_failure(rpmem_remove("host", "pool.set", 0), EREMOTEIO);
	set_script("exit=255");
	expect_failure(rpmem_remove("host", "pool.set", 0), ECONNRESET);
}

/* --- calls on a pool --- */

POOL_TEST(calls_reach_their_lane)
{
	pool = create();
	EQUAL((rpmem_persist(pool, PAGE, 64, 3, 0), 0), (fake_lanes.name, "persist"),
	      (fake_lanes.lane, 3), (fake_lanes.offset, PAGE), (fake_lanes.length, 64),
	      (fake_lanes.relaxed, false));
	rpmem_persist(pool, PAGE, 64, 3, RPMEM_PERSIST_RELAXED);
	EQUAL((fake_lanes.relaxed, true), (rpmem_flush(pool, PAGE, 64, 4, RPMEM_FLUSH_RELAXED), 0),
	      (fake_lanes.name, "flush"), (fake_lanes.relaxed, true), (rpmem_drain(pool, 5, 0), 0),
	      (fake_lanes.name, "drain"), (fake_lanes.lane, 5),
	      (rpmem_deep_persist(pool, PAGE, POOL_BYTES - PAGE, 6), 0),
	      (fake_lanes.name, "deep_persist"), (rpmem_read(pool, memory, 0, POOL_BYTES, 7), 0));
	EQUAL((fake_lanes.name, "read"), (fake_lanes.calls, 6));
}

POOL_TEST(metadata_is_not_written)
{
	pool = create();
	for (size_t offset = 0; offset < PAGE; offset += 8) {
		expect_failure(rpmem_persist(pool, offset, 8, 0, 0), EINVAL);
		expect_failure(rpmem_persist(pool, offset, 8, 0, RPMEM_PERSIST_RELAXED), EINVAL);
		expect_failure(rpmem_flush(pool, offset, 8, 0, 0), EINVAL);
		expect_failure(rpmem_flush(pool, offset, 8, 0, RPMEM_FLUSH_RELAXED), EINVAL);
		expect_failure(rpmem_deep_persist(pool, offset, 8, 0), EINVAL);
		assert_int_equal(rpmem_read(pool, memory, offset, 8, 0), 0);
	}
	assert_int_equal(rpmem_persist(pool, PAGE, 8, 0, 0), 0);
}

POOL_TEST(a_pool_without_headers_has_no_metadata)
{
	pool = open_set("nohdrs.set");
	for (size_t offset = 0; offset < PAGE; offset += 8) {
		EQUAL((rpmem_persist(pool, offset, 8, 0, 0), 0),
		      (rpmem_flush(pool, offset, 8, 0, RPMEM_FLUSH_RELAXED), 0),
		      (rpmem_deep_persist(pool, offset, 8, 0), 0));
	}
}

POOL_TEST(ranges_beyond_the_pool_are_refused)
{
	static const struct {
		size_t offset, length;
	} cases[] = {
		{POOL_BYTES, 0},    {POOL_BYTES, 1},	  {POOL_BYTES - 1, 2},
		{PAGE, POOL_BYTES}, {PAGE, SIZE_MAX},	  {PAGE, SIZE_MAX - PAGE + 1},
		{SIZE_MAX, 1},	    {SIZE_MAX, SIZE_MAX},
	};

	pool = create();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t offset = cases[i].offset, length = cases[i].length;

		expect_failure(rpmem_persist(pool, offset, length, 0, 0), EINVAL);
		expect_failure(rpmem_flush(pool, offset, length, 0, 0), EINVAL);
		expect_failure(rpmem_deep_persist(pool, offset, length, 0), EINVAL);
		expect_failure(rpmem_read(pool, memory, offset, length, 0), EINVAL);
	}
	EQUAL((fake_lanes.calls, 0), (rpmem_persist(pool, POOL_BYTES - 1, 1, 0, 0), 0),
	      (rpmem_read(pool, memory, 0, POOL_BYTES, 0), 0));
}

POOL_TEST(a_range_of_nothing_does_nothing)
{
	pool = create();
	EQUAL((rpmem_persist(pool, PAGE, 0, 0, 0), 0), (rpmem_flush(pool, PAGE, 0, 0, 0), 0),
	      (rpmem_deep_persist(pool, POOL_BYTES - 1, 0, 0), 0),
	      (rpmem_read(pool, NULL, 0, 0, 0), 0), (fake_lanes.calls, 0));
}

POOL_TEST(other_lanes_flags_and_buffers_are_refused)
{
	pool = create();
	expect_failure(rpmem_persist(pool, PAGE, 8, LANES, 0), EINVAL);
	expect_failure(rpmem_persist(pool, PAGE, 8, UINT_MAX, 0), EINVAL);
	expect_failure(rpmem_flush(pool, PAGE, 8, LANES, 0), EINVAL);
	expect_failure(rpmem_drain(pool, LANES, 0), EINVAL);
	expect_failure(rpmem_deep_persist(pool, PAGE, 8, LANES), EINVAL);
	expect_failure(rpmem_read(pool, memory, PAGE, 8, LANES), EINVAL);
	expect_failure(rpmem_persist(pool, PAGE, 8, 0, 2), EINVAL);
	expect_failure(rpmem_persist(pool, PAGE, 0, 0, UINT_MAX), EINVAL);
	expect_failure(rpmem_flush(pool, PAGE, 8, 0, 3), EINVAL);
	expect_failure(rpmem_drain(pool, 0, 1), EINVAL);
	expect_failure(rpmem_read(pool, NULL, PAGE, 8, 0), EINVAL);
	EQUAL((fake_lanes.calls, 0), (rpmem_persist(pool, PAGE, 8, 0, 0), 0));
}

POOL_TEST(no_pool_is_refused)
{
	expect_failure(rpmem_persist(NULL, 0, 0, 0, 0), EINVAL);
	expect_failure(rpmem_deep_persist(NULL, 0, 0, 0), EINVAL);
	expect_failure(rpmem_flush(NULL, 0, 0, 0, 0), EINVAL);
	expect_failure(rpmem_drain(NULL, 0, 0), EINVAL);
	expect_failure(rpmem_read(NULL, memory, 0, 0, 0), EINVAL);
	expect_failure(rpmem_set_attr(NULL, &attr), EINVAL);
	expect_failure(rpmem_close(NULL), EINVAL);
}

POOL_TEST(set_attr_is_for_pools_with_headers)
{
	pool = open_set("pool.set");
	EQUAL((rpmem_set_attr(pool, &attr), 0), (rpmem_set_attr(pool, NULL), 0));
	expect_failure(rpmem_persist(pool, 0, 8, 0, 0), EINVAL); /* there still are headers */
	EQUAL((rpmem_persist(pool, PAGE, 8, 0, 0), 0), (rpmem_close(pool), 0),
	      (test_file("log"), "3 4 4 5 "));
	pool = open_set("nohdrs.set");
	expect_failure(rpmem_set_attr(pool, &attr), EINVAL);
	assert_int_equal(rpmem_set_attr(pool, NULL), 0);
}

POOL_TEST(a_status_of_set_attr_or_close_is_remote)
{
	set_script("started,take,reply,take,reply=5,take,reply=28,eof");
	pool = create();
	expect_failure(rpmem_set_attr(pool, &attr), EREMOTEIO);
	assert_non_null(strstr(rpmem_errormsg(), "because"));
	expect_failure(rpmem_close(pool), EREMOTEIO);
	pool = NULL;
}

POOL_TEST(the_first_persist_of_a_new_pool_is_told)
{
	pool = create();
	rpmem_persist(pool, PAGE, 0, 0, 0);
	rpmem_flush(pool, PAGE, 8, 0, 0);
	fake_lanes.result = -EREMOTEIO;
	expect_failure(rpmem_persist(pool, PAGE, 8, 0, 0), EREMOTEIO);
	assert_string_equal(test_file("log"), "2 ");
	fake_lanes.result = 0;
	rpmem_persist(pool, PAGE, 8, 0, 0);
	rpmem_persist(pool, PAGE, 8, 0, 0);
	EQUAL((rpmem_drain(pool, 0, 0), 0), (rpmem_close(pool), 0), (test_file("log"), "2 6 5 "));
	pool = open_set("pool.set");
	rpmem_persist(pool, PAGE, 8, 0, 0);
	assert_int_equal(rpmem_close(pool), 0);
	pool = NULL;
	assert_string_equal(test_file("log"), "2 6 5 3 5 ");
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (!prepare())
		return EXIT_FAILURE;
	if (argc > 1 && strcmp(argv[1], "--variables-at-load") == 0)
		return check_variables_at_load();
	return test_run(NULL, NULL);
}
