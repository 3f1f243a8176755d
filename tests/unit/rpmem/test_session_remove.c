/* SPDX-License-Identifier: BSD-3-Clause */
/* test_session_remove.c -- the command that removes a pool, and its exit status. */
#include <signal.h>
#include <sys/wait.h>

#include "session_script.h"

static int remove_with(const char *script, const char *pool_set, bool force, bool with_set)
{
	const struct session_cfg cfg = {
		.target = &host, .command = test_script(script), .reply_timeout_ms = 5000};

	return session_remove(&cfg, pool_set, force, with_set);
}

SESSION_TEST(remove_is_one_word_of_the_command)
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
SESSION_TEST(a_shell_undoes_the_quotes)
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

SESSION_TEST(the_exit_status_is_the_errno)
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
		{"err=unknown_option_--x,exit=64", -EINVAL, "--x"},
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

SESSION_TEST(a_remove_whose_status_is_gone_is_not_known)
{
	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(remove_with("exit=0", "pool.set", false, false), -ECHILD);
	signal(SIGCHLD, SIG_DFL);
	expect_text("not known");
}

SESSION_TEST(a_remove_that_does_not_end_is_given_up)
{
	const struct session_cfg cfg = {
		.target = &host, .command = "sleep=30000", .reply_timeout_ms = 50};
	unsigned before = count_fds();

	assert_int_equal(session_remove(&cfg, "pool.set", false, false), -ECONNRESET);
	expect_text("within 50 ms");
	EQUAL((count_fds(), before), (waitpid(-1, NULL, WNOHANG), -1));
}
