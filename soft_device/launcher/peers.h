/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peers.h -- the other processes of this host that use the device, and whether a process of this
 * user reaches them.
 */
#pragma once

/* Prints a line each, of those that this user may see, and of ports of others; at most `most`. */
void peers_print(unsigned most);

/* 0 where a process may read the memory of another one of the same user, or the errno. */
int peers_memory_error(void);
