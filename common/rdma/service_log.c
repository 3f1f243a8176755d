/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service_log.c -- writes a server's lines on its clients.
 *
 * A scan of the port, or a client that tries again without end, must not fill
 * the disk that keeps the output: beyond a number of lines a second only
 * their count is written.
 */
#include "service_log.h"

void service_log_init(struct service_log *log, FILE *to, const char *name)
{
	*log = (struct service_log){.to = to, .name = name};
	pthread_mutex_init(&log->lock, NULL);
}

void service_log_destroy(struct service_log *log)
{
	pthread_mutex_destroy(&log->lock);
}

static void write_line(const struct service_log *log, time_t now, const char *text)
{
	char stamp[40] = "";
	struct tm local;

	if (log->to == NULL)
		return;
	if (localtime_r(&now, &local) != NULL)
		strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S%z ", &local);
	fprintf(log->to, "%s: %s%s\n", log->name, stamp, text);
}

/* Lock held. */
static void begin_second(struct service_log *log, time_t now)
{
	char text[64];

	if (now == log->second)
		return;
	if (log->hidden > 0) {
		snprintf(text, sizeof(text), "%u more lines not shown", log->hidden);
		write_line(log, log->second, text);
	}
	log->second = now;
	log->shown = log->hidden = 0;
}

void service_log_line(struct service_log *log, time_t now, const char *text)
{
	pthread_mutex_lock(&log->lock);
	begin_second(log, now);
	if (log->shown < SERVICE_LOG_LINES_MAX) {
		log->shown++;
		write_line(log, now, text);
	} else {
		log->hidden++;
	}
	pthread_mutex_unlock(&log->lock);
}

bool service_log_settle(struct service_log *log, time_t now)
{
	bool more;

	pthread_mutex_lock(&log->lock);
	if (log->hidden > 0)
		begin_second(log, now);
	more = log->hidden > 0;
	pthread_mutex_unlock(&log->lock);
	return more;
}
