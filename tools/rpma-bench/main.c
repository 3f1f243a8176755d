/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main.c -- rpma-bench: a table of modes and a call; and the mode local, which starts a server
 * in a process of its own and measures it.
 */
#include <stdio.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/json/result.h"
#include "common/rdma/connection.h"
#include "local_server.h"
#include "tools/rpma-bench/client/client.h"
#include "tools/rpma-bench/options/options.h"
#include "tools/rpma-bench/server/server.h"

#define TOOL "rpma-bench"

/* All that can fail before there is a client. */
static int start(const struct options *options, struct server_child *child)
{
	int ret = options->output != NULL ? result_check_writable(options->output) : 0;

	if (ret == 0)
		ret = server_child_enter(options);
	return ret ? ret : server_child_fork(child, options);
}

/* Gives the exit code; what failed has been printed. */
static int local_run(const struct options *options)
{
	const struct server_order order = {.once = true, .cores_taken = options->cores_taken};
	struct server_child child = {0};
	struct options o = *options;
	struct device device;
	bool now = true;
	int ret, code;

	if (start(options, &child) != 0)
		return cli_report_failure(TOOL);
	ret = server_child_start(&child, &order, &o.port);
	if (ret == 0)
		ret = server_child_device(options, &device);
	if (ret == 0) {
		o.host = device.address;
		code = client_run(&o);
		/* one that failed may never have come to its server */
		now = cli_signal != 0 || (code != EXIT_GOOD && code != EXIT_NEGATIVE);
	} else {
		code = ret == -ECANCELED ? 128 + cli_signal : cli_report_failure(TOOL);
	}
	server_child_end(&child, now);
	return code;
}

const char *argp_program_version = TOOL " " RPMA_VERSION;

struct mode {
	const char *name;
	int (*parse)(struct options *options, int argc, char **argv);
	int (*run)(const struct options *options);
};

static int serve(const struct options *options)
{
	return server_run(options, -1);
}

static const struct mode modes[] = {
	{"server", options_parse_server, serve},
	{"client", options_parse_client, client_run},
	{"local", options_parse_local, local_run},
};

static const char usage[] =
	"Usage: " TOOL " server [OPTION...]\n"
	"       " TOOL " client HOST [OPTION...]\n"
	"       " TOOL " local [OPTION...]\n"
	"Measure latency and bandwidth of remote memory over RDMA.\n\n"
	"  server   offer memory to clients\n"
	"  client   measure the memory of a server\n"
	"  local    both on this machine\n\n"
	"Each has --help. Exit status: 0 good, 1 a point missed a limit or its content is\n"
	"wrong, 2 the run failed, 3 no usable device or not known whether a limit was kept,\n"
	"64 wrong usage, 70 internal error, 130 and 143 stopped by a signal.\n";

static int run_mode(const struct mode *mode, int argc, char **argv)
{
	struct options options;
	int code;

	if (mode->parse(&options, argc, argv) != 0) {
		options_free(&options);
		return cli_report_failure(TOOL);
	}
	if (options.cli.done) {
		options_free(&options);
		return EXIT_GOOD;
	}
	connection_log_to_failures(options.cli.verbose);
	if (options.dry_run)
		code = dry_run(&options);
	else
		code = cli_catch_signals() == 0 ? mode->run(&options) : cli_report_failure(TOOL);
	options_free(&options);
	return code;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";

	cli_reserve_standard_fds();
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(word, modes[i].name) == 0)
			return run_mode(&modes[i], argc - 1, argv + 1);
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return fputs(usage, stdout) < 0;
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		return printf("%s\n", argp_program_version) < 0;
	if (word[0] == '-')
		fprintf(stderr,
			TOOL ": %s: expected server, client or local before the options "
			     "(" TOOL " --help)\n",
			word);
	else
		fprintf(stderr, TOOL ": %s%s: expected server, client or local (" TOOL " --help)\n",
			argc > 1 ? "unknown mode " : "no mode given", word);
	return EXIT_WRONG_USAGE;
}
