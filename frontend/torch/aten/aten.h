/* Readers and formulas shared by the functions of the aten rows.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row's function reads like the formula it builds: ig_aten_* reads arguments, and
 * call->e (ir/build/) builds.  Both keep the first failure in call->e->status, so only
 * the end of a function looks at it: ig_aten_give returns it.
 */
#ifndef IG_FRONTEND_TORCH_ATEN_ATEN_H
#define IG_FRONTEND_TORCH_ATEN_ATEN_H

#include "frontend/torch/eval/op.h"

/* ---- arguments; what fails gives NULL, 0 or an empty string ---- */

ig_value *ig_aten_tensor(ig_ts_call *call, uint32_t index);
ig_value *ig_aten_optional(ig_ts_call *call, uint32_t index); /* NULL: None too */
ig_value **ig_aten_tensors(ig_ts_call *call, uint32_t index, uint32_t *out_count);
int64_t ig_aten_int(ig_ts_call *call, uint32_t index);
/* One that extents are computed of: sums and products with small numbers are exact. */
int64_t ig_aten_distance(ig_ts_call *call, uint32_t index);
int64_t ig_aten_int_or(ig_ts_call *call, uint32_t index, int64_t none);
double ig_aten_float(ig_ts_call *call, uint32_t index);
double ig_aten_float_or(ig_ts_call *call, uint32_t index, double none);
bool ig_aten_bool(ig_ts_call *call, uint32_t index);
ig_str ig_aten_str(ig_ts_call *call, uint32_t index);
ig_dim ig_aten_dim(ig_ts_call *call, uint32_t index);
/* A position along an axis of `extent`.  One that the run computes counts from the end
 * where it is negative; one that is known is as given. */
ig_dim ig_aten_position(ig_ts_call *call, uint32_t index, ig_dim extent);
const int64_t *ig_aten_ints(ig_ts_call *call, uint32_t index, uint32_t wanted,
                            uint32_t *out_count);
const ig_dim *ig_aten_dims(ig_ts_call *call, uint32_t index, uint32_t wanted,
                           uint32_t *out_count);
/* The same for the extents of a result: more axes than a tensor can have are
 * refused. */
const ig_dim *ig_aten_shape(ig_ts_call *call, uint32_t index, uint32_t *out_rank);
ig_dtype ig_aten_dtype(ig_ts_call *call, uint32_t index, ig_dtype none);
/* A tensor or number as a tensor of `dtype`. */
ig_value *ig_aten_operand(ig_ts_call *call, uint32_t index, ig_dtype dtype);
/* torch.result_type of arguments first … first + count - 1. */
ig_dtype ig_aten_result_type(ig_ts_call *call, uint32_t first, uint32_t count);
/* The axis that argument `index` names in a tensor of `rank`. */
uint32_t ig_aten_axis(ig_ts_call *call, uint32_t index, uint32_t rank);
/* The same where rank 0, which has no extent to read, is refused.  False when the call
 * has failed. */
bool ig_aten_axis_of_many(ig_ts_call *call, uint32_t index, uint32_t rank,
                          uint32_t *out_axis);
const int64_t *ig_aten_axes(ig_ts_call *call, uint32_t index, uint32_t rank,
                            bool empty_is_all, uint32_t *out_count);

/* Steps of one element that a window has room for along an axis of `extent` elements
 * with `pads` more around it. */
ig_dim ig_aten_window_room(ig_module *m, ig_dim extent, ig_dim pads, ig_dim kernel,
                           ig_dim dilation);

/* An axis that counts from the end where it is negative; false: there is none such. */
bool ig_aten_wrap_axis(ig_expr *e, int64_t axis, uint32_t rank, uint32_t *out);
/* A 0-d tensor is handled as one of one element. */
ig_value *ig_aten_vector(ig_expr *e, ig_value *x);

/* ---- dtypes, as torch has them ---- */

/* To narrow integers through i64, of which the low bits are kept. */
ig_value *ig_aten_cast(ig_ts_call *call, ig_value *x, ig_dtype to);
/* An op of both in the dtype that they promote to. */
ig_value *ig_aten_combine(ig_ts_call *call, ig_opcode code, ig_value *x, ig_value *y);
/* f16 and bf16 as f32, in which torch computes; integers too.  The result is cast back
 * once. */
ig_value *ig_aten_wide(ig_ts_call *call, ig_value *x);
/* i64 for bool and narrower integers, as sums have it. */
ig_value *ig_aten_sum_dtype(ig_ts_call *call, ig_value *x);

/* ---- bits: bits.c ---- */

/* The same bits as another dtype of the same size; bool is cast. */
ig_value *ig_aten_bitcast(ig_ts_call *call, ig_value *x, ig_dtype to);
/* Each unsigned integer as `parts` of `bits` along the last axis, lowest first, and
 * back; a part's higher bits are not cleared when `part` has more than `bits`. */
ig_value *ig_aten_split_bits(ig_ts_call *call, ig_value *x, uint32_t parts,
                             uint32_t bits, ig_dtype part);
ig_value *ig_aten_join_bits(ig_ts_call *call, ig_value *x, uint32_t parts,
                            uint32_t bits, ig_dtype whole);
/* torch's view(dtype): the last axis grows or shrinks with the size of elements. */
ig_value *ig_aten_view_bits(ig_ts_call *call, ig_value *x, ig_dtype to);

/* ---- ends ---- */

/* The one result; call->status when something failed. */
ig_status ig_aten_give(ig_ts_call *call, ig_value *value);
ig_status ig_aten_give2(ig_ts_call *call, ig_value *first, ig_value *second);

/* ---- bits of variants, which the tables name ---- */

enum {
    IG_ATEN_SORT_DIM = 7,     /* mask: the dim argument; 0: none, axis 0 */
    IG_ATEN_SORT_INDICES = 8, /* argsort: the indices alone */
    IG_ATEN_SORT_VALUES = 16, /* msort: the values alone */
};
enum {
    IG_ATEN_FFT_INVERSE = 1,
    IG_ATEN_FFT_FROM_REAL = 2, /* half of the last axis' frequencies */
    IG_ATEN_FFT_TO_REAL = 4,
};
enum { IG_ATEN_SKIP_NAN = 1, IG_ATEN_BY_AXIS = 2 };  /* median */
enum { IG_ATEN_BY_POINTS = 1, IG_ATEN_RUNNING = 2 }; /* trapezoid */
enum {
    IG_ATEN_UNBIASED,
    IG_ATEN_UNBIASED_DIM,
    IG_ATEN_CORRECTION,
    IG_ATEN_MOMENT_FORM = 3, /* mask: one of the above */
    IG_ATEN_WITH_ROOT = 4,
    IG_ATEN_WITH_MEAN = 8,
};
enum { /* batch_norm; norm.c has the arguments and results of each */
       IG_ATEN_BATCH_NORM,
       IG_ATEN_BATCH_NATIVE,
       IG_ATEN_BATCH_RUNNING, /* applies running statistics */
       IG_ATEN_BATCH_UPDATE,  /* trains */
       IG_ATEN_BATCH_OWN,     /* has no running statistics */
       IG_ATEN_BATCH_FUNCTIONAL,
       IG_ATEN_BATCH_UPDATE_FUNCTIONAL,
};
enum {
    IG_ATEN_TO_DTYPE = 15, /* mask: the dtype argument; 0: none */
    IG_ATEN_TO_OTHER = 16, /* that argument is a tensor, whose dtype it is */
    IG_ATEN_TO_COPIES = 32,
};

/* ---- the rows' functions ---- */

#define OP(schema, hook, ...) ig_status ig_ts_op_##hook(ig_ts_call *call);
#include "frontend/torch/aten/aten.def"
#undef OP

#endif
