/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * imports.c -- see imports.h. In a table of symbols with a GNU hash, those that are not defined
 * come before the first that is in the hash.
 */
#include "imports.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tables {
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash;
};

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

/* The loader has made addresses of what is in the file. */
static struct tables tables_of(const ElfW(Dyn) * dynamic)
{
	struct tables tables = {NULL, NULL, NULL};

	for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
		const void *at = (const void *)dynamic->d_un.d_ptr; /* NOLINT */

		if (dynamic->d_tag == DT_SYMTAB)
			tables.symbols = at;
		else if (dynamic->d_tag == DT_STRTAB)
			tables.names = at;
		else if (dynamic->d_tag == DT_GNU_HASH)
			tables.hash = at;
	}
	return tables;
}

static int search(struct dl_phdr_info *info, size_t bytes, void *name)
{
	struct tables tables;

	(void)bytes;
	if (strstr(info->dlpi_name, "vdso") != NULL)
		return 0; /* the loader leaves it as it is */
	tables = tables_of(dynamic_of(info));
	if (tables.symbols == NULL || tables.names == NULL || tables.hash == NULL)
		return 0;
	for (uint32_t i = 1; i < tables.hash[1]; i++)
		if (tables.symbols[i].st_shndx == SHN_UNDEF &&
		    strcmp(tables.names + tables.symbols[i].st_name, name) == 0)
			return 1;
	return 0;
}

bool imports_symbol(const char *name)
{
	return dl_iterate_phdr(search, (void *)(uintptr_t)name) != 0;
}
