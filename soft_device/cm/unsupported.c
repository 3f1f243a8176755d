/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unsupported.c -- what librdmacm exports and the device does not model: sockets over RDMA.
 *
 * They are here all the same: a call that fell through to the real library would take
 * a descriptor of ours for one of its own.
 */
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>
#include <stdarg.h>
#include <stdint.h>

#include "cm.h"
#include "soft_device/process/process.h"

/* librdmacm gives descriptors that are none of its own to poll(2); here that is all of them. */
SOFT_EXPORT int rpoll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	return poll(fds, nfds, timeout);
}

#define UNSUPPORTED(type, name, ...)                                                               \
	SOFT_EXPORT type name(__VA_ARGS__)                                                         \
	{                                                                                          \
		return (type)call_failed(REFUSE(ENOSYS, #name, "rsockets are not supported"));     \
	}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

UNSUPPORTED(int, rsocket, int domain, int type, int protocol)
UNSUPPORTED(int, rbind, int socket, const struct sockaddr *addr, socklen_t addrlen)
UNSUPPORTED(int, rlisten, int socket, int backlog)
UNSUPPORTED(int, raccept, int socket, struct sockaddr *addr, socklen_t *addrlen)
UNSUPPORTED(int, rconnect, int socket, const struct sockaddr *addr, socklen_t addrlen)
UNSUPPORTED(int, rshutdown, int socket, int how)
UNSUPPORTED(int, rclose, int socket)
UNSUPPORTED(ssize_t, rrecv, int socket, void *buf, size_t len, int flags)
UNSUPPORTED(ssize_t, rrecvfrom, int socket, void *buf, size_t len, int flags,
	    struct sockaddr *src_addr, socklen_t *addrlen)
UNSUPPORTED(ssize_t, rrecvmsg, int socket, struct msghdr *msg, int flags)
UNSUPPORTED(ssize_t, rsend, int socket, const void *buf, size_t len, int flags)
UNSUPPORTED(ssize_t, rsendto, int socket, const void *buf, size_t len, int flags,
	    const struct sockaddr *dest_addr, socklen_t addrlen)
UNSUPPORTED(ssize_t, rsendmsg, int socket, const struct msghdr *msg, int flags)
UNSUPPORTED(ssize_t, rread, int socket, void *buf, size_t count)
UNSUPPORTED(ssize_t, rreadv, int socket, const struct iovec *iov, int iovcnt)
UNSUPPORTED(ssize_t, rwrite, int socket, const void *buf, size_t count)
UNSUPPORTED(ssize_t, rwritev, int socket, const struct iovec *iov, int iovcnt)
UNSUPPORTED(int, rselect, int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds,
	    struct timeval *timeout)
UNSUPPORTED(int, rgetpeername, int socket, struct sockaddr *addr, socklen_t *addrlen)
UNSUPPORTED(int, rgetsockname, int socket, struct sockaddr *addr, socklen_t *addrlen)
UNSUPPORTED(int, rsetsockopt, int socket, int level, int optname, const void *optval,
	    socklen_t optlen)
UNSUPPORTED(int, rgetsockopt, int socket, int level, int optname, void *optval, socklen_t *optlen)
UNSUPPORTED(int, rfcntl, int socket, int cmd, ...)
UNSUPPORTED(off_t, riomap, int socket, void *buf, size_t len, int prot, int flags, off_t offset)
UNSUPPORTED(int, riounmap, int socket, void *buf, size_t len)
UNSUPPORTED(size_t, riowrite, int socket, const void *buf, size_t count, off_t offset, int flags)

#pragma GCC diagnostic pop
