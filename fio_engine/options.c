/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.c -- the table of the engine's options, and what a job's options
 * come to; see options.h.
 *
 * The names of the engines that fio had fix role and method, and give each job
 * a port of its own, as they did.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "common/base/failure.h"
#include "job.h"
#include "options.h"

/* The option of this field, with its title, FIO_OPT_ kind and help. */
#define OPTION(field, title, kind, text)                                                           \
	.name = #field, .lname = (title), .type = FIO_OPT_##kind,                                  \
	.off1 = offsetof(struct rpma_options, field), .help = (text),                              \
	.category = FIO_OPT_C_ENGINE, .group = FIO_OPT_G_INVALID
#define CHOICE(word, value, text)                                                                  \
	{                                                                                          \
		.ival = (word), .oval = (value), .help = (text)                                    \
	}

struct fio_option rpma_option_table[] = {
	{OPTION(role, "Role of the job", STR,
		"What the job is: a client that does I/O, or the server that it does it to"),
	 .def = "client",
	 .posval = {CHOICE("client", ROLE_CLIENT, "Does the I/O"),
		    CHOICE("server", ROLE_SERVER,
			   "Offers its memory until its clients have left")}},
	{OPTION(mode, "Method of persistence", STR,
		"How writes are made durable (client: apm unless given; "
		"server: what its clients want unless given)"),
	 .posval = {CHOICE("apm", METHOD_APM, "Appliance method: a read after the writes"),
		    CHOICE("gpspm", METHOD_GPSPM,
			   "General purpose method: a message, the server persists"),
		    CHOICE("native", METHOD_NATIVE, "The flush operation of the network")}},
	{OPTION(serverip, "Address of the server", STR_STORE,
		"Address that the server listens at and the client connects to"),
	 .def = "127.0.0.1"},
	{OPTION(port, "Port of the server", INT,
		"Port that the server listens at; 0: it picks a free one and prints it"),
	 .maxval = 65535, .def = "7204"},
	{OPTION(port_mode, "Ports of several jobs", STR,
		"Which port each job uses (single unless given; under the names of the old "
		"engines: thread)"),
	 .posval = {CHOICE("single", PORT_SINGLE, "port= for all"),
		    CHOICE("subjob", PORT_SUBJOB, "port= plus the number of the job among numjobs"),
		    CHOICE("thread", PORT_THREAD, "port= plus the number of the job in the run")}},
	{OPTION(busy_wait_polling, "Poll for completions", BOOL,
		"Spin while waiting (1), or sleep until there is something (0)"),
	 .def = "1"},
	{OPTION(flush, "Flush policy", STR, "Which writes of a client a flush follows"),
	 .def = "auto",
	 .posval = {CHOICE("auto", FLUSH_AUTO, "Each run of adjoining writes of a batch"),
		    CHOICE("each", FLUSH_EACH, "Each write"),
		    CHOICE("batch", FLUSH_BATCH, "All writes that are submitted together"),
		    CHOICE("fsync", FLUSH_FSYNC, "None but what fsync and its like ask for"),
		    CHOICE("none", FLUSH_NONE, "None at all, even with fsync")}},
	{OPTION(flush_type, "What a flush is to reach", STR,
		"Flush to persistence or to visibility"),
	 .def = "auto",
	 .posval = {CHOICE("auto", FLUSH_TYPE_AUTO,
			   "persistent where the server's memory is, else visibility"),
		    CHOICE("persistent", FLUSH_TYPE_PERSISTENT, "Survives a power failure"),
		    CHOICE("visibility", FLUSH_TYPE_VISIBILITY,
			   "Seen by the server's processors")}},
	{OPTION(write_op, "Operation of a write", STR,
		"Which RDMA operation a write of a client is"),
	 .def = "write",
	 .posval = {CHOICE("write", WRITE_PLAIN, "A write"),
		    CHOICE("imm", WRITE_IMM, "A write with immediate data"),
		    CHOICE("atomic", WRITE_ATOMIC, "An atomic write of 8 bytes (bs=8)")}},
	{OPTION(region, "Use of the region", STR,
		"How the jobs of numjobs use the server's memory"),
	 .def = "auto",
	 .posval = {CHOICE("auto", REGION_AUTO,
			   "split if they fit and have no offset_increment, else shared"),
		    CHOICE("shared", REGION_SHARED, "All use the same memory"),
		    CHOICE("split", REGION_SPLIT, "Each has an equal part of its own")}},
	{OPTION(connect_timeout, "Seconds to connect", INT,
		"Seconds that a client tries to reach its server"),
	 .minval = 1, .maxval = 86400, .def = "10"},
	{OPTION(durable_log, "Log of what was durable", STR_STORE,
		"File for what a client wrote and was told to be durable, for rpma-fio-check")},
	{OPTION(result, "What the figures stand for", STR_STORE,
		"File of JSON that tells what the figures of a client stand for, for rpma-report")},
	{OPTION(direct_write_to_pmem, "Direct Write to PMem", BOOL,
		"The server's word that what a remote read flushes reaches its persistent "
		"memory (rpma-ddio-check tells)"),
	 .def = "0"},
	{OPTION(clients, "Clients of a server", INT,
		"How many clients the server waits for (0: the clients of this run, or else the "
		"numjobs of the first one)"),
	 .maxval = 65535, .def = "0"},
	{OPTION(allow, "Clients allowed", STR_STORE,
		"Addresses that the server takes clients from: ADDR[/LEN][,...]")},
	{.name = NULL},
};

/* The mode that the name of an engine selects. */
struct name {
	const char *text;
	enum role role;
	enum method method;
};

static const struct name old_names[] = {
	{"librpma_apm_client", ROLE_CLIENT, METHOD_APM},
	{"librpma_apm_server", ROLE_SERVER, METHOD_APM},
	{"librpma_gpspm_client", ROLE_CLIENT, METHOD_GPSPM},
	{"librpma_gpspm_server", ROLE_SERVER, METHOD_GPSPM},
};

/* NULL: it is not an old one. */
static const struct name *old_name(const struct thread_data *td)
{
	for (size_t i = 0; i < sizeof(old_names) / sizeof(old_names[0]); i++)
		if (!strcmp(td->io_ops->name, old_names[i].text))
			return &old_names[i];
	return NULL;
}

static const struct rpma_options *given(const struct thread_data *td)
{
	return td->eo;
}

enum role options_role(const struct thread_data *td)
{
	const struct name *name = old_name(td);

	if (name)
		return name->role;
	return given(td)->role == ROLE_SERVER ? ROLE_SERVER : ROLE_CLIENT;
}

static int settle_identity(const struct thread_data *td, struct settings *settings)
{
	const struct name *name = old_name(td);
	enum method method = (enum method)given(td)->mode;

	settings->role = options_role(td);
	if (name && name->role == ROLE_CLIENT && given(td)->role == ROLE_SERVER)
		return failure_usage("role=server: %s is always a client; use ioengine=librpma",
				     name->text);
	if (name && method && method != name->method)
		return failure_usage("mode= is fixed by the name %s; use ioengine=librpma",
				     name->text);
	if (name)
		method = name->method;
	else if (!method && settings->role == ROLE_CLIENT)
		method = METHOD_APM;
	settings->method = method;
	return 0;
}

unsigned options_numjobs(const struct thread_data *td)
{
	const struct thread_data *first = td;

	while (first->subjob_number && first->thread_number > 1)
		first = tnumber_to_td(first->thread_number - 2);
	return first->o.numjobs;
}

static int settle_port(const struct thread_data *td, struct settings *settings)
{
	enum port_mode mode = (enum port_mode)given(td)->port_mode;
	uint64_t base = given(td)->port;
	uint64_t more = 0;

	if (!mode)
		mode = old_name(td) ? PORT_THREAD : PORT_SINGLE;
	if (mode == PORT_SUBJOB)
		more = td->subjob_number;
	else if (mode == PORT_THREAD)
		more = td->thread_number - 1;
	settings->port = 0;
	settings->job = mode == PORT_SINGLE ? td->subjob_number : 0;
	settings->jobs = mode == PORT_SINGLE ? options_numjobs(td) : 1;
	if (!base && settings->role == ROLE_SERVER)
		return 0;
	if (!base)
		return failure_usage("port=0: a client needs the port that its server listens at");
	if (base + more > UINT16_MAX)
		return failure_usage("port=%d: this job's port would be %" PRIi64
				     ", expected 1 to %d",
				     (int)base, (int)base + (int64_t)more, UINT16_MAX);
	if (settings->role == ROLE_SERVER && settings->jobs > 1)
		return failure_usage(
			"numjobs=%u: %u servers cannot listen at one port; give numjobs=1, which "
			"serves any number of clients, or port_mode=subjob",
			settings->jobs, settings->jobs);
	settings->port = (uint16_t)(base + more);
	return 0;
}

/* ADDR[/LEN][,ADDR[/LEN]...] */
static int settle_allow(const char *text, struct allow *allow)
{
	char item[128];

	while (text && *text) {
		size_t length = strcspn(text, ",");

		if (length >= sizeof(item))
			return failure_usage("allow=%s: expected ADDR or ADDR/LEN", text);
		memcpy(item, text, length);
		item[length] = '\0';
		if (allow_add(allow, item))
			return failure_usage(
				"allow=%s: expected ADDR or ADDR/LEN, and at most 32 of them",
				item);
		text += length + (text[length] == ',');
	}
	return 0;
}

/* The operations of a client that not every job can have. */
static int check_write_op(const struct thread_data *td, const struct settings *settings)
{
	const struct thread_options *o = &td->o;

	if (settings->write_op == WRITE_ATOMIC &&
	    (o->min_bs[DDIR_WRITE] != 8 || o->max_bs[DDIR_WRITE] != 8))
		return failure_usage("write_op=atomic: an atomic write has 8 bytes, give bs=8");
	if (settings->write_op != WRITE_IMM || settings->method != METHOD_GPSPM)
		return 0;
	if (settings->flush == FLUSH_NONE || settings->flush == FLUSH_FSYNC)
		return failure_usage(
			"write_op=imm with mode=gpspm: the immediate data asks the server to "
			"make the block durable, flush=%s asks for the contrary; give "
			"flush=auto, or mode=apm",
			settings->flush == FLUSH_NONE ? "none" : "fsync");
	if (o->min_bs[DDIR_WRITE] != o->max_bs[DDIR_WRITE])
		return failure_usage(
			"write_op=imm with mode=gpspm: the immediate data is a number of a "
			"block, give one size of blocks (bs=)");
	return 0;
}

static int settle_client(const struct thread_data *td, struct settings *settings)
{
	const struct rpma_options *options = given(td);

	if (td->o.file_append)
		return failure_usage(
			"file_append=1: a file of the server's memory has its full size from the "
			"beginning, and there is nothing to write after its end");
	settings->flush = (enum flush_policy)options->flush;
	if (td->o.sync_io && settings->flush == FLUSH_FSYNC)
		settings->flush = FLUSH_EACH; /* as O_SYNC: nothing is left to a later fsync */
	settings->flush_type = (enum flush_type)options->flush_type;
	settings->write_op = (enum write_op)options->write_op;
	settings->region = (enum region_use)options->region;
	settings->connect_timeout_s = options->connect_timeout;
	settings->durable_log = options->durable_log;
	settings->result = options->result;
	return check_write_op(td, settings);
}

static int settle_server(const struct thread_data *td, struct settings *settings)
{
	if (given(td)->clients > UINT16_MAX) /* negative: fio takes it for a large one */
		return failure_usage("clients=%d: expected a number up to %d",
				     (int)given(td)->clients, UINT16_MAX);
	settings->direct_write_to_pmem = given(td)->direct_write_to_pmem;
	settings->clients = given(td)->clients;
	return settle_allow(given(td)->allow, &settings->allow);
}

int options_settle(const struct thread_data *td, struct settings *settings)
{
	int ret;

	memset(settings, 0, sizeof(*settings));
	settings->address = given(td)->serverip;
	settings->poll = given(td)->busy_wait_polling;
	ret = settle_identity(td, settings);
	if (!ret)
		ret = settle_port(td, settings);
	if (!ret)
		ret = settings->role == ROLE_SERVER ? settle_server(td, settings)
						    : settle_client(td, settings);
	return ret;
}
