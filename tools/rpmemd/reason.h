/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reason.h -- a failure with its errno, as clients of rpmemd get it.
 *
 * The functions of the storage side return 0 or a negative errno, and the line
 * that fails sets the error message here. The errno travels to the client as the
 * status of a reply, the error message as its text.
 */
#pragma once

/* Sets the error message by failure_set(), with '?' for control characters; gives -error. */
int reason_set(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
