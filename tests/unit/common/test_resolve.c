/* SPDX-License-Identifier: BSD-3-Clause */
/* test_resolve.c -- names into addresses, with a getaddrinfo of our own that can take forever. */
#include <netdb.h>
#include <semaphore.h>

#include "common/base/failure.h"
#include "common/rdma/resolve.h"
#include "tests/lib/test.h"

static char address[RESOLVE_ADDRESS_MAX];

static sem_t release;
static int wait_first; /* for good, once set: a thread may still read it */

int __real_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **res);

int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **res)
{
	if (wait_first && (hints->ai_flags & AI_NUMERICHOST) == 0)
		sem_wait(&release);
	return __real_getaddrinfo(node, service, hints, res);
}

TEST(addresses_stay_what_they_are)
{
	EQUAL((resolve_host("10.1.2.3", 5000, address), 0), (address, "10.1.2.3"),
	      (resolve_host("fd00::0001", 5000, address), 0), (address, "fd00::1"));
}

/* Addresses of IPv6 are printed so before a port. */
TEST(brackets_around_an_address_are_taken)
{
	EQUAL((resolve_host("[fd00::0001]", 5000, address), 0), (address, "fd00::1"));
	assert_int_not_equal(resolve_host("[fd00::1", 5000, address), 0);
	assert_non_null(strstr(failure_get()->text, "[fd00::1"));
	assert_int_not_equal(resolve_host("[]", 30000, address), 0);
}

TEST(a_port_behind_a_host_is_seen)
{
	static const char *const with[] = {"host:7204", "192.0.2.1:7204", "[::1]:7204", "host:"};
	static const char *const without[] = {"host", "192.0.2.1", "::1", "[::1]", "fe80::1%eth0"};

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
		assert_true(resolve_has_port(with[i]));
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		assert_false(resolve_has_port(without[i]));
}

TEST(an_unknown_name_is_told)
{
	assert_int_not_equal(resolve_host("nowhere.invalid", 30000, address), 0);
	EQUAL((failure_get()->code, EXIT_RUN_FAILED),
	      (failure_get()->text, HAS("nowhere.invalid")));
}

TEST(waiting_has_a_limit)
{
	sem_init(&release, 0, 0);
	wait_first = 1;
	assert_int_not_equal(resolve_host("host.invalid", 0, address), 0);
	assert_non_null(strstr(failure_get()->text, "no answer"));
	sem_post(&release);
}
