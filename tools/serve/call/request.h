/* An inference, from the client's bytes to the answer, the same for both fronts.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A front reads it (http/data.c, grpc/infer.c), batch/ runs it, and `finish` gives the
 * front the answer, in the same turn of the loop.  All of it lives in its pool or in
 * the body that the front holds until then.
 */
#ifndef IG_TOOLS_SERVE_CALL_REQUEST_H
#define IG_TOOLS_SERVE_CALL_REQUEST_H

#include "tools/serve/call/pool.h"
#include "tools/serve/call/status.h"
#include "tools/serve/call/trace.h"

#include <ingot/view.h>

/* A tensor as it is on the wire: elements one after the other, each of BYTES after its
 * length in four bytes, the least significant first. */
typedef struct tensor {
    const char *name;
    ig_dtype_code dtype;
    uint32_t rank;
    int64_t dims[IG_MAX_RANK];
    const uint8_t *data;
    size_t size;
    const char *region; /* of shared memory that holds it from `offset` on, or NULL */
    uint64_t offset;
} tensor;

/* An output that the client asks for. */
typedef struct wanted {
    const char *name;
    bool is_binary;     /* HTTP: after the JSON, not in it */
    const char *region; /* of shared memory that it goes to, or NULL */
    uint64_t offset, room;
} wanted;

/* Look-ups of a run over stored tables: all; of ids that the stores lack; of
 * rows that did not come in time; of rows that are older than they may be. */
typedef struct row_counts {
    size_t ids, absent, late, stale;
} row_counts;

typedef struct request {
    pool memory;
    /* The request. */
    const char *model, *version, *id; /* version and id: "" where none is given */
    const tensor *inputs;
    size_t input_count;
    const wanted *outputs; /* none: all of them */
    size_t output_count;
    bool is_binary;   /* HTTP: outputs that say nothing are binary */
    int64_t begun;    /* when it was there, in ns of the monotonic clock */
    int64_t deadline; /* in the same clock; 0: none */
    bool is_urgent;   /* it goes before those that are not */
    trace trace;
    /* What became of it; the answer's tensors are there until `finish` returns. */
    call_status status;
    const char *words;     /* why not; the pool's, or a constant */
    const tensor *results; /* as many as outputs, in their order */
    size_t result_count;
    int64_t answered;  /* of the version that answered, the first of a chain */
    uint32_t step;     /* models of the chain before the one that it is at */
    size_t made_count; /* of the results those that such a model made, the first ones */
    row_counts stored; /* of the run; ids 0: no table is in a store */
    const void *order; /* those of one order are finished in order; NULL: whenever */
    /* Of whoever runs it. */
    struct request *next;
    struct served *served; /* NULL: none was found */
    struct served *kept; /* `served`, or until it is that, the one before; it is open */
    ig_view *views;      /* inputs in the order of the program's ports */
    int64_t rows;        /* of the batch that it brings; -1: it runs alone */
    int64_t cost;        /* ns that its share of a run takes, as the last runs did */
    bool is_queued;      /* it counts among those that wait for its version */
    /* Of the front. */
    void (*finish)(struct request *of);
    /* Has its client left?  NULL: the front would have taken it back. */
    bool (*has_left)(const struct request *of);
    void *front;
} request;

/* Says why a request fails; false, for `return`. */
bool request_fail(request *of, call_status status, const char *format, ...)
    IG_PRINTF(3, 4);
/* What both fronts call parameters: a priority (1 goes before others; 0: none is said)
 * and the microseconds that the request may take in all (0: as long as it likes). */
void request_set_parameters(request *of, int64_t priority, int64_t microseconds);
/* Elements of a shape; -1: an extent is negative, or there are more than fit. */
int64_t count_elements(const int64_t *dims, uint32_t rank);
/* ns of the monotonic clock, which deadlines are told in. */
int64_t clock_now(void);
/* Memory of the request for tensors that a script or a model has made,
 * beyond the limit of its client's bytes; NULL: the server has none left. */
void *request_take(request *of, size_t size);

#endif
