/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_session.c -- sessions with a scripted ssh: what is sent, what may come back,
 * and what becomes of everything else.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "session_test.h"

#define POOL_BYTES (8 << 20)

static const struct ssh_target host = {.host = "host"};

static int open_script(struct session **session, const char *script)
{
	const struct session_cfg cfg = {.target = &host,
					.command = test_script(script),
					.hello_timeout_ms = 5000,
					.reply_timeout_ms = 5000};

	*session = NULL;
	return session_open(session, &cfg);
}

static const struct control_pool_request request = {.pool_size = POOL_BYTES,
						    .nlanes = 16,
						    .transport = CONTROL_TCP,
						    .has_attr = true,
						    .attr = {.signature = "FAKE"},
						    .name = "pool.set"};

static int create(struct session *session)
{
	struct control_pool_reply reply;

	return session_create_pool(session, &request, &reply);
}

/* The result of a create in a session with this script. */
static int create_with(const char *script)
{
	struct session *session;
	int ret;

	assert_int_equal(open_script(&session, script), 0);
	ret = create(session);
	session_close(&session, false);
	return ret;
}

static bool has_ended(const struct session *session, int timeout_ms)
{
	struct pollfd pollfd = {.fd = session_fd(session), .events = POLLIN};

	return poll(&pollfd, 1, timeout_ms) == 1;
}

/* Linux before 5.3 has no pidfds, and valgrind 3.19 does not know them. */
static bool without_pidfds;

long __real_syscall(long number, long first, long second, long third, long fourth);
long __wrap_syscall(long number, long first, long second, long third, long fourth);

long __wrap_syscall(long number, long first, long second, long third, long fourth)
{
	if (without_pidfds && number == SYS_pidfd_open) {
		errno = ENOSYS;
		return -1;
	}
	return __real_syscall(number, first, second, third, fourth);
}

/* --- what works --- */

static void requests_get_their_replies(void **state)
{
	struct control_pool_reply reply;
	struct session *session;

	assert_int_equal(open_script(&session, "hello,log=$D/log,serve"), 0);
	assert_int_equal(session_create_pool(session, &request, &reply), 0);
	assert_int_equal(reply.nlanes, 16);
	assert_true(reply.has_headers);
	assert_string_equal(reply.attr.signature, "FAKE");
	assert_int_equal(session_set_attr(session, &request.attr), 0);
	assert_int_equal(session_persisted(session), 0);
	assert_int_equal(session_set_attr(session, &request.attr), 0);
	assert_int_equal(session_ended(session), 0);
	assert_false(has_ended(session, 0));
	assert_int_equal(session_close(&session, false), 0);
	assert_null(session);
	assert_string_equal(test_file("log"), "2 4 6 4 5 ");
}

static void a_session_without_a_pool_ends_without_close(void **state)
{
	struct session *session;

	assert_int_equal(open_script(&session, "hello,log=$D/log,serve"), 0);
	assert_int_equal(session_close(&session, false), 0);
	assert_string_equal(test_file("log"), "");
}

static void pidfds_are_not_needed(void **state)
{
	const struct session_cfg silent = {
		.target = &host, .command = "sleep=30000", .hello_timeout_ms = 50};
	struct session *session;

	without_pidfds = true;
	assert_int_equal(open_script(&session, "hello,serve"), 0);
	assert_int_equal(create(session), 0);
	assert_int_equal(session_close(&session, false), 0);
	assert_int_equal(open_script(&session, "exit=127"), -ECONNRESET);
	expect_text("exit status 127");
	assert_int_equal(session_open(&session, &silent), -ECONNRESET);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(open_script(&session, "hello,serve"), 0);
	assert_int_equal(session_close(&session, false), 0);
	signal(SIGCHLD, SIG_DFL);
	without_pidfds = false;
}

static void closing_nothing_is_fine(void **state)
{
	struct session *session = NULL;

	assert_int_equal(session_close(&session, true), 0);
}

/* --- ssh's arguments and descriptors --- */

static void ssh_gets_the_arguments_of_the_manual(void **state)
{
	static const struct {
		struct ssh_target target;
		const char *expected;
	} cases[] = {
		{{.host = "host"}, "-T\n-4\n-oBatchMode=yes\nhost\n"},
		{{.host = "host", .user = "me", .port = "2222"},
		 "-p\n2222\n-T\n-4\n-oBatchMode=yes\nme@host\n"},
		{{.host = "::1", .user = "me", .is_ipv6 = true}, "-T\n-oBatchMode=yes\nme@::1\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct session_cfg cfg = {.target = &cases[i].target,
						.command =
							test_script("argv=$D/argv,hello and more")};
		struct session *session;
		char expected[512];

		assert_int_equal(session_open(&session, &cfg), 0);
		session_close(&session, false);
		snprintf(expected, sizeof(expected), "%s%s\n", cases[i].expected, cfg.command);
		assert_string_equal(test_file("argv"), expected);
		unlink(test_path("argv"));
	}
}

static void ssh_has_three_descriptors(void **state)
{
	int fd = open("/dev/null", O_RDONLY); /* without close-on-exec, as libpmemobj does */
	struct session *session, *other;

	assert_int_equal(open_script(&other, "hello,eof"), 0);
	assert_int_equal(open_script(&session, "fds=$D/fds,hello,eof"), 0);
	assert_string_equal(test_file("fds"), "0 1 2 ");
	session_close(&session, false);
	session_close(&other, false);
	close(fd);
}

static void a_program_without_stdio_can_open_a_session(void **state)
{
	struct session *session = NULL;
	int saved[3], ret;

	for (int i = 0; i < 3; i++) {
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
		close(i);
	}
	ret = open_script(&session, "hello,serve");
	if (ret == 0)
		ret = create(session);
	if (ret == 0)
		ret = session_close(&session, false);
	for (int i = 0; i < 3; i++) {
		dup2(saved[i], i);
		close(saved[i]);
	}
	assert_int_equal(ret, 0);
}

static void ssh_has_default_signals(void **state)
{
	struct session *session;
	sigset_t set, before;

	signal(SIGTERM, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	assert_int_equal(open_script(&session, "kill=15,hello"), -ECONNRESET);
	sigprocmask(SIG_SETMASK, &before, NULL);
	signal(SIGTERM, SIG_DFL);
	expect_text("signal 15");
}

static void descriptors_and_children_are_gone_afterwards(void **state)
{
	static const char *const scripts[] = {"hello,serve", "exit=3", "hello,take,half",
					      "raw=junk", "hello,take,twice,eof"};
	unsigned before = count_fds();

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		struct session *session;

		if (open_script(&session, scripts[i]) == 0) {
			create(session);
			session_close(&session, false);
		}
		assert_int_equal(count_fds(), before);
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	}
}

static void a_program_may_collect_our_child(void **state)
{
	struct session *session;

	signal(SIGCHLD, SIG_IGN); /* the kernel collects it */
	assert_int_equal(open_script(&session, "hello,serve"), 0);
	assert_int_equal(create(session), 0);
	assert_int_equal(session_close(&session, false), 0);
	assert_int_equal(open_script(&session, "err=no_such_host,exit=255"), -ECONNRESET);
	expect_text("no such host");
	signal(SIGCHLD, SIG_DFL);
}

/* The lock that libpmemobj has on its part file goes with the program. */
static void a_killed_client_leaves_nothing_behind(void **state)
{
	int ready[2], fd, status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		struct session *session;

		fd = open(test_path("part"), O_RDWR | O_CREAT, 0600);
		if (flock(fd, LOCK_EX) == 0 &&
		    open_script(&session, "hello,eof,log=$D/log,argv=$D/ended") == 0 &&
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
	for (int i = 0; i < 500 && test_file("ended")[0] == '\0'; i++)
		usleep(10000);
	assert_true(test_file("ended")[0] != '\0'); /* ssh saw the end of its stdin */
}

/* --- ssh and HELLO --- */

static void a_missing_ssh_is_told(void **state)
{
	struct session *session;

	setenv("RPMEM_SSH", "/nonexistent/ssh", 1);
	assert_int_equal(open_script(&session, ""), -ECONNRESET);
	expect_text("/nonexistent/ssh");
}

static void the_first_line_of_ssh_is_told(void **state)
{
	static const struct {
		const char *script, *expected;
	} cases[] = {
		{"err=Permission_denied,err=second,exit=255", "Permission denied"},
		{"err=Warning:_a_new_key,err=Host_key_verification_failed.,exit=255",
		 ": Host key verification failed."},
		{"err=Warning:_only_this,exit=255", "Warning: only this"},
		{"err=sh:_rpmemd:_not_found,exit=127", "rpmemd: not found"},
		{"exit=127", "exit status 127"},
		{"raw=rpm,exit=0", "exit status 0"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct session *session;

		assert_int_equal(open_script(&session, cases[i].script), -ECONNRESET);
		assert_null(session);
		expect_text("rpmemd on host did not start");
		expect_text(cases[i].expected);
	}
}

static void a_refusal_in_hello_is_told(void **state)
{
	struct session *session;

	assert_int_equal(open_script(&session, "hello=22,eof"), -EINVAL);
	expect_text("rpmemd on host: because");
	assert_int_equal(open_script(&session, "hello=4095,eof"), -4095);
}

static void junk_on_stdout_is_told(void **state)
{
	struct session *session;

	assert_int_equal(open_script(&session, "raw=Welcome_to_node_7,eof"), -EPROTO);
	expect_text("'Welcome to node 7'");
}

static void a_silent_daemon_is_given_up(void **state)
{
	const struct session_cfg cfg = {.target = &host, .command = "eof", .hello_timeout_ms = 50};
	struct session *session;

	assert_int_equal(session_open(&session, &cfg), -ECONNRESET);
	expect_text("within 50 ms");
}

static void a_passing_failure_of_ssh_is_tried_again(void **state)
{
	struct session *session;

	assert_int_equal(open_script(&session, "argv=$D/argv,err=connect:_Connection_refused,"
					       "once=$D/once,hello,serve"),
			 0);
	assert_int_equal(create(session), 0);
	assert_int_equal(session_close(&session, false), 0);
	assert_int_equal(count_starts(), 2);
}

static void other_failures_of_ssh_are_not(void **state)
{
	struct session *session;

	assert_int_equal(open_script(&session, "err=Permission_denied_(publickey),once=$D/once,"
					       "hello,serve"),
			 -ECONNRESET);
	assert_int_equal(open_script(&session, "err=Connection_refused,argv=$D/argv,exit=1"),
			 -ECONNRESET);
	assert_int_equal(count_starts(), 1);
}

static void a_failure_that_does_not_pass_is_given_up(void **state)
{
	struct session *session;

	assert_int_equal(open_script(&session, "argv=$D/argv,err=Connection_refused,exit=255"),
			 -ECONNRESET);
	expect_text("Connection refused");
	assert_int_equal(count_starts(), 4);
}

/* --- replies --- */

static void each_status_is_the_errno(void **state)
{
	static const int statuses[] = {EPERM,	     ENOENT,	      EACCES, EBUSY,   EEXIST,
				       EINVAL,	     EFBIG,	      ENOMEM, ENOTSUP, EREMOTEIO,
				       ECONNABORTED, EPROTONOSUPPORT, 4095};

	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		char script[64];

		snprintf(script, sizeof(script), "hello,take,reply=%d,eof", statuses[i]);
		assert_int_equal(create_with(script), -statuses[i]);
		expect_text("rpmemd on host: because");
	}
}

static void a_status_does_not_end_the_session(void **state)
{
	struct session *session;

	assert_int_equal(open_script(&session, "hello,take,reply,take,reply=22,serve"), 0);
	assert_int_equal(create(session), 0);
	assert_int_equal(session_set_attr(session, &request.attr), -EINVAL);
	assert_int_equal(session_ended(session), 0);
	assert_int_equal(session_set_attr(session, &request.attr), 0);
	assert_int_equal(session_close(&session, false), 0);
}

/* Bytes of the frame: the header has 16, and the reply begins with lanes, port, address. */
static void each_field_of_a_reply_is_checked(void **state)
{
	static const struct {
		int at, value, expected;
	} cases[] = {
		{0, 'x', -EPROTO},	  {3, 'x', -EPROTO},
		{4, 1, -EPROTONOSUPPORT}, {5, 2, -EPROTONOSUPPORT},
		{6, 0, -EPROTO},	  {6, 3, -EPROTO},
		{7, 3, -EPROTO},	  {7, 4, -EPROTO},
		{7, 0, -EPROTO},	  {8, 1, -EPROTO},
		{10, 16, -EPROTO},	  {11, 0x6e, -ETIMEDOUT},
		{12, 1, -EPROTO},	  {13, 2, -EPROTO},
		{15, 191, -EPROTO},				 /* the body has 192 */
		{16 + 3, 0, -EPROTO},	  {16 + 3, 17, -EPROTO}, /* lanes of 16 */
		{16 + 0, 128, -EPROTO},	  {16 + 4, 0, 0},
		{16 + 6, 'x', -EPROTO},	  {16 + 7, '1', -EPROTO},
		{16 + 70, 0, -EPROTO},	  {16 + 70, 3, -EPROTO}, /* method */
		{16 + 71, 0, -EPROTO},	  {16 + 71, 2, -EPROTO}, /* has headers */
		{16 + 77, 0, -EPROTO},				 /* smaller than requested */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char script[64];

		snprintf(script, sizeof(script), "hello,take,flip=%d:%d,serve", cases[i].at,
			 cases[i].value);
		if (create_with(script) != cases[i].expected)
			fail_msg("%s: expected %d", script, cases[i].expected);
	}
}

static void a_hang_up_is_told_with_the_last_words(void **state)
{
	assert_int_equal(create_with("hello,take,half"), -ECONNRESET);
	expect_text("exit status 0");
	assert_int_equal(create_with("hello,take,half,err=rpmemd:_out_of_memory"), -ECONNRESET);
	expect_text("rpmemd on host was lost: rpmemd: out of memory");
	assert_int_equal(create_with("hello,kill=9"), -ECONNRESET);
	expect_text("signal 9");
}

static void a_reply_that_does_not_come_is_given_up(void **state)
{
	const struct session_cfg cfg = {
		.target = &host, .command = "hello,eof", .reply_timeout_ms = 50};
	struct session *session;

	assert_int_equal(session_open(&session, &cfg), 0);
	assert_int_equal(create(session), -ECONNRESET);
	expect_text("did not answer create within 50 ms");
	assert_int_equal(session_ended(session), -ECONNRESET);
	session_close(&session, false);
}

/* The errors of a session are sticky: its end is seen by all who wait, and by every request. */
static void expect_end(const char *script, int expected)
{
	struct session *session;

	assert_int_equal(open_script(&session, script), 0);
	assert_int_equal(create(session), 0);
	assert_true(has_ended(session, 5000));
	failure_get()->text[0] = '\0';
	assert_int_equal(session_ended(session), expected);
	assert_true(failure_get()->text[0] != '\0');
	assert_int_equal(session_set_attr(session, &request.attr), expected);
	assert_int_equal(session_persisted(session), expected);
	assert_int_equal(session_ended(session), expected);
	assert_int_equal(session_close(&session, false), expected);
}

static void what_nobody_asked_for_ends_the_session(void **state)
{
	expect_end("hello,take,reply,sleep=100,raw=x,eof", -EPROTO);
	expect_end("hello,take,reply,sleep=100,reply,eof", -EPROTO); /* twice */
	expect_end("hello,take,reply,sleep=100,hello,eof", -EPROTO);
}

static void a_reply_and_its_copy_at_once_are_refused(void **state)
{
	struct session *session;

	assert_int_equal(open_script(&session, "hello,take,reply,take,twice,eof"), 0);
	assert_int_equal(create(session), 0);
	session_set_attr(session, &request.attr); /* it may have been read before its copy */
	assert_true(has_ended(session, 5000));
	assert_int_equal(session_ended(session), -EPROTO);
	assert_int_equal(session_close(&session, false), -EPROTO);
}

static void a_lost_daemon_ends_the_session(void **state)
{
	expect_end("hello,take,reply,kill=9", -ECONNRESET);
	expect_end("hello,take,reply,err=ssh:_Broken_pipe,exit=255", -ECONNRESET);
	expect_text("Broken pipe");
}

static void a_daemon_that_dies_at_close_is_told(void **state)
{
	struct session *session;

	assert_int_equal(open_script(&session, "hello,take,reply,take,err=bye,exit=1"), 0);
	assert_int_equal(create(session), 0);
	assert_int_equal(session_close(&session, false), -ECONNRESET);
	expect_text("bye");
}

static void the_status_of_close_is_told(void **state)
{
	struct session *session;

	assert_int_equal(open_script(&session, "hello,take,reply,take,reply=5,eof"), 0);
	assert_int_equal(create(session), 0);
	assert_int_equal(session_close(&session, true), -EIO);
	expect_text("because");
}

/* A lane has failed: the other lanes give up, and the daemon still gets its CLOSE. */
static void a_lane_can_end_the_session(void **state)
{
	struct session *session;

	assert_int_equal(open_script(&session, "hello,log=$D/log,serve"), 0);
	assert_int_equal(create(session), 0);
	failure_set(EXIT_RUN_FAILED, "lane", "lane 3 was lost");
	session_end(session, -ECONNRESET);
	failure_set(EXIT_RUN_FAILED, "lane", "lane 4 was lost");
	session_end(session, -EIO);
	assert_true(has_ended(session, 0));
	assert_int_equal(session_ended(session), -ECONNRESET);
	expect_text("lane 3");
	assert_int_equal(session_close(&session, false), 0);
	assert_string_equal(test_file("log"), "2 5 ");
}

static void *set_attr_often(void *session)
{
	intptr_t wrong = 0;

	for (int i = 0; i < 100; i++)
		wrong += session_set_attr(session, &request.attr) != 0 ||
			 session_persisted(session) != 0;
	return (void *)wrong;
}

static void threads_take_turns(void **state)
{
	pthread_t threads[4];
	struct session *session;
	void *wrong;

	assert_int_equal(open_script(&session, "hello,serve"), 0);
	assert_int_equal(create(session), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, set_attr_often, session), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	assert_int_equal(session_close(&session, false), 0);
}

/* --- remove --- */

static int remove_with(const char *script, const char *pool_set, bool force, bool with_set)
{
	const struct session_cfg cfg = {
		.target = &host, .command = test_script(script), .reply_timeout_ms = 5000};

	return session_remove(&cfg, pool_set, force, with_set);
}

static void remove_is_one_word_of_the_command(void **state)
{
	static const struct {
		const char *pool_set;
		bool force, with_set;
		const char *expected;
	} cases[] = {
		{"pool.set", false, false, " --remove 'pool.set'\n"},
		{"pool.set", true, false, " --remove 'pool.set' --force\n"},
		{"pool.set", false, true, " --remove 'pool.set' --pool-set\n"},
		{"a b", true, true, " --remove 'a b' --force --pool-set\n"},
		{"x; rm -rf y", false, false, " --remove 'x; rm -rf y'\n"},
		{"it's $(id) `id`\n", false, false, " --remove 'it'\\''s $(id) `id`\n'\n"},
		{"'", false, false, " --remove ''\\'''\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *argv;

		assert_int_equal(remove_with("argv=$D/argv", cases[i].pool_set, cases[i].force,
					     cases[i].with_set),
				 0);
		argv = test_file("argv");
		assert_non_null(strstr(argv, cases[i].expected));
		assert_string_equal(strstr(argv, " --remove"), cases[i].expected);
		unlink(test_path("argv"));
	}
}

/* The remote shell takes the quoted name for what it is. */
static void a_shell_undoes_the_quotes(void **state)
{
	static const char *const names[] = {"x; rm -rf y", "it's", "''", "$HOME",
					    "a\nb",	   "\\",   "*",	 "-rf"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char expected[64];
		FILE *file = fopen(test_path("ssh"), "w");

		fprintf(file, "#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n");
		fclose(file);
		assert_int_equal(chmod(test_path("ssh"), 0700), 0);
		setenv("RPMEM_SSH", test_path("ssh"), 1);
		assert_int_equal(remove_with("printf '<%s>' > $D/words", names[i], false, false),
				 0);
		snprintf(expected, sizeof(expected), "<--remove><%s>", names[i]);
		assert_string_equal(test_file("words"), expected);
	}
}

static void the_exit_status_is_the_errno(void **state)
{
	static const struct {
		const char *script;
		int expected;
		const char *text;
	} cases[] = {
		{"exit=0", 0, ""},
		{"raw=silence,err=a_note,exit=0", 0, ""},
		{"exit=2", -ENOENT, "No such file"},
		{"err=pool.set:_locked,exit=16", -EBUSY, "locked"},
		{"exit=125", -125, ""},
		{"err=sh:_rpmemd:_not_found,exit=127", -ECONNRESET, "rpmemd: not found"},
		{"exit=126", -ECONNRESET, "126"},
		{"err=Connection_refused,exit=255", -ECONNRESET, "Connection refused"},
		{"exit=254", -254, ""},
		{"kill=9", -ECONNRESET, "ssh client"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		failure_get()->text[0] = '\0';
		assert_int_equal(remove_with(cases[i].script, "pool.set", false, false),
				 cases[i].expected);
		expect_text(cases[i].text);
		assert_int_equal(failure_get()->text[0] == '\0', cases[i].expected == 0);
	}
}

static void a_remove_whose_status_is_gone_is_not_known(void **state)
{
	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(remove_with("exit=0", "pool.set", false, false), -ECHILD);
	signal(SIGCHLD, SIG_DFL);
	expect_text("not known");
}

static void a_remove_that_does_not_end_is_given_up(void **state)
{
	const struct session_cfg cfg = {
		.target = &host, .command = "sleep=30000", .reply_timeout_ms = 50};
	unsigned before = count_fds();

	assert_int_equal(session_remove(&cfg, "pool.set", false, false), -ECONNRESET);
	expect_text("within 50 ms");
	assert_int_equal(count_fds(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

#define T(test) cmocka_unit_test_setup_teardown(test, test_setup, scratch_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(requests_get_their_replies),
		T(a_session_without_a_pool_ends_without_close),
		T(pidfds_are_not_needed),
		T(closing_nothing_is_fine),
		T(ssh_gets_the_arguments_of_the_manual),
		T(ssh_has_three_descriptors),
		T(a_program_without_stdio_can_open_a_session),
		T(ssh_has_default_signals),
		T(descriptors_and_children_are_gone_afterwards),
		T(a_program_may_collect_our_child),
		T(a_killed_client_leaves_nothing_behind),
		T(a_missing_ssh_is_told),
		T(the_first_line_of_ssh_is_told),
		T(a_refusal_in_hello_is_told),
		T(junk_on_stdout_is_told),
		T(a_silent_daemon_is_given_up),
		T(a_passing_failure_of_ssh_is_tried_again),
		T(other_failures_of_ssh_are_not),
		T(a_failure_that_does_not_pass_is_given_up),
		T(each_status_is_the_errno),
		T(a_status_does_not_end_the_session),
		T(each_field_of_a_reply_is_checked),
		T(a_hang_up_is_told_with_the_last_words),
		T(a_reply_that_does_not_come_is_given_up),
		T(what_nobody_asked_for_ends_the_session),
		T(a_reply_and_its_copy_at_once_are_refused),
		T(a_lost_daemon_ends_the_session),
		T(a_daemon_that_dies_at_close_is_told),
		T(the_status_of_close_is_told),
		T(a_lane_can_end_the_session),
		T(threads_take_turns),
		T(remove_is_one_word_of_the_command),
		T(a_shell_undoes_the_quotes),
		T(the_exit_status_is_the_errno),
		T(a_remove_whose_status_is_gone_is_not_known),
		T(a_remove_that_does_not_end_is_given_up),
	};

	return cmocka_run_group_tests_name("rpmem.session", tests, NULL, NULL);
}
