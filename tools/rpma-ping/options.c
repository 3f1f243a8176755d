/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.c -- the rows of all options and their parsers. Letters are those of
 * ping(8) where that has the like.
 */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "common/rdma/resolve.h"
#include "common/rdma/rows.h"
#include "common/rdma/target.h"

#define SECOND	   1000000000ULL
#define HOUR	   (3600 * SECOND)
#define DAY	   (24 * HOUR)

#define wrong(...) failure_set(EXIT_WRONG_USAGE, "parse", __VA_ARGS__)

enum group { GROUP_BOTH = 1, GROUP_CLIENT, GROUP_SERVER };

const char *const options_flush_names[FLUSH_WISHES] = {"auto", "visibility", "persistent"};
const char *const options_wait_names[WAIT_KINDS] = {"poll", "event"};

static error_t take_time(const char *option, const char *arg, uint64_t least, uint64_t *ns)
{
	if (units_parse_duration(arg, ns) != 0 || *ns < least || *ns > DAY)
		return cli_wrong_value(option, arg,
				       least > 0 ? "a time such as 5, 0.5 or 200ms, up to 24h"
						 : "a time such as 1, 0.2, 5ms or 0, up to 24h");
	return 0;
}

static error_t parse_interval(const char *option, const char *arg, void *ns)
{
	return take_time(option, arg, 0, ns);
}

static error_t parse_limit(const char *option, const char *arg, void *ns)
{
	return take_time(option, arg, 1, ns);
}

static error_t parse_count(const char *option, const char *arg, void *to)
{
	uint64_t *count = to;

	if (units_parse_count(arg, count) || *count == 0 || *count > INT64_MAX)
		return cli_wrong_value(option, arg, "a number of pings from 1 up");
	return 0;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Ascending and without what is there twice; -ERANGE: too many, or one is too large. */
static int take_sizes(const struct units_list *list, struct options *o)
{
	size_t n = 0;

	qsort(list->values, list->count, sizeof(*list->values), by_size);
	if (list->values[0] == 0 || list->values[list->count - 1] > OPTIONS_SIZE_MAX)
		return -ERANGE;
	for (size_t i = 0; i < list->count; i++) {
		if (n > 0 && list->values[i] == o->sizes[n - 1])
			continue;
		if (n == OPTIONS_SIZES)
			return -ERANGE;
		o->sizes[n++] = list->values[i];
	}
	o->sizes_count = n;
	o->size_bytes = o->sizes[n - 1];
	return 0;
}

static error_t parse_sizes(const char *option, const char *arg, void *options)
{
	struct units_list list = {0};
	int ret = units_parse_list(arg, units_parse_size, &list);

	if (ret == 0)
		ret = take_sizes(&list, options);
	units_list_free(&list);
	if (ret)
		return cli_wrong_value(
			option, arg,
			"bytes from 1 to 1G, such as 4K (K, M and G are upper case), or "
			"up to 64 sizes such as 64,4K or 64:4K:*2");
	return 0;
}

static error_t parse_host(const char *option, const char *arg, void *options)
{
	struct options *o = options;

	(void)option;
	if (arg[0] == '\0')
		return cli_wrong_value("HOST", "''", "a host name or address");
	if (resolve_has_port(arg))
		return cli_wrong_value("HOST", arg,
				       "a name or an address alone, the port goes into --port");
	if (o->hosts_count == OPTIONS_HOSTS) {
		wrong("unexpected argument %s: expected at most %d hosts", arg, OPTIONS_HOSTS);
		return EINVAL;
	}
	o->hosts[o->hosts_count++] = arg;
	return 0;
}

/* The words are those of an enum, which counts from 0. */
static error_t take_word(const char *option, const char *arg, const char *const *words,
			 unsigned count, const char *expected, unsigned *word)
{
	for (unsigned i = 0; i < count; i++) {
		if (strcmp(words[i], arg) == 0) {
			*word = i;
			return 0;
		}
	}
	return cli_wrong_value(option, arg, expected);
}

static error_t parse_flush(const char *option, const char *arg, void *to)
{
	return take_word(option, arg, options_flush_names, FLUSH_WISHES,
			 "visibility, persistent or auto", to);
}

static error_t parse_wait(const char *option, const char *arg, void *to)
{
	return take_word(option, arg, options_wait_names, WAIT_KINDS, "poll or event", to);
}

static error_t parse_target(const char *option, const char *arg, void *to)
{
	return target_check(arg) != 0 ? EINVAL : cli_text(option, arg, to);
}

#define TO(member) offsetof(struct options, member)
_Static_assert(offsetof(struct options, cli) == 0, "rows count from the struct cli");

static const struct cli_row rows_of_both[] = {
	{"server", 0, NULL, "Offer memory to clients that ping", GROUP_BOTH, cli_flag, TO(server),
	 0},
	ROW_PORT("7205", GROUP_BOTH),
	ROW_DEVICE(GROUP_BOTH),
	{0},
};

static const struct cli_row rows_of_client[] = {
	{"count", 'c', "N", "End after N pings of each size (until a signal)", GROUP_CLIENT,
	 parse_count, TO(count), 0},
	{"interval", 'i', "TIME", "Time between two pings (1s)", GROUP_CLIENT, parse_interval,
	 TO(interval_ns), 0},
	{"size", 's', "SIZE[,...]",
	 "Bytes of a ping; pings cycle through several sizes, also LOW:HIGH:*FACTOR (64)",
	 GROUP_CLIENT, parse_sizes, TO(cli), 0},
	{"interface", 'I', "NAME|ADDR",
	 "Fail unless the route to the host leaves from this interface or local address",
	 GROUP_CLIENT, cli_text, TO(source), 0},
	{"ipv4", '4', NULL, "Use IPv4 addresses only", GROUP_CLIENT, cli_flag, TO(ipv4), 0},
	{"ipv6", '6', NULL, "Use IPv6 addresses only", GROUP_CLIENT, cli_flag, TO(ipv6), 0},
	{"deadline", 'w', "TIME", "Begin no ping after this time (none)", GROUP_CLIENT, parse_limit,
	 TO(deadline_ns), 0},
	{"timeout", 'W', "TIME", "A ping is lost after this time (5s)", GROUP_CLIENT, parse_limit,
	 TO(limit_ns), 0},
	{"flood", 'f', NULL,
	 "Ping without pause, or with that of --interval; a dot per ping, erased as it returns",
	 GROUP_CLIENT, cli_flag, TO(flood), 0},
	{"timestamps", 'D', NULL, "Print the time of day, in seconds since 1970, before each line",
	 GROUP_CLIENT, cli_flag, TO(timestamps), 0},
	{"numeric", 'n', NULL, "As ping(8) has it: addresses are always numbers here", GROUP_CLIENT,
	 cli_flag, TO(numeric), 0},
	{"outstanding", 'O', NULL, "As ping(8) has it: a late ping is always reported here",
	 GROUP_CLIENT, cli_flag, TO(outstanding), 0},
	{"flush", 0, "visibility|persistent|auto",
	 "What the flush of each write is to reach; auto is persistent where the server allows it "
	 "(auto)",
	 GROUP_CLIENT, parse_flush, TO(flush), 0},
	{"wait", 0, "poll|event", "How completions are waited for (poll)", GROUP_CLIENT, parse_wait,
	 TO(wait), 0},
	ROW_ACK_TIMEOUT(GROUP_CLIENT),
	ROW_RETRIES(GROUP_CLIENT),
	{"expect-persistent", 0, NULL,
	 "Fail unless the server's own readiness check supports that flushes are persistent",
	 GROUP_CLIENT, cli_flag, TO(expect_persistent), 0},
	CLI_ROW_JSON(GROUP_CLIENT),
	{0},
};

static const struct cli_row rows_of_server[] = {
	ROW_LISTEN(GROUP_SERVER),
	ROW_ALLOW(GROUP_SERVER),
	{"target", 't', "TARGET",
	 "Memory to offer: dram:SIZE (dram:4M), hugepages:SIZE, PATH:SIZE for a new file, PATH of "
	 "a file or device DAX node",
	 GROUP_SERVER, parse_target, TO(target), 0},
	ROW_FORCE(GROUP_SERVER),
	ROW_DIRECT_WRITE(GROUP_SERVER),
	{0},
};

enum { TABLE_BOTH, TABLE_CLIENT, TABLE_SERVER };
static const struct cli_row *const tables[] = {
	[TABLE_BOTH] = rows_of_both,
	[TABLE_CLIENT] = rows_of_client,
	[TABLE_SERVER] = rows_of_server,
	NULL,
};

static int check_server(const struct options *o)
{
	const char *of_client = o->cli.given[TABLE_CLIENT];

	if (o->hosts_count > 0)
		return wrong("unexpected argument %s: a server takes no host (--listen ADDR)",
			     o->hosts[0]);
	if (of_client != NULL)
		return wrong("--%s is for the client: a server does what its clients ask",
			     of_client);
	return 0;
}

static int check_client(const struct options *o)
{
	const char *of_server = o->cli.given[TABLE_SERVER];

	if (o->hosts_count == 0)
		return wrong("the host to ping is missing: rpma-ping HOST, or rpma-ping --server");
	if (of_server != NULL)
		return wrong("--%s is for rpma-ping --server", of_server);
	if (o->ipv4 && o->ipv6)
		return wrong("--ipv4 and --ipv6 are mutually exclusive");
	if (o->expect_persistent && o->flush == FLUSH_VISIBILITY)
		return wrong("--expect-persistent and --flush visibility are mutually exclusive");
	if (o->port == 0)
		return wrong("--port 0: expected the port that the server printed");
	return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
	static const struct cli_command command = {
		.name = "rpma-ping",
		.text = "Ping remote memory over RDMA: write, flush, read back and compare.",
		.tables = tables,
		.quiet = "Print the summary and failures only",
		.operand = "HOST...",
		.operand_to = TO(cli),
		.operand_parse = parse_host,
	};
	int ret;

	*options = (struct options){
		.argc = argc,
		.argv = argv,
		.port = OPTIONS_PORT,
		.listen = "127.0.0.1",
		.target = "dram:4M",
		.interval_ns = UINT64_MAX,
		.sizes = {64},
		.sizes_count = 1,
		.size_bytes = 64,
		.limit_ns = 5 * SECOND,
		.knobs = CONNECTION_KNOBS_NONE,
	};
	ret = cli_parse(&command, argc, argv, &options->cli);
	if (ret || options->cli.done)
		return ret;
	if (options->interval_ns == UINT64_MAX)
		options->interval_ns = options->flood ? 0 : SECOND;
	return options->server ? check_server(options) : check_client(options);
}
