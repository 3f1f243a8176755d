/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection.c -- the client's connections: one stays open for the whole run
 * and brings the server's facts, one more is made for each repeat.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"
#include "run.h"

#define MINUTE_NS 60000000000ULL

static uint64_t capped(uint64_t limit_ns)
{
	return limit_ns < MESSAGE_LIMIT_MAX_NS ? limit_ns : MESSAGE_LIMIT_MAX_NS;
}

/* Generous: it only has to end some day when this client vanishes. */
static uint64_t limit_ns(const struct run *run, enum greeting_role role)
{
	const struct options *o = run->options;
	uint64_t one = 2 * (RUN_WARMUP_FACTOR * o->warmup_ns + o->duration_ns) + MINUTE_NS;

	if (role == GREETING_MEASURE)
		return capped(one);
	/* the product must not wrap */
	return run->plan.items_count > MESSAGE_LIMIT_MAX_NS / one ? MESSAGE_LIMIT_MAX_NS
								  : one * run->plan.items_count;
}

static int check_reply(const struct run *run, const struct greeting_reply *reply)
{
	switch (reply->answer) {
	case GREETING_WELCOME:
		return 0;
	case GREETING_WRONG_VERSION:
		return failure_set(EXIT_RUN_FAILED, "hello",
				   "%s speaks version %u of the protocol, this client version %d: "
				   "use the same release of rpma-bench on both hosts",
				   run->server_name, reply->version, GREETING_VERSION);
	default:
		return failure_set(EXIT_RUN_FAILED, "hello",
				   "%s serves too many connections: try again later",
				   run->server_name);
	}
}

static int read_reply(const struct run *run, const struct link *link, struct greeting_reply *reply)
{
	const void *bytes;
	size_t len;
	int ret = link_greeting(link, &bytes, &len);

	if (ret)
		return ret;
	if (greeting_decode_reply(bytes, len, reply) != 0)
		return failure_set(EXIT_RUN_FAILED, "hello",
				   "%s answered with a greeting that makes no sense: it is no "
				   "server of this tool",
				   run->server_name);
	return check_reply(run, reply);
}

static void fill_hello(const struct run *run, enum greeting_role role,
		       const struct plan_point *point, uint32_t repeat, struct message_hello *hello)
{
	const struct options *o = run->options;

	memcpy(hello->run_id, run->id, sizeof(hello->run_id));
	hello->test = o->test;
	hello->op = o->op;
	hello->persist = o->persist;
	hello->completion = o->completion;
	hello->size_bytes = point->size_bytes;
	hello->depth = point->depth;
	hello->threads = 1;
	hello->connections = 1;
	hello->repeat = repeat;
	hello->warmup_ns = o->warmup_ns;
	hello->duration_ns = o->duration_ns;
	hello->limit_ns = limit_ns(run, role);
}

static int say_hello(const struct run *run, struct link *link, enum greeting_role role,
		     const struct plan_point *point, uint32_t repeat, uint32_t *environment_bytes)
{
	struct message hello = {.type = MESSAGE_HELLO}, answer;
	struct exchange_buffer buffer;
	int ret;

	fill_hello(run, role, point, repeat, &hello.hello);
	ret = exchange_send(link, &hello);
	if (ret == 0)
		ret = exchange_receive(link, MESSAGE_WELCOME, LINK_TIMEOUT_MS, &buffer, &answer);
	if (ret)
		return ret;
	if (answer.welcome.refusal[0] != '\0')
		return failure_set(EXIT_RUN_FAILED, "hello", "%s refuses: %s", run->server_name,
				   answer.welcome.refusal);
	*environment_bytes = answer.welcome.environment_bytes;
	return 0;
}

static int open_link(struct run *run, enum greeting_role role, const struct plan_point *point,
		     uint32_t repeat, struct link **link, struct greeting_reply *reply,
		     uint32_t *environment_bytes)
{
	const struct greeting_request request = {GREETING_VERSION, role};
	/* one more, for a control message */
	const struct link_cfg cfg = {
		run->server_name, point->depth * run->operation->work_requests + 1, cli_stop_fd()};
	uint8_t greeting[GREETING_REQUEST_BYTES];
	int ret;

	greeting_encode_request(&request, greeting);
	ret = link_connect(link, run->peer, run->address, run->options->port, &cfg, greeting,
			   sizeof(greeting));
	if (ret == 0)
		ret = read_reply(run, *link, reply);
	if (ret == 0)
		ret = say_hello(run, *link, role, point, repeat, environment_bytes);
	if (ret)
		link_close(link);
	return ret;
}

int connection_open(struct run *run, enum greeting_role role, const struct plan_point *point,
		    uint32_t repeat, struct link **link)
{
	struct greeting_reply reply;
	uint32_t ignored;
	int ret = open_link(run, role, point, repeat, link, &reply, &ignored);

	/* a server started anew in mid-run offers other memory */
	if (ret == 0 && (reply.target_bytes != run->server.target_bytes ||
			 reply.target_kind != run->server.target_kind)) {
		link_close(link);
		ret = failure_set(EXIT_RUN_FAILED, "hello",
				  "%s offers another target than when the run began",
				  run->server_name);
	}
	if (ret == 0)
		run->server = reply;
	return ret;
}

/* In full chunks but the last, so a slow server has a limited number of waits. */
static int receive_environment(struct run *run, char *text, uint32_t total)
{
	struct exchange_buffer buffer;
	struct message m;

	for (uint32_t have = 0; have < total;) {
		int ret = exchange_receive(run->control, MESSAGE_ENVIRONMENT, LINK_TIMEOUT_MS,
					   &buffer, &m);

		if (ret)
			return ret;
		uint32_t left = total - have;
		if (m.environment.offset != have ||
		    m.environment.bytes != (left < MESSAGE_CHUNK_MAX ? left : MESSAGE_CHUNK_MAX))
			return failure_set(EXIT_RUN_FAILED, "hello",
					   "%s sent its environment in other pieces than agreed",
					   run->server_name);
		memcpy(text + have, m.environment.data, m.environment.bytes);
		have += m.environment.bytes;
	}
	return 0;
}

static int learn_environment(struct run *run, uint32_t bytes)
{
	char *text = malloc((size_t)bytes + 1);
	int ret;

	if (text == NULL)
		return failure_set(EXIT_INTERNAL, "hello", "out of memory");
	ret = receive_environment(run, text, bytes);
	if (ret == 0) {
		run->server_environment = json_loadb(text, bytes, 0, NULL);
		if (!json_is_object(run->server_environment)) {
			json_decref(run->server_environment);
			run->server_environment = NULL;
		}
	}
	free(text);
	return ret;
}

/* The strongest flush that the server's word and its memory allow. */
static int choose_flush(struct run *run)
{
	struct rpma_mr_remote *remote = NULL;
	struct rpma_peer_cfg *pcfg = NULL;
	int types = 0, ret;

	if ((ret = rpma_mr_remote_from_descriptor(run->server.mr_desc, run->server.mr_desc_bytes,
						  &remote)) ||
	    (ret = rpma_mr_remote_get_flush_type(remote, &types)) ||
	    (ret = rpma_peer_cfg_from_descriptor(run->server.pcfg_desc, run->server.pcfg_desc_bytes,
						 &pcfg)) ||
	    (ret = rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &run->direct_write_to_pmem)))
		ret = failure_set(EXIT_RUN_FAILED, "hello",
				  "%s describes its target in a way librpma refuses: %s",
				  run->server_name, link_cause(ret));
	rpma_mr_remote_delete(&remote);
	rpma_peer_cfg_delete(&pcfg);
	if (ret)
		return ret;
	if (run->direct_write_to_pmem && (types & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT) != 0)
		run->flush_type = RPMA_FLUSH_TYPE_PERSISTENT;
	else if ((types & RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY) != 0)
		run->flush_type = RPMA_FLUSH_TYPE_VISIBILITY;
	else if (run->operation->flushes)
		return failure_set(EXIT_RUN_FAILED, "hello",
				   "the target of %s accepts no flush: --persist %s needs one",
				   run->server_name, options_persists[run->options->persist]);
	return 0;
}

static int check_sizes(const struct run *run)
{
	char size[UNITS_TEXT_BYTES], room[UNITS_TEXT_BYTES];

	for (size_t i = 0; i < run->plan.points_count; i++) {
		uint64_t bytes = run->plan.points[i].size_bytes;

		if (bytes > run->server.target_bytes)
			return failure_set(EXIT_RUN_FAILED, "hello",
					   "--size %s does not fit the target of %s on %s",
					   units_print_size(bytes, size),
					   units_print_size(run->server.target_bytes, room),
					   run->server_name);
	}
	return 0;
}

int connection_control(struct run *run)
{
	const struct plan_point point = {run->plan.points[0].size_bytes, 1};
	uint32_t environment_bytes = 0;
	int ret = open_link(run, GREETING_CONTROL, &point, 0, &run->control, &run->server,
			    &environment_bytes);

	if (ret)
		return ret;
	run->server_known = true;
	if ((ret = check_sizes(run)) || (ret = choose_flush(run)))
		return ret;
	return environment_bytes > 0 ? learn_environment(run, environment_bytes) : 0;
}
