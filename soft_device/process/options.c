/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.c -- parses RPMA_SOFT: a table of settings, of filters and of keys.
 *
 * Each word is copied and cut in place. Numbers are parsed by hand, because
 * the program that the device serves may have set any locale. Adding a filter
 * is adding a row; adding a key is adding a row and its parser.
 */
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/verbs.h>

#define BLANKS	    " \t\n"
#define TIME_MAX_NS 3600e9
#define RATE_MAX    1e15

enum key_bit {
	KEY_BARE = 1 << 0, /* a value without a key */
	KEY_AT = 1 << 1,
	KEY_EVERY = 1 << 2,
	KEY_OP = 1 << 3,
	KEY_TIME = 1 << 4,
	KEY_MEDIAN = 1 << 5,
	KEY_SIGMA = 1 << 6,
	KEY_TIMES = 1 << 7,
	KEY_AFTER = 1 << 8,
	KEY_ERRNO = 1 << 9,
	KEY_STATUS = 1 << 10,
	KEY_NAME = 1 << 11,
	KEY_DOMAIN = 1 << 12,
	KEY_DDIO = 1 << 13,
};
#define KEYS_WHEN (KEY_AT | KEY_EVERY)

struct filter {
	const char *name;
	enum soft_fault_kind kind;
	unsigned int keys; /* that it takes */
	unsigned int must; /* at least one of these is needed; 0: none */
	const char *form;
};

static const struct filter filters[] = {
	{"delay", SOFT_DELAY, KEYS_WHEN | KEY_OP | KEY_TIME | KEY_MEDIAN | KEY_SIGMA,
	 KEY_TIME | KEY_MEDIAN,
	 "delay:time=2us, delay:time=1us..3us or delay:median=2us,sigma=0.5, each with "
	 "op=write+read or without, and with at=7, every=100 or neither"},
	{"rate", SOFT_RATE, KEY_BARE, KEY_BARE, "rate:100Gbit or rate:10GB"},
	{"rnr", SOFT_RNR, KEYS_WHEN | KEY_TIMES, 0, "rnr:every=50,times=2 or rnr:at=7"},
	{"drop", SOFT_DROP, KEY_AFTER, KEY_AFTER, "drop:after=1000"},
	{"refuse", SOFT_REFUSE, KEYS_WHEN, 0, "refuse, refuse:at=2 or refuse:every=3"},
	{"unreachable", SOFT_UNREACHABLE, KEYS_WHEN, 0,
	 "unreachable, unreachable:at=2 or unreachable:every=3"},
	{"register", SOFT_REGISTER, KEYS_WHEN | KEY_ERRNO, 0,
	 "register:at=2,errno=ENOMEM or register:every=3"},
	{"complete", SOFT_COMPLETE, KEYS_WHEN | KEY_OP | KEY_STATUS, KEY_STATUS,
	 "complete:op=write,at=5,status=REM_ACCESS_ERR"},
	{"corrupt", SOFT_CORRUPT, KEYS_WHEN | KEY_OP, 0, "corrupt:op=write,at=5"},
	{"call", SOFT_CALL, KEYS_WHEN | KEY_NAME | KEY_ERRNO, 0,
	 "call:at=17 or call:name=ibv_reg_mr,at=2,errno=ENOMEM"},
	{"powerfail", SOFT_POWERFAIL, KEY_AT | KEY_DOMAIN | KEY_DDIO, KEY_AT,
	 "powerfail:at=1000,domain=adr,ddio=on"},
};

struct word_value {
	const char *word;
	int value;
};

static const struct word_value transports[] = {
	{"auto", SOFT_TRANSPORT_AUTO},
	{"local", SOFT_TRANSPORT_LOCAL},
	{"tcp", SOFT_TRANSPORT_TCP},
	{NULL, 0},
};

static const struct word_value ops[] = {
	{"write", SOFT_OP_WRITE}, {"read", SOFT_OP_READ},
	{"send", SOFT_OP_SEND},	  {"atomic", SOFT_OP_ATOMIC},
	{"flush", SOFT_OP_FLUSH}, {"recv", SOFT_OP_RECV},
	{"all", SOFT_OP_ALL},	  {NULL, 0},
};

static const struct word_value statuses[] = {
	{"LOC_LEN_ERR", IBV_WC_LOC_LEN_ERR},
	{"LOC_QP_OP_ERR", IBV_WC_LOC_QP_OP_ERR},
	{"LOC_EEC_OP_ERR", IBV_WC_LOC_EEC_OP_ERR},
	{"LOC_PROT_ERR", IBV_WC_LOC_PROT_ERR},
	{"WR_FLUSH_ERR", IBV_WC_WR_FLUSH_ERR},
	{"MW_BIND_ERR", IBV_WC_MW_BIND_ERR},
	{"BAD_RESP_ERR", IBV_WC_BAD_RESP_ERR},
	{"LOC_ACCESS_ERR", IBV_WC_LOC_ACCESS_ERR},
	{"REM_INV_REQ_ERR", IBV_WC_REM_INV_REQ_ERR},
	{"REM_ACCESS_ERR", IBV_WC_REM_ACCESS_ERR},
	{"REM_OP_ERR", IBV_WC_REM_OP_ERR},
	{"RETRY_EXC_ERR", IBV_WC_RETRY_EXC_ERR},
	{"RNR_RETRY_EXC_ERR", IBV_WC_RNR_RETRY_EXC_ERR},
	{"LOC_RDD_VIOL_ERR", IBV_WC_LOC_RDD_VIOL_ERR},
	{"REM_INV_RD_REQ_ERR", IBV_WC_REM_INV_RD_REQ_ERR},
	{"REM_ABORT_ERR", IBV_WC_REM_ABORT_ERR},
	{"INV_EECN_ERR", IBV_WC_INV_EECN_ERR},
	{"INV_EEC_STATE_ERR", IBV_WC_INV_EEC_STATE_ERR},
	{"FATAL_ERR", IBV_WC_FATAL_ERR},
	{"RESP_TIMEOUT_ERR", IBV_WC_RESP_TIMEOUT_ERR},
	{"GENERAL_ERR", IBV_WC_GENERAL_ERR},
	{NULL, 0},
};

const char *soft_options_status(int status)
{
	const struct word_value *at = statuses;

	while (at->word != NULL && at->value != status)
		at++;
	return at->word != NULL ? at->word : "unknown";
}

struct unit {
	const char *name;
	double factor;
};

static const struct unit time_units[] = {
	{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};

static const struct unit rate_units[] = {
	{"bit", 0.125}, {"kbit", 125}, {"Mbit", 125e3}, {"Gbit", 125e6}, {"B", 1},
	{"kB", 1e3},	{"MB", 1e6},   {"GB", 1e9},	{NULL, 0},
};

static bool find_word(const struct word_value *list, const char *word, int *value)
{
	for (; list->word != NULL; list++) {
		if (strcmp(list->word, word) == 0) {
			*value = list->value;
			return true;
		}
	}
	return false;
}

static bool parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
	uint64_t n = 0;

	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (*text < '0' || *text > '9' || n > (high - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*value = n;
	return n >= low;
}

/* 12, 12.5 or .5; gives what follows it, NULL if there is no number. */
static const char *parse_decimal(const char *text, double *value)
{
	const char *start = text;
	double place = 1;
	size_t digits;

	*value = 0;
	for (; *text >= '0' && *text <= '9'; text++)
		*value = *value * 10 + (*text - '0');
	digits = (size_t)(text - start);
	if (*text != '.')
		return digits > 0 ? text : NULL;
	for (start = ++text; *text >= '0' && *text <= '9'; text++) {
		place /= 10;
		*value += (*text - '0') * place;
	}
	return digits > 0 || text > start ? text : NULL;
}

static bool parse_scaled(const char *text, const struct unit *units, double high, uint64_t *value)
{
	double number;
	const char *unit = parse_decimal(text, &number);

	for (; unit != NULL && units->name != NULL; units++) {
		if (strcmp(units->name, unit) != 0)
			continue;
		number *= units->factor;
		if (number > high)
			return false;
		*value = (uint64_t)(number + 0.5);
		return true;
	}
	return false;
}

static bool parse_at(struct soft_fault *fault, const char *value)
{
	return parse_number(value, 1, INT64_MAX, &fault->when.at);
}

static bool parse_every(struct soft_fault *fault, const char *value)
{
	return parse_number(value, 1, INT64_MAX, &fault->when.every);
}

static bool parse_after(struct soft_fault *fault, const char *value)
{
	return parse_number(value, 0, INT64_MAX, &fault->after);
}

static bool parse_times(struct soft_fault *fault, const char *value)
{
	uint64_t times;

	if (!parse_number(value, 1, UINT32_MAX, &times))
		return false;
	fault->times = (uint32_t)times;
	return true;
}

static bool parse_op(struct soft_fault *fault, const char *value)
{
	char copy[SOFT_WORD_MAX], *rest = copy, *word;
	int op;

	snprintf(copy, sizeof(copy), "%s", value);
	fault->ops = 0;
	while ((word = strsep(&rest, "+")) != NULL) {
		if (!find_word(ops, word, &op))
			return false;
		fault->ops |= (unsigned int)op;
	}
	return true;
}

static bool parse_time(struct soft_fault *fault, const char *value)
{
	char copy[SOFT_WORD_MAX], *dots;

	snprintf(copy, sizeof(copy), "%s", value);
	dots = strstr(copy, "..");
	if (dots != NULL)
		*dots = '\0';
	if (!parse_scaled(copy, time_units, TIME_MAX_NS, &fault->low_ns))
		return false;
	fault->high_ns = fault->low_ns;
	return dots == NULL || (parse_scaled(dots + 2, time_units, TIME_MAX_NS, &fault->high_ns) &&
				fault->high_ns >= fault->low_ns);
}

static bool parse_median(struct soft_fault *fault, const char *value)
{
	return parse_scaled(value, time_units, TIME_MAX_NS, &fault->median_ns) &&
	       fault->median_ns > 0;
}

static bool parse_sigma(struct soft_fault *fault, const char *value)
{
	const char *end = parse_decimal(value, &fault->sigma);

	return end != NULL && *end == '\0' && fault->sigma <= 10;
}

static bool parse_rate(struct soft_fault *fault, const char *value)
{
	return parse_scaled(value, rate_units, RATE_MAX, &fault->bytes_per_s) &&
	       fault->bytes_per_s > 0;
}

static bool parse_errno(struct soft_fault *fault, const char *value)
{
	for (int number = 1; number < 4096; number++) {
		const char *name = strerrorname_np(number);

		if (name != NULL && strcmp(name, value) == 0) {
			fault->error = number;
			return true;
		}
	}
	return false;
}

static bool parse_status(struct soft_fault *fault, const char *value)
{
	return find_word(statuses, value, &fault->status);
}

static bool parse_name(struct soft_fault *fault, const char *value)
{
	const char *known = "abcdefghijklmnopqrstuvwxyz0123456789_";

	if ((strncmp(value, "ibv_", 4) != 0 && strncmp(value, "rdma_", 5) != 0) ||
	    value[strspn(value, known)] != '\0' || strlen(value) >= sizeof(fault->name))
		return false;
	memcpy(fault->name, value, strlen(value) + 1);
	return true;
}

static bool parse_domain(struct soft_fault *fault, const char *value)
{
	fault->eadr = strcmp(value, "eadr") == 0;
	return fault->eadr || strcmp(value, "adr") == 0;
}

static bool parse_ddio(struct soft_fault *fault, const char *value)
{
	fault->ddio = strcmp(value, "on") == 0;
	return fault->ddio || strcmp(value, "off") == 0;
}

static const struct key {
	const char *name; /* "" is a value without a key */
	unsigned int bit;
	bool (*parse)(struct soft_fault *fault, const char *value);
	const char *expected;
} keys[] = {
	{"", KEY_BARE, parse_rate, "a rate in bit, kbit, Mbit, Gbit, B, kB, MB or GB, as 100Gbit"},
	{"at", KEY_AT, parse_at, "a number from 1"},
	{"every", KEY_EVERY, parse_every, "a number from 1"},
	{"op", KEY_OP, parse_op, "write, read, send, atomic, flush, recv or all, joined by +"},
	{"time", KEY_TIME, parse_time, "a time up to 1 hour, as 2us, or two of them, as 1us..3us"},
	{"median", KEY_MEDIAN, parse_median, "a time up to 1 hour, as 2us"},
	{"sigma", KEY_SIGMA, parse_sigma, "a number from 0 to 10, as 0.5"},
	{"times", KEY_TIMES, parse_times, "a number from 1"},
	{"after", KEY_AFTER, parse_after, "a number"},
	{"errno", KEY_ERRNO, parse_errno, "the name of an errno, as ENOMEM"},
	{"status", KEY_STATUS, parse_status,
	 "the name of a failed completion's status, as REM_ACCESS_ERR"},
	{"name", KEY_NAME, parse_name, "the name of a call, as ibv_reg_mr"},
	{"domain", KEY_DOMAIN, parse_domain, "adr or eadr"},
	{"ddio", KEY_DDIO, parse_ddio, "on or off"},
};

static __attribute__((format(printf, 2, 3))) int wrong(char *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, SOFT_ERROR_MAX, format, args);
	va_end(args);
	return -EINVAL;
}

/* One KEY=VALUE, or VALUE; "seen" collects the keys of the word. */
static int parse_item(char *item, const struct filter *filter, struct soft_fault *fault,
		      unsigned int *seen, char *error)
{
	char *value = strchr(item, '=');
	const char *key = value != NULL ? item : "";

	if (value != NULL)
		*value++ = '\0';
	else
		value = item;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct key *k = &keys[i];

		if (strcmp(k->name, key) != 0 || (k->bit & filter->keys) == 0)
			continue;
		if (*seen & k->bit)
			return wrong(error, "%s: twice the same (%s)", fault->word, filter->form);
		*seen |= k->bit;
		if (!k->parse(fault, value))
			return wrong(error, "%s: %s is not %s", fault->word, value, k->expected);
		return 0;
	}
	return wrong(error, "%s: expected %s", fault->word, filter->form);
}

static int parse_filter(const struct filter *filter, char *items, struct soft_fault *fault,
			char *error)
{
	unsigned int seen = 0;
	char *item;
	int ret = 0;

	fault->kind = filter->kind;
	/* what is not written, where the filter has it */
	fault->ops = filter->keys & KEY_OP ? SOFT_OP_ALL : 0;
	fault->times = filter->keys & KEY_TIMES ? 1 : 0;
	fault->error = filter->keys & KEY_ERRNO ? ENOMEM : 0;
	fault->ddio = (filter->keys & KEY_DDIO) != 0;
	while (ret == 0 && (item = strsep(&items, ",")) != NULL)
		ret = parse_item(item, filter, fault, &seen, error);
	if (ret)
		return ret;
	if ((filter->must != 0 && (seen & filter->must) == 0) ||
	    (seen & KEYS_WHEN) == KEYS_WHEN || /* one or the other */
	    (seen & (KEY_TIME | KEY_MEDIAN)) == (KEY_TIME | KEY_MEDIAN) ||
	    ((seen & KEY_MEDIAN) != 0) != ((seen & KEY_SIGMA) != 0))
		return wrong(error, "%s: expected %s", fault->word, filter->form);
	return 0;
}

static int add_fault(struct soft_options *options, const struct filter *filter, const char *word,
		     char *items, char *error)
{
	struct soft_fault *fault = &options->faults[options->faults_count];

	if (options->faults_count == SOFT_FAULTS_MAX)
		return wrong(error, "%s: more than %d faults", word, SOFT_FAULTS_MAX);
	for (size_t i = 0; i < options->faults_count; i++) {
		if (filter->kind == SOFT_POWERFAIL && options->faults[i].kind == SOFT_POWERFAIL)
			return wrong(error, "%s: power fails once only", word);
	}
	snprintf(fault->word, sizeof(fault->word), "%s", word);
	options->faults_count++;
	return parse_filter(filter, items, fault, error);
}

/* The process id is a must: the processes of a program would write over each other's file. */
static int parse_trace(struct soft_options *options, const char *word, const char *value,
		       char *error)
{
	const char *percent = value == NULL ? NULL : strchr(value, '%');

	if (percent == NULL || percent[1] != 'p' || strchr(percent + 1, '%') != NULL)
		return wrong(error,
			     "%s: expected trace:FILE with one %%p, which becomes the process id, "
			     "as trace:/tmp/operations.%%p",
			     word);
	snprintf(options->trace, sizeof(options->trace), "%s", value);
	return 0;
}

/* 1: it is no setting. value is NULL for a word without a colon. */
static int parse_setting(struct soft_options *options, const char *word, const char *name,
			 const char *value, char *error)
{
	bool *flag = NULL;
	int transport;

	if (strcmp(name, "verbose") == 0)
		flag = &options->verbose;
	else if (strcmp(name, "forced-remote") == 0)
		flag = &options->forced_remote;
	if (flag != NULL) {
		*flag = true;
		return value == NULL ? 0 : wrong(error, "%s: %s takes no value", word, name);
	}
	if (strcmp(name, "transport") == 0) {
		if (value == NULL || !find_word(transports, value, &transport))
			return wrong(
				error,
				"%s: expected transport:auto, transport:local or transport:tcp",
				word);
		options->transport = (enum soft_transport)transport;
		return 0;
	}
	if (strcmp(name, "trace") == 0)
		return parse_trace(options, word, value, error);
	if (strcmp(name, "secret") == 0) {
		if (value == NULL || value[0] == '\0')
			return wrong(error, "%s: expected secret:FILE, a file of mode 0600", word);
		snprintf(options->secret, sizeof(options->secret), "%s", value);
		return 0;
	}
	if (strcmp(name, "seed") != 0)
		return 1;
	if (value == NULL || !parse_number(value, 0, UINT64_MAX, &options->seed))
		return wrong(error, "%s: expected seed:N, N from 0 to 2^64-1", word);
	return 0;
}

static int parse_word(struct soft_options *options, const char *word, char *error)
{
	char copy[SOFT_WORD_MAX], *items = copy;
	const char *name;
	int ret;

	snprintf(copy, sizeof(copy), "%s", word);
	name = strsep(&items, ":");
	ret = parse_setting(options, word, name, items, error);
	if (ret <= 0)
		return ret;
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		if (strcmp(filters[i].name, name) == 0)
			return add_fault(options, &filters[i], word, items, error);
	}
	return wrong(error,
		     "%s: no such fault or setting: delay, rate, rnr, drop, refuse, "
		     "unreachable, register, complete, corrupt, call, powerfail, transport, seed, "
		     "trace, secret, verbose, forced-remote",
		     word);
}

int soft_options_parse(const char *text, struct soft_options *options, char error[SOFT_ERROR_MAX])
{
	char word[SOFT_WORD_MAX];
	int ret = 0;

	memset(options, 0, sizeof(*options));
	options->seed = 1;
	error[0] = '\0';
	if (text == NULL)
		return 0;
	while (ret == 0) {
		size_t len;

		text += strspn(text, BLANKS);
		len = strcspn(text, BLANKS);
		if (len == 0)
			break;
		if (len >= sizeof(word))
			return wrong(error, "%.32s...: a word of more than %zu bytes", text,
				     sizeof(word) - 1);
		memcpy(word, text, len);
		word[len] = '\0';
		ret = parse_word(options, word, error);
		text += len;
	}
	return ret;
}
