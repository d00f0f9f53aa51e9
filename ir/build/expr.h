/* The vocabulary that builds ops: expressions over values.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Importers, passes, compose/ and tests write formulas with it:
 *
 *     ig_value *mean = ig_expr_reduce_axis(e, IG_REDUCE_mean, x, axis, true);
 *     ig_value *centred = ig_build_sub(e, x, mean);
 *     return ig_build_mul(e, centred, ig_expr_with(e, IG_OP_mul, scale, 0.5));
 *
 * ig_build_<op> (build_ops.h) makes one op, exactly.  ig_expr_<noun> below computes the
 * attributes, omits no-ops (a reshape to the same dims gives x), and
 * adds the checks that the run has to make.
 *
 * Failures stick.  A function that meets a NULL operand, or a failed expression, gives
 * NULL; the first failure stays in `status`, so that only the end of a formula looks.
 * The kind of caller decides how a failure is treated:
 *
 *     ig_expr_for      an importer: reports it at the node or line that is imported
 *     ig_expr_of       a pass or an expansion, right by construction: a defect, asserts
 *     ig_expr_trying   a rule that may not fit: silent
 *
 * One policy for guards: extents that must be equal and are not provably so get a guard
 * that the run checks; where they provably differ, an importer fails in the entry block
 * (inside of a branch the guard stays: the branch may never be taken).  Code that is
 * right by construction makes no guards but those it asks for.
 *
 * Axes are non-negative and smaller than the rank.  Extents are ig_dims.  Values belong
 * to the module; nothing here is to be freed.
 */
#ifndef IG_IR_BUILD_EXPR_H
#define IG_IR_BUILD_EXPR_H

#include "ir/build/build.h"
#include "ir/build/build_ops.h"

/* The source location an importer builds for, and its reporter. */
typedef struct ig_expr_source {
    /* Reports `text` as a failure of the node or line; returns `status`. */
    ig_status (*fail)(void *user, ig_status status, const char *text);
    /* A guard's message: `what`, with the node or line before it. */
    const char *(*explain)(void *user, const char *what);
} ig_expr_source;

typedef enum ig_expr_policy {
    IG_EXPR_SURE,   /* a failure is a defect of ours */
    IG_EXPR_TRY,    /* a failure is an answer, and silent */
    IG_EXPR_REPORT, /* a failure is the user's */
} ig_expr_policy;

struct ig_expr {
    ig_builder *builder;
    ig_module *module;
    ig_status status; /* the first failure; IG_OK before */
    ig_expr_policy policy;
    const ig_expr_source *source; /* with IG_EXPR_REPORT */
    void *user;                   /* of the source */
};

ig_expr ig_expr_of(ig_builder *builder);
ig_expr ig_expr_trying(ig_builder *builder);
ig_expr ig_expr_for(ig_builder *builder, const ig_expr_source *source, void *user);

/* Fails the expression, unless it has failed before; returns NULL for use in
 * formulas. */
ig_value *ig_expr_fail(ig_expr *e, ig_status status, const char *format, ...)
    IG_PRINTF(3, 4);
/* Keeps the first failure; true when `status` is IG_OK. */
bool ig_expr_note(ig_expr *e, ig_status status);

/* ---- any op ---- */

/* The op's first result.  `attrs` may be NULL.  Operands that are broadcast against
 * each other (trait MAP) are guarded. */
ig_value *ig_expr_make(ig_expr *e, ig_opcode code, ig_value *const *operands,
                       uint32_t count, const ig_attr *attrs);
/* All results of the op whose first one is `first`; false when that is NULL. */
bool ig_expr_results(ig_value *first, ig_value **out_results);
/* The op itself: with bodies, given result types, several results; or NULL. */
ig_op *ig_expr_op(ig_expr *e, ig_opcode code, const ig_op_spec *spec);
ig_value *ig_expr_map1(ig_expr *e, ig_opcode code, ig_value *x);
ig_value *ig_expr_map2(ig_expr *e, ig_opcode code, ig_value *x, ig_value *y);
/* x op number, number op x; the number in x's dtype. */
ig_value *ig_expr_with(ig_expr *e, ig_opcode code, ig_value *x, double number);
ig_value *ig_expr_with_integer(ig_expr *e, ig_opcode code, ig_value *x, int64_t number);
ig_value *ig_expr_number_with(ig_expr *e, ig_opcode code, double number, ig_value *x);
/* x as `to`; x itself when it is that already. */
ig_value *ig_expr_cast(ig_expr *e, ig_value *x, ig_dtype to);
/* x in the dtype of `model`. */
ig_value *ig_expr_like(ig_expr *e, ig_value *x, const ig_value *model);
/* Opens a `loop` over `operands` (trips, whether to begin, a tensor that keeps its
 * type); the builder inserts into its body until the caller restores it.  NULL: an
 * error came before. */
ig_op *ig_expr_open_loop(ig_expr *e, ig_value *const operands[3]);
/* The same with count - 2 tensors carried, and `scans` further results that stack what
 * the body yields; `types` are those of all results. */
ig_op *ig_expr_open_loops(ig_expr *e, ig_value *const *operands, uint32_t count,
                          const ig_type *const *types, uint32_t scans);

/* ---- dtypes ---- */

bool ig_expr_is_float(const ig_value *x);
/* Floats as they are, all else as f32. */
ig_value *ig_expr_to_float(ig_expr *e, ig_value *x);
/* f16 and bf16 as f32, in which sums are taken; others as they are. */
ig_value *ig_expr_widen(ig_expr *e, ig_value *x);

/* ---- constants ---- */

/* A scalar (rank 0) of any number type; a bool is value != 0. */
ig_value *ig_expr_number(ig_expr *e, ig_dtype dtype, double value);
ig_value *ig_expr_integer(ig_expr *e, ig_dtype dtype, int64_t value); /* exact */
/* A constant of known extents; the bytes are copied.  Small ones are inline constants
 * of the graph, others become a weight named `name`. */
ig_value *ig_expr_constant(ig_expr *e, const char *name, ig_dtype dtype, uint32_t rank,
                           const int64_t *extents, const void *bytes);
ig_value *ig_expr_ints(ig_expr *e, const int64_t *values, uint32_t count); /* i64[n] */
/* Extents as an i64 vector; one extent as a scalar of `dtype`. */
ig_value *ig_expr_dims(ig_expr *e, const ig_dim *dims, uint32_t count);
ig_value *ig_expr_dim(ig_expr *e, ig_dim dim, ig_dtype dtype);
/* One value in every element. */
ig_value *ig_expr_fill(ig_expr *e, ig_dtype dtype, uint32_t rank, const ig_dim *dims,
                       double value);
/* 0, 1 … count - 1. */
ig_value *ig_expr_iota(ig_expr *e, ig_dtype dtype, ig_dim count);
/* The same along one axis, i64, shaped to broadcast against `rank` axes. */
ig_value *ig_expr_axis_iota(ig_expr *e, uint32_t rank, uint32_t axis, ig_dim extent);

/* ---- movement ---- */

ig_value *ig_expr_reshape(ig_expr *e, ig_value *x, uint32_t rank, const ig_dim *dims);
ig_value *ig_expr_flatten(ig_expr *e, ig_value *x); /* to rank 1 */
/* Axes first … last as one. */
ig_value *ig_expr_merge_axes(ig_expr *e, ig_value *x, uint32_t first, uint32_t last);
ig_value *ig_expr_unsqueeze(ig_expr *e, ig_value *x, uint32_t axis);
ig_value *ig_expr_squeeze(ig_expr *e, ig_value *x, uint32_t axis); /* of extent 1 */
/* Trailing axes of extent 1 until x has `rank` axes. */
ig_value *ig_expr_unsqueeze_to(ig_expr *e, ig_value *x, uint32_t rank);
/* A vector as the extent of `axis` among `rank` axes, the others 1. */
ig_value *ig_expr_along(ig_expr *e, ig_value *x, uint32_t axis, uint32_t rank);
ig_value *ig_expr_transpose(ig_expr *e, ig_value *x, const int64_t *perm);
ig_value *ig_expr_swap(ig_expr *e, ig_value *x, uint32_t a, uint32_t b);
/* Axis `from` at position `to`, the others in order. */
ig_value *ig_expr_move_axis(ig_expr *e, ig_value *x, uint32_t from, uint32_t to);
ig_value *ig_expr_expand(ig_expr *e, ig_value *x, uint32_t rank, const ig_dim *dims);
/* x[start : start + size * step : step] along one axis. */
ig_value *ig_expr_slice(ig_expr *e, ig_value *x, uint32_t axis, ig_dim start,
                        ig_dim size, int64_t step);
/* The same for all axes; `steps` NULL: all 1. */
ig_value *ig_expr_slices(ig_expr *e, ig_value *x, const ig_dim *starts,
                         const ig_dim *sizes, const int64_t *steps);
/* One index of an axis, which goes. */
ig_value *ig_expr_select(ig_expr *e, ig_value *x, uint32_t axis, ig_dim index);
ig_value *ig_expr_flip(ig_expr *e, ig_value *x, uint32_t axis);
ig_value *ig_expr_concat(ig_expr *e, uint32_t axis, ig_value *const *values,
                         uint32_t count);
/* Amounts by axis; negative ones crop.  `value` counts for the mode `constant` only. */
ig_value *ig_expr_pad(ig_expr *e, ig_value *x, const ig_dim *before,
                      const ig_dim *after, ig_pad_mode mode, double value);

/* ---- reductions, products, look-ups ---- */

/* `axes` NULL: all.  Over no axis (count 0): x. */
ig_value *ig_expr_reduce(ig_expr *e, ig_reduce kind, ig_value *x, const int64_t *axes,
                         uint32_t count, bool keep);
ig_value *ig_expr_reduce_axis(ig_expr *e, ig_reduce kind, ig_value *x, uint32_t axis,
                              bool keep);
/* Over axes first … last, kept as 1. */
ig_value *ig_expr_reduce_axes(ig_expr *e, ig_reduce kind, ig_value *x, uint32_t first,
                              uint32_t last);
/* numpy's product; inner extents and batches are guarded. */
ig_value *ig_expr_matmul(ig_expr *e, ig_value *x, ig_value *y);
/* x times y with its last two axes exchanged. */
ig_value *ig_expr_matmul_transposed(ig_expr *e, ig_value *x, ig_value *y);
ig_value *ig_expr_gather(ig_expr *e, ig_value *x, ig_value *indices, uint32_t axis,
                         ig_negative negative);

/* ---- checks of the run ---- */

/* Both report when the claim is provably false in the entry block. */
void ig_expr_guard_equal(ig_expr *e, ig_dim a, ig_dim b, const char *what);
void ig_expr_guard_less_equal(ig_expr *e, ig_dim a, ig_dim b, const char *what);
/* That two operands broadcast. */
void ig_expr_guard_broadcast(ig_expr *e, const ig_value *x, const ig_value *y);
/* Guards that y broadcasts to x's extents, so that results of both have x's extents. */
void ig_expr_guard_broadcast_to(ig_expr *e, const ig_value *x, const ig_value *y,
                                const char *what);
/* That two operands have a product as numpy's. */
void ig_expr_guard_product(ig_expr *e, const ig_value *x, const ig_value *y);
/* `dims` (`*rank` of them so far) broadcast with a type's; false when they cannot
 * be. */
bool ig_expr_broadcast_dims(ig_expr *e, const ig_type *type, ig_dim *dims,
                            uint32_t *rank);
/* A new symbol for an extent known only at run time; `origin` describes it. */
ig_dim ig_expr_symbol(ig_expr *e, const char *name, const char *origin);
/* New symbols, which the `count` elements of an i64 vector give values of 0 or more. */
void ig_expr_bind_dims(ig_expr *e, ig_value *vector, uint32_t count, const char *origin,
                       ig_dim *dims);

#endif
