/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure.h -- the one error message a failing tool prints.
 *
 * The line that fails stores what went wrong, at which step, the exit code it
 * deserves and, where it knows it, the cause: that is what decides on remedies,
 * never the words. Only the tool's main prints it. Each thread has its own.
 */
#pragma once

enum exit_code {
	EXIT_GOOD = 0,
	EXIT_NEGATIVE = 1,
	EXIT_RUN_FAILED = 2,
	EXIT_NO_DEVICE = 3,
	EXIT_WRONG_USAGE = 64,
	EXIT_INTERNAL = 70,
};

/* The cause of a failure; cause_name() has the words of the JSON. */
enum cause {
	CAUSE_UNKNOWN,
	CAUSE_NAME,	     /* the host's name has no address, or no name server answered */
	CAUSE_NO_DEVICE,     /* this host has no such RDMA device */
	CAUSE_NO_PERMISSION, /* this user may not open a device file of RDMA */
	CAUSE_MEMLOCK,	     /* RLIMIT_MEMLOCK of this process */
	CAUSE_NO_MEMORY,     /* the host or the device has no memory left */
	CAUSE_LIMIT,	     /* too few open files or processes are allowed, here or on this host */
	CAUSE_ADDRESS_IN_USE,
	CAUSE_UNREACHABLE, /* no path to the peer, or none any more */
	CAUSE_NO_ANSWER,   /* the peer was silent for as long as it was waited for */
	CAUSE_REFUSED,	   /* the peer refused the connection */
	CAUSE_BUSY,	   /* the server has too many clients */
	CAUSE_WRONG_PEER,  /* the peer is of another version, or of another tool */
	CAUSE_CLOSED,	   /* the peer closed the connection */
	CAUSE_LOST, /* operations got no acknowledgement: the path or the peer's host is gone */
	CAUSE_MTU,  /* small packets arrive, large ones do not */
	CAUSE_LINK_DOWN,   /* the RDMA port of this host is not active */
	CAUSE_DEVICE_GONE, /* the RDMA device of this host was removed or reset */
	CAUSE_NO_ACCESS,   /* the peer's device refused access to the memory */
	CAUSE_CORRUPT,	   /* other bytes came back than were written */
	CAUSES,
};

struct failure {
	enum exit_code code;
	enum cause cause;
	char step[32];
	char text[768];
};

/* Sets the error message; gives -EINVAL for wrong usage and -EIO for all else. */
int failure_set(enum exit_code code, const char *step, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same of a wrong option. */
#define failure_usage(...) failure_set(EXIT_WRONG_USAGE, "options", __VA_ARGS__)
/* The same, of a cause that is known. */
int failure_because(enum cause cause, enum exit_code code, const char *step, const char *format,
		    ...) __attribute__((format(printf, 4, 5)));

/*
 * "cannot WHAT: ERROR", for a call that got this errno: a limit of files or processes is the
 * user's to raise, everything else is internal.
 */
int failure_call(const char *step, int error, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/* "refused"; NULL: unknown. */
const char *cause_name(enum cause cause);

/* The calling thread's error message; its text is empty when nothing failed. */
struct failure *failure_get(void);
