/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mapping.h -- what is behind a range of this process's memory: asked when it is registered and,
 * before this process uses it itself, again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Touches every page as pinning would, for writing or for reading. 0; -EFAULT: a part is not
 * mapped, or not so that it may be read or written.
 */
int mapping_populate(uint64_t addr, size_t length, bool write);

/*
 * The result of mapping_populate(), without touching a page that no thread touched, but for the
 * last one of each file: where a file has become shorter its pages are missing from there on.
 */
int mapping_check(uint64_t addr, size_t length, bool write);

/* True if all of the range is shared mappings; and of files: memory without a name is none. */
bool mapping_is_shared(uint64_t addr, size_t length);
bool mapping_is_file(uint64_t addr, size_t length);
