/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path_offer.h -- what a server answered, judged: within path only.
 */
#ifndef PATH_OFFER_H
#define PATH_OFFER_H

#include "path.h"

/* The connection stands: takes offer and region, or refuses them with the sentence. */
int path_offer_take(struct path *path);

#endif /* PATH_OFFER_H */
