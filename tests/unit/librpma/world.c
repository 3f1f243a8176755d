/* SPDX-License-Identifier: BSD-3-Clause */
/* world.c -- see world.h. */
#include "world.h"

#include <endian.h>
#include <string.h>

struct world w;
char region[REGION_SIZE] __attribute__((aligned(REGION_SIZE)));
unsigned logged[RPMA_LOG_LEVEL_DEBUG + 1];

static char last_line[RPMA_LOG_LEVEL_DEBUG + 1][512];

static void count_line(enum rpma_log_level level, const char *file_name, const int line_no,
		       const char *function_name, const char *message_format, ...)
{
	va_list arguments;

	(void)file_name, (void)line_no, (void)function_name;
	va_start(arguments, message_format);
	vsnprintf(last_line[level], sizeof(last_line[level]), message_format, arguments);
	va_end(arguments);
	logged[level]++;
}

void expect_logged(enum rpma_log_level level, const char *words)
{
	if (strstr(last_line[level], words) == NULL)
		fail_msg("expected \"%s\" in the log line \"%s\"", words, last_line[level]);
}

void write_descriptor(unsigned char *desc, uint64_t addr, uint64_t len, uint32_t rkey, int usage)
{
	addr = htole64(addr);
	len = htole64(len);
	rkey = htole32(rkey);
	memcpy(desc, &addr, sizeof(addr));
	memcpy(desc + 8, &len, sizeof(len));
	memcpy(desc + 16, &rkey, sizeof(rkey));
	desc[20] = (unsigned char)usage;
}

/* --- steps --------------------------------------------------------------- */

void make_peer(void)
{
	expect(0, rpma_peer_new(provider.context, &w.peer));
}

void make_mr(void)
{
	unsigned char desc[64];
	size_t size;

	expect(0, rpma_mr_reg(w.peer, region, REGION_SIZE, ALL_USAGES, &w.mr));
	expect(0, rpma_mr_get_descriptor_size(w.mr, &size));
	assert_in_range(size, DESCRIPTOR_SIZE, sizeof(desc));
	expect(0, rpma_mr_get_descriptor(w.mr, desc));
	expect(0, rpma_mr_remote_from_descriptor(desc, size, &w.remote));
}

void make_cfg(void)
{
	expect(0, rpma_conn_cfg_new(&w.cfg));
}

void make_srq(uint32_t rcq_size)
{
	expect(0, rpma_srq_cfg_new(&w.srq_cfg));
	expect(0, rpma_srq_cfg_set_rcq_size(w.srq_cfg, rcq_size));
	expect(0, rpma_srq_new(w.peer, w.srq_cfg, &w.srq));
	provider.num_cqs = 0; /* the CQs of a connection count from 0 */
}

void make_req(void)
{
	expect(0, rpma_conn_req_new(w.peer, "192.0.2.1", "7204", w.cfg, &w.req));
}

void make_conn(void)
{
	expect(0, rpma_conn_req_connect(&w.req, NULL, &w.conn));
	expect(0, rpma_conn_get_cq(w.conn, &w.cq));
}

void make_ep(void)
{
	expect(0, rpma_ep_listen(w.peer, "192.0.2.1", "7204", &w.ep));
}

void make_incoming(void)
{
	provider_queue_connect_request(NULL, 0);
	expect(0, rpma_ep_next_conn_req(w.ep, w.cfg, &w.req));
}

/* --- setups -------------------------------------------------------------- */

int setup_nothing(void **unused)
{
	memset(&w, 0, sizeof(w));
	memset(logged, 0, sizeof(logged));
	memset(last_line, 0, sizeof(last_line));
	memset(region, 0, sizeof(region));
	provider_reset();
	expect(0, rpma_log_set_function(count_line));
	expect(0, rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG));
	return 0;
}

void setup_device(uint64_t caps)
{
	setup_nothing(NULL);
	provider.device_attr.device_cap_flags_ex = caps;
	provider.qp_is_extended = true;
}

SHARED_SETUP(setup_peer, setup_nothing, make_peer())

SHARED_SETUP(setup_mr, setup_peer, make_mr())

SHARED_SETUP(setup_cfg, setup_mr, make_cfg())

SHARED_SETUP(setup_req, setup_cfg, make_req())

SHARED_SETUP(setup_conn, setup_req, make_conn())

SHARED_SETUP(setup_shared_cfg, setup_cfg, expect(0, rpma_conn_cfg_set_rcq_size(w.cfg, 1));
	     expect(0, rpma_conn_cfg_set_compl_channel(w.cfg, true)))

SHARED_SETUP(setup_shared_req, setup_shared_cfg, make_req())

SHARED_SETUP(setup_shared_conn, setup_shared_req, make_conn())

SHARED_SETUP(setup_ep, setup_cfg, make_ep())

SHARED_SETUP(setup_incoming, setup_ep, make_incoming())

SHARED_SETUP(setup_accepted, setup_incoming, make_conn())

int teardown(void **unused)
{
	bool rejecting = w.req != NULL && provider.listener != NULL;
	const char *complaint;

	calls_fail_never();
	calls_watch_allocations(false);
	EQUAL((rpma_conn_delete(&w.conn), 0), (rpma_conn_req_delete(&w.req), 0),
	      (rpma_ep_shutdown(&w.ep), 0), (rpma_srq_delete(&w.srq), 0), (rpma_mr_dereg(&w.mr), 0),
	      (rpma_mr_remote_delete(&w.remote), 0), (rpma_peer_delete(&w.peer), 0),
	      (rpma_peer_cfg_delete(&w.pcfg), 0), (rpma_conn_cfg_delete(&w.cfg), 0),
	      (rpma_srq_cfg_delete(&w.srq_cfg), 0));
	if (rejecting)
		reference_leaks(id, 1, "it never destroys the id of a rejected request");
	complaint = provider_complaint();
	if (complaint != NULL)
		fail_msg("%s", complaint);
	return 0;
}
