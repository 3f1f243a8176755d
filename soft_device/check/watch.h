/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.h -- `--check=watch`: whether the program uses memory before the completion that brings it.
 *
 * The processor watches the first bytes of a few such pieces, for the thread that posted. Who loads
 * them is stopped there, and goes on. It was too early if they are others by the completion.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft_device/process/process.h"

/* Asked for, and not found to be impossible; else nothing is to be begun. */
extern bool watch_any;

struct watched {
	const void *owner; /* watch_forget() */
	/* the memory is the program's again when this uint32_t has passed `number` */
	const void *counter;
	uint32_t number;
	uint32_t stack; /* where it was posted */
	uint32_t qpn;	/* 0: of no QP alone */
	const char *what;
	uint64_t memory; /* in this process; it can be read */
	size_t length;
};

/* From now on, if the processor can watch one more. */
void watch_begin(const struct watched *watch);
/* Completions were polled, all of them good or not: reports what was loaded too early. */
void watch_settle(bool are_good);
/* The queue goes; the memory is the program's again. */
void watch_forget(const void *owner);
void watch_forget_memory(uint64_t memory, uint64_t length);

extern const struct process_part watch_part;
