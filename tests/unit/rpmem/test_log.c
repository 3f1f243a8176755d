/* SPDX-License-Identifier: BSD-3-Clause */
/* test_log.c -- lines of the daemon's log, in a file and for syslog(3). */
#include <syslog.h>

#include "common/base/failure.h"
#include "tests/lib/scratch.h"
#include "tools/rpmemd/log.h"

/* The last line that syslog(3) got. */
static struct {
	int facility, priority;
	char text[256];
} got;

void __wrap_openlog(const char *ident, int option, int facility)
{
	EQUAL((ident, "rpmemd"), (option, LOG_PID));
	got.facility = facility;
}

void __wrap_syslog(int priority, const char *format, ...) __attribute__((format(printf, 2, 3)));
void __wrap_syslog(int priority, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(got.text, sizeof(got.text), format, args);
	va_end(args);
	got.priority = priority;
}

static size_t lines_of(const char *file, char text[4096])
{
	size_t lines = 0;

	scratch_read(file, text, 4096);
	for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
		lines++;
	return lines;
}

SCRATCH_TEST(a_line_has_time_program_and_level)
{
	char path[PATH_MAX], text[4096], wanted[64];
	struct stat st;

	assert_int_equal(log_open(LOG_TO_FILE, scratch_path("log", path), LEVEL_ERR), 0);
	log_line(LEVEL_ERR, "pool %s: %d", "my.set", 7);
	log_close();
	assert_int_equal(lines_of("log", text), 1);
	snprintf(wanted, sizeof(wanted), "Z rpmemd[%d] err: pool my.set: 7\n", (int)getpid());
	EQUAL((text + strlen("2026-11-23T08:30:00"), wanted), (stat(path, &st), 0),
	      (st.st_mode & 0777, 0600));
}

SCRATCH_TEST(levels_beyond_the_one_chosen_are_left_out)
{
	char path[PATH_MAX], text[4096];

	for (enum log_level level = LEVEL_ERR; level < LOG_LEVELS; level++) {
		unlink(scratch_path("log", path));
		assert_int_equal(log_open(LOG_TO_FILE, path, level), 0);
		for (enum log_level of = LEVEL_ERR; of < LOG_LEVELS; of++)
			log_line(of, "x");
		log_close();
		assert_int_equal(lines_of("log", text), level + 1);
	}
}

/* A name that a client chose must not look like a line of ours. */
SCRATCH_TEST(one_call_is_one_line)
{
	char path[PATH_MAX], text[4096];

	assert_int_equal(log_open(LOG_TO_FILE, scratch_path("log", path), LEVEL_ERR), 0);
	log_line(LEVEL_ERR, "pool a\nb\033[2J\177.set");
	log_close();
	EQUAL((lines_of("log", text), 1), (text, HAS("err: pool a?b?[2J?.set\n")));
}

SCRATCH_TEST(a_long_line_is_cut)
{
	char path[PATH_MAX], text[4096];

	assert_int_equal(log_open(LOG_TO_FILE, scratch_path("log", path), LEVEL_ERR), 0);
	log_line(LEVEL_ERR, "%02000d", 1);
	log_line(LEVEL_ERR, "second");
	log_close();
	EQUAL((lines_of("log", text), 2), (text, HAS("err: second\n")));
}

SCRATCH_TEST(lines_are_added_to_what_is_there)
{
	char path[PATH_MAX], text[4096];

	scratch_write("log", "old\n");
	assert_int_equal(log_open(LOG_TO_FILE, scratch_path("log", path), LEVEL_ERR), 0);
	log_line(LEVEL_ERR, "new");
	log_close();
	assert_int_equal(lines_of("log", text), 2);
	assert_memory_equal(text, "old\n", 4);
}

TEST(a_file_that_cannot_be_opened_is_told)
{
	EQUAL((log_open(LOG_TO_FILE, "/none/rpmemd.log", LEVEL_ERR), -ENOENT),
	      (failure_get()->text, HAS("/none/rpmemd.log")));
}

/* It has filters of its own. */
TEST(syslog_gets_all_levels)
{
	static const int priorities[] = {LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG};

	EQUAL((log_open(LOG_TO_SYSLOG, NULL, LEVEL_ERR), 0), (got.facility, LOG_USER));
	for (enum log_level level = LEVEL_ERR; level < LOG_LEVELS; level++) {
		log_line(level, "%%s a\nb %d", (int)level);
		assert_int_equal(got.priority, priorities[level]);
		assert_memory_equal(got.text, "%s a?b ", 7);
	}
	log_close();
}

SCRATCH_TEST(errno_stays)
{
	char path[PATH_MAX];

	assert_int_equal(log_open(LOG_TO_FILE, scratch_path("log", path), LEVEL_ERR), 0);
	errno = EXDEV;
	log_line(LEVEL_ERR, "x");
	assert_int_equal(errno, EXDEV);
	log_close();
}
