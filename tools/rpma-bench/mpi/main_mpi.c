/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main_mpi.c -- rpma-bench-mpi: the clients of rpma-bench, started together by
 * mpirun or srun.
 *
 * Every rank parses the same words; only rank 0 reports what is wrong with them.
 */
#include <stdio.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/rdma/connection.h"
#include "rank.h"
#include "tools/rpma-bench/client/dry_run.h"
#include "world.h"

#define TOOL "rpma-bench-mpi"

const char *argp_program_version = TOOL " " RPMA_VERSION;

static int (*const parsers[SHAPES])(struct options *options, int argc, char **argv) = {
	options_parse_ranks,
	options_parse_pairs,
	options_parse_all_to_all,
};

static const char usage[] =
	"Usage: mpirun -n N " TOOL " client HOST [OPTION...]\n"
	"       mpirun -n N " TOOL " pairs [OPTION...]\n"
	"       mpirun -n N " TOOL " all-to-all [OPTION...]\n"
	"Measure remote memory over RDMA from many processes at the same time.\n\n"
	"  client      all ranks measure the server on HOST: rpma-bench server\n"
	"  pairs       ranks of odd number serve, each to the one before it\n"
	"  all-to-all  every rank serves, and measures all others at once\n\n"
	"Each has --help. Rank 0 writes one result. The exit status, the same of all ranks,\n"
	"is that of rpma-bench.\n";

/* Options that only a single client has. */
static int check(const struct options *o)
{
	if (o->resume)
		return failure_set(EXIT_WRONG_USAGE, "options",
				   "--resume: several clients keep no journal to go on with");
	if (o->ci > 0)
		return failure_set(EXIT_WRONG_USAGE, "options",
				   "--ci: several clients make as many repeats as --repeats");
	if (o->rpmem_set != NULL)
		return failure_set(EXIT_WRONG_USAGE, "options",
				   "--persist rpmem: a pool of librpmem has one client");
	return 0;
}

static int run_shape(enum shape shape, int argc, char **argv)
{
	struct options options;
	int ret = parsers[shape](&options, argc, argv), code = EXIT_GOOD;

	if (ret == 0 && !options.cli.done)
		ret = check(&options);
	if (ret == 0 && options.cli.done) {
		code = EXIT_GOOD;
	} else if (ret == 0 && options.dry_run) {
		code = world_is_first() ? dry_run(&options) : EXIT_GOOD;
	} else {
		connection_log_to_failures(options.cli.verbose);
		if (ret == 0)
			ret = cli_catch_signals();
		code = rank_run(shape, &options, ret);
	}
	options_free(&options);
	return code;
}

static int refuse(const char *word)
{
	static const struct options none;
	int ret = failure_set(EXIT_WRONG_USAGE, "options",
			      "%s%s: expected client, pairs or all-to-all (" TOOL " --help)",
			      *word != '\0' ? "unknown mode " : "no mode given", word);

	return rank_run(SHAPE_CLIENT, &none, ret);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";

	cli_reserve_standard_fds();
	/* --help and --version speak in the middle of parsing */
	if (!world_is_first() && freopen("/dev/null", "w", stdout) == NULL)
		return EXIT_INTERNAL;
	for (int shape = 0; shape < SHAPES; shape++) {
		if (strcmp(word, shape_names[shape]) == 0)
			return run_shape((enum shape)shape, argc - 1, argv + 1);
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return fputs(usage, stdout) < 0;
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		return printf("%s\n", argp_program_version) < 0;
	return refuse(word);
}
