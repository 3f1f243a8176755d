/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h -- what the user asked for, after parsing.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/cli.h"
#include "../common/units.h"

#define OPTIONS_DEPTH_MAX    4096
#define OPTIONS_SIZE_MAX     (1ULL << 30)
#define OPTIONS_DURATION_MAX (24 * 3600 * 1000000000ULL)
#define OPTIONS_REPEATS_MAX  1000

enum bench_test { BENCH_LAT, BENCH_BW, BENCH_TESTS };
enum bench_op { BENCH_WRITE, BENCH_READ, BENCH_OPS };
enum bench_persist { BENCH_NONE, BENCH_APM, BENCH_PERSISTS };
enum bench_completion { BENCH_POLL, BENCH_COMPLETIONS };

struct options {
	struct cli cli;
	/* where */
	const char *host; /* client: whom to measure */
	const char *listen;
	uint16_t port;
	const char *device; /* NULL: auto */
	const char *target;
	bool force;
	bool direct_write_to_pmem;
	bool once;
	/* what */
	enum bench_test test;
	enum bench_op op;
	enum bench_persist persist;
	enum bench_completion completion;
	struct units_list sizes;  /* owned; options_free */
	struct units_list depths; /* owned; options_free */
	uint64_t duration_ns;
	uint64_t warmup_ns;
	uint32_t repeats;
	uint64_t seed;
	bool seed_given;
	const char *pin;
	/* where to */
	const char *output;
	bool json;
	int argc; /* the whole command line, for the result */
	char **argv;
};

/* The words of the options, in the order of their enum; NULL ends. */
extern const char *const options_tests[];
extern const char *const options_ops[];
extern const char *const options_persists[];
extern const char *const options_completions[];

/*
 * Parses the words after "rpma-bench". A mode takes the rows that concern it.
 * -EINVAL with the sentence stored, or 0 (look at cli.done first).
 */
int options_parse_server(struct options *options, int argc, char **argv);
int options_parse_client(struct options *options, int argc, char **argv);
int options_parse_local(struct options *options, int argc, char **argv);
void options_free(struct options *options);

#endif /* OPTIONS_H */
