/* SPDX-License-Identifier: BSD-3-Clause */
/* grh.c -- see grh.h. */
#include "grh.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <string.h>

#define IPV4_AT (GRH_BYTES - sizeof(struct iphdr))
/* Bytes around the payload in a packet: BTH, DETH, and the ICRC. */
#define AROUND	      (12u + 8u + 4u)
#define UDP_BYTES     8u
#define DONT_FRAGMENT 0x4000

static bool is_ipv4(const union ibv_gid *gid)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)gid->raw);
}

bool grh_gid_is_multicast(const union ibv_gid *gid)
{
	return is_ipv4(gid) ? gid->raw[12] >> 4 == 0xe : gid->raw[0] == 0xff;
}

enum grh_kind grh_kind(const union ibv_gid *from, const union ibv_gid *to)
{
	return is_ipv4(from) && is_ipv4(to) ? GRH_IPV4 : GRH_IPV6;
}

static uint16_t checksum(const struct iphdr *header)
{
	uint16_t words[sizeof(*header) / 2];
	uint32_t sum = 0;

	memcpy(words, header, sizeof(words));
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t) ~(sum + (sum >> 16));
}

static void put_ipv4(unsigned char bytes[GRH_BYTES], const struct grh *grh, uint32_t udp_bytes)
{
	struct iphdr header = {
		.version = 4,
		.ihl = sizeof(header) / 4,
		.tos = grh->traffic_class,
		.tot_len = htons((uint16_t)(sizeof(header) + udp_bytes)),
		.frag_off = htons(DONT_FRAGMENT),
		.ttl = grh->hop_limit,
		.protocol = IPPROTO_UDP,
	};

	memcpy(&header.saddr, &grh->from.raw[12], sizeof(header.saddr));
	memcpy(&header.daddr, &grh->to.raw[12], sizeof(header.daddr));
	header.check = checksum(&header);
	memset(bytes, 0, IPV4_AT);
	memcpy(bytes + IPV4_AT, &header, sizeof(header));
}

void grh_put(unsigned char bytes[GRH_BYTES], const struct grh *grh)
{
	const uint32_t udp_bytes = UDP_BYTES + AROUND + (grh->payload + 3) / 4 * 4;
	struct ip6_hdr header = {
		.ip6_flow = htonl(6u << 28 | (uint32_t)grh->traffic_class << 20 |
				  (grh->flow_label & 0xfffff)),
		.ip6_plen = htons((uint16_t)udp_bytes),
		.ip6_nxt = IPPROTO_UDP,
		.ip6_hlim = grh->hop_limit,
	};

	if (grh_kind(&grh->from, &grh->to) == GRH_IPV4) {
		put_ipv4(bytes, grh, udp_bytes);
		return;
	}
	memcpy(&header.ip6_src, &grh->from, sizeof(header.ip6_src));
	memcpy(&header.ip6_dst, &grh->to, sizeof(header.ip6_dst));
	memcpy(bytes, &header, sizeof(header));
}

static union ibv_gid mapped(uint32_t address)
{
	union ibv_gid gid = {.raw = {[10] = 0xff, [11] = 0xff}};

	memcpy(&gid.raw[12], &address, sizeof(address));
	return gid;
}

static bool get_ipv4(const unsigned char bytes[GRH_BYTES], struct grh *grh)
{
	struct iphdr header;

	memcpy(&header, bytes + IPV4_AT, sizeof(header));
	if (header.version != 4 || header.ihl != sizeof(header) / 4 || checksum(&header) != 0)
		return false;
	*grh = (struct grh){.from = mapped(header.saddr),
			    .to = mapped(header.daddr),
			    .traffic_class = header.tos,
			    .hop_limit = header.ttl};
	return true;
}

bool grh_get(const unsigned char bytes[GRH_BYTES], struct grh *grh)
{
	struct ip6_hdr header;
	uint32_t flow;

	if (get_ipv4(bytes, grh))
		return true;
	memcpy(&header, bytes, sizeof(header));
	flow = ntohl(header.ip6_flow);
	if (flow >> 28 != 6)
		return false;
	*grh = (struct grh){.flow_label = flow & 0xfffff,
			    .traffic_class = (uint8_t)(flow >> 20),
			    .hop_limit = header.ip6_hlim};
	memcpy(&grh->from, &header.ip6_src, sizeof(grh->from));
	memcpy(&grh->to, &header.ip6_dst, sizeof(grh->to));
	return true;
}
