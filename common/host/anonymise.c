/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * anonymise.c -- pseudonyms by a keyed hash, letter for letter.
 *
 * A file's name tells its kind. The hash is SipHash-2-4 (Aumasson and
 * Bernstein, 2012): it cannot be turned round without the key, even by one who
 * knows what some of the names were.
 */
#include "anonymise.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pci_config.h"

static uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	sip_round(v);
	v[0] ^= word;
}

static uint64_t little_endian(const uint8_t *bytes, size_t len)
{
	uint64_t word = 0;

	for (size_t i = 0; i < len; i++)
		word |= (uint64_t)bytes[i] << (8 * i);
	return word;
}

static uint64_t siphash(const uint8_t key[ANONYMISE_KEY_BYTES], const uint8_t *data, size_t len)
{
	uint64_t k0 = little_endian(key, 8), k1 = little_endian(key + 8, 8);
	uint64_t v[4] = {k0 ^ 0x736f6d6570736575ULL, k1 ^ 0x646f72616e646f6dULL,
			 k0 ^ 0x6c7967656e657261ULL, k1 ^ 0x7465646279746573ULL};
	size_t at = 0;

	for (; at + 8 <= len; at += 8)
		sip_word(v, little_endian(data + at, 8));
	sip_word(v, little_endian(data + at, len - at) | (uint64_t)len << 56);
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static char pseudonym(uint64_t hash, char c, bool hexadecimal)
{
	static const char digits[] = "0123456789abcdef";
	char small = (char)('a' + (int)(hash % 26));

	if (hexadecimal || isdigit((unsigned char)c))
		small = digits[hash % (hexadecimal ? 16 : 10)];
	return isupper((unsigned char)c) ? (char)toupper((unsigned char)small) : small;
}

/* Replaces letters and digits, each by one of its kind; all zeros stay. */
static void replace(const uint8_t *key, char *name, size_t len)
{
	uint8_t plain[136];
	bool hexadecimal = true, zero = true;
	size_t count = 0;

	if (len > 2 && name[0] == '0' && (name[1] | 0x20) == 'x') {
		name += 2;
		len -= 2;
	}
	/* the first 8 bytes are for the place of a letter; a name and its capitals are one */
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		if (!isalnum(c))
			continue;
		hexadecimal = hexadecimal && isxdigit(c);
		zero = zero && c == '0';
		if (count < sizeof(plain) - 8)
			plain[8 + count++] = (uint8_t)tolower(c);
	}
	for (uint64_t i = 0; i < len && !zero; i++) {
		memcpy(plain, &i, 8);
		if (isalnum((unsigned char)name[i]))
			name[i] = pseudonym(siphash(key, plain, 8 + count), name[i], hexadecimal);
	}
}

/* A GID as text: eight groups of four digits. Its kind can be told from what is kept of it. */
static void replace_gid(const uint8_t *key, char *gid, size_t len)
{
	static const char mapped[] = "0000:0000:0000:0000:0000:ffff:";
	size_t kept = 5;

	if (strncasecmp(gid, "fe8", 3) == 0)
		kept = 20; /* link-local, with its subnet */
	else if (strncasecmp(gid, mapped, sizeof(mapped) - 1) == 0)
		kept = sizeof(mapped) - 1 + 2; /* the first number of the IPv4 address */
	if (kept > 30 && strncasecmp(gid + 30, "a9", 2) == 0)
		kept = 34; /* 169.254 is link-local */
	replace(key, gid + kept, len - kept);
}

/* In a shape, h is a hexadecimal digit and all else itself. */
static const struct shape {
	const char *text;
	void (*replace)(const uint8_t *key, char *name, size_t len);
	size_t prefix; /* letters before the part that is replaced */
} shapes[] = {
	{"hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh:hh", replace, 0},
	{"hhhh:hhhh:hhhh:hhhh:hhhh:hhhh:hhhh:hhhh", replace_gid, 0},
	{"hhhh:hhhh:hhhh:hhhh", replace, 0},
	{"hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh", replace, 0},
	{"hh:hh:hh:hh:hh:hh", replace, 0},
	/* names of systemd and rdma-core, made from addresses and GUIDs */
	{"enxhhhhhhhhhhhh", replace, 3},
	{"ibxhhhhhhhhhhhhhhhh", replace, 3},
	{"ibxhhhhhhhhhhhh", replace, 3},
	{"rocexhhhhhhhhhhhhhhhh", replace, 5},
	{"rocexhhhhhhhhhhhh", replace, 5},
	{"iwxhhhhhhhhhhhhhhhh", replace, 3},
	{"iwxhhhhhhhhhhhh", replace, 3},
	{"opaxhhhhhhhhhhhhhhhh", replace, 4},
};

/* A character that may stand beside a name is not part of one. */
static bool part_of_name(char c)
{
	return isalnum((unsigned char)c) || c == ':' || c == '-';
}

static size_t matching(const char *shape, const char *text, size_t len)
{
	size_t i = 0;

	for (; shape[i] != '\0'; i++)
		if (i >= len ||
		    (shape[i] == 'h' ? !isxdigit((unsigned char)text[i]) : text[i] != shape[i]))
			return 0;
	return i < len && part_of_name(text[i]) ? 0 : i;
}

/* The length of the name at the text's beginning, replaced; 0: there is none. */
static size_t replace_name(const uint8_t *key, char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		size_t found = matching(shapes[i].text, text, len);

		if (found == 0)
			continue;
		shapes[i].replace(key, text + shapes[i].prefix, found - shapes[i].prefix);
		return found;
	}
	return 0;
}

void anonymise_text(const uint8_t key[ANONYMISE_KEY_BYTES], char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (i == 0 || !part_of_name(text[i - 1]))
			i += replace_name(key, text + i, len - i);
	}
}

/* The device's serial number is a capability of its own. */
static void clean_config(const uint8_t *key, char *bytes, size_t len)
{
	struct pci_config config = {.len = len < PCI_CONFIG_BYTES ? len : PCI_CONFIG_BYTES};
	uint64_t serial, hash;
	size_t at;

	memcpy(config.bytes, bytes, config.len);
	at = pci_config_extended(&config, PCI_EXT_CAP_ID_DSN);
	if (at == 0 || at + 4 + sizeof(serial) > config.len)
		return;
	memcpy(&serial, bytes + at + 4, sizeof(serial));
	hash = siphash(key, config.bytes + at + 4, sizeof(serial));
	if (serial != 0)
		memcpy(bytes + at + 4, &hash, sizeof(hash));
}

/* True if a word, up to its "=", is in the list; the list ends with NULL. */
static bool listed(const char *const *list, const char *word, size_t len)
{
	for (; *list != NULL; list++) {
		if (strlen(*list) == len && memcmp(*list, word, len) == 0)
			return true;
	}
	return false;
}

/* Keeps only the words whose key is listed; returns the new length. */
static size_t keep_words(char *words, size_t len, char separator, const char *const *list)
{
	size_t kept = 0;

	for (size_t at = 0; at < len;) {
		size_t end = at, key_end;

		while (end < len && words[end] != separator && words[end] != '\n')
			end++;
		for (key_end = at; key_end < end && words[key_end] != '=';)
			key_end++;
		if (listed(list, words + at, key_end - at)) {
			if (kept > 0)
				words[kept++] = separator;
			memmove(words + kept, words + at, end - at);
			kept += end - at;
		}
		at = end + 1;
	}
	return kept;
}

static size_t clean_command_line(char *line, size_t len)
{
	static const char *const kept[] = {"pci",
					   "iommu",
					   "intel_iommu",
					   "amd_iommu",
					   "iommu.passthrough",
					   "iommu.strict",
					   "isolcpus",
					   "nohz_full",
					   "idle",
					   "mitigations",
					   "memmap",
					   "lockdown",
					   "intel_idle.max_cstate",
					   "processor.max_cstate",
					   "intel_pstate",
					   "tsc",
					   "clocksource",
					   NULL};

	size_t left = keep_words(line, len, ' ', kept);

	/* nothing is left of it, but it was read: it does not become empty */
	if (left < len)
		line[left++] = '\n';
	return left;
}

/*
 * A line of mountinfo is kept up to its mount point and mount options; then
 * come the type, the source if it is a device, how it uses DAX, and its realtime device.
 */
static size_t clean_mount(char *line, size_t len)
{
	static const char *const kept[] = {"rw", "ro", "dax", "rtdev", NULL};
	char clean[1024], copy[4096];
	char *words[6], *after, *type, *source, *options, *rest = copy;
	int count;

	snprintf(copy, sizeof(copy), "%.*s", (int)len, line);
	for (size_t i = 0; i < 6; i++) {
		words[i] = strsep(&rest, " ");
		if (rest == NULL)
			return 0;
	}
	after = strstr(rest, "- ");
	if (after == NULL)
		return 0;
	after += 2;
	type = strsep(&after, " ");
	source = strsep(&after, " ");
	options = after != NULL ? after : strchr(type, '\0');
	options[keep_words(options, strlen(options), ',', kept)] = '\0';
	if (source == NULL || strncmp(source, "/dev/", 5) != 0)
		source = "none";
	count = snprintf(clean, sizeof(clean), "%s %s %s / %s %s - %s %s %s\n", words[0], words[1],
			 words[2], words[4], words[5], type, source, options);
	if (count < 0 || (size_t)count >= sizeof(clean) || (size_t)count > len)
		return 0;
	memcpy(line, clean, (size_t)count);
	return (size_t)count;
}

/* Lines made clean one by one; what is left of each moves up. */
static size_t clean_mounts(char *bytes, size_t len)
{
	size_t kept = 0;

	for (size_t at = 0; at < len;) {
		char *end = memchr(bytes + at, '\n', len - at);
		size_t line = end != NULL ? (size_t)(end - bytes) + 1 - at : len - at;
		size_t clean = end != NULL ? clean_mount(bytes + at, line) : 0;

		memmove(bytes + kept, bytes + at, clean);
		kept += clean;
		at += line;
	}
	return kept;
}

/* The serial number of an Arm board. */
static void clean_cpus(const uint8_t *key, char *bytes, size_t len)
{
	static const char name[] = "\nSerial";
	char *found = memmem(bytes, len, name, sizeof(name) - 1);
	char *value = found != NULL ? memchr(found, ':', len - (size_t)(found - bytes)) : NULL;
	size_t left = value != NULL ? len - (size_t)(value - bytes) : 0;
	char *end = value != NULL ? memchr(value, '\n', left) : NULL;

	if (value != NULL)
		replace(key, value, end != NULL ? (size_t)(end - value) : left);
}

size_t anonymise_file(const uint8_t key[ANONYMISE_KEY_BYTES], const char *path, char *bytes,
		      size_t len)
{
	static const char *const names[] = {
		"node_guid",	"sys_image_guid", "port_guid",	   "node_desc",
		"hostname",	"serial",	  "serial_number", "product_serial",
		"board_serial", "chassis_serial", "product_uuid",  "uuid",
		"set_cookie",	"phys_switch_id", "phys_port_id",  "id",
		"alt_name",	"ifalias",	  "address",	   NULL};
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;

	if (strcmp(name, "config") == 0) {
		clean_config(key, bytes, len);
		return len;
	}
	if (listed(names, name, strlen(name))) {
		replace(key, bytes, len);
		return len;
	}
	if (strcmp(name, "cmdline") == 0)
		len = clean_command_line(bytes, len);
	else if (strcmp(name, "mountinfo") == 0)
		len = clean_mounts(bytes, len);
	else if (strcmp(name, "cpuinfo") == 0)
		clean_cpus(key, bytes, len);
	anonymise_text(key, bytes, len);
	return len;
}
