/* Shape arithmetic on expressions: where small integer tensors come from and how they
 * are cut and joined.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A value has rank 0 or 1, so moving elements is index arithmetic on one list.
 */
#include "ir/semantics/constant.h"
#include "ir/hooks.h"
#include "ir/infer/infer.h"
#include "ir/infer/slice.h"

#include <string.h>

enum { MAX = IG_COUNT_OF(((ig_dims_value *)0)->dims) };

static const ig_type *type_of(const ig_op *op, uint32_t operand) {
    return op->operands[operand].value->type;
}

static bool constant_at(const ig_op *op, const ig_dims_value *value, uint32_t i,
                        int64_t *out) {
    return value && i < value->count &&
           ig_dim_constant(ig_op_module(op), value->dims[i], out);
}

/* ---- constants ---- */

/* u64 beyond int64 and payloads that are not there are not known. */
static bool dims_of_data(ig_module *module, const ig_data *data, ig_dims_value *out) {
    const ig_type *type = data->type;
    bool is_whole = ig_dtypes[type->dtype].class != IG_FLOAT &&
                    type->dtype != IG_DT_str;
    if (type->kind != IG_TENSOR || type->rank > 1 || !is_whole || !data->bytes) {
        return false;
    }
    out->rank = type->rank;
    int64_t count = 1;
    if (type->rank && (!ig_dim_known(type->dims[0], &count) || count > MAX)) {
        return false;
    }
    out->count = (uint32_t)count;
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = (ig_dtype)type->dtype,
                         .count = count };
    tensor.data = (void *)(uintptr_t)data->bytes; /* only read */
    for (uint32_t i = 0; i < out->count; i++) {
        int64_t value = ig_tensor_get_i64(&tensor, data->is_splat ? 0 : i);
        if (type->dtype == IG_DT_u64 && value < 0) {
            return false;
        }
        out->dims[i] = ig_dim_const(module, value);
    }
    return true;
}

bool ig_dims_const(const ig_op *op, const ig_dims_value *const *in,
                   ig_dims_value *out) {
    (void)in;
    return dims_of_data(ig_op_module(op), op->attrs[IG_const_value].as.data, out);
}

bool ig_dims_weight(const ig_op *op, const ig_dims_value *const *in,
                    ig_dims_value *out) {
    (void)in;
    const ig_data *data = ig_constant_of(&op->results[0]);
    return data && dims_of_data(ig_op_module(op), data, out);
}

bool ig_dims_dims(const ig_op *op, const ig_dims_value *const *in, ig_dims_value *out) {
    (void)in;
    const ig_attr *values = &op->attrs[IG_dims_values];
    if (values->count > MAX) {
        return false;
    }
    out->rank = ig_attr_int(op, IG_dims_scalar, 0) ? 0 : 1;
    out->count = values->count;
    memcpy(out->dims, values->as.dims, values->count * sizeof *out->dims);
    return true;
}

/* ---- from types ---- */

bool ig_dims_shape(const ig_op *op, const ig_dims_value *const *in,
                   ig_dims_value *out) {
    (void)in;
    const ig_type *type = type_of(op, 0);
    if (type->kind != IG_TENSOR || type->rank > MAX) {
        return false;
    }
    out->rank = 1;
    out->count = type->rank;
    memcpy(out->dims, type->dims, type->rank * sizeof *out->dims);
    return true;
}

bool ig_dims_size(const ig_op *op, const ig_dims_value *const *in, ig_dims_value *out) {
    (void)in;
    if (type_of(op, 0)->kind != IG_TENSOR) {
        return false;
    }
    out->rank = 0;
    out->count = 1;
    out->dims[0] = ig_type_count(ig_op_module(op), type_of(op, 0));
    return true;
}

/* ---- cutting and joining ---- */

/* The result has the same elements; its type says whether it is a scalar or a list. */
bool ig_dims_reshape(const ig_op *op, const ig_dims_value *const *in,
                     ig_dims_value *out) {
    const ig_type *type = op->results[0].type;
    if (!in[0] || !type || type->rank > 1) {
        return false;
    }
    *out = *in[0];
    out->rank = type->rank;
    return true;
}

bool ig_dims_expand(const ig_op *op, const ig_dims_value *const *in,
                    ig_dims_value *out) {
    const ig_type *type = op->results[0].type;
    if (!in[0] || !type || type->rank > 1) {
        return false;
    }
    int64_t count = 1;
    if (type->rank && (!ig_dim_known(type->dims[0], &count) || count > MAX)) {
        return false;
    }
    if (in[0]->count != 1 && in[0]->count != count) {
        return false;
    }
    out->rank = type->rank;
    out->count = (uint32_t)count;
    for (uint32_t i = 0; i < out->count; i++) {
        out->dims[i] = in[0]->dims[in[0]->count == 1 ? 0 : i];
    }
    return true;
}

bool ig_dims_concat(const ig_op *op, const ig_dims_value *const *in,
                    ig_dims_value *out) {
    out->rank = 1;
    out->count = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!in[i] || in[i]->count > MAX - out->count) {
            return false;
        }
        memcpy(&out->dims[out->count], in[i]->dims, in[i]->count * sizeof *out->dims);
        out->count += in[i]->count;
    }
    return true;
}

/* Start, step and size of the slice of a list, in either form. */
static bool read_slice(const ig_op *op, const ig_dims_value *const *in, int64_t *start,
                       int64_t *step, int64_t *size) {
    ig_module *module = ig_op_module(op);
    *step = 1;
    if (ig_attr_is_set(op, IG_slice_sizes)) {
        if (ig_attr_is_set(op, IG_slice_steps)) {
            *step = op->attrs[IG_slice_steps].as.ints[0];
        }
        return ig_dim_constant(module, op->attrs[IG_slice_starts].as.dims[0], start) &&
               ig_dim_constant(module, op->attrs[IG_slice_sizes].as.dims[0], size);
    }
    ig_dim first, count;
    if (op->operand_count < 3 || !in[1] || !in[2] || in[1]->count != 1 ||
        in[2]->count != 1 ||
        (op->operand_count > 4 && !constant_at(op, in[4], 0, step)) || *step == 0) {
        return false;
    }
    ig_slice_ends ends = { in[1]->dims[0], in[2]->dims[0], *step };
    return ig_slice_extent(module, &ends, ig_dim_of(in[0]->count), &first, &count) &&
           ig_dim_constant(module, first, start) &&
           ig_dim_constant(module, count, size);
}

bool ig_dims_slice(const ig_op *op, const ig_dims_value *const *in,
                   ig_dims_value *out) {
    int64_t start, step, size;
    if (!in[0] || in[0]->rank != 1 || !read_slice(op, in, &start, &step, &size)) {
        return false;
    }
    if (size < 0 || size > in[0]->count) {
        return false;
    }
    out->rank = 1;
    out->count = (uint32_t)size;
    for (uint32_t i = 0; i < out->count; i++) {
        int64_t at = start + i * step;
        if (at < 0 || at >= in[0]->count) {
            return false;
        }
        out->dims[i] = in[0]->dims[at];
    }
    return true;
}

bool ig_dims_gather(const ig_op *op, const ig_dims_value *const *in,
                    ig_dims_value *out) {
    if (!in[0] || in[0]->rank != 1 || !in[1]) {
        return false;
    }
    bool may_wrap = ig_attr_int(op, IG_gather_negative, IG_NEGATIVE_wrap) ==
                    IG_NEGATIVE_wrap;
    out->rank = in[1]->rank;
    out->count = in[1]->count;
    for (uint32_t i = 0; i < out->count; i++) {
        int64_t at;
        if (!constant_at(op, in[1], i, &at)) {
            return false;
        }
        at += at < 0 && may_wrap ? in[0]->count : 0;
        if (at < 0 || at >= in[0]->count) {
            return false;
        }
        out->dims[i] = in[0]->dims[at];
    }
    return true;
}

bool ig_dims_range(const ig_op *op, const ig_dims_value *const *in,
                   ig_dims_value *out) {
    const ig_type *type = op->results[0].type;
    int64_t count;
    if (!in[0] || !in[2] || !type || in[0]->count != 1 || in[2]->count != 1 ||
        !ig_dim_known(type->dims[0], &count) || count > MAX) {
        return false;
    }
    ig_module *module = ig_op_module(op);
    out->rank = 1;
    out->count = (uint32_t)count;
    for (uint32_t i = 0; i < out->count; i++) {
        ig_dim walked;
        if (!ig_dims_join_mul(module, ig_dim_of(i), in[2]->dims[0], &walked) ||
            !ig_dims_join_add(module, in[0]->dims[0], walked, &out->dims[i])) {
            return false;
        }
    }
    return true;
}

/* ---- reductions of a list ---- */

typedef bool (*join_fn)(ig_module *module, ig_dim a, ig_dim b, ig_dim *out);

/* Sum and product have an identity; max and min of nothing are not known. */
static const struct reduction {
    join_fn join;
    int64_t identity;
    bool has_identity;
} reductions[] = {
    [IG_REDUCE_sum] = { ig_dims_join_add, 0, true },
    [IG_REDUCE_prod] = { ig_dims_join_mul, 1, true },
    [IG_REDUCE_max] = { ig_dims_join_max, 0, false },
    [IG_REDUCE_min] = { ig_dims_join_min, 0, false },
    [IG_REDUCE_logsumexp] = { NULL, 0, false },
};

/* Over all of a list, or over nothing of a scalar. */
bool ig_dims_reduce(const ig_op *op, const ig_dims_value *const *in,
                    ig_dims_value *out) {
    int64_t kind = ig_attr_int(op, IG_reduce_op, IG_REDUCE_sum);
    const ig_type *type = op->results[0].type;
    if (!in[0] || !type || kind < 0 || kind >= (int64_t)IG_COUNT_OF(reductions) ||
        !reductions[kind].join ||
        (in[0]->count == 0 && !reductions[kind].has_identity)) {
        return false;
    }
    bool is_whole = in[0]->rank == 0 || type->rank == 0 || ig_dim_is(type->dims[0], 1);
    if (!is_whole || type->rank > 1) {
        return false;
    }
    ig_module *module = ig_op_module(op);
    ig_dim total = in[0]->count ? in[0]->dims[0]
                                : ig_dim_const(module, reductions[kind].identity);
    for (uint32_t i = 1; i < in[0]->count; i++) {
        if (!reductions[kind].join(module, total, in[0]->dims[i], &total)) {
            return false;
        }
    }
    out->rank = type->rank;
    out->count = 1;
    out->dims[0] = total;
    return true;
}
