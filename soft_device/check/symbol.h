/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symbol.h -- the names of places in the program: function, file and line.
 *
 * By libdw, which is loaded at the first finding, where the program has debug information; else
 * function and offset by dladdr(3). Calls of inline functions of verbs.h count as their callers'.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "stack.h"

struct symbol {
	char function[128];   /* "??": unknown */
	char file[128];	      /* the last part of its path; of the object where there is no line */
	int line;	      /* 0: unknown */
	bool is_wrapper;      /* a function of verbs.h or rdma_verbs.h that was not inlined */
	struct symbol *outer; /* the function that this one was inlined into; NULL: it was not */
};

/*
 * The frames of a stack one after the other, the innermost first, for callers as of symbol_of():
 *
 *	struct symbol_walk walk = {.stack = stack};
 *
 *	while ((symbol = symbol_next(&walk)) != NULL)
 *		...
 *
 * Frames of a Python script take the place of its interpreter's.
 */
struct symbol_walk {
	const struct stack *stack; /* may be NULL */
	uint32_t taken;		   /* so many of its addresses */
	const struct symbol *next; /* the rest of what was inlined, or of the script */
	bool is_in_script;
};
const struct symbol *symbol_next(struct symbol_walk *walk);

/*
 * The function of a return address, by the call before it: the innermost first. Callers exclude
 * each other; it stays as it is.
 */
const struct symbol *symbol_of(uintptr_t pc);
