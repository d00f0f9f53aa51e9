/* What the functions behind the aten rows are made of.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row's function reads like the formula it builds.  Helpers that give an ig_value
 * take NULL and hand NULL on, and the first failure stays in call->status, so only the
 * end of a function looks at it: ig_aten_give returns it.
 */
#ifndef IG_FRONTEND_TORCH_ATEN_ATEN_H
#define IG_FRONTEND_TORCH_ATEN_ATEN_H

#include "frontend/torch/eval/op.h"
#include "ir/build.h"

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
const int64_t *ig_aten_ints(ig_ts_call *call, uint32_t index, uint32_t wanted,
                            uint32_t *out_count);
const ig_dim *ig_aten_dims(ig_ts_call *call, uint32_t index, uint32_t wanted,
                           uint32_t *out_count);
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

/* ---- ops ---- */

ig_value *ig_aten_make(ig_ts_call *call, ig_opcode code, uint32_t count,
                       ig_value *const *operands, const ig_attr *attrs);
/* All results of an op with several; false on failure. */
bool ig_aten_make_all(ig_ts_call *call, ig_opcode code, uint32_t count,
                      ig_value *const *operands, const ig_attr *attrs,
                      ig_value **out_results);
ig_value *ig_aten_map1(ig_ts_call *call, ig_opcode code, ig_value *x);
/* Two operands of one dtype; guards that they broadcast. */
ig_value *ig_aten_map2(ig_ts_call *call, ig_opcode code, ig_value *x, ig_value *y);
/* x op number, number op x; the number in x's dtype. */
ig_value *ig_aten_map2n(ig_ts_call *call, ig_opcode code, ig_value *x, double number);
ig_value *ig_aten_mapn2(ig_ts_call *call, ig_opcode code, double number, ig_value *x);
ig_value *ig_aten_where(ig_ts_call *call, ig_value *condition, ig_value *x,
                        ig_value *y);
ig_value *ig_aten_cast(ig_ts_call *call, ig_value *x, ig_dtype to);
ig_value *ig_aten_number(ig_ts_call *call, ig_dtype dtype, double value); /* 0-d */
ig_value *ig_aten_integer(ig_ts_call *call, ig_dtype dtype, int64_t value);
ig_value *ig_aten_dims_value(ig_ts_call *call, const ig_dim *dims, uint32_t count);
/* A dim as a 0-d tensor. */
ig_value *ig_aten_dim_value(ig_ts_call *call, ig_dim dim, ig_dtype dtype);
/* `dims` filled with one number. */
ig_value *ig_aten_fill(ig_ts_call *call, ig_dtype dtype, uint32_t rank,
                       const ig_dim *dims, double value);

ig_value *ig_aten_hypot(ig_ts_call *call, ig_value *x, ig_value *y);

/* ---- movement; axes are non-negative ---- */

ig_value *ig_aten_reshape(ig_ts_call *call, ig_value *x, uint32_t rank,
                          const ig_dim *dims);
ig_value *ig_aten_flatten(ig_ts_call *call, ig_value *x); /* to rank 1 */
ig_value *ig_aten_transpose(ig_ts_call *call, ig_value *x, const int64_t *perm);
ig_value *ig_aten_swap(ig_ts_call *call, ig_value *x, uint32_t a, uint32_t b);
/* Axis `from` at place `to`, the others in order. */
ig_value *ig_aten_move_axis(ig_ts_call *call, ig_value *x, uint32_t from, uint32_t to);
ig_value *ig_aten_expand(ig_ts_call *call, ig_value *x, uint32_t rank,
                         const ig_dim *dims);
ig_value *ig_aten_slice(ig_ts_call *call, ig_value *x, uint32_t axis, ig_dim start,
                        ig_dim size, int64_t step);
/* One index of an axis, which goes. */
ig_value *ig_aten_select(ig_ts_call *call, ig_value *x, uint32_t axis, ig_dim index);
ig_value *ig_aten_unsqueeze(ig_ts_call *call, ig_value *x, uint32_t axis);
ig_value *ig_aten_squeeze(ig_ts_call *call, ig_value *x, uint32_t axis);
ig_value *ig_aten_concat(ig_ts_call *call, uint32_t axis, uint32_t count,
                         ig_value *const *values);
ig_value *ig_aten_flip(ig_ts_call *call, ig_value *x, uint32_t axis);
/* Pads of a constant; amounts by axis, negative ones crop. */
ig_value *ig_aten_pad(ig_ts_call *call, ig_value *x, const ig_dim *before,
                      const ig_dim *after, ig_pad_mode mode, double value);
/* 0, 1 … count - 1. */
ig_value *ig_aten_iota(ig_ts_call *call, ig_dtype dtype, ig_dim count);
/* The numbers of an axis, shaped so that they broadcast against rank `rank`. */
ig_value *ig_aten_axis_numbers(ig_ts_call *call, uint32_t rank, uint32_t axis,
                               ig_dim extent);

/* ---- sums ---- */

/* `axes` NULL: all. */
ig_value *ig_aten_reduce(ig_ts_call *call, ig_reduce kind, ig_value *x,
                         const int64_t *axes, uint32_t count, bool keep);
ig_value *ig_aten_reduce1(ig_ts_call *call, ig_reduce kind, ig_value *x, uint32_t axis,
                          bool keep);
ig_value *ig_aten_matmul(ig_ts_call *call, ig_value *x, ig_value *y);
ig_value *ig_aten_gather(ig_ts_call *call, ig_value *x, ig_value *indices,
                         uint32_t axis, bool errors);
ig_value *ig_aten_gather_elements(ig_ts_call *call, ig_value *x, ig_value *indices,
                                  uint32_t axis);

/* ---- dtypes ---- */

bool ig_aten_is_float(const ig_value *x);
/* Floats as they are, all else as f32 (torch's default dtype). */
ig_value *ig_aten_to_float(ig_ts_call *call, ig_value *x);
/* f16 and bf16 as f32, in which torch computes; the result is cast back once. */
ig_value *ig_aten_wide(ig_ts_call *call, ig_value *x);
/* i64 for bool and narrower integers, as sums have it. */
ig_value *ig_aten_sum_dtype(ig_ts_call *call, ig_value *x);

/* ---- bits: aten_bits.c ---- */

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

/* ---- shapes ---- */

/* Broadcasts `dims` (`rank` of them so far) with a type's; guards what is not sure. */
bool ig_aten_broadcast(ig_ts_call *call, const ig_type *type, ig_dim *dims,
                       uint32_t *rank);

/* ---- ends ---- */

/* The one result; call->status when something failed. */
ig_status ig_aten_give(ig_ts_call *call, ig_value *value);
ig_status ig_aten_give2(ig_ts_call *call, ig_value *first, ig_value *second);
/* Fails the call; returns NULL for use in expressions. */
ig_value *ig_aten_fail(ig_ts_call *call, ig_status status, const char *format, ...)
    IG_PRINTF(3, 4);

/* ---- the rows' functions ---- */

#define OP(schema, hook, variant) ig_status ig_ts_op_##hook(ig_ts_call *call);
#include "frontend/torch/aten/aten.def"
#undef OP

/* A loop over operands trips, whether to begin, and a tensor that it carries; the call
 * builds into its body until the caller puts its builder back. */
ig_op *ig_aten_open_loop(ig_ts_call *call, ig_value *const operands[3],
                         const ig_type *carried);

#endif
