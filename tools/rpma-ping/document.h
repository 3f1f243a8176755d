/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * document.h -- the result as JSON, of the schema rpma-ping/1.
 */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include "client.h"
#include "common/json/result.h"

json_t *document_make(const struct client *client);

#endif /* DOCUMENT_H */
