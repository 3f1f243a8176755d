/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * newest_librpma.c -- lets a test program run over any librpma.so.0: the calls that are
 * new in LIBRPMA_1.4 are looked up in the library that is there, so that the loader
 * does not insist on that version. The newest version is taken, as a program built with
 * our header has it; that of RPMA_TEST_VERSION if it is set, such as LIBRPMA_1.0, as a program
 * built for an older release has it. Linked with -Wl,--wrap=... for each of them.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <librpma.h>
#include <stdlib.h>
#include <string.h>

static void *symbol_of(const char *name)
{
	const char *version = getenv("RPMA_TEST_VERSION");

	return version != NULL ? dlvsym(RTLD_DEFAULT, name, version) : dlsym(RTLD_DEFAULT, name);
}

int __wrap_rpma_mr_get_descriptor(const struct rpma_mr_local *mr, void *desc);
int __wrap_rpma_mr_get_descriptor_size(const struct rpma_mr_local *mr, size_t *desc_size);

int __wrap_rpma_mr_get_descriptor(const struct rpma_mr_local *mr, void *desc)
{
	int (*call)(const struct rpma_mr_local *, void *);
	void *symbol = symbol_of("rpma_mr_get_descriptor");

	memcpy(&call, &symbol, sizeof(call));
	return call(mr, desc);
}

int __wrap_rpma_mr_get_descriptor_size(const struct rpma_mr_local *mr, size_t *desc_size)
{
	int (*call)(const struct rpma_mr_local *, size_t *);
	void *symbol = symbol_of("rpma_mr_get_descriptor_size");

	memcpy(&call, &symbol, sizeof(call));
	return call(mr, desc_size);
}
