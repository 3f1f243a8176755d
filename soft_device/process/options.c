/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.c -- parses RPMA_SOFT: a table of settings; a word that is in none of its rows is a
 * fault's.
 *
 * Each word is copied and cut at its first colon. A new setting is a row and its parser.
 */
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "value.h"

#define BLANKS " \t\n"

int soft_options_refuse(char error[SOFT_ERROR_MAX], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, SOFT_ERROR_MAX, format, args);
	va_end(args);
	return -EINVAL;
}

static bool take_verbose(struct soft_options *options, const char *value)
{
	options->verbose = true;
	return value == NULL;
}

static bool take_forced_remote(struct soft_options *options, const char *value)
{
	options->forced_remote = true;
	return value == NULL;
}

static bool take_transport(struct soft_options *options, const char *value)
{
	static const struct value_word transports[] = {
		{"auto", SOFT_TRANSPORT_AUTO},
		{"local", SOFT_TRANSPORT_LOCAL},
		{"tcp", SOFT_TRANSPORT_TCP},
		{NULL, 0},
	};
	int transport;

	if (value == NULL || !value_word(transports, value, &transport))
		return false;
	options->transport = (enum soft_transport)transport;
	return true;
}

static bool take_seed(struct soft_options *options, const char *value)
{
	return value != NULL && value_number(value, 0, UINT64_MAX, &options->seed);
}

/* The process id is a must: the processes of a program would write over each other's file. */
static bool take_trace(struct soft_options *options, const char *value)
{
	const char *percent = value == NULL ? NULL : strchr(value, '%');

	if (percent == NULL || percent[1] != 'p' || strchr(percent + 1, '%') != NULL)
		return false;
	snprintf(options->trace, sizeof(options->trace), "%s", value);
	return true;
}

/* The seed, and then words; without any all of them are meant. */
static bool take_adversary(struct soft_options *options, const char *value)
{
	static const struct value_word kinds[] = {
		{"late", SOFT_ADVERSARY_LATE},
		{"parts", SOFT_ADVERSARY_PARTS},
		{"passes", SOFT_ADVERSARY_PASSES},
		{"atomics", SOFT_ADVERSARY_ATOMICS},
		{NULL, 0},
	};
	char copy[SOFT_WORD_MAX] = "", *rest = copy, *word;
	int kind;

	if (value != NULL)
		snprintf(copy, sizeof(copy), "%s", value);
	options->adversary = true;
	options->adversary_kinds = 0;
	if (!value_number(strsep(&rest, ","), 0, UINT64_MAX, &options->adversary_seed))
		return false;
	while ((word = strsep(&rest, ",")) != NULL) {
		if (!value_word(kinds, word, &kind))
			return false;
		options->adversary_kinds |= (unsigned)kind;
	}
	if (options->adversary_kinds == 0)
		options->adversary_kinds = ~0u;
	return true;
}

/* check/words.c reads the words. */
static bool take_check(struct soft_options *options, const char *value)
{
	const size_t used = strlen(options->check);
	const size_t more = value == NULL ? 0 : strlen(value) + 1;

	options->checks = true;
	if (used + more >= sizeof(options->check))
		return false;
	if (value != NULL)
		snprintf(options->check + used, sizeof(options->check) - used, "%s%s",
			 used > 0 ? "," : "", value);
	return true;
}

static bool take_secret(struct soft_options *options, const char *value)
{
	if (value == NULL || value[0] == '\0')
		return false;
	snprintf(options->secret, sizeof(options->secret), "%s", value);
	return true;
}

/* A row's `take` gets NULL for a word without a colon. */
static const struct setting {
	const char *name;
	bool (*take)(struct soft_options *options, const char *value);
	const char *form;
} settings[] = {
	{"verbose", take_verbose, "verbose takes no value"},
	{"forced-remote", take_forced_remote, "forced-remote takes no value"},
	{"transport", take_transport, "expected transport:auto, transport:local or transport:tcp"},
	{"seed", take_seed, "expected seed:N, N from 0 to 2^64-1"},
	{"trace", take_trace,
	 "expected trace:FILE with one %p, which becomes the process id, as "
	 "trace:/tmp/operations.%p"},
	{"adversary", take_adversary,
	 "expected adversary:N, N from 0 to 2^64-1, and behind commas any of late, parts, passes "
	 "and atomics"},
	{"check", take_check, "too many words for check"},
	{"secret", take_secret, "expected secret:FILE, a file of mode 0600"},
};

static int add_fault(struct soft_options *options, const char *word, char *error)
{
	if (options->faults_count == SOFT_FAULTS_MAX)
		return soft_options_refuse(error, "%s: more than %d faults", word, SOFT_FAULTS_MAX);
	snprintf(options->faults[options->faults_count++], SOFT_WORD_MAX, "%s", word);
	return 0;
}

static int parse_word(struct soft_options *options, const char *word, char *error)
{
	char copy[SOFT_WORD_MAX], *value = copy;
	const char *name;

	snprintf(copy, sizeof(copy), "%s", word);
	name = strsep(&value, ":");
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const struct setting *setting = &settings[i];

		if (strcmp(setting->name, name) != 0)
			continue;
		if (!setting->take(options, value))
			return soft_options_refuse(error, "%s: %s", word, setting->form);
		return 0;
	}
	return add_fault(options, word, error);
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
			return soft_options_refuse(error, "%.32s...: a word of more than %zu bytes",
						   text, sizeof(word) - 1);
		memcpy(word, text, len);
		word[len] = '\0';
		ret = parse_word(options, word, error);
		text += len;
	}
	return ret;
}
