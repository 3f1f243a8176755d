/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_connection.c -- see fake_connection.h. */
#include "fake_connection.h"

#include <time.h>

#include "common/base/bytes.h"
#include "common/rdma/listen.h"

#define PEER		((struct rpma_peer *)0x30)
#define FAKE_CONNECTION ((struct connection *)0x40)
#define MR		((struct rpma_mr_local *)0x50)

struct fake fake;

int __wrap_resolve_all(const char *host, int family, int timeout_ms, struct resolved *resolved)
{
	EQUAL((host, "a-server"), (family, AF_UNSPEC));
	strcpy(resolved->addresses[0], "127.0.0.1");
	resolved->count = 1;
	return 0;
}

int __wrap_endpoint_route(const struct sysroot *root, const struct endpoint_options *options,
			  const char *address, struct rpma_peer **peer, struct device *device)
{
	EQUAL((address, "127.0.0.1"), (options->device, NULL), (options->argv, NULL));
	if (fake.no_device)
		return failure_set(EXIT_RUN_FAILED, "device", "no such device");
	strcpy(device->name, "fake0");
	*peer = PEER;
	fake.peers++;
	return 0;
}

int __wrap_rpma_peer_delete(struct rpma_peer **peer)
{
	/* regions and connections are to go before */
	if (*peer != NULL) {
		EQUAL((fake.connections, 0), (fake.regions, 0));
		fake.peers--;
	}
	*peer = NULL;
	return 0;
}

int __wrap_rpma_mr_reg(struct rpma_peer *peer, void *ptr, size_t size, int usage,
		       struct rpma_mr_local **mr)
{
	assert_ptr_equal(peer, PEER);
	if (fake.register_fails)
		return RPMA_E_PROVIDER;
	fake.usage = usage;
	fake.regions++;
	*mr = MR;
	return 0;
}

int __wrap_rpma_mr_dereg(struct rpma_mr_local **mr)
{
	/* nothing may reach the memory any more */
	assert_int_equal(fake.connections, 0);
	fake.regions -= *mr != NULL;
	*mr = NULL;
	return 0;
}

/* --- connecting -------------------------------------------------------------------- */

static void make_reply(void)
{
	struct handshake_reply *r = &fake.reply;
	struct bytes_writer w = bytes_write_to(r->desc.mr, sizeof(r->desc.mr));

	bytes_put_int(&w, 0x10000, 8);
	bytes_put_int(&w, fake.region_bytes, 8);
	bytes_put_int(&w, 7, 4);
	bytes_put_int(&w, fake.usage_bits, 1);
	bytes_put_int(&w, 1, 1);
	r->desc.pcfg[0] = fake.direct;
	if (fake.tries >= fake.full_until && fake.full_until != 0)
		fake.job_reply.refusal = REFUSAL_NONE;
	r->word = job_reply_encode(&fake.job_reply);
	handshake_encode_reply(r, fake.sent);
	if (fake.forge != NULL)
		fake.forge(fake.sent);
}

int __wrap_connection_connect(struct connection **one, struct rpma_peer *peer, const char *address,
			      uint16_t port, const struct connection_cfg *cfg,
			      const void *handshake, size_t handshake_len)
{
	int ret = 0;

	fake.tries++;
	EQUAL((port, 7204), (handshake_len, HANDSHAKE_REQUEST_BYTES),
	      (cfg->peer_name, "server 127.0.0.1:7204"));
	memcpy(fake.handshake, handshake, handshake_len);
	fake.queues = *cfg->queues;
	if (fake.failures >= fake.tries)
		return failure_because(fake.here ? CAUSE_UNKNOWN : CAUSE_REFUSED, fake.failure,
				       fake.here ? "request" : "connect", "no server listens%s",
				       fake.here ? connection_cause(-1) : "");
	if (cfg->queues->post != NULL)
		ret = cfg->queues->post((struct rpma_conn_req *)0x60, cfg->queues->arg);
	if (ret)
		return ret;
	make_reply();
	fake.connections++;
	*one = FAKE_CONNECTION;
	return 0;
}

int __wrap_rpma_conn_req_recv(struct rpma_conn_req *req, struct rpma_mr_local *dst, size_t offset,
			      size_t len, const void *op_context)
{
	if (fake.receive_fails)
		return RPMA_E_PROVIDER;
	EQUAL((len, PERSIST_ANSWER_BYTES),
	      ((uintptr_t)op_context, ANSWER_CONTEXT | fake.receives % 4));
	assert_int_equal(offset, fake.cfg.job_request.depth * PERSIST_REQUEST_BYTES +
					 fake.receives % 4 * PERSIST_ANSWER_BYTES);
	fake.receives++;
	return 0;
}

int __wrap_connection_handshake(const struct connection *one, const void **bytes, size_t *len)
{
	if (fake.no_reply)
		return failure_set(EXIT_RUN_FAILED, "handshake", "answered without a handshake");
	*bytes = fake.sent;
	*len = sizeof(fake.sent);
	return 0;
}

struct rpma_conn *__wrap_connection_conn(const struct connection *one)
{
	return FAKE_CONN;
}

struct rpma_cq *__wrap_connection_cq(const struct connection *one)
{
	return FAKE_CQ;
}

int __wrap_rpma_conn_apply_remote_peer_cfg(struct rpma_conn *conn, const struct rpma_peer_cfg *pcfg)
{
	assert_ptr_equal(conn, FAKE_CONN);
	return 0;
}

int __real_rpma_mr_remote_from_descriptor(const void *desc, size_t desc_size,
					  struct rpma_mr_remote **mr);
int __wrap_rpma_mr_remote_from_descriptor(const void *desc, size_t desc_size,
					  struct rpma_mr_remote **mr)
{
	fake.descriptor_bytes = desc_size;
	return __real_rpma_mr_remote_from_descriptor(desc, desc_size, mr);
}

/* --- leaving ------------------------------------------------------------------------ */

void __wrap_connection_close(struct connection **one)
{
	fake.connections -= *one != NULL;
	*one = NULL;
}

bool __wrap_connection_alive(struct connection *one, int timeout_ms)
{
	if (!fake.gone)
		fake.now_ns += (uint64_t)timeout_ms * 1000000;
	return !fake.gone;
}

int __wrap_rpma_send(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset,
		     size_t len, int flags, const void *op_context)
{
	EQUAL((src, NULL), (len, 0), (flags, RPMA_F_COMPLETION_ALWAYS));
	fake.goodbyes++;
	fake.goodbye = (uintptr_t)op_context;
	return 0;
}

int __wrap_rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *got)
{
	EQUAL((num_entries, 1), (fake.connections, 1));
	if (fake.deaf)
		return RPMA_E_NO_COMPLETION;
	wc->wr_id = fake.others > 0 ? fake.others : fake.goodbye;
	fake.goodbye_seen = fake.others == 0;
	fake.others -= fake.others > 0;
	return 0;
}

/* --- time ---------------------------------------------------------------------------- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	now->tv_sec = (time_t)(fake.now_ns / 1000000000);
	now->tv_nsec = (long)(fake.now_ns % 1000000000);
	return 0;
}

int __wrap_nanosleep(const struct timespec *pause, struct timespec *left)
{
	fake.now_ns += (uint64_t)pause->tv_sec * 1000000000 + (uint64_t)pause->tv_nsec;
	return 0;
}

/* --- what the tests say ---------------------------------------------------------------- */

void fake_connection_begin(enum method method)
{
	memset(&fake, 0, sizeof(fake));
	fake.settings = (struct settings){.method = method,
					  .address = "a-server",
					  .port = 7204,
					  .poll = true,
					  .flush = FLUSH_AUTO,
					  .flush_type = FLUSH_TYPE_AUTO,
					  .write_op = WRITE_PLAIN,
					  .connect_timeout_s = 10};
	fake.cfg = (struct job_connection_cfg){
		.settings = &fake.settings,
		.job_request = {.method = method,
				.jobs = 1,
				.depth = method == METHOD_GPSPM ? 4 : 0},
		.sq_size = 10,
		.cq_size = 14};
	fake.job_reply = (struct job_reply){.kind = TARGET_DRAM, .depth = 512};
	fake.region_bytes = FAKE_REGION_BYTES;
	fake.usage_bits = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST |
			  RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	fake.reply = (struct handshake_reply){
		.version = HANDSHAKE_VERSION, .desc.mr_bytes = 22, .desc.pcfg_bytes = 1};
	fake.failure = EXIT_RUN_FAILED;
}

void connection_end(void)
{
	EQUAL((fake.connections, 0), (fake.regions, 0), (fake.peers, 0));
}
