/* SPDX-License-Identifier: BSD-3-Clause */
/* server.c -- offers slots in its memory, and starts a session per client. */
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "claim.h"
#include "common/base/units.h"
#include "common/host/rlimits.h"
#include "common/rdma/service.h"
#include "diagnosis.h"

#define PAGE_BYTES 4096

void slots_divide(size_t target_bytes, unsigned *count, size_t *size_bytes)
{
	size_t pages = target_bytes / PAGE_BYTES;

	*count = pages < SLOTS_MAX ? (unsigned)pages : SLOTS_MAX;
	if (*count <= 1) {
		*count = 1;
		*size_bytes = target_bytes;
		return;
	}
	*size_bytes = pages / *count * PAGE_BYTES;
}

static int slots_open(struct slots *p, struct rpma_peer *peer, const char *device, const char *spec,
		      const struct target_cfg *cfg, bool direct_write_to_pmem)
{
	int ret = target_open(&p->target, spec, cfg);

	if (ret)
		return ret;
	slots_divide(p->target.size_bytes, &p->count, &p->size_bytes);
	for (unsigned i = 0; i < p->count && ret == 0; i++) {
		const struct region_memory memory = {
			.bytes = (char *)p->target.memory + i * p->size_bytes,
			.size = p->size_bytes,
			.kind = p->target.kind,
			.of = spec,
			.direct_write_to_pmem = direct_write_to_pmem,
		};

		ret = region_open(&p->regions[i], peer, device, &memory);
	}
	return ret;
}

/* The failure's size is that of a slot, which *slots has in any case. */
static void slots_close(struct slots *slots)
{
	for (unsigned i = 0; i < SLOTS_MAX; i++)
		region_close(&slots->regions[i]);
	target_close(&slots->target);
}

int slots_take(struct slots *slots)
{
	for (unsigned i = 0; i < slots->count; i++) {
		if (!slots->taken[i]) {
			slots->taken[i] = true;
			return (int)i;
		}
	}
	return -1;
}

void slots_release(struct slots *slots, int slot)
{
	slots->taken[slot] = false;
}

/*
 * Gives a client a slot, and keeps it until the client has left.
 *
 * A host that vanished does not say so: now and then a read of no bytes asks
 * its device, whose silence ends the session.
 */

#define ALIVE_MS 10000

/* False: the device of the client's host has not answered the question before this one. */
static bool ask(const struct service_client *c, bool *asked)
{
	struct ibv_wc wc;
	int ret = *asked ? rpma_cq_get_wc(connection_cq(c->connection), 1, &wc, NULL) : 0;

	if (ret == RPMA_E_NO_COMPLETION)
		return true;
	if (ret != 0 || (*asked && wc.status != IBV_WC_SUCCESS))
		return false;
	*asked = true;
	return rpma_read(connection_conn(c->connection), NULL, 0, NULL, 0, 0,
			 RPMA_F_COMPLETION_ALWAYS, NULL) == 0;
}

/* Until the client leaves, its host no longer answers, or the server ends. */
static void watch(const struct service_client *c)
{
	struct pollfd fds[] = {{connection_event_fd(c->connection), POLLIN, 0},
			       {c->service->stop_fd, POLLIN, 0}};
	bool asked = false;

	while (fds[1].revents == 0) {
		int ready = poll(fds, 2, ALIVE_MS);

		if (ready < 0 && errno != EINTR)
			return;
		if (ready == 0 && !ask(c, &asked)) {
			service_say(c->service, "%s no longer answers", c->name);
			return;
		}
		if (ready > 0 && fds[0].revents != 0 && !connection_alive(c->connection, 0))
			return;
	}
}

/* The function for service.serve; slots has one for each of the service's clients_max. */
static void session_serve(void *slots, struct service_client *client)
{
	struct service *service = client->service;
	struct slots *p = slots;
	int slot;

	pthread_mutex_lock(&service->lock);
	slot = slots_take(p); /* there are as many as clients */
	pthread_mutex_unlock(&service->lock);
	if (service_accept(client, &p->regions[slot]) == 0)
		watch(client);
	connection_close(&client->connection);
	pthread_mutex_lock(&service->lock);
	slots_release(p, slot);
	pthread_mutex_unlock(&service->lock);
}

struct server {
	struct service service;
	const struct verdict_row *row; /* the readiness check gave it; NULL: there is none */
	struct slots slots;
};

/* A file that is made here is inspected by its path. */
static const char *target_of(const struct target *target, const char *spec)
{
	return target->path != NULL ? target->path : spec;
}

static int set_up(struct server *s, const struct options *o)
{
	/* a queue of no receives is no queue to some devices */
	static const struct connection_queues queues = {.sq_size = 1, .cq_size = 2, .rq_size = 1};
	const struct target_cfg cfg = {.force = o->force, .node = -1, .stopped = cli_stopped};
	int ret;

	s->service = (struct service){
		.name = "rpma-ping server",
		.role = HANDSHAKE_PING,
		.listen = o->listen,
		.port = o->port,
		.allow = &o->allow,
		.allow_option = "--allow",
		.endpoint = {o->device, o->cli.quiet, o->argv + 1},
		.queues = &queues,
		.serve = session_serve,
		.server = &s->slots,
	};
	if ((ret = service_open(&s->service)) ||
	    (ret = slots_open(&s->slots, s->service.peer, s->service.device, o->target, &cfg,
			      o->direct_write_to_pmem)))
		return ret;
	s->service.clients_max = s->slots.count;
	s->row = claim_inspect(s->service.device, target_of(&s->slots.target, o->target));
	s->service.word = claim_encode(s->row);
	return service_listen(&s->service);
}

static void announce(const struct server *s, bool direct_write_to_pmem)
{
	const struct slots *p = &s->slots;
	const struct target *t = &p->target;
	char all[UNITS_TEXT_BYTES], each[UNITS_TEXT_BYTES];

	service_announce(&s->service, direct_write_to_pmem);
	printf("  %u clients at a time, each with %s of %s of %s%s%s for remote read, write and "
	       "flush\n",
	       p->count, units_print_size(p->size_bytes, each),
	       units_print_size(t->size_bytes, all), target_kind_name(t->kind),
	       t->path != NULL ? " " : "", t->path != NULL ? t->path : "");
	if (s->row != NULL)
		printf("  readiness check of this memory: %s: %s\n",
		       readiness_verdict_name(s->row->verdict), s->row->reason);
}

static int complain(const struct server *s)
{
	const struct diagnosis_facts facts = {
		.step = failure_get()->step,
		.code = connection_cause_code(),
		.size_bytes = s->slots.target.size_bytes,
		.target = s->slots.target.kind,
		.memlock_bytes = memlock_limit(),
	};
	struct diagnosis diagnosis;

	diagnosis_take(&diagnosis, &facts);
	return diagnosis_print(&diagnosis);
}

int server_run(const struct options *options)
{
	struct server s = {.slots = {.count = 0}};
	int ret, code = EXIT_GOOD;

	connection_cause_clear();
	ret = set_up(&s, options);
	if (ret == 0) {
		announce(&s, options->direct_write_to_pmem);
		ret = service_run(&s.service);
	}
	/* a signal may also have made the set-up fail */
	if (cli_signal != 0)
		code = 128 + cli_signal;
	else if (ret != 0)
		code = complain(&s);
	service_end(&s.service);
	slots_close(&s.slots);
	service_close(&s.service);
	return code;
}
