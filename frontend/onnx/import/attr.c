/* Attributes of a node, looked up through the functions that are being inlined.
 * SPDX-License-Identifier: Apache-2.0
 *
 * In a function's body an attribute may name one of the function's (ref_attr_name);
 * then its value is the call's attribute of that name, else the function's default,
 * else it is absent.  The call may itself be in a function, so this goes outwards,
 * at most as many steps as functions are nested.
 */
#include "frontend/onnx/import/import.h"

#include <assert.h>
#include <string.h>

int ig_onnx_attr_type(const Onnx__AttributeProto *attr) {
    if (attr->has_type &&
        attr->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED) {
        return (int)attr->type;
    }
    const struct {
        bool is_there;
        int type;
    } fields[] = {
        { attr->has_f, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT },
        { attr->has_i, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT },
        { attr->has_s, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING },
        { attr->t != NULL, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR },
        { attr->g != NULL, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH },
        { attr->n_floats > 0, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS },
        { attr->n_ints > 0, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS },
        { attr->n_strings > 0, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS },
        { attr->n_tensors > 0, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSORS },
        { attr->n_graphs > 0, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPHS },
        { attr->sparse_tensor != NULL,
          ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR },
        { attr->tp != NULL, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TYPE_PROTO },
    };
    for (size_t i = 0; i < IG_COUNT_OF(fields); i++) {
        if (fields[i].is_there) {
            return fields[i].type;
        }
    }
    return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED;
}

static const Onnx__AttributeProto *find_attr(Onnx__AttributeProto *const *attrs,
                                             size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (attrs[i]->name && strcmp(attrs[i]->name, name) == 0) {
            return attrs[i];
        }
    }
    return NULL;
}

const Onnx__AttributeProto *ig_onnx_attr(const ig_onnx_node *node, const char *name,
                                         ig_onnx_scope **out_scope) {
    assert((!node->row || ig_onnx_row_has_attr(node->row, name)) &&
           "no version of the operator has such an attribute");
    ig_onnx_scope *scope = node->scope;
    const Onnx__AttributeProto *attr = find_attr(node->proto->attribute,
                                                 node->proto->n_attribute, name);
    while (attr && attr->ref_attr_name && attr->ref_attr_name[0]) {
        const ig_onnx_call *call = scope->call;
        if (!call) {
            return NULL; /* check.c reported it */
        }
        const Onnx__FunctionProto *function = call->function->proto;
        const char *wanted = attr->ref_attr_name;
        attr = find_attr(call->node->attribute, call->node->n_attribute, wanted);
        if (!attr) {
            attr = find_attr(function->attribute_proto, function->n_attribute_proto,
                             wanted);
            break;
        }
        scope = call->scope;
    }
    if (out_scope) {
        *out_scope = scope;
    }
    return attr;
}

int64_t ig_onnx_attr_int(const ig_onnx_node *node, const char *name, int64_t absent) {
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, name, NULL);
    return attr ? attr->i : absent;
}

double ig_onnx_attr_float(const ig_onnx_node *node, const char *name, double absent) {
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, name, NULL);
    return attr ? (double)attr->f : absent;
}

ig_str ig_onnx_attr_str(const ig_onnx_node *node, const char *name,
                        const char *absent) {
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, name, NULL);
    if (!attr) {
        return ig_str_of(absent);
    }
    return (ig_str){ (const char *)attr->s.data, attr->s.len };
}

const int64_t *ig_onnx_attr_ints(const ig_onnx_node *node, const char *name,
                                 uint32_t *out_count) {
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, name, NULL);
    *out_count = attr ? (uint32_t)attr->n_ints : 0;
    static const int64_t none;
    return !attr ? NULL : attr->n_ints ? attr->ints : &none;
}

const Onnx__GraphProto *ig_onnx_attr_graph(const ig_onnx_node *node, const char *name,
                                           ig_onnx_scope **out_scope) {
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, name, out_scope);
    assert(attr && attr->g && "check.c refuses a node without its graphs");
    return attr->g;
}
