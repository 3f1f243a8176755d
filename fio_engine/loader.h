/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loader.h -- finds the engine for the release of fio that runs, among several.
 *
 * A build for several releases has a module for each, in the folder librpma-fio beside the
 * object that fio loads. That one includes none of fio's headers: all that it gives fio is
 * the address of a table.
 */
#pragma once

#define LOADER_FOLDER "librpma-fio"

/* The table of this name, such as "ioengine"; NULL: the reason is on stderr. */
void *loader_table(const char *name) __attribute__((visibility("default")));

/* fio's own name for it, where it finds no table; in each object that fio may load. */
void get_ioengine(void **table) __attribute__((visibility("default")));
