/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.c -- the rows of all options and their parsers. Letters are those of
 * ping(8) where that has the like.
 */
#include "options.h"

#include <errno.h>
#include <string.h>

#include "tools/common/base/failure.h"
#include "tools/common/base/units.h"
#include "tools/common/rdma/target.h"

#define SECOND 1000000000ULL
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)

enum key {
	KEY_SERVER = CLI_KEY_FIRST,
	KEY_LISTEN,
	KEY_ALLOW,
	KEY_FORCE,
	KEY_DIRECT_WRITE,
	KEY_DEVICE,
	KEY_FLUSH,
	KEY_WAIT,
	KEY_JSON,
	KEY_TARGET = 't',
	KEY_PORT = 'p',
	KEY_COUNT = 'c',
	KEY_INTERVAL = 'i',
	KEY_SIZE = 's',
	KEY_DEADLINE = 'w',
	KEY_LIMIT = 'W',
	KEY_FLOOD = 'f',
};

enum group { GROUP_BOTH = 1, GROUP_CLIENT, GROUP_SERVER };

const char *const options_flush_names[FLUSH_WISHES] = {"auto", "visibility", "persistent"};
const char *const options_wait_names[WAIT_KINDS] = {"poll", "event"};

static const struct argp_option rows[] = {
	{"server", KEY_SERVER, NULL, 0, "Offer memory to clients that ping", GROUP_BOTH},
	{"port", KEY_PORT, "N", 0, "Port of the server (7205); a server takes 0 for any free one",
	 GROUP_BOTH},
	{"device", KEY_DEVICE, "auto|soft|NAME", 0,
	 "RDMA device to use; soft is the software one, which auto takes where there is no other "
	 "(auto)",
	 GROUP_BOTH},
	{"count", KEY_COUNT, "N", 0, "End after N pings (until a signal)", GROUP_CLIENT},
	{"interval", KEY_INTERVAL, "TIME", 0, "Time between two pings (1s)", GROUP_CLIENT},
	{"size", KEY_SIZE, "SIZE", 0, "Bytes of a ping (64)", GROUP_CLIENT},
	{"deadline", KEY_DEADLINE, "TIME", 0, "Begin no ping after this time (none)", GROUP_CLIENT},
	{"timeout", KEY_LIMIT, "TIME", 0, "A ping is lost after this time (5s)", GROUP_CLIENT},
	{"flood", KEY_FLOOD, NULL, 0,
	 "Ping without pause, or with that of --interval; a dot per ping, erased as it returns",
	 GROUP_CLIENT},
	{"flush", KEY_FLUSH, "visibility|persistent|auto", 0,
	 "What the flush of each write is to reach; auto is persistent where the server allows it "
	 "(auto)",
	 GROUP_CLIENT},
	{"wait", KEY_WAIT, "poll|event", 0, "How completions are waited for (poll)", GROUP_CLIENT},
	{"json", KEY_JSON, NULL, 0, "Write the result, as JSON, to standard output", GROUP_CLIENT},
	{"listen", KEY_LISTEN, "ADDR", 0, "Address to listen on (127.0.0.1)", GROUP_SERVER},
	{"allow", KEY_ALLOW, "ADDR[/LEN]", 0,
	 "Take clients from here only; may be repeated (from everywhere)", GROUP_SERVER},
	{"target", KEY_TARGET, "TARGET", 0,
	 "Memory to offer: dram:SIZE (dram:4M), hugepages:SIZE, PATH:SIZE for a new file, PATH of "
	 "a file or device DAX node",
	 GROUP_SERVER},
	{"force", KEY_FORCE, NULL, 0, "Let the content of an existing PATH be overwritten",
	 GROUP_SERVER},
	{"direct-write-to-pmem", KEY_DIRECT_WRITE, NULL, 0,
	 "State that writes of the RDMA device reach the persistence domain", GROUP_SERVER},
	{0},
};

/* What the rows of all tools say of --quiet is not what it does here. */
static struct argp_option cli_rows[8];
static struct argp cli_rows_argp;

static void make_cli_rows(void)
{
	for (size_t i = 0; i < sizeof(cli_rows) / sizeof(cli_rows[0]) - 1; i++) {
		cli_rows[i] = cli_argp.options[i];
		if (cli_rows[i].name == NULL)
			break;
		if (cli_rows[i].key == CLI_KEY_QUIET)
			cli_rows[i].doc = "Print the summary and failures only";
	}
	cli_rows_argp = cli_argp;
	cli_rows_argp.options = cli_rows;
}

/* "0.2" and "0.2s" too, as ping(8) has it. */
static int parse_time(const char *text, uint64_t *ns)
{
	uint64_t whole = 0, unit = SECOND;
	size_t digits = strspn(text, "0123456789");
	const char *s = text + digits + 1;
	char head[24];

	if (digits == 0 || digits >= sizeof(head) || text[digits] != '.' || *s < '0' || *s > '9')
		return units_parse_duration(text, ns);
	memcpy(head, text, digits);
	head[digits] = '\0';
	if (units_parse_duration(head, &whole) != 0)
		return -ERANGE;
	for (; *s >= '0' && *s <= '9'; s++) {
		unit /= 10;
		whole += unit * (uint64_t)(*s - '0');
	}
	if (strcmp(s, "") != 0 && strcmp(s, "s") != 0)
		return -EINVAL;
	*ns = whole;
	return 0;
}

static error_t take_time(const char *name, const char *arg, uint64_t least, uint64_t *ns)
{
	if (parse_time(arg, ns) != 0 || *ns < least || *ns > DAY)
		return cli_wrong_value(name, arg,
				       least > 0 ? "a time such as 5, 0.5 or 200ms, up to 24h"
						 : "a time such as 1, 0.2, 5ms or 0, up to 24h");
	return 0;
}

/* -1: none of them. */
static int find_word(const char *const *words, int count, const char *word)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(words[i], word) == 0)
			return i;
	}
	return -1;
}

static error_t parse_client(int key, char *arg, struct options *o)
{
	int word;

	switch (key) {
	case KEY_COUNT:
		if (units_parse_count(arg, &o->count) || o->count == 0 || o->count > INT64_MAX)
			return cli_wrong_value("--count", arg, "a number of pings from 1 up");
		return 0;
	case KEY_INTERVAL:
		return take_time("--interval", arg, 0, &o->interval_ns);
	case KEY_SIZE:
		if (units_parse_size(arg, &o->size_bytes) || o->size_bytes == 0 ||
		    o->size_bytes > OPTIONS_SIZE_MAX)
			return cli_wrong_value("--size", arg, "bytes from 1 to 1G, such as 4K");
		return 0;
	case KEY_DEADLINE:
		return take_time("--deadline", arg, 1, &o->deadline_ns);
	case KEY_LIMIT:
		return take_time("--timeout", arg, 1, &o->limit_ns);
	case KEY_FLOOD:
		o->flood = true;
		return 0;
	case KEY_FLUSH:
		word = find_word(options_flush_names, FLUSH_WISHES, arg);
		if (word < 0)
			return cli_wrong_value("--flush", arg, "visibility, persistent or auto");
		o->flush = (enum flush_wish)word;
		return 0;
	case KEY_WAIT:
		word = find_word(options_wait_names, WAIT_KINDS, arg);
		if (word < 0)
			return cli_wrong_value("--wait", arg, "poll or event");
		o->wait = (enum wait_kind)word;
		return 0;
	case KEY_JSON:
		o->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_server(int key, char *arg, struct options *o)
{
	switch (key) {
	case KEY_LISTEN:
		o->listen = arg;
		return 0;
	case KEY_ALLOW:
		return allow_option(&o->allow, arg);
	case KEY_TARGET:
		o->target = arg;
		return target_check(arg) != 0 ? EINVAL : 0;
	case KEY_FORCE:
		o->force = true;
		return 0;
	case KEY_DIRECT_WRITE:
		o->direct_write_to_pmem = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_both(int key, char *arg, struct options *o)
{
	switch (key) {
	case KEY_SERVER:
		o->server = true;
		return 0;
	case KEY_PORT:
		return cli_port("--port", arg, &o->port);
	case KEY_DEVICE:
		o->device = strcmp(arg, "auto") == 0 ? NULL : arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct parsing {
	struct options *options;
	const char *of_client; /* an option that only a client has; NULL: none came */
	const char *of_server;
};

static const char *name_of(int key)
{
	const struct argp_option *row = rows;

	while (row->name != NULL && row->key != key)
		row++;
	return row->name;
}

static error_t parse_argument(struct options *o, const char *arg)
{
	if (o->host != NULL) {
		failure_set(EXIT_WRONG_USAGE, "parse", "unexpected argument %s", arg);
		return EINVAL;
	}
	o->host = arg;
	return 0;
}

static error_t parse_row(int key, char *arg, struct argp_state *state)
{
	struct parsing *p = state->input;
	error_t ret;

	if (key == ARGP_KEY_INIT) {
		state->child_inputs[0] = &p->options->cli;
		return 0;
	}
	if (key == ARGP_KEY_ARG)
		return parse_argument(p->options, arg);
	ret = parse_both(key, arg, p->options);
	if (ret != ARGP_ERR_UNKNOWN)
		return ret;
	ret = parse_client(key, arg, p->options);
	if (ret != ARGP_ERR_UNKNOWN) {
		p->of_client = name_of(key);
		return ret;
	}
	ret = parse_server(key, arg, p->options);
	if (ret != ARGP_ERR_UNKNOWN)
		p->of_server = name_of(key);
	return ret;
}

static int check_server(const struct parsing *p)
{
	const struct options *o = p->options;

	if (o->host != NULL)
		return failure_set(EXIT_WRONG_USAGE, "parse",
				   "unexpected argument %s: a server takes no host (--listen ADDR)",
				   o->host);
	if (p->of_client != NULL)
		return failure_set(EXIT_WRONG_USAGE, "parse",
				   "--%s is for the client: a server does what its clients ask",
				   p->of_client);
	return 0;
}

static int check_client(const struct parsing *p)
{
	const struct options *o = p->options;

	if (o->host == NULL)
		return failure_set(EXIT_WRONG_USAGE, "parse",
				   "the host to ping is missing: rpma-ping HOST, or rpma-ping "
				   "--server");
	if (p->of_server != NULL)
		return failure_set(EXIT_WRONG_USAGE, "parse", "--%s is for rpma-ping --server",
				   p->of_server);
	if (o->port == 0)
		return failure_set(EXIT_WRONG_USAGE, "parse",
				   "--port 0: expected the port that the server printed");
	return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
	static const struct argp_child children[] = {{&cli_rows_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		rows,	  parse_row,
		"HOST",	  "Ping remote memory over RDMA: write, flush, read back and compare.",
		children, NULL,
		NULL};
	struct parsing p = {.options = options};
	int ret;

	*options = (struct options){
		.argc = argc,
		.argv = argv,
		.port = OPTIONS_PORT,
		.listen = "127.0.0.1",
		.target = "dram:4M",
		.interval_ns = UINT64_MAX,
		.size_bytes = 64,
		.limit_ns = 5 * SECOND,
	};
	make_cli_rows();
	ret = cli_parse(&argp, "rpma-ping", argc, argv, &p);
	if (ret || options->cli.done)
		return ret;
	if (options->interval_ns == UINT64_MAX)
		options->interval_ns = options->flood ? 0 : SECOND;
	return options->server ? check_server(&p) : check_client(&p);
}
