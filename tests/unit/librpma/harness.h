/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * harness.h -- how the librpma tests say what they expect.
 *
 * Each executable runs twice: with our librpma.so.0 and with that of Debian 12
 * (the reference). expect() checks a return value and remembers which error of
 * which function was seen, so that manual_errors.py can compare with the manuals.
 */
#pragma once

#include <librpma.h>

#include "tests/lib/test.h"

/* The value an out parameter has before a call that must not touch it. */
#define UNTOUCHED	((void *)(uintptr_t)0x5afe5afe)

#define ARRAY_LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* True when the loaded librpma.so.0 is the reference, not ours. */
bool on_reference(void);

/* Our value, the reference's, and why ours differs. */
#define DIFFERS(ours, reference, reason) (on_reference() ? (reference) : (ours))

/* The rest of the test is about ours alone. */
#define OURS_ONLY(reason)                                                                          \
	do {                                                                                       \
		if (on_reference()) {                                                              \
			print_message("not asked of the reference: %s\n", reason);                 \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

/*
 * The call must return this value; the pair is remembered as covered. A failure of ours leaves a
 * new sentence in rpma_err_text().
 */
#define expect(value, call)                                                                        \
	do {                                                                                       \
		forget_text();                                                                     \
		check_result((value), (call), #call, __FILE__, __LINE__);                          \
		check_text((value), #call, __FILE__, __LINE__);                                    \
	} while (0)

/* The same for a call through a pointer to the function of this name. */
#define expect_named(value, name, call) check_result((value), (call), (name), __FILE__, __LINE__)

/* NULL for the object or for the place of the answer, which stays as it was. */
#define REFUSES_NULL(function, object, type)                                                       \
	do {                                                                                       \
		typeof(type) before, place;                                                        \
                                                                                                   \
		memset(&before, 0x5a, sizeof(before));                                             \
		memset(&place, 0x5a, sizeof(place));                                               \
		expect(RPMA_E_INVAL, function(NULL, &place));                                      \
		expect(RPMA_E_INVAL, function(object, NULL));                                      \
		assert_memory_equal(&place, &before, sizeof(place));                               \
	} while (0)

/* rpma_err_text(); NULL on the reference, which has none. */
const char *err_text(void);

/* The last failure has these words. */
void expect_text(const char *words);

void forget_text(void);
void check_text(int result, const char *call, const char *file, int line);
void check_result(int expected, int actual, const char *call, const char *file, int line);

/* "RPMA_E_INVAL" for the code, "0" for success. */
const char *result_name(int result);
