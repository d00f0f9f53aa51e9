/* Strings that an operator only moves: it is imported over their positions.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     y = Where(c, a, b)        of str [2, 3] and str [3]
 *   becomes
 *     pool = concat [""], a, b  as one vector
 *     y = gather pool, Where(c, places 1..6 as [2, 3], places 7..9 as [3])
 *
 * So every operator that does not depend on the moved values takes strings as soon as
 * it takes integers, interpreted and compiled.  Place 0 is what operators fill with.
 */
#include "frontend/onnx/import/places.h"

#include "ir/build/expr.h"

#include <string.h>

/* Operators that move the elements of some inputs (bits), whatever these are. */
static const struct {
    const char *name;
    unsigned inputs;
} movers[] = {
    { "CenterCropPad", 1 },   { "DepthToSpace", 1 },
    { "OneHot", 4 },          { "Pad", 5 },
    { "ReverseSequence", 1 }, { "Scatter", 5 },
    { "ScatterElements", 5 }, { "ScatterND", 5 },
    { "SpaceToDepth", 1 },    { "TensorScatter", 3 },
    { "Where", 6 },
};

static bool is_text(const ig_value *value) {
    return value && value->type->kind == IG_TENSOR && value->type->dtype == IG_DT_str;
}

static unsigned moved_inputs(const ig_onnx_node *node) {
    for (size_t i = 0; i < IG_COUNT_OF(movers); i++) {
        if (!node->row->domain[0] && strcmp(node->row->name, movers[i].name) == 0) {
            return movers[i].inputs;
        }
    }
    return 0;
}

bool ig_onnx_moves_texts(const ig_onnx_node *node) {
    unsigned moved = moved_inputs(node);
    for (uint32_t i = 0; moved && i < node->input_count; i++) {
        if ((moved >> i & 1) && is_text(node->inputs[i])) {
            return true;
        }
    }
    return false;
}

static ig_value *make_empty_text(const ig_onnx_node *node) {
    static const char *const none[] = { "" };
    ig_dim one = ig_dim_of(1);
    ig_data data = { .type = ig_type_tensor(node->import->module, IG_DT_str, 1, &one),
                     .bytes = ig_arena_copy(node->import->arena, none, sizeof none),
                     .size = sizeof none };
    return ig_make_data(node->builder, "texts", &data);
}

/* i64, of the shape of `texts`: first, first + 1 … */
static ig_value *index_positions(ig_expr *e, const ig_value *texts, ig_dim first) {
    const ig_type *type = texts->type;
    ig_dim count = ig_dim_product(e->module, type->dims, type->rank);
    ig_value *positions = ig_build_add(e, ig_expr_iota(e, IG_DT_i64, count),
                                       ig_expr_dim(e, first, IG_DT_i64));
    return ig_expr_reshape(e, positions, type->rank, type->dims);
}

/* The vector of all strings; the inputs become their places. */
static ig_value *pool_inputs(ig_onnx_node *node) {
    ig_expr *e = node->e;
    unsigned moved = moved_inputs(node);
    ig_value **parts = IG_NEW_ARRAY(node->import->arena, ig_value *,
                                    node->input_count + 1u);
    uint32_t count = 0;
    ig_dim first = ig_dim_of(1);
    parts[count++] = make_empty_text(node);
    for (uint32_t i = 0; i < node->input_count; i++) {
        ig_value *texts = node->inputs[i];
        if (!(moved >> i & 1) || !texts) {
            continue;
        }
        if (!is_text(texts)) {
            return ig_expr_fail(e, IG_INVALID, "mixes strings with numbers");
        }
        parts[count++] = ig_expr_flatten(e, texts);
        node->inputs[i] = index_positions(e, texts, first);
        first =
            ig_dim_add(e->module, first,
                       ig_dim_product(e->module, texts->type->dims, texts->type->rank));
    }
    return ig_expr_concat(e, 0, parts, count);
}

ig_status ig_onnx_import_texts_by_position(ig_onnx_node *node) {
    ig_expr *e = node->e;
    bool reduces = ig_onnx_row_has_attr(node->row, "reduction");
    ig_str reduction = reduces ? ig_onnx_attr_str(node, "reduction", "none")
                               : ig_str_of("none");
    if (!ig_str_is(reduction, "none")) {
        return ig_onnx_fail(node, IG_INVALID,
                            "reduction '%.*s' is not defined for strings",
                            IG_STR_ARG(reduction));
    }
    ig_value *pool = pool_inputs(node);
    IG_TRY(e->status);
    ig_expr_note(e, node->row->import(node));
    IG_TRY(e->status);
    for (uint32_t i = 0; i < node->output_count; i++) {
        if (node->outputs[i]) {
            node->outputs[i] = ig_expr_gather(e, pool, node->outputs[i], 0,
                                              IG_NEGATIVE_error);
        }
    }
    return e->status;
}
