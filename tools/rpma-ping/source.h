/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * source.h -- from where pings leave this host.
 *
 * librpma has no call that chooses it: the RDMA CM asks the kernel for the route, as a
 * datagram socket does. So --interface is a requirement, which is checked.
 */
#ifndef SOURCE_H
#define SOURCE_H

/* 0 if the route to the address leaves from this interface or local address. */
int source_check(const char *source, const char *address);

#endif /* SOURCE_H */
