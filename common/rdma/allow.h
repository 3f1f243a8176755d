/* SPDX-License-Identifier: BSD-3-Clause */
/* allow.h -- which addresses a server takes connections from. */
#pragma once

#include <errno.h>
#include <librpma.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define ALLOW_MAX 32

struct allow_rule {
	struct in6_addr network; /* IPv4 as mapped */
	unsigned bits;		 /* prefix length, of 128 */
};

struct allow {
	struct allow_rule rules[ALLOW_MAX];
	size_t count; /* 0: any host that reaches the address it listens on */
};

/* ADDR or ADDR/LEN, of either family; -EINVAL for what is malformed, -ENOSPC. */
int allow_add(struct allow *allow, const char *text);
/* The same for an option (a cli_parser); a wrong value gives EINVAL, with the error message set. */
error_t allow_option(const char *option, const char *arg, void *allow);
bool allow_has(const struct allow *allow, const struct sockaddr_storage *address);
/* Whom the request comes from; false too where librpma, before 1.4, cannot tell. */
bool allow_request(const struct allow *allow, const struct rpma_conn_req *req);
/* True if this librpma can tell. */
bool allow_works(void);
