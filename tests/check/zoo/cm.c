/* SPDX-License-Identifier: BSD-3-Clause */
/* cm.c -- the ends of zoo.h that the RDMA CM connects, both in this process. */
#include "parts.h"

#include <netinet/in.h>

#define PATIENCE_MS 30000

struct cm cm;

struct rdma_conn_param cm_param(void)
{
	return (struct rdma_conn_param){
		.responder_resources = 4,
		.initiator_depth = 4,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

struct rdma_cm_event *cm_take(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct pollfd waiting = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;

	CHECK(poll(&waiting, 1, PATIENCE_MS) == 1);
	MUST(rdma_get_cm_event(channel, &event));
	if (event->event != type) {
		show("%s instead of %s", rdma_event_str(event->event), rdma_event_str(type));
		exit(1);
	}
	return event;
}

void cm_pass(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	MUST(rdma_ack_cm_event(cm_take(channel, type)));
}

/* An address of the first device that has one: a socket address that ids can be bound to. */
static struct sockaddr_in device_address(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	struct end end;

	end_open(&end, NULL);
	memcpy(&address.sin_addr, &end.gid.raw[12], sizeof(address.sin_addr));
	end_close(&end);
	return address;
}

static void listen_at(struct sockaddr_in *address)
{
	cm.listening = HAVE(rdma_create_event_channel());
	MUST(rdma_create_id(cm.listening, &cm.listener, NULL, RDMA_PS_TCP));
	MUST(rdma_bind_addr(cm.listener, (struct sockaddr *)address));
	MUST(rdma_listen(cm.listener, 4));
	address->sin_port = rdma_get_src_port(cm.listener);
}

static void resolve(struct sockaddr_in *address)
{
	cm.calling = HAVE(rdma_create_event_channel());
	MUST(rdma_create_id(cm.calling, &cm.client, NULL, RDMA_PS_TCP));
	MUST(rdma_resolve_addr(cm.client, NULL, (struct sockaddr *)address, PATIENCE_MS));
	cm_pass(cm.calling, RDMA_CM_EVENT_ADDR_RESOLVED);
	MUST(rdma_resolve_route(cm.client, PATIENCE_MS));
	cm_pass(cm.calling, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void make_end(struct end *end, struct rdma_cm_id *id, const struct options *options)
{
	struct ibv_qp_init_attr init;

	*end = (struct end){.options = options != NULL ? *options : defaults(),
			    .context = id->verbs,
			    .is_of_cm = true};
	CHECK(end_find_gid(end));
	end_make_parts(end);
	init = end_qp_init(end);
	MUST(rdma_create_qp(id, end->pd, &init));
	end->qp = id->qp;
}

void cm_open(const struct options *options, const struct rdma_conn_param *of_client,
	     const struct rdma_conn_param *of_server)
{
	struct rdma_conn_param client = of_client != NULL ? *of_client : cm_param();
	struct rdma_conn_param server = of_server != NULL ? *of_server : cm_param();
	struct sockaddr_in address = device_address();
	struct rdma_cm_event *event;

	listen_at(&address);
	resolve(&address);
	make_end(&near, cm.client, options);
	MUST(rdma_connect(cm.client, &client));
	event = cm_take(cm.listening, RDMA_CM_EVENT_CONNECT_REQUEST);
	cm.server = event->id;
	MUST(rdma_ack_cm_event(event));
	make_end(&far, cm.server, options);
	MUST(rdma_accept(cm.server, &server));
	cm_pass(cm.calling, RDMA_CM_EVENT_ESTABLISHED);
	cm_pass(cm.listening, RDMA_CM_EVENT_ESTABLISHED);
	there = end_address(&far);
}

static void close_id(struct rdma_cm_id *id, struct end *end)
{
	rdma_destroy_qp(id);
	end_close(end);
	MUST(rdma_destroy_id(id));
}

void cm_close(void)
{
	close_id(cm.client, &near);
	close_id(cm.server, &far);
	MUST(rdma_destroy_id(cm.listener));
	rdma_destroy_event_channel(cm.calling);
	rdma_destroy_event_channel(cm.listening);
}
