/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider_native.c -- the ibv_wr_ operations of a QP that has them: native
 * atomic write and native flush, whether or not the installed headers know them.
 */
#include "provider_objects.h"

static bool started;

/* The requests built since the start: they count once they are complete. */
static struct {
	struct ibv_send_wr wr;
	uint32_t bytes;
	unsigned char data[64];
} built[PROVIDER_MAX_SENDS];
static unsigned built_count;

static void wr_start(struct ibv_qp_ex *qp)
{
	calls_note("ibv_wr_start");
	started = true;
	built_count = 0;
}

static void need_start(void)
{
	if (!started)
		provider_break_rule("a work request was not opened with ibv_wr_start()");
}

static void wr_abort(struct ibv_qp_ex *qp)
{
	provider.native.aborted++;
	started = false;
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	need_start();
	started = false;
	provider.native.completed++;
	provider.native.wr_id = qp->wr_id;
	provider.native.wr_flags = qp->wr_flags;
	if (calls_fail("ibv_wr_complete"))
		return errno;
	for (unsigned i = 0; i < built_count && provider.sends_count < PROVIDER_MAX_SENDS; i++) {
		const unsigned n = provider.sends_count++;

		provider.sends[n] = built[i].wr;
		provider.sends_bytes[n] = built[i].bytes;
		memcpy(provider.sends_data[n], built[i].data, sizeof(built[i].data));
	}
	return 0;
}

/* The next one; what follows fills it. */
static struct ibv_send_wr *begin(struct ibv_qp_ex *qp, int opcode, uint32_t rkey,
				 uint64_t remote_addr)
{
	need_start();
	if (built_count == PROVIDER_MAX_SENDS)
		abort();
	memset(&built[built_count], 0, sizeof(built[0]));

	struct ibv_send_wr *wr = &built[built_count++].wr;
	wr->wr_id = qp->wr_id;
	wr->send_flags = qp->wr_flags;
	wr->opcode = (enum ibv_wr_opcode)opcode;
	wr->wr.rdma.remote_addr = remote_addr;
	wr->wr.rdma.rkey = rkey;
	return wr;
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	begin(qp, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			      __be32 imm_data)
{
	begin(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr)->imm_data = imm_data;
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	begin(qp, IBV_WR_RDMA_READ, rkey, remote_addr);
}

static void wr_send(struct ibv_qp_ex *qp)
{
	begin(qp, IBV_WR_SEND, 0, 0);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
	begin(qp, IBV_WR_SEND_WITH_IMM, 0, 0)->imm_data = imm_data;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			      uint64_t compare, uint64_t swap)
{
	struct ibv_send_wr *wr = begin(qp, IBV_WR_ATOMIC_CMP_AND_SWP, 0, 0);

	wr->wr.atomic.remote_addr = remote_addr;
	wr->wr.atomic.compare_add = compare;
	wr->wr.atomic.swap = swap;
	wr->wr.atomic.rkey = rkey;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
				uint64_t add)
{
	struct ibv_send_wr *wr = begin(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0);

	wr->wr.atomic.remote_addr = remote_addr;
	wr->wr.atomic.compare_add = add;
	wr->wr.atomic.rkey = rkey;
}

/* Does as librxe, which takes all SGEs for as long as the first one. */
static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t num_sge, const struct ibv_sge *sges)
{
	need_start();
	built[built_count - 1].wr.num_sge = (int)num_sge;
	if (num_sge > 0)
		built[built_count - 1].bytes = (uint32_t)num_sge * sges[0].length;
}

/* Does as rxe, which copies the bytes and sends them only with the flag. */
static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	need_start();
	if (!(qp->wr_flags & IBV_SEND_INLINE))
		return;
	memcpy(built[built_count - 1].data, addr, length);
	built[built_count - 1].bytes = (uint32_t)length;
}

static void wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			    const void *data)
{
	calls_note("ibv_wr_atomic_write");
	begin(qp, PROVIDER_WR_ATOMIC_WRITE, rkey, remote_addr);
	provider.native.rkey = rkey;
	provider.native.remote_addr = remote_addr;
	memcpy(provider.native.atomic_data, data, sizeof(provider.native.atomic_data));
}

static void wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t len,
		     uint8_t type, uint8_t level)
{
	calls_note("ibv_wr_flush");
	begin(qp, PROVIDER_WR_FLUSH, rkey, remote_addr);
	provider.native.rkey = rkey;
	provider.native.remote_addr = remote_addr;
	provider.native.flush_len = len;
	provider.native.flush_type = type;
	provider.native.flush_level = level;
}

/* Sets the functions of the operations asked for, as a provider does. */
static void set_operations(struct ibv_qp_ex *qp, uint64_t ops)
{
#define SET(flag, pointer)                                                                         \
	do {                                                                                       \
		if (ops & (flag))                                                                  \
			qp->pointer = pointer;                                                     \
	} while (0)
	SET(IBV_QP_EX_WITH_RDMA_WRITE, wr_rdma_write);
	SET(IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, wr_rdma_write_imm);
	SET(IBV_QP_EX_WITH_RDMA_READ, wr_rdma_read);
	SET(IBV_QP_EX_WITH_SEND, wr_send);
	SET(IBV_QP_EX_WITH_SEND_WITH_IMM, wr_send_imm);
	SET(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, wr_atomic_cmp_swp);
	SET(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, wr_atomic_fetch_add);
#undef SET
	qp->wr_set_sge_list = wr_set_sge_list;
	qp->wr_set_inline_data = wr_set_inline_data;
}

/* Extended is what was created with SEND_OPS_FLAGS on a device that offers it. */
struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *base)
{
	struct ibv_qp_ex *qp = (struct ibv_qp_ex *)base;
	char *behind_abort = (char *)qp + offsetof(struct ibv_qp_ex, wr_abort) + sizeof(void *);
	void (*const atomic_write)(struct ibv_qp_ex *, uint32_t, uint64_t, const void *) =
		wr_atomic_write;
	void (*const flush)(struct ibv_qp_ex *, uint32_t, uint64_t, size_t, uint8_t, uint8_t) =
		wr_flush;

	if (!provider.qp_is_extended ||
	    !(provider.create_qp.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return NULL;
	qp->wr_start = wr_start;
	qp->wr_abort = wr_abort;
	qp->wr_complete = wr_complete;
	set_operations(qp, provider.create_qp.send_ops_flags);
	if (provider.create_qp.send_ops_flags & QP_EX_WITH_ATOMIC_WRITE)
		memcpy(behind_abort, &atomic_write, sizeof(atomic_write));
	if (provider.create_qp.send_ops_flags & QP_EX_WITH_FLUSH)
		memcpy(behind_abort + sizeof(atomic_write), &flush, sizeof(flush));
	return qp;
}
