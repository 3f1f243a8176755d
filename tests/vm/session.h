/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h -- what the programs of this folder share: a peer, an endpoint on
 * a free port, connections with private data, bounded waits. Everything is the
 * public API that every librpma.so.0 has, so that LD_LIBRARY_PATH chooses the
 * library. A step that fails ends the program with a line that names it.
 */
#pragma once

#include <librpma.h>
#include <stdlib.h>
#include <string.h>

/* A server sends it when it accepts: how to reach its memory. */
struct exported_region {
	uint8_t mr_desc_size;
	uint8_t peer_cfg_desc_size;
	uint8_t mr_desc[24];
	uint8_t peer_cfg_desc[4];
};

/* CALL returns what it should, or the program ends. */
#define MUST(call)		  session_must((call), 0, #call)
#define MUST_GIVE(expected, call) session_must((call), (expected), #call)
#define MUST_HOLD(condition)	  session_must_hold((condition), #condition)

/* First call: name for messages, limit for the whole program. With
 * RPMA_TEST_LIBRARY set, the librpma.so.0 of that directory has to be loaded. */
void session_start(const char *name, unsigned limit_s);
/* Set the step of the program, for messages, and the call it is in, for the message
 * when its time is up. The texts are borrowed. */
void session_at(const char *step);
void session_calls(const char *call);

void session_must(int got, int expected, const char *call);
void session_must_hold(bool holds, const char *condition);

/* Memory of SIZE: PLACE is "dram" or a device DAX to map. */
void *session_memory(const char *place, size_t size);
struct rpma_peer *session_peer(const char *addr, enum rpma_util_ibv_context_type type);
/* Listen on a free port and tell which. */
struct rpma_ep *session_listen(struct rpma_peer *peer, const char *addr, char port[8]);
/* Like session_listen(), and print "port N" on stdout. */
struct rpma_ep *session_serve(struct rpma_peer *peer, const char *addr);

/* Accept REQ and export MR; direct write to PMem is declared. */
struct rpma_conn *session_accept(struct rpma_conn_req *req, const struct rpma_mr_local *mr);
/* Connect REQ with TEXT as private data. */
struct rpma_conn *session_connect(struct rpma_conn_req *req, const char *text);
/* The region that the server exports; the caller deletes both. */
void session_take_region(const struct rpma_conn *conn, struct rpma_mr_remote **mr,
			 struct rpma_peer_cfg **pcfg);
void session_expect_event(struct rpma_conn *conn, enum rpma_conn_event expected);
void session_delete(struct rpma_conn *conn);

/* Wait for the next completion of CQ, which has a completion channel of its own. */
struct ibv_wc session_completion(struct rpma_cq *cq);
/* Like session_completion(), for the connection's main CQ. */
struct ibv_wc session_conn_completion(struct rpma_conn *conn);
