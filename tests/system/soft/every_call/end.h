/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * end.h -- one end of a connection over librpma, made for calls that fail: every call
 * that returns an error is told on stdout, and what exists is always taken down.
 *
 * No wait is without an end: beside what it waits for each watches for the peer to
 * leave, and the server, while no client has come, its stdin.
 */
#ifndef END_H
#define END_H

#include <librpma.h>
#include <stdbool.h>
#include <stdint.h>

#define MEMORY_BYTES 4096u

struct end {
	const char *addr;
	const char *port;
	struct rpma_peer *peer;
	struct rpma_mr_local *mr;
	struct rpma_peer_cfg *pcfg;
	struct rpma_conn_cfg *cfg;
	struct rpma_srq *srq;
	struct rpma_ep *ep;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_mr_remote *remote;
	_Alignas(64) unsigned char memory[MEMORY_BYTES];
};

/* True when the call succeeded; else its name and error are told. */
bool told(int ret, const char *call);
#define TRY(call) told((call), #call)

/* The device, a region of all uses, a peer configuration that promises durability. */
bool end_open(struct end *end, enum rpma_util_ibv_context_type where);

/* Listens, prints "port N" on stdout, waits for a request. */
bool end_listen(struct end *end);
bool end_request(struct end *end);

/* Posts a receive if `post` is set, and waits until the connection stands. */
bool end_connect_server(struct end *end, bool post);
bool end_connect_client(struct end *end, bool post);

/* The next event of the connection, whatever it is. */
bool end_event(struct end *end, enum rpma_conn_event *event);
bool end_expect(struct end *end, enum rpma_conn_event wanted);

/* The next completion of this queue, a success; false also when the peer has left. */
bool end_completion(struct end *end, struct rpma_cq *cq, struct ibv_wc *wc);

/* Takes down what there is. */
void end_close(struct end *end);

#endif /* END_H */
