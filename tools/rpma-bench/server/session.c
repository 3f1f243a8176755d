/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.c -- welcomes a client, then does what its messages say until it
 * leaves.
 *
 * A client may be wrong, hostile or dead. What it sends is checked before it
 * has any effect, a run may last as long as it likes, and now and then a sign
 * of life is sent: one that is not acknowledged ends the session.
 */
#include "server_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"
#include "server_repeat.h"
#include "tools/rpma-bench/protocol/exchange.h"

#define ALIVE_MS 10000

struct session {
	struct server_state *server;
	struct connection *connection; /* the client's */
	bool welcomed;
	bool began;		      /* a repeat of it was started */
	size_t repeats;		      /* ended */
	struct server_repeat *repeat; /* the repeat at hand; NULL: between two */
	int64_t alive_ms;	      /* when the last sign of life was sent */
	struct exchange_buffer buffer;
};

/* --- handshake --------------------------------------------------------------- */

static int send_text(struct session *s, const char *text)
{
	struct message m = {.type = MESSAGE_TEXT};
	size_t total = strlen(text);
	int ret = 0;

	if (total > MESSAGE_TEXT_MAX)
		return failure_set(EXIT_INTERNAL, "message", "a text of %zu bytes is too long",
				   total);
	m.text.total = (uint32_t)total;
	while (m.text.offset < m.text.total && ret == 0) {
		uint32_t left = m.text.total - m.text.offset;

		m.text.bytes = left < MESSAGE_CHUNK_MAX ? left : MESSAGE_CHUNK_MAX;
		m.text.data = (const uint8_t *)text + m.text.offset;
		ret = exchange_send(s->connection, &m);
		m.text.offset += m.text.bytes;
	}
	return ret;
}

static int welcome_client(struct session *s)
{
	const struct server_state *server = s->server;
	struct message m, welcome = {.type = MESSAGE_WELCOME};
	int ret =
		exchange_receive(s->connection, MESSAGE_RUN, CONNECTION_TIMEOUT_MS, &s->buffer, &m);

	if (ret)
		return ret;
	welcome.welcome.environment_bytes = (uint32_t)strlen(server->environment);
	welcome.welcome.direct_write_to_pmem = server->direct_write_to_pmem;
	welcome.welcome.targets_count = (uint8_t)server->regions_count;
	for (size_t i = 0; i < server->regions_count; i++)
		welcome.welcome.targets[i] = server->regions[i].description;
	ret = exchange_send(s->connection, &welcome);
	s->welcomed = ret == 0;
	return ret == 0 ? send_text(s, server->environment) : ret;
}

/* --- the run ---------------------------------------------------------------- */

static int unexpected_message(const struct session *s)
{
	return failure_set(EXIT_RUN_FAILED, "message", "%s sent an unexpected message",
			   connection_peer_name(s->connection));
}

static int say_alive(struct session *s)
{
	const struct message alive = {.type = MESSAGE_ALIVE};

	s->alive_ms = monotonic_ms();
	return exchange_send(s->connection, &alive);
}

/* Until the next sign of life is due; 0: it is. */
static int alive_in_ms(const struct session *s)
{
	int64_t left = s->alive_ms + ALIVE_MS - monotonic_ms();

	return left > 0 ? (int)left : 0;
}

/* A client that has gone is seen afterwards. */
static void send_keepalive(void *session)
{
	if (alive_in_ms(session) == 0)
		say_alive(session);
}

/*
 * Waits until a descriptor is readable, and lets the repeat look at its own. A
 * message is taken only if one is expected.
 */
static int wait_for_event(struct session *s, bool messages)
{
	struct pollfd fds[3 + SERVER_REPEAT_FDS] = {
		{messages ? connection_receive_fd(s->connection) : -1, POLLIN, 0},
		{connection_event_fd(s->connection), POLLIN, 0},
		{s->server->service.stop_fd, POLLIN, 0}};
	int ready, ret;

	if (s->repeat != NULL)
		server_repeat_fds(s->repeat, fds + 3);
	ready = poll(fds, s->repeat != NULL ? 3 + SERVER_REPEAT_FDS : 3, alive_in_ms(s));
	if (ready < 0)
		return errno == EINTR
			       ? 0
			       : failure_set(EXIT_INTERNAL, "message", "poll: %s", strerror(errno));
	if (fds[2].revents != 0)
		return -ECANCELED;
	/* however much there is to do besides, such as connections to accept */
	if (alive_in_ms(s) == 0 && (ret = say_alive(s)) != 0)
		return ret;
	/* what came before the end of the connection is still to be received */
	if (fds[1].revents != 0)
		connection_alive(s->connection, 0);
	return s->repeat != NULL ? server_repeat_poll(s->repeat, fds + 3) : 0;
}

static int next_message(struct session *s, struct message *m)
{
	int ret;

	for (;;) {
		ret = exchange_receive_any(s->connection, 0, &s->buffer, m);
		if (ret == -EPROTO)
			return unexpected_message(s);
		if (ret != -ETIMEDOUT)
			return ret;
		ret = wait_for_event(s, true);
		if (ret)
			return ret;
	}
}

/* A refusal ends the repeat, not the run. */
static int begin(struct session *s, const struct message_begin *begin)
{
	struct message ready = {.type = MESSAGE_READY};

	if (server_repeat_open(&s->repeat, s->server, begin) == 0) {
		server_repeat_describe(s->repeat, &ready.ready);
	} else {
		snprintf(ready.ready.refusal, sizeof(ready.ready.refusal), "%.*s",
			 MESSAGE_REFUSAL_MAX - 1, failure_get()->text);
		service_say(&s->server->service, "refused a repeat of %s: %s",
			    connection_peer_name(s->connection), failure_get()->text);
	}
	return exchange_send(s->connection, &ready);
}

static int send_report(struct session *s)
{
	json_t *report = server_repeat_report(s->repeat);
	char *text = report != NULL ? json_dumps(report, JSON_COMPACT) : NULL;
	int ret;

	json_decref(report);
	if (text == NULL)
		return -EIO;
	ret = send_text(s, text);
	free(text);
	return ret;
}

/* The end of a repeat may take long: the client is watched meanwhile. */
static int end(struct session *s, const struct message_end *end)
{
	const struct access_keepalive keepalive = {send_keepalive, s};
	int ret = server_repeat_end(s->repeat, end, &keepalive);

	while (ret == 0 && !server_repeat_is_done(s->repeat)) {
		ret = wait_for_event(s, false);
		if (ret == 0 && !connection_alive(s->connection, 0))
			ret = -EIO;
	}
	if (ret == 0)
		ret = send_report(s);
	s->repeats += ret == 0 && s->began;
	server_repeat_close(&s->repeat);
	return ret;
}

static int handle_message(struct session *s, const struct message *m)
{
	if (m->type == MESSAGE_BEGIN && s->repeat == NULL)
		return begin(s, &m->begin);
	if (m->type == MESSAGE_START && s->repeat != NULL) {
		s->began = true;
		return server_repeat_start(s->repeat, m->start.phase);
	}
	if (m->type == MESSAGE_END && s->repeat != NULL)
		return end(s, &m->end);
	return unexpected_message(s);
}

static int serve(struct session *s)
{
	struct message m;
	int ret;

	s->alive_ms = monotonic_ms();
	ret = next_message(s, &m);
	while (ret == 0 && m.type != MESSAGE_BYE) {
		ret = handle_message(s, &m);
		if (ret == 0)
			ret = next_message(s, &m);
	}
	/* the client closes: it may still be reading */
	if (ret == 0)
		connection_alive(s->connection, CONNECTION_TIMEOUT_MS);
	return ret;
}

/* One line, of what became of the client. */
static void say_end(const struct session *s, const struct service_client *client, int ret,
		    int64_t ms)
{
	const char *plural = s->repeats == 1 ? "" : "s", *why = failure_get()->text;
	const double seconds = (double)ms / 1000;

	if (ret == -EIO || ret == -ETIMEDOUT) {
		bool named = strncmp(why, client->name, strlen(client->name)) == 0;

		service_say(client->service, "%s%s%s (%zu repeat%s in %.1f s)",
			    named ? "" : client->name, named ? "" : ": ", why, s->repeats, plural,
			    seconds);
	} else if (ret == 0 && !s->server->owned) {
		service_say(client->service, "%s: served %zu repeat%s in %.1f s", client->name,
			    s->repeats, plural, seconds);
	}
}

void session_serve(void *server, struct service_client *client)
{
	struct session s = {.server = server};
	int64_t begin_ms = monotonic_ms();
	int ret = service_accept(client, NULL);

	if (ret)
		return;
	s.connection = client->connection;
	ret = welcome_client(&s);
	if (ret == 0)
		ret = serve(&s);
	say_end(&s, client, ret, monotonic_ms() - begin_ms);
	/* first: a client waits for the answer to its disconnect, one queue pair after the other */
	connection_close(&client->connection);
	server_repeat_close(&s.repeat);
	/* a client that only tried, or made a mistake, does not use it up */
	if (s.server->once && (s.began || (s.welcomed && s.server->owned)))
		service_stop(s.server->main);
}
