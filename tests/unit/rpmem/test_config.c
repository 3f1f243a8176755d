/* SPDX-License-Identifier: BSD-3-Clause */
/* test_config.c -- the keys of rpmemd.conf, and which of the files and options overrules which. */
#include <pwd.h>

#include "common/base/failure.h"
#include "tests/lib/scratch.h"
#include "tools/rpmemd/config.h"

#define HOME "/home/me"

const char *argp_program_version = "test";

static struct options options = {.log_level = LOG_LEVELS}; /* none */
static struct config config; /* the last parse() or load() filled it */

static int teardown(void **state)
{
	options = (struct options){.log_level = LOG_LEVELS};
	config_free(&config);
	return scratch_teardown(state);
}

#define CONFIG_TEST(name) TEST(name, scratch_setup, teardown)

static int parse(const char *text)
{
	config_free(&config);
	assert_int_equal(config_defaults(&config, HOME), 0);
	failure_get()->text[0] = '\0';
	return config_parse(&config, "my.conf", text, strlen(text), HOME);
}

CONFIG_TEST(defaults_are_those_of_the_manual)
{
	EQUAL((parse(""), 0), (config.log_file, "/var/log/rpmemd.log"), (config.poolset_dir, HOME),
	      (config.rdma_addr, NULL), (config.persist_apm, false), (config.persist_general, true),
	      (config.use_syslog, true), (config.log_level, LEVEL_ERR));
	config_free(&config);
}

CONFIG_TEST(each_key_is_taken)
{
	assert_int_equal(parse("# all of them\n"
			       "log-file = /tmp/my log\n"
			       "poolset-dir=/mnt/a=b # comment\n"
			       "\n"
			       "  persist-apm\t =  yes \r\n"
			       "persist-general = no\n"
			       "rdma-addr = 192.0.2.9\n"
			       "log-level = debug"),
			 0);
	EQUAL((config.rdma_addr, "192.0.2.9"), (config.log_file, "/tmp/my log"),
	      (config.poolset_dir, "/mnt/a=b"), (config.persist_apm, true),
	      (config.persist_general, false), (config.use_syslog, false),
	      (config.log_level, LEVEL_DEBUG));
}

CONFIG_TEST(levels_have_five_names)
{
	static const char *const names[] = {"err", "warn", "notice", "info", "debug"};
	char text[32];

	for (size_t i = 0; i < 5; i++) {
		snprintf(text, sizeof(text), "log-level = %s", names[i]);
		EQUAL((parse(text), 0), (config.log_level, i));
	}
}

CONFIG_TEST(the_last_of_log_file_and_syslog_counts)
{
	static const struct {
		const char *text;
		bool use_syslog;
	} cases[] = {
		{"use-syslog = yes\nlog-file = /a\n", false},
		{"log-file = /a\nuse-syslog = yes\n", true},
		{"log-file = /a\nuse-syslog = yes\nlog-file = /b\n", false},
		{"use-syslog = no\n", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		EQUAL((parse(cases[i].text), 0), (config.use_syslog, cases[i].use_syslog));
	}
}

CONFIG_TEST(the_first_home_is_replaced)
{
	static const struct {
		const char *value, *path; /* NULL: refused */
	} cases[] = {
		{"$HOME", HOME},
		{"$HOME/", HOME "/"},
		{"$HOME/sets", HOME "/sets"},
		{"$HOME_1", HOME "_1"},
		{"$HOME/$HOME", HOME "/$HOME"},
		{"/mnt$HOME/x", "/mnt" HOME "/x"},
		{"/mnt/$HOMES", "/mnt/$HOMES"},
		{"/mnt/$HOME1$HOME", "/mnt/$HOME1$HOME"},
		{"/$home", "/$home"},
		{"$HOMEX/sets", NULL},
		{"$HOME2", NULL},
		{"sets", NULL},
		{"./sets", NULL},
		{"~/sets", NULL},
		{"x$HOME", NULL},
	};
	char text[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int ret;

		snprintf(text, sizeof(text), "poolset-dir = %s", cases[i].value);
		ret = parse(text);
		if (ret != (cases[i].path != NULL ? 0 : -EINVAL))
			fail_msg("%s: %d", cases[i].value, ret);
		if (ret == 0)
			assert_string_equal(config.poolset_dir, cases[i].path);
	}
}

CONFIG_TEST(wrong_lines_are_told)
{
	static const char *const cases[][2] = {
		{"persist-apm", "my.conf:1: expected \"key = value\""},
		{"\n\nx\n", "my.conf:3: expected \"key = value\""},
		{"persist-apm yes", "my.conf:1: expected \"key = value\""},
		{"= yes", "my.conf:1: unknown key"},
		{"max-lanes = 7", "my.conf:1: unknown key max-lanes"},
		{"Log-File = /a", "my.conf:1: unknown key Log-File"},
		{"log file = /a", "my.conf:1: unknown key log file"},
		{"log-file =", "my.conf:1: log-file has no value"},
		{"log-file = # /a", "my.conf:1: log-file has no value"},
		{"log-file # = /a", "my.conf:1: expected \"key = value\""},
		{"#\npersist-apm = 1", "my.conf:2: expected yes or no, not 1"},
		{"persist-apm = Yes", "my.conf:1: expected yes or no, not Yes"},
		{"use-syslog = yes no", "my.conf:1: expected yes or no, not yes no"},
		{"log-level = error", "my.conf:1: expected err, warn, notice, info or debug"},
		{"log-level = ERR", "my.conf:1: expected err"},
		{"poolset-dir = sets", "my.conf:1: expected an absolute path"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(cases[i][0]), -EINVAL);
		if (strstr(failure_get()->text, cases[i][1]) == NULL)
			fail_msg("%s: \"%s\" has no \"%s\"", cases[i][0], failure_get()->text,
				 cases[i][1]);
	}
}

CONFIG_TEST(a_nul_is_told)
{
	EQUAL((config_defaults(&config, HOME), 0),
	      (config_parse(&config, "my.conf", "#\nlog-file = /a\0b", 17, HOME), -EINVAL),
	      (failure_get()->text, HAS("my.conf:2:")));
}

CONFIG_TEST(a_line_may_have_any_length)
{
	const char start[] = "log-file = /a";
	char *text = calloc(1, 100000);

	assert_non_null(text);
	memset(text, ' ', 99999);
	memcpy(text, start, sizeof(start) - 1);
	text[60000] = '#';
	EQUAL((parse(text), 0), (config.log_file, "/a"));
	free(text);
}

/* --- files and options ------------------------------------------------------------------ */

static int load(void)
{
	char path[PATH_MAX];

	config_free(&config);
	failure_get()->text[0] = '\0';
	return config_load(&config, &options, scratch_path("etc/rpmemd.conf", path), scratch);
}

CONFIG_TEST(no_file_is_needed)
{
	EQUAL((load(), 0), (config.poolset_dir, scratch));
}

CONFIG_TEST(the_users_file_overrules_the_systems)
{
	scratch_write("etc/rpmemd.conf", "log-level = info\npersist-apm = yes\n");
	scratch_write(".rpmemd.conf", "log-level = warn\npoolset-dir = $HOME/sets\n");
	EQUAL((load(), 0), (config.log_level, LEVEL_WARN), (config.persist_apm, true));
	assert_true(strncmp(config.poolset_dir, scratch, strlen(scratch)) == 0);
	assert_string_equal(config.poolset_dir + strlen(scratch), "/sets");
}

CONFIG_TEST(options_overrule_files)
{
	scratch_write(".rpmemd.conf", "log-level = warn\nlog-file = /a\npersist-apm = no\n"
				      "persist-general = no\npoolset-dir = /a\nrdma-addr = a\n");
	options.log_level = LEVEL_DEBUG;
	options.log.to_syslog = true;
	options.persist_apm = true;
	options.persist_general = true;
	options.poolset_dir = "/b";
	options.rdma_addr = "b";
	EQUAL((load(), 0), (config.log_level, LEVEL_DEBUG));
	assert_true(config.use_syslog && config.persist_apm && config.persist_general);
	EQUAL((config.poolset_dir, "/b"), (config.rdma_addr, "b"));
}

CONFIG_TEST(a_log_file_given_turns_syslog_off)
{
	options.log.to_file = true;
	options.log.file = "/b";
	EQUAL((load(), 0), (config.use_syslog, false), (config.log_file, "/b"));
}

CONFIG_TEST(an_option_that_is_wrong_is_named)
{
	options.poolset_dir = "sets";
	EQUAL((load(), -EINVAL),
	      (failure_get()->text, HAS("--poolset-dir: expected an absolute path")));
	options.poolset_dir = NULL;
	options.rdma_addr = "";
	EQUAL((load(), -EINVAL), (failure_get()->text, HAS("--rdma-addr: expected an address")));
}

/* --config: no other file is read, and this one must be there. */
CONFIG_TEST(a_file_that_was_named_is_the_only_one)
{
	char path[PATH_MAX];

	scratch_write("etc/rpmemd.conf", "persist-apm = yes\n");
	scratch_write(".rpmemd.conf", "wrong\n");
	scratch_write("mine", "log-level = info\n");
	options.config = scratch_path("mine", path);
	EQUAL((load(), 0), (config.persist_apm, false), (config.log_level, LEVEL_INFO));
	options.config = "/none/mine";
	EQUAL((load(), -ENOENT), (failure_get()->text, HAS("/none/mine")));
	options.config = scratch;
	assert_int_equal(load(), -EINVAL);
}

CONFIG_TEST(errors_name_file_and_line)
{
	char wanted[128];

	scratch_write(".rpmemd.conf", "#\nwrong\n");
	snprintf(wanted, sizeof(wanted), "%s/.rpmemd.conf:2:", scratch);
	assert_int_equal(load(), -EINVAL);
	assert_non_null(strstr(failure_get()->text, wanted));
}

CONFIG_TEST(without_a_home_a_directory_is_needed)
{
	EQUAL((config_load(&config, &options, "/none", NULL), -EINVAL),
	      (failure_get()->text, HAS("poolset-dir")));
	options.poolset_dir = "/sets";
	EQUAL((config_load(&config, &options, "/none", NULL), 0), (config.poolset_dir, "/sets"));
}

CONFIG_TEST(home_is_the_variable_or_that_of_passwd)
{
	const struct passwd *user = getpwuid(geteuid());

	EQUAL((setenv("HOME", "/x", 1), 0), (config_home(), "/x"), (unsetenv("HOME"), 0));
	if (user != NULL)
		assert_string_equal(config_home(), user->pw_dir);
	else
		assert_null(config_home());
}
