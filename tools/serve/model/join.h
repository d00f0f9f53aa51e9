/* Requests put together into one run, and its results taken apart.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The artifact gives each port's role along the batch (docs/artifact.md, roles):
 *
 *     rows          of one request after those of another
 *     key_lengths   key by key: those of all requests for the first key, then the next
 *     key_values    in the same order, as many as the lengths say; of offsets: in order
 *     offsets       positions in the ids, moved by the ids of the requests before
 *     shared        the same for all, or they are not put together
 *
 * Offsets and lengths are held within their own request's ids before: joined, they
 * would read a neighbour's.
 */
#ifndef IG_TOOLS_SERVE_MODEL_JOIN_H
#define IG_TOOLS_SERVE_MODEL_JOIN_H

#include "tools/serve/call/request.h"
#include "tools/serve/model/served.h"

/* Whether rows of requests to this program may be put together at all. */
bool joins_rows(served *of);
/* Rows that the request brings, whose inputs are bound; -1: it is not to be put
 * together with others, because its values would affect its neighbours. */
int64_t join_rows(const served *of, const request *what);
/* May `next` run with `first`: extents beside the batch and shared inputs are the
 * same. */
bool join_fits(const served *of, const request *first, const request *next);
/* Inputs of a run of all `count` requests, `rows` together, in memory of the pool;
 * NULL: it ran out. */
ig_view *join_inputs(const served *of, request *const *all, size_t count, int64_t rows,
                     pool *memory);
/* The part of an output that belongs to rows first … first + rows - 1 of `all`. */
ig_view join_part(const ig_port *port, const ig_view *from, int64_t first,
                  int64_t rows);

#endif
