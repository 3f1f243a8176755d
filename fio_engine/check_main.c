/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_main.c -- rpma-fio-check: was what the engine reported as durable there after a
 * power failure?
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cli.h"
#include "common/base/failure.h"
#include "common/base/units.h"
#include "durable_check.h"

#define TOOL	      "rpma-fio-check"
#define EXTENTS_SHOWN 20
#define BUFFER_BYTES  (1U << 20)

const char *argp_program_version = TOOL " " RPMA_VERSION;

struct options {
	struct cli cli;
	const char *paths[2]; /* the log, and the target */
	uint64_t offset;      /* where the region begins in the target */
};

/* --- options ----------------------------------------------------------------------- */

static error_t parse_offset(const char *option, const char *arg, void *offset)
{
	if (units_parse_size(arg, offset) == 0 && *(uint64_t *)offset <= INT64_MAX)
		return 0;
	return cli_wrong_value(option, arg, "a number of bytes, as 4096 or 4K");
}

static error_t parse_path(const char *option, const char *arg, void *to)
{
	const char **paths = to;
	size_t i = 0;

	while (i < 2 && paths[i] != NULL)
		i++;
	if (i == 2) {
		failure_usage("unexpected argument %s: expected %s", arg, option);
		return EINVAL;
	}
	paths[i] = arg;
	return 0;
}

static int options_parse(struct options *options, int argc, char **argv)
{
	static const struct cli_row rows[] = {
		{"offset", 'o', "BYTES",
		 "Where the region begins in TARGET: offset= of the server job (0)", 0,
		 parse_offset, offsetof(struct options, offset), 0},
		{0},
	};
	static const struct cli_row *const tables[] = {rows, NULL};
	static const struct cli_command command = {
		.name = TOOL,
		.text = "Judge a target after a power failure: is what the fio engine librpma "
			"reported as durable, by its log (durable_log=), in the file of the "
			"server?",
		.tables = tables,
		.quiet = "Print nothing if all that was claimed is there",
		.operand = "LOG TARGET",
		.operand_to = offsetof(struct options, paths),
		.operand_parse = parse_path,
	};

	if (cli_parse(&command, argc, argv, &options->cli) != 0)
		return -EINVAL;
	if (!options->cli.done && options->paths[1] == NULL)
		return failure_usage("expected LOG and TARGET (see " TOOL " --help)");
	return 0;
}

/* --- files ------------------------------------------------------------------------- */

static int cannot_read(const char *path, const char *why)
{
	return failure_set(EXIT_RUN_FAILED, "check", "%s: %s", path, why);
}

static int open_file(const char *path, int *fd, uint64_t *bytes)
{
	struct stat st;

	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, &st) != 0)
		return cannot_read(path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return cannot_read(path, "expected a regular file");
	*bytes = (uint64_t)st.st_size;
	return 0;
}

/* Up to the end of the file, if that comes first; -errno. */
static int64_t read_at(int fd, uint8_t *to, size_t bytes, uint64_t offset)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t got = pread(fd, to + done, bytes - done, (off_t)(offset + done));

		if (got == 0)
			break;
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0)
			done += (size_t)got;
	}
	return (int64_t)done;
}

static int read_log(const char *path, uint8_t **content, size_t *size)
{
	uint64_t bytes = 0;
	int64_t got;
	int fd = -1, ret = open_file(path, &fd, &bytes);

	if (ret == 0) {
		*content = malloc(bytes + 1);
		got = *content != NULL ? read_at(fd, *content, bytes, 0) : -ENOMEM;
		*size = got < 0 ? 0 : (size_t)got;
		if (got < 0)
			ret = cannot_read(path, strerror((int)-got));
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The part of the target that was read last. */
struct target_reader {
	const char *path;
	int fd;
	uint64_t offset;
	uint64_t begin; /* in the region */
	uint64_t bytes;
	uint8_t buffer[BUFFER_BYTES];
};

static int read_target(void *arg, uint64_t begin, uint8_t *to, size_t bytes)
{
	struct target_reader *reader = arg;
	int64_t got;

	if (begin < reader->begin || begin + bytes > reader->begin + reader->bytes) {
		got = read_at(reader->fd, reader->buffer, BUFFER_BYTES, reader->offset + begin);
		if (got < (int64_t)bytes)
			return failure_set(EXIT_RUN_FAILED, "check",
					   "%s: cannot read %zu bytes at %" PRIu64 ": %s",
					   reader->path, bytes, reader->offset + begin,
					   got < 0 ? strerror((int)-got) : "it ends before");
		reader->begin = begin;
		reader->bytes = (uint64_t)got;
	}
	memcpy(to, reader->buffer + (begin - reader->begin), bytes);
	return 0;
}

static int judge(struct durable_check *check, const struct options *options)
{
	struct target_reader *reader = calloc(1, sizeof(*reader));
	uint64_t bytes = 0;
	int ret;

	if (reader == NULL)
		return cannot_read(options->paths[1], strerror(ENOMEM));
	reader->path = options->paths[1];
	reader->offset = options->offset;
	ret = open_file(options->paths[1], &reader->fd, &bytes);
	if (ret == 0 &&
	    (bytes < options->offset || bytes - options->offset < check->header.region_bytes))
		ret = failure_set(EXIT_RUN_FAILED, "check",
				  "%s has %" PRIu64 " bytes: expected at least %" PRIu64
				  ", the memory of the server that the log is of",
				  options->paths[1], bytes,
				  options->offset + check->header.region_bytes);
	if (ret == 0)
		ret = durable_check_judge(check, read_target, reader);
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader);
	return ret;
}

/* --- result ------------------------------------------------------------------------ */

static void print_lost(const struct durable_check *check, uint64_t offset)
{
	uint64_t bytes = 0;
	size_t shown = 0;

	for (size_t i = 0; i < check->lost_count; i++)
		bytes += check->lost[i].end - check->lost[i].begin;
	printf("lost bytes of the target: %" PRIu64 ", at", bytes);
	for (; shown < check->lost_count && shown < EXTENTS_SHOWN; shown++)
		printf("%s %" PRIu64 "-%" PRIu64, shown > 0 ? "," : "",
		       check->lost[shown].begin + offset, check->lost[shown].end - 1 + offset);
	if (shown < check->lost_count)
		printf(" and %zu more extents", check->lost_count - shown);
	printf("\n");
}

/* Prints what keeps the verdict from being good. */
static void print_doubts(const struct durable_check *check, uint64_t claimed)
{
	if (!check->ended)
		fprintf(stderr, TOOL ": the log %s: what was claimed after that is not known\n",
			check->torn ? "ends within a record"
				    : "has no end, as when the client was killed");
	if (claimed == 0)
		fprintf(stderr, TOOL ": nothing was claimed: nothing is proven\n");
}

/* Counted by the job; what its options asked for would prove nothing. */
static void print_flushes(const struct durable_check *check)
{
	printf("flushes that completed:    ");
	if (check->ended)
		printf("%" PRIu64 ", flush_type=%s\n", check->flushes,
		       reached_name(check->reached));
	else
		printf("not known, flush_type=unproven\n");
}

static void print_result(const struct durable_check *check, const struct options *options)
{
	static const struct {
		const char *words;
		enum claim_state state;
	} rows[] = {
		{"claimed durable and there: ", CLAIM_THERE},
		{"claimed durable and lost:  ", CLAIM_LOST},
		{"claimed, written again:    ", CLAIM_COVERED},
		{"claimed, undecided:        ", CLAIM_UNDECIDED},
	};
	const struct log_header *header = &check->header;
	uint64_t claimed = 0;

	printf("%s: mode=%s flush=%s target=%s, a region of %" PRIu64 " bytes\n", options->paths[0],
	       method_name(header->method), flush_policy_name(header->policy),
	       target_kind_name(header->kind), header->region_bytes);
	print_flushes(check);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t count = durable_check_count(check, rows[i].state);

		printf("%s%" PRIu64 " writes\n", rows[i].words, count);
		claimed += count;
	}
	printf("not claimed:               %" PRIu64 " writes\n", check->writes - claimed);
	if (check->lost_count > 0)
		print_lost(check, options->offset);
	print_doubts(check, claimed);
}

int main(int argc, char **argv)
{
	struct options options = {0};
	struct durable_check check = {.torn = false};
	enum exit_code code = EXIT_GOOD;
	uint8_t *content = NULL;
	size_t size = 0;
	int ret;

	cli_reserve_standard_fds();
	if (options_parse(&options, argc, argv) != 0)
		return cli_report_failure(TOOL);
	if (options.cli.done)
		return fflush(stdout) == 0 ? EXIT_GOOD : EXIT_RUN_FAILED;
	ret = read_log(options.paths[0], &content, &size);
	if (ret == 0)
		ret = durable_check_open(&check, options.paths[0], content, size);
	if (ret == 0)
		ret = judge(&check, &options);
	if (ret == 0)
		code = durable_check_verdict(&check);
	if (ret == 0 && (code != EXIT_GOOD || !options.cli.quiet))
		print_result(&check, &options);
	durable_check_close(&check);
	free(content);
	if (ret == 0 && (fflush(stdout) != 0 || ferror(stdout)))
		ret = cannot_read("standard output", strerror(errno));
	return ret == 0 ? (int)code : cli_report_failure(TOOL);
}
