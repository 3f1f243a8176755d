/* SPDX-License-Identifier: BSD-3-Clause */
/* words.c -- see words.h. */
#include "words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define EXIT_FOUND 99

static __attribute__((format(printf, 2, 3))) int wrong(char *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, SOFT_ERROR_MAX, format, args);
	va_end(args);
	return -EINVAL;
}

static int parse_exit(struct check_words *words, const char *value, char *error)
{
	int status = 0;

	for (const char *at = value; *at >= '0' && *at <= '9' && status <= 255; at++)
		status = status * 10 + (*at - '0');
	if (value[0] == '\0' || value[strspn(value, "0123456789")] != '\0' || status < 1 ||
	    status > 255)
		return wrong(error, "check: exit=%s: expected a number from 1 to 255", value);
	words->exit_status = status;
	return 0;
}

/* KEY=VALUE */
static int parse_value(struct check_words *words, const char *word, const char *value, char *error)
{
	if (strncmp(word, "exit=", 5) == 0)
		return parse_exit(words, value, error);
	if (value[0] == '\0')
		return wrong(error, "check: %s: expected the name of a file", word);
	if (strncmp(word, "suppressions=", 13) == 0)
		snprintf(words->suppressions, sizeof(words->suppressions), "%s", value);
	else if (strncmp(word, "json=", 5) == 0)
		snprintf(words->json, sizeof(words->json), "%s", value);
	else
		return wrong(error, "check: %s: expected suppressions=FILE, json=FILE or exit=N",
			     word);
	return 0;
}

static int parse_word(struct check_words *words, const char *word, char *error)
{
	const char *equals = strchr(word, '=');
	enum check_kind kind;

	if (equals != NULL)
		return parse_value(words, word, equals + 1, error);
	if (strcmp(word, "strict") == 0) {
		words->strict = true;
	} else if (strcmp(word, "notes") == 0) {
		words->notes = true;
	} else if (strcmp(word, "halt") == 0) {
		words->halt = true;
	} else if (strcmp(word, "watch") == 0) {
		words->watch = true;
	} else if (strcmp(word, "every") == 0) {
		words->every = true;
	} else if (strcmp(word, "durable-on-send") == 0) {
		words->durable_on_send = true;
	} else {
		kind = check_kind_find(word);
		if (kind == CHECK_KINDS)
			return wrong(error,
				     "check: %s: no such kind of finding (rpma-soft --explain "
				     "list), and none of strict, notes, halt, every, watch, "
				     "durable-on-send, exit=N, suppressions=FILE, json=FILE",
				     word);
		words->kinds |= UINT64_C(1) << kind;
		words->watch |= kind == CHECK_EARLY_READ;
	}
	return 0;
}

int check_words_parse(const char *text, struct check_words *words, char error[SOFT_ERROR_MAX])
{
	char copy[SOFT_CHECK_MAX], *rest = copy, *word;
	int ret = 0;

	*words = (struct check_words){.exit_status = EXIT_FOUND};
	error[0] = '\0';
	snprintf(copy, sizeof(copy), "%s", text);
	while (ret == 0 && (word = strsep(&rest, ",")) != NULL)
		if (word[0] != '\0')
			ret = parse_word(words, word, error);
	if (words->kinds == 0)
		words->kinds = UINT64_MAX;
	return ret;
}
