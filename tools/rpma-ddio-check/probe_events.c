/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_events.c -- opens a counter for each unit and socket, and adds them up. */
#include "probe.h"

#include <errno.h>
#include <hwloc.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The words of an event, laid into the bits of its unit.
 *
 * A format names where the bits of a value go, low ones first:
 * "config:8-15,32-55".
 */

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
	if (!sysroot_text(root, format, UNITS "/%s/format/%s", unit, term))
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

#define CONTROLLER   "uncore_imc"
#define WRITES	     "cas_count_write"
#define CACHE	     "uncore_cha"
#define AMD	     "amd_umc" /* from Zen 4 and Linux 6.8 on */
#define LINE_BYTES   64
#define COUNTERS_MAX 1024

/*
 * UNC_CHA_TOR_INSERTS.IO_MISS_ITOM and .IO_ITOM of Ice Lake servers and later;
 * elsewhere the format has no room for them, and they are not counted.
 */
#define CACHE_MISS_TERMS "event=0x35,umask=0xcc43fe04"
#define CACHE_ALL_TERMS	 "event=0x35,umask=0xcc43ff04"

/*
 * umc_cas_cmd.wr, and 64 bytes for each: the kernel's pmu-events/arch/x86/amdzen4/
 * memory-controller.json, and umc_mem_write_bandwidth of recommended.json beside it.
 * Older processors count reads and writes of a memory channel together.
 */
#define AMD_TERMS "event=0x0a,rdwrmask=0x2"

static int open_one(const struct probe_config *config, int cpu)
{
	struct perf_event_attr attr = {
		.type = config->type,
		.size = sizeof(attr),
		.config = config->config[0],
		.config1 = config->config[1],
		.config2 = config->config[2],
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int add(struct probe_events *events, enum probe_kind kind, int fd, double weight)
{
	struct probe_counter *more;

	if (events->count == COUNTERS_MAX)
		return -E2BIG;
	more = realloc(events->counters, (events->count + 1) * sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	events->counters = more;
	events->counters[events->count++] = (struct probe_counter){kind, fd, weight};
	events->of_kind[kind]++;
	return 0;
}

/* On each CPU that the unit counts for: one of every socket. */
static int open_unit(struct probe_events *events, const struct sysroot *root, const char *unit,
		     enum probe_kind kind, const struct probe_config *config, double weight)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	char list[256];
	int cpu, fd, ret = -ENOENT;

	if (cpus == NULL)
		return -ENOMEM;
	if (sysroot_text(root, list, UNITS "/%s/cpumask", unit) &&
	    hwloc_bitmap_list_sscanf(cpus, list) == 0 && hwloc_bitmap_weight(cpus) > 0) {
		ret = 0;
		hwloc_bitmap_foreach_begin(cpu, cpus)
		{
			fd = ret == 0 ? open_one(config, cpu) : ret;
			if (ret == 0 && fd >= 0)
				ret = add(events, kind, fd, weight);
			if (fd >= 0 && ret != 0)
				close(fd);
			if (fd < 0)
				ret = fd;
		}
		hwloc_bitmap_foreach_end();
	}
	hwloc_bitmap_free(cpus);
	return ret;
}

/* Bytes of a count: 6.103515625e-5 MiB; without a scale it is a line. */
static double weight_of(const struct sysroot *root, const char *unit)
{
	char scale[64], what[32], *end = NULL;
	double value;

	if (!sysroot_text(root, scale, UNITS "/%s/events/" WRITES ".scale", unit) ||
	    !sysroot_text(root, what, UNITS "/%s/events/" WRITES ".unit", unit) ||
	    strcmp(what, "MiB") != 0)
		return LINE_BYTES;
	value = strtod(scale, &end);
	return *end == '\0' && value > 0 ? value * (1 << 20) : LINE_BYTES;
}

static int open_controller(struct probe_events *events, const struct sysroot *root,
			   const char *unit)
{
	struct probe_config config;
	char terms[256];
	int ret;

	/* units that count something else are units of this name too */
	if (!sysroot_text(root, terms, UNITS "/%s/events/" WRITES, unit))
		return 0;
	ret = probe_config_parse(root, unit, terms, &config);
	return ret ? ret
		   : open_unit(events, root, unit, PROBE_WRITE, &config, weight_of(root, unit));
}

static int open_amd(struct probe_events *events, const struct sysroot *root, const char *unit)
{
	struct probe_config config;
	int ret = probe_config_parse(root, unit, AMD_TERMS, &config);

	/* a unit of another format is not this one */
	if (ret != 0)
		return ret == -ENOENT || ret == -ERANGE ? 0 : ret;
	return open_unit(events, root, unit, PROBE_WRITE, &config, LINE_BYTES);
}

/* They add to what is known, and are not needed. */
static int open_cache(struct probe_events *events, const struct sysroot *root, const char *unit)
{
	static const struct {
		enum probe_kind kind;
		const char *terms;
	} rows[] = {{PROBE_CACHE_MISS, CACHE_MISS_TERMS}, {PROBE_CACHE_ALL, CACHE_ALL_TERMS}};
	struct probe_config config;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (probe_config_parse(root, unit, rows[i].terms, &config) == 0)
			(void)open_unit(events, root, unit, rows[i].kind, &config, 1);
	}
	return 0;
}

/* All units whose name begins so. */
static int open_units(struct probe_events *events, const struct sysroot *root, const char *prefix,
		      int (*open_it)(struct probe_events *, const struct sysroot *, const char *))
{
	struct sysroot_walk units = sysroot_walk(root, SIZE_MAX, UNITS);
	const char *unit;
	int ret = 0;

	while (ret == 0 && (unit = sysroot_next(&units)) != NULL) {
		if (strncmp(unit, prefix, strlen(prefix)) == 0)
			ret = open_it(events, root, unit);
	}
	sysroot_walk_end(&units);
	return ret;
}

static void say_why(int ret, char *why, size_t size)
{
	if (ret == -EACCES || ret == -EPERM)
		snprintf(why, size,
			 "counting memory traffic was refused (%s): run as root, outside of a "
			 "container",
			 strerror(-ret));
	else if (ret == -ENOENT)
		snprintf(why, size,
			 "no memory controller can be counted: no " CONTROLLER "*/events/" WRITES
			 " and no " AMD "* in /" UNITS);
	else
		snprintf(why, size, "cannot count the writes of memory controllers: %s",
			 strerror(-ret));
}

int probe_events_open(struct probe_events *events, const struct sysroot *root, char *why,
		      size_t size)
{
	int ret;

	*events = (struct probe_events){0};
	ret = open_units(events, root, CONTROLLER, open_controller);
	events->source = CONTROLLER " " WRITES;
	if (ret == 0 && events->of_kind[PROBE_WRITE] == 0) {
		ret = open_units(events, root, AMD, open_amd);
		events->source = AMD " umc_cas_cmd.wr";
	}
	if (ret == 0 && events->of_kind[PROBE_WRITE] == 0)
		ret = -ENOENT;
	if (ret != 0) {
		say_why(ret, why, size);
		probe_events_close(events);
		return ret;
	}
	return open_units(events, root, CACHE, open_cache);
}

/* Reads a count, scaled up if the event was not counted all the time. */
static int read_counter(const struct probe_counter *counter, double *count)
{
	struct {
		uint64_t value, enabled, running;
	} now;

	if (read(counter->fd, &now, sizeof(now)) != sizeof(now))
		return -EIO;
	*count = 0;
	if (now.running > 0)
		*count = (double)now.value * ((double)now.enabled / (double)now.running);
	else if (now.enabled > 0)
		return -EBUSY;
	return 0;
}

int probe_events_read(const struct probe_events *events, struct probe_sample *sample)
{
	double count;

	*sample = (struct probe_sample){0};
	for (size_t i = 0; i < events->count; i++) {
		const struct probe_counter *counter = &events->counters[i];
		int ret = read_counter(counter, &count);

		if (ret != 0 && counter->kind == PROBE_WRITE)
			return ret;
		if (ret == 0)
			sample->sums[counter->kind] += count * counter->weight;
	}
	return 0;
}

void probe_events_close(struct probe_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		close(events->counters[i].fd);
	free(events->counters);
	*events = (struct probe_events){0};
}
