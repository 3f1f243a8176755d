/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_session.c -- sessions with a scripted ssh: what ssh gets, what it leaves
 * behind, and what becomes of its failures.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "session_script.h"

/* Linux before 5.3 has no pidfds, and valgrind 3.19 does not know them. */
static bool without_pidfds;

long __real_syscall(long number, long first, long second, long third, long fourth);

long __wrap_syscall(long number, long first, long second, long third, long fourth)
{
	if (without_pidfds && number == SYS_pidfd_open) {
		errno = ENOSYS;
		return -1;
	}
	return __real_syscall(number, first, second, third, fourth);
}

/* --- what works --- */

SESSION_TEST(requests_get_their_replies)
{
	struct control_pool_reply reply;

	EQUAL((open_script("started,log=$D/log,serve"), 0),
	      (session_create_pool(session, &request, &reply), 0), (reply.nlanes, 16),
	      (reply.has_headers, true), (reply.attr.signature, "FAKE"),
	      (session_set_attr(session, &request.attr), 0), (session_persisted(session), 0),
	      (session_set_attr(session, &request.attr), 0), (session_ended(session), 0),
	      (has_ended(0), false));
	EQUAL((session_close(&session, false), 0), (session, NULL),
	      (test_file("log"), "2 4 6 4 5 "));
}

SESSION_TEST(a_session_without_a_pool_ends_without_close)
{
	EQUAL((open_script("started,log=$D/log,serve"), 0), (session_close(&session, false), 0),
	      (test_file("log"), ""));
}

SESSION_TEST(pidfds_are_not_needed)
{
	const struct session_cfg silent = {
		.target = &host, .command = "sleep=30000", .start_timeout_ms = 50};

	without_pidfds = true;
	begin("started,serve");
	EQUAL((session_close(&session, false), 0), (open_script("exit=127"), -ECONNRESET));
	expect_text("exit status 127");
	EQUAL((session_open(&session, &silent), -ECONNRESET), (waitpid(-1, NULL, WNOHANG), -1));
	signal(SIGCHLD, SIG_IGN);
	EQUAL((open_script("started,serve"), 0), (session_close(&session, false), 0));
	signal(SIGCHLD, SIG_DFL);
	without_pidfds = false;
}

/* --- ssh's arguments and descriptors --- */

#define OPTIONS "-oBatchMode=yes\n-oServerAliveInterval=10\n-oServerAliveCountMax=3\n"

SESSION_TEST(ssh_gets_the_arguments_of_the_manual)
{
	static const struct {
		struct ssh_target target;
		const char *expected;
	} cases[] = {
		{{.host = "host"}, "-T\n-4\n" OPTIONS "host\n"},
		{{.host = "host", .user = "me", .port = "2222"},
		 "-p\n2222\n-T\n-4\n" OPTIONS "me@host\n"},
		{{.host = "::1", .user = "me", .is_ipv6 = true}, "-T\n" OPTIONS "me@::1\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct session_cfg cfg = {
			.target = &cases[i].target,
			.command = test_script("argv=$D/argv,started and more")};
		char expected[512];

		assert_int_equal(session_open(&session, &cfg), 0);
		session_close(&session, false);
		snprintf(expected, sizeof(expected), "%s%s\n", cases[i].expected, cfg.command);
		assert_string_equal(test_file("argv"), expected);
		unlink(test_path("argv"));
	}
}

SESSION_TEST(ssh_has_three_descriptors)
{
	int fd = open("/dev/null", O_RDONLY); /* without close-on-exec, as libpmemobj does */
	struct session *other;

	assert_int_equal(open_script("started,eof"), 0);
	other = session;
	EQUAL((open_script("fds=$D/fds,started,eof"), 0), (test_file("fds"), "0 1 2 "));
	session_close(&session, false);
	session_close(&other, false);
	close(fd);
}

SESSION_TEST(a_program_without_stdio_can_open_a_session)
{
	int saved[3], ret;

	for (int i = 0; i < 3; i++) {
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
		close(i);
	}
	ret = open_script("started,serve");
	if (ret == 0)
		ret = create();
	if (ret == 0)
		ret = session_close(&session, false);
	for (int i = 0; i < 3; i++) {
		dup2(saved[i], i);
		close(saved[i]);
	}
	assert_int_equal(ret, 0);
}

SESSION_TEST(ssh_has_default_signals)
{
	sigset_t set, before;

	signal(SIGTERM, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	assert_int_equal(open_script("kill=15,started"), -ECONNRESET);
	sigprocmask(SIG_SETMASK, &before, NULL);
	signal(SIGTERM, SIG_DFL);
	expect_text("signal 15");
}

SESSION_TEST(descriptors_and_children_are_gone_afterwards)
{
	static const char *const scripts[] = {"started,serve", "exit=3", "started,take,half",
					      "raw=junk", "started,take,twice,eof"};
	unsigned before = count_fds();

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		if (open_script(scripts[i]) == 0) {
			create();
			session_close(&session, false);
		}
		EQUAL((count_fds(), before), (waitpid(-1, NULL, WNOHANG), -1));
	}
}

SESSION_TEST(a_program_may_collect_our_child)
{
	signal(SIGCHLD, SIG_IGN); /* the kernel collects it */
	begin("started,serve");
	EQUAL((session_close(&session, false), 0),
	      (open_script("err=no_such_host,exit=255"), -ECONNRESET));
	expect_text("no such host");
	signal(SIGCHLD, SIG_DFL);
}

/* The lock that libpmemobj has on its part file goes with the program. */
SESSION_TEST(a_killed_client_leaves_nothing_behind)
{
	int ready[2], fd, status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* its ssh is ours then */
	pid = fork();
	if (pid == 0) {
		fd = open(test_path("part"), O_RDWR | O_CREAT, 0600);
		if (flock(fd, LOCK_EX) == 0 &&
		    open_script("started,eof,log=$D/log,argv=$D/ended") == 0 &&
		    write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	fd = open(test_path("part"), O_RDWR);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	close(fd);
	while (waitpid(-1, &status, 0) > 0)
		continue;
	assert_true(test_file("ended")[0] != '\0'); /* ssh saw the end of its stdin */
}

/* --- ssh and STARTED --- */

SESSION_TEST(a_missing_ssh_is_told)
{
	setenv("RPMEM_SSH", "/nonexistent/ssh", 1);
	assert_int_equal(open_script(""), -ECONNRESET);
	expect_text("/nonexistent/ssh");
}

SESSION_TEST(the_line_of_ssh_is_told)
{
	static const struct {
		const char *script, *expected;
	} cases[] = {
		{"err=Authorized_use_only,err=me@host:_Permission_denied_(publickey).,exit=255",
		 ": me@host: Permission denied (publickey)."},
		{"exit=127", "exit status 127"},
		{"raw=rpm,exit=0", "exit status 0"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		EQUAL((open_script(cases[i].script), -ECONNRESET), (session, NULL));
		expect_text("rpmemd on host did not start");
		expect_text(cases[i].expected);
	}
}

SESSION_TEST(a_refusal_in_started_is_told)
{
	assert_int_equal(open_script("started=22,eof"), -EINVAL);
	expect_text("rpmemd on host: because");
	assert_int_equal(open_script("started=4095,eof"), -4095);
}

SESSION_TEST(junk_on_stdout_is_told)
{
	assert_int_equal(open_script("raw=Welcome_to_node_7,eof"), -EPROTO);
	expect_text("'Welcome to node 7'");
}

SESSION_TEST(a_silent_daemon_is_given_up)
{
	const struct session_cfg cfg = {.target = &host, .command = "eof", .start_timeout_ms = 50};

	assert_int_equal(session_open(&session, &cfg), -ECONNRESET);
	expect_text("within 50 ms");
}

SESSION_TEST(a_passing_failure_of_ssh_is_tried_again)
{
	begin("argv=$D/argv,err=Authorized_use_only,"
	      "err=connect:_Connection_refused,"
	      "once=$D/once,started,serve");
	EQUAL((session_close(&session, false), 0), (count_starts(), 2));
}

SESSION_TEST(other_failures_of_ssh_are_not)
{
	assert_int_equal(open_script("err=Permission_denied_(publickey),once=$D/once,"
				     "started,serve"),
			 -ECONNRESET);
	EQUAL((open_script("err=Connection_refused,argv=$D/argv,exit=1"), -ECONNRESET),
	      (count_starts(), 1));
}

SESSION_TEST(a_failure_that_does_not_pass_is_given_up)
{
	assert_int_equal(open_script("argv=$D/argv,err=Connection_refused,exit=255"), -ECONNRESET);
	expect_text("Connection refused");
	assert_int_equal(count_starts(), 4);
}
