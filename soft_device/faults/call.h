/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.h -- the top of an exported call, and how calls fail.
 *
 * ENTER() and its kin end the call that they stand in: with the error that RPMA_SOFT asks for, or
 * with EIO when its object was made before a fork(), by the parent.
 */
#pragma once

#include <errno.h>
#include <stddef.h>

#include "fault.h"
#include "soft_device/check/check.h"
#include "soft_device/process/process.h"

/* For calls that return the error: the manual has the value, the kernel's set errno as well. */
static inline int call_error(int error)
{
	errno = error;
	return error;
}

static inline int call_failed(int error)
{
	errno = error;
	return -1;
}

static inline void *call_failed_null(int error)
{
	errno = error;
	return NULL;
}

#define CALL_OF_PARENT "made before a fork(), by the parent process"

#define ENTER_WITH(name, generation, failure)                                                      \
	do {                                                                                       \
		int enter_error = FAULT_CALL_AS(name);                                             \
		if (enter_error == 0 && process_is_foreign(generation)) {                          \
			enter_error = REFUSE(EIO, name, CALL_OF_PARENT);                           \
			check_foreign(name, 0);                                                    \
		}                                                                                  \
		if (enter_error != 0)                                                              \
			return failure(enter_error);                                               \
	} while (0)

/* For calls that return the error and set errno; NULL and errno; -1 and errno. */
#define ENTER_AS(name, generation) ENTER_WITH(name, generation, call_error)
#define ENTER(generation)	   ENTER_WITH(__func__, generation, call_error)
#define ENTER_NULL(generation)	   ENTER_WITH(__func__, generation, call_failed_null)
#define ENTER_MINUS(generation)	   ENTER_WITH(__func__, generation, call_failed)
