/* The arguments of a node: inputs, attributes and axes; failures stick.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/import/args.h"

#include "ir/tensor/tensor.h"
#include "ir/build/extent.h"

#include <assert.h>
#include <string.h>

bool ig_onnx_has_failed(const ig_onnx_node *node) {
    return node->e->status != IG_OK;
}

/* ---- inputs ---- */

/* An input that was checked before: the row requires it, or the caller has seen it. */
static ig_value *require_input(const ig_onnx_node *node, uint32_t index) {
    assert(index < node->input_count && node->inputs[index] && "the input is absent");
    assert(node->inputs[index]->type->kind == IG_TENSOR && "the input is a sequence");
    return node->inputs[index];
}

ig_value *ig_onnx_in(const ig_onnx_node *node, uint32_t index) {
    assert((!node->row || ig_onnx_row_has_input(node->row, index)) &&
           "no version of the operator has such an input");
    return index < node->input_count ? node->inputs[index] : NULL;
}

bool ig_onnx_needs_input(const ig_onnx_node *node, uint32_t index) {
    if (!ig_onnx_in(node, index) && !ig_onnx_has_failed(node)) {
        ig_onnx_fail(node, IG_INVALID, "lacks input %u, which is required", index);
    }
    return !ig_onnx_has_failed(node);
}

ig_dim ig_onnx_extent_of(ig_expr *e, const ig_type *type, uint32_t axis) {
    return ig_expr_extent_of(e, type, axis);
}

ig_dim ig_onnx_extent(ig_expr *e, const ig_value *x, uint32_t axis) {
    return ig_expr_extent(e, x, axis);
}

ig_value *ig_onnx_float_input(const ig_onnx_node *node, uint32_t index) {
    ig_value *x = require_input(node, index);
    if (!ig_expr_is_float(x)) {
        ig_onnx_fail(node, IG_INVALID,
                     "input %u has elements of type %s, expected floating-point ones",
                     index, ig_dtypes[x->type->dtype].name);
    }
    return x;
}

ig_value *ig_onnx_ranked_input(const ig_onnx_node *node, uint32_t index,
                               uint32_t rank) {
    ig_value *x = require_input(node, index);
    if (x->type->rank != rank) {
        ig_onnx_fail(node, IG_INVALID, "input %u has rank %u, expected %u", index,
                     x->type->rank, rank);
    }
    return x;
}

ig_value *ig_onnx_list_input(const ig_onnx_node *node, uint32_t index, ig_dim count,
                             const char *what) {
    ig_value *list = ig_onnx_ranked_input(node, index, 1);
    if (ig_onnx_has_failed(node)) {
        return NULL;
    }
    ig_expr_guard_equal(node->e, list->type->dims[0], count, what);
    return list;
}

ig_value *ig_onnx_scalar_input(const ig_onnx_node *node, uint32_t index) {
    return ig_expr_reshape(node->e, require_input(node, index), 0, NULL);
}

ig_value *ig_onnx_index_among(const ig_onnx_node *node, ig_value *index, ig_dim count) {
    return ig_expr_gather(node->e, ig_expr_iota(node->e, IG_DT_i64, count),
                          ig_expr_cast(node->e, index, IG_DT_i64), 0,
                          IG_NEGATIVE_error);
}

ig_value *ig_onnx_count_input(const ig_onnx_node *node, uint32_t index) {
    return ig_expr_cast(node->e, ig_onnx_scalar_input(node, index), IG_DT_i64);
}

bool ig_onnx_dims(const ig_onnx_node *node, uint32_t index, ig_dims_value *out) {
    const ig_value *value = ig_onnx_in(node, index);
    return value && value->type->kind == IG_TENSOR && ig_value_dims(value, out);
}

bool ig_onnx_shape(const ig_onnx_node *node, uint32_t index, ig_dims_value *out) {
    return ig_onnx_dims(node, index, out) && out->rank == 1;
}

bool ig_onnx_is_known(const ig_onnx_node *node, uint32_t index) {
    ig_dims_value value;
    return ig_constant_of(ig_onnx_in(node, index)) || ig_onnx_dims(node, index, &value);
}

/* ---- integers known at import ---- */

/* A constant of any length, read element by element. */
static bool read_constant(const ig_onnx_node *node, const ig_value *value,
                          ig_ints *out) {
    const ig_data *data = ig_constant_of(value);
    if (!data || !data->bytes || data->is_splat || data->type->rank > 1) {
        return false;
    }
    int64_t count = data->type->rank ? ig_dim_value(data->type->dims[0]) : 1;
    if (count > UINT16_MAX) {
        return false;
    }
    ig_tensor tensor = { .kind = IG_TENSOR,
                         .dtype = (ig_dtype)data->type->dtype,
                         .count = count,
                         .data = (void *)(uintptr_t)data->bytes };
    int64_t *ints = IG_NEW_ARRAY(node->import->arena, int64_t, (size_t)count + 1);
    for (int64_t i = 0; i < count; i++) {
        ints[i] = ig_tensor_get_i64(&tensor, i);
    }
    *out = (ig_ints){ ints, (uint32_t)count };
    return true;
}

/* Shape arithmetic that comes to integers. */
static bool read_known(const ig_onnx_node *node, uint32_t index, ig_ints *out) {
    ig_dims_value known;
    if (!ig_onnx_dims(node, index, &known)) {
        return false;
    }
    int64_t *ints = IG_NEW_ARRAY(node->import->arena, int64_t, known.count + 1u);
    for (uint32_t i = 0; i < known.count; i++) {
        if (!ig_dim_constant(node->import->module, known.dims[i], &ints[i])) {
            return false;
        }
    }
    *out = (ig_ints){ ints, known.count };
    return true;
}

ig_ints ig_onnx_list(const ig_onnx_node *node, const char *attr, uint32_t index) {
    ig_ints list = { 0 };
    if (ig_onnx_row_has_attr(node->row, attr)) {
        list = ig_onnx_attr_list(node, attr);
    }
    const ig_value *value = ig_onnx_in(node, index);
    if (list.items || !value) {
        return list;
    }
    if (!ig_dtype_is_int((ig_dtype)value->type->dtype)) {
        ig_onnx_fail(node, IG_INVALID,
                     "input %u, %s, has elements of type %s, expected integers", index,
                     attr, ig_dtypes[value->type->dtype].name);
    } else if (!read_constant(node, value, &list) && !read_known(node, index, &list)) {
        ig_onnx_fail(
            node, IG_UNSUPPORTED,
            "input %u, %s, is computed from data; only constants are supported", index,
            attr);
    }
    return list;
}

bool ig_onnx_declared_rank(const ig_onnx_node *node, uint32_t index,
                           uint32_t *out_rank) {
    const ig_onnx_scope *scope = node->scope;
    const Onnx__GraphProto *graph = node->import->model->proto->graph;
    if (scope->outer || scope->call || index >= node->proto->n_output) {
        return false;
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        const Onnx__ValueInfoProto *output = graph->output[i];
        const Onnx__TypeProto *type = output->type;
        bool is_tensor = type &&
                         type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
        bool is_it = is_tensor && type->tensor_type->shape && output->name &&
                     strcmp(output->name, node->proto->output[index]) == 0;
        if (is_it && type->tensor_type->shape->n_dim <= IG_TENSOR_RANK) {
            *out_rank = (uint32_t)type->tensor_type->shape->n_dim;
            return true;
        }
    }
    return false;
}

/* ---- attributes ---- */

int64_t ig_onnx_attr_between(const ig_onnx_node *node, const char *name, int64_t absent,
                             int64_t min, int64_t max) {
    int64_t value = ig_onnx_attr_int(node, name, absent);
    if (value < min || value > max) {
        ig_onnx_fail(node, IG_INVALID, "%s is %lld, expected %lld to %lld", name,
                     (long long)value, (long long)min, (long long)max);
        return min;
    }
    return value;
}

bool ig_onnx_attr_bool(const ig_onnx_node *node, const char *name, bool absent) {
    return ig_onnx_attr_int(node, name, absent) != 0;
}

uint32_t ig_onnx_attr_choice(const ig_onnx_node *node, const char *name,
                             const char *names) {
    uint32_t index = 0;
    size_t first = strcspn(names, " ");
    const char *absent = ig_arena_copy(node->import->arena, names, first);
    ig_str text = ig_onnx_attr_str(node, name, absent);
    for (const char *at = names; *at; index++) {
        ig_str one = { at, strcspn(at, " ") };
        if (ig_str_equal(one, text)) {
            return index;
        }
        at += one.size + (at[one.size] == ' ');
    }
    ig_onnx_fail(node, IG_INVALID, "%s is '%.*s', expected one of: %s", name,
                 IG_STR_ARG(text), names);
    return 0;
}

ig_dtype ig_onnx_attr_dtype(const ig_onnx_node *node, const char *name,
                            ig_dtype absent) {
    ig_dtype dtype = absent;
    int64_t code = ig_onnx_attr_int(node, name, 0);
    if (code == 0 && absent != IG_DT_COUNT) {
        return absent;
    }
    if (!ig_dtype_from_onnx(code, &dtype)) {
        dtype = IG_DT_f32;
        const char *type = ig_onnx_dtype_name(code);
        if (type) {
            ig_onnx_fail(node, IG_UNSUPPORTED, "%s is %s, which is not supported yet",
                         name, type);
        } else {
            ig_onnx_fail(node, IG_INVALID, "%s is %lld, which is not an element type",
                         name, (long long)code);
        }
    }
    return dtype;
}

ig_ints ig_onnx_attr_list(const ig_onnx_node *node, const char *name) {
    uint32_t count;
    const int64_t *items = ig_onnx_attr_ints(node, name, &count);
    return (ig_ints){ items, count };
}

ig_ints ig_onnx_attr_list_of(const ig_onnx_node *node, const char *name,
                             uint32_t count) {
    ig_ints list = ig_onnx_attr_list(node, name);
    if (list.items && list.count != count) {
        ig_onnx_fail(node, IG_INVALID, "%s has %u entries, expected %u", name,
                     list.count, count);
        return (ig_ints){ 0 };
    }
    return list;
}

/* ---- axes ---- */

uint32_t ig_onnx_axis_of(const ig_onnx_node *node, int64_t axis, uint32_t rank) {
    if (axis < -(int64_t)rank || axis >= (int64_t)rank) {
        ig_onnx_fail(node, IG_INVALID, "axis %lld is outside of a tensor of rank %u",
                     (long long)axis, rank);
        return 0;
    }
    return (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis);
}

uint32_t ig_onnx_axis_attr(const ig_onnx_node *node, const char *name, int64_t absent,
                           uint32_t rank) {
    return ig_onnx_axis_of(node, ig_onnx_attr_int(node, name, absent), rank);
}

ig_ints ig_onnx_axes(const ig_onnx_node *node, const char *attr, uint32_t index,
                     uint32_t rank) {
    bool is_seen[IG_TENSOR_RANK] = { false };
    ig_ints list = ig_onnx_list(node, attr, index);
    int64_t *axes = IG_NEW_ARRAY(node->import->arena, int64_t, list.count + 1u);
    for (uint32_t i = 0; i < list.count && !ig_onnx_has_failed(node); i++) {
        uint32_t axis = ig_onnx_axis_of(node, list.items[i], rank);
        if (is_seen[axis]) {
            ig_onnx_fail(node, IG_INVALID, "axis %u is given twice", axis);
        }
        is_seen[axis] = true;
        axes[i] = axis;
    }
    bool is_usable = list.items && !ig_onnx_has_failed(node);
    return is_usable ? (ig_ints){ axes, list.count } : (ig_ints){ 0 };
}

/* ---- guards ---- */

void ig_onnx_guard_extents(const ig_onnx_node *node, uint32_t i, uint32_t a, uint32_t k,
                           uint32_t b) {
    const ig_type *x = require_input(node, i)->type, *y = require_input(node, k)->type;
    if (a >= x->rank || b >= y->rank) {
        ig_onnx_fail(node, IG_INVALID, "input %u of rank %u has no axis %u",
                     a >= x->rank ? i : k, a >= x->rank ? x->rank : y->rank,
                     a >= x->rank ? a : b);
        return;
    }
    const char *what = ig_arena_printf(
        node->import->arena, "dim %u of input %u and dim %u of input %u must be equal",
        a, i, b, k);
    ig_expr_guard_equal(node->e, x->dims[a], y->dims[b], what);
}

/* ---- ends ---- */

ig_status ig_onnx_give(ig_onnx_node *node, ig_value *value) {
    assert(node->output_count > 0 && "the row requires an output");
    node->outputs[0] = value;
    if (!value && !ig_onnx_has_failed(node)) {
        ig_onnx_fail(node, IG_UNSUPPORTED, "is not supported for arguments like these");
    }
    return node->e->status;
}

ig_status ig_onnx_give_results(ig_onnx_node *node, ig_value *first) {
    assert(node->output_count <= node->row->max_out && "the row has as many outputs");
    for (uint32_t i = 0; first && i < node->output_count; i++) {
        node->outputs[i] = ig_op_result(first->def, i);
    }
    return node->e->status;
}
