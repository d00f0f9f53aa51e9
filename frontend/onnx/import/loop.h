/* The parts that Loop and Scan share: both become one op.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_IMPORT_LOOP_H
#define IG_FRONTEND_ONNX_IMPORT_LOOP_H

#include "frontend/onnx/import/import.h"

/* One loop being built.  The body's formal inputs are i and cond (Loop only), the
 * carried values, then this trip's slice of each scanned input (Scan only); its outputs
 * cond (Loop only), the carried values, and the stacked ones. */
typedef struct ig_onnx_loop {
    ig_onnx_node *node;
    const Onnx__GraphProto *graph;
    ig_onnx_scope *outer;
    bool has_cond;
    ig_value *trips, *cond; /* scalars */
    ig_value **carried;     /* initial values */
    const ig_type **types;  /* of the arguments that carry */
    uint32_t carried_count, stacked_count;
    /* Scan: inputs that are sliced along an axis, from the front or the back. */
    ig_value **scanned;
    const uint32_t *scan_axes;
    const bool *scan_backwards;
    uint32_t scanned_count;
    uint32_t first_symbol; /* symbols from here on are the body's own */
    ig_op *op;
    ig_value **yields; /* cond, carried…, stacked… */
    bool *is_wrapped;  /* result k is an optional, but the value in it is given */
} ig_onnx_loop;

/* Fills in op: builds the body, widens the types of carried values until they hold for
 * every trip, and types the results (carried…, stacked…). */
ig_status ig_onnx_loop_build(ig_onnx_loop *loop);
/* A value of one element as a scalar: files give [1] too.  `what` is for messages. */
ig_value *ig_onnx_one_element(ig_expr *e, ig_value *x, ig_dtype dtype,
                              const char *what);

#endif
