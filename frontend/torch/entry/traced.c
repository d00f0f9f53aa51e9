/* Traced inputs as trees: dtype and rank of the examples that a model was traced with.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Extents are not taken: a trace says nothing about which of them may vary, and each
 * becomes a symbol of its own. */
#include "frontend/torch/entry/entry.h"

static bool tensor_tree(ig_ts_eval *eval, const char *name, const ig_py_tensor *tensor,
                        ig_node_list *out) {
    ig_writer w;
    bool is_plain = !tensor->sparse && !tensor->quant && !tensor->dtype->is_complex &&
                    tensor->dtype->ir != IG_DT_COUNT && tensor->rank <= IG_TENSOR_RANK;
    if (!is_plain) {
        return false;
    }
    ig_writer_init(&w, eval->arena);
    ig_put(&w, "%s[", ig_dtypes[tensor->dtype->ir].name);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        ig_put(&w, "%s%s_d%u", i ? ", " : "", name, i);
    }
    ig_put(&w, "]");
    ig_node_add(eval->arena, out,
                (ig_node){ .kind = IG_NODE_TENSOR,
                           .is_leaf = true,
                           .text = ig_writer_str(&w) });
    return true;
}

static bool items_tree(ig_ts_eval *eval, const char *name, const ig_py *value,
                       ig_node_list *out) {
    bool is_tuple = value->kind == IG_PY_TUPLE, is_given = true;
    uint32_t at =
        ig_node_add(eval->arena, out,
                    (ig_node){ .kind = is_tuple ? IG_NODE_TUPLE : IG_NODE_LIST,
                               .count = (uint32_t)value->as.list.count });
    (void)at;
    for (size_t i = 0; is_given && i < value->as.list.count; i++) {
        const char *item = ig_arena_printf(eval->arena, "%s_%zu", name, i);
        is_given = ig_ts_traced_tree(eval, item, value->as.list.items[i], out);
    }
    return is_given;
}

static bool dict_tree(ig_ts_eval *eval, const char *name, const ig_py *value,
                      ig_node_list *out) {
    bool is_given = true;
    ig_node_add(
        eval->arena, out,
        (ig_node){ .kind = IG_NODE_DICT, .count = 2 * (uint32_t)value->as.dict.count });
    for (size_t i = 0; is_given && i < value->as.dict.count; i++) {
        const char *item = ig_arena_printf(eval->arena, "%s_%zu", name, i);
        is_given = ig_ts_traced_tree(eval, item, value->as.dict.keys[i], out) &&
                   ig_ts_traced_tree(eval, item, value->as.dict.values[i], out);
    }
    return is_given;
}

bool ig_ts_traced_tree(ig_ts_eval *eval, const char *name, const ig_py *value,
                       ig_node_list *out) {
    ig_node node = { .kind = IG_NODE_NONE };
    switch ((int)value->kind) {
    case IG_PY_TENSOR:
        return tensor_tree(eval, name, value->as.tensor, out);
    case IG_PY_LIST:
    case IG_PY_TUPLE:
        return items_tree(eval, name, value, out);
    case IG_PY_DICT:
        return dict_tree(eval, name, value, out);
    case IG_PY_NONE:
        break;
    case IG_PY_BOOL:
        node = (ig_node){ .kind = IG_NODE_BOOL, .i = value->as.b };
        break;
    case IG_PY_INT:
        node = (ig_node){ .kind = IG_NODE_INT, .i = value->as.i };
        break;
    case IG_PY_FLOAT:
        node = (ig_node){ .kind = IG_NODE_FLOAT, .f = value->as.f };
        break;
    case IG_PY_STR:
        node = (ig_node){ .kind = IG_NODE_STR, .text = value->as.text };
        break;
    default:
        return false;
    }
    ig_node_add(eval->arena, out, node);
    return true;
}
