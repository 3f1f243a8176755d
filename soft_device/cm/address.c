/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * address.c -- addresses and ports: binding an id, resolving where it connects to.
 *
 * A bound id holds a TCP socket bound to its address: that reserves the port against
 * every other process, and the socket later listens or connects. The routing table is
 * asked by connecting a UDP socket, which sends nothing.
 */
#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

#include "cm.h"
#include "soft_device/process/process.h"
#include "soft_device/transport/address.h"

#define PORT_TRIES 16 /* another process may bind a free port first, but rarely twice */

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_storage storage;
};

socklen_t cm_address_bytes(const struct sockaddr *addr)
{
	if (addr == NULL)
		return 0;
	if (addr->sa_family == AF_INET)
		return sizeof(struct sockaddr_in);
	return addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : 0;
}

/* Like ipv4_is_loopback() and ipv6_addr_loopback() of the kernel. */
static bool is_loopback(const struct sockaddr_storage *addr)
{
	const union address of = {.storage = *addr};

	if (addr->ss_family == AF_INET)
		return ntohl(of.in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(&of.in6.sin6_addr);
}

static bool is_any(const struct sockaddr_storage *addr)
{
	const union address of = {.storage = *addr};

	if (addr->ss_family == AF_INET)
		return of.in.sin_addr.s_addr == htonl(INADDR_ANY);
	return IN6_IS_ADDR_UNSPECIFIED(&of.in6.sin6_addr);
}

/* Network order; it is at the same offset in both families. */
static in_port_t port_of(const struct sockaddr_storage *addr)
{
	const union address of = {.storage = *addr};

	return of.in.sin_port;
}

uint16_t cm_address_port(const struct sockaddr_storage *addr)
{
	return ntohs(port_of(addr));
}

void cm_address_unmap(struct sockaddr_storage *addr)
{
	const union address from = {.storage = *addr};
	union address to = {.in.sin_family = AF_INET};

	if (from.any.sa_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&from.in6.sin6_addr))
		return;
	to.in.sin_port = from.in6.sin6_port;
	memcpy(&to.in.sin_addr, &from.in6.sin6_addr.s6_addr[12], sizeof(to.in.sin_addr));
	*addr = to.storage;
}

static void copy_address(struct sockaddr_storage *to, const struct sockaddr *from)
{
	union address copy = {.storage = {0}};

	if (from->sa_family == AF_INET)
		memcpy(&copy.in, from, sizeof(copy.in));
	else
		memcpy(&copy.in6, from, sizeof(copy.in6));
	*to = copy.storage;
}

static struct device *device_of(const struct sockaddr_storage *addr)
{
	union ibv_gid gid;

	gid_from_sockaddr(&gid, (const struct sockaddr *)addr);
	return device_with_gid(&gid);
}

/*
 * Bound without SO_REUSEADDR, so that no other process gets the port, not even by binding
 * only. Where that fails for connections that are in TCP's time wait (a CM knows no such
 * thing), it is bound with it: that is refused for ports in use all the same.
 */
static int bind_socket(int fd, const struct sockaddr_storage *addr, bool reuse)
{
	const socklen_t bytes = cm_address_bytes((const struct sockaddr *)addr);
	const int yes = 1, no = 0;

	if (!reuse) {
		if (bind(fd, (const struct sockaddr *)addr, bytes) == 0)
			return 0;
		if (errno != EADDRINUSE)
			return -errno;
	}
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
	    bind(fd, (const struct sockaddr *)addr, bytes) != 0)
		return -errno;
	if (!reuse && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &no, sizeof(no)) != 0)
		return -errno;
	return 0;
}

/* A socket of the id's kind, bound to *local, which learns its port; -errno. */
static int open_bound(const struct cm_id *id, struct sockaddr_storage *local)
{
	const int only = id->family_only;
	socklen_t bytes = sizeof(*local);
	int fd = socket(local->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error = 0;

	if (fd < 0) {
		error = errno;
		cm_warn_files(error);
		return -error;
	}
	if (local->ss_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only)) != 0)
		error = -errno;
	if (error == 0)
		error = bind_socket(fd, local, id->reuse_address);
	if (error == 0 && getsockname(fd, (struct sockaddr *)local, &bytes) != 0)
		error = -errno;
	if (error != 0) {
		close(fd);
		return error;
	}
	return fd;
}

/*
 * Linux takes a port it chose itself from a socket whose connection is refused, but never one
 * that bind() named (SOCK_BINDPORT_LOCK in net/ipv4). So it is asked for a free port, which
 * is then bound by name.
 */
static int open_free(const struct cm_id *id, struct sockaddr_storage *local)
{
	const int fd = open_bound(id, local);

	if (fd < 0)
		return fd;
	close(fd);
	return open_bound(id, local);
}

/* The id's fd, bound to `local`; lock held. */
static int reserve(struct cm_id *id)
{
	const bool any_port = cm_address_port(&id->local) == 0;
	struct sockaddr_storage local;
	int fd, tries = any_port ? PORT_TRIES : 1;

	do {
		local = id->local;
		fd = any_port ? open_free(id, &local) : open_bound(id, &local);
	} while (fd == -EADDRINUSE && --tries > 0);
	if (fd < 0)
		return fd;
	id->local = local;
	id->fd = fd;
	return 0;
}

int cm_bind(struct cm_id *id, const struct sockaddr *addr)
{
	int error;

	if (id->state != CM_IDLE)
		return CM_REFUSE_STATE(-EINVAL, "rdma_bind_addr", id);
	copy_address(&id->local, addr);
	if (!is_any(&id->local)) {
		id->device = device_of(&id->local);
		if (id->device == NULL)
			return -ENODEV;
	}
	/* Like the kernel: cma_any_addr() in drivers/infiniband/core/cma.c covers loopback, too. */
	if (is_loopback(&id->local))
		id->device = NULL;
	error = reserve(id);
	if (error == 0)
		id->state = CM_BOUND;
	else
		id->device = NULL;
	return error;
}

void cm_show_local(struct cm_id *id)
{
	pthread_mutex_lock(&cm_lock);
	id->pub.route.addr.src_storage = id->local;
	pthread_mutex_unlock(&cm_lock);
}

static int refuse_address(const char *call, const struct sockaddr *address)
{
	if (address == NULL)
		return REFUSE(EINVAL, call, "the address is NULL");
	return REFUSE(EINVAL, call, "address family %d, expected AF_INET (%d) or AF_INET6 (%d)",
		      address->sa_family, AF_INET, AF_INET6);
}

static int refuse_bind(const struct cm_id *id, int error)
{
	if (error == EINVAL)
		return error; /* cm_bind() has named the state */
	if (error == ENODEV)
		return CM_REFUSE(error, "rdma_bind_addr", id, "no device has this address");
	return CM_REFUSE(error, "rdma_bind_addr", id, "%s", strerror(error));
}

SOFT_EXPORT int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct cm_id *of = cm_id_of(id);
	int error;

	CM_ENTER(id);
	if (cm_address_bytes(addr) == 0)
		return call_failed(refuse_address(__func__, addr));
	pthread_mutex_lock(&cm_lock);
	error = -cm_bind(of, addr);
	pthread_mutex_unlock(&cm_lock);
	if (error != 0)
		return call_failed(refuse_bind(of, error));
	cm_show_local(of);
	error = of->device == NULL ? 0 : -cm_id_show_device(of);
	return error == 0 ? 0 : call_failed(error);
}

/* Finds this host's address that speaks to `to`; `from` may fix it. -errno: there is no route. */
static int find_source(const struct sockaddr_storage *to, struct sockaddr_storage *from)
{
	const socklen_t bytes = cm_address_bytes((const struct sockaddr *)to);
	union address bound = {.storage = *from};
	socklen_t room = sizeof(*from);
	int fd = socket(to->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int error = 0;

	if (fd < 0) {
		error = errno;
		cm_warn_files(error);
		return -error;
	}
	bound.in.sin_port = 0;
	if ((!is_any(from) && bind(fd, &bound.any, bytes) != 0) ||
	    connect(fd, (const struct sockaddr *)to, bytes) != 0 ||
	    getsockname(fd, &bound.any, &room) != 0)
		error = -errno;
	close(fd);
	if (error != 0)
		return error;
	bound.in.sin_port = port_of(from);
	*from = bound.storage;
	return 0;
}

/* To connect to the wildcard is to connect to this host. */
static void take_host(struct sockaddr_storage *to, const struct sockaddr_storage *from)
{
	union address host = {.storage = *from};

	host.in.sin_port = port_of(to);
	*to = host.storage;
}

/* Binds an id that is not bound, else fixes the address of one bound to a port only. */
static int settle_source(struct cm_id *id, const struct sockaddr_storage *source)
{
	if (id->state == CM_BOUND && id->device != NULL)
		return 0;
	id->device = device_of(source);
	if (id->device == NULL)
		return -ENODEV;
	id->local = *source;
	return id->fd >= 0 ? 0 : reserve(id);
}

static const char resolve_addr[] = "rdma_resolve_addr";

/* Lock held. -errno is the call's failure, *status the event's. */
static int resolve_address(struct cm_id *id, const struct sockaddr *src, const struct sockaddr *dst,
			   int *status)
{
	struct sockaddr_storage source = {.ss_family = dst->sa_family};
	int error;

	if (id->state != CM_IDLE && id->state != CM_BOUND)
		return CM_REFUSE_STATE(-EINVAL, resolve_addr, id);
	if (id->state == CM_BOUND)
		source = id->local;
	else if (src != NULL)
		copy_address(&source, src);
	if (source.ss_family != dst->sa_family)
		return CM_REFUSE(-EINVAL, resolve_addr, id,
				 "address families %d and %d of source and destination",
				 source.ss_family, dst->sa_family);
	copy_address(&id->remote, dst);
	error = find_source(&id->remote, &source);
	if (error != 0)
		return CM_REFUSE(error, resolve_addr, id, "the routing table has no way there: %s",
				 strerror(-error));
	if (is_any(&id->remote))
		take_host(&id->remote, &source);
	*status = settle_source(id, &source);
	if (*status != 0 && *status != -ENODEV)
		return CM_REFUSE(*status, resolve_addr, id, "its port: %s", strerror(-*status));
	return 0;
}

SOFT_EXPORT int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr,
				  struct sockaddr *dst_addr, int timeout_ms)
{
	struct cm_id *of = cm_id_of(id);
	int error, status = 0;

	(void)timeout_ms; /* asking this host's routing table takes no time */
	CM_ENTER(id);
	if (cm_address_bytes(dst_addr) == 0)
		return call_failed(refuse_address(__func__, dst_addr));
	if (src_addr != NULL && cm_address_bytes(src_addr) == 0)
		return call_failed(refuse_address(__func__, src_addr));
	pthread_mutex_lock(&cm_lock);
	error = -resolve_address(of, src_addr, dst_addr, &status);
	if (error == 0) {
		/* before the event: who takes it writes here, too */
		memcpy(&id->route.addr.dst_addr, dst_addr, cm_address_bytes(dst_addr));
		error = -cm_event_raise(
			of, status == 0 ? RDMA_CM_EVENT_ADDR_RESOLVED : RDMA_CM_EVENT_ADDR_ERROR,
			status);
		if (error == 0 && status == 0)
			of->state = CM_ADDR_RESOLVED;
	}
	pthread_mutex_unlock(&cm_lock);
	return error == 0 ? cm_id_complete(of) : call_failed(error);
}

SOFT_EXPORT int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	struct cm_id *of = cm_id_of(id);
	int error;

	(void)timeout_ms;
	CM_ENTER(id);
	pthread_mutex_lock(&cm_lock);
	error = of->state == CM_ADDR_RESOLVED ? 0 : CM_REFUSE_STATE(EINVAL, __func__, of);
	if (error == 0)
		error = -cm_event_raise(of, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	if (error == 0)
		of->state = CM_ROUTE_RESOLVED;
	pthread_mutex_unlock(&cm_lock);
	return error == 0 ? cm_id_complete(of) : call_failed(error);
}

SOFT_EXPORT __be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return id->route.addr.src_sin.sin_port;
}

SOFT_EXPORT __be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return id->route.addr.dst_sin.sin_port;
}
