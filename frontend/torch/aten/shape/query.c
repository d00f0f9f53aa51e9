/* Questions about tensors, answered at import, and changes of dtype.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/torch/aten/view.h"
#include "frontend/torch/eval/eval.h"
#include "ir/build/extent.h"

#include <assert.h>

/* Any tensor argument; reports when there is none. */
static const ig_ts_tensor *peek_tensor(ig_ts_call *call) {
    const ig_ts_tensor *tensor = ig_ts_peek(call, 0);
    if (!tensor) {
        ig_expr_fail(call->e, IG_INVALID, "argument 0 is not a tensor");
    }
    return tensor;
}

static uint32_t rank_of(const ig_ts_tensor *tensor) {
    assert(tensor->type->rank >= tensor->dtype->is_complex &&
           "complex elements have an axis of their own");
    return tensor->type->rank - tensor->dtype->is_complex;
}

ig_status ig_ts_op_size(ig_ts_call *call) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    return tensor ? ig_ts_give_dims(call, 0, tensor->type->dims, rank_of(tensor))
                  : call->e->status;
}

ig_status ig_ts_op_size_of_axis(ig_ts_call *call) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    if (!tensor) {
        return call->e->status;
    }
    if (rank_of(tensor) == 0) {
        return ig_ts_fail(call, IG_INVALID, "a tensor of rank 0 has no extents");
    }
    uint32_t axis = ig_aten_axis(call, 1, rank_of(tensor));
    IG_TRY(call->e->status);
    return ig_ts_give_dim(call, 0, ig_expr_extent_of(call->e, tensor->type, axis));
}

/* variant 1: of one axis, 0: a list */
ig_status ig_ts_op_stride(ig_ts_call *call) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    ig_dim strides[IG_TENSOR_RANK];
    if (!tensor) {
        return call->e->status;
    }
    if (!ig_ts_strides(call, 0, strides)) {
        return ig_ts_fail(
            call, IG_UNSUPPORTED,
            "asks for strides that are not known at import: copy the tensor with contiguous() first");
    }
    if (call->row->variant) {
        uint32_t axis;
        if (!ig_aten_axis_of_many(call, 1, rank_of(tensor), &axis)) {
            return call->e->status;
        }
        return ig_ts_give_dim(call, 0, strides[axis]);
    }
    return ig_ts_give_dims(call, 0, strides, rank_of(tensor));
}

/* The order that argument `memory_format` asks for. */
static bool wanted_order(ig_ts_call *call, const ig_ts_tensor *tensor,
                         const ig_ts_order **out_order) {
    int64_t format = 0;
    *out_order = NULL;
    if (call->arg_count > 1 && !ig_ts_is_none(call, 1)) {
        call->e->status = ig_ts_int(call, 1, &format);
    }
    return call->e->status == IG_OK &&
           ig_ts_order_of_format(call->eval, format, tensor->type->rank, out_order);
}

ig_status ig_ts_op_is_contiguous(ig_ts_call *call) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    const ig_ts_order *order;
    ig_value *condition = NULL;
    if (!tensor || !wanted_order(call, tensor, &order)) {
        return call->e->status == IG_OK ? ig_ts_give_bool(call, 0, false)
                                        : call->e->status;
    }
    ig_truth lies = ig_ts_lies_in_order(call->eval, tensor, order, call->e, &condition);
    if (lies != IG_MAYBE) {
        return ig_ts_give_bool(call, 0, lies == IG_YES);
    }
    IG_TRY(call->e->status);
    return condition
               ? ig_ts_give_number(call, 0, IG_TS_BOOL, condition)
               : ig_ts_fail(
                     call, IG_UNSUPPORTED,
                     "asks for the order of elements in memory, which is not known at import: copy the tensor with contiguous() first");
}

/* The tensor itself when it is in the order asked for, else a copy; where that is not
 * known, a copy that nobody may tell from the tensor by writing to it. */
ig_status ig_ts_op_contiguous(ig_ts_call *call) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    const ig_ts_order *order;
    ig_value *value;
    if (!tensor || (!wanted_order(call, tensor, &order) && call->e->status != IG_OK)) {
        return call->e->status;
    }
    ig_truth lies = ig_ts_lies_in_order(call->eval, tensor, order, call->e, NULL);
    if (lies == IG_YES) {
        return ig_ts_give_arg(call, 0, 0);
    }
    IG_TRY(ig_ts_tensor_read(call->eval, tensor, &value));
    ig_ts_tensor *copy = ig_ts_tensor_create(call->eval, value, tensor->dtype);
    copy->quant = tensor->quant;
    if (lies == IG_MAYBE) {
        ig_ts_alias *alias = ig_ts_alias_by_layout(call->eval, tensor);
        alias->has_strides = true;
        copy->alias = alias;
    }
    copy->storage->order = order;
    return ig_ts_give_value(call, 0, ig_ts_of_tensor(copy));
}

ig_status ig_ts_op_numel(ig_ts_call *call) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    return tensor ? ig_ts_give_dim(call, 0,
                                   ig_dim_product(call->module, tensor->type->dims,
                                                  rank_of(tensor)))
                  : call->e->status;
}

ig_status ig_ts_op_dim(ig_ts_call *call) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    return tensor ? ig_ts_give_int(call, 0, rank_of(tensor)) : call->e->status;
}

/* len(tensor) */
ig_status ig_ts_op_len(ig_ts_call *call) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    if (tensor && rank_of(tensor) == 0) {
        return ig_ts_fail(call, IG_INVALID, "a tensor of rank 0 has no length");
    }
    return tensor ? ig_ts_give_dim(call, 0, ig_expr_extent_of(call->e, tensor->type, 0))
                  : call->e->status;
}

ig_status ig_ts_op_shape_as_tensor(ig_ts_call *call) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    return tensor ? ig_aten_give(call, ig_expr_dims(call->e, tensor->type->dims,
                                                    rank_of(tensor)))
                  : call->e->status;
}

/* ---- dtypes ---- */

ig_status ig_ts_op_dtype(ig_ts_call *call) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    return tensor ? ig_ts_give_int(call, 0, tensor->dtype->code) : call->e->status;
}

ig_status ig_ts_op_element_size(ig_ts_call *call) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    return tensor ? ig_ts_give_int(call, 0, (tensor->dtype->bits + 7) / 8)
                  : call->e->status;
}

ig_status ig_ts_op_is_floating_point(ig_ts_call *call) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    return tensor ? ig_ts_give_bool(call, 0,
                                    ig_dtype_is_float((ig_dtype)tensor->type->dtype) &&
                                        !tensor->dtype->is_complex)
                  : call->e->status;
}

ig_status ig_ts_op_is_complex(ig_ts_call *call) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    return tensor ? ig_ts_give_bool(call, 0, tensor->dtype->is_complex)
                  : call->e->status;
}

ig_status ig_ts_op_is_quantized(ig_ts_call *call) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    return tensor ? ig_ts_give_bool(call, 0, tensor->dtype->is_quantised)
                  : call->e->status;
}

ig_status ig_ts_op_is_signed(ig_ts_call *call) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    if (!tensor) {
        return call->e->status;
    }
    ig_dtype_class class = ig_dtypes[tensor->type->dtype].class;
    return ig_ts_give_bool(call, 0, class == IG_SINT || class == IG_FLOAT);
}

/* is_cuda, requires_grad and the like; variant: its value */
ig_status ig_ts_op_known_bool(ig_ts_call *call) {
    return ig_ts_give_bool(call, 0, call->row->variant != 0);
}

ig_status ig_ts_op_known_int(ig_ts_call *call) {
    return ig_ts_give_int(call, 0, call->row->variant);
}

/* Of a tensor that begins where its memory does; others are not told. */
ig_status ig_ts_op_storage_offset(ig_ts_call *call) {
    const ig_ts_tensor *tensor = ig_ts_peek(call, 0);
    bool is_whole = tensor && !tensor->alias && !tensor->storage->origin;
    for (uint32_t i = 0; is_whole && i < tensor->step_count; i++) {
        ig_opcode code = (ig_opcode)tensor->steps[i]->code;
        is_whole = code != IG_OP_slice && code != IG_OP_gather;
    }
    return is_whole ? ig_ts_give_int(call, 0, 0)
                    : ig_ts_fail(call, IG_UNSUPPORTED,
                                 "the offset of a view in its memory is not known");
}

/* ---- one element ---- */

/* variant: an ig_ts_kind; POISON: as the dtype says (item, ScalarImplicit) */
ig_status ig_ts_op_item(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0);
    if (!x) {
        return call->e->status;
    }
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    ig_ts_kind own = dtype == IG_DT_bool        ? IG_TS_BOOL
                     : ig_dtype_is_float(dtype) ? IG_TS_FLOAT
                                                : IG_TS_INT;
    ig_ts_kind kind = call->row->variant == IG_TS_POISON
                          ? own
                          : (ig_ts_kind)call->row->variant;
    if (ig_dim_equal(call->module, ig_type_count(call->module, x->type),
                     ig_dim_of(1)) == IG_NO) {
        return ig_ts_fail(call, IG_INVALID, "a tensor of more than one element");
    }
    x = ig_expr_reshape(call->e, x, 0, NULL);
    IG_TRY(call->e->status);
    return ig_ts_give_number(call, 0, kind, x);
}

/* is_nonzero, and equal(a, b) as a bool of run time */
ig_status ig_ts_op_tensors_equal(ig_ts_call *call) {
    ig_value *x = ig_aten_tensor(call, 0), *y = ig_aten_tensor(call, 1);
    if (!x || !y) {
        return call->e->status;
    }
    bool is_same = x->type->rank == y->type->rank && x->type->dtype == y->type->dtype;
    for (uint32_t i = 0; is_same && i < x->type->rank; i++) {
        ig_truth same = ig_dim_equal(call->module, ig_expr_extent(call->e, x, i),
                                     ig_expr_extent(call->e, y, i));
        if (same == IG_MAYBE) {
            return ig_ts_fail(call, IG_UNSUPPORTED,
                              "whether the extents are equal is not known");
        }
        is_same = same == IG_YES;
    }
    if (!is_same) {
        return ig_ts_give_bool(call, 0, false);
    }
    x = ig_build_eq(call->e, x, y);
    x = ig_expr_reduce(call->e, IG_REDUCE_min, x, NULL, 0, false);
    IG_TRY(call->e->status);
    return ig_ts_give_number(call, 0, IG_TS_BOOL, x);
}

/* ---- conversions ---- */

static const ig_torch_dtype_info *dtype_arg(ig_ts_call *call, uint32_t index,
                                            const ig_ts_tensor *self) {
    const ig_torch_dtype_info *dtype = self->dtype;
    if (call->e->status == IG_OK) {
        call->e->status = ig_ts_torch_dtype(call, index, self->dtype, &dtype);
    }
    return dtype;
}

/* The argument as it is where the dtype is its own, else a cast; complex numbers made
 * of real ones have 0 as imaginary part, and lose theirs on the way back. */
static ig_status convert_dtype(ig_ts_call *call, const ig_torch_dtype_info *dtype,
                               bool copies) {
    const ig_ts_tensor *tensor = peek_tensor(call);
    ig_value *x = NULL;
    IG_TRY(call->e->status);
    IG_TRY(ig_ts_tensor_raw(call, 0, &x, &tensor));
    if (tensor->dtype == dtype) {
        return copies && !dtype->is_complex && !dtype->is_quantised
                   ? ig_aten_give(call, x)
                   : ig_ts_give_arg(call, 0, 0);
    }
    if (dtype->is_quantised || tensor->dtype->is_quantised ||
        dtype->ir == IG_DT_COUNT) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "conversion from %s to %s",
                          tensor->dtype->name, dtype->name);
    }
    if (tensor->dtype->is_complex && !dtype->is_complex) {
        x = ig_expr_select(call->e, x, x->type->rank - 1, ig_dim_of(0));
    }
    ig_value *value = ig_aten_cast(call, x, dtype->ir);
    if (!dtype->is_complex) {
        return ig_aten_give(call, value);
    }
    if (!tensor->dtype->is_complex && value) {
        value = ig_expr_unsqueeze(call->e, value, value->type->rank);
        ig_value *zero = value ? ig_expr_fill(call->e, dtype->ir, value->type->rank,
                                              value->type->dims, 0)
                               : NULL;
        value = zero ? ig_expr_concat(call->e, value->type->rank - 1,
                                      (ig_value *[]){ value, zero }, 2)
                     : NULL;
    }
    IG_TRY(call->e->status);
    return ig_ts_give_complex(call, 0, value, dtype);
}

/* Does the call ask for a copy, or for another order in memory? */
static bool needs_copy(ig_ts_call *call, const ig_ts_tensor *self) {
    const ig_ts_value *copy = ig_ts_known_named(call, "copy");
    const ig_ts_value *format = ig_ts_known_named(call, "memory_format");
    const ig_ts_order *order;
    if (copy && copy->kind == IG_TS_BOOL && copy->as.b) {
        return true;
    }
    return format && format->kind == IG_TS_INT &&
           ig_ts_order_of_format(call->eval, format->as.i, self->type->rank, &order) &&
           ig_ts_lies_in_order(call->eval, self, order, NULL, NULL) != IG_YES;
}

/* to and its kin; variant: IG_ATEN_TO_*; without a dtype argument: itself */
ig_status ig_ts_op_to(ig_ts_call *call) {
    const ig_ts_tensor *self = peek_tensor(call);
    uint32_t at = (uint32_t)call->row->variant & IG_ATEN_TO_DTYPE;
    if (!self) {
        return call->e->status;
    }
    bool copies = (call->row->variant & IG_ATEN_TO_COPIES) != 0 ||
                  needs_copy(call, self);
    if (call->row->variant & IG_ATEN_TO_OTHER) {
        const ig_ts_tensor *other = ig_ts_peek(call, at);
        return other ? convert_dtype(call, other->dtype, copies)
                     : ig_ts_fail(call, IG_INVALID, "argument %u is not a tensor", at);
    }
    const ig_torch_dtype_info *dtype = at ? dtype_arg(call, at, self) : self->dtype;
    IG_TRY(call->e->status);
    return convert_dtype(call, dtype, copies);
}

/* float(), half() …; variant: torch's dtype code */
ig_status ig_ts_op_to_fixed(ig_ts_call *call) {
    return convert_dtype(call, ig_torch_dtype_of_code(call->row->variant), false);
}

/* clone: storage of its own */
ig_status ig_ts_op_clone(ig_ts_call *call) {
    ig_value *x = NULL;
    const ig_ts_tensor *tensor = NULL;
    IG_TRY(ig_ts_tensor_raw(call, 0, &x, &tensor));
    if (tensor->dtype->is_complex) {
        return ig_ts_give_complex(call, 0, x, tensor->dtype);
    }
    if (tensor->quant) {
        return ig_ts_give_quantised(call, 0, x, tensor->dtype, tensor->quant);
    }
    return ig_ts_give(call, 0, x);
}

/* promote_types(a, b): torch.export writes it for tensors made of extents */
ig_status ig_ts_op_promote_types(ig_ts_call *call) {
    const ig_torch_dtype_info *dtypes[2] = { NULL, NULL };
    for (uint32_t i = 0; i < 2; i++) {
        IG_TRY(ig_ts_torch_dtype(call, i, NULL, &dtypes[i]));
        if (!dtypes[i] || dtypes[i]->is_quantised) {
            return ig_ts_fail(call, IG_INVALID, "promotes what is no dtype of numbers");
        }
    }
    return ig_ts_give_int(call, 0, ig_ts_promote_dtypes(dtypes[0], dtypes[1])->code);
}

/* result_type(a, b) */
ig_status ig_ts_op_result_type(ig_ts_call *call) {
    const ig_torch_dtype_info *dtype = NULL;
    IG_TRY(ig_ts_result_torch_type(call, (const uint32_t[]){ 0, 1 }, 2, &dtype));
    return ig_ts_give_int(call, 0, dtype->code);
}
