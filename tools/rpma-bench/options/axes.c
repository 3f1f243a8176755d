/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * axes.c -- the table of the axes: names, words, ranges, fields.
 *
 * axes[] has names and help of each axis for the user, fields[] beside it its
 * place in the program. Everything else walks the two.
 */
#include "axes.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cli.h"
#include "common/base/failure.h"

const struct axis axes[AXES] = {
	[AXIS_TEST] = {"test", "TESTS",
		       "lat: latency in a closed loop; bw: bandwidth; rate: latency at a set rate; "
		       "mix: writes and reads; connect; register (lat)",
		       NULL, false},
	[AXIS_OP] = {"op", "OPS", "The operation:", NULL, false},
	[AXIS_PERSIST] = {"persist", "METHODS", "How a write is made persistent:", NULL, false},
	[AXIS_SIZE] = {"size", "SIZES",
		       "Bytes per operation: 64,4K or 64:1M:*2, or mixed: 4K/10:64K/90 (64:1M:*4)",
		       "sizes from 1 to 1G, each once, as 64,4K or 64:1M:*2, or mixes of them "
		       "with percentages that make 100, as 4K/10:64K/90",
		       false},
	[AXIS_DEPTH] = {"depth", "NUMBERS",
			"Operations in flight on each connection (1 for lat, 32 for bw, rate, mix)",
			"depths from 1 to 4096, each once, as 1,8 or 1:64:*2", false},
	[AXIS_THREADS] = {"threads", "NUMBERS", "Measuring threads (1)",
			  "numbers from 1 to 64, each once, as 1,2 or 1:8:*2", false},
	[AXIS_CONNECTIONS] = {"connections", "NUMBERS", "Connections of each thread (1)",
			      "numbers from 1 to 256, each once, as 1,4 or 1:16:*2", false},
	[AXIS_BATCH] = {"batch", "NUMBERS", "Operations posted with one doorbell (1); for bw, mix",
			"numbers from 1 to 4096, each once, as 1,16 or 1:64:*4", false},
	[AXIS_SIGNAL_EVERY] = {"signal-every", "NUMBERS",
			       "Signal and time every Nth operation (1, or the batch)",
			       "numbers from 1 to 4096, each once, as 1,16 or 1:64:*4", false},
	[AXIS_RATE] = {"rate", "RATES",
		       "Operations per second of all threads together: 10k or 10k:500k:x1.5; for "
		       "--test rate; LOW:HIGH for --find-rate",
		       "operations per second from 1 to 100M, each once, as 10k or 10k:500k:x1.5",
		       false},
	[AXIS_ARRIVALS] =
		{"arrivals", "ARRIVALS",
		 "When the operations of --test rate are due: even, poisson (at random) or "
		 "burst:N (N at once), at the same mean rate (even)",
		 "even, poisson or burst:N with N from 2 to 4096, each once", false},
	[AXIS_READ_FRACTION] = {"read-fraction", "FRACTIONS",
				"Reads among the operations of --test mix: 0.7 or 70% (0.7)",
				"fractions from 0 to 1, each once, as 0.5,0.9 or 70%", false},
	[AXIS_COMPLETION] = {"completion", "WAYS", "How the client awaits completions:", NULL,
			     false},
	[AXIS_PATTERN] =
		{"pattern", "PATTERNS",
		 "Order of slots in the target: seq, rand, or zipf[:THETA], few of them most "
		 "often (seq; theta 0.99)",
		 "seq, rand or zipf:THETA with THETA from 0.1 to 5, each once", false},
	[AXIS_TARGET] = {"target", "TARGETS",
			 "Which memory of the server, by number or kind: 1 or dram,devdax (0)",
			 "numbers from 0 to 15 or the kinds dram, hugepages, file, fsdax, devdax, "
			 "each once",
			 false},
	[AXIS_SERVER_LOAD] = {"server-load", "FRACTIONS",
			      "Burn this part of the server's cores meanwhile: 0,0.5,90% (0)",
			      "fractions from 0 to 1, each once, as 0,0.5 or 90%", false},
	[AXIS_BIDIRECTIONAL] = {"bidirectional", "no,yes",
				"The server measures towards the client at the same time",
				"yes, no or no,yes", true},
	[AXIS_SRQ] = {"srq", "no,yes", "The server receives from one shared queue",
		      "yes, no or no,yes", true},
};

static const char *const switches[] = {"no", "yes", NULL};

/* A field with words and a parser is a struct variant: the last word has a number, as burst:8. */
struct field {
	size_t offset;
	size_t bytes;
	const char *const *words;
	units_parser *parse; /* parses what is between: */
	uint64_t low;
	uint64_t high;
	uint64_t initial; /* number of a variant that has none; 0: it must */
};

_Static_assert(sizeof(struct variant) == sizeof(uint64_t), "a variant is a value of an axis");

#define FIELD(name) offsetof(struct params, name), sizeof(((struct params *)0)->name)
#define WORDS(name, words)                                                                         \
	{                                                                                          \
		FIELD(name), words, NULL, 0, 0, 0                                                  \
	}
#define NUMBERS(name, parse, low, high)                                                            \
	{                                                                                          \
		FIELD(name), NULL, parse, low, high, 0                                             \
	}
#define VARIANTS(name, words, parse, low, high, initial)                                           \
	{                                                                                          \
		FIELD(name), words, parse, low, high, initial                                      \
	}

static const struct field fields[AXES] = {
	[AXIS_TEST] = WORDS(test, params_tests),
	[AXIS_OP] = WORDS(op, params_ops),
	[AXIS_PERSIST] = WORDS(persist, params_persists),
	[AXIS_SIZE] = NUMBERS(size_bytes, units_parse_size, 1, PARAMS_SIZE_MAX),
	[AXIS_DEPTH] = NUMBERS(depth, units_parse_size, 1, PARAMS_DEPTH_MAX),
	[AXIS_THREADS] = NUMBERS(threads, units_parse_number, 1, PARAMS_THREADS_MAX),
	[AXIS_CONNECTIONS] = NUMBERS(connections, units_parse_number, 1, PARAMS_CONNECTIONS_MAX),
	[AXIS_BATCH] = NUMBERS(batch, units_parse_number, 1, PARAMS_DEPTH_MAX),
	[AXIS_SIGNAL_EVERY] = NUMBERS(signal_every, units_parse_number, 1, PARAMS_DEPTH_MAX),
	[AXIS_RATE] = NUMBERS(rate_per_s, units_parse_count, 1, PARAMS_RATE_MAX),
	[AXIS_ARRIVALS] = VARIANTS(arrivals, params_arrivals, units_parse_number, PARAMS_BURST_MIN,
				   PARAMS_BURST_MAX, 0),
	[AXIS_READ_FRACTION] = NUMBERS(read_millionths, units_parse_fraction, 0, PARAMS_MILLION),
	[AXIS_COMPLETION] = WORDS(completion, params_completions),
	/* 0.99, as YCSB has it */
	[AXIS_PATTERN] = VARIANTS(pattern, params_patterns, sizes_parse_theta, PARAMS_ZIPF_MIN,
				  PARAMS_ZIPF_MAX, 990000),
	[AXIS_TARGET] = NUMBERS(target, units_parse_number, 0, PARAMS_TARGETS_MAX - 1),
	[AXIS_SERVER_LOAD] =
		NUMBERS(server_load_millionths, units_parse_fraction, 0, PARAMS_MILLION),
	[AXIS_BIDIRECTIONAL] = WORDS(bidirectional, switches),
	[AXIS_SRQ] = WORDS(srq, switches),
};

/* "write, read or send" */
static const char *join(const char *const *words, char text[AXIS_TEXT_MAX])
{
	size_t length = 0;

	for (size_t i = 0; words[i] != NULL && length < AXIS_TEXT_MAX; i++) {
		const char *between = i == 0 ? "" : words[i + 1] != NULL ? ", " : " or ";

		length += (size_t)snprintf(text + length, AXIS_TEXT_MAX - length, "%s%s", between,
					   words[i]);
	}
	return text;
}

const char *axis_help(enum axis_id axis, char text[AXIS_TEXT_MAX])
{
	const char *help = axes[axis].help, *const *words = fields[axis].words;
	char all[AXIS_TEXT_MAX];

	if (words == NULL || help[strlen(help) - 1] != ':')
		return help;
	snprintf(text, AXIS_TEXT_MAX, "%s %.180s (%s)", help, join(words, all), words[0]);
	return text;
}

static const char *expected_of(enum axis_id axis, char text[AXIS_TEXT_MAX])
{
	const char *const *words = fields[axis].words;
	char all[AXIS_TEXT_MAX];

	if (words == NULL || axes[axis].expected != NULL)
		return axes[axis].expected;
	snprintf(text, AXIS_TEXT_MAX, "%.180s, or several, as %s,%s", join(words, all), words[0],
		 words[1]);
	return text;
}

uint64_t axis_get(const struct params *params, enum axis_id axis)
{
	const char *field = (const char *)params + fields[axis].offset;
	uint64_t value = 0;
	uint32_t narrow;

	if (fields[axis].bytes == sizeof(value)) {
		memcpy(&value, field, sizeof(value));
		return value;
	}
	if (fields[axis].bytes == sizeof(bool))
		return *(const bool *)field;
	memcpy(&narrow, field, sizeof(narrow));
	return narrow;
}

int axis_compare(const struct params *a, const struct params *b, enum axis_id axis)
{
	uint64_t x = axis_get(a, axis), y = axis_get(b, axis);

	if (x != y)
		return x < y ? -1 : 1;
	return axis == AXIS_SIZE ? size_mix_compare(a->mix, b->mix) : 0;
}

void axis_put(struct params *params, enum axis_id axis, uint64_t value)
{
	char *field = (char *)params + fields[axis].offset;
	uint32_t narrow = (uint32_t)value;

	if (fields[axis].bytes == sizeof(value))
		memcpy(field, &value, sizeof(value));
	else if (fields[axis].bytes == sizeof(bool))
		*(bool *)field = value != 0;
	else
		memcpy(field, &narrow, sizeof(narrow));
}

static bool is_variant(const struct field *field)
{
	return field->words != NULL && field->parse != NULL;
}

static int parse_word(const struct field *field, const char *text, uint64_t *value)
{
	const char *const *words = field->words;
	const size_t len = strcspn(text, ":");
	struct variant v = {0, 0};
	uint64_t number = field->initial;
	int ret = 0;

	while (words[v.kind] != NULL &&
	       (strlen(words[v.kind]) != len || strncmp(words[v.kind], text, len) != 0))
		v.kind++;
	*value = v.kind;
	if (words[v.kind] == NULL)
		return -EINVAL;
	if (!is_variant(field) || words[v.kind + 1] != NULL) {
		ret = text[len] == '\0' ? 0 : -EINVAL;
	} else {
		if (text[len] == ':')
			ret = field->parse(text + len + 1, &number);
		if (ret == 0 && (number < field->low || number > field->high))
			ret = -ERANGE;
		v.number = (uint32_t)number;
	}
	if (is_variant(field))
		memcpy(value, &v, sizeof(v));
	return ret;
}

static int parse_words(const struct field *field, const char *text, struct units_list *list)
{
	struct units_list parsed = {0, calloc(UNITS_LIST_MAX, sizeof(uint64_t))};
	char *copy = strdup(text), *rest = copy;
	int ret = parsed.values == NULL || copy == NULL ? -ENOMEM : 0;

	while (ret == 0 && rest != NULL) {
		const char *item = strsep(&rest, ",");

		ret = parsed.count < UNITS_LIST_MAX
			      ? parse_word(field, item, &parsed.values[parsed.count++])
			      : -ERANGE;
	}
	free(copy);
	if (ret)
		units_list_free(&parsed);
	else
		*list = parsed;
	return ret;
}

static const char *print_variant(const struct field *field, uint64_t value,
				 char text[UNITS_TEXT_BYTES])
{
	struct variant v;
	double number;

	memcpy(&v, &value, sizeof(v));
	if (field->words[v.kind + 1] != NULL)
		return field->words[v.kind];
	number = field->parse == sizes_parse_theta ? (double)v.number / PARAMS_MILLION : v.number;
	snprintf(text, UNITS_TEXT_BYTES, "%s:%.7g", field->words[v.kind], number);
	return text;
}

static int compare(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

/* All in range, and none there twice: that would be the same point twice. */
static bool good_values(const struct units_list *list, const struct field *field)
{
	uint64_t *sorted = malloc(list->count * sizeof(*sorted));
	bool good = sorted != NULL;

	if (sorted == NULL)
		return false;
	memcpy(sorted, list->values, list->count * sizeof(*sorted));
	qsort(sorted, list->count, sizeof(*sorted), compare);
	for (size_t i = 1; i < list->count; i++)
		good = good && sorted[i - 1] != sorted[i];
	for (size_t i = 0; field->words == NULL && i < list->count; i++)
		good = good && sorted[i] >= field->low && sorted[i] <= field->high;
	free(sorted);
	return good;
}

static int parse_list(const char *text, const struct field *field, struct units_list *list)
{
	return field->words != NULL ? parse_words(field, text, list)
				    : units_parse_list(text, field->parse, list);
}

/* LOW:HIGH, a range that is searched and so has no step: a list of the two. */
static bool parse_bracket(const char *text, const struct field *field, struct units_list *list)
{
	const char *colon = strchr(text, ':');
	char ends[64];

	if (colon == NULL || strpbrk(colon + 1, ":,") != NULL || strlen(text) >= sizeof(ends))
		return false;
	memcpy(ends, text, strlen(text) + 1);
	ends[colon - text] = ',';
	if (units_parse_list(ends, field->parse, list) != 0)
		return false;
	if (list->count == 2 && list->values[0] < list->values[1])
		return true;
	units_list_free(list);
	return false;
}

/* Is it good by itself? */
static bool good_item(const struct field *field, const char *item)
{
	struct units_list list = {0, NULL};
	struct series sizes = {0};
	bool good;

	if (field == &fields[AXIS_SIZE]) {
		good = sizes_parse(&sizes, item) == 0;
		sizes_free(&sizes);
	} else {
		good = parse_list(item, field, &list) == 0 && good_values(&list, field);
		units_list_free(&list);
	}
	return good;
}

/* 4k for 4K and 10K for 10k: the item in the other case, where that is good; else NULL. */
static const char *other_case(const struct field *field, const char *item, char *other, size_t size)
{
	for (int upper = 0; upper < 2; upper++) {
		snprintf(other, size, "%s", item);
		for (char *c = other; *c != '\0'; c++)
			*c = (char)(upper ? toupper((unsigned char)*c)
					  : tolower((unsigned char)*c));
		if (strlen(item) < size && good_item(field, other))
			return other;
	}
	return NULL;
}

/* Names the first item of the list that is wrong; where each is good, two are the same. */
static int wrong_list(enum axis_id axis, const char *text)
{
	const struct field *field = &fields[axis];
	char option[32], expected[AXIS_TEXT_MAX], where[AXIS_TEXT_MAX] = "", *all = strdup(text);
	char hint[64] = "", other[32], *rest = all, *item;
	const char *near = NULL;

	while ((item = strsep(&rest, ",")) != NULL && good_item(field, item))
		;
	if (item != NULL && field->parse == NULL)
		near = cli_nearest(item, strlen(item), field->words);
	else if (item != NULL)
		near = other_case(field, item, other, sizeof(other));
	if (near != NULL)
		snprintf(hint, sizeof(hint), " (did you mean %s?)", near);
	if (item != NULL && strchr(text, ',') != NULL)
		snprintf(where, sizeof(where), "%.64s is wrong: ", item);
	snprintf(option, sizeof(option), "--%s", axes[axis].name);
	failure_usage("%s %s: %sexpected %s%s", option, text, where, expected_of(axis, expected),
		      hint);
	free(all);
	return -EINVAL;
}

static int set_sizes(struct series *series, const char *text)
{
	struct series parsed = {0};
	int ret = sizes_parse(&parsed, text);

	if (ret) {
		sizes_free(&parsed);
		return wrong_list(AXIS_SIZE, text);
	}
	sizes_free(series);
	series->values[AXIS_SIZE] = parsed.values[AXIS_SIZE];
	series->mixes = parsed.mixes;
	return 0;
}

int series_set(struct series *series, enum axis_id axis, const char *text)
{
	const struct field *field = &fields[axis];
	struct units_list list = {0, NULL};
	bool bracket = axis == AXIS_RATE && parse_bracket(text, field, &list);

	if (axis == AXIS_SIZE)
		return set_sizes(series, text);
	if ((bracket || parse_list(text, field, &list) == 0) && good_values(&list, field)) {
		units_list_free(&series->values[axis]);
		series->values[axis] = list;
		series->rate_bracket = axis == AXIS_RATE ? bracket : series->rate_bracket;
		return 0;
	}
	units_list_free(&list);
	return wrong_list(axis, text);
}

void series_clear(struct series *series)
{
	sizes_free(series);
	for (size_t i = 0; i < AXES; i++)
		units_list_free(&series->values[i]);
}

/* The last operation of each batch, where not every operation needs a completion. */
static uint64_t default_signal(const struct params *params)
{
	if (params->test != BENCH_BW || params->persist == BENCH_AUTO || params_answered(params))
		return 1;
	/* params_conflict() refuses a batch above the depth */
	return params->batch <= params->depth ? params->batch : 1;
}

uint64_t axis_default(const struct params *params, enum axis_id axis)
{
	switch (axis) {
	case AXIS_DEPTH:
		return params->test == BENCH_BW || params->test == BENCH_RATE ||
				       params->test == BENCH_MIX
			       ? 32
			       : 1;
	case AXIS_THREADS:
	case AXIS_CONNECTIONS:
	case AXIS_BATCH:
		return 1;
	case AXIS_SIGNAL_EVERY:
		return default_signal(params);
	case AXIS_READ_FRACTION:
		return params->test == BENCH_MIX ? 700000 : 0;
	default:
		return 0;
	}
}

const uint64_t *axis_default_sizes(const struct params *params, size_t *count)
{
	static const uint64_t ladder[] = {64, 256, 1024, 4096, 16384, 65536, 262144, 1048576};
	static const uint64_t word[] = {8};

	/* an atomic write has 8 bytes (IBTA), and a connection carries none */
	if ((params_facts(params) & OP_8_BYTES) != 0 || params->test == BENCH_CONNECT) {
		*count = 1;
		return word;
	}
	*count = sizeof(ladder) / sizeof(ladder[0]);
	return ladder;
}

const char *axis_print(const struct params *params, enum axis_id axis, char text[UNITS_TEXT_BYTES])
{
	uint64_t value = axis_get(params, axis);

	if (is_variant(&fields[axis]))
		return print_variant(&fields[axis], value, text);
	if (fields[axis].words != NULL)
		return fields[axis].words[value];
	if (axis == AXIS_SIZE && params->mix != NULL) {
		char mix[SIZE_MIX_TEXT_MAX];

		snprintf(text, UNITS_TEXT_BYTES, "%.*s", UNITS_TEXT_BYTES - 1,
			 size_mix_print(params->mix, mix));
		return text;
	}
	if (axis == AXIS_SIZE)
		return units_print_size(value, text);
	if (fields[axis].parse == units_parse_fraction)
		return units_print_fraction(value, text);
	snprintf(text, UNITS_TEXT_BYTES, "%llu", (unsigned long long)value);
	return text;
}

json_t *axis_json(const struct params *params, enum axis_id axis)
{
	uint64_t value = axis_get(params, axis);
	char text[UNITS_TEXT_BYTES], mix[SIZE_MIX_TEXT_MAX];

	if (axis == AXIS_SIZE && params->mix != NULL)
		return json_string(size_mix_print(params->mix, mix));
	if (is_variant(&fields[axis]))
		return json_string(print_variant(&fields[axis], value, text));
	if (fields[axis].words == switches)
		return json_boolean(value);
	if (fields[axis].words != NULL)
		return json_string(fields[axis].words[value]);
	if (fields[axis].parse == units_parse_fraction)
		return json_real((double)value / PARAMS_MILLION);
	return json_integer((json_int_t)value);
}
