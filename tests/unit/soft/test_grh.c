/* SPDX-License-Identifier: BSD-3-Clause */
/* test_grh.c -- the header in front of a datagram, against RFC 791, RFC 1071 and RFC 8200. */
#include "soft_device/datapath/grh.h"
#include "tests/lib/test.h"

static const union ibv_gid near = {.raw = {[10] = 0xff, 0xff, 192, 168, 0, 1}};
static const union ibv_gid far = {.raw = {[10] = 0xff, 0xff, 192, 168, 0, 199}};
static const union ibv_gid near6 = {.raw = {0xfd, [15] = 1}};
static const union ibv_gid far6 = {.raw = {0xfd, [15] = 2}};

/* RFC 1071: the words of a sound header add up to all ones. */
static uint32_t sum_of(const unsigned char *header)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < 20; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	return (sum & 0xffff) + (sum >> 16);
}

TEST(ipv4__is_a_sound_header_at_the_end)
{
	const struct grh grh = {near, far, .payload = 5, .traffic_class = 0x20, .hop_limit = 64};
	const unsigned char expected[] = {0x45, 0x20, 0, 20 + 8 + 12 + 8 + 8 + 4, 0, 0, 0x40,
					  0,	64,   17};
	unsigned char bytes[GRH_BYTES], *ip = bytes + 20;

	memset(bytes, 0xee, sizeof(bytes));
	grh_put(bytes, &grh);
	assert_memory_equal(ip, expected, sizeof(expected));
	assert_memory_equal(ip + 12, near.raw + 12, 4);
	assert_memory_equal(ip + 16, far.raw + 12, 4);
	assert_int_equal(sum_of(ip), 0xffff);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(bytes[i], 0);
}

TEST(ipv6__is_the_header)
{
	const struct grh grh = {
		near6,	       far6, .payload = 8, .flow_label = 0x12345, .traffic_class = 0xab,
		.hop_limit = 7};
	const unsigned char expected[] = {0x6a, 0xb1, 0x23, 0x45, 0, 8 + 12 + 8 + 8 + 4, 17, 7};
	unsigned char bytes[GRH_BYTES];

	grh_put(bytes, &grh);
	assert_memory_equal(bytes, expected, sizeof(expected));
	assert_memory_equal(bytes + 8, &near6, 16);
	assert_memory_equal(bytes + 24, &far6, 16);
}

TEST(header__comes_back)
{
	const struct grh all[] = {
		{near, far, .traffic_class = 3, .hop_limit = 255},
		{near6, far6, .flow_label = 0xfffff, .traffic_class = 255, .hop_limit = 1},
	};
	unsigned char bytes[GRH_BYTES];
	struct grh got;

	for (unsigned i = 0; i < 2; i++) {
		grh_put(bytes, &all[i]);
		assert_true(grh_get(bytes, &got));
		assert_memory_equal(&got.from, &all[i].from, 16);
		assert_memory_equal(&got.to, &all[i].to, 16);
		assert_int_equal(got.flow_label, all[i].flow_label);
		assert_int_equal(got.traffic_class, all[i].traffic_class);
		assert_int_equal(got.hop_limit, all[i].hop_limit);
	}
}

TEST(wrong_bytes__are_no_header)
{
	const struct grh grh = {near, far, .hop_limit = 64};
	unsigned char bytes[GRH_BYTES] = {0};
	struct grh got;

	assert_false(grh_get(bytes, &got));
	grh_put(bytes, &grh);
	bytes[39] ^= 1; /* the checksum covers it */
	assert_false(grh_get(bytes, &got));
	memset(bytes, 0xff, sizeof(bytes));
	assert_false(grh_get(bytes, &got));
}

/* RFC 1112 and RFC 4291 */
TEST(groups__are_told_by_their_first_bits)
{
	const struct {
		union ibv_gid gid;
		bool multicast;
	} cases[] = {
		{{.raw = {[10] = 0xff, 0xff, 224, 0, 0, 1}}, true},
		{{.raw = {[10] = 0xff, 0xff, 239, 255, 0, 1}}, true},
		{{.raw = {[10] = 0xff, 0xff, 223, 255, 0, 1}}, false},
		{{.raw = {[10] = 0xff, 0xff, 240, 0, 0, 1}}, false},
		{{.raw = {0xff, 0x0e, [15] = 1}}, true},
		{{.raw = {0xfe, 0x80, [15] = 1}}, false},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(grh_gid_is_multicast(&cases[i].gid), cases[i].multicast);
}
