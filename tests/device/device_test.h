/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_test.h -- what every conformance test of an RDMA device starts with:
 * the address it runs at, the device that owns it, bounded waits, and the few
 * places where two devices may differ.
 *
 * The tests use libibverbs and librdmacm alone. They run on any device: on the
 * kernel's rxe, which with the manuals is the reference, and on the software
 * device. RPMA_TEST_ADDR names the address (default 127.0.0.1).
 */
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "tests/lib/test.h"

#define ARRAY_LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* No wait is longer: a hang guard, not an expectation. */
#define WAIT_S 100

/* Literal addresses, IPv4 and IPv6; the latter NULL when there is none. */
const char *test_addr(void);
const char *test_addr6(void);
/* The address with a port, 0 for any. */
struct sockaddr *test_sockaddr(const char *addr, uint16_t port, struct sockaddr_storage *room);

/* Open the device that has ADDR in its GID table, and tell where. */
struct ibv_context *open_device_of(const char *addr, int *gid_index, union ibv_gid *gid);
struct ibv_context *open_device(void);
/* The index of such an entry in its GID table, or -1. */
int find_gid_of_type(struct ibv_context *context, const union ibv_gid *wanted,
		     enum ibv_gid_type type);

/* True on the kernel's rxe. */
bool on_rxe(void);
/* The standard's value, rxe's, and why the former is right. */
#define DIFFERS(standard, rxe, reason) (on_rxe() ? (rxe) : (standard))
/* The rest of the test is not for rxe, for this reason. */
#define NOT_ON_RXE(reason)                                                                         \
	do {                                                                                       \
		if (on_rxe()) {                                                                    \
			print_message("not asked of rxe: %s\n", reason);                           \
			skip();                                                                    \
		}                                                                                  \
	} while (0)
#define SKIP_UNLESS(condition, reason)                                                             \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			print_message("skipped: %s\n", reason);                                    \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

/* CALL gives 0, or the test fails and tells the error. */
#define OK(call) check_ok((call), #call, __FILE__, __LINE__)
/* CALL gives -1 with this errno, as rdmacm does, or the errno itself, as verbs do. */
#define FAILS(expected, call) check_fails((expected), (call), #call, __FILE__, __LINE__)
/* CALL gives no object, with this errno. */
#define NONE(expected, call)                                                                       \
	(errno = 0, check_fails((expected), (call) == NULL ? -1 : 0, #call, __FILE__, __LINE__))
void check_ok(int got, const char *call, const char *file, int line);
void check_fails(int expected, int got, const char *call, const char *file, int line);

/* When a wait that starts now ends. */
double deadline(void);
/* Ends the test with this message once the time is up; else lets others run. */
void wait_a_little(double until, const char *awaited);
/* Wait until FD is readable. */
void wait_readable(int fd, const char *awaited);
bool is_readable(int fd);
void make_nonblocking(int fd);

/* The next completion, waited for. */
struct ibv_wc next_wc(struct ibv_cq *cq);
/* Take the next completion, which has to be this one. */
#define EXPECT_WC(cq, wr_id, status) expect_wc((cq), (wr_id), (status), __FILE__, __LINE__)
struct ibv_wc expect_wc(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status,
			const char *file, int line);
void expect_no_wc(struct ibv_cq *cq);
/* Why it failed, as rpma-soft(1), COMPLETION ERRORS, lists it; rxe gives no reason. */
void expect_code(struct ibv_wc wc, unsigned code);
/*
 * The next completion tells of a buffer that is in no region of its key (IBA 11.6.2). rxe fails as
 * well, but with LOC_QP_OP_ERR (Linux 6.1) or WR_FLUSH_ERR (6.12), as for any request that it
 * cannot start.
 */
void expect_own_mistake(struct ibv_cq *cq);
/* The next asynchronous event has this type; it is acknowledged. */
struct ibv_async_event expect_async(struct ibv_context *context, enum ibv_event_type type);
void expect_no_async(struct ibv_context *context);

/* Bytes that tell their place, different for each seed. */
void fill(void *memory, size_t size, unsigned seed);
