/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_log.c -- thresholds, the user's log function, and the default one, whose
 * two sinks are caught here: stderr in a memory file, syslog by its own name.
 */
#define _GNU_SOURCE /* memfd_create */
#include "world.h"

#include <netdb.h>
#include <regex.h>
#include <sys/mman.h>
#include <syslog.h>
#include <unistd.h>

/* --- syslog(3), interposed ----------------------------------------------- */

static unsigned openlog_calls; /* since the process started */
static struct {
	unsigned lines;
	int priority;
	char line[2048];
} sys_log;

void openlog(const char *ident, int option, int facility)
{
	openlog_calls++;
}

void closelog(void)
{
}

static void catch_line(int priority, const char *format, va_list arguments)
{
	sys_log.lines++;
	sys_log.priority = priority;
	/* clang-tidy 14 does not see va_start() in the callers */
	vsnprintf(sys_log.line, sizeof(sys_log.line), format, arguments); /* NOLINT */
}

void syslog(int priority, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	catch_line(priority, format, arguments);
	va_end(arguments);
}

/* what syslog() is when compiled with _FORTIFY_SOURCE */
void __syslog_chk(int priority, int flag, const char *format, ...);
void __syslog_chk(int priority, int flag, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	catch_line(priority, format, arguments);
	va_end(arguments);
}

/* --- stderr -------------------------------------------------------------- */

static char std_err[4096];

/* Run log_something() and keep what it wrote to stderr. */
static void catch_stderr(void (*log_something)(void))
{
	int saved = dup(STDERR_FILENO);
	int caught = memfd_create("stderr", 0);
	ssize_t length;

	assert_true(saved >= 0 && caught >= 0);
	dup2(caught, STDERR_FILENO);
	log_something();
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	length = pread(caught, std_err, sizeof(std_err) - 1, 0);
	assert_true(length >= 0);
	std_err[length] = '\0';
	close(caught);
	close(saved);
}

static void assert_matches(const char *text, const char *pattern)
{
	regex_t regex;

	assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	if (regexec(&regex, text, 0, NULL, 0) != 0)
		fail_msg("\"%s\" does not match %s", text, pattern);
	regfree(&regex);
}

/* --- calls that log one line of a level ---------------------------------- */

static void log_error(void)
{
	calls_fail_on("ibv_reg_mr", EIO);
	rpma_mr_reg(w.peer, region, 1, ALL_USAGES, &w.mr);
}

static void log_notice(void)
{
	rpma_ep_listen(w.peer, "192.0.2.1", "7204", &w.ep);
}

static void log_info(void)
{
	rpma_peer_cfg_from_descriptor("", 1, &w.pcfg);
}

static void log_debug(void)
{
	unsigned char desc[DESCRIPTOR_SIZE];

	write_descriptor(desc, 0x1000, 8, 1, ALL_USAGES);
	rpma_mr_remote_from_descriptor(desc, sizeof(desc), &w.remote);
}

static void log_overlong_error(void)
{
	char address[1500];

	memset(address, 'x', sizeof(address) - 1);
	address[sizeof(address) - 1] = '\0';
	calls_fail_on("rdma_getaddrinfo", EINVAL);
	rpma_ep_listen(w.peer, address, "7204", &w.ep);
}

static void log_unknown_address(void)
{
	provider.getaddrinfo_answer = EAI_NONAME;
	rpma_ep_listen(w.peer, "nowhere.invalid", "7204", &w.ep);
}

static int setup_default_log(void **unused)
{
	setup_peer(unused);
	expect(0, rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION));
	expect(0, rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_DEBUG));
	memset(&sys_log, 0, sizeof(sys_log));
	return 0;
}

/* --- thresholds ---------------------------------------------------------- */

TEST(thresholds__start_at_warning_and_disabled)
{
	enum rpma_log_level level = RPMA_LOG_LEVEL_DEBUG;

	expect(0, rpma_log_get_threshold(RPMA_LOG_THRESHOLD, &level));
	assert_int_equal(level, RPMA_LOG_LEVEL_WARNING);
	expect(0, rpma_log_get_threshold(RPMA_LOG_THRESHOLD_AUX, &level));
	assert_int_equal(level, RPMA_LOG_DISABLED);
}

TEST(thresholds__are_kept_apart, setup_nothing, teardown)
{
	enum rpma_log_level main_level, aux_level;

	for (int level = RPMA_LOG_DISABLED; level <= RPMA_LOG_LEVEL_DEBUG; level++) {
		int opposite = RPMA_LOG_LEVEL_DEBUG - 1 - level;

		expect(0, rpma_log_set_threshold(RPMA_LOG_THRESHOLD, (enum rpma_log_level)level));
		expect(0, rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX,
						 (enum rpma_log_level)opposite));
		expect(0, rpma_log_get_threshold(RPMA_LOG_THRESHOLD, &main_level));
		expect(0, rpma_log_get_threshold(RPMA_LOG_THRESHOLD_AUX, &aux_level));
		EQUAL((main_level, level), (aux_level, opposite));
	}
}

TEST(thresholds__refuse_bad_arguments, setup_nothing, teardown)
{
	static const struct {
		int threshold, level;
	} cases[] = {
		{RPMA_LOG_THRESHOLD_MAX, RPMA_LOG_LEVEL_ERROR},
		{-1, RPMA_LOG_LEVEL_ERROR},
		{RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED - 1},
		{RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG + 1},
		{RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_DEBUG + 1},
	};
	enum rpma_log_level level = RPMA_LOG_LEVEL_INFO;

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
		expect(RPMA_E_INVAL,
		       rpma_log_set_threshold((enum rpma_log_threshold)cases[i].threshold,
					      (enum rpma_log_level)cases[i].level));
	expect(RPMA_E_INVAL, rpma_log_get_threshold(RPMA_LOG_THRESHOLD_MAX, &level));
	expect(RPMA_E_INVAL, rpma_log_get_threshold((enum rpma_log_threshold) - 1, &level));
	expect(RPMA_E_INVAL, rpma_log_get_threshold(RPMA_LOG_THRESHOLD, NULL));
	assert_int_equal(level, RPMA_LOG_LEVEL_INFO);
}

/* --- the user's function ------------------------------------------------- */

static struct {
	unsigned lines;
	enum rpma_log_level level;
	const char *function_name;
	size_t format_length;
	char last_of_format;
} user_log;

static void user_function(enum rpma_log_level level, const char *file_name, const int line_no,
			  const char *function_name, const char *message_format, ...)
{
	user_log.lines++;
	user_log.level = level;
	user_log.function_name = function_name;
	user_log.format_length = strlen(message_format);
	user_log.last_of_format = message_format[user_log.format_length - 1];
	assert_non_null(file_name);
	assert_true(line_no > 0);
}

SETUP(setup_user_log, setup_peer, memset(&user_log, 0, sizeof(user_log));
      memset(&sys_log, 0, sizeof(sys_log)); expect(0, rpma_log_set_function(user_function)))

TEST(user_function__gets_whole_lines, setup_user_log, teardown)
{
	log_error();
	EQUAL((user_log.level, RPMA_LOG_LEVEL_ERROR), (user_log.last_of_format, '\n'));
	assert_non_null(user_log.function_name);
	assert_int_equal(sys_log.lines, 0); /* in place of the default one */
}

TEST(user_function__gets_what_the_main_threshold_lets_through, setup_user_log, teardown)
{
	static const struct {
		void (*log)(void);
		enum rpma_log_level level;
	} cases[] = {
		{log_error, RPMA_LOG_LEVEL_ERROR},
		{log_notice, RPMA_LOG_LEVEL_NOTICE},
		{log_info, RPMA_LOG_LEVEL_INFO},
		{log_debug, RPMA_LOG_LEVEL_DEBUG},
	};

	/* the auxiliary threshold is not asked */
	expect(0, rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_DISABLED));
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		teardown(NULL);
		setup_user_log(NULL);
		expect(0, rpma_log_set_threshold(RPMA_LOG_THRESHOLD, cases[i].level));
		cases[i].log();
		EQUAL((user_log.lines, 1), (user_log.level, cases[i].level));
		teardown(NULL);
		setup_user_log(NULL);
		expect(0, rpma_log_set_threshold(RPMA_LOG_THRESHOLD, cases[i].level - 1));
		cases[i].log();
		assert_int_equal(user_log.lines, 0);
	}
}

TEST(set_function__null_restores_the_default, setup_user_log, teardown)
{
	enum rpma_log_level level;

	expect(0, rpma_log_set_function(NULL));
	log_error();
	EQUAL((user_log.lines, 0), (sys_log.lines, 1));
	expect(0, rpma_log_get_threshold(RPMA_LOG_THRESHOLD, &level));
	assert_int_equal(level, RPMA_LOG_LEVEL_DEBUG); /* as it was */
}

/* --- the default function ------------------------------------------------ */

TEST(loading__leaves_the_program_s_syslog_identity, setup_nothing, teardown)
{
	assert_int_equal(openlog_calls, DIFFERS(0, 1, "its constructor calls openlog(\"rpma\")"));
}

TEST(default__sends_a_line_to_syslog, setup_default_log, teardown)
{
	static const struct {
		void (*log)(void);
		int severity;
		const char *line;
	} cases[] = {
		{log_error, LOG_ERR, "^\\*ERROR\\* [^ :]+: +[0-9]+: [a-z_]+: .+\n$"},
		{log_notice, LOG_NOTICE, "^\\*NOTE\\*  [^ :]+: +[0-9]+: [a-z_]+: .+\n$"},
		{log_info, LOG_INFO, "^\\*INFO\\*  [^ :]+: +[0-9]+: [a-z_]+: .+\n$"},
		{log_debug, LOG_DEBUG, "^\\*DEBUG\\* [^ :]+: +[0-9]+: [a-z_]+: .+\n$"},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		catch_stderr(cases[i].log);
		assert_int_equal(sys_log.lines, i + 1);
		assert_int_equal(sys_log.priority,
				 cases[i].severity |
					 DIFFERS(LOG_LOCAL7, 0, "it sets LOCAL7 by openlog()"));
		assert_matches(sys_log.line, cases[i].line);
	}
}

TEST(default__sends_a_stamped_line_to_stderr, setup_default_log, teardown)
{
	catch_stderr(log_error);
	assert_matches(std_err, "^[A-Z][a-z]{2} [0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6} "
				"\\[[0-9]+\\] \\*ERROR\\* [^ :]+: +[0-9]+: [a-z_]+: .+\n$");
	/* the same line, but for stamp and thread */
	assert_non_null(strstr(std_err, sys_log.line));
}

TEST(default__keeps_stderr_below_the_auxiliary_threshold, setup_default_log, teardown)
{
	expect(0, rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_FATAL));
	catch_stderr(log_error);
	EQUAL((std_err, ""), (sys_log.lines, 1));
}

TEST(default__keeps_both_below_the_main_threshold, setup_default_log, teardown)
{
	expect(0, rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_FATAL));
	catch_stderr(log_error);
	EQUAL((std_err, ""), (sys_log.lines, 0));
}

TEST(default__names_the_address_and_the_cause, setup_default_log, teardown)
{
	catch_stderr(log_unknown_address);
	assert_non_null(strstr(sys_log.line, "nowhere.invalid"));
	assert_non_null(strstr(sys_log.line, gai_strerror(EAI_NONAME)));
}

TEST(default__cuts_an_overlong_message_to_a_line, setup_default_log, teardown)
{
	catch_stderr(log_overlong_error);
	assert_in_range(strlen(sys_log.line), 1000, 1100);
	assert_int_equal(sys_log.line[strlen(sys_log.line) - 1],
			 DIFFERS('\n', 'x', "it loses the end of the line"));
	assert_int_equal(std_err[strlen(std_err) - 1],
			 DIFFERS('\n', 'x', "it loses the end of the line"));
}
