/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main_mpi.c -- rpma-bench-mpi: the clients of rpma-bench, started together by
 * mpirun or srun.
 *
 * Every rank parses the same words; only rank 0 reports what is wrong with them.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients.h"
#include "common/base/failure.h"
#include "common/host/clock.h"
#include "common/json/result.h"
#include "common/rdma/connection.h"
#include "merge_documents.h"
#include "shape.h"
#include "tools/rpma-bench/client/client.h"
#include "tools/rpma-bench/local_server.h"
#include "tools/rpma-bench/options/options.h"
#include "tools/rpma-bench/result/output.h"
#include "world.h"

/*
 * The course of a rank: a server if it has to serve, clients if
 * it has to measure, meetings with all other ranks, one result.
 *
 * Two things happen before MPI starts, as MPI may use RDMA: the program starts
 * itself again on the software device, and forks the server.
 */

#define TOOL "rpma-bench-mpi"
/* More than a client waits for its server by itself before it prints so. */
#define PATIENCE_NS 240000000000ULL

/* The address at which a rank serves. */
struct address {
	char host[DEVICE_ADDRESS_MAX];
	uint16_t port; /* 0: it does not */
};

struct rank {
	enum shape shape;
	struct options options; /* with the seed of all */
	struct world world;
	struct world_word word;
	struct server_child child;
	struct address *addresses; /* one per rank; owned */
	struct clients *clients;
};

/* For the threads of a rank, clients' and server's. */
static uint32_t cores_of(const struct rank *r, int rank)
{
	int parts = shape_clients(r->shape, rank, r->world.size) + shape_serves(r->shape, rank);

	return (uint32_t)parts * r->options.cores_taken;
}

/* By ranks of this host that come before this one. */
static uint32_t cores_below(const struct rank *r)
{
	uint32_t cores = 0;

	for (int i = 0; i < r->world.below_count; i++)
		cores += cores_of(r, r->world.below[i]);
	return cores;
}

/* The options of this rank as one number (FNV-1a). */
static uint64_t hash_words(const struct options *o)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (int i = 0; i < o->argc; i++) {
		for (const char *c = o->argv[i];; c++) {
			hash = (hash ^ (unsigned char)*c) * 0x100000001b3ULL;
			if (*c == '\0')
				break;
		}
	}
	return hash;
}

/* The same plan, in the same order, on all ranks. */
static int agree(struct rank *r)
{
	struct {
		uint64_t seed;
		uint64_t words;
	} common = {r->options.seed, hash_words(&r->options)};
	int ret = 0, told;

	if (r->world.rank == 0 && !r->options.seed_given)
		ret = plan_seed(&common.seed);
	told = world_tell(&r->world, &common, sizeof(common));
	if (ret || told)
		return ret ? ret : told;
	if (common.words != hash_words(&r->options))
		return failure_set(EXIT_WRONG_USAGE, "start",
				   "it was started with other options than rank 0");
	r->options.seed = common.seed;
	r->options.seed_given = true;
	return 0;
}

static int serve(struct rank *r, struct address *mine)
{
	const struct server_order order = {
		.cores_taken = cores_below(r) +
			       (uint32_t)shape_clients(r->shape, r->world.rank, r->world.size) *
				       r->options.cores_taken,
	};
	struct device device;
	int ret;

	if (!shape_serves(r->shape, r->world.rank)) {
		server_child_end(&r->child, true);
		return 0;
	}
	ret = server_child_start(&r->child, &order, &mine->port);
	if (ret == 0)
		ret = server_child_device(&r->options, &device);
	if (ret == 0)
		snprintf(mine->host, sizeof(mine->host), "%s", device.address);
	return ret;
}

static int start(struct rank *r, struct address *mine)
{
	int ret = agree(r);

	if (ret == 0)
		ret = shape_check(r->shape, r->world.size);
	if (ret == 0 && r->world.rank == 0)
		ret = publish_check(&r->options);
	return ret ? ret : serve(r, mine);
}

static bool is_loopback(const char *address)
{
	return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static int choose_servers(const struct rank *r, struct client_server *servers, int *count)
{
	for (int other = 0; other < r->world.size; other++) {
		const struct address *a = &r->addresses[other];

		if (!shape_measures(r->shape, r->world.rank, other))
			continue;
		if (is_loopback(a->host) &&
		    strcmp(r->world.hosts[other], r->world.hosts[r->world.rank]) != 0)
			return failure_set(EXIT_RUN_FAILED, "start",
					   "rank %d serves on %s, which cannot be reached from "
					   "another host: it needs a device with an address",
					   other, a->host);
		servers[(*count)++] = (struct client_server){other, a->host, a->port};
	}
	if (r->shape == SHAPE_CLIENT)
		servers[(*count)++] = (struct client_server){-1, r->options.host, r->options.port};
	return 0;
}

static int start_clients(struct rank *r)
{
	struct client_server *servers = calloc((size_t)r->world.size + 1, sizeof(*servers));
	int count = 0, ret;

	if (servers == NULL)
		return failure_set(EXIT_INTERNAL, "start", "out of memory");
	ret = choose_servers(r, servers, &count);
	if (ret == 0)
		ret = clients_start(&r->clients, &r->options, servers, count, cores_below(r),
				    r->world.rank == 0);
	free(servers);
	return ret;
}

static void meet(struct rank *r, int ret)
{
	r->word = (struct world_word){.kind = ret == 0 ? WORLD_GO : WORLD_OVER};
	if (ret != 0) {
		r->word.signal = cli_signal;
		r->word.failure = *failure_get();
	}
	world_meet(&r->world, &r->word);
}

/* The exchange of all with all before there are clients; r->word tells how it went. */
static int set_up(struct rank *r, int ret)
{
	struct address mine = {.port = 0};

	r->addresses = calloc((size_t)r->world.size, sizeof(*r->addresses));
	if (ret == 0 && r->addresses == NULL)
		ret = failure_set(EXIT_INTERNAL, "start", "out of memory");
	meet(r, ret);
	if (r->word.kind == WORLD_GO)
		meet(r, start(r, &mine));
	if (r->word.kind == WORLD_GO)
		meet(r, world_exchange(&r->world, &mine, r->addresses, sizeof(mine)));
	return r->word.kind == WORLD_GO ? start_clients(r) : -EIO;
}

static void measure(struct rank *r, int ret)
{
	uint64_t entered_ns;

	do {
		clients_await(r->clients, &r->word);
		if (ret != 0)
			r->word = (struct world_word){WORLD_OVER, cli_signal, *failure_get()};
		world_meet(&r->world, &r->word);
		entered_ns = clock_raw_ns();
		if (r->word.kind == WORLD_GO)
			world_begin(&r->world);
		/* one that was stopped stops all */
		if (r->word.signal != 0 && cli_signal == 0)
			raise(r->word.signal);
		clients_release(r->clients, &r->word, entered_ns);
	} while (r->word.kind == WORLD_GO);
}

static int report(const struct rank *r)
{
	if (r->word.signal != 0 && !r->world.lost) {
		fprintf(stderr, TOOL ": interrupted\n");
		return 128 + r->word.signal;
	}
	*failure_get() = r->word.failure;
	if (r->world.lost)
		*failure_get() = r->world.failure;
	return cli_report_failure(TOOL);
}

static int publish_all(struct rank *r, const json_t *handed)
{
	struct record *first = clients_first(r->clients);
	const struct options *o = &r->options;
	json_t *document = NULL, *mpi = world_json(&r->world);
	int code;

	json_object_set_new(mpi, "shape", json_string(shape_names[r->shape]));
	if (handed != NULL && first != NULL)
		document = ranks_merge(handed, o->slos, o->slos_count);
	if (document == NULL) {
		json_decref(mpi);
		return report(r);
	}
	json_object_set_new(document, "mpi", mpi);
	first->options = o;
	first->repeats_done = ranks_count_repeats(document);
	code = publish(first, document);
	json_decref(document);
	return code;
}

/* Merges the results of all ranks; the verdict of the result is that of all. */
static int conclude(struct rank *r)
{
	const char *host = r->options.anonymous ? NULL : r->world.hosts[r->world.rank];
	json_t *mine = json_pack("{s:i, s:s?, s:o}", "rank", r->world.rank, "host_name", host,
				 "measured", clients_collect(r->clients, &r->word));
	json_t *handed = world_collect(&r->world, mine);
	int code = EXIT_RUN_FAILED;

	if (r->world.rank == 0)
		code = publish_all(r, handed);
	json_decref(handed);
	json_decref(mine);
	if (!r->world.lost)
		world_tell(&r->world, &code, sizeof(code));
	return code;
}

static int run(struct rank *r, int ret)
{
	int code;

	r->world.limit_ns = PATIENCE_NS + r->options.duration_ns + 4 * r->options.warmup_ns;
	ret = set_up(r, ret);
	if (r->word.kind == WORLD_OVER) {
		code = r->word.signal != 0 ? 128 + r->word.signal : (int)r->word.failure.code;
		return r->world.rank == 0 ? report(r) : code;
	}
	measure(r, ret);
	code = conclude(r);
	clients_delete(&r->clients);
	return code;
}

/* All that is to be done before MPI starts. */
static int enter(struct rank *r, const struct options *options)
{
	int ret;

	/* one notice of the device is enough */
	r->options.cli.quiet = options->cli.quiet || !world_is_first();
	ret = server_child_enter(&r->options);
	r->options.cli.quiet = options->cli.quiet;
	return ret == 0 && r->shape != SHAPE_CLIENT ? server_child_fork(&r->child, &r->options)
						    : ret;
}

/*
 * Gives the exit code, the same on all ranks; what failed has been printed by
 * rank 0. A rank whose start has failed (ret, the error message set) tells the others.
 */
static int rank_run(enum shape shape, const struct options *options, int ret)
{
	struct rank r = {.shape = shape, .options = *options};
	struct failure why;
	int code;

	if (ret == 0)
		ret = enter(&r, options);
	why = *failure_get();
	world_choose_transports();
	if (world_open(&r.world) == 0) {
		*failure_get() = why;
		code = run(&r, ret);
	} else {
		code = cli_report_failure(TOOL);
	}
	server_child_end(&r.child, true);
	free(r.addresses);
	world_close(&r.world, code);
	return code;
}

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
		return failure_usage("--resume: several clients keep no journal to go on with");
	if (o->ci > 0)
		return failure_usage("--ci: several clients make as many repeats as --repeats");
	if (o->rpmem_set != NULL)
		return failure_usage("--persist rpmem: a pool of librpmem has one client");
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
	int ret = failure_usage("%s%s: expected client, pairs or all-to-all (" TOOL " --help)",
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
