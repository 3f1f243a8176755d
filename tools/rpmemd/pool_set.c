/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_set.c -- parses pool set files, a line at a time, and lays their parts out. */
#include "pool_set.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <librpmem.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pool_header.h"
#include "reason.h"
#include "text_file.h"

size_t pool_layout_headers(const struct pool_set *set)
{
	if (set->no_headers)
		return 0;
	return set->single_header ? 1 : set->count;
}

static int check_part(const struct pool_set *set, size_t i, const struct pool_layout_part parts[])
{
	const struct pool_layout_part *part = &parts[i];
	const char *path = set->parts[i].path;

	if (part->is_dax != parts[0].is_dax)
		return reason_set(EINVAL, "%s and %s: a pool is all of files or all of device DAX",
				  set->parts[0].path, path);
	if (part->file_bytes < RPMEM_MIN_PART)
		return reason_set(EINVAL, "%s has %" PRIu64 " bytes: expected %zu or more", path,
				  part->file_bytes, RPMEM_MIN_PART);
	if (part->file_offset % part->alignment != 0)
		return reason_set(
			EINVAL,
			"%s is mapped in units of %zu bytes: a pool of several such parts "
			"needs OPTION SINGLEHDR or NOHDRS",
			path, part->alignment);
	if (part->offset % part->alignment != 0)
		return reason_set(EINVAL, "%s: its alignment of %zu is above that of %s", path,
				  part->alignment, set->parts[0].path);
	return 0;
}

int pool_layout(const struct pool_set *set, struct pool_layout_part parts[], size_t *bytes)
{
	const bool all_have_headers = pool_layout_headers(set) == set->count;
	uint64_t total = 0;

	for (size_t i = 0; i < set->count; i++) {
		struct pool_layout_part *part = &parts[i];
		uint64_t length;
		int ret;

		part->file_offset = i > 0 && all_have_headers ? POOL_HEADER_BYTES : 0;
		part->offset = (size_t)total;
		ret = check_part(set, i, parts);
		if (ret)
			return ret;
		length = part->file_bytes - part->file_offset;
		length -= length % part->alignment;
		if (length == 0 || length > SIZE_MAX / 2 - total)
			return reason_set(EINVAL, "%s: the pool would not fit into memory",
					  set->parts[i].path);
		part->length = (size_t)length;
		total += length;
	}
	*bytes = (size_t)total;
	return 0;
}

#define SIGNATURE "PMEMPOOLSET"
#define WORDS_MAX 4 /* one more than a line may have */

struct parser {
	struct pool_set set;
	bool begun; /* the signature was there */
};

static bool has_control_characters(const char *line)
{
	for (; *line != '\0'; line++) {
		if (iscntrl((unsigned char)*line) && *line != '\t')
			return true;
	}
	return false;
}

/* 0: there is no such unit. */
static uint64_t unit_bytes(const char *unit)
{
	static const char letters[] = "KMGTP";
	uint64_t binary = 1, decimal = 1;

	if (unit[0] == '\0' || strcmp(unit, "B") == 0)
		return 1;
	for (const char *letter = letters; *letter != '\0'; letter++) {
		const char iec[] = {*letter, 'i', 'B', '\0'};
		const char si[] = {(char)(*letter == 'K' ? 'k' : *letter), 'B', '\0'};

		binary *= 1024;
		decimal *= 1000;
		if (strcmp(unit, iec) == 0 || (unit[0] == *letter && unit[1] == '\0'))
			return binary;
		if (strcmp(unit, si) == 0)
			return decimal;
	}
	return 0;
}

/* False: it is malformed, 0, or larger than a file may be. */
static bool parse_size(const char *word, uint64_t *bytes)
{
	char *unit;
	uint64_t value;

	errno = 0;
	value = strtoull(word, &unit, 10);
	if (!isdigit((unsigned char)word[0]) || errno != 0 ||
	    __builtin_mul_overflow(value, unit_bytes(unit), bytes))
		return false;
	return *bytes > 0 && *bytes <= INT64_MAX;
}

/* Room for one more part; the array doubles. */
static int grow(struct pool_set *set)
{
	struct pool_set_part *parts;

	if ((set->count & (set->count - 1)) != 0)
		return 0;
	parts = reallocarray(set->parts, set->count > 0 ? 2 * set->count : 1, sizeof(*parts));
	if (parts == NULL)
		return -ENOMEM;
	set->parts = parts;
	return 0;
}

static int add_part(struct pool_set *set, const char *where, const char *path, uint64_t bytes)
{
	char *copy;

	if (set->count == POOL_SET_PARTS_MAX)
		return reason_set(EINVAL, "%s: expected %d parts or less", where,
				  POOL_SET_PARTS_MAX);
	copy = grow(set) == 0 ? strdup(path) : NULL;
	if (copy == NULL)
		return reason_set(ENOMEM, "%s: out of memory", where);
	set->parts[set->count++] = (struct pool_set_part){copy, bytes};
	return 0;
}

static int parse_part(struct pool_set *set, const char *where, char *const words[], size_t count)
{
	uint64_t bytes = POOL_SET_AUTO;

	if (strcmp(words[0], "AUTO") != 0 && !parse_size(words[0], &bytes))
		return reason_set(
			EINVAL, "%s: expected a size such as 16M or 1GiB, or a keyword, not %.200s",
			where, words[0]);
	if (count != 2)
		return reason_set(EINVAL, "%s: expected a size and a path without blanks", where);
	if (words[1][0] != '/' || strlen(words[1]) >= PATH_MAX)
		return reason_set(EINVAL, "%s: expected an absolute path, not %.200s", where,
				  words[1]);
	return add_part(set, where, words[1], bytes);
}

static int parse_options(struct pool_set *set, const char *where, char *const words[], size_t count)
{
	if (count < 2 || count == WORDS_MAX)
		return reason_set(EINVAL, "%s: expected one or two words after OPTION", where);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(words[i], "SINGLEHDR") == 0)
			set->single_header = true;
		else if (strcmp(words[i], "NOHDRS") == 0)
			set->no_headers = true;
		else
			return reason_set(EINVAL,
					  "%s: expected OPTION SINGLEHDR or NOHDRS, not %.200s",
					  where, words[i]);
	}
	if (set->single_header && set->no_headers)
		return reason_set(EINVAL, "%s: SINGLEHDR and NOHDRS are mutually exclusive", where);
	return 0;
}

static int parse_line(void *arg, const char *where, char *line)
{
	struct parser *parser = arg;
	char *words[WORDS_MAX], *rest = line;
	size_t count = 0;

	if (!parser->begun) {
		parser->begun = true;
		return strcmp(line, SIGNATURE) == 0
			       ? 0
			       : reason_set(EINVAL, "%s: expected the line " SIGNATURE, where);
	}
	line[strcspn(line, "#")] = '\0';
	if (has_control_characters(line))
		return reason_set(EINVAL, "%s: a control character is in this line", where);
	while (count < WORDS_MAX && (words[count] = strtok_r(rest, " \t", &rest)) != NULL)
		count++;
	if (count == 0)
		return 0;
	if (strcmp(words[0], "OPTION") == 0)
		return parse_options(&parser->set, where, words, count);
	if (strcmp(words[0], "REPLICA") == 0)
		return reason_set(EINVAL, "%s: a pool set of the target may not have a REPLICA",
				  where);
	return parse_part(&parser->set, where, words, count);
}

int pool_set_parse(struct pool_set *set, const char *name, const char *text, size_t len)
{
	struct parser parser = {.begun = false};
	int ret = text_file_lines(name, text, len, parse_line, &parser);

	if (ret == 0 && parser.set.count == 0)
		ret = reason_set(EINVAL, "%s: the pool set has no parts", name);
	if (ret) {
		pool_set_free(&parser.set);
		return ret;
	}
	*set = parser.set;
	return 0;
}

void pool_set_free(struct pool_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->parts[i].path);
	free(set->parts);
	memset(set, 0, sizeof(*set));
}
