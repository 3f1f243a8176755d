/* SPDX-License-Identifier: BSD-3-Clause */
/* transcript.c -- see sequence.h: random choices, and the lines that a sequence prints. */
#include "sequence.h"

#include <stdarg.h>

#include "tests/lib/random.h"

struct sequence sequence;

unsigned any(unsigned low, unsigned high)
{
	return low + (unsigned)(test_random(&sequence.random) % (high - low + 1));
}

bool one_in(unsigned n)
{
	return any(1, n) == 1;
}

uint64_t any_word(void)
{
	return test_random(&sequence.random);
}

void note(const char *format, ...)
{
	va_list args;

	printf("%u.%u ", sequence.seed, sequence.step);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void step(const char *name)
{
	sequence.step++;
	note("%s", name);
}

static const char *errno_name(int error)
{
	const char *name = strerrorname_np(error);

	return name != NULL ? name : "no errno";
}

const char *result_name(int result)
{
	return result == 0 ? "ok" : errno_name(result < 0 ? errno : result);
}

const char *pointer_result(const void *object)
{
	return object != NULL ? "ok" : errno_name(errno);
}

const char *status_name(enum ibv_wc_status status)
{
	static const char *const names[] = {
		[IBV_WC_SUCCESS] = "SUCCESS",
		[IBV_WC_LOC_LEN_ERR] = "LOC_LEN_ERR",
		[IBV_WC_LOC_QP_OP_ERR] = "LOC_QP_OP_ERR",
		[IBV_WC_LOC_PROT_ERR] = "LOC_PROT_ERR",
		[IBV_WC_WR_FLUSH_ERR] = "WR_FLUSH_ERR",
		[IBV_WC_MW_BIND_ERR] = "MW_BIND_ERR",
		[IBV_WC_LOC_ACCESS_ERR] = "LOC_ACCESS_ERR",
		[IBV_WC_REM_INV_REQ_ERR] = "REM_INV_REQ_ERR",
		[IBV_WC_REM_ACCESS_ERR] = "REM_ACCESS_ERR",
		[IBV_WC_REM_OP_ERR] = "REM_OP_ERR",
		[IBV_WC_RETRY_EXC_ERR] = "RETRY_EXC_ERR",
		[IBV_WC_RNR_RETRY_EXC_ERR] = "RNR_RETRY_EXC_ERR",
	};
	const unsigned number = (unsigned)status;

	if (number < sizeof(names) / sizeof(names[0]) && names[number] != NULL)
		return names[number];
	return ibv_wc_status_str(status);
}

const char *opcode_name(enum ibv_wc_opcode opcode)
{
	switch (opcode) {
	case IBV_WC_SEND:
		return "SEND";
	case IBV_WC_RDMA_WRITE:
		return "RDMA_WRITE";
	case IBV_WC_RDMA_READ:
		return "RDMA_READ";
	case IBV_WC_COMP_SWAP:
		return "COMP_SWAP";
	case IBV_WC_FETCH_ADD:
		return "FETCH_ADD";
	case IBV_WC_BIND_MW:
		return "BIND_MW";
	case IBV_WC_LOCAL_INV:
		return "LOCAL_INV";
	case IBV_WC_RECV:
		return "RECV";
	case IBV_WC_RECV_RDMA_WITH_IMM:
		return "RECV_RDMA_WITH_IMM";
	default:
		return "another opcode";
	}
}

const char *end_name(const struct end *end)
{
	return end == &near ? "near" : "far";
}

static unsigned digest(const struct end *end)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < SIZE; i += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, end->memory + i, sizeof(word));
		sum = random_mix(sum + word + i);
	}
	return (unsigned)sum;
}

void note_memory(void)
{
	note("memory %08x %08x", digest(&near), digest(&far));
}

static const char *state_of(const struct end *end)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MUST(ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init));
	return (unsigned)attr.qp_state <= IBV_QPS_ERR ? names[attr.qp_state] : "another state";
}

void note_states(void)
{
	note("states %s %s", state_of(&near), state_of(&far));
}
