/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stack.h -- where the program was: the return addresses of its calls, the device's own left out.
 *
 * Equal stacks have the same number, so that 4 bytes stand for a place in a table of requests. A
 * stack that is met again is recognised by a look at the thread's stack: nothing is unwound.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "soft_device/process/process.h"

#define STACK_DEEP  12
#define STACKS_MOST 65536u /* numbers are smaller */

struct symbol;

struct stack {
	const struct symbol *script; /* where a Python program is: script.h; NULL: it is none */
	uint32_t count;
	uintptr_t pc[STACK_DEEP]; /* return addresses, the innermost first */
};

/* The place where a thread entered the device; it mostly has the same stack when entered again. */
struct stack_entry {
	uintptr_t pc;	 /* where it returns to */
	uintptr_t frame; /* the frame of the device's function */
};
#define STACK_ENTRY()                                                                              \
	((struct stack_entry){(uintptr_t)__builtin_return_address(0),                              \
			      (uintptr_t)__builtin_frame_address(0)})

/* The number of the calling thread's stack; 0: unknown, as there are too many. Takes no lock that
 * the device knows. */
uint32_t stack_here(void);
uint32_t stack_at(struct stack_entry entry);

/*
 * The stack of a thread that a signal has stopped at this address, in the handler: no lock is taken
 * and no memory made. False: the device is in it. Its number, later.
 */
bool stack_capture(struct stack *stack, uintptr_t from);
uint32_t stack_number(const struct stack *stack);

/* The object with this code is none of the program's either. */
void stack_leave_out(const void *code);

/* NULL for 0. It stays as it is. */
const struct stack *stack_get(uint32_t number);

extern const struct process_part stack_part;
