/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control.c -- the codec of the messages over ssh.
 *
 * pool request: pool size 8 | lanes 4 | transport 1 | has attr 1 | attr 104 | name bytes 2 | name
 * pool reply:   lanes 4 | port 2 | address 64 | method 1 | has headers 1 | pool size 8 | token 8 |
 *               attr 104
 * set attr:     attr 104
 * close:        flags 4
 * attr:         signature 8 | major 4 | compat 4 | incompat 4 | ro compat 4 | pool set uuid 16 |
 *               uuid 16 | next uuid 16 | previous uuid 16 | user flags 16
 */
#include "control.h"

#include <errno.h>
#include <string.h>

#include "common/base/bytes.h"

#define REPLY_BIT 0x100

static const uint8_t magic[4] = {'r', 'p', 'm', 'R'};

static struct bytes_writer begin(uint8_t *frame, size_t room)
{
	struct bytes_writer w = bytes_write_to(frame, room);
	const uint8_t later[CONTROL_HEADER_BYTES] = {0};

	bytes_put(&w, later, sizeof(later));
	return w;
}

/* Fills in the header, once the body's size is known. */
static size_t finish(const struct bytes_writer *w, uint8_t *frame, unsigned type, uint32_t status)
{
	struct bytes_writer header = bytes_write_to(frame, CONTROL_HEADER_BYTES);
	size_t body_bytes = (size_t)(w->at - frame) - CONTROL_HEADER_BYTES;

	if (w->bad || body_bytes > CONTROL_BODY_MAX)
		return 0;
	bytes_put(&header, magic, sizeof(magic));
	bytes_put_big(&header, CONTROL_VERSION, 2);
	bytes_put_big(&header, type, 2);
	bytes_put_big(&header, status, 4);
	bytes_put_big(&header, body_bytes, 4);
	return CONTROL_HEADER_BYTES + body_bytes;
}

static void put_attr(struct bytes_writer *w, const struct rpmem_pool_attr *attr)
{
	bytes_put(w, attr->signature, sizeof(attr->signature));
	bytes_put_big(w, attr->major, 4);
	bytes_put_big(w, attr->compat_features, 4);
	bytes_put_big(w, attr->incompat_features, 4);
	bytes_put_big(w, attr->ro_compat_features, 4);
	bytes_put(w, attr->poolset_uuid, sizeof(attr->poolset_uuid));
	bytes_put(w, attr->uuid, sizeof(attr->uuid));
	bytes_put(w, attr->next_uuid, sizeof(attr->next_uuid));
	bytes_put(w, attr->prev_uuid, sizeof(attr->prev_uuid));
	bytes_put(w, attr->user_flags, sizeof(attr->user_flags));
}

static void get_attr(struct bytes_reader *r, struct rpmem_pool_attr *attr)
{
	bytes_get(r, attr->signature, sizeof(attr->signature));
	attr->major = (uint32_t)bytes_get_big(r, 4);
	attr->compat_features = (uint32_t)bytes_get_big(r, 4);
	attr->incompat_features = (uint32_t)bytes_get_big(r, 4);
	attr->ro_compat_features = (uint32_t)bytes_get_big(r, 4);
	bytes_get(r, attr->poolset_uuid, sizeof(attr->poolset_uuid));
	bytes_get(r, attr->uuid, sizeof(attr->uuid));
	bytes_get(r, attr->next_uuid, sizeof(attr->next_uuid));
	bytes_get(r, attr->prev_uuid, sizeof(attr->prev_uuid));
	bytes_get(r, attr->user_flags, sizeof(attr->user_flags));
}

static bool is_zero(const struct rpmem_pool_attr *attr)
{
	static const struct rpmem_pool_attr zero;

	return memcmp(attr, &zero, sizeof(zero)) == 0;
}

size_t control_encode_pool_request(enum control_type type, const struct control_pool_request *body,
				   uint8_t *frame, size_t room)
{
	static const struct rpmem_pool_attr none;
	struct bytes_writer w = begin(frame, room);
	size_t name_bytes = strnlen(body->name, sizeof(body->name));

	if (name_bytes == 0 || name_bytes == sizeof(body->name))
		return 0;
	bytes_put_big(&w, body->pool_size, 8);
	bytes_put_big(&w, body->nlanes, 4);
	bytes_put_big(&w, body->transport, 1);
	bytes_put_big(&w, body->has_attr, 1);
	put_attr(&w, body->has_attr ? &body->attr : &none);
	bytes_put_big(&w, name_bytes, 2);
	bytes_put(&w, body->name, name_bytes);
	return finish(&w, frame, type, 0);
}

size_t control_encode_pool_reply(enum control_type type, const struct control_pool_reply *body,
				 uint8_t *frame, size_t room)
{
	struct bytes_writer w = begin(frame, room);
	char address[sizeof(body->address)] = {0};

	memcpy(address, body->address, strnlen(body->address, sizeof(address) - 1));
	bytes_put_big(&w, body->nlanes, 4);
	bytes_put_big(&w, body->port, 2);
	bytes_put(&w, address, sizeof(address));
	bytes_put_big(&w, body->method, 1);
	bytes_put_big(&w, body->has_headers, 1);
	bytes_put_big(&w, body->pool_size, 8);
	bytes_put_big(&w, body->token, 8);
	put_attr(&w, &body->attr);
	return finish(&w, frame, type | REPLY_BIT, 0);
}

size_t control_encode_set_attr(const struct rpmem_pool_attr *attr, uint8_t *frame, size_t room)
{
	struct bytes_writer w = begin(frame, room);

	put_attr(&w, attr);
	return finish(&w, frame, CONTROL_SET_ATTR, 0);
}

size_t control_encode_close(uint32_t flags, uint8_t *frame, size_t room)
{
	struct bytes_writer w = begin(frame, room);

	bytes_put_big(&w, flags, 4);
	return finish(&w, frame, CONTROL_CLOSE, 0);
}

size_t control_encode_plain(enum control_type type, bool is_reply, uint32_t status,
			    const char *reason, uint8_t *frame, size_t room)
{
	struct bytes_writer w = begin(frame, room);
	unsigned bit = is_reply && type != CONTROL_HELLO ? REPLY_BIT : 0;

	if (status != 0 && reason != NULL)
		bytes_put(&w, reason, strnlen(reason, CONTROL_REASON_MAX - 1));
	return finish(&w, frame, type | bit, status);
}

static bool is_type(uint64_t type, bool is_reply)
{
	if (is_reply && type == CONTROL_HELLO)
		return false;
	return type >= CONTROL_HELLO && type < CONTROL_TYPES;
}

int control_decode_header(const uint8_t bytes[CONTROL_HEADER_BYTES], struct control_header *header)
{
	struct bytes_reader r = {bytes, CONTROL_HEADER_BYTES, false};
	uint8_t begun[sizeof(magic)];
	uint64_t version, type;
	bool has_status;

	bytes_get(&r, begun, sizeof(begun));
	version = bytes_get_big(&r, 2);
	type = bytes_get_big(&r, 2);
	header->is_reply = (type & REPLY_BIT) != 0;
	type &= ~(uint64_t)REPLY_BIT;
	header->type = (enum control_type)type;
	header->status = (uint32_t)bytes_get_big(&r, 4);
	header->body_bytes = (uint32_t)bytes_get_big(&r, 4);
	if (memcmp(begun, magic, sizeof(magic)) != 0)
		return -EPROTO;
	if (version != CONTROL_VERSION)
		return -EPROTONOSUPPORT;
	has_status = header->is_reply || type == CONTROL_HELLO;
	if (!is_type(type, header->is_reply) || header->body_bytes > CONTROL_BODY_MAX ||
	    header->status > (has_status ? CONTROL_STATUS_MAX : 0))
		return -EPROTO;
	return 0;
}

bool control_may_begin(const uint8_t *bytes, size_t len)
{
	return memcmp(bytes, magic, len < sizeof(magic) ? len : sizeof(magic)) == 0;
}

static bool get_bool(struct bytes_reader *r, bool *value)
{
	uint64_t byte = bytes_get_big(r, 1);

	*value = byte == 1;
	return byte <= 1;
}

static bool get_transport(struct bytes_reader *r, enum control_transport *transport)
{
	uint64_t byte = bytes_get_big(r, 1);

	*transport = (enum control_transport)byte;
	return byte == CONTROL_RDMA || byte == CONTROL_TCP;
}

static bool get_name(struct bytes_reader *r, char name[CONTROL_NAME_MAX])
{
	size_t len = (size_t)bytes_get_big(r, 2);

	if (len == 0 || len >= CONTROL_NAME_MAX || len != r->left)
		return false;
	memset(name, 0, CONTROL_NAME_MAX);
	bytes_get(r, name, len);
	return strlen(name) == len;
}

int control_decode_pool_request(enum control_type type, const uint8_t *body, size_t len,
				struct control_pool_request *request)
{
	struct bytes_reader r = {body, len, false};
	bool good;

	request->pool_size = bytes_get_big(&r, 8);
	request->nlanes = (uint32_t)bytes_get_big(&r, 4);
	good = get_transport(&r, &request->transport);
	good = get_bool(&r, &request->has_attr) && good;
	get_attr(&r, &request->attr);
	good = get_name(&r, request->name) && good;
	if (r.bad || !good || request->pool_size == 0 || request->nlanes == 0)
		return -EPROTO;
	if (request->has_attr ? type != CONTROL_CREATE : !is_zero(&request->attr))
		return -EPROTO;
	return 0;
}

/* A numeric address, and the zone of a link-local one; padded with zeros. */
static bool get_address(struct bytes_reader *r, char address[64])
{
	static const char zone[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789._-";
	size_t len;

	bytes_get(r, address, 64);
	len = strnlen(address, 64);
	for (size_t i = len; i < 64; i++)
		if (address[i] != '\0')
			return false;
	if (len == 64)
		return false;
	len = strspn(address, "0123456789abcdefABCDEF:.");
	if (len > 0 && address[len] == '%')
		len += 1 + strspn(address + len + 1, zone);
	return address[len] == '\0';
}

static bool get_method(struct bytes_reader *r, enum control_method *method)
{
	uint64_t byte = bytes_get_big(r, 1);

	*method = (enum control_method)byte;
	return byte == CONTROL_GPSPM || byte == CONTROL_APM;
}

int control_decode_pool_reply(const uint8_t *body, size_t len, struct control_pool_reply *reply)
{
	struct bytes_reader r = {body, len, false};
	bool good;

	reply->nlanes = (uint32_t)bytes_get_big(&r, 4);
	reply->port = (uint16_t)bytes_get_big(&r, 2);
	good = get_address(&r, reply->address);
	good = get_method(&r, &reply->method) && good;
	good = get_bool(&r, &reply->has_headers) && good;
	reply->pool_size = bytes_get_big(&r, 8);
	reply->token = bytes_get_big(&r, 8);
	get_attr(&r, &reply->attr);
	if (r.bad || r.left > 0 || !good || reply->nlanes == 0 || reply->port == 0 ||
	    reply->pool_size == 0)
		return -EPROTO;
	return 0;
}

int control_decode_set_attr(const uint8_t *body, size_t len, struct rpmem_pool_attr *attr)
{
	struct bytes_reader r = {body, len, false};

	get_attr(&r, attr);
	return r.bad || r.left > 0 ? -EPROTO : 0;
}

int control_decode_close(const uint8_t *body, size_t len, uint32_t *flags)
{
	struct bytes_reader r = {body, len, false};

	*flags = (uint32_t)bytes_get_big(&r, 4);
	return r.bad || r.left > 0 || (*flags & ~CONTROL_CLOSE_REMOVE) != 0 ? -EPROTO : 0;
}

void control_decode_reason(const uint8_t *body, size_t len, char reason[CONTROL_REASON_MAX])
{
	size_t n = 0;

	while (n < len && n < CONTROL_REASON_MAX - 1 && body[n] >= ' ' && body[n] != 0x7f)
		n++;
	if (n > 0)
		memcpy(reason, body, n);
	reason[n] = '\0';
}
