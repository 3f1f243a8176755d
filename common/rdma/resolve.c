/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * resolve.c -- getaddrinfo with a limit.
 *
 * getaddrinfo cannot be bounded, so it runs in a thread of its own; on
 * timeout the caller leaves, and the last of the two frees what they share.
 */
#include "resolve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "common/base/thread.h"

/*
 * Lists the addresses of this host's interfaces.
 *
 * A server takes them one by one: memory is registered with one device, and a request that
 * came to a wildcard over another device could not use it.
 */

bool host_address_is_wildcard(const char *address)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, address, &four) == 1)
		return four.s_addr == htonl(INADDR_ANY);
	return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_UNSPECIFIED(&six);
}

bool host_address_is_loopback(const char *address)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, address, &four) == 1)
		return ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
	return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static bool print(const struct sockaddr *address, bool six, char text[RESOLVE_ADDRESS_MAX])
{
	const struct sockaddr_in *of_4 = (const void *)address;
	const struct sockaddr_in6 *of_6 = (const void *)address;

	if (address != NULL && address->sa_family == AF_INET)
		return inet_ntop(AF_INET, &of_4->sin_addr, text, RESOLVE_ADDRESS_MAX) != NULL;
	if (!six || address == NULL || address->sa_family != AF_INET6 ||
	    IN6_IS_ADDR_LINKLOCAL(&of_6->sin6_addr))
		return false;
	return inet_ntop(AF_INET6, &of_6->sin6_addr, text, RESOLVE_ADDRESS_MAX) != NULL;
}

static bool has(const struct host_addresses *addresses, const char *text)
{
	for (size_t i = 0; i < addresses->count; i++) {
		if (strcmp(addresses->text[i], text) == 0)
			return true;
	}
	return false;
}

void host_addresses_take(struct host_addresses *addresses, const char *wildcard,
			 const struct ifaddrs *list)
{
	bool six = strchr(wildcard, ':') != NULL;
	char text[RESOLVE_ADDRESS_MAX];

	addresses->count = 0;
	for (; list != NULL && addresses->count < HOST_ADDRESSES_MAX; list = list->ifa_next) {
		if ((list->ifa_flags & IFF_UP) != 0 && print(list->ifa_addr, six, text) &&
		    !has(addresses, text))
			memcpy(addresses->text[addresses->count++], text, sizeof(text));
	}
}

int host_addresses(struct host_addresses *addresses, const char *wildcard)
{
	struct ifaddrs *list = NULL;

	if (getifaddrs(&list) != 0)
		return failure_set(EXIT_RUN_FAILED, "listen",
				   "cannot list the addresses of this host: %s", strerror(errno));
	host_addresses_take(addresses, wildcard, list);
	freeifaddrs(list);
	return 0;
}

#define STEP "resolve"

struct lookup {
	pthread_mutex_t lock;
	pthread_cond_t done_signal;
	bool done;	/* under lock, like all below */
	bool abandoned; /* the asker has left: the thread frees */
	int gai_error;
	struct resolved resolved;
	int family;
	char host[];
};

static void lookup_free(struct lookup *l)
{
	pthread_cond_destroy(&l->done_signal);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static void add(struct resolved *resolved, const char *address)
{
	for (size_t i = 0; i < resolved->count; i++) {
		if (strcmp(resolved->addresses[i], address) == 0)
			return;
	}
	if (resolved->count < RESOLVE_ADDRESSES_MAX)
		memcpy(resolved->addresses[resolved->count++], address, RESOLVE_ADDRESS_MAX);
}

static int look_up(const char *host, int family, int flags, struct resolved *resolved)
{
	struct addrinfo hints = {.ai_family = family,
				 .ai_socktype = SOCK_STREAM,
				 .ai_flags = flags},
			*found = NULL;
	int error = getaddrinfo(host, NULL, &hints, &found);

	for (const struct addrinfo *i = found; error == 0 && i != NULL; i = i->ai_next) {
		char address[RESOLVE_ADDRESS_MAX] = "";

		error = getnameinfo(i->ai_addr, i->ai_addrlen, address, sizeof(address), NULL, 0,
				    NI_NUMERICHOST);
		if (error == 0)
			add(resolved, address);
	}
	if (found != NULL)
		freeaddrinfo(found);
	return error;
}

static void *look_up_thread(void *arg)
{
	struct lookup *l = arg;
	struct resolved resolved = {.count = 0};
	int error = look_up(l->host, l->family, 0, &resolved);
	bool abandoned;

	pthread_mutex_lock(&l->lock);
	l->gai_error = error;
	l->resolved = resolved;
	l->done = true;
	abandoned = l->abandoned;
	pthread_cond_signal(&l->done_signal);
	pthread_mutex_unlock(&l->lock);
	if (abandoned)
		lookup_free(l);
	return NULL;
}

/* An address of IPv6 may stand in brackets (RFC 3986, 3.2.2), which getaddrinfo does not know. */
static size_t inside_brackets(const char **host)
{
	size_t length = strlen(*host);

	if (**host != '[' || (*host)[length - 1] != ']' || strchr(*host, ':') == NULL)
		return length;
	(*host)++;
	return length - 2;
}

static struct lookup *lookup_new(const char *host, int family)
{
	size_t length = inside_brackets(&host);
	struct lookup *l = calloc(1, sizeof(*l) + length + 1);

	if (l == NULL)
		return NULL;
	memcpy(l->host, host, length);
	l->family = family;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->done_signal, NULL);
	return l;
}

/* Waits, takes the answer, and frees the lookup or leaves it to its thread. */
static int take_answer(struct lookup *l, uint64_t deadline_ns, int *gai_error,
		       struct resolved *resolved)
{
	const struct timespec deadline = timespec_of_ns(deadline_ns);
	int error = 0;
	bool done;

	pthread_mutex_lock(&l->lock);
	while (!l->done && error == 0)
		error = pthread_cond_clockwait(&l->done_signal, &l->lock, CLOCK_MONOTONIC,
					       &deadline);
	done = l->done;
	l->abandoned = !done;
	*gai_error = l->gai_error;
	if (done)
		*resolved = l->resolved;
	pthread_mutex_unlock(&l->lock);
	if (done)
		lookup_free(l);
	return done ? 0 : -ETIMEDOUT;
}

/* An address of IPv6 has two colons at least, and none after its brackets. */
bool resolve_has_port(const char *host)
{
	const char *colon = strchr(host, ':');

	return strstr(host, "]:") != NULL || (colon != NULL && strchr(colon + 1, ':') == NULL);
}

int resolve_host(const char *host, int timeout_ms, char address[RESOLVE_ADDRESS_MAX])
{
	struct resolved resolved;
	int ret = resolve_all(host, AF_UNSPEC, timeout_ms, &resolved);

	if (ret == 0)
		memcpy(address, resolved.addresses[0], RESOLVE_ADDRESS_MAX);
	return ret;
}

int resolve_all(const char *host, int family, int timeout_ms, struct resolved *resolved)
{
	struct lookup *l = lookup_new(host, family);
	uint64_t deadline_ns = monotonic_ns() + (uint64_t)timeout_ms * 1000000;
	int gai_error = 0, ret;

	resolved->count = 0;
	if (l == NULL)
		return failure_set(EXIT_INTERNAL, STEP, "out of memory");
	if (look_up(l->host, family, AI_NUMERICHOST, resolved) == 0) { /* asks no server */
		lookup_free(l);
		return 0;
	}
	ret = thread_start(NULL, look_up_thread, l);
	if (ret != 0) {
		lookup_free(l);
		return failure_call(STEP, -ret, "start a thread to look up %s", host);
	}
	if (take_answer(l, deadline_ns, &gai_error, resolved) != 0)
		return failure_because(CAUSE_NAME, EXIT_RUN_FAILED, STEP,
				       "cannot resolve the host name %s: no answer within %g s",
				       host, timeout_ms / 1000.0);
	if (gai_error != 0)
		return failure_because(CAUSE_NAME, EXIT_RUN_FAILED, STEP,
				       "cannot resolve the host name %s: %s", host,
				       gai_strerror(gai_error));
	if (resolved->count == 0)
		return failure_because(CAUSE_NAME, EXIT_RUN_FAILED, STEP,
				       "the host name %s has no address", host);
	return 0;
}
