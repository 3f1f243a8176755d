/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session_state.h -- the inside of a session, for the files of session.h.
 *
 * session_start.c makes and frees it and has its thread, session.c sends requests. An ended session
 * and a stream that is over are two things: when a lane fails, the session has ended for all lanes,
 * and the daemon can still be told to close.
 */
#pragma once

#include <pthread.h>

#include "common/base/failure.h"
#include "conversation.h"
#include "session.h"
#include "ssh.h"

#define SESSION_DRAIN_MS 1000 /* from the end of stdout to that of stderr and of ssh */

struct session {
	char host[SSH_HOST_MAX]; /* for error messages, and the next one */
	char program[128];	 /* the ssh client */
	struct session_cfg cfg;
	struct ssh ssh;
	int wake_fd; /* readable: the reader is to end */
	int end_fd;  /* readable: the session has ended */
	pthread_t reader;
	bool has_reader;
	bool has_pool; /* the daemon has one open */

	pthread_mutex_t requests; /* one at a time; taken before lock */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under lock */
	struct conversation conversation;
	struct ssh_line line;
	bool has_started;
	bool is_closing; /* after CLOSE the stream may end */
	int stream_over; /* a negative errno: nothing comes from the daemon any more */
	struct failure stream_why;
	int ssh_status;		  /* as in struct ssh, once the stream is over */
	struct failure ended_why; /* read by all once ended is not 0 */
	int ended;
};

/* The CLOSE of session_close(). */
int session_tell_to_close(struct session *session, bool remove);

/* All under lock. */

/* Ends stream and session, with the calling thread's error message; the first reason stays. */
void session_stream_over(struct session *session, int error);
/* Waits for what the conversation awaits; "rpmemd on HOST `failed` within N ms". */
int session_wait(struct session *session, const char *failed, int timeout_ms);
/* The status of a complete reply, as a negative errno. */
int session_status(struct session *session);
