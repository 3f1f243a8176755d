/* SPDX-License-Identifier: BSD-3-Clause */
/* test_peer.c -- rpma_peer_new() and rpma_peer_delete(). */
#include "every_call_fails.h"

TEST(new__tells_why_there_is_no_pd, setup_nothing, teardown)
{
	static const struct {
		int errnum, result;
	} cases[] = {
		{ENOMEM, RPMA_E_NOMEM},
		{EIO, RPMA_E_PROVIDER},
		{0, RPMA_E_UNKNOWN},
	};
	struct rpma_peer *peer = UNTOUCHED;

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		errno = ENOMEM; /* from an earlier failure */
		calls_fail_on("ibv_alloc_pd", cases[i].errnum);
		expect(cases[i].result, rpma_peer_new(provider.context, &peer));
		assert_ptr_equal(peer, UNTOUCHED);
	}
}

MAKES(new_peer, struct rpma_peer, w.peer, rpma_peer_new(provider.context, &made))

SURVIVES(new, .function = "rpma_peer_new", .setup = setup_nothing, .act = new_peer)

ENDS(delete_peer, w.peer, rpma_peer_delete(&w.peer))

SURVIVES(delete, .function = "rpma_peer_delete", .setup = setup_peer, .act = delete_peer)

TEST(delete__says_that_a_region_is_left, setup_mr, teardown)
{
	expect(RPMA_E_PROVIDER, rpma_peer_delete(&w.peer));
	EQUAL((w.peer, NULL), (provider.live.pd, 1));
	/* the library has no handle to it any more */
	expect(0, rpma_mr_dereg(&w.mr));
	assert_int_equal(ibv_dealloc_pd(provider.pd), 0);
}
