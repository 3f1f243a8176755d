/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control.c -- the client's connections: one stays open for the whole run and
 * carries the messages, the queue pairs are made again for each repeat.
 */
#include "control.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/monotonic.h"
#include "tools/rpma-bench/protocol/exchange.h"
#include "tools/rpma-bench/result/readiness.h"

/*
 * A server gives a sign of life every ten seconds (server/session.c). Two missed ones
 * are worth a line; it is given up after what an overloaded host may need.
 */
#define SILENCE_TOLD_MS	 25000
#define SILENCE_LIMIT_MS 60000

/* --- silence ------------------------------------------------------------------ */

static void tell_silence(const struct control *control)
{
	cli_progress(&(struct cli){0}, NULL);
	fprintf(stderr,
		"%s: %s has given no sign of life for %d s: it is stopped, or its host is "
		"overloaded; given up after %d s\n",
		program_invocation_short_name, control->dial.name, SILENCE_TOLD_MS / 1000,
		SILENCE_LIMIT_MS / 1000);
}

static int silent(const struct control *control)
{
	return failure_because(CAUSE_NO_ANSWER, EXIT_RUN_FAILED, "message",
			       "%s gave no sign of life for %d s: it is stopped, or its host is "
			       "overloaded",
			       control->dial.name, SILENCE_LIMIT_MS / 1000);
}

/* Works like exchange_receive(), for a server that may need time for its answer. */
static int receive_patiently(const struct control *control, enum message_type type,
			     struct exchange_buffer *buffer, struct message *m)
{
	int ret = exchange_receive(control->connection, type, SILENCE_TOLD_MS, buffer, m);

	if (ret == -ETIMEDOUT) {
		tell_silence(control);
		ret = exchange_receive(control->connection, type,
				       SILENCE_LIMIT_MS - SILENCE_TOLD_MS, buffer, m);
	}
	return ret == -ETIMEDOUT ? silent(control) : ret;
}

/* In full chunks but the last, so a slow server has a limited number of waits. */
static int receive_chunks(const struct control *control, char *text, uint32_t total, uint32_t have)
{
	struct exchange_buffer buffer;
	struct message m;

	while (have < total) {
		uint32_t left = total - have;
		int ret = exchange_receive(control->connection, MESSAGE_TEXT, CONNECTION_TIMEOUT_MS,
					   &buffer, &m);

		if (ret)
			return ret;
		if (m.text.total != total || m.text.offset != have ||
		    m.text.bytes != (left < MESSAGE_CHUNK_MAX ? left : MESSAGE_CHUNK_MAX))
			return failure_set(EXIT_RUN_FAILED, "handshake",
					   "%s sent a text in other pieces than agreed",
					   control->dial.name);
		memcpy(text + have, m.text.data, m.text.bytes);
		have += m.text.bytes;
	}
	return 0;
}

/* NULL if it is not a JSON object: a server's description of itself is no reason to fail. */
static json_t *parse_object(const char *text, size_t len)
{
	json_t *value = json_loadb(text, len, 0, NULL);

	if (json_is_object(value))
		return value;
	json_decref(value);
	return NULL;
}

/* The first chunk has the length of the text. */
static int receive_object(const struct control *control, json_t **object)
{
	struct exchange_buffer buffer;
	struct message first;
	char *text;
	int ret = receive_patiently(control, MESSAGE_TEXT, &buffer, &first);

	if (ret)
		return ret;
	text = malloc((size_t)first.text.total + 1);
	if (text == NULL)
		return failure_set(EXIT_INTERNAL, "handshake", "out of memory");
	memcpy(text, first.text.data, first.text.bytes);
	ret = first.text.offset == 0
		      ? receive_chunks(control, text, first.text.total, first.text.bytes)
		      : failure_set(EXIT_RUN_FAILED, "handshake",
				    "%s sent the end of a text without its begin",
				    control->dial.name);
	if (ret == 0)
		*object = parse_object(text, first.text.total);
	free(text);
	return ret;
}

static int announce_run(const struct control *control, const uint8_t run_id[16],
			struct server_info *server)
{
	struct message m = {.type = MESSAGE_RUN}, answer;
	struct exchange_buffer buffer;
	int ret;

	memcpy(m.run.run_id, run_id, sizeof(m.run.run_id));
	ret = exchange_send(control->connection, &m);
	if (ret == 0)
		ret = exchange_receive(control->connection, MESSAGE_WELCOME, CONNECTION_TIMEOUT_MS,
				       &buffer, &answer);
	if (ret)
		return ret;
	if (answer.welcome.refusal[0] != '\0')
		return failure_set(EXIT_RUN_FAILED, "handshake", "%s refuses: %s",
				   control->dial.name, answer.welcome.refusal);
	server->welcome = answer.welcome;
	server->known = true;
	if (answer.welcome.environment_bytes == 0)
		return 0;
	ret = receive_object(control, &server->environment);
	server->readiness = platform_take(server->environment, server->welcome.targets_count);
	return ret;
}

/* Connects and is welcome; else *connection stays NULL. */
static int connect_to(struct connection **connection, struct dial *dial,
		      const struct handshake_request *request,
		      const struct connection_queues *queues, const struct connection_knobs *knobs,
		      struct handshake_reply *reply)
{
	const struct connection_cfg cfg = {
		.stop_fd = cli_stop_fd(), .queues = queues, .knobs = knobs};
	uint8_t handshake[HANDSHAKE_REQUEST_BYTES];
	int ret;

	handshake_encode_request(request, handshake);
	ret = dial_connect(connection, dial, handshake, &cfg);
	if (ret == 0)
		ret = dial_answer(dial, *connection, request->role, reply);
	if (ret)
		connection_close(connection);
	return ret;
}

int control_open(struct control *control, const uint8_t run_id[16], struct server_info *server)
{
	const struct handshake_request request = {HANDSHAKE_VERSION, HANDSHAKE_CONTROL, 0, 0};
	struct handshake_reply reply;
	int ret = connect_to(&control->connection, &control->dial, &request, NULL, NULL, &reply);

	return ret ? ret : announce_run(control, run_id, server);
}

void control_close(struct control *control, bool complete)
{
	const struct message bye = {.type = MESSAGE_BYE};
	struct failure kept = *failure_get();

	if (control->connection != NULL && complete)
		exchange_send(control->connection, &bye);
	connection_close(&control->connection);
	*failure_get() = kept;
}

int control_begin(const struct control *control, const struct message_begin *begin,
		  struct message_ready *ready)
{
	struct message ask = {.type = MESSAGE_BEGIN, .begin = *begin}, answer;
	struct exchange_buffer buffer;
	int ret = exchange_send(control->connection, &ask);

	if (ret == 0)
		ret = receive_patiently(control, MESSAGE_READY, &buffer, &answer);
	if (ret)
		return ret;
	if (answer.ready.refusal[0] != '\0') {
		failure_set(EXIT_RUN_FAILED, "begin", "%s refuses: %s", control->dial.name,
			    answer.ready.refusal);
		return -ENOTSUP;
	}
	*ready = answer.ready;
	return 0;
}

int control_start(const struct control *control, enum message_phase phase)
{
	const struct message start = {.type = MESSAGE_START, .start = {phase}};

	return exchange_send(control->connection, &start);
}

int control_end(const struct control *control, const struct qp *qps, uint32_t qps_count,
		json_t **report)
{
	struct message end = {.type = MESSAGE_END, .end = {.qps_count = qps_count}};
	int ret;

	for (uint32_t i = 0; qps != NULL && i < qps_count; i++)
		end.end.touched[i] = qps[i].touched;
	ret = exchange_send(control->connection, &end);
	return ret ? ret : receive_object(control, report);
}

int control_connect_qp(const struct control *control, const struct message_ready *ready,
		       struct qps *qps, uint32_t index)
{
	const struct handshake_request request = {HANDSHAKE_VERSION, HANDSHAKE_MEASURE, index,
						  ready->token};
	struct dial dial = control->dial;
	struct handshake_reply reply;
	struct connection *connection = NULL;
	int ret;

	dial.port = ready->port;
	ret = connect_to(&connection, &dial, &request, &qps->queues, control->knobs, &reply);
	return ret ? ret : qps_attach(qps, index, connection, &reply.desc);
}

/* -EIO once the limit has passed; else how long to wait for the next sign. */
static int watch_silence(const struct control *control, int64_t heard_ms, bool *told, int *wait_ms)
{
	int64_t quiet = monotonic_ms() - heard_ms;

	if (quiet >= SILENCE_LIMIT_MS)
		return silent(control);
	if (quiet >= SILENCE_TOLD_MS && !*told) {
		tell_silence(control);
		*told = true;
	}
	*wait_ms = (int)((*told ? SILENCE_LIMIT_MS : SILENCE_TOLD_MS) - quiet);
	return 0;
}

int control_wait(const struct control *control, int fd, const struct control_watch *watch)
{
	struct pollfd fds[] = {{fd, POLLIN, 0},
			       {cli_stop_fd(), POLLIN, 0},
			       {connection_receive_fd(control->connection), POLLIN, 0},
			       {connection_event_fd(control->connection), POLLIN, 0},
			       {watch->fd, POLLIN, 0}};
	int64_t heard_ms = monotonic_ms();
	bool told = false;
	int ret = 0, wait_ms = 0;

	while (ret == 0 && fds[0].revents == 0) {
		ret = watch_silence(control, heard_ms, &told, &wait_ms);
		if (ret != 0)
			break;
		if (poll(fds, 5, wait_ms) < 0) {
			ret = errno == EINTR ? 0 : -errno;
			continue;
		}
		if (fds[4].revents != 0)
			watch->ready(watch->arg);
		if (fds[1].revents != 0) {
			ret = -ECANCELED;
		} else if (fds[2].revents != 0) {
			ret = exchange_drain(control->connection);
			heard_ms = monotonic_ms();
			told = false;
		} else if (fds[3].revents != 0 && !connection_alive(control->connection, 0)) {
			ret = -EIO;
		}
	}
	return ret;
}
