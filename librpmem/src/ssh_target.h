/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ssh_target.h -- the parts of a target, "[USER@]HOST[:PORT]".
 *
 * HOST is a name, an IPv4 address, an IPv6 address, or an IPv6 address in
 * brackets; only the latter can have a port behind it. What a user or a host
 * name never has, but ssh or a shell of its configuration would act on, is
 * refused.
 */
#pragma once

#include <stdbool.h>

#define SSH_USER_MAX 33	 /* with its NUL; useradd(8) */
#define SSH_HOST_MAX 256 /* with its NUL; RFC 1035, 2.3.4 */

struct ssh_target {
	char user[SSH_USER_MAX]; /* empty: ssh's own choice */
	char host[SSH_HOST_MAX]; /* without brackets */
	char port[8];		 /* empty: ssh's own choice */
	bool is_ipv6;		 /* the host is an IPv6 address */
};

/* -EINVAL with the error message set. */
int ssh_target_parse(const char *text, struct ssh_target *target);
