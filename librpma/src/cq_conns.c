/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cq_conns.c -- one completion queue for several connections, and the connection of a completion.
 *
 * A table from the number of a queue pair to its connection. It is read by who fetches while others
 * may connect, so its slots are atomic and there are enough from the start: a connection
 * takes an entry of the queue at least, and the table has twice as many slots as the queue entries.
 * Connections are deleted while no thread fetches, as it looks into them.
 */
#include "conn.h"
#include "log.h"
#include "status.h"

#include <stdlib.h>

struct slot {
	_Atomic uint64_t key; /* FREE, LEFT, TAKEN, or USED and the number */
	_Atomic(struct rpma_conn *) conn;
};

/* A search goes on behind LEFT and TAKEN, not behind FREE. */
enum { FREE, LEFT, TAKEN };
#define USED (UINT64_C(1) << 32)

struct rpma_cq_conns {
	uint32_t entries;	/* the queue has */
	_Atomic uint32_t taken; /* by connections */
	uint32_t mask;
	struct slot slots[];
};

/* Never used: it tells rpma_cq_get_wc() that completions are counted. */
struct rpma_sendq rpma_sendq_of_many;

static int make_table(struct rpma_cq *cq)
{
	const uint32_t entries = (uint32_t)cq->ibv_cq->cqe;
	size_t slots = 2;

	while (slots < (size_t)entries * 2)
		slots *= 2;
	cq->conns = calloc(1, sizeof(*cq->conns) + slots * sizeof(struct slot));
	if (cq->conns == NULL)
		return RPMA_FAIL_NOMEM(slots * sizeof(struct slot));
	cq->conns->entries = entries;
	cq->conns->mask = (uint32_t)(slots - 1);
	cq->sendq = &rpma_sendq_of_many;
	return 0;
}

int rpma_cq_new(struct rpma_peer *peer, const struct rpma_conn_cfg *cfg, struct rpma_cq **cq_ptr)
{
	struct rpma_conn_cfg defaults;
	struct rpma_cq *cq = NULL;

	if (peer == NULL || cq_ptr == NULL)
		return RPMA_FAIL_NULL(peer, cq_ptr);
	if (cfg == NULL) {
		rpma_conn_cfg_init(&defaults);
		cfg = &defaults;
	}
	int ret = rpma_cq_open(peer->pd->context, cfg->options[RPMA_CONN_OPT_CQ_SIZE],
			       (int)cfg->options[RPMA_CONN_OPT_COMP_VECTOR], NULL, &cq);
	if (ret == 0)
		ret = rpma_cq_moderate(cq, cfg->options[RPMA_CONN_OPT_CQ_MODERATION_COUNT],
				       cfg->options[RPMA_CONN_OPT_CQ_MODERATION_US]);
	if (ret == 0)
		ret = make_table(cq);
	if (ret) {
		(void)rpma_cq_close(&cq);
		return ret;
	}
	*cq_ptr = cq;
	return 0;
}

int rpma_cq_delete(struct rpma_cq **cq_ptr)
{
	if (cq_ptr == NULL)
		return RPMA_FAIL_NULL(cq_ptr);
	struct rpma_cq *cq = *cq_ptr;
	if (cq == NULL)
		return 0;
	if (cq->conns == NULL)
		return RPMA_FAIL(RPMA_E_INVAL, "the queue is of a connection or an SRQ");
	if (atomic_load(&cq->conns->taken) > 0)
		return RPMA_FAIL(RPMA_E_INVAL, "connections still use the queue");
	return rpma_cq_close(cq_ptr);
}

int rpma_cq_reserve(struct rpma_cq *cq, uint32_t entries)
{
	struct rpma_cq_conns *conns = cq->conns;
	uint32_t taken = atomic_load(&conns->taken);

	do {
		if (entries > conns->entries - taken)
			return RPMA_FAIL_WITH(
				RPMA_E_INVAL,
				"the completion queue has %u entries left of %u, and the "
				"connection may need %u",
				conns->entries - taken, conns->entries, entries);
	} while (!atomic_compare_exchange_weak(&conns->taken, &taken, taken + entries));
	return 0;
}

void rpma_cq_release(struct rpma_cq *cq, uint32_t entries)
{
	atomic_fetch_sub(&cq->conns->taken, entries);
}

static uint32_t slot_of(const struct rpma_cq_conns *conns, uint32_t qp_num, uint32_t probe)
{
	return (qp_num * UINT32_C(2654435761) + probe) & conns->mask; /* Knuth's */
}

void rpma_cq_join(struct rpma_cq *cq, uint32_t qp_num, struct rpma_conn *conn)
{
	struct rpma_cq_conns *conns = cq->conns;

	for (uint32_t probe = 0;; probe++) {
		struct slot *slot = &conns->slots[slot_of(conns, qp_num, probe)];
		uint64_t key = atomic_load(&slot->key);

		if (key > LEFT || !atomic_compare_exchange_strong(&slot->key, &key, TAKEN))
			continue;
		atomic_store(&slot->conn, conn);
		atomic_store(&slot->key, USED | qp_num);
		return;
	}
}

static struct slot *find(struct rpma_cq_conns *conns, uint32_t qp_num)
{
	for (uint32_t probe = 0; probe <= conns->mask; probe++) {
		struct slot *slot = &conns->slots[slot_of(conns, qp_num, probe)];
		const uint64_t key = atomic_load_explicit(&slot->key, memory_order_acquire);

		if (key == (USED | qp_num))
			return slot;
		if (key == FREE)
			break;
	}
	return NULL;
}

void rpma_cq_leave(struct rpma_cq *cq, uint32_t qp_num)
{
	struct slot *slot = find(cq->conns, qp_num);

	if (slot == NULL)
		return;
	atomic_store(&slot->conn, NULL);
	atomic_store(&slot->key, LEFT);
}

static struct rpma_conn *conn_of(const struct rpma_cq *cq, uint32_t qp_num)
{
	struct slot *slot = find(cq->conns, qp_num);

	return slot != NULL ? atomic_load_explicit(&slot->conn, memory_order_acquire) : NULL;
}

int rpma_cq_get_conn(const struct rpma_cq *cq, uint32_t qp_num, struct rpma_conn **conn_ptr)
{
	if (cq == NULL || conn_ptr == NULL)
		return RPMA_FAIL_NULL(cq, conn_ptr);
	if (cq->conns == NULL)
		return RPMA_FAIL(RPMA_E_INVAL, "the queue is of a connection or an SRQ");
	struct rpma_conn *conn = conn_of(cq, qp_num);
	if (conn == NULL)
		return RPMA_FAIL(RPMA_E_INVAL, "no connection of the queue has number %u", qp_num);

	*conn_ptr = conn;
	return 0;
}

/* Completions of a connection that was deleted meanwhile are dropped. */
int rpma_cq_conns_fetched(const struct rpma_cq *cq, struct ibv_wc *wc, int count)
{
	int kept = 0;

	for (int i = 0; i < count; i++) {
		struct rpma_conn *conn = conn_of(cq, wc[i].qp_num);
		const bool counts = conn != NULL && conn->sendq.every > 0;

		if (conn == NULL || (counts && rpma_sendq_fetched(&conn->sendq, &wc[i], 1) == 0))
			continue;
		if (kept != i)
			wc[kept] = wc[i];
		kept++;
	}
	return kept;
}

/* Room of any of them; nothing to come only if that is so of all. */
enum rpma_prospect rpma_cq_conns_prospect(const struct rpma_cq *cq)
{
	enum rpma_prospect all = RPMA_PROSPECT_NONE;

	for (uint32_t i = 0; i <= cq->conns->mask; i++) {
		struct rpma_conn *conn = atomic_load(&cq->conns->slots[i].conn);
		enum rpma_prospect one = RPMA_PROSPECT_NONE;

		if (conn == NULL)
			continue;
		one = conn->sendq.every > 0 ? rpma_sendq_prospect(&conn->sendq)
					    : RPMA_PROSPECT_OPEN;
		if (one == RPMA_PROSPECT_ROOM)
			return one;
		if (one < all)
			all = one;
	}
	return all;
}
