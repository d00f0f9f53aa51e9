/* Operators: the contract between the evaluator and the op tables.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row of a family file (aten_*.def, fbgemm.def, builtins.def …) is
 *
 *     OP("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
 *        add, 0)
 *
 * the schema as the operator's registry has it, the function that serves it, and a
 * number for that function to tell its rows by (call->row->variant; an opcode, say).
 * Columns that may follow:
 *
 *     NEEDS("mat1 2; index i0-1")   ranks of its tensors: "2", "2-3", "1-"; an `i`
 *                                   before them asks for integers, a `b` for truth
 *                                   values (or bytes).  Of a list every tensor is
 *                                   meant; None always passes (needs.c).
 *     PARTS("self; src")            arguments that are values and may be complex, whose
 *                                   parts the function is run over (parts.c)
 *     ROWS, KEEP or SELF            memory layout of fresh results (ig_ts_layout)
 *
 * Overloads of one name keep the registry's order, because they are tried in that
 * order.  `add` names
 *
 *     ig_status ig_ts_op_add(ig_ts_call *call);
 *
 * which asks for its arguments by position in the schema (defaults are filled in),
 * builds ops with call->e (ir/build/) and gives as many results as the schema has:
 *
 *     ig_value *x;
 *     IG_TRY(ig_ts_tensor_arg(call, 0, &x));
 *     return ig_ts_give(call, 0, ig_build_exp(call->e, x));
 *
 * In-place variants need no row and no code: `add_` runs the row of `add`, and its
 * first result, cast to self's dtype and broadcast to its shape, is written to self.  A
 * row of its own (with `(a!)` in the schema) is only for ops without a functional form;
 * it writes with ig_ts_write.  Views (`(a)` in the schema) give with ig_ts_give_view.
 *
 * Errors: accessors report errors with file, line and op, and return a status;
 * pass it on.  INVALID: the program is wrong; UNSUPPORTED: right, but not ours.
 */
#ifndef IG_FRONTEND_TORCH_EVAL_OP_H
#define IG_FRONTEND_TORCH_EVAL_OP_H

#include "frontend/torch/eval/value.h"
#include "ir/build/expr.h"
#include "ir/build/gradient.h"

typedef struct ig_ts_call ig_ts_call;
typedef ig_status (*ig_ts_op_hook)(ig_ts_call *call);

/* The memory layout of an operator's fresh results. */
typedef enum ig_ts_layout {
    IG_TS_LAYOUT_UNKNOWN, /* row-major where all arguments are */
    IG_TS_LAYOUT_ROWS,    /* row-major */
    IG_TS_LAYOUT_KEEP,    /* as its tensors together (torch's TensorIterator) */
    IG_TS_LAYOUT_SELF     /* as the first one; or as its memory_format says */
} ig_ts_layout;

typedef struct ig_ts_row {
    const char *schema;
    ig_ts_op_hook hook;
    int variant;
    const char *needs; /* of its tensors; NULL: nothing */
    const char *parts; /* values that may be complex; NULL: none */
    ig_ts_layout layout;
} ig_ts_row;

/* All rows; those of one name follow one another in the registry's order. */
typedef struct ig_ts_table {
    const ig_ts_row *rows;
    size_t count;
} ig_ts_table;

struct ig_ts_call {
    ig_ts_eval *eval;
    ig_context *context;
    ig_module *module;
    ig_arena *arena; /* lives as long as the import */
    ig_expr *e;      /* builds at the call, and keeps the first failure */
    ig_builder *builder;
    const ig_ts_row *row;
    const struct ig_schema *schema;
    ig_location where;
    int64_t version; /* of the archive's operators (reference 2.9) */
    ig_ts_value *args;
    uint32_t arg_count;
    ig_ts_value *results; /* given by the hook */
    uint32_t result_count;
    uint32_t names; /* that the result, a list, is unpacked into; 0: not known */
};

/* Failures and guards of call->e name the program's line and the operator
 * (invoke.c). */
extern const ig_expr_source ig_ts_expr_source;

/* Reports at the call: `return ig_ts_fail(call, IG_INVALID, "…")`.  Only the first
 * failure of call->e is reported; its status is returned from then on. */
ig_status ig_ts_fail(const ig_ts_call *call, ig_status status, const char *format, ...)
    IG_PRINTF(3, 4);

/* ---- nested tensors ---- */

/* Which places of a value [B, T, …] a nested tensor has; bool [B, T]. */
typedef struct ig_ts_nested {
    ig_value *keep, *visible; /* the latter: where padding is to show, too */
} ig_ts_nested;

/* The mark of a value, or NULL. */
ig_ts_nested *ig_ts_nested_of(const ig_ts_call *call, const ig_value *value);
/* The value, marked unless `nested` is NULL. */
ig_value *ig_ts_mark_nested(ig_ts_call *call, ig_value *value, ig_ts_nested *nested);

/* ---- arguments ---- */

bool ig_ts_is_none(const ig_ts_call *call, uint32_t index);

/* A tensor's present content.  Quantised and complex ones are refused (UNSUPPORTED):
 * ops that know them ask otherwise, below. */
ig_status ig_ts_tensor_arg(ig_ts_call *call, uint32_t index, ig_value **out_value);
/* The same; NULL for None. */
ig_status ig_ts_tensor_opt(ig_ts_call *call, uint32_t index, ig_value **out_value);
/* A list (or tuple) as the program holds it; one whose items are known at run time only
 * is refused. */
ig_status ig_ts_list_arg(ig_ts_call *call, uint32_t index, const ig_ts_list **out_list);
/* The list or tuple that a value is, of `min` known items or more; else NULL. */
const ig_ts_list *ig_ts_items_of(const ig_ts_value *value, size_t min);
/* A list (or tuple) of tensors; NULL for items that are None. */
ig_status ig_ts_tensors(ig_ts_call *call, uint32_t index, ig_value ***out_values,
                        uint32_t *out_count);
/* Whatever it holds: integers of quantised ones, a trailing 2 of complex ones. */
ig_status ig_ts_tensor_raw(ig_ts_call *call, uint32_t index, ig_value **out_value,
                           const ig_ts_tensor **out_tensor);
/* NULL when the argument is no tensor. */
const ig_ts_tensor *ig_ts_peek(const ig_ts_call *call, uint32_t index);
/* Is the call in a branch or loop that the run decides on, and the tensor older? */
bool ig_ts_is_from_outside(const ig_ts_call *call, const ig_ts_tensor *tensor);

/* The argument of that name where it is known; NULL: it is not, or there is none. */
const ig_ts_value *ig_ts_known_named(const ig_ts_call *call, const char *name);
/* Strides of a tensor argument, in elements; false where they cannot be told. */
bool ig_ts_strides(const ig_ts_call *call, uint32_t index, ig_dim *out_strides);

/* Numbers.  Known at import: */
ig_status ig_ts_int(ig_ts_call *call, uint32_t index, int64_t *out_value);
ig_status ig_ts_float(ig_ts_call *call, uint32_t index, double *out_value);
ig_status ig_ts_bool(ig_ts_call *call, uint32_t index, bool *out_value);
/* An int as dim expression.  One that is computed at run time becomes a symbol that a
 * `bind` op gives its value. */
ig_status ig_ts_dim(ig_ts_call *call, uint32_t index, ig_dim *out_dim);
/* Lists of them; a single number is repeated `count` times where `count` is not 0.  A
 * list must have `count` items when that is not 0. */
ig_status ig_ts_ints(ig_ts_call *call, uint32_t index, uint32_t count,
                     const int64_t **out_values, uint32_t *out_count);
ig_status ig_ts_dims(ig_ts_call *call, uint32_t index, uint32_t count,
                     const ig_dim **out_dims, uint32_t *out_count);
ig_status ig_ts_floats(ig_ts_call *call, uint32_t index, uint32_t count,
                       const double **out_values, uint32_t *out_count);
/* int? float? bool? with the value to use for None. */
ig_status ig_ts_int_or(ig_ts_call *call, uint32_t index, int64_t none,
                       int64_t *out_value);
ig_status ig_ts_float_or(ig_ts_call *call, uint32_t index, double none,
                         double *out_value);
ig_status ig_ts_bool_or(ig_ts_call *call, uint32_t index, bool none, bool *out_value);
/* A dim argument that counts axes of a tensor of `rank`: -rank … rank - 1, made
 * non-negative (rank 0 counts as 1, as torch has it). */
ig_status ig_ts_axis(ig_ts_call *call, uint32_t index, uint32_t rank,
                     uint32_t *out_axis);
/* Axes of int[] (None, and [] where `empty_is_all`, give all), ascending, distinct. */
ig_status ig_ts_axes(ig_ts_call *call, uint32_t index, uint32_t rank, bool empty_is_all,
                     const int64_t **out_axes, uint32_t *out_count);
ig_status ig_ts_str(ig_ts_call *call, uint32_t index, ig_str *out_text);
/* A dtype code; `none` for None.  The IR's dtype; refuses complex and quantised. */
ig_status ig_ts_dtype(ig_ts_call *call, uint32_t index, ig_dtype none,
                      ig_dtype *out_dtype);
ig_status ig_ts_torch_dtype(ig_ts_call *call, uint32_t index,
                            const ig_torch_dtype_info *none,
                            const ig_torch_dtype_info **out_dtype);
/* A custom class's attribute or a module's, by name: packed parameters. */
ig_status ig_ts_object_arg(ig_ts_call *call, uint32_t index, const char *class_name,
                           ig_ts_object **out_object);

/* ---- tensors and numbers as operands ---- */

/* Any tensor or number as a tensor of `dtype`: numbers become constants of rank 0 (or
 * the run-time value), tensors are cast. */
ig_status ig_ts_operand(ig_ts_call *call, uint32_t index, ig_dtype dtype,
                        ig_value **out_value);
/* torch.result_type of the arguments at `indices` (None is passed over): categories
 * bool < int < float; within one, tensors with dims beat those of rank 0, which beat
 * numbers.  Complex is refused; the second form tells it. */
ig_status ig_ts_result_type(ig_ts_call *call, const uint32_t *indices, uint32_t count,
                            ig_dtype *out_dtype);
ig_status ig_ts_result_torch_type(ig_ts_call *call, const uint32_t *indices,
                                  uint32_t count,
                                  const ig_torch_dtype_info **out_dtype);
/* torch's dtypes of real numbers, and of complex ones with such parts. */
const ig_torch_dtype_info *ig_ts_real_of(ig_dtype dtype);
const ig_torch_dtype_info *ig_ts_complex_of(ig_dtype part);
/* Promotion of two dtypes of tensors with dims. */
ig_dtype ig_ts_promote(ig_dtype a, ig_dtype b);
/* The same of any torch dtypes that the IR has; NULL: none. */
const ig_torch_dtype_info *ig_ts_promote_dtypes(const ig_torch_dtype_info *a,
                                                const ig_torch_dtype_info *b);
/* The same for `count` tensors of arg `index`, a list (cat, stack). */
ig_status ig_ts_result_type_of_list(ig_ts_call *call, uint32_t index,
                                    ig_dtype *out_dtype);

/* ---- results ---- */

/* All givers return call->e->status once building has failed, and report a value of
 * NULL otherwise: a formula that has no case for these arguments. */
ig_status ig_ts_give(ig_ts_call *call, uint32_t result, ig_value *value);
/* The argument itself (dropout in evaluation, contiguous, to of the same dtype). */
ig_status ig_ts_give_arg(ig_ts_call *call, uint32_t result, uint32_t arg);
/* A view of tensor argument `arg`: `value` was built from its content (as the accessor
 * gave it) by view ops alone: reshape, transpose, expand, slice, bitcast, and gather
 * with an index of rank 0 or one that is marked (ig_ts_mark_pick).  Writes through it
 * reach the argument.  When `value` was built by other ops it is a copy. */
ig_status ig_ts_give_view(ig_ts_call *call, uint32_t result, uint32_t arg,
                          ig_value *value);
/* The same for gathers by other indices: says that `taken`, a gather's result, is such
 * a step of a view, and how its index grows along each of its axes. */
ig_value *ig_ts_mark_pick(ig_ts_call *call, ig_value *taken, const ig_dim *strides);
/* A list of tensors, or of views of argument `arg` (IG_TS_NO_ARG: of none). */
#define IG_TS_NO_ARG UINT32_MAX
ig_status ig_ts_give_list(ig_ts_call *call, uint32_t result, uint32_t arg,
                          ig_value *const *values, uint32_t count);
ig_status ig_ts_give_complex(ig_ts_call *call, uint32_t result, ig_value *value,
                             const ig_torch_dtype_info *dtype);
ig_status ig_ts_give_quantised(ig_ts_call *call, uint32_t result, ig_value *value,
                               const ig_torch_dtype_info *dtype,
                               const ig_ts_quant *quant);
ig_status ig_ts_give_int(ig_ts_call *call, uint32_t result, int64_t value);
ig_status ig_ts_give_dim(ig_ts_call *call, uint32_t result, ig_dim dim);
ig_status ig_ts_give_dims(ig_ts_call *call, uint32_t result, const ig_dim *dims,
                          uint32_t count); /* List[int] */
ig_status ig_ts_give_float(ig_ts_call *call, uint32_t result, double value);
ig_status ig_ts_give_bool(ig_ts_call *call, uint32_t result, bool value);
ig_status ig_ts_give_str(ig_ts_call *call, uint32_t result, ig_str text);
/* The one element of `value` as a bool, int or float: known where it can be told now
 * (constants, shape arithmetic), else of run time. */
ig_status ig_ts_give_number(ig_ts_call *call, uint32_t result, ig_ts_kind kind,
                            ig_value *value);
ig_status ig_ts_give_value(ig_ts_call *call, uint32_t result, ig_ts_value value);
/* Writes to a tensor argument in place; `value` is cast and broadcast as needed. */
ig_status ig_ts_write(ig_ts_call *call, uint32_t arg, ig_value *value);

/* ---- the archive and its numbers ---- */

/* Did the caller ask for means of whole bags where tables are sharded by rows? */
bool ig_ts_fixes_means(const ig_ts_call *call);
/* Gradients, by whoever has the import build them. */
ig_status ig_ts_gradients(ig_ts_call *call, const ig_gradient_at *what, ig_value **out);
/* For messages: the extent, the meaning of its symbols, and how to make it known. */
const char *ig_ts_open_dim(const ig_module *module, ig_arena *arena, ig_dim dim);
/* The one element of `value` as far as it is known now: constants and shape arithmetic
 * are folded.  Another count is INVALID. */
ig_status ig_ts_number_of(ig_ts_eval *eval, ig_ts_kind kind, ig_value *value,
                          ig_ts_value *out_number);
/* Any number as a tensor of rank 0 of `dtype`. */
ig_status ig_ts_number_value(ig_ts_call *call, const ig_ts_value *number,
                             ig_dtype dtype, ig_value **out_value);

/* Runs another operator, "aten::linear", by overload resolution; positional args. */
ig_status ig_ts_invoke(ig_ts_call *call, const char *name, const ig_ts_value *args,
                       uint32_t count, ig_ts_value *out_results, uint32_t result_count);
/* A tensor as a value for ig_ts_invoke, and back. */
ig_ts_value ig_ts_tensor_value(ig_ts_call *call, ig_value *value);
ig_value *ig_ts_read(ig_ts_call *call, const ig_ts_value *tensor); /* NULL: failed */

#endif
