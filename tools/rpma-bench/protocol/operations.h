/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operations.h -- one row an operation, and one a way to persist a write.
 *
 * All that others know of an operation follows from its row: the word of --op,
 * --help, --list-ops, what goes together (params.c), which sizes there are (axes.c), what
 * is compared by --verify, what a journal may hold. What it posts is in a file
 * of measure/op/, whose struct operation_NAME the row names.
 *
 * The place of a row is its number in the protocol: new ones go to the end.
 */
#pragma once

enum operation_facts {
	OP_WRITES = 1,	    /* the target then has the bytes of the source: --verify compares */
	OP_RECEIVED = 2,    /* takes a receive of the server */
	OP_ANSWERED = 4,    /* the server answers each: it takes two to measure one */
	OP_8_BYTES = 8,	    /* has this size and no other */
	OP_SEQUENTIAL = 16, /* as in a log: each behind the one before, and alone in its target */
	OP_CALL = 32,	    /* a call of another library, which returns when all is done: not to the
			     * target */
	OP_INLINE = 64,	    /* what it sends may be in its work request: --inline */
	OP_ATOMIC = 128,    /* an atomic write is all of it, or a part */
};

/* ROW(of the enum, of the struct, the word, facts, what it does, what it needs of the server) */
#define BENCH_OP_ROWS(ROW)                                                                         \
	ROW(WRITE, write, "write", OP_WRITES | OP_INLINE, "RDMA write", "memory")                  \
	ROW(READ, read, "read", 0, "RDMA read", "memory")                                          \
	ROW(SEND, send, "send", OP_RECEIVED | OP_ANSWERED | OP_INLINE, "message and its answer",   \
	    "a thread that answers")                                                               \
	ROW(WRITE_IMM, write_imm, "write-imm", OP_WRITES | OP_RECEIVED | OP_INLINE,                \
	    "RDMA write with immediate data", "memory, a thread that receives")                    \
	ROW(ATOMIC_WRITE, atomic_write, "atomic-write", OP_WRITES | OP_8_BYTES | OP_ATOMIC,        \
	    "write of 8 bytes, all or none", "memory")

/* How op write continues; none is the write itself. */
#define BENCH_PERSIST_ROWS(ROW)                                                                    \
	ROW(NONE, write, "none", 0, "", "")                                                        \
	ROW(APM, write_apm, "apm", 0, "write, then a flush",                                       \
	    "memory; durable: direct write to PMem")                                               \
	ROW(NATIVE, write_native, "native", 0, "write, then a native flush",                       \
	    "memory, native flush in both devices")                                                \
	ROW(GPSPM, write_gpspm, "gpspm", OP_RECEIVED | OP_ANSWERED,                                \
	    "write, then a request to persist it", "memory, a thread that sleeps")                 \
	ROW(GPSPM_RT, write_gpspm_rt, "gpspm-rt", OP_RECEIVED | OP_ANSWERED,                       \
	    "the same, with a thread that polls", "memory, a core for a thread that polls")        \
	ROW(APPEND, write_append, "append", OP_SEQUENTIAL | OP_ATOMIC,                             \
	    "record and tail of a log, each flushed", "memory that no other client writes")        \
	ROW(RPMEM, write_rpmem, "rpmem", OP_CALL, "rpmem_persist(3)", "rpmemd and a pool set")     \
	ROW(RPMEM_RELAXED, write_rpmem_relaxed, "rpmem-relaxed", OP_CALL,                          \
	    "rpmem_persist(3), relaxed", "rpmemd and a pool set")

#define OPERATION_ENUM(NAME, name, word, facts, text, needs) BENCH_##NAME,
enum bench_op { BENCH_OP_ROWS(OPERATION_ENUM) BENCH_OPS };
enum bench_persist {
	BENCH_PERSIST_ROWS(OPERATION_ENUM) BENCH_PERSISTS, /* what an operation can be of */
	BENCH_AUTO = BENCH_PERSISTS /* to be chosen by what the server offers */
};
#undef OPERATION_ENUM
