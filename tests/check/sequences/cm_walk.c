/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm_walk.c -- see sequence.h: calls of the RDMA CM on an identifier beside the two
 * ends, most of them the right one for its state. Its peer answers in the same thread.
 */
#include "sequence.h"

#include <netinet/in.h>

#define PATIENCE_MS 30000
#define MOST_DATA   56u /* a request takes no more, an answer does */

enum state { FRESH, BOUND, ADDRESS, ROUTE, CONNECTED, OVER };

static struct walk {
	struct rdma_event_channel *listening, *calling;
	struct rdma_cm_id *listener, *server, *client;
	struct sockaddr_in address;
	enum state state;
	unsigned char data[MOST_DATA];
} walk;

/* The next event, noted by its name, and whether it has what the other side sent. */
static struct rdma_cm_id *take(struct rdma_event_channel *channel, unsigned data,
			       enum rdma_cm_event_type *type)
{
	const char *side = channel == walk.calling ? "client" : "server";
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	CHECK(becomes_readable(channel->fd, PATIENCE_MS));
	MUST(rdma_get_cm_event(channel, &event));
	note("%s: %s, %d", side, rdma_event_str(event->event), event->status);
	if (data > 0)
		note("its %u bytes: %s", data,
		     event->param.conn.private_data_len >= data &&
				     memcmp(event->param.conn.private_data, walk.data, data) == 0
			     ? "the same"
			     : "others");
	*type = event->event;
	id = event->id;
	MUST(rdma_ack_cm_event(event));
	return id;
}

static struct rdma_conn_param any_param(unsigned data)
{
	struct rdma_conn_param param = cm_param();

	for (unsigned i = 0; i < data; i++)
		walk.data[i] = (unsigned char)any(0, 255);
	param.private_data = walk.data;
	param.private_data_len = (uint8_t)data;
	return param;
}

static int make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {.cap = {4, 4, 1, 1, 0}, .qp_type = IBV_QPT_RC};

	return rdma_create_qp(id, NULL, &init);
}

/* The far side of a request that was sent. */
static void answer(unsigned data_of_request)
{
	const unsigned data = any(0, MOST_DATA);
	enum rdma_cm_event_type type;
	struct rdma_conn_param param;

	walk.server = take(walk.listening, data_of_request, &type);
	param = any_param(data);
	if (one_in(3)) {
		note("reject: %s", result_name(rdma_reject(walk.server, walk.data, (uint8_t)data)));
		take(walk.calling, data, &type);
		MUST(rdma_destroy_id(walk.server));
		walk.server = NULL;
		walk.state = OVER;
		return;
	}
	note("queue pair: %s", result_name(make_qp(walk.server)));
	note("accept: %s", result_name(rdma_accept(walk.server, &param)));
	take(walk.calling, data, &type);
	take(walk.listening, 0, &type);
	walk.state = CONNECTED;
}

/* --- the calls --- */

static void bind_it(void)
{
	struct sockaddr_in address = walk.address;
	int result;

	address.sin_port = 0;
	result = rdma_bind_addr(walk.client, (struct sockaddr *)&address);
	note("bind: %s", result_name(result));
	if (result == 0)
		walk.state = BOUND;
}

static void resolve_address(void)
{
	struct sockaddr *address = (struct sockaddr *)&walk.address;
	int result = rdma_resolve_addr(walk.client, NULL, address, PATIENCE_MS);
	enum rdma_cm_event_type type;

	note("resolve address: %s", result_name(result));
	if (result != 0)
		return;
	take(walk.calling, 0, &type);
	walk.state = type == RDMA_CM_EVENT_ADDR_RESOLVED ? ADDRESS : OVER;
}

static void resolve_route(void)
{
	enum rdma_cm_event_type type;
	int result;

	if (walk.client->verbs == NULL) /* librdmacm of rdma-core 44 needs a device, or crashes */
		return;
	result = rdma_resolve_route(walk.client, PATIENCE_MS);
	note("resolve route: %s", result_name(result));
	if (result != 0)
		return;
	take(walk.calling, 0, &type);
	walk.state = type == RDMA_CM_EVENT_ROUTE_RESOLVED ? ROUTE : OVER;
}

static void make_the_qp(void)
{
	if (walk.client->verbs == NULL) /* as above */
		return;
	note("queue pair: %s", result_name(make_qp(walk.client)));
}

static void connect_it(void)
{
	const unsigned data = any(0, MOST_DATA);
	struct rdma_conn_param param = any_param(data);
	int result;

	if (walk.client->qp == NULL)
		return;
	result = rdma_connect(walk.client, &param);
	note("connect: %s", result_name(result));
	if (result == 0)
		answer(data);
}

static void accept_it(void)
{
	struct rdma_conn_param param = cm_param();

	if (walk.client->verbs == NULL || walk.state == CONNECTED || walk.state == OVER)
		return;
	note("accept: %s", result_name(rdma_accept(walk.client, &param)));
}

static void reject_it(void)
{
	if (walk.state < CONNECTED)
		note("reject: %s", result_name(rdma_reject(walk.client, NULL, 0)));
}

static void disconnect_it(void)
{
	enum rdma_cm_event_type type;

	if (walk.state != CONNECTED && walk.client->qp != NULL)
		return; /* it would take the QP to ERR first */
	note("disconnect: %s", result_name(rdma_disconnect(walk.client)));
	if (walk.state != CONNECTED)
		return;
	take(walk.listening, 0, &type);
	note("the other side: %s", result_name(rdma_disconnect(walk.server)));
	take(walk.calling, 0, &type);
	walk.state = OVER;
}

static void (*const calls[])(void) = {bind_it,	  resolve_address, resolve_route, make_the_qp,
				      connect_it, accept_it,	   reject_it,	  disconnect_it};

/* The next one on the way to a connection, and from it. */
static void right_call(void)
{
	switch (walk.state) {
	case FRESH:
	case BOUND:
		resolve_address();
		break;
	case ADDRESS:
		resolve_route();
		break;
	case ROUTE:
		if (walk.client->qp == NULL)
			make_the_qp();
		else
			connect_it();
		break;
	case CONNECTED:
		disconnect_it();
		break;
	default:
		break;
	}
}

static void open_walk(void)
{
	walk = (struct walk){.address = {.sin_family = AF_INET}};
	memcpy(&walk.address.sin_addr, &near.gid.raw[12], sizeof(walk.address.sin_addr));
	walk.listening = HAVE(rdma_create_event_channel());
	walk.calling = HAVE(rdma_create_event_channel());
	MUST(rdma_create_id(walk.listening, &walk.listener, NULL, RDMA_PS_TCP));
	MUST(rdma_bind_addr(walk.listener, (struct sockaddr *)&walk.address));
	MUST(rdma_listen(walk.listener, 4));
	walk.address.sin_port = rdma_get_src_port(walk.listener);
	MUST(rdma_create_id(walk.calling, &walk.client, NULL, RDMA_PS_TCP));
}

static void close_id(struct rdma_cm_id *id)
{
	if (id == NULL)
		return;
	if (id->qp != NULL)
		rdma_destroy_qp(id);
	MUST(rdma_destroy_id(id));
}

static void close_walk(void)
{
	close_id(walk.client);
	close_id(walk.server);
	MUST(rdma_destroy_id(walk.listener));
	rdma_destroy_event_channel(walk.calling);
	rdma_destroy_event_channel(walk.listening);
}

void cm_step(void)
{
	step("calls of the RDMA CM");
	open_walk();
	for (unsigned left = any(4, 14); left > 0; left--) {
		if (one_in(3))
			calls[any(0, sizeof(calls) / sizeof(calls[0]) - 1)]();
		else
			right_call();
	}
	close_walk();
}
