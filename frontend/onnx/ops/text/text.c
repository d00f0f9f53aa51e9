/* Operators on strings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/ops/text/text.h"

#include "frontend/onnx/ops/hooks.h"

#include <string.h>

/* ---- constants ---- */

ig_status ig_onnx_text_data(const ig_onnx_node *node, uint32_t rank,
                            const ProtobufCBinaryData *texts, size_t count,
                            ig_data *out_data) {
    ig_onnx_import *import = node->import;
    const char **all = IG_NEW_ARRAY(import->arena, const char *, count);
    for (size_t i = 0; i < count; i++) {
        const char *bytes = texts[i].len ? (const char *)texts[i].data : "";
        if (texts[i].len && memchr(bytes, 0, texts[i].len)) {
            return ig_onnx_fail(node, IG_UNSUPPORTED,
                                "has a string with a zero byte in it");
        }
        all[i] = ig_arena_copy(import->arena, bytes, texts[i].len);
    }
    ig_dim dim = ig_dim_of((int64_t)count);
    *out_data =
        (ig_data){ .type = ig_type_tensor(import->module, IG_DT_str, rank, &dim),
                   .bytes = all,
                   .size = (int64_t)(count * sizeof *all) };
    return IG_OK;
}

static ig_value *make_list(ig_onnx_node *node, const ProtobufCBinaryData *texts,
                           size_t count) {
    ig_data data;
    if (!ig_expr_note(node->e, ig_onnx_text_data(node, 1, texts, count, &data))) {
        return NULL;
    }
    return ig_onnx_text_source(node, ig_make_data(node->builder, "texts", &data));
}

ig_value *ig_onnx_text_list(ig_onnx_node *node, ig_str text) {
    ProtobufCBinaryData one = { text.size, (uint8_t *)(uintptr_t)text.data };
    return make_list(node, &one, 1);
}

ig_value *ig_onnx_text_list_of(ig_onnx_node *node, const char *name) {
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, name, NULL);
    return make_list(node, attr ? attr->strings : NULL, attr ? attr->n_strings : 0);
}

ig_value *ig_onnx_text_source(ig_onnx_node *node, const ig_value *texts) {
    const ig_op *maker = texts ? ig_def(texts, IG_OP_text_of) : NULL;
    return maker ? maker->operands[0].value
                 : ig_expr_fail(node->e, IG_INVALID, "has texts that are not constant");
}

/* ---- pairs ---- */

/* Two values with the extents that they broadcast to. */
static bool make_equal(ig_expr *e, ig_value **x, ig_value **y) {
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t rank = 0;
    if (!*x || !*y || !ig_expr_broadcast_dims(e, (*x)->type, dims, &rank) ||
        !ig_expr_broadcast_dims(e, (*y)->type, dims, &rank)) {
        ig_expr_fail(e, IG_INVALID, "has inputs that do not broadcast");
        return false;
    }
    ig_expr_guard_broadcast(e, *x, *y);
    *x = ig_expr_expand(e, *x, rank, dims);
    *y = ig_expr_expand(e, *y, rank, dims);
    return *x && *y;
}

static bool is_text(const ig_value *x) {
    return x->type->kind == IG_TENSOR && x->type->dtype == IG_DT_str;
}

ig_value *ig_onnx_text_equal(ig_expr *e, ig_value *x, ig_value *y) {
    if (!is_text(x) || !is_text(y)) {
        return ig_expr_fail(e, IG_INVALID, "compares strings with numbers");
    }
    return make_equal(e, &x, &y) ? ig_build_text_eq(e, x, y) : NULL;
}

ig_status ig_onnx_import_string_concat(ig_onnx_node *node) {
    ig_value *x = node->inputs[0], *y = node->inputs[1];
    if (!make_equal(node->e, &x, &y)) {
        return node->e->status;
    }
    return ig_onnx_give(node, ig_build_text_join(node->e, x, y));
}

/* ---- casts ---- */

static ig_value *print_numbers(ig_expr *e, ig_value *x) {
    ig_dtype dtype = (ig_dtype)x->type->dtype;
    bool is_wide = dtype == IG_DT_f64 || dtype == IG_DT_u64;
    ig_dtype plain = is_wide ? dtype : ig_dtype_is_float(dtype) ? IG_DT_f32 : IG_DT_i64;
    return ig_build_text_print(e, ig_expr_cast(e, x, plain));
}

ig_value *ig_onnx_text_cast(ig_expr *e, ig_value *x, ig_dtype to) {
    if (!is_text(x)) {
        return print_numbers(e, x);
    }
    bool is_real = ig_dtype_is_float(to);
    ig_text_parse_attrs attrs = { .to = is_real ? IG_DT_f64 : IG_DT_i64 };
    return ig_expr_cast(e, ig_build_text_parse(e, x, attrs), to);
}

/* ---- one text at a time ---- */

ig_status ig_onnx_import_regex_full_match(ig_onnx_node *node) {
    ig_value *pattern = ig_onnx_text_list(node, ig_onnx_attr_str(node, "pattern", ""));
    return ig_onnx_give(node, ig_build_text_match(node->e, node->inputs[0], pattern));
}

ig_status ig_onnx_import_string_split(ig_onnx_node *node) {
    ig_value *cut = ig_onnx_text_list(node, ig_onnx_attr_str(node, "delimiter", ""));
    ig_text_split_attrs attrs = { 0 };
    attrs.max = (ig_maybe_int)IG_SET(ig_onnx_attr_int(node, "maxsplit", -1));
    return ig_onnx_give_results(
        node, ig_build_text_split(node->e, node->inputs[0], cut, attrs));
}

ig_status ig_onnx_import_string_normalizer(ig_onnx_node *node) {
    ig_text_clean_attrs attrs = {
        .letters = (int)ig_onnx_attr_choice(node, "case_change_action",
                                            "NONE LOWER UPPER"),
        .insensitive = !ig_onnx_attr_bool(node, "is_case_sensitive", false),
    };
    ig_value *words = ig_onnx_text_list_of(node, "stopwords");
    ig_value *locale = ig_onnx_text_list(node, ig_onnx_attr_str(node, "locale", ""));
    return ig_onnx_give(
        node, ig_build_text_clean(node->e, node->inputs[0], words, locale, attrs));
}
