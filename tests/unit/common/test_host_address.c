/* SPDX-License-Identifier: BSD-3-Clause */
/* test_host_address.c -- what the wildcards are, and which addresses they stand for. */
#include <arpa/inet.h>
#include <net/if.h>

#include "common/rdma/resolve.h"
#include "tests/lib/test.h"

static struct sockaddr_in four[2];
static struct sockaddr_in6 six[3];
static struct ifaddrs all[7];

/* lo 127.0.0.1, eth0 192.0.2.1 twice, down 192.0.2.1, ::1, fe80::1, 2001:db8::1, no address */
static int setup(void **state)
{
	static const char *const texts[] = {"::1", "fe80::1", "2001:db8::1"};

	inet_pton(AF_INET, "127.0.0.1", &four[0].sin_addr);
	inet_pton(AF_INET, "192.0.2.1", &four[1].sin_addr);
	for (size_t i = 0; i < 7; i++)
		all[i] = (struct ifaddrs){.ifa_next = i < 6 ? &all[i + 1] : NULL,
					  .ifa_flags = IFF_UP};
	for (size_t i = 0; i < 2; i++) {
		four[i].sin_family = AF_INET;
		all[i].ifa_addr = (struct sockaddr *)&four[i];
	}
	for (size_t i = 0; i < 3; i++) {
		six[i].sin6_family = AF_INET6;
		inet_pton(AF_INET6, texts[i], &six[i].sin6_addr);
		all[2 + i].ifa_addr = (struct sockaddr *)&six[i];
	}
	all[5].ifa_addr = (struct sockaddr *)&four[1];
	return 0;
}

TEST(the_wildcards_are_known_in_any_form, setup, NULL)
{
	EQUAL((host_address_is_wildcard("0.0.0.0"), true), (host_address_is_wildcard("::"), true),
	      (host_address_is_wildcard("0:0:0:0:0:0:0:0"), true),
	      (host_address_is_wildcard("127.0.0.1"), false),
	      (host_address_is_wildcard("::1"), false),
	      (host_address_is_wildcard("localhost"), false),
	      (host_address_is_wildcard(""), false));
}

TEST(all_of_127_and_one_address_of_ipv6_are_loopback, setup, NULL)
{
	EQUAL((host_address_is_loopback("127.0.0.1"), true),
	      (host_address_is_loopback("127.255.0.9"), true),
	      (host_address_is_loopback("::1"), true),
	      (host_address_is_loopback("128.0.0.1"), false),
	      (host_address_is_loopback("::2"), false),
	      (host_address_is_loopback("0.0.0.0"), false));
}

TEST(that_of_ipv4_is_every_ipv4_address_once, setup, NULL)
{
	struct host_addresses found;

	host_addresses_take(&found, "0.0.0.0", all);
	EQUAL((found.count, 2), (found.text[0], "127.0.0.1"), (found.text[1], "192.0.2.1"));
}

TEST(that_of_ipv6_is_both_without_those_of_a_link, setup, NULL)
{
	struct host_addresses found;

	host_addresses_take(&found, "::", all);
	EQUAL((found.count, 4), (found.text[2], "::1"), (found.text[3], "2001:db8::1"));
}

TEST(an_interface_that_is_down_has_none, setup, NULL)
{
	struct host_addresses found;

	all[0].ifa_flags = 0;
	host_addresses_take(&found, "0.0.0.0", all);
	assert_int_equal(found.count, 1);
	host_addresses_take(&found, "0.0.0.0", NULL);
	assert_int_equal(found.count, 0);
}
