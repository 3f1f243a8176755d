/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pci_walk.c -- prints in lines what pci_config finds in every PCI function of
 * a machine, or of a tree recorded from one; test_lspci.py compares them with
 * lspci's output.
 *
 * Usage: pci_walk ROOT [RECORD]: what was read is recorded below RECORD.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/host/pci_config.h"

#define DEVICES "sys/bus/pci/devices"

static void say_express(const struct pci_config *config)
{
	struct pci_express e;

	if (!pci_config_express(config, &e))
		return;
	printf("express %zx type %d payload %d read %d ordering %d snoop %d\n", e.at, e.type,
	       e.max_payload_bytes, e.max_read_request_bytes, e.relaxed_ordering, e.no_snoop);
	printf("link max %d %d now %d %d\n", e.max_speed, e.max_width, e.speed, e.width);
}

static void say(const struct sysroot *root, const char *address)
{
	struct pci_capability classic = {0}, extended = {0};
	char directory[512], real[PATH_MAX];
	struct pci_config config;

	snprintf(directory, sizeof(directory), DEVICES "/%s", address);
	pci_config_read(root, directory, &config);
	printf("function %s bytes %zu\n", address, config.len);
	while (pci_config_next(&config, &classic))
		printf("capability %zx id %" PRIx16 "\n", classic.at, classic.id);
	while (pci_config_next_extended(&config, &extended))
		printf("extended %zx id %" PRIx16 " version %u\n", extended.at, extended.id,
		       extended.version);
	say_express(&config);
	if (sysroot_real_path(root, real, "%s", directory))
		printf("path %s\n", real);
}

static int order(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* All of them, in their order, or -1. */
static int say_all(const struct sysroot *root, const char *path)
{
	struct dirent **entries;
	char directory[PATH_MAX];
	int count;

	snprintf(directory, sizeof(directory), "%s/" DEVICES, path);
	count = scandir(directory, &entries, NULL, order);
	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.')
			say(root, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return count;
}

int main(int argc, char **argv)
{
	struct sysroot root;
	int ret;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: %s ROOT [RECORD]\n", argv[0]);
		return EXIT_WRONG_USAGE;
	}
	if (sysroot_open(&root, argv[1]) != 0) {
		perror(argv[1]);
		return EXIT_RUN_FAILED;
	}
	ret = argc == 3 ? sysroot_record(&root, argv[2]) : 0;
	if (ret == 0 && say_all(&root, argv[1]) < 0)
		ret = failure_set(EXIT_RUN_FAILED, "list", "%s: no " DEVICES, argv[1]);
	if (ret == 0)
		ret = sysroot_record_end(&root);
	if (ret != 0)
		fprintf(stderr, "pci_walk: %s\n", failure_get()->text);
	sysroot_close(&root);
	return ret == 0 ? EXIT_GOOD : EXIT_RUN_FAILED;
}
