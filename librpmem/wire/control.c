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

static struct bytes_codec begin(uint8_t *frame, size_t room)
{
	struct bytes_codec c = bytes_writing(frame, room);
	uint8_t later[CONTROL_HEADER_BYTES] = {0};

	c.big = true;
	bytes_code(&c, later, sizeof(later));
	return c;
}

/* Fills in the header, once the body's size is known. */
static size_t finish(const struct bytes_codec *c, uint8_t *frame, unsigned type, uint32_t status)
{
	struct bytes_writer header = bytes_write_to(frame, CONTROL_HEADER_BYTES);
	size_t body_bytes = (size_t)(c->w.at - frame) - CONTROL_HEADER_BYTES;

	if (c->w.bad || c->r.bad || body_bytes > CONTROL_BODY_MAX)
		return 0;
	bytes_put(&header, magic, sizeof(magic));
	bytes_put_big(&header, CONTROL_VERSION, 2);
	bytes_put_big(&header, type, 2);
	bytes_put_big(&header, status, 4);
	bytes_put_big(&header, body_bytes, 4);
	return CONTROL_HEADER_BYTES + body_bytes;
}

static struct bytes_codec reading(const uint8_t *body, size_t len)
{
	struct bytes_codec c = bytes_reading(body, len);

	c.big = true;
	return c;
}

/* It was exactly one body, with each field in its range. */
static int ended(const struct bytes_codec *c, bool good)
{
	return c->r.bad || c->r.left > 0 || !good ? -EPROTO : 0;
}

static void code_attr(struct bytes_codec *c, struct rpmem_pool_attr *attr)
{
	bytes_code(c, attr->signature, sizeof(attr->signature));
	bytes_code_int(c, attr->major, 4);
	bytes_code_int(c, attr->compat_features, 4);
	bytes_code_int(c, attr->incompat_features, 4);
	bytes_code_int(c, attr->ro_compat_features, 4);
	bytes_code(c, attr->poolset_uuid, sizeof(attr->poolset_uuid));
	bytes_code(c, attr->uuid, sizeof(attr->uuid));
	bytes_code(c, attr->next_uuid, sizeof(attr->next_uuid));
	bytes_code(c, attr->prev_uuid, sizeof(attr->prev_uuid));
	bytes_code(c, attr->user_flags, sizeof(attr->user_flags));
}

static bool is_zero(const struct rpmem_pool_attr *attr)
{
	static const struct rpmem_pool_attr zero;

	return memcmp(attr, &zero, sizeof(zero)) == 0;
}

/* It takes the rest of a body. */
static void code_name(struct bytes_codec *c, char name[CONTROL_NAME_MAX])
{
	size_t len = (size_t)bytes_code_value(c, strnlen(name, CONTROL_NAME_MAX), 2);

	c->r.bad =
		c->r.bad || len == 0 || len >= CONTROL_NAME_MAX || (!c->writes && len != c->r.left);
	if (c->r.bad)
		return;
	bytes_code(c, name, len);
	name[len] = '\0';
	c->r.bad = strlen(name) != len;
}

static void code_pool_request(struct bytes_codec *c, struct control_pool_request *request)
{
	bytes_code_int(c, request->pool_size, 8);
	bytes_code_int(c, request->nlanes, 4);
	bytes_code_int(c, request->transport, 1);
	request->has_attr = bytes_code_flag(c, request->has_attr);
	code_attr(c, &request->attr);
	code_name(c, request->name);
}

static void code_pool_reply(struct bytes_codec *c, struct control_pool_reply *reply)
{
	bytes_code_int(c, reply->nlanes, 4);
	bytes_code_int(c, reply->port, 2);
	bytes_code(c, reply->address, sizeof(reply->address));
	bytes_code_int(c, reply->method, 1);
	reply->has_headers = bytes_code_flag(c, reply->has_headers);
	bytes_code_int(c, reply->pool_size, 8);
	bytes_code_int(c, reply->token, 8);
	code_attr(c, &reply->attr);
}

size_t control_encode_pool_request(enum control_type type, const struct control_pool_request *body,
				   uint8_t *frame, size_t room)
{
	struct bytes_codec c = begin(frame, room);
	struct control_pool_request request = *body;

	if (!request.has_attr)
		memset(&request.attr, 0, sizeof(request.attr));
	code_pool_request(&c, &request);
	return finish(&c, frame, type, 0);
}

size_t control_encode_pool_reply(enum control_type type, const struct control_pool_reply *body,
				 uint8_t *frame, size_t room)
{
	struct bytes_codec c = begin(frame, room);
	struct control_pool_reply reply = *body;
	size_t len = strnlen(reply.address, sizeof(reply.address) - 1);

	memset(reply.address + len, 0, sizeof(reply.address) - len);
	code_pool_reply(&c, &reply);
	return finish(&c, frame, type | REPLY_BIT, 0);
}

size_t control_encode_set_attr(const struct rpmem_pool_attr *attr, uint8_t *frame, size_t room)
{
	struct bytes_codec c = begin(frame, room);
	struct rpmem_pool_attr copy = *attr;

	code_attr(&c, &copy);
	return finish(&c, frame, CONTROL_SET_ATTR, 0);
}

size_t control_encode_close(uint32_t flags, uint8_t *frame, size_t room)
{
	struct bytes_codec c = begin(frame, room);

	bytes_code_int(&c, flags, 4);
	return finish(&c, frame, CONTROL_CLOSE, 0);
}

size_t control_encode_plain(enum control_type type, bool is_reply, uint32_t status,
			    const char *reason, uint8_t *frame, size_t room)
{
	struct bytes_codec c = begin(frame, room);
	unsigned bit = is_reply && type != CONTROL_STARTED ? REPLY_BIT : 0;

	if (status != 0 && reason != NULL)
		bytes_put(&c.w, reason, strnlen(reason, CONTROL_REASON_MAX - 1));
	return finish(&c, frame, type | bit, status);
}

static bool is_type(uint64_t type, bool is_reply)
{
	if (is_reply && type == CONTROL_STARTED)
		return false;
	return type >= CONTROL_STARTED && type < CONTROL_TYPES;
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
	has_status = header->is_reply || type == CONTROL_STARTED;
	if (!is_type(type, header->is_reply) || header->body_bytes > CONTROL_BODY_MAX ||
	    header->status > (has_status ? CONTROL_STATUS_MAX : 0))
		return -EPROTO;
	return 0;
}

bool control_may_begin(const uint8_t *bytes, size_t len)
{
	return memcmp(bytes, magic, len < sizeof(magic) ? len : sizeof(magic)) == 0;
}

int control_decode_pool_request(enum control_type type, const uint8_t *body, size_t len,
				struct control_pool_request *request)
{
	struct bytes_codec c = reading(body, len);

	memset(request, 0, sizeof(*request));
	code_pool_request(&c, request);
	return ended(
		&c,
		request->pool_size > 0 && request->nlanes > 0 &&
			(request->transport == CONTROL_RDMA || request->transport == CONTROL_TCP) &&
			(request->has_attr ? type == CONTROL_CREATE : is_zero(&request->attr)));
}

/* A numeric address, and the zone of a link-local one; padded with zeros. */
static bool is_address(const char address[64])
{
	static const char zone[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789._-";
	size_t len = strnlen(address, 64);

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

int control_decode_pool_reply(const uint8_t *body, size_t len, struct control_pool_reply *reply)
{
	struct bytes_codec c = reading(body, len);

	memset(reply, 0, sizeof(*reply));
	code_pool_reply(&c, reply);
	return ended(&c, is_address(reply->address) &&
				 (reply->method == CONTROL_GPSPM || reply->method == CONTROL_APM) &&
				 reply->nlanes > 0 && reply->port > 0 && reply->pool_size > 0);
}

int control_decode_set_attr(const uint8_t *body, size_t len, struct rpmem_pool_attr *attr)
{
	struct bytes_codec c = reading(body, len);

	memset(attr, 0, sizeof(*attr));
	code_attr(&c, attr);
	return ended(&c, true);
}

int control_decode_close(const uint8_t *body, size_t len, uint32_t *flags)
{
	struct bytes_codec c = reading(body, len);

	*flags = 0;
	bytes_code_int(&c, *flags, 4);
	return ended(&c, (*flags & ~CONTROL_CLOSE_REMOVE) == 0);
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
