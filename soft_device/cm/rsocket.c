/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rsocket.c -- sockets over RDMA: those of the librdmacm of the host, on this device.
 *
 * rsockets are a protocol above verbs and the CM: the library that has them calls rdma_*() and
 * ibv_*() by their public names, which are ours in this process. So it is loaded, by its path, and
 * gets these calls; no other one reaches it. Of an id it knows two private members besides the
 * public ones: struct rdma_core_id in cm.h.
 */
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cm.h"
#include "soft_device/process/process.h"

_Static_assert(offsetof(struct cm_id, core) == sizeof(struct rdma_cm_id),
	       "librdmacm looks behind the public members");

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic(void *) library;

/* It is beside the C library: by its name it would be ours. */
static void load(void)
{
	char path[PATH_MAX];
	const char *slash;
	void *loaded;
	Dl_info libc;

	if (dladdr((void *)(uintptr_t)gnu_get_libc_version, &libc) == 0 ||
	    (slash = strrchr(libc.dli_fname, '/')) == NULL)
		return;
	snprintf(path, sizeof(path), "%.*s/librdmacm.so.1", (int)(slash - libc.dli_fname),
		 libc.dli_fname);
	loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (loaded == NULL)
		process_verbose("rsockets are those of the librdmacm of this host: %s", dlerror());
	atomic_store(&library, loaded);
}

/* The function of this name, or NULL: there is none. */
static void *find(const char *name)
{
	pthread_once(&once, load);
	return atomic_load(&library) == NULL ? NULL : dlsym(atomic_load(&library), name);
}

#define FORWARD(type, name, parameters, ...)                                                       \
	SOFT_EXPORT type name parameters                                                           \
	{                                                                                          \
		static type(*_Atomic call) parameters;                                             \
		type(*there) parameters = atomic_load_explicit(&call, memory_order_relaxed);       \
		const int error = FAULT_CALL();                                                    \
                                                                                                   \
		if (error != 0)                                                                    \
			return (type)call_failed(error);                                           \
		if (there == NULL) {                                                               \
			*(void **)&there = find(#name);                                            \
			atomic_store(&call, there);                                                \
		}                                                                                  \
		if (there == NULL)                                                                 \
			return (type)call_failed(                                                  \
				REFUSE(ENOSYS, #name, "this host has no librdmacm.so.1"));         \
		return there(__VA_ARGS__);                                                         \
	}

FORWARD(int, rsocket, (int domain, int type, int protocol), domain, type, protocol)
FORWARD(int, rbind, (int socket, const struct sockaddr *addr, socklen_t addrlen), socket, addr,
	addrlen)
FORWARD(int, rlisten, (int socket, int backlog), socket, backlog)
FORWARD(int, raccept, (int socket, struct sockaddr *addr, socklen_t *addrlen), socket, addr,
	addrlen)
FORWARD(int, rconnect, (int socket, const struct sockaddr *addr, socklen_t addrlen), socket, addr,
	addrlen)
FORWARD(int, rshutdown, (int socket, int how), socket, how)
FORWARD(int, rclose, (int socket), socket)
FORWARD(ssize_t, rrecv, (int socket, void *buf, size_t len, int flags), socket, buf, len, flags)
FORWARD(ssize_t, rrecvfrom,
	(int socket, void *buf, size_t len, int flags, struct sockaddr *src_addr,
	 socklen_t *addrlen),
	socket, buf, len, flags, src_addr, addrlen)
FORWARD(ssize_t, rrecvmsg, (int socket, struct msghdr *msg, int flags), socket, msg, flags)
FORWARD(ssize_t, rsend, (int socket, const void *buf, size_t len, int flags), socket, buf, len,
	flags)
FORWARD(ssize_t, rsendto,
	(int socket, const void *buf, size_t len, int flags, const struct sockaddr *dest_addr,
	 socklen_t addrlen),
	socket, buf, len, flags, dest_addr, addrlen)
FORWARD(ssize_t, rsendmsg, (int socket, const struct msghdr *msg, int flags), socket, msg, flags)
FORWARD(ssize_t, rread, (int socket, void *buf, size_t count), socket, buf, count)
FORWARD(ssize_t, rreadv, (int socket, const struct iovec *iov, int iovcnt), socket, iov, iovcnt)
FORWARD(ssize_t, rwrite, (int socket, const void *buf, size_t count), socket, buf, count)
FORWARD(ssize_t, rwritev, (int socket, const struct iovec *iov, int iovcnt), socket, iov, iovcnt)
FORWARD(int, rselect,
	(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds, struct timeval *timeout),
	nfds, readfds, writefds, exceptfds, timeout)
FORWARD(int, rgetpeername, (int socket, struct sockaddr *addr, socklen_t *addrlen), socket, addr,
	addrlen)
FORWARD(int, rgetsockname, (int socket, struct sockaddr *addr, socklen_t *addrlen), socket, addr,
	addrlen)
FORWARD(int, rsetsockopt,
	(int socket, int level, int optname, const void *optval, socklen_t optlen), socket, level,
	optname, optval, optlen)
FORWARD(int, rgetsockopt, (int socket, int level, int optname, void *optval, socklen_t *optlen),
	socket, level, optname, optval, optlen)
FORWARD(off_t, riomap, (int socket, void *buf, size_t len, int prot, int flags, off_t offset),
	socket, buf, len, prot, flags, offset)
FORWARD(int, riounmap, (int socket, void *buf, size_t len), socket, buf, len)
FORWARD(size_t, riowrite, (int socket, const void *buf, size_t count, off_t offset, int flags),
	socket, buf, count, offset, flags)

/* Descriptors that are no rsockets are polled as well, and without any nothing is loaded. */
SOFT_EXPORT int rpoll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	int (*there)(struct pollfd *, nfds_t, int) = NULL;

	if (atomic_load(&library) != NULL)
		*(void **)&there = find("rpoll");
	return there == NULL ? poll(fds, nfds, timeout) : there(fds, nfds, timeout);
}

/* The third argument, if the command has one, is an int. */
SOFT_EXPORT int rfcntl(int socket, int cmd, ...)
{
	int (*there)(int, int, ...) = NULL;
	va_list arguments;
	int argument;

	*(void **)&there = find("rfcntl");
	if (there == NULL)
		return call_failed(REFUSE(ENOSYS, "rfcntl", "this host has no librdmacm.so.1"));
	va_start(arguments, cmd);
	argument = va_arg(arguments, int);
	va_end(arguments);
	return there(socket, cmd, argument);
}
