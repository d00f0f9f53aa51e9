/* Operators that the user gives as graphs (--ops).
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first arguments of a form are the node's inputs; those after them are attributes,
 * by their names: INT is i64[], FLOAT f32[], INTS i64[n], FLOATS f32[n].
 */
#include "frontend/onnx/import/args.h"

#include "compose/custom.h"

#include <assert.h>
#include <string.h>

const ig_graph *ig_onnx_custom_form(const ig_onnx_import *import,
                                    const Onnx__NodeProto *node,
                                    const ig_graph *after) {
    const ig_custom_functions *functions = import->options ? import->options->functions
                                                           : NULL;
    if (!functions) {
        return NULL;
    }
    ig_str domain = ig_onnx_domain(node->domain);
    const char *name = ig_arena_printf(
        import->arena, "%.*s::%s", IG_STR_ARG(domain.size ? domain : IG_STR("ai.onnx")),
        node->op_type);
    return ig_custom_next(functions, name, after);
}

/* Its value, or NULL where it is of another type. */
static ig_value *attribute_value(const ig_onnx_node *node, const char *name) {
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, name, NULL);
    int64_t count = attr ? (int64_t)(attr->n_ints + attr->n_floats) : 0;
    switch (attr ? ig_onnx_attr_type(attr) : 0) {
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT:
        return ig_expr_integer(node->e, IG_DT_i64, attr->i);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT:
        return ig_expr_constant(node->e, name, IG_DT_f32, 0, NULL, &attr->f);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
        return ig_expr_constant(node->e, name, IG_DT_i64, 1, &count, attr->ints);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
        return ig_expr_constant(node->e, name, IG_DT_f32, 1, &count, attr->floats);
    default:
        return NULL;
    }
}

static bool names_argument(const ig_graph *form, uint32_t first, const char *name) {
    for (uint32_t i = first; i < form->body.arg_count; i++) {
        const char *own = form->body.args[i]->name;
        if (own && strcmp(own, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Inputs, then attributes; false where the node has others. */
static bool read_arguments(const ig_onnx_node *node, const ig_graph *form,
                           ig_value **out_args) {
    if (node->input_count > form->body.arg_count) {
        return false;
    }
    for (uint32_t i = 0; i < form->body.arg_count; i++) {
        const char *name = form->body.args[i]->name;
        out_args[i] = i < node->input_count ? node->inputs[i]
                      : name                ? attribute_value(node, name)
                                            : NULL;
    }
    for (size_t i = 0; i < node->proto->n_attribute; i++) {
        const char *name = node->proto->attribute[i]->name;
        if (!name || !names_argument(form, node->input_count, name)) {
            return false;
        }
    }
    return ig_custom_fits(form, out_args, form->body.arg_count);
}

ig_status ig_onnx_import_custom(ig_onnx_node *node) {
    ig_onnx_import *import = node->import;
    const ig_graph *form = ig_onnx_custom_form(import, node->proto, NULL);
    ig_value **args = NULL;
    assert(form && "the user gave the operator");
    for (; form; form = ig_onnx_custom_form(import, node->proto, form)) {
        args = IG_NEW_ARRAY(import->arena, ig_value *, form->body.arg_count + 1);
        if (read_arguments(node, form, args)) {
            break;
        }
    }
    if (!form) {
        return ig_onnx_fail(node, IG_INVALID,
                            "none of its forms in --ops has the inputs, dtypes, ranks "
                            "and attributes of this node");
    }
    uint32_t count = ig_custom_result_count(form);
    if (node->output_count > count) {
        return ig_onnx_fail(node, IG_INVALID, "has %u outputs, but its form gives %u",
                            node->output_count, count);
    }
    ig_value **results = IG_NEW_ARRAY(import->arena, ig_value *, count + 1);
    ig_custom_inline(node->e, form, args, results);
    for (uint32_t i = 0; i < node->output_count && node->e->status == IG_OK; i++) {
        node->outputs[i] = results[i];
    }
    return node->e->status;
}
