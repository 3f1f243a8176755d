/* SPDX-License-Identifier: BSD-3-Clause */
#include "gzip.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW (MAX_WBITS + 16) /* zlib.h, deflateInit2: 16 adds the header of gzip */
#define MEM_LEVEL   8		     /* its default */

bool gzip_is_name(const char *path)
{
	const char *end = path != NULL ? strrchr(path, '.') : NULL;

	return end != NULL && strcmp(end, ".gz") == 0;
}

char *gzip_text(const char *text, size_t len, size_t *packed_len)
{
	z_stream stream = {0};
	char *packed = NULL;
	size_t most;

	if (len > UINT_MAX || deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
					   MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	most = deflateBound(&stream, (uLong)len);
	if (most <= UINT_MAX)
		packed = malloc(most);
	if (packed != NULL) {
		stream.next_in = (z_const Bytef *)(uintptr_t)text;
		stream.avail_in = (uInt)len;
		stream.next_out = (Bytef *)packed;
		stream.avail_out = (uInt)most;
		/* in one step, as there is room for all of it */
		if (deflate(&stream, Z_FINISH) != Z_STREAM_END) {
			free(packed);
			packed = NULL;
		}
		*packed_len = stream.total_out;
	}
	deflateEnd(&stream);
	return packed;
}
