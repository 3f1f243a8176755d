/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h -- the program that a command word names, as execvp would find it. */
#pragma once

#include <limits.h>

#include "elf_file.h"

#define PROGRAM_NOT_FOUND     127
#define PROGRAM_CANNOT_BE_RUN 126
#define PROGRAM_REASON_BYTES  (PATH_MAX + 512)

struct program {
	char path[PATH_MAX];   /* what to execute */
	char binary[PATH_MAX]; /* the same, or the interpreter of a script */
	struct elf_file elf;   /* the binary */
};

/*
 * Finds it, follows "#!", and refuses what nothing can be preloaded into. 0,
 * or the exit status that a shell gives, with the error message set.
 */
int program_find(struct program *program, const char *word, char reason[PROGRAM_REASON_BYTES]);
