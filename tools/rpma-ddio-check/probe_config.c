/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe_config.c -- the words of an event, laid into the bits of its unit.
 *
 * A format names where the bits of a value go, low ones first:
 * "config:8-15,32-55".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe_events.h"

#define UNITS "sys/bus/event_source/devices"

/* "config1:0-26,32": into which word, and what follows the colon. */
static const char *word_of(const char *format, size_t *word)
{
	if (strncmp(format, "config", 6) != 0)
		return NULL;
	format += 6;
	*word = 0;
	if (*format == '1' || *format == '2')
		*word = (size_t)(*format++ - '0');
	return *format == ':' ? format + 1 : NULL;
}

/* "8-15" or "8"; what follows, or NULL. */
static const char *range_of(const char *text, unsigned long *first, unsigned long *last)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	*first = *last = strtoul(text, &end, 10);
	if (*end == '-') {
		text = end + 1;
		*last = strtoul(text, &end, 10);
		if (end == text)
			return NULL;
	}
	if (*first > *last || *last > 63 || (*end != ',' && *end != '\0'))
		return NULL;
	return end + (*end == ',');
}

static int lay(uint64_t config[3], const char *format, uint64_t value)
{
	unsigned long first, last;
	size_t word = 0;
	const char *rest = word_of(format, &word);

	while (rest != NULL && *rest != '\0') {
		rest = range_of(rest, &first, &last);
		if (rest == NULL)
			return -EINVAL;
		for (unsigned long bit = first; bit <= last; bit++, value >>= 1)
			config[word] |= (value & 1) << bit;
	}
	if (rest == NULL)
		return -EINVAL;
	return value == 0 ? 0 : -ERANGE;
}

/* One "name=value"; a name alone is 1. */
static int lay_term(const struct sysroot *root, const char *unit, char *term, uint64_t config[3])
{
	char format[128], *value = strchr(term, '='), *end = NULL;
	uint64_t number = 1;

	if (value != NULL) {
		*value++ = '\0';
		errno = 0;
		number = strtoull(value, &end, 0);
		if (end == value || *end != '\0' || errno != 0)
			return -EINVAL;
	}
	if (term[0] == '\0' || strchr(term, '/') != NULL)
		return -EINVAL;
	if (!sysroot_line(root, format, sizeof(format), UNITS "/%s/format/%s", unit, term))
		return -ENOENT;
	return lay(config, format, number);
}

int probe_config_parse(const struct sysroot *root, const char *unit, const char *terms,
		       struct probe_config *config)
{
	char copy[256], *rest = copy, *term;
	int64_t type;
	int ret = 0;

	*config = (struct probe_config){0};
	if (strlen(terms) >= sizeof(copy))
		return -EINVAL;
	if (!sysroot_number(root, &type, UNITS "/%s/type", unit) || type < 0 || type > UINT32_MAX)
		return -ENOENT;
	config->type = (uint32_t)type;
	snprintf(copy, sizeof(copy), "%s", terms);
	while (ret == 0 && (term = strsep(&rest, ",")) != NULL)
		ret = lay_term(root, unit, term, config->config);
	return ret;
}
