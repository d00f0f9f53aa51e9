/* Constants, symbols and joined types.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/import/import.h"

#include "ir/tensor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Constants of this size stand in the graph as they are. */
enum { INLINE_BYTES = 1024 };

ig_status ig_onnx_fail(const ig_onnx_node *node, ig_status status, const char *format,
                       ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    ig_expr_fail(node->e, status, "%s", text);
    return node->e->status;
}

/* ---- ops ---- */

ig_status ig_onnx_build(const ig_onnx_node *node, ig_opcode code, uint32_t count,
                        ig_value *const *operands, const ig_attr *attrs,
                        ig_value **out_value) {
    ig_op_spec spec = { .operands = operands, .operand_count = count, .attrs = attrs };
    ig_op *op = NULL;
    IG_TRY(ig_build(node->builder, code, &spec, &op));
    *out_value = ig_op_result(op, 0);
    return IG_OK;
}

ig_status ig_onnx_build1(const ig_onnx_node *node, ig_opcode code, ig_value *x,
                         ig_value **out_value) {
    return ig_onnx_build(node, code, 1, &x, NULL, out_value);
}

ig_status ig_onnx_build2(const ig_onnx_node *node, ig_opcode code, ig_value *x,
                         ig_value *y, ig_value **out_value) {
    ig_expr_guard_broadcast(node->e, x, y);
    return ig_onnx_build(node, code, 2, (ig_value *[]){ x, y }, NULL, out_value);
}

ig_value *ig_onnx_scalar(const ig_onnx_node *node, ig_dtype dtype, double value) {
    int64_t room = 0;
    ig_tensor tensor = { .kind = IG_TENSOR, .dtype = dtype, .count = 1, .data = &room };
    ig_tensor_set_f64(&tensor, 0, value);
    const ig_type *type = ig_type_tensor(node->import->module, dtype, 0, NULL);
    return ig_make_const(node->builder, type, &room);
}

ig_status ig_onnx_build_scalar(const ig_onnx_node *node, ig_opcode code, ig_value *x,
                               double scalar, ig_value **out_value) {
    ig_value *y = ig_onnx_scalar(node, (ig_dtype)x->type->dtype, scalar);
    return ig_onnx_build(node, code, 2, (ig_value *[]){ x, y }, NULL, out_value);
}

ig_status ig_onnx_reshape(const ig_onnx_node *node, ig_value *x, uint32_t rank,
                          const ig_dim *dims, ig_value **out_value) {
    ig_module *module = node->import->module;
    ig_dim before = ig_type_count(module, x->type);
    ig_dim after = ig_dim_product(module, dims, rank);
    if (ig_dim_equal(module, before, after) == IG_MAYBE) {
        const char *text = ig_arena_printf(
            node->import->arena,
            "%s: the input has not as many elements as the new shape",
            ig_onnx_node_label(node->import, node->proto, node->where.number - 1));
        ig_make_guard_equal(node->builder, before, after, text);
    }
    ig_attr attrs[IG_reshape_attr_count] = { [IG_reshape_to] =
                                                 ig_attr_of_dims(module, dims, rank) };
    return ig_onnx_build(node, IG_OP_reshape, 1, &x, attrs, out_value);
}

ig_status ig_onnx_slice(const ig_onnx_node *node, ig_value *x, uint32_t axis,
                        ig_dim start, ig_dim size, ig_value **out_value) {
    ig_module *module = node->import->module;
    ig_dim starts[IG_TENSOR_RANK] = { 0 }, sizes[IG_TENSOR_RANK];
    memcpy(sizes, x->type->dims, x->type->rank * sizeof(*sizes));
    starts[axis] = start;
    sizes[axis] = size;
    ig_attr attrs[IG_slice_attr_count] = {
        [IG_slice_starts] = ig_attr_of_dims(module, starts, x->type->rank),
        [IG_slice_sizes] = ig_attr_of_dims(module, sizes, x->type->rank),
    };
    return ig_onnx_build(node, IG_OP_slice, 1, &x, attrs, out_value);
}

/* ---- checks ---- */

ig_status ig_onnx_tensor(const ig_onnx_node *node, uint32_t index) {
    const ig_value *x = ig_onnx_in(node, index);
    if (!x) {
        return ig_onnx_fail(node, IG_INVALID, "lacks input %u", index);
    }
    if (x->type->kind != IG_TENSOR) {
        return ig_onnx_fail(node, IG_INVALID,
                            "input %u is a sequence, expected a tensor", index);
    }
    return IG_OK;
}

ig_status ig_onnx_float_tensor(const ig_onnx_node *node, uint32_t index) {
    IG_TRY(ig_onnx_tensor(node, index));
    ig_dtype dtype = (ig_dtype)ig_onnx_in(node, index)->type->dtype;
    if (!ig_dtype_is_float(dtype)) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "input %u has elements of type %s, expected floating-point ones", index,
            ig_dtypes[dtype].name);
    }
    return IG_OK;
}

ig_status ig_onnx_axis(const ig_onnx_node *node, int64_t axis, uint32_t rank,
                       uint32_t *out_axis) {
    if (axis < -(int64_t)rank || axis >= (int64_t)rank) {
        return ig_onnx_fail(node, IG_INVALID,
                            "axis %lld is outside of a tensor of rank %u",
                            (long long)axis, rank);
    }
    *out_axis = (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis);
    return IG_OK;
}

/* ---- constants ---- */

ig_value *ig_onnx_constant(ig_onnx_import *import, ig_builder *builder,
                           const char *name, const ig_data *data) {
    if (data->type->rank <= 1 && data->size <= INLINE_BYTES && !data->is_splat) {
        return ig_make_const(builder, data->type, data->bytes);
    }
    return ig_make_weight(builder, ig_module_add_weight(import->module, name, data));
}

/* ---- symbols ---- */

/* An identifier made of a name: other characters than letters, digits and _ become
 * _. */
static const char *identifier_of(ig_arena *arena, const char *name) {
    enum { LONGEST = 32 };
    char text[LONGEST + 1];
    size_t size = 0;
    for (; *name && size < LONGEST; name++) {
        char c = *name;
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool is_digit = c >= '0' && c <= '9';
        if (is_letter || (is_digit && size > 0)) {
            text[size++] = c;
        } else if (size > 0 && text[size - 1] != '_') {
            text[size++] = '_';
        }
    }
    while (size > 0 && text[size - 1] == '_') {
        size--;
    }
    return size ? ig_arena_copy(arena, text, size) : "n";
}

ig_dim ig_onnx_symbol(ig_onnx_import *import, const char *name, const char *origin) {
    ig_dim dim = ig_dim_symbol(import->module, identifier_of(import->arena, name));
    ig_symbol *symbol = ig_dim_as_symbol(import->module, dim);
    symbol->origin = ig_module_string(import->module, ig_str_of(origin));
    return dim;
}

ig_status ig_onnx_join_types(const ig_onnx_node *node, const char *what,
                             const ig_type *a, const ig_type *b,
                             const ig_type **out_type) {
    ig_module *module = node->import->module;
    *out_type = a;
    if (a == b) {
        return IG_OK;
    }
    if (a->kind != b->kind || (a->kind == IG_TENSOR && a->dtype != b->dtype)) {
        return ig_onnx_fail(
            node, IG_INVALID,
            "output '%s' has one type in one branch and another in the other", what);
    }
    if (a->kind != IG_TENSOR) {
        const ig_type *element;
        IG_TRY(ig_onnx_join_types(node, what, a->element, b->element, &element));
        *out_type = ig_type_host(module, (ig_kind)a->kind, element);
        return IG_OK;
    }
    if (a->rank != b->rank) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "output '%s' has rank %u in one branch and %u in the other",
                            what, a->rank, b->rank);
    }
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < a->rank; i++) {
        dims[i] = a->dims[i];
        if (ig_dim_equal(module, a->dims[i], b->dims[i]) != IG_YES) {
            const char *name = ig_arena_printf(node->import->arena, "%s_d%u", what, i);
            dims[i] = ig_onnx_symbol(node->import, name,
                                     "an extent in which two branches differ");
        }
    }
    *out_type = ig_type_with_dims(module, a, a->rank, dims);
    return IG_OK;
}
