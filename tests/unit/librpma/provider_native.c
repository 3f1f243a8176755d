/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider_native.c -- the ibv_wr_ operations of a QP that has them: native
 * atomic write and native flush, whether or not the installed headers know them.
 */
#include "provider_objects.h"

static bool started;

static void wr_start(struct ibv_qp_ex *qp)
{
	(void)qp;
	calls_note("ibv_wr_start");
	started = true;
}

static void need_start(void)
{
	if (!started)
		provider_break_rule("a work request was not opened with ibv_wr_start()");
}

static void wr_abort(struct ibv_qp_ex *qp)
{
	(void)qp;
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
	return calls_fail("ibv_wr_complete") ? errno : 0;
}

static void wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
			    const void *data)
{
	(void)qp;
	calls_note("ibv_wr_atomic_write");
	need_start();
	provider.native.rkey = rkey;
	provider.native.remote_addr = remote_addr;
	memcpy(provider.native.atomic_data, data, sizeof(provider.native.atomic_data));
}

static void wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, size_t len,
		     uint8_t type, uint8_t level)
{
	(void)qp;
	calls_note("ibv_wr_flush");
	need_start();
	provider.native.rkey = rkey;
	provider.native.remote_addr = remote_addr;
	provider.native.flush_len = len;
	provider.native.flush_type = type;
	provider.native.flush_level = level;
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
	if (provider.create_qp.send_ops_flags & QP_EX_WITH_ATOMIC_WRITE)
		memcpy(behind_abort, &atomic_write, sizeof(atomic_write));
	if (provider.create_qp.send_ops_flags & QP_EX_WITH_FLUSH)
		memcpy(behind_abort + sizeof(atomic_write), &flush, sizeof(flush));
	return qp;
}
