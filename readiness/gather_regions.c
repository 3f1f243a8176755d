/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_regions.c -- regions, their DIMMs and namespaces, as libnvdimm shows
 * them, and CXL memory devices with persistent capacity (ABI/testing/sysfs-bus-cxl). For
 * gather_target.c.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather_pmem.h"

#define CXL	    "sys/bus/cxl/devices"
#define DEVICES_MAX 64

/* CXL 3.1, 8.1.1: DVSECs of CXL have this vendor id; linux/drivers/cxl/pci.h has the same */
#define CXL_VENDOR     0x1e98
#define CXL_PORT_GPF   4
#define CXL_DEVICE_GPF 5

/* True if a function takes part in a global persistent flush. */
static enum known has_gpf(const struct facts_function *function, uint16_t id)
{
	if (pci_config_dvsec(&function->config, CXL_VENDOR, id) != 0)
		return KNOWN_YES;
	return pci_config_extended_seen(&function->config) ? KNOWN_NO : KNOWN_NOT;
}

static void count_gpf(const char *address, enum known has, struct facts_cxl *cxl)
{
	size_t *const counts[] = {[KNOWN_NO] = &cxl->gpf_no,
				  [KNOWN_YES] = &cxl->gpf_yes,
				  [KNOWN_NOT] = &cxl->gpf_unknown};

	++*counts[has];
	if (has != KNOWN_YES && cxl->gpf_function[0] == '\0')
		snprintf(cxl->gpf_function, sizeof(cxl->gpf_function), "%.15s", address);
}

/* The device's own, and those of all ports above it. */
static void add_gpf(const struct sysroot *root, const char *name, struct facts_cxl *cxl)
{
	struct facts_chain *chain = calloc(1, sizeof(*chain));
	char link[GATHER_NAME_MAX + 32];

	snprintf(link, sizeof(link), CXL "/%.*s", GATHER_NAME_MAX - 1, name);
	if (chain == NULL || !gather_chain(root, link, chain) || chain->cut || chain->count < 2) {
		count_gpf(name, KNOWN_NOT, cxl);
		free(chain);
		return;
	}
	for (size_t i = 0; i < chain->count; i++)
		count_gpf(chain->functions[i].address,
			  has_gpf(&chain->functions[i],
				  i + 1 == chain->count ? CXL_DEVICE_GPF : CXL_PORT_GPF),
			  cxl);
	free(chain);
}

static void add_device(const struct sysroot *root, const char *name, struct facts_cxl *cxl)
{
	char state[32] = "";
	int64_t size;

	if (!sysroot_number(root, &size, CXL "/%s/pmem/size", name) || size < 0) {
		cxl->pmem_bytes = -1;
		return;
	}
	if (size == 0)
		return;
	if (cxl->devices++ == 0)
		snprintf(cxl->memory, sizeof(cxl->memory), "%.31s", name);
	if (cxl->pmem_bytes >= 0 && size <= INT64_MAX - cxl->pmem_bytes)
		cxl->pmem_bytes += size;
	sysroot_text(root, state, CXL "/%s/security/state", name);
	cxl->locked += strcmp(state, "locked") == 0;
	add_gpf(root, name, cxl);
}

static void add_region(const struct sysroot *root, const char *name, struct facts_cxl *cxl)
{
	char mode[16] = "";
	int64_t commit = 0;

	sysroot_text(root, mode, CXL "/%s/mode", name);
	if (strcmp(mode, "pmem") != 0)
		return;
	cxl->regions++;
	sysroot_number(root, &commit, CXL "/%s/commit", name);
	cxl->committed += commit == 1;
}

/* Decoders of the root, which are windows of the platform, alone have "cap_pmem". */
static void find_decoder(const struct sysroot *root, struct facts_cxl *cxl)
{
	char names[DEVICES_MAX][GATHER_NAME_MAX];
	size_t count = gather_names(root, CXL, "decoder", names, DEVICES_MAX);
	int64_t takes;

	for (size_t i = 0; i < count && i < DEVICES_MAX && cxl->decoder[0] == '\0'; i++) {
		if (sysroot_number(root, &takes, CXL "/%s/cap_pmem", names[i]) && takes == 1)
			snprintf(cxl->decoder, sizeof(cxl->decoder), "%.31s", names[i]);
	}
}

void gather_cxl(const struct sysroot *root, struct facts_cxl *cxl)
{
	char names[DEVICES_MAX][GATHER_NAME_MAX];
	size_t count = gather_names(root, CXL, "mem", names, DEVICES_MAX);

	memset(cxl, 0, sizeof(*cxl));
	for (size_t i = 0; i < count && i < DEVICES_MAX; i++)
		add_device(root, names[i], cxl);
	if (count > DEVICES_MAX)
		cxl->pmem_bytes = -1;
	count = gather_names(root, CXL, "region", names, DEVICES_MAX);
	for (size_t i = 0; i < count && i < DEVICES_MAX; i++)
		add_region(root, names[i], cxl);
	find_decoder(root, cxl);
	cxl->bridge = gather_names(root, CXL, "nvdimm-bridge", names, DEVICES_MAX) > 0;
}

#define SECTOR_BYTES 512

static bool is_numbered(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(name, prefix, len) == 0 && name[len] >= '0' && name[len] <= '9' &&
	       name[len + strspn(name + len, "0123456789.")] == '\0' &&
	       strlen(name) < GATHER_NAME_MAX;
}

bool gather_number(const char **at, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	*value = strtoull(*at, &end, 10);
	*at = end;
	return errno == 0;
}

/* Keeps the first max of them in order. */
static void insert(char (*names)[GATHER_NAME_MAX], size_t count, size_t max, const char *name)
{
	size_t at = count < max ? count : max;

	while (at > 0 && strverscmp(name, names[at - 1]) < 0)
		at--;
	if (at == max)
		return;
	if (count >= max)
		count = max - 1;
	memmove(names[at + 1], names[at], (count - at) * GATHER_NAME_MAX);
	snprintf(names[at], GATHER_NAME_MAX, "%.63s", name);
}

size_t gather_names(const struct sysroot *root, const char *directory, const char *prefix,
		    char (*names)[GATHER_NAME_MAX], size_t max)
{
	struct sysroot_walk entries = sysroot_walk(root, SIZE_MAX, "%s", directory);
	const char *name;
	size_t count = 0;

	while ((name = sysroot_next(&entries)) != NULL) {
		if (is_numbered(name, prefix))
			insert(names, count++, max, name);
	}
	return count;
}

static int64_t number(const struct sysroot *root, const char *device, const char *name)
{
	int64_t value;

	if (!sysroot_number(root, &value, ND_DEVICES "/%s/%s", device, name) || value < 0)
		return -1;
	return value;
}

/* "8 1": sectors. What cannot be read is no reason to think that all is well. */
static bool touches(const char *line, int64_t from, int64_t to)
{
	const uint64_t max = INT64_MAX / SECTOR_BYTES / 2;
	uint64_t sector, count;

	if (!gather_number(&line, &sector) || *line++ != ' ' || !gather_number(&line, &count) ||
	    *line != '\0' || count == 0 || sector > max || count > max)
		return true;
	return (int64_t)(sector * SECTOR_BYTES) < to &&
	       (int64_t)((sector + count) * SECTOR_BYTES) > from;
}

int64_t gather_bad_blocks(const struct sysroot *root, const char *path, int64_t from, int64_t to)
{
	char text[1 << 14], *rest, *line;
	const long len = sysroot_read(root, text, sizeof(text), "%s", path);
	int64_t bad = 0;

	if (len < 0 || len != (long)strlen(text)) /* bytes of zero are no list */
		return -1;
	for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
		bad += touches(line, from, to);
	}
	/* the list goes on */
	return len == (long)sizeof(text) - 1 && bad == 0 ? -1 : bad;
}

/* ".../ndbus0/region0"; a tree may have the buses beside it. */
static void read_provider(const struct sysroot *root, struct facts_region *region)
{
	char buses[2][GATHER_NAME_MAX];

	if (sysroot_text(root, region->provider, ND_DEVICES "/%s/../provider", region->name))
		return;
	if (gather_names(root, ND_DEVICES, "ndbus", buses, 2) == 1)
		sysroot_text(root, region->provider, ND_DEVICES "/%s/provider", buses[0]);
}

/* The file is there and empty on a DIMM that has nothing to tell; one too long stays unknown. */
static void read_flags(const struct sysroot *root, const char *dimm, char *flags, size_t size)
{
	static const char *const files[] = {"nfit/flags", "papr/flags"};
	char text[128];
	long len;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		len = sysroot_read(root, text, sizeof(text), ND_DEVICES "/%s/%s", dimm, files[i]);
		if (len < 0)
			continue;
		if (text[strspn(text, " \n")] == '\0' && len == (long)strlen(text))
			snprintf(flags, size, "none");
		else if (len < (long)sizeof(text) - 1)
			sysroot_line(root, flags, size, ND_DEVICES "/%s/%s", dimm, files[i]);
		return;
	}
}

static void add_dimm(const struct sysroot *root, const char *name, struct facts_region *region,
		     bool *cut)
{
	struct facts_dimm *dimm = &region->dimms[region->dimms_count];

	if (region->dimms_count == FACTS_DIMMS_MAX) {
		*cut = true;
		return;
	}
	region->dimms_count++;
	snprintf(dimm->name, sizeof(dimm->name), "%.31s", name);
	read_flags(root, name, dimm->flags, sizeof(dimm->flags));
	dimm->dirty_shutdown = number(root, name, "nfit/dirty_shutdown");
	if (dimm->dirty_shutdown < 0)
		dimm->dirty_shutdown = number(root, name, "cxl/dirty_shutdown");
}

/* "nmem0,0x0,0x10000000,0" */
static void read_dimms(const struct sysroot *root, struct facts_region *region, bool *cut)
{
	int64_t mappings = number(root, region->name, "mappings");
	char line[GATHER_NAME_MAX];

	for (int64_t i = 0; i < mappings && i <= FACTS_DIMMS_MAX; i++) {
		sysroot_text(root, line, ND_DEVICES "/%s/mapping%" PRId64, region->name, i);
		line[strcspn(line, ",")] = '\0';
		/* one that is not told is there all the same */
		add_dimm(root, is_numbered(line, "nmem") ? line : "nmem", region, cut);
	}
	if (mappings < 0) {
		/* which DIMMs it has is not known: it may be any of them */
		char names[FACTS_DIMMS_MAX][GATHER_NAME_MAX];
		size_t count = gather_names(root, ND_DEVICES, "nmem", names, FACTS_DIMMS_MAX);

		for (size_t i = 0; i < count && i < FACTS_DIMMS_MAX; i++)
			add_dimm(root, names[i], region, cut);
		if (count == 0)
			add_dimm(root, "nmem", region, cut);
	}
}

static int node_of(const struct sysroot *root, const char *device)
{
	int64_t node = number(root, device, "numa_node");

	return node > INT32_MAX ? -1 : (int)node;
}

static void read_region(const struct sysroot *root, const char *name, struct facts_region *region,
			bool *cut)
{
	char path[128];

	memset(region, 0, sizeof(*region));
	snprintf(region->name, sizeof(region->name), "%.31s", name);
	read_provider(root, region);
	sysroot_text(root, region->persistence_domain, ND_DEVICES "/%s/persistence_domain", name);
	sysroot_text(root, region->devtype, ND_DEVICES "/%s/devtype", name);
	region->size_bytes = number(root, name, "size");
	region->read_only = number(root, name, "read_only");
	region->numa_node = node_of(root, name);
	snprintf(path, sizeof(path), ND_DEVICES "/%.63s/badblocks", name);
	region->badblocks = gather_bad_blocks(root, path, 0, INT64_MAX);
	read_dimms(root, region, cut);
}

/* Memory that forgets is on the same bus. */
static bool is_volatile(const struct sysroot *root, const char *region)
{
	char type[32];

	return sysroot_text(root, type, ND_DEVICES "/%s/devtype", region) &&
	       strcmp(type, "nd_volatile") == 0;
}

static bool has_region(const struct facts_target *facts, const char *name)
{
	for (size_t i = 0; i < facts->regions_count; i++) {
		if (strcmp(facts->regions[i].name, name) == 0)
			return true;
	}
	return false;
}

bool gather_region(const struct sysroot *root, const char *name, struct facts_target *facts)
{
	if (is_volatile(root, name))
		return false;
	if (has_region(facts, name))
		return true;
	if (facts->regions_count == FACTS_REGIONS_MAX)
		facts->cut = true;
	else
		read_region(root, name, &facts->regions[facts->regions_count++], &facts->cut);
	return true;
}

void gather_namespace(const struct sysroot *root, const char *name, struct facts_target *facts)
{
	struct facts_namespace *space = &facts->namespaces[facts->namespaces_count];

	for (size_t i = 0; i < facts->namespaces_count; i++) {
		if (strcmp(facts->namespaces[i].name, name) == 0)
			return;
	}
	if (facts->namespaces_count == FACTS_NAMESPACES_MAX) {
		facts->cut = true;
		return;
	}
	facts->namespaces_count++;
	memset(space, 0, sizeof(*space));
	snprintf(space->name, sizeof(space->name), "%s", name);
	sysroot_text(root, space->mode, ND_DEVICES "/%s/mode", name);
	space->size_bytes = number(root, name, "size");
	space->numa_node = node_of(root, name);
}

size_t gather_count(const struct sysroot *root)
{
	char names[FACTS_REGIONS_MAX][GATHER_NAME_MAX];
	size_t listed = gather_names(root, ND_DEVICES, "region", names, FACTS_REGIONS_MAX),
	       count = 0;

	for (size_t i = 0; i < listed && i < FACTS_REGIONS_MAX; i++)
		count += !is_volatile(root, names[i]);
	return count;
}

void gather_host(const struct sysroot *root, struct facts_target *facts)
{
	char names[FACTS_REGIONS_MAX][GATHER_NAME_MAX];
	size_t count = gather_names(root, ND_DEVICES, "region", names, FACTS_REGIONS_MAX);

	facts->cut = facts->cut || count > FACTS_REGIONS_MAX;
	for (size_t i = 0; i < count && i < FACTS_REGIONS_MAX; i++) {
		unsigned index = (unsigned)strtoul(names[i] + strlen("region"), NULL, 10);

		if (gather_region(root, names[i], facts))
			gather_numbered(root, index, UINT_MAX, facts);
	}
}

/* The offset of a namespace in its region; false: only root may know. */
static bool range_of(const struct sysroot *root, const struct facts_region *region,
		     const struct facts_namespace *space, int64_t *from, int64_t *to)
{
	int64_t base = number(root, region->name, "resource");
	int64_t start = number(root, space->name, "resource");

	*from = start - base;
	*to = *from + space->size_bytes;
	return base > 0 && start >= base && space->size_bytes > 0 && *to > *from &&
	       *to <= region->size_bytes;
}

void gather_bad_ranges(const struct sysroot *root, struct facts_target *facts)
{
	char path[128], prefix[GATHER_NAME_MAX];
	int64_t from, to;

	for (size_t i = 0; i < facts->regions_count; i++) {
		struct facts_region *region = &facts->regions[i];
		int64_t bad = 0;
		bool known = region->badblocks > 0;

		snprintf(path, sizeof(path), ND_DEVICES "/%s/badblocks", region->name);
		snprintf(prefix, sizeof(prefix), "namespace%s.", region->name + strlen("region"));
		for (size_t n = 0; n < facts->namespaces_count && known; n++) {
			const struct facts_namespace *space = &facts->namespaces[n];

			if (strncmp(space->name, prefix, strlen(prefix)) != 0)
				continue;
			known = range_of(root, region, space, &from, &to);
			if (known)
				bad += gather_bad_blocks(root, path, from, to);
		}
		if (known && facts->namespaces_count > 0)
			region->badblocks = bad;
	}
}
