/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.c -- the table of all files, and the way from a path to a row of it.
 *
 * A row is a path, in which @ stands for the name of a device (soft0), & for that of its character
 * device, # for an index of the GID table and % for the network interface. Names and formats are
 * the kernel's (drivers/infiniband/core/sysfs.c, device.c, uverbs_main.c), those of rxe where they
 * differ. `device` is a link to the PCI function of a NIC, whose interfaces are in it; here it has
 * only these.
 */
#include "tree.h"

#include <endian.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "soft_device/verbs/device.h"

#define PATH_BYTES    256
#define UVERBS_MAJOR  231 /* uverbs_main.c: IB_UVERBS_MAJOR */
#define UVERBS_MINOR  192 /* IB_UVERBS_BASE_MINOR */
#define RDMA_CM_MINOR 58
#define MISC_MAJOR    10

struct tree_row {
	const char *path;
	enum tree_kind kind;
	int (*text)(const struct tree_node *node, char *text, size_t bytes);
	const char *pattern; /* where there is no function: as the path */
};

/* --- what files contain --- */

static int text_guid(const struct tree_node *node, char *text, size_t bytes)
{
	const uint64_t guid = be64toh(device_at(node->device)->guid);

	return snprintf(text, bytes, "%04x:%04x:%04x:%04x\n", (unsigned)(guid >> 48),
			(unsigned)(guid >> 32) & 0xffff, (unsigned)(guid >> 16) & 0xffff,
			(unsigned)guid & 0xffff);
}

static int text_gid(const struct tree_node *node, char *text, size_t bytes)
{
	const uint8_t *raw = device_at(node->device)->gid.raw;
	int length = 0;

	for (unsigned i = 0; i < 16; i += 2)
		length += snprintf(text + length, bytes - (size_t)length, "%02x%02x%c", raw[i],
				   raw[i + 1], i < 14 ? ':' : '\n');
	return length;
}

static int text_type(const struct tree_node *node, char *text, size_t bytes)
{
	return snprintf(text, bytes, "%s\n",
			gid_type_of(node->entry) == IBV_GID_TYPE_ROCE_V1 ? "IB/RoCE v1"
									 : "RoCE v2");
}

/* Empty if it is gone. */
static const char *netdev_of(const struct tree_node *node, char name[IF_NAMESIZE])
{
	name[0] = '\0';
	if_indextoname(device_at(node->device)->ifindex, name);
	return name;
}

static int text_number(const struct tree_node *node, char *text, size_t bytes)
{
	const dev_t number = tree_device_number(node);

	return snprintf(text, bytes, "%u:%u\n", major(number), minor(number));
}

#define CLASS	"/sys/class/infiniband"
#define VERBS	"/sys/class/infiniband_verbs"
#define TARGETS "/sys/devices/virtual/infiniband"
#define DEV	"/dev/infiniband"
#define PORT	TARGETS "/@/ports/1/"

static const struct tree_row rows[] = {
	{CLASS, TREE_FOLDER, NULL, NULL},
	{CLASS "/@", TREE_LINK, NULL, "../../devices/virtual/infiniband/@"},
	{VERBS, TREE_FOLDER, NULL, NULL},
	{VERBS "/abi_version", TREE_FILE, NULL, "6\n"},
	{VERBS "/&", TREE_LINK, NULL, "../../devices/virtual/infiniband_verbs/&"},
	{TARGETS "_verbs", TREE_FOLDER, NULL, NULL},
	{TARGETS "_verbs/&", TREE_FOLDER, NULL, NULL},
	{TARGETS "_verbs/&/abi_version", TREE_FILE, NULL, "1\n"},
	{TARGETS "_verbs/&/dev", TREE_FILE, text_number, NULL},
	{TARGETS "_verbs/&/ibdev", TREE_FILE, NULL, "@\n"},
	{DEV, TREE_FOLDER, NULL, NULL},
	{DEV "/rdma_cm", TREE_DEVICE, NULL, NULL},
	{DEV "/&", TREE_DEVICE, NULL, NULL},
	{TARGETS, TREE_FOLDER, NULL, NULL},
	{TARGETS "/@", TREE_FOLDER, NULL, NULL},
	{TARGETS "/@/device", TREE_FOLDER, NULL, NULL},
	{TARGETS "/@/device/net", TREE_FOLDER, NULL, NULL},
	{TARGETS "/@/device/net/%", TREE_FOLDER, NULL, NULL},
	{TARGETS "/@/fw_ver", TREE_FILE, NULL, "soft-" SOFT_VERSION "\n"},
	{TARGETS "/@/node_desc", TREE_FILE, NULL, "@\n"},
	{TARGETS "/@/node_guid", TREE_FILE, text_guid, NULL},
	{TARGETS "/@/node_type", TREE_FILE, NULL, "1: CA\n"},
	{TARGETS "/@/sys_image_guid", TREE_FILE, text_guid, NULL},
	{TARGETS "/@/ports", TREE_FOLDER, NULL, NULL},
	{TARGETS "/@/ports/1", TREE_FOLDER, NULL, NULL},
	{PORT "cap_mask", TREE_FILE, NULL, "0x00010000\n"},
	{PORT "lid", TREE_FILE, NULL, "0x0\n"},
	{PORT "lid_mask_count", TREE_FILE, NULL, "0\n"},
	{PORT "link_layer", TREE_FILE, NULL, "Ethernet\n"},
	{PORT "phys_state", TREE_FILE, NULL, "5: LinkUp\n"},
	{PORT "rate", TREE_FILE, NULL, "2.5 Gb/sec (1X SDR)\n"},
	{PORT "sm_lid", TREE_FILE, NULL, "0x0\n"},
	{PORT "sm_sl", TREE_FILE, NULL, "0\n"},
	{PORT "state", TREE_FILE, NULL, "4: ACTIVE\n"},
	{PORT "pkeys", TREE_FOLDER, NULL, NULL},
	{PORT "pkeys/0", TREE_FILE, NULL, "0xffff\n"},
	{PORT "gids", TREE_FOLDER, NULL, NULL},
	{PORT "gids/#", TREE_FILE, text_gid, NULL},
	{PORT "gid_attrs", TREE_FOLDER, NULL, NULL},
	{PORT "gid_attrs/ndevs", TREE_FOLDER, NULL, NULL},
	{PORT "gid_attrs/ndevs/#", TREE_FILE, NULL, "%\n"},
	{PORT "gid_attrs/types", TREE_FOLDER, NULL, NULL},
	{PORT "gid_attrs/types/#", TREE_FILE, text_type, NULL},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* --- paths --- */

/* Takes "//", "." and ".." out of a path; false: it is too long to be one of ours. */
static bool simplify(const char *path, char *simple)
{
	size_t length = 0;

	for (const char *at = path; *at != '\0';) {
		const size_t bytes = strcspn(at, "/");

		if (bytes == 2 && at[0] == '.' && at[1] == '.') {
			while (length > 0 && simple[--length] != '/')
				;
		} else if (bytes > 0 && !(bytes == 1 && at[0] == '.')) {
			if (length + 1 + bytes >= PATH_BYTES)
				return false;
			simple[length++] = '/';
			memcpy(simple + length, at, bytes);
			length += bytes;
		}
		at += bytes;
		at += *at == '/';
	}
	simple[length] = '\0';
	return true;
}

/* True if a path is this folder or in it. */
static bool is_in(const char *path, const char *folder)
{
	const size_t bytes = strlen(folder);

	return strncmp(path, folder, bytes) == 0 && (path[bytes] == '\0' || path[bytes] == '/');
}

/* Other classes of the kernel's RDMA, such as infiniband_mad, are ours and empty. */
static bool is_ours(const char *path)
{
	return strncmp(path, CLASS, strlen(CLASS)) == 0 || is_in(path, TARGETS) ||
	       is_in(path, TARGETS "_verbs") || is_in(path, DEV);
}

/* Puts the targets in place of the links that a path goes through. */
static void resolve(char *path, bool follow)
{
	static const char *const suffixes[] = {"", "_verbs"};
	char folder[PATH_BYTES], resolved[PATH_BYTES];

	for (size_t i = 0; i < 2; i++) {
		snprintf(folder, sizeof(folder), CLASS "%s", suffixes[i]);
		const char *rest = path + strlen(folder);

		if (!is_in(path, folder) || strncmp(rest, "/abi_version", 12) == 0 ||
		    rest[0] == '\0' || (!follow && strchr(rest + 1, '/') == NULL))
			continue;
		if (snprintf(resolved, sizeof(resolved), TARGETS "%s%s", suffixes[i], rest) <
		    (int)sizeof(resolved))
			memcpy(path, resolved, sizeof(resolved));
		return;
	}
}

/* --- rows --- */

static bool is_name(const char *name, const char *segment, size_t bytes)
{
	return strlen(name) == bytes && memcmp(name, segment, bytes) == 0;
}

/* One segment of a path against one of a row's. */
static bool segment_matches(char wanted, const char *segment, size_t bytes, struct tree_node *node)
{
	if (wanted == '%') {
		char name[IF_NAMESIZE];

		return is_name(netdev_of(node, name), segment, bytes);
	}
	if (wanted == '#') {
		node->entry = (unsigned)(segment[0] - '0');
		return bytes == 1 && node->entry < SOFT_GIDS;
	}
	for (unsigned i = 0; i < device_count(); i++) {
		const struct ibv_device *device = &device_at(i)->ibv;

		node->device = i;
		if (is_name(wanted == '@' ? device->name : device->dev_name, segment, bytes))
			return true;
	}
	return false;
}

static bool row_matches(const char *row, const char *path, struct tree_node *node)
{
	while (*row != '\0' && *path != '\0') {
		const size_t bytes = strcspn(path, "/");

		if (strchr("@&#%", *row) != NULL) {
			if (!segment_matches(*row, path, bytes, node))
				return false;
			row++;
			path += bytes;
		} else if (*row++ != *path++) {
			return false;
		}
	}
	return *row == *path;
}

static size_t count_of(char wildcard)
{
	return wildcard == '#'			    ? SOFT_GIDS
	       : wildcard == '@' || wildcard == '&' ? device_count()
						    : 1;
}

/* --- what others call --- */

bool tree_may_know(const char *path)
{
	return path != NULL && strstr(path, "infiniband") != NULL;
}

struct tree_node tree_find(const char *path, bool follow)
{
	struct tree_node node = {.kind = TREE_OTHER};
	const size_t length = strlen(path);
	char simple[PATH_BYTES] = "";

	if (path[0] != '/' || !simplify(path, simple) || !is_ours(simple))
		return node;
	resolve(simple, follow || path[length - 1] == '/');
	for (size_t i = 0; i < ROWS; i++) {
		if (row_matches(rows[i].path, simple, &node)) {
			node.row = &rows[i];
			node.kind = rows[i].kind;
			return node;
		}
	}
	node.kind = TREE_MISSING;
	return node;
}

/* A path or a text of a row, with the names in it; its length. */
static size_t expand(const struct tree_node *node, const char *pattern, char *text, size_t bytes)
{
	const struct device *device = device_at(node->device);
	char name[IF_NAMESIZE], index[2] = {(char)('0' + node->entry), '\0'}, one[2] = "";
	size_t length = 0;

	text[0] = '\0';
	for (const char *at = pattern; *at != '\0' && length < bytes; at++) {
		one[0] = *at;
		length += (size_t)snprintf(text + length, bytes - length, "%s",
					   *at == '#'	? index
					   : *at == '@' ? device->ibv.name
					   : *at == '&' ? device->ibv.dev_name
					   : *at == '%' ? netdev_of(node, name)
							: one);
	}
	return length;
}

size_t tree_text(const struct tree_node *node, char text[TREE_TEXT_MAX])
{
	const struct tree_row *row = node->row;

	if (row->text != NULL)
		return (size_t)row->text(node, text, TREE_TEXT_MAX);
	return expand(node, row->pattern != NULL ? row->pattern : "", text, TREE_TEXT_MAX);
}

bool tree_entry(const struct tree_node *folder, size_t n, char name[TREE_NAME_MAX],
		struct tree_node *entry)
{
	const size_t bytes = strlen(folder->row->path);
	char path[PATH_BYTES];

	for (size_t i = 0; i < ROWS; i++) {
		const char *rest = rows[i].path + bytes;

		if (!is_in(rows[i].path, folder->row->path) || rest[0] == '\0' ||
		    strchr(rest + 1, '/') != NULL)
			continue;
		if (n >= count_of(rest[1])) {
			n -= count_of(rest[1]);
			continue;
		}
		*entry = *folder;
		entry->row = &rows[i];
		entry->kind = rows[i].kind;
		if (rest[1] == '#')
			entry->entry = (unsigned)n;
		else if (rest[1] == '@' || rest[1] == '&')
			entry->device = (unsigned)n;
		tree_path(entry, path, sizeof(path));
		snprintf(name, TREE_NAME_MAX, "%s", strrchr(path, '/') + 1);
		return name[0] != '\0';
	}
	return false;
}

void tree_path(const struct tree_node *node, char *path, size_t bytes)
{
	expand(node, node->row->path, path, bytes);
}

dev_t tree_device_number(const struct tree_node *node)
{
	if (strcmp(node->row->path, DEV "/rdma_cm") == 0)
		return makedev(MISC_MAJOR, RDMA_CM_MINOR);
	return makedev(UVERBS_MAJOR, UVERBS_MINOR + node->device);
}

ino_t tree_number(const struct tree_node *node)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	char path[PATH_BYTES];

	tree_path(node, path, sizeof(path));
	for (const char *at = path; *at != '\0'; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	return hash;
}
