/* SPDX-License-Identifier: BSD-3-Clause */
/* explain.c -- see explain.h. The numbers are the program's own: its wr_id, keys and addresses. */
#include "explain.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "soft_device/check/check.h"
#include "soft_device/process/names.h"
#include "soft_device/process/process.h"
#include "sq_check.h"

#define DETAIL_BYTES 640

static const char *const operations[REQUEST_NAMES] = {
	[REQUEST_WRITE] = "RDMA write",
	[REQUEST_WRITE_IMM] = "RDMA write with immediate data",
	[REQUEST_READ] = "RDMA read",
	[REQUEST_SEND] = "send",
	[REQUEST_SEND_IMM] = "send with immediate data",
	[REQUEST_COMPARE_SWAP] = "compare and swap",
	[REQUEST_FETCH_ADD] = "fetch and add",
	[REQUEST_ATOMIC_WRITE] = "atomic write",
	[REQUEST_FLUSH] = "flush",
	[REQUEST_SEND_INV] = "send with invalidate",
	[REQUEST_BIND_MW] = "bind of a memory window",
	[REQUEST_LOCAL_INV] = "local invalidate",
};

static bool is_send(uint32_t op)
{
	return op == REQUEST_SEND || op == REQUEST_SEND_IMM || op == REQUEST_SEND_INV;
}

/* The region of the key as it is now, where the reason is about it; or nothing. */
static void put_region(const struct segment *segment, uint32_t key, enum vendor_err why, char *text,
		       size_t room)
{
	const struct shared_mr *mr = &segment->mr[key >> 8 < SEGMENT_MRS ? key >> 8 : 0];
	char names[NAMES_BYTES];

	if (why < VENDOR_KEY_PD || why > VENDOR_UNMAPPED || key >> 8 >= SEGMENT_MRS ||
	    atomic_load(&mr->key) != key)
		return;
	snprintf(text, room, "; the %s is %llu bytes at %#llx in PD %u, with %s",
		 mr->window != 0 ? "window" : "region", (unsigned long long)mr->length,
		 (unsigned long long)mr->iova, mr->pd & ~(MR_UNMAPPED | MR_WINDOW),
		 names_of_access(mr->access & ~MR_NULL, names));
}

static void put_local(const struct send_queue *sq, const struct send_work *work,
		      enum vendor_err why, char *text)
{
	enum vendor_err now;
	const struct ibv_sge *part = sq_bad_part(sq, work, &now);
	int used;

	if (part == NULL && work->num_sge > 0)
		part = work->sge;
	if (part == NULL)
		return;
	used = snprintf(text, DETAIL_BYTES, ": lkey %#x, %u bytes at %#llx", part->lkey,
			part->length, (unsigned long long)part->addr);
	put_region(process_current->segment, part->lkey, why, text + used,
		   DETAIL_BYTES - (size_t)used);
}

static void put_remote(const struct send_queue *sq, const struct send_work *work,
		       enum vendor_err why, char *text)
{
	const struct send_opcode *opcode = &sq_opcodes[work->opcode];
	unsigned long long length = opcode->eight ? 8 : sq_length(work);
	int used;

	if (opcode->op == REQUEST_FLUSH)
		length = work->request.length;
	if (is_send(opcode->op))
		used = snprintf(text, DETAIL_BYTES, ": %llu bytes to QP %#x", length, sq->path.qpn);
	else
		used = snprintf(text, DETAIL_BYTES, ": rkey %#x, %llu bytes at %#llx of QP %#x",
				work->request.rkey, length,
				(unsigned long long)work->request.remote_addr, sq->path.qpn);
	if (sq->peer != NULL && sq->peer->segment != NULL)
		put_region(sq->peer->segment, work->request.rkey, why, text + used,
			   DETAIL_BYTES - (size_t)used);
}

static void put_window(const struct send_work *work, char *text)
{
	const struct send_bind *bind = &work->bind;

	if (work->opcode == IBV_WR_BIND_MW)
		snprintf(text, DETAIL_BYTES, ": rkey %#x, to %llu bytes at %#llx with lkey %#x",
			 bind->rkey, (unsigned long long)bind->length,
			 (unsigned long long)bind->addr, bind->lkey);
	else
		snprintf(text, DETAIL_BYTES, ": rkey %#x", work->request.rkey);
}

static void put_mtu(const struct send_queue *sq, char text[DETAIL_BYTES])
{
	const size_t used = strlen(text);

	snprintf(text + used, DETAIL_BYTES - used, "; path_mtu is %u here",
		 framing_bytes(sq->path.framing));
}

/* "IBV_WC_REM_ACCESS_ERR, no region has this key (vendor_err 2)" */
static void put_reason(enum ibv_wc_status status, unsigned why, char text[NAMES_BYTES])
{
	if (why == VENDOR_NONE)
		snprintf(text, NAMES_BYTES, "IBV_WC_%s", name_of_status(status));
	else
		snprintf(text, NAMES_BYTES, "IBV_WC_%s, %s (vendor_err %u)", name_of_status(status),
			 vendor_err_text(why), why);
}

void explain_request(const struct send_queue *sq, const struct send_work *work,
		     enum ibv_wc_status status, enum vendor_err why)
{
	char reason[NAMES_BYTES], detail[DETAIL_BYTES] = "";

	if (check_any)
		sq_check_failed(sq, work, status, why);
	if (!process_is_verbose)
		return;
	if (sq_is_local(work))
		put_window(work, detail);
	else if (status == IBV_WC_LOC_PROT_ERR)
		put_local(sq, work, why, detail);
	else
		put_remote(sq, work, why, detail);
	if (why == VENDOR_MTU)
		put_mtu(sq, detail);
	put_reason(status, why, reason);
	process_verbose("QP %#x: %s, wr_id %#llx, fails with %s%s", sq->qpn,
			operations[sq_opcodes[work->opcode].op], (unsigned long long)work->wr_id,
			reason, detail);
}

void explain_loss(const struct send_queue *sq, const struct send_work *work, enum vendor_err why)
{
	static _Atomic unsigned count;
	const uint32_t qpn = sq->ud != NULL ? work->qpn : sq->path.qpn;
	unsigned before;

	if (check_any)
		sq_check_lost(sq, work, why);
	if (!process_is_verbose || why == VENDOR_NONE)
		return;
	before = atomic_fetch_add(&count, 1);
	if (before < REFUSALS_MOST)
		process_verbose(
			"QP %#x: %s, wr_id %#llx, of %llu bytes to QP %#x is lost: %s%s", sq->qpn,
			operations[sq_opcodes[work->opcode].op], (unsigned long long)work->wr_id,
			(unsigned long long)sq_length(work), qpn,
			why == VENDOR_NO_RECEIVE ? "no receive was posted" : vendor_err_text(why),
			before + 1 == REFUSALS_MOST ? "; more of these are not printed" : "");
}

void explain_refusal(uint32_t qpn, const struct shared_refusal *refusal)
{
	const char *operation = refusal->op < REQUEST_OPS ? operations[refusal->op] : NULL;

	if (!process_is_verbose || refusal->why == VENDOR_NONE || operation == NULL)
		return;
	if (is_send(refusal->op))
		process_verbose("QP %#x goes to ERR: a %s of %u bytes by its peer, for the receive "
				"of wr_id %#llx, is refused: %s (vendor_err %u)",
				qpn, operation, refusal->length, (unsigned long long)refusal->wr_id,
				vendor_err_text(refusal->why), refusal->why);
	else
		process_verbose("QP %#x goes to ERR: its peer's %s of %u bytes at %#llx with rkey "
				"%#x is refused: %s (vendor_err %u)",
				qpn, operation, refusal->length,
				(unsigned long long)refusal->remote_addr, refusal->rkey,
				vendor_err_text(refusal->why), refusal->why);
}
