/* SPDX-License-Identifier: BSD-3-Clause */
/* test_allow.c -- which addresses are of which networks. */
#include <arpa/inet.h>

#include "common/rdma/allow.h"
#include "tests/lib/test.h"

static struct sockaddr_storage address(const char *text)
{
	struct sockaddr_storage storage = {0};
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&storage;
	struct sockaddr_in *in = (struct sockaddr_in *)&storage;

	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(4711);
	} else {
		assert_int_equal(inet_pton(AF_INET6, text, &in6->sin6_addr), 1);
		in6->sin6_family = AF_INET6;
	}
	return storage;
}

TEST(a_network_has_its_addresses_and_no_other)
{
	static const struct {
		const char *network, *inside, *outside;
	} cases[] = {
		{"192.0.2.7", "192.0.2.7", "192.0.2.6"},
		{"192.0.2.0/24", "192.0.2.255", "192.0.3.0"},
		{"192.0.2.77/24", "192.0.2.1", "192.0.1.255"},
		{"10.0.0.0/9", "10.127.255.255", "10.128.0.0"},
		{"10.0.0.0/31", "10.0.0.1", "10.0.0.2"},
		{"0.0.0.0/0", "255.255.255.255", "2001:db8::1"},
		{"2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"},
		{"2001:db8::1", "2001:db8::1", "2001:db8::2"},
		{"fe80::/10", "febf::1", "fec0::1"},
		{"::/0", "10.1.2.3", NULL}, /* all there are */
		{"127.0.0.1", "::ffff:127.0.0.1", "::1"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct allow allow = {.count = 0};
		struct sockaddr_storage inside = address(cases[i].inside);

		assert_int_equal(allow_add(&allow, cases[i].network), 0);
		if (!allow_has(&allow, &inside))
			fail_msg("%s has not %s", cases[i].network, cases[i].inside);
		if (cases[i].outside == NULL)
			continue;
		inside = address(cases[i].outside);
		if (allow_has(&allow, &inside))
			fail_msg("%s has %s", cases[i].network, cases[i].outside);
	}
}

TEST(each_rule_adds_to_those_before)
{
	struct allow allow = {.count = 0};
	struct sockaddr_storage one = address("192.0.2.1"), two = address("198.51.100.1");

	EQUAL((allow_add(&allow, "192.0.2.0/24"), 0), (allow_has(&allow, &two), false),
	      (allow_add(&allow, "198.51.100.0/24"), 0), (allow_has(&allow, &one), true),
	      (allow_has(&allow, &two), true));
}

TEST(without_rules_everybody_may)
{
	const struct allow allow = {.count = 0};
	struct sockaddr_storage one = address("192.0.2.1");

	assert_true(allow_has(&allow, &one));
}

/* A device whose addresses are none of the internet's. */
TEST(what_is_no_address_is_of_no_network)
{
	struct allow allow = {.count = 0};
	struct sockaddr_storage unknown = {.ss_family = AF_UNIX};

	EQUAL((allow_add(&allow, "::/0"), 0), (allow_has(&allow, &unknown), false));
}

TEST(malformed_networks_are_refused)
{
	static const char *const texts[] = {
		"",
		"host",
		"10.0.0",
		"10.0.0.0/33",
		"10.0.0.0/",
		"10.0.0.0/-1",
		"10.0.0.0/x",
		"2001:db8::/129",
		"/8",
		"10.0.0.0/8/8",
		"10.0.0.0 /8",
		"2001:db8:0000:0000:0000:0000:0000:0001:0000:0000:0000:0000/64"};
	struct allow allow = {.count = 0};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (allow_add(&allow, texts[i]) != -EINVAL)
			fail_msg("accepted: %s", texts[i]);
	}
	assert_int_equal(allow.count, 0);
}

TEST(so_many_and_no_more)
{
	struct allow allow = {.count = 0};

	for (size_t i = 0; i < ALLOW_MAX; i++)
		assert_int_equal(allow_add(&allow, "10.0.0.0/8"), 0);
	assert_int_equal(allow_add(&allow, "10.0.0.0/8"), -ENOSPC);
}
