/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_job_connection_reply.c -- what a server may say when it is connected to: which
 * flush follows from it, what is refused, and that nonsense is not believed.
 */
#include "fake_connection.h"

#define VISIBLE	   RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY
#define PERSISTENT RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT
#define ACCESS	   (RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST)

static void refused_with(const char *sentence)
{
	assert_int_equal(job_connection_open(&connection, &fake.cfg), -EIO);
	if (strstr(failure_get()->text, sentence) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", sentence, failure_get()->text);
	assert_int_equal(fake.tries, 1);
	connection_end();
}

/* --- the flush ------------------------------------------------------------------- */

JOB_TEST(apm_never_flushes_natively)
{
	static const struct {
		enum method method;
		size_t bytes;
	} cases[] = {{METHOD_APM, 21}, {METHOD_GPSPM, 21}, {METHOD_NATIVE, 22}};

	for (size_t i = 0; i < 3; i++) {
		opened(cases[i].method);
		assert_int_equal(fake.descriptor_bytes, cases[i].bytes);
		job_connection_close(&connection);
		connection_end();
	}
}

static const struct flush_case {
	enum method method;
	int types;
	bool direct;
	enum flush_type type;
	enum flush_policy policy;
	enum persist_method persist;
	enum rpma_flush_type flush;
	enum target_kind kind;
	const char *sentence; /* NULL: it is taken */
} flush_cases[] = {
	{METHOD_APM, VISIBLE, false, FLUSH_TYPE_AUTO, FLUSH_AUTO, PERSIST_NOTHING,
	 RPMA_FLUSH_TYPE_VISIBILITY, TARGET_DEVDAX, NULL},
	{METHOD_APM, VISIBLE | PERSISTENT, true, FLUSH_TYPE_AUTO, FLUSH_AUTO, PERSIST_LIBPMEM,
	 RPMA_FLUSH_TYPE_PERSISTENT, TARGET_DEVDAX, NULL},
	{METHOD_NATIVE, PERSISTENT, true, FLUSH_TYPE_PERSISTENT, FLUSH_AUTO, PERSIST_LIBPMEM,
	 RPMA_FLUSH_TYPE_PERSISTENT, TARGET_DEVDAX, NULL},
	{METHOD_APM, VISIBLE | PERSISTENT, true, FLUSH_TYPE_VISIBILITY, FLUSH_AUTO, PERSIST_LIBPMEM,
	 RPMA_FLUSH_TYPE_VISIBILITY, TARGET_DEVDAX, NULL},
	{METHOD_APM, VISIBLE | PERSISTENT, false, FLUSH_TYPE_VISIBILITY, FLUSH_AUTO,
	 PERSIST_LIBPMEM, RPMA_FLUSH_TYPE_VISIBILITY, TARGET_DEVDAX, NULL},
	/* a page cache */
	{METHOD_APM, VISIBLE | PERSISTENT, false, FLUSH_TYPE_AUTO, FLUSH_AUTO, PERSIST_MSYNC,
	 RPMA_FLUSH_TYPE_VISIBILITY, TARGET_FILE, NULL},
	{METHOD_APM, VISIBLE | PERSISTENT, false, FLUSH_TYPE_PERSISTENT, FLUSH_AUTO, PERSIST_MSYNC,
	 0, TARGET_FILE, "direct_write_to_pmem=1"},
	{METHOD_APM, VISIBLE | PERSISTENT, false, FLUSH_TYPE_PERSISTENT, FLUSH_AUTO, PERSIST_MSYNC,
	 0, TARGET_FILE, "mode=apm leaves what it writes in the page cache"},
	{METHOD_APM, VISIBLE | PERSISTENT, true, FLUSH_TYPE_AUTO, FLUSH_AUTO, PERSIST_MSYNC,
	 RPMA_FLUSH_TYPE_PERSISTENT, TARGET_FILE, NULL},
	{METHOD_GPSPM, VISIBLE | PERSISTENT, false, FLUSH_TYPE_AUTO, FLUSH_AUTO, PERSIST_MSYNC,
	 RPMA_FLUSH_TYPE_PERSISTENT, TARGET_FILE, NULL},
	/* a file in memory, whatever a server of another release claims */
	{METHOD_APM, VISIBLE | PERSISTENT, true, FLUSH_TYPE_AUTO, FLUSH_AUTO, PERSIST_NOTHING,
	 RPMA_FLUSH_TYPE_VISIBILITY, TARGET_MEMFILE, NULL},
	{METHOD_NATIVE, VISIBLE | PERSISTENT, true, FLUSH_TYPE_PERSISTENT, FLUSH_AUTO,
	 PERSIST_NOTHING, 0, TARGET_MEMFILE, "does not survive a power failure"},
	{METHOD_GPSPM, VISIBLE, false, FLUSH_TYPE_AUTO, FLUSH_AUTO, PERSIST_NOTHING,
	 RPMA_FLUSH_TYPE_VISIBILITY, TARGET_MEMFILE, NULL},
	{METHOD_GPSPM, VISIBLE, true, FLUSH_TYPE_PERSISTENT, FLUSH_AUTO, PERSIST_NOTHING, 0,
	 TARGET_MEMFILE, "a file in memory"},
	/* a file of which it is not known */
	{METHOD_GPSPM, VISIBLE | PERSISTENT, false, FLUSH_TYPE_AUTO, FLUSH_AUTO, PERSIST_MSYNC,
	 RPMA_FLUSH_TYPE_VISIBILITY, TARGET_OTHERFILE, NULL},
	{METHOD_GPSPM, VISIBLE | PERSISTENT, true, FLUSH_TYPE_PERSISTENT, FLUSH_AUTO, PERSIST_MSYNC,
	 0, TARGET_OTHERFILE, "it is unknown whether"},
	{METHOD_APM, VISIBLE | PERSISTENT, false, FLUSH_TYPE_AUTO, FLUSH_AUTO, PERSIST_MSYNC,
	 RPMA_FLUSH_TYPE_VISIBILITY, TARGET_OTHERFILE, NULL},
	/* one that is never made */
	{METHOD_APM, PERSISTENT, false, FLUSH_TYPE_AUTO, FLUSH_NONE, PERSIST_LIBPMEM,
	 RPMA_FLUSH_TYPE_VISIBILITY, TARGET_DEVDAX, NULL},
	/* the server makes it durable, whatever the region is registered for */
	{METHOD_GPSPM, VISIBLE, false, FLUSH_TYPE_AUTO, FLUSH_AUTO, PERSIST_NOTHING,
	 RPMA_FLUSH_TYPE_VISIBILITY, TARGET_DEVDAX, NULL},
	{METHOD_GPSPM, VISIBLE | PERSISTENT, false, FLUSH_TYPE_PERSISTENT, FLUSH_AUTO,
	 PERSIST_MSYNC, RPMA_FLUSH_TYPE_PERSISTENT, TARGET_DEVDAX, NULL},
	/* what is not to be had */
	{METHOD_APM, VISIBLE | PERSISTENT, false, FLUSH_TYPE_AUTO, FLUSH_AUTO, PERSIST_LIBPMEM, 0,
	 TARGET_DEVDAX, "direct_write_to_pmem=1"},
	{METHOD_NATIVE, VISIBLE | PERSISTENT, false, FLUSH_TYPE_AUTO, FLUSH_AUTO, PERSIST_LIBPMEM,
	 0, TARGET_DEVDAX, "mode=gpspm or flush_type=visibility"},
	{METHOD_APM, VISIBLE, true, FLUSH_TYPE_PERSISTENT, FLUSH_AUTO, PERSIST_NOTHING, 0,
	 TARGET_DEVDAX, "flush_type=persistent"},
	{METHOD_GPSPM, VISIBLE, false, FLUSH_TYPE_PERSISTENT, FLUSH_AUTO, PERSIST_NOTHING, 0,
	 TARGET_DEVDAX, "flush_type=persistent"},
	{METHOD_APM, PERSISTENT, true, FLUSH_TYPE_VISIBILITY, FLUSH_AUTO, PERSIST_LIBPMEM, 0,
	 TARGET_DEVDAX, "no flush to visibility"},
};

JOB_TEST(the_flush_is_the_best_there_is)
{
	for (size_t i = 0; i < sizeof(flush_cases) / sizeof(flush_cases[0]); i++) {
		const struct flush_case *c = &flush_cases[i];

		fake_connection_begin(c->method);
		fake.job_reply.kind = c->kind;
		fake.settings.flush_type = c->type;
		fake.settings.flush = c->policy;
		fake.job_reply.persist = c->persist;
		fake.usage_bits = (uint8_t)(ACCESS | c->types);
		fake.direct = c->direct;
		if (c->sentence != NULL) {
			refused_with(c->sentence);
			continue;
		}
		assert_int_equal(job_connection_open(&connection, &fake.cfg), 0);
		assert_int_equal(connection.flush_type, c->flush);
		job_connection_close(&connection);
		connection_end();
	}
}

/* --- refusals -------------------------------------------------------------------- */

JOB_TEST(a_refusal_says_what_to_do)
{
	static const struct {
		struct job_reply job_reply;
		const char *sentence;
	} cases[] = {
		{{.refusal = REFUSAL_METHOD, .method = METHOD_NATIVE}, "is for mode=native"},
		{{.refusal = REFUSAL_DEPTH, .depth = 2}, "has room for 2 messages"},
		{{.refusal = REFUSAL_FULL}, "already served all expected clients"},
	};

	for (size_t i = 0; i < 3; i++) {
		fake_connection_begin(METHOD_GPSPM);
		fake.job_reply = cases[i].job_reply;
		fake.reply.desc.mr_bytes = 0;
		fake.reply.desc.pcfg_bytes = 0;
		refused_with(cases[i].sentence);
	}
}

JOB_TEST(other_servers_are_told_apart)
{
	static const struct {
		enum handshake_answer answer;
		uint16_t version;
		const char *sentence;
	} cases[] = {{HANDSHAKE_WRONG_VERSION, 9, "speaks version 9 of the protocol"},
		     {HANDSHAKE_OTHER_TOOL, HANDSHAKE_VERSION, "a server of another tool"},
		     {HANDSHAKE_BUSY, HANDSHAKE_VERSION, "all its slots taken"}};

	for (size_t i = 0; i < 3; i++) {
		fake_connection_begin(METHOD_APM);
		fake.reply.answer = cases[i].answer;
		fake.reply.version = cases[i].version;
		refused_with(cases[i].sentence);
	}
	fake_connection_begin(METHOD_APM);
	fake.no_reply = true;
	refused_with("without a handshake");
}

/* --- nonsense --------------------------------------------------------------------- */

#define FORGE(name, expression)                                                                    \
	static void name(uint8_t *reply)                                                           \
	{                                                                                          \
		expression;                                                                        \
	}

FORGE(no_magic, reply[0] ^= 1)
FORGE(no_such_answer, reply[10] = 77)
FORGE(long_descriptor, reply[11] = 200)
FORGE(no_reply_of_a_job, memset(reply + 16, 0, 8))

JOB_TEST(nonsense_is_not_believed)
{
	static void (*const forgeries[])(uint8_t *) = {no_magic, no_such_answer, long_descriptor,
						       no_reply_of_a_job};

	for (size_t i = 0; i < 4; i++) {
		fake_connection_begin(METHOD_APM);
		fake.forge = forgeries[i];
		refused_with("malformed");
	}
}

JOB_TEST(a_reply_that_does_not_fit_is_not_believed)
{
	for (int i = 0; i < 3; i++) {
		fake_connection_begin(METHOD_GPSPM);
		if (i == 0)
			fake.job_reply.depth = 3;
		else if (i == 1)
			fake.job_reply.method = METHOD_APM;
		else
			fake.reply.desc.mr_bytes = fake.reply.desc.pcfg_bytes = 0;
		refused_with("malformed");
	}
}

JOB_TEST(a_region_that_is_none_is_refused)
{
	static const struct {
		uint64_t bytes;
		uint8_t usage, descriptor_bytes;
		const char *sentence;
	} cases[] = {{0, ACCESS | VISIBLE, 22, "in a way librpma refuses"},
		     {UINT64_MAX, ACCESS | VISIBLE, 22, "in a way librpma refuses"},
		     {4096, 0, 22, "in a way librpma refuses"},
		     {4096, ACCESS | VISIBLE, 20, "in a way librpma refuses"},
		     {7, ACCESS | VISIBLE, 22, "a region of 7 bytes"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_connection_begin(METHOD_APM);
		fake.region_bytes = cases[i].bytes;
		fake.usage_bits = cases[i].usage;
		fake.reply.desc.mr_bytes = cases[i].descriptor_bytes;
		refused_with(cases[i].sentence);
	}
}
