/* SPDX-License-Identifier: BSD-3-Clause */
/* client.c -- connects step by step, and leaves. */
#include "client.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "claim.h"
#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "common/base/units.h"
#include "common/host/rlimits.h"

#define refused(...) failure_set(EXIT_RUN_FAILED, "region", __VA_ARGS__)

/* Written before the handler is installed; the descriptors stay open until exit. */
static int watch_fds[OPTIONS_HOSTS];
static size_t watches;

static atomic_uint times_asked;

static void on_quit(int number)
{
	const uint64_t one = 1;
	int saved = errno;

	(void)number;
	atomic_fetch_add(&times_asked, 1);
	for (size_t i = 0; i < watches; i++) {
		if (write(watch_fds[i], &one, sizeof(one)) < 0)
			errno = saved; /* the counter is full: readable already */
	}
	errno = saved;
}

static int status_open(struct status_watch *watch)
{
	watch->seen = 0;
	watch->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch->fd < 0)
		return failure_call("parse", errno, "make an eventfd");
	watch_fds[watches++] = watch->fd;
	return 0;
}

void status_catch(void)
{
	struct sigaction action = {.sa_handler = on_quit, .sa_flags = SA_RESTART};

	sigemptyset(&action.sa_mask);
	sigaction(SIGQUIT, &action, NULL);
}

bool status_asked(struct status_watch *watch)
{
	const unsigned now = atomic_load(&times_asked);
	const bool more = now != watch->seen;

	watch->seen = now;
	return more;
}

bool status_woken(struct status_watch *watch)
{
	eventfd_t unused;

	eventfd_read(watch->fd, &unused);
	return status_asked(watch);
}

#define STEP	 "device"
#define TEXT_MAX 64

struct address {
	struct sockaddr_storage storage;
	socklen_t length;
};

static bool parse(const char *text, struct address *address)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_DGRAM};
	struct addrinfo *found = NULL;

	if (getaddrinfo(text, "9", &hints, &found) != 0)
		return false;
	memcpy(&address->storage, found->ai_addr, found->ai_addrlen);
	address->length = found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

static bool print(const struct sockaddr *address, char text[TEXT_MAX])
{
	socklen_t length = address->sa_family == AF_INET ? sizeof(struct sockaddr_in)
							 : sizeof(struct sockaddr_in6);

	return getnameinfo(address, length, text, TEXT_MAX, NULL, 0, NI_NUMERICHOST) == 0;
}

/* The local address of the route, as text. */
static int find_local(const char *address, char text[TEXT_MAX])
{
	struct address to = {.length = 0}, own = {.length = sizeof(own.storage)};
	int fd = -1, ret = -1;

	if (parse(address, &to))
		fd = socket(to.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&to.storage, to.length) == 0 &&
	    getsockname(fd, (struct sockaddr *)&own.storage, &own.length) == 0 &&
	    print((struct sockaddr *)&own.storage, text))
		ret = 0;
	if (ret != 0)
		failure_because(CAUSE_UNREACHABLE, EXIT_RUN_FAILED, STEP, "no route to %s: %s",
				address, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

/* The interface that has the address; empty: none. */
static void find_interface(const char *address, char name[IF_NAMESIZE])
{
	struct ifaddrs *all = NULL;
	char text[TEXT_MAX];

	name[0] = '\0';
	if (getifaddrs(&all) != 0)
		return;
	for (const struct ifaddrs *i = all; i != NULL && name[0] == '\0'; i = i->ifa_next) {
		if (i->ifa_addr == NULL ||
		    (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6))
			continue;
		if (print(i->ifa_addr, text) && strcmp(text, address) == 0)
			snprintf(name, IF_NAMESIZE, "%s", i->ifa_name);
	}
	freeifaddrs(all);
}

/* 0 if the route to the address leaves from this interface or local address. */
static int source_check(const char *source, const char *address)
{
	char local[TEXT_MAX], asked[TEXT_MAX] = "", interface[IF_NAMESIZE];
	struct address own;

	if (find_local(address, local) != 0)
		return -EIO;
	find_interface(local, interface);
	if (strcmp(source, interface) == 0)
		return 0;
	/* an address has many spellings */
	if (parse(source, &own) && print((struct sockaddr *)&own.storage, asked) &&
	    strcmp(asked, local) == 0)
		return 0;
	if (asked[0] == '\0' && if_nametoindex(source) == 0)
		return failure_set(EXIT_RUN_FAILED, STEP,
				   "--interface %s: this host has no such interface, and it is not "
				   "an address",
				   source);
	return failure_because(CAUSE_UNREACHABLE, EXIT_RUN_FAILED, STEP,
			       "--interface %s: the route to %s leaves from %s of the interface "
			       "%s (ip route get %s)",
			       source, address, local, interface[0] != '\0' ? interface : "unknown",
			       address);
}

static int resolve(struct client *c)
{
	const struct options *o = c->options;

	c->dial.family = o->ipv4 ? AF_INET : o->ipv6 ? AF_INET6 : AF_UNSPEC;
	/* a run that has to end does not wait longer for a name */
	if (o->deadline_ns > 0 && o->deadline_ns < RESOLVE_TIMEOUT_MS * 1000000ULL)
		c->dial.resolve_ms = (int)(o->deadline_ns / 1000000 + 1);
	return dial_resolve(&c->dial, c->host, o->port);
}

/* Keeps the addresses that the source has a route to. */
static int keep_addresses(struct client *c)
{
	struct resolved *all = &c->dial.resolved;
	size_t kept = 0;

	for (size_t i = 0; i < all->count; i++) {
		if (source_check(c->options->source, all->addresses[i]) == 0)
			memmove(all->addresses[kept++], all->addresses[i],
				sizeof(all->addresses[i]));
	}
	all->count = kept;
	return kept > 0 ? 0 : -EIO;
}

static int find_device(struct client *c)
{
	const struct options *o = c->options;
	const struct endpoint_options options = {o->device, o->cli.quiet, o->argv + 1};

	if (o->source != NULL && keep_addresses(c) != 0)
		return -EIO;
	return dial_route(&c->dial, &options);
}

/* Two steps in one call: the stamp between them shows which of the two failed. */
static int connect_server(struct client *c)
{
	const struct handshake_request request = {HANDSHAKE_VERSION, HANDSHAKE_PING, 0,
						  c->options->size_bytes};
	/* a queue of no receives is no queue to some devices */
	const struct connection_queues queues = {
		.sq_size = PING_WORK_REQUESTS, .cq_size = PING_WORK_REQUESTS + 1, .rq_size = 1};
	struct timespec requested = {0};
	const struct connection_cfg cfg = {.stop_fd = cli_stop_fd(),
					   .queues = &queues,
					   .knobs = &c->options->knobs,
					   .requested = &requested};
	uint8_t handshake[HANDSHAKE_REQUEST_BYTES];
	uint64_t at;
	int ret;

	handshake_encode_request(&request, handshake);
	ret = dial_connect(&c->connection, &c->dial, handshake, &cfg);
	at = (uint64_t)requested.tv_sec * 1000000000ULL + (uint64_t)requested.tv_nsec;
	if (at != 0) {
		c->steps.ns[STEP_REQUEST] = (int64_t)(at - c->steps.begun_ns);
		c->steps.begun_ns = at;
		c->steps.current = STEP_CONNECT;
	}
	return ret;
}

static int check_handshake(struct client *c)
{
	int ret = dial_answer(&c->dial, c->connection, HANDSHAKE_PING, &c->reply);

	if (ret == 0 && c->reply.desc.mr_bytes == 0)
		ret = failure_because(
			CAUSE_WRONG_PEER, EXIT_RUN_FAILED, "handshake",
			"%s welcomes without describing its memory: it is not a server of "
			"rpma-ping",
			c->dial.name);
	return ret;
}

static int take_region(struct client *c)
{
	int ret = region_take(&c->region, &c->reply.desc, connection_conn(c->connection));

	if (ret)
		return refused("%s describes its memory in a way librpma refuses: %s", c->dial.name,
			       connection_cause(ret));
	return 0;
}

static int choose_flush(struct client *c)
{
	bool persistent = (c->region.flush_types & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT) != 0;
	bool visibility = (c->region.flush_types & RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY) != 0;
	enum flush_choice flush = c->options->flush;

	if (flush == FLUSH_PERSISTENT && !persistent)
		return refused("--flush persistent: the memory of %s is not registered for it: "
			       "start it with a --target on persistent memory",
			       c->dial.name);
	if (flush == FLUSH_PERSISTENT && !c->region.direct_write_to_pmem)
		return refused("--flush persistent: %s does not state that writes reach the "
			       "persistence domain: start it with --direct-write-to-pmem, where "
			       "rpma-ddio-check reports that they do",
			       c->dial.name);
	if (flush == FLUSH_AUTO && persistent && c->region.direct_write_to_pmem)
		flush = FLUSH_PERSISTENT;
	if (flush != FLUSH_PERSISTENT && !visibility)
		return refused("the memory of %s is not registered for a flush to visibility",
			       c->dial.name);
	c->ping.flush =
		flush == FLUSH_PERSISTENT ? RPMA_FLUSH_TYPE_PERSISTENT : RPMA_FLUSH_TYPE_VISIBILITY;
	return 0;
}

static int check_region(struct client *c)
{
	char slot[UNITS_TEXT_BYTES], size[UNITS_TEXT_BYTES];
	int ret = take_region(c);

	if (ret)
		return ret;
	if (c->region.bytes < c->options->size_bytes)
		return refused("a ping of %s does not fit: %s has %s for each client (a smaller "
			       "--size, or a larger --target there)",
			       units_print_size(c->options->size_bytes, size), c->dial.name,
			       units_print_size(c->region.bytes, slot));
	if (c->options->expect_persistent) {
		ret = claim_check(c->dial.name, &c->region, c->reply.word, &c->native_only);
		if (ret)
			return ret;
	}
	return choose_flush(c);
}

static int register_memory(struct client *c)
{
	const struct options *o = c->options;
	struct ping *p = &c->ping;
	const unsigned patterns = o->sizes_count > 1 ? PATTERNS_MAX : 2;
	int ret = client_memory_open(&c->memory, c->dial.peer, c->dial.device.name, patterns,
				     o->size_bytes);

	if (ret)
		return ret;
	p->connection = c->connection;
	p->conn = connection_conn(c->connection);
	p->cq = connection_cq(c->connection);
	p->remote = c->region.mr;
	p->mr = c->memory.mr;
	p->memory = c->memory.bytes;
	p->stride_bytes = c->memory.stride_bytes;
	p->size_bytes = o->sizes[0];
	p->turn = (struct pattern_turn){.count = patterns, .last_bytes = SIZE_MAX};
	p->by_event = o->wait == WAIT_EVENT;
	p->limit_ns = o->limit_ns;
	p->cq_fd = connection_cq_fd(c->connection);
	return 0;
}

struct course {
	enum step step;
	int (*take)(struct client *c);
};

static int go(struct client *c, const struct course *course, size_t count)
{
	int ret = 0;

	for (size_t i = 0; i < count && ret == 0; i++) {
		connection_cause_clear();
		steps_begin(&c->steps, course[i].step);
		ret = course[i].take(c);
		if (ret == 0)
			steps_done(&c->steps);
		if (ret == 0 && cli_signal != 0)
			ret = -ECANCELED;
	}
	return ret;
}

int client_find(struct client *client)
{
	static const struct course course[] = {{STEP_RESOLVE, resolve}, {STEP_DEVICE, find_device}};

	return go(client, course, sizeof(course) / sizeof(course[0]));
}

int client_connect(struct client *client)
{
	static const struct course course[] = {
		{STEP_REQUEST, connect_server},
		{STEP_HANDSHAKE, check_handshake},
		{STEP_REGION, check_region},
		{STEP_REGISTER, register_memory},
	};

	return go(client, course, sizeof(course) / sizeof(course[0]));
}

static bool large_back(const struct client *c)
{
	const struct options *o = c->options;

	for (size_t i = 0; i < o->sizes_count; i++) {
		const struct stats *t = c->by_size != NULL ? &c->by_size[i] : &c->stats;

		if (o->sizes[i] > DIAGNOSIS_SMALL_PACKET && t->received > 0)
			return true;
	}
	return false;
}

void client_diagnose(struct client *c, const char *step, const struct ping_report *r)
{
	const struct diagnosis_facts facts = {
		.step = step,
		.code = r != NULL ? r->code : connection_cause_code(),
		.wc_status = r != NULL ? r->wc_status : IBV_WC_SUCCESS,
		.any_back = c->stats.received > 0,
		.large_back = large_back(c),
		.size_bytes = r != NULL ? c->ping.size_bytes : c->memory.size_bytes,
		.device = c->dial.device.kind,
		.target = TARGET_DRAM,
		.memlock_bytes = memlock_limit(),
	};

	diagnosis_take(&c->diagnosis, &facts);
}

int client_open(struct client *c, const struct options *options, const char *host,
		const struct steps *steps)
{
	size_t count = options->sizes_count;
	int ret;

	*c = (struct client){.options = options, .host = host, .steps = *steps, .status.fd = -1};
	clock_gettime(CLOCK_REALTIME, &c->started);
	ret = stats_init(&c->stats, true);
	if (ret == 0 && count > 1) {
		c->by_size = calloc(count, sizeof(*c->by_size));
		if (c->by_size == NULL)
			ret = failure_set(EXIT_INTERNAL, "parse", "out of memory");
		for (size_t i = 0; i < count && ret == 0; i++)
			ret = stats_init(&c->by_size[i], false);
	}
	return ret == 0 ? status_open(&c->status) : ret;
}

void client_leave(struct client *c)
{
	if (c->connection != NULL) {
		steps_begin(&c->steps, STEP_DISCONNECT);
		connection_close(&c->connection);
		steps_done(&c->steps);
	}
	rpma_mr_remote_delete(&c->region.mr);
	client_memory_close(&c->memory);
	rpma_peer_delete(&c->dial.peer);
}

void client_close(struct client *client)
{
	for (size_t i = 0; client->by_size != NULL && i < client->options->sizes_count; i++)
		stats_free(&client->by_size[i]);
	free(client->by_size);
	stats_free(&client->stats);
}
