/* SPDX-License-Identifier: BSD-3-Clause */
/* test_listen.c -- what a server is told of its endpoint, which is ours, as is its librpma. */
#include "common/base/failure.h"
#include "common/rdma/librpma_1_4.h"
#include "common/rdma/listen.h"
#include "tests/lib/test.h"

#define EP  ((struct rpma_ep *)0x40)
#define REQ ((struct rpma_conn_req *)0x80)

static int answer;
static bool is_old;

int __wrap_rpma_ep_next_conn_req(struct rpma_ep *ep, const struct rpma_conn_cfg *cfg,
				 struct rpma_conn_req **req)
{
	assert_ptr_equal(ep, EP);
	assert_non_null(cfg);
	if (answer == 0)
		*req = REQ;
	return answer;
}

struct librpma_1_4 __real_librpma_1_4_calls(void);

struct librpma_1_4 __wrap_librpma_1_4_calls(void)
{
	return is_old ? (struct librpma_1_4){.ep_get_port = NULL} : __real_librpma_1_4_calls();
}

static int next(int code, struct rpma_conn_req **req)
{
	static const struct connection_queues queues = {.sq_size = 1, .cq_size = 2, .rq_size = 1};

	answer = code;
	return endpoint_next(EP, &queues, NULL, req);
}

TEST(a_request_is_handed_on)
{
	struct rpma_conn_req *req = NULL;

	is_old = false;
	assert_int_equal(next(0, &req), 0);
	assert_ptr_equal(req, REQ);
}

TEST(a_request_that_came_to_nothing_is_none)
{
	struct rpma_conn_req *req = REQ;

	EQUAL((next(RPMA_E_NO_EVENT, &req), 0), (req, NULL));
}

TEST(a_request_without_a_queue_pair_is_a_failure)
{
	static const int codes[] = {RPMA_E_PROVIDER, RPMA_E_NOMEM};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		struct rpma_conn_req *req = REQ;

		EQUAL((next(codes[i], &req), -ECONNABORTED), (req, NULL),
		      (failure_get()->text, HAS("cannot prepare the connection of a client")));
	}
}

/* rpma_ep_next_conn_req(3): an event of the endpoint, such as the removal of its device. */
TEST(the_removal_of_the_device_is_the_end)
{
	struct rpma_conn_req *req = REQ;

	EQUAL((next(RPMA_E_INVAL, &req), -ENODEV), (req, NULL),
	      (failure_get()->cause, CAUSE_DEVICE_GONE), (failure_get()->code, EXIT_RUN_FAILED),
	      (failure_get()->step, "listen"), (failure_get()->text, HAS("was removed or reset")));
}

/* librpma before 1.4 reports a client that left before it was accepted in the same way. */
TEST(an_older_librpma_does_not_tell_it_from_a_client)
{
	struct rpma_conn_req *req = REQ;

	is_old = true;
	EQUAL((next(RPMA_E_INVAL, &req), 0), (req, NULL));
}
