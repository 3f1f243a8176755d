/* SPDX-License-Identifier: BSD-3-Clause */
/* test_settings.c -- the environment variables of librpmem(7), and the log they set up. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "librpmem/src/report.h"
#include "librpmem/src/settings.h"
#include "tests/lib/test.h"

static struct settings settings;
static char log_name[] = "/tmp/rpmem-settings-XXXXXX";

static void forget_settings(void)
{
	free(settings.commands);
	settings.commands = NULL;
	report_close();
}

static int reset(void **state)
{
	static const char *const names[] = {
		"RPMEM_SSH",	      "RPMEM_CMD",	  "RPMEM_ENABLE_SOCKETS",
		"RPMEM_ENABLE_VERBS", "RPMEM_MAX_NLANES", "RPMEM_WORK_QUEUE_SIZE",
		"RPMEM_LOG_LEVEL"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	forget_settings();
	strcpy(log_name + strlen(log_name) - 6, "XXXXXX");
	close(mkstemp(log_name));
	setenv("RPMEM_LOG_FILE", log_name, 1);
	return 0;
}

static int remove_log(void **state)
{
	return unlink(log_name);
}

static const char *logged(void)
{
	static char text[4096];
	FILE *file = fopen(log_name, "r");
	size_t len;

	assert_non_null(file);
	len = fread(text, 1, sizeof(text) - 1, file);
	text[len] = '\0';
	fclose(file);
	return text;
}

static void load_with(const char *name, const char *value)
{
	forget_settings();
	setenv(name, value, 1);
	settings_load(&settings);
}

static void expect_command(const char *expected)
{
	char command[SETTINGS_COMMAND_MAX];

	EQUAL((settings_next_command(&settings, command), 0), (command, expected));
}

TEST(defaults_are_those_of_the_manual, reset, remove_log)
{
	settings_load(&settings);
	EQUAL((settings.max_nlanes, UINT_MAX), (settings.work_queue, 50), (settings_ssh(), "ssh"),
	      (settings_verbs(), true), (settings_sockets(), false));
	expect_command("rpmemd");
	expect_command("rpmemd");
	assert_string_equal(logged(), "");
}

TEST(commands_take_turns, reset, remove_log)
{
	load_with("RPMEM_CMD", "one -v|two|three");
	for (int i = 0; i < 2; i++) {
		expect_command("one -v");
		expect_command("two");
		expect_command("three");
	}
}

TEST(a_command_that_is_empty_is_the_default, reset, remove_log)
{
	load_with("RPMEM_CMD", "");
	expect_command("rpmemd");
}

TEST(commands_are_those_at_load, reset, remove_log)
{
	load_with("RPMEM_CMD", "early");
	setenv("RPMEM_CMD", "late", 1);
	expect_command("early");
}

TEST(a_command_that_is_too_long_is_refused, reset, remove_log)
{
	char commands[SETTINGS_COMMAND_MAX + 16], command[SETTINGS_COMMAND_MAX];

	memset(commands, 'c', sizeof(commands));
	commands[SETTINGS_COMMAND_MAX] = '\0';
	load_with("RPMEM_CMD", commands);
	EQUAL((settings_next_command(&settings, command), -EINVAL),
	      (failure_get()->text, HAS("4096 characters")));
	commands[SETTINGS_COMMAND_MAX - 1] = '\0';
	load_with("RPMEM_CMD", commands);
	expect_command(commands);
}

TEST(the_ssh_client_is_that_of_the_call, reset, remove_log)
{
	settings_load(&settings);
	setenv("RPMEM_SSH", "/opt/my ssh", 1);
	assert_string_equal(settings_ssh(), "/opt/my ssh");
	setenv("RPMEM_SSH", "", 1);
	assert_string_equal(settings_ssh(), "ssh");
}

TEST(numbers_are_positive_integers, reset, remove_log)
{
	static const struct {
		const char *text;
		unsigned lanes, queue;
	} cases[] = {
		{"1", 1, 2},
		{"2", 2, 2},
		{"8", 8, 8},
		{"+8", 8, 8},
		{"4294967295", UINT_MAX, UINT_MAX},
		{"4294967296", UINT_MAX, UINT_MAX},
		{"99999999999999999999999", UINT_MAX, UINT_MAX},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		load_with("RPMEM_MAX_NLANES", cases[i].text);
		load_with("RPMEM_WORK_QUEUE_SIZE", cases[i].text);
		EQUAL((settings.max_nlanes, cases[i].lanes), (settings.work_queue, cases[i].queue));
	}
	assert_string_equal(logged(), "");
}

TEST(other_numbers_are_ignored_and_reported, reset, remove_log)
{
	static const char *const cases[] = {"",	  "0",	 "-1",	"x",   "8x",
					    " 8", "0x8", "1.5", "--1", "-99999999999999999999999"};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char expected[128];

		load_with("RPMEM_MAX_NLANES", cases[i]);
		load_with("RPMEM_WORK_QUEUE_SIZE", cases[i]);
		EQUAL((settings.max_nlanes, UINT_MAX), (settings.work_queue, 50));
		snprintf(expected, sizeof(expected), "RPMEM_MAX_NLANES='%s'", cases[i]);
		assert_non_null(strstr(logged(), expected));
	}
}

TEST(transports_are_on_by_integers, reset, remove_log)
{
	static const struct {
		const char *text;
		bool on;
	} cases[] = {{"0", false}, {"1", true},	 {"2", true},	 {"-1", true}, {"00", false},
		     {"", false},  {"x", false}, {"yes", false}, {"1x", false}};

	settings_load(&settings);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setenv("RPMEM_ENABLE_VERBS", cases[i].text, 1);
		setenv("RPMEM_ENABLE_SOCKETS", cases[i].text, 1);
		EQUAL((settings_verbs(), cases[i].on), (settings_sockets(), cases[i].on));
	}
	assert_non_null(strstr(logged(), "RPMEM_ENABLE_VERBS='1x'"));
}

TEST(level_zero_is_silent, reset, remove_log)
{
	load_with("RPMEM_LOG_LEVEL", "0");
	report_line(REPORT_ERROR, "a failure");
	assert_string_equal(logged(), "");
	load_with("RPMEM_LOG_LEVEL", "1");
	report_line(REPORT_ERROR, "a failure of %d", 7);
	report_line(REPORT_BASIC, "a step");
	assert_string_equal(logged(), "librpmem: a failure of 7\n");
}

TEST(levels_above_two_are_two, reset, remove_log)
{
	static const char *const levels[] = {"2", "3", "4", "99999999999"};

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		load_with("RPMEM_LOG_LEVEL", levels[i]);
		report_line(REPORT_BASIC, "a step");
	}
	assert_string_equal(logged(), "librpmem: a step\nlibrpmem: a step\n"
				      "librpmem: a step\nlibrpmem: a step\n");
}

TEST(a_line_has_no_control_characters, reset, remove_log)
{
	settings_load(&settings);
	report_line(REPORT_ERROR, "one\ntwo\033[2J");
	assert_string_equal(logged(), "librpmem: one?two?[2J\n");
}

TEST(a_log_file_can_be_named_after_the_process, reset, remove_log)
{
	char name[64], expected[64];

	snprintf(name, sizeof(name), "%s-", log_name);
	snprintf(expected, sizeof(expected), "%s-%d", log_name, (int)getpid());
	load_with("RPMEM_LOG_FILE", name);
	assert_int_equal(access(expected, F_OK), 0);
	unlink(expected);
}

/* A program that closed its stderr may have opened a pool's file as descriptor 2. */
TEST(a_file_that_took_the_place_of_stderr_stays_whole, reset, remove_log)
{
	int saved = dup(STDERR_FILENO), fd = open(log_name, O_RDWR);

	unsetenv("RPMEM_LOG_FILE");
	settings_load(&settings);
	dup2(fd, STDERR_FILENO);
	report_line(REPORT_ERROR, "a failure");
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fd);
	assert_string_equal(logged(), "");
}

static int open_pipe(int ends[2])
{
	return pipe2(ends, O_CLOEXEC);
}

/* poll(2) does not tell that its reader has gone: a write does. */
static int open_sockets(int ends[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
}

typedef int open_ends(int ends[2]);
static open_ends *const kinds_of_stderr[] = {open_pipe, open_sockets};

/* stderr is the writing end; gives the other one, and what stderr was. */
static int replace_stderr(open_ends *open_it, int *saved)
{
	int ends[2];

	unsetenv("RPMEM_LOG_FILE");
	settings_load(&settings);
	assert_int_equal(open_it(ends), 0);
	*saved = dup(STDERR_FILENO);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	return ends[0];
}

static void restore_stderr(int saved)
{
	dup2(saved, STDERR_FILENO);
	close(saved);
}

TEST(a_pipe_gets_the_line, reset, remove_log)
{
	char text[64] = "";
	int saved, reader = replace_stderr(open_pipe, &saved);

	report_line(REPORT_ERROR, "a failure");
	restore_stderr(saved);
	EQUAL((read(reader, text, sizeof(text) - 1), strlen("librpmem: a failure\n")),
	      (text, "librpmem: a failure\n"));
	close(reader);
}

/* SIGPIPE would end this process. */
TEST(a_pipe_without_a_reader_is_harmless, reset, remove_log)
{
	for (size_t i = 0; i < 2; i++) {
		sigset_t pending, mask;
		int saved;

		close(replace_stderr(kinds_of_stderr[i], &saved));
		report_line(REPORT_ERROR, "a failure");
		restore_stderr(saved);
		sigpending(&pending);
		assert_false(sigismember(&pending, SIGPIPE));
		sigprocmask(SIG_SETMASK, NULL, &mask);
		assert_false(sigismember(&mask, SIGPIPE));
	}
}

/* The program may wait for one of its own. */
TEST(a_pending_sigpipe_stays, reset, remove_log)
{
	sigset_t set, before, pending;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, &before);
	for (size_t i = 0; i < 2; i++) {
		int saved;

		raise(SIGPIPE);
		close(replace_stderr(kinds_of_stderr[i], &saved));
		report_line(REPORT_ERROR, "a failure");
		restore_stderr(saved);
		sigpending(&pending);
		EQUAL((sigismember(&pending, SIGPIPE), true), (sigwaitinfo(&set, NULL), SIGPIPE));
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* A thread that printed would hold its lane for ever, and rpmem_close() would wait for it. */
TEST(a_full_pipe_blocks_nothing, reset, remove_log)
{
	char text[4096] = "";
	int saved, reader = replace_stderr(open_pipe, &saved);

	fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
	while (write(STDERR_FILENO, text, sizeof(text)) > 0)
		;
	fcntl(STDERR_FILENO, F_SETFL, 0);
	alarm(100);
	report_line(REPORT_ERROR, "a failure");
	alarm(0);
	restore_stderr(saved);
	close(reader);
}

int main(void)
{
	int ret = test_run(NULL, NULL);

	forget_settings();
	return ret;
}
