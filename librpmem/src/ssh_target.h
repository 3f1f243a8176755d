/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ssh_target.h -- "[USER@]HOST[:PORT]" into its parts.
 */
#ifndef RPMEM_SSH_TARGET_H
#define RPMEM_SSH_TARGET_H

#include <stdbool.h>

struct ssh_target {
	char user[256]; /* empty: ssh's own choice */
	char host[256]; /* without brackets */
	char port[8];	/* empty: ssh's own choice */
	bool is_ipv6;	/* the host is a literal address of IPv6 */
};

/* -EINVAL with the sentence stored: not of that form, too long, or what ssh would take for an option. */
int ssh_target_parse(const char *text, struct ssh_target *target);

#endif /* RPMEM_SSH_TARGET_H */
