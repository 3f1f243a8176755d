/* SPDX-License-Identifier: BSD-3-Clause */
/* config.c -- a table of keys, each with the function that takes its value. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reason.h"
#include "text_file.h"

#define FILE_BYTES_MAX (1U << 20)

/* A value's source and destination. */
struct source {
	struct config *config;
	const char *home;  /* may be NULL */
	const char *where; /* "FILE:LINE" or "--OPTION" */
};

/* `to` is the member that the key has in struct config. */
typedef int take(const struct source *source, const char *value, void *to);

static int replace(char **text, char *value)
{
	if (value == NULL)
		return reason_set(ENOMEM, "out of memory");
	free(*text);
	*text = value;
	return 0;
}

static int wrong_value(const struct source *source, const char *value, const char *expected)
{
	return reason_set(EINVAL, "%s: expected %s, not %s", source->where, expected, value);
}

/* --- one function for each key -------------------------------------------------------- */

static int take_log_file(const struct source *source, const char *value, void *to)
{
	source->config->use_syslog = false;
	return replace(to, strdup(value));
}

/* The value with the home directory in the place of its first $HOME. */
static char *expand_home(const char *value, const char *home)
{
	const char *at = strstr(value, "$HOME"), *rest;
	char *text;

	if (at == NULL || home == NULL || isalnum((unsigned char)at[5]))
		return strdup(value);
	rest = at + 5;
	if (asprintf(&text, "%.*s%s%s", (int)(at - value), value, home, rest) < 0)
		return NULL;
	return text;
}

static int take_poolset_dir(const struct source *source, const char *value, void *to)
{
	char *path = expand_home(value, source->home);

	if (path != NULL && path[0] != '/') {
		free(path);
		return wrong_value(source, value, "an absolute path, or one from $HOME");
	}
	return replace(to, path);
}

static int take_bool(const struct source *source, const char *value, void *to)
{
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return wrong_value(source, value, "yes or no");
	*(bool *)to = strcmp(value, "yes") == 0;
	return 0;
}

static int take_log_level(const struct source *source, const char *value, void *to)
{
	const enum log_level level = log_level_find(value);

	if (level == LOG_LEVELS)
		return wrong_value(source, value, "err, warn, notice, info or debug");
	*(enum log_level *)to = level;
	return 0;
}

/* An address is checked for a device when a client comes. */
static int take_rdma_addr(const struct source *source, const char *value, void *to)
{
	if (value[0] == '\0')
		return wrong_value(source, value, "an address or a name of this host");
	return replace(to, strdup(value));
}

#define TO(member) offsetof(struct config, member)

static const struct {
	const char *name;
	take *take;
	size_t to;
} keys[] = {
	{"log-file", take_log_file, TO(log_file)},
	{"poolset-dir", take_poolset_dir, TO(poolset_dir)},
	{"persist-apm", take_bool, TO(persist_apm)},
	{"persist-general", take_bool, TO(persist_general)},
	{"use-syslog", take_bool, TO(use_syslog)},
	{"log-level", take_log_level, TO(log_level)},
	{"rdma-addr", take_rdma_addr, TO(rdma_addr)},
};

/* --- a file --------------------------------------------------------------------------- */

/* In place; blanks are those of isspace(3). */
static char *trim(char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return text;
}

static int parse_line(void *arg, const char *where, char *line)
{
	struct source *source = arg;
	char *value, *key;

	source->where = where;
	line[strcspn(line, "#")] = '\0';
	key = trim(line);
	if (key[0] == '\0')
		return 0;
	value = strchr(key, '=');
	if (value == NULL)
		return reason_set(EINVAL, "%s: expected \"key = value\"", where);
	*value++ = '\0';
	key = trim(key);
	value = trim(value);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(keys[i].name, key) != 0)
			continue;
		if (value[0] == '\0')
			return reason_set(EINVAL, "%s: %s has no value", where, key);
		return keys[i].take(source, value, (char *)source->config + keys[i].to);
	}
	return reason_set(EINVAL, "%s: unknown key %s", where, key);
}

int config_parse(struct config *config, const char *file, const char *text, size_t len,
		 const char *home)
{
	struct source source = {config, home, NULL};

	return text_file_lines(file, text, len, parse_line, &source);
}

static int read_file(struct config *config, const char *file, bool is_optional, const char *home)
{
	const int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char *text;
	size_t len;
	int ret;

	if (fd < 0 && is_optional && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return reason_set(errno, "cannot open the configuration file %s: %s", file,
				  strerror(errno));
	ret = text_file_read(fd, file, FILE_BYTES_MAX, &text, &len);
	close(fd);
	if (ret)
		return ret;
	ret = config_parse(config, file, text, len, home);
	free(text);
	return ret;
}

/* --- all together --------------------------------------------------------------------- */

const char *config_home(void)
{
	const char *home = getenv("HOME");
	const struct passwd *user;

	if (home != NULL && home[0] != '\0')
		return home;
	user = getpwuid(geteuid());
	return user != NULL ? user->pw_dir : NULL;
}

int config_defaults(struct config *config, const char *home)
{
	int ret;

	*config = (struct config){
		.persist_general = true,
		.use_syslog = true,
		.log_level = LEVEL_ERR,
	};
	ret = replace(&config->log_file, strdup(CONFIG_LOG_FILE));
	if (ret == 0 && home != NULL)
		ret = replace(&config->poolset_dir, strdup(home));
	return ret;
}

static int read_files(struct config *config, const struct options *options, const char *system_file,
		      const char *home)
{
	char user_file[PATH_MAX];
	int ret;

	if (options->config != NULL)
		return read_file(config, options->config, false, home);
	ret = read_file(config, system_file, true, home);
	if (ret || home == NULL)
		return ret;
	snprintf(user_file, sizeof(user_file), "%s/" CONFIG_USER_FILE, home);
	return read_file(config, user_file, true, home);
}

static int apply_options(struct config *config, const struct options *options, const char *home)
{
	struct source source = {config, home, NULL};
	int ret = 0;

	config->persist_apm |= options->persist_apm;
	config->persist_general |= options->persist_general;
	if (options->log.to_file) {
		source.where = "--log-file";
		ret = take_log_file(&source, options->log.file, &config->log_file);
	}
	if (options->log.to_syslog)
		config->use_syslog = true;
	if (options->log_level != LOG_LEVELS)
		config->log_level = options->log_level;
	if (ret == 0 && options->poolset_dir != NULL) {
		source.where = "--poolset-dir";
		ret = take_poolset_dir(&source, options->poolset_dir, &config->poolset_dir);
	}
	if (ret == 0 && options->rdma_addr != NULL) {
		source.where = "--rdma-addr";
		ret = take_rdma_addr(&source, options->rdma_addr, &config->rdma_addr);
	}
	return ret;
}

static int check(const struct config *config)
{
	if (config->poolset_dir == NULL || config->poolset_dir[0] != '/') /* HOME is any text */
		return reason_set(EINVAL,
				  "this user has no home directory: expected a poolset-dir in the "
				  "configuration");
	return 0;
}

int config_load(struct config *config, const struct options *options, const char *system_file,
		const char *home)
{
	struct config loaded;
	int ret = config_defaults(&loaded, home);

	if (ret == 0)
		ret = read_files(&loaded, options, system_file, home);
	if (ret == 0)
		ret = apply_options(&loaded, options, home);
	if (ret == 0)
		ret = check(&loaded);
	if (ret) {
		config_free(&loaded);
		return ret;
	}
	*config = loaded;
	return 0;
}

void config_free(struct config *config)
{
	free(config->log_file);
	free(config->poolset_dir);
	free(config->rdma_addr);
	memset(config, 0, sizeof(*config));
}
