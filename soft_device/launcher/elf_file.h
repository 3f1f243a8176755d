/* SPDX-License-Identifier: BSD-3-Clause */
/* elf_file.h -- what a launcher must know of an ELF file before it preloads. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct elf_file {
	uint8_t class;
	uint16_t machine;
	bool has_loader;     /* PT_INTERP: the dynamic loader starts it */
	char loader[64];     /* its path; empty: none, or a longer one */
	char runtime[64];    /* DT_NEEDED library that must come first; empty: none */
	bool runtime_inside; /* linked statically with a sanitizer's runtime */
};

/* 0; -ENOEXEC: no ELF file; or another -errno. Other classes and machines than ours are read no
 * further than their header. */
int elf_file_read(const char *path, struct elf_file *file);

/* True if a library is a sanitizer's runtime that insists on coming first. */
bool elf_file_is_runtime(const char *library);
