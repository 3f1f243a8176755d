/* SPDX-License-Identifier: BSD-3-Clause */
/* script.h -- places in a Python program: the frames of its interpreter say nothing to its user. */
#pragma once

#include <stdbool.h>

#include "soft_device/process/process.h"
#include "symbol.h"

/* The process is a Python interpreter that tells; else nothing of this is called. */
extern bool script_any;

/*
 * The place of the calling thread: the innermost function first, and by `outer` its callers. NULL:
 * it runs no script. The same place is the same pointer, and stays. Takes no lock that the device
 * knows, nor the interpreter's.
 */
const struct symbol *script_place(void);

/* A function of the interpreter, or of what it calls C by. */
bool script_is_interpreter(const struct symbol *symbol);

extern const struct process_part script_part;
