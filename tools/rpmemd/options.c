/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c -- the rows of the command line. */
#include "options.h"

#include <stddef.h>

#include "common/base/failure.h"

enum group { GROUP_TASK = 1, GROUP_CONFIG };

static error_t parse_log_file(const char *option, const char *arg, void *to)
{
	struct options_log *log = to;

	(void)option;
	*log = (struct options_log){.file = arg, .to_file = true};
	return 0;
}

static error_t parse_use_syslog(const char *option, const char *arg, void *to)
{
	struct options_log *log = to;

	(void)option;
	(void)arg;
	log->to_file = false;
	log->to_syslog = true;
	return 0;
}

static error_t parse_log_level(const char *option, const char *arg, void *to)
{
	enum log_level level = log_level_find(arg);

	if (level == LOG_LEVELS)
		return cli_wrong_value(option, arg, "err, warn, notice, info or debug");
	*(enum log_level *)to = level;
	return 0;
}

#define TO(member) offsetof(struct options, member)
_Static_assert(offsetof(struct options, cli) == 0, "rows count from the struct cli");

static const struct cli_row rows_of_tasks[] = {
	{"remove", 'r', "SET", "Remove the pool of this pool set, instead of serving a client",
	 GROUP_TASK, cli_text, TO(remove), 0},
	{"force", 'f', NULL, "With --remove: remove an inconsistent pool, too", GROUP_TASK,
	 cli_flag, TO(force), 0},
	{"pool-set", 's', NULL, "With --remove: remove the pool set file, too", GROUP_TASK,
	 cli_flag, TO(pool_set), 0},
	{"check", 0, NULL,
	 "Print the pool sets that this user can use, and which persistence they have", GROUP_TASK,
	 cli_flag, TO(check), 0},
	{0},
};

static const struct cli_row rows_of_config[] = {
	{"config", 'c', "FILE",
	 "Read this configuration file only (/etc/rpmemd/rpmemd.conf, then $HOME/.rpmemd.conf)",
	 GROUP_CONFIG, cli_text, TO(config), 0},
	{"poolset-dir", 0, "DIR", "Directory of the pool set files ($HOME)", GROUP_CONFIG, cli_text,
	 TO(poolset_dir), 0},
	{"rdma-addr", 0, "ADDR",
	 "Address of this host for data, if it is not the one that ssh reaches", GROUP_CONFIG,
	 cli_text, TO(rdma_addr), 0},
	{"persist-apm", 0, NULL,
	 "Let clients persist by RDMA alone, where the pool is persistent memory", GROUP_CONFIG,
	 cli_flag, TO(persist_apm), 0},
	{"persist-general", 0, NULL, "Persist by messages to rpmemd: always allowed", GROUP_CONFIG,
	 cli_flag, TO(persist_general), 0},
	{"log-file", 0, "FILE", "Log to this file, not to syslog", GROUP_CONFIG, parse_log_file,
	 TO(log), 0},
	{"use-syslog", 0, NULL, "Log to syslog, not to a file", GROUP_CONFIG, parse_use_syslog,
	 TO(log), 0},
	{"log-level", 0, "LEVEL", "Log lines up to err, warn, notice, info or debug (err)",
	 GROUP_CONFIG, parse_log_level, TO(log_level), 0},
	{0},
};

static const struct cli_row *const tables[] = {rows_of_tasks, rows_of_config, NULL};

static int check_conflicts(const struct options *o)
{
	if (o->remove == NULL && (o->force || o->pool_set))
		return failure_usage("--%s is for --remove SET", o->force ? "force" : "pool-set");
	if (o->remove != NULL && o->check)
		return failure_usage("--check and --remove are mutually exclusive");
	return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
	static const struct cli_command command = {
		.name = "rpmemd",
		.text = "Serve pools to librpmem, which starts rpmemd over ssh.",
		.tables = tables,
	};
	int ret;

	*options = (struct options){.log_level = LOG_LEVELS};
	ret = cli_parse(&command, argc, argv, &options->cli);
	if (ret || options->cli.done)
		return ret;
	return check_conflicts(options);
}
