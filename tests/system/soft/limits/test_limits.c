/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_limits.c -- a process whose limits leave no room for the device gets an
 * errno that fits, and a line that names the limit to raise; it is not killed.
 *
 * Each case is a child that sets one limit and makes an event channel, the first thing
 * that needs the device, or a queue pair, for which the device opens more files.
 */
#include <rdma/rdma_cma.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/test.h"

/* Sanitizers map far more than any limit of address space. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

static void set_limit(int resource, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
		_exit(254);
	limit.rlim_cur = value;
	if (setrlimit((__rlimit_resource_t)resource, &limit) != 0)
		_exit(254);
}

/* These are run in the child: the errno of the call that needs more than there is. */
static int make_channel(int resource, rlim_t value)
{
	set_limit(resource, value);
	return rdma_create_event_channel() == NULL ? errno : 0;
}

static int make_queue_pair(int resource, rlim_t unused)
{
	struct ibv_context *device = ibv_open_device(*ibv_get_device_list(NULL));
	struct ibv_cq *cq = ibv_create_cq(device, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
	struct ibv_pd *pd = ibv_alloc_pd(device);
	const int next = dup(STDERR_FILENO);

	(void)unused;
	close(next);
	set_limit(resource, (rlim_t)next);
	return ibv_create_qp(pd, &attr) == NULL ? errno : 0;
}

static void expect_refusal_of(int (*make)(int resource, rlim_t value), int resource, rlim_t value,
			      int error, const char *name)
{
	char text[1024] = "";
	int output[2];
	int status;
	pid_t pid;

	assert_int_equal(pipe(output), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(dup2(output[1], STDERR_FILENO) < 0 ? 254 : make(resource, value));
	close(output[1]);
	for (size_t at = 0; at < sizeof(text) - 1;) {
		ssize_t got = read(output[0], text + at, sizeof(text) - 1 - at);

		if (got <= 0)
			break;
		at += (size_t)got;
	}
	close(output[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), error);
	assert_non_null(strstr(text, name));
}

static void expect_refusal(int resource, rlim_t value, int error, const char *name)
{
	expect_refusal_of(make_channel, resource, value, error, name);
}

TEST(few_open_files_are_named)
{
	expect_refusal(RLIMIT_NOFILE, 5, EMFILE, "(ulimit -n)");
}

TEST(few_open_files_are_named_for_a_queue_pair)
{
	expect_refusal_of(make_queue_pair, RLIMIT_NOFILE, 0, EMFILE, "(ulimit -n)");
}

TEST(little_address_space_is_named)
{
#ifdef SANITIZED
	skip();
#endif
	expect_refusal(RLIMIT_AS, (rlim_t)1 << 30, ENOMEM, "(ulimit -v)");
}

TEST(small_files_are_named_and_do_not_kill)
{
	expect_refusal(RLIMIT_FSIZE, (rlim_t)1 << 20, EFBIG, "(ulimit -f)");
}
