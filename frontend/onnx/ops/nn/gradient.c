/* Gradient (ai.onnx.preview.training): of y by xs, where inputs replace xs and zs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * xs, zs and y are names of the graph that the node is in.  Whoever imports says how
 * gradients are built. */
#include "frontend/onnx/ops/hooks.h"

static ig_value *find_value(ig_onnx_node *node, const char *role, const char *name) {
    const ig_onnx_name *found = ig_onnx_find(node->scope, name);
    if (!found || !found->value) {
        ig_onnx_fail(node, IG_INVALID,
                     "its %s '%s' is not a value that is computed before", role, name);
        return NULL;
    }
    return found->value;
}

/* The values that the attribute's texts name, after `count` others. */
static uint32_t find_values(ig_onnx_node *node, const char *role, ig_value **out,
                            uint32_t count) {
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, role, NULL);
    for (size_t i = 0; attr && i < attr->n_strings; i++, count++) {
        if (count < node->input_count) {
            ig_str text = { (const char *)attr->strings[i].data, attr->strings[i].len };
            const char *name = ig_arena_printf(node->import->arena, "%.*s",
                                               IG_STR_ARG(text));
            out[count] = find_value(node, role, name);
        }
    }
    return count;
}

static bool are_alike(ig_onnx_node *node, ig_value *const *xs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const ig_value *point = node->inputs[i];
        if (!xs[i] || !point) {
            return false;
        }
        bool is_alike = point->type->dtype == xs[i]->type->dtype &&
                        point->type->rank == xs[i]->type->rank;
        if (!is_alike) {
            ig_onnx_fail(node, IG_INVALID,
                         "input %u is not of the type of the value that it replaces",
                         i);
            return false;
        }
        for (uint32_t d = 0; d < point->type->rank; d++) {
            ig_expr_guard_equal(
                node->e, point->type->dims[d], xs[i]->type->dims[d],
                "an input of the gradient must have the extents of its value");
        }
    }
    return true;
}

static bool stands_here(const ig_onnx_node *node, const ig_value *y) {
    return y->def ? y->def->block == node->builder->block
                  : y->block == node->builder->block;
}

ig_status ig_onnx_import_gradient(ig_onnx_node *node) {
    const ig_onnx_options *options = node->import->options;
    uint32_t room = node->input_count;
    ig_value **xs = IG_NEW_ARRAY(node->import->arena, ig_value *, room);
    ig_str y_name = ig_onnx_attr_str(node, "y", "");
    uint32_t wanted = find_values(node, "xs", xs, 0);
    uint32_t count = find_values(node, "zs", xs, wanted);
    ig_value *y = find_value(
        node, "y", ig_arena_printf(node->import->arena, "%.*s", IG_STR_ARG(y_name)));
    if (count != room || wanted != node->output_count) {
        return ig_onnx_fail(node, IG_INVALID,
                            "it has %u inputs and %u outputs for %u xs and %u zs", room,
                            node->output_count, wanted, count - wanted);
    }
    if (!y || !are_alike(node, xs, count) || node->e->status != IG_OK) {
        return node->e->status;
    }
    if (!ig_expr_is_float(y) || y->type->kind != IG_TENSOR || !stands_here(node, y) ||
        !options || !options->gradients) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "its y is not of floats, or not of the graph it is in");
    }
    ig_gradient_at what = { y, xs, node->inputs, count, wanted };
    ig_status status = options->gradients(node->builder, &what, node->outputs);
    return ig_expr_note(node->e, status) ? IG_OK : status;
}
