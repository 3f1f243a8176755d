/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cause.c -- what is taken for the cause of a failure: an errno that
 * librpma logged, an event of the RDMA CM, the status of a completion, a device
 * file that may not be opened.
 */
#include "common/host/rlimits.h"
#include "common/rdma/connection.h"
#include "common/rdma/listen.h"
#include "tests/lib/scratch_root.h"

/* --- names ------------------------------------------------------------------ */

TEST(each_cause_has_a_name_of_its_own)
{
	assert_null(cause_name(CAUSE_UNKNOWN));
	for (int i = CAUSE_UNKNOWN + 1; i < CAUSES; i++) {
		assert_non_null(cause_name((enum cause)i));
		for (int k = CAUSE_UNKNOWN + 1; k < i; k++)
			assert_string_not_equal(cause_name((enum cause)i),
						cause_name((enum cause)k));
	}
}

TEST(a_failure_forgets_the_cause_of_the_last_one)
{
	failure_because(CAUSE_REFUSED, EXIT_RUN_FAILED, "connect", "refused");
	assert_int_equal(failure_get()->cause, CAUSE_REFUSED);
	failure_set(EXIT_RUN_FAILED, "connect", "something else");
	assert_int_equal(failure_get()->cause, CAUSE_UNKNOWN);
}

/* open(2) and pthread_create(3) have these for limits that an administrator sets. */
TEST(a_limit_is_no_internal_error)
{
	static const struct {
		int error;
		enum exit_code code;
		enum cause cause;
		const char *words;
	} rows[] = {
		{EMFILE, EXIT_RUN_FAILED, CAUSE_LIMIT, "ulimit -n"},
		{ENFILE, EXIT_RUN_FAILED, CAUSE_LIMIT, "fs.file-max"},
		{EAGAIN, EXIT_RUN_FAILED, CAUSE_LIMIT, "ulimit -u"},
		{EFAULT, EXIT_INTERNAL, CAUSE_UNKNOWN, "cannot open 7 files: Bad address"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		failure_call("start", rows[i].error, "open %d files", 7);
		EQUAL((failure_get()->code, rows[i].code), (failure_get()->cause, rows[i].cause));
		assert_non_null(strstr(failure_get()->text, rows[i].words));
	}
}

/* --- librpma ---------------------------------------------------------------- */

static rpma_log_function *sink;

int __wrap_rpma_log_set_function(rpma_log_function *function)
{
	sink = function;
	return 0;
}

static uint64_t limit;

uint64_t __wrap_memlock_limit(void)
{
	return limit;
}

/* Logs like librpma: errno is that of the call. */
static enum cause logged(int error, uint64_t memlock_bytes)
{
	limit = memlock_bytes;
	connection_cause_clear();
	errno = error;
	sink(RPMA_LOG_LEVEL_ERROR, "file.c", 1, "function", "a_call(size=1): %s\n",
	     strerror(error));
	return connection_cause_of(RPMA_E_PROVIDER);
}

TEST(the_errno_tells_the_cause)
{
	static const struct {
		int error;
		uint64_t memlock_bytes;
		enum cause cause;
	} rows[] = {
		{EACCES, 0, CAUSE_NO_PERMISSION},
		/* ib_umem_get() of Linux: EPERM for a limit of 0, ENOMEM beyond another one */
		{EPERM, 0, CAUSE_MEMLOCK},
		{EPERM, 65536, CAUSE_NO_PERMISSION},
		{ENOMEM, 65536, CAUSE_MEMLOCK},
		{ENOMEM, UINT64_MAX, CAUSE_NO_MEMORY},
		{EMFILE, UINT64_MAX, CAUSE_LIMIT},
		{ENFILE, UINT64_MAX, CAUSE_LIMIT},
		{EADDRINUSE, 0, CAUSE_ADDRESS_IN_USE},
		{ECONNREFUSED, 0, CAUSE_REFUSED},
		{ENETUNREACH, 0, CAUSE_UNREACHABLE},
		{EHOSTUNREACH, 0, CAUSE_UNREACHABLE},
		{ETIMEDOUT, 0, CAUSE_UNREACHABLE},
		{EINVAL, 0, CAUSE_UNKNOWN},
	};

	connection_log_to_failures(false);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (logged(rows[i].error, rows[i].memlock_bytes) != rows[i].cause)
			fail_msg("%s: not %s", strerror(rows[i].error), cause_name(rows[i].cause));
	}
}

TEST(an_errno_that_the_line_does_not_tell_is_none)
{
	connection_log_to_failures(false);
	errno = EACCES;
	sink(RPMA_LOG_LEVEL_ERROR, "file.c", 1, "function", "the address is not bound\n");
	assert_int_equal(connection_cause_of(RPMA_E_PROVIDER), CAUSE_UNKNOWN);
}

TEST(other_codes_are_no_call_that_failed)
{
	connection_log_to_failures(false);
	logged(EACCES, 0);
	EQUAL((connection_cause_of(RPMA_E_INVAL), CAUSE_UNKNOWN),
	      (connection_cause_of(RPMA_E_NOMEM), CAUSE_NO_MEMORY));
}

/* --- the end of a connection ------------------------------------------------ */

/* Events by rpma_conn_next_event(3), statuses by ibv_poll_cq(3). */
TEST(events_and_statuses_have_their_causes)
{
	EQUAL((connection_end_of(RPMA_CONN_CLOSED), CAUSE_CLOSED),
	      (connection_end_of(RPMA_CONN_LOST), CAUSE_DEVICE_GONE),
	      (connection_end_of(RPMA_CONN_UNREACHABLE), CAUSE_UNREACHABLE),
	      (connection_status_cause(IBV_WC_RETRY_EXC_ERR), CAUSE_LOST),
	      (connection_status_cause(IBV_WC_REM_ACCESS_ERR), CAUSE_NO_ACCESS),
	      (connection_status_cause(IBV_WC_FATAL_ERR), CAUSE_DEVICE_GONE),
	      (connection_status_cause(IBV_WC_LOC_PROT_ERR), CAUSE_UNKNOWN));
}

TEST(each_end_has_its_sentence)
{
	static const struct {
		enum cause end;
		const char *words;
	} rows[] = {
		{CAUSE_CLOSED, "server x closed the connection"},
		{CAUSE_UNREACHABLE, "server x became unreachable: the neighbour entry"},
		{CAUSE_DEVICE_GONE, "the RDMA device of this host was removed"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		EQUAL((connection_ended(rows[i].end, "server x"), -EIO),
		      (failure_get()->cause, rows[i].end));
		assert_non_null(strstr(failure_get()->text, rows[i].words));
	}
}

/* --- device files ----------------------------------------------------------- */

#define RDMA_CM	     "dev/infiniband/rdma_cm"
#define UNPRIVILEGED 65534

/* The cause of what check stores as a user whom modes hold; CAUSE_UNKNOWN: it found nothing. */
static enum cause asked(int (*check)(const struct sysroot *root))
{
	const bool super = geteuid() == 0;
	int ret;

	assert_int_equal(chmod(scratch, 0755), 0);
	if (super)
		assert_int_equal(seteuid(UNPRIVILEGED), 0);
	ret = check(&root);
	if (super)
		assert_int_equal(seteuid(0), 0);
	if (ret == 0)
		return CAUSE_UNKNOWN;
	EQUAL((failure_get()->code, EXIT_NO_DEVICE), (failure_get()->step, "device"));
	return failure_get()->cause;
}

static void make(const char *name, mode_t mode)
{
	char path[PATH_MAX];

	scratch_write(name, "");
	assert_int_equal(chmod(scratch_path(name, path), mode), 0);
}

ROOT_TEST(the_file_of_the_rdma_cm_is_asked)
{
	EQUAL((asked(device_files_check), CAUSE_NO_DEVICE),
	      (failure_get()->text, HAS("modprobe rdma_ucm")));
	make(RDMA_CM, 0);
	assert_int_equal(asked(device_files_check), CAUSE_NO_PERMISSION);
	assert_non_null(strstr(failure_get()->text, "this user cannot open /" RDMA_CM));
	make(RDMA_CM, 0666);
	assert_int_equal(asked(device_files_check), CAUSE_UNKNOWN);
}

static int blame(const struct sysroot *devices)
{
	return device_files_blame(devices, "192.0.2.1");
}

ROOT_TEST(the_files_of_the_devices_are_asked)
{
	assert_int_equal(asked(blame), CAUSE_UNKNOWN);
	scratch_write("sys/class/infiniband_verbs/uverbs3/ibdev", "mlx5_0\n");
	make("dev/infiniband/uverbs3", 0);
	EQUAL((asked(blame), CAUSE_NO_PERMISSION),
	      (failure_get()->text, HAS("/dev/infiniband/uverbs3 of the RDMA device mlx5_0")));
	assert_null(strstr(failure_get()->text, "192.0.2.1"));
	/* with another device that opens it may as well be the route */
	scratch_write("sys/class/infiniband_verbs/uverbs4/ibdev", "mlx5_1\n");
	make("dev/infiniband/uverbs4", 0666);
	assert_int_equal(asked(blame), CAUSE_NO_PERMISSION);
	assert_non_null(strstr(failure_get()->text, "or no other device has the address or a route "
						    "to 192.0.2.1"));
	make("dev/infiniband/uverbs3", 0666);
	assert_int_equal(asked(blame), CAUSE_UNKNOWN);
}
