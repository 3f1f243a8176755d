/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errors.h -- which errno each function of librpmem.h may set.
 *
 * The daemon, its kernel and the libraries below may fail with any errno. Callers rely
 * on those that the header documents; every other one becomes EREMOTEIO, and
 * rpmem_errormsg() has what happened.
 */
#ifndef RPMEM_ERRORS_H
#define RPMEM_ERRORS_H

enum errors_call {
	ERRORS_CREATE,
	ERRORS_OPEN,
	ERRORS_SET_ATTR,
	ERRORS_CLOSE,
	ERRORS_REMOVE,
	ERRORS_PERSIST,
	ERRORS_DEEP_PERSIST,
	ERRORS_FLUSH,
	ERRORS_DRAIN,
	ERRORS_READ,
};

/* Takes and gives a negative errno. */
int errors_documented(enum errors_call call, int ret);

#endif /* RPMEM_ERRORS_H */
