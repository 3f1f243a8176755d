/* SPDX-License-Identifier: BSD-3-Clause */
/* pipeline.h -- a connection for operations that wait, and what the provider got of them. */
#pragma once

#include "world.h"

#include <string.h>

#define MORE	 (RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE)
#define ON_ERROR RPMA_F_COMPLETION_ON_ERROR
#define ALWAYS	 RPMA_F_COMPLETION_ALWAYS

static inline void set(enum rpma_conn_option option, uint32_t value)
{
	expect(0, rpma_conn_cfg_set_option(w.cfg, option, value));
}

/* On the device as it is. */
static inline void connect_now(uint32_t sq_size, uint32_t every, uint32_t batch)
{
	make_peer();
	make_mr();
	make_cfg();
	set(RPMA_CONN_OPT_SQ_SIZE, sq_size);
	set(RPMA_CONN_OPT_SIGNAL_EVERY, every);
	set(RPMA_CONN_OPT_BATCH_SIZE, batch);
	set(RPMA_CONN_OPT_INLINE_SIZE, 32);
	set(RPMA_CONN_OPT_SEND_SGES, 4);
	make_req();
	make_conn();
}

static inline void connect_with(uint32_t sq_size, uint32_t every, uint32_t batch)
{
	setup_nothing(NULL);
	connect_now(sq_size, every, batch);
}

static inline void allow_persistence(void)
{
	expect(0, rpma_peer_cfg_new(&w.pcfg));
	expect(0, rpma_peer_cfg_set_direct_write_to_pmem(w.pcfg, true));
	expect(0, rpma_conn_apply_remote_peer_cfg(w.conn, w.pcfg));
}

static inline void connect_for_log(uint32_t sq_size, uint32_t every, uint32_t batch)
{
	connect_with(sq_size, every, batch);
	allow_persistence();
}

static inline int setup_log(void **unused)
{
	connect_for_log(16, 0, 8);
	return 0;
}

/* device_cap_flags_ex: flush to both places, atomic write */
#define CAPS (UINT64_C(7) << 38)

static inline void connect_natively(uint64_t ops_unknown, uint32_t every)
{
	setup_nothing(NULL);
	provider.device_attr.device_cap_flags_ex = CAPS;
	provider.qp_is_extended = true;
	provider.qp_ops_unknown = ops_unknown;
	connect_now(16, every, 8);
	allow_persistence();
}

static inline int write_8(uint64_t number, int flags)
{
	return rpma_write(w.conn, w.remote, 8 * number, w.mr, 8 * number, 8, flags,
			  (void *)(uintptr_t)number);
}

static inline int append(size_t dst_offset, size_t len, size_t end_offset, const void *end,
			 int flags, const void *op_context)
{
	const struct rpma_record record = {w.remote, dst_offset, w.mr, 0, len, end_offset, end};

	return rpma_append(w.conn, &record, flags, op_context);
}

static inline void post(uint64_t number, int flags)
{
	expect_named(0, "rpma_write", write_8(number, flags));
}

/* Asserts the requests that the provider got since the last time, by their numbers. */
static inline void assert_got(unsigned doorbells, const char *numbers)
{
	char got[64] = "";

	for (unsigned i = 0; i < provider.sends_count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%u%s ",
			 (unsigned)provider.sends[i].wr_id,
			 provider.sends[i].send_flags & IBV_SEND_SIGNALED ? "!" : "");
	EQUAL((got, numbers), (provider.send.posted + provider.native.completed, doorbells));
	provider.sends_count = 0;
	provider.send.posted = 0;
	provider.native.completed = 0;
}

/* Asserts the completions that one call fetches, by their numbers. */
static inline void assert_fetched(const char *numbers)
{
	const int expected = numbers[0] != '\0' ? 0 : RPMA_E_NO_COMPLETION;
	char fetched[64] = "";
	struct ibv_wc wc[8];
	int got = 0;

	expect(expected, rpma_cq_get_wc(w.cq, 8, wc, &got));
	for (int i = 0; i < got; i++)
		snprintf(fetched + strlen(fetched), sizeof(fetched) - strlen(fetched), "%u ",
			 (unsigned)wc[i].wr_id);
	assert_string_equal(fetched, numbers);
}

/* The provider completes the next operation that is to leave a completion. */
static inline void complete(uint64_t wr_id, enum ibv_wc_status status, enum ibv_wc_opcode opcode)
{
	provider_queue_wc(provider.cqs[0],
			  &(struct ibv_wc){.wr_id = wr_id, .status = status, .opcode = opcode});
}
