/* SPDX-License-Identifier: BSD-3-Clause */
/* huge_pages.c -- maps huge pages; /proc/meminfo has their size and number. */
#include "huge_pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "sysroot.h"

/* A number of /proc/meminfo; 0: it is not there. */
static size_t meminfo(const char *key)
{
	char text[64];

	if (!sysroot_file_field(&sysroot_machine, "proc/meminfo", key, text, sizeof(text)))
		return 0;
	return strtoul(text, NULL, 10);
}

size_t huge_page_bytes(void)
{
	return meminfo("Hugepagesize") * 1024;
}

static int too_few(size_t bytes, size_t each, const char *step)
{
	char size[UNITS_TEXT_BYTES], page[UNITS_TEXT_BYTES];
	const size_t pages = bytes / each;

	return failure_set(EXIT_RUN_FAILED, step,
			   "cannot map %s of huge pages: %zu pages of %s are needed, %zu are free: "
			   "sysctl vm.nr_hugepages=%zu reserves them",
			   units_print_size(bytes, size), pages, units_print_size(each, page),
			   meminfo("HugePages_Free"), meminfo("HugePages_Total") + pages);
}

int huge_pages_map(size_t bytes, const char *step, void **memory)
{
	char size[UNITS_TEXT_BYTES];
	const size_t each = huge_page_bytes();
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (mapped == MAP_FAILED && errno == ENOMEM && each > 0)
		return too_few(bytes, each, step);
	if (mapped == MAP_FAILED)
		return failure_set(EXIT_RUN_FAILED, step, "cannot map %s of huge pages: %s",
				   units_print_size(bytes, size), strerror(errno));
	*memory = mapped;
	return 0;
}
