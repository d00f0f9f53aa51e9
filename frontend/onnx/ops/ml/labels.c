/* LabelEncoder and CategoryMapper: keys that are numbers are sorted, and each element
 * of x is searched for; texts are looked up by a function of the runtime.
 * SPDX-License-Identifier: Apache-2.0
 *
 * NaN is a key as others are.  Of equal keys the first counts.
 */
#include "frontend/onnx/ops/ml/ml.h"

#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/ops/math/constant.h"
#include "frontend/onnx/ops/text/text.h"

/* The first attribute that is there; NULL: none is. */
static ig_value *read_first(ig_onnx_node *node, const char *const *names) {
    for (; *names; names++) {
        bool exists = ig_onnx_row_has_attr(node->row, *names);
        ig_value *value = exists ? ig_onnx_attr_value(node, *names) : NULL;
        if (value || ig_onnx_has_failed(node)) {
            return value;
        }
    }
    return NULL;
}

/* The value of elements that are not a key, [1] of the values' type. */
static ig_value *read_default(ig_onnx_node *node, ig_dtype dtype) {
    static const char *const of_floats[] = { "default_tensor", "default_float", NULL };
    static const char *const of_ints[] = { "default_tensor", "default_int64", NULL };
    static const char *const of_texts[] = { "default_tensor", "default_string", NULL };
    static const char unused[] = "_Unused";
    bool is_real = ig_dtype_is_float(dtype);
    ig_value *given = read_first(node, dtype == IG_DT_str ? of_texts
                                       : is_real          ? of_floats
                                                          : of_ints);
    if (!given && dtype == IG_DT_str) {
        ProtobufCBinaryData text = { sizeof unused - 1, (uint8_t *)(uintptr_t)unused };
        ig_data data;
        given = ig_expr_note(node->e, ig_onnx_text_data(node, 0, &text, 1, &data))
                    ? ig_make_data(node->builder, "default", &data)
                    : NULL;
    } else if (!given) {
        given = ig_expr_number(node->e, dtype, is_real ? -0.0 : -1);
    }
    if (given && (given->type->dtype == IG_DT_str) != (dtype == IG_DT_str)) {
        return ig_expr_fail(node->e, IG_INVALID,
                            "its default is of another type than its values");
    }
    ig_dim one = ig_dim_of(1);
    given = dtype == IG_DT_str ? given : ig_expr_cast(node->e, given, dtype);
    return ig_expr_reshape(node->e, given, 1, &one);
}

static ig_value *is_same(ig_expr *e, ig_value *a, ig_value *b) {
    ig_value *same = ig_build_eq(e, a, b);
    if (!same || !ig_expr_is_float(a)) {
        return same;
    }
    ig_value *none = ig_build_and(e, ig_build_isnan(e, a), ig_build_isnan(e, b));
    return ig_build_or(e, same, none);
}

/* Of each element the position of its key, `count` where it is none. */
static ig_value *find_number(ig_onnx_node *node, ig_value *x, ig_value *keys,
                             int64_t count) {
    ig_expr *e = node->e;
    ig_value *sorted[2];
    ig_topk_attrs all = { .axis = 0, .smallest = true };
    all.k = (ig_maybe_dim)IG_SET(ig_dim_of(count));
    if (!ig_expr_results(ig_build_topk(e, ig_expr_flatten(e, keys), NULL, all),
                         sorted)) {
        return NULL;
    }
    ig_value *at = ig_build_bucketize(e, x, sorted[0], (ig_bucketize_attrs){ 0 });
    at = ig_expr_with_integer(e, IG_OP_min, at, count - 1);
    ig_value *found = ig_expr_gather(e, sorted[0], at, 0, IG_NEGATIVE_error);
    ig_value *position = ig_expr_gather(e, sorted[1], at, 0, IG_NEGATIVE_error);
    ig_value *none = ig_expr_integer(e, IG_DT_i64, count);
    return found ? ig_build_where(e, is_same(e, found, x), position, none) : NULL;
}

static ig_value *find_text(ig_onnx_node *node, ig_value *x, ig_value *list,
                           int64_t count) {
    ig_expr *e = node->e;
    ig_value *at = ig_build_text_find(e, x, list);
    ig_value *is_none = ig_expr_with_integer(e, IG_OP_lt, at, 0);
    return ig_build_where(e, is_none, ig_expr_integer(e, IG_DT_i64, count), at);
}

/* The values by position, and after them the default for elements that are not a
 * key. */
static ig_status give_values(ig_onnx_node *node, ig_value *values, ig_value *at) {
    ig_expr *e = node->e;
    ig_value *other = read_default(node, (ig_dtype)values->type->dtype);
    ig_value *both[] = { ig_expr_flatten(e, values), other };
    return ig_onnx_give(node, ig_expr_gather(e, ig_expr_concat(e, 0, both, 2), at, 0,
                                             IG_NEGATIVE_error));
}

/* Keys and values that are one for one; false: they are not. */
static bool count_pairs(ig_onnx_node *node, const ig_value *keys,
                        const ig_value *values, int64_t *out_count) {
    ig_module *m = node->e->module;
    int64_t many = 0;
    bool is_known = ig_dim_constant(m, ig_type_count(m, keys->type), out_count) &&
                    ig_dim_constant(m, ig_type_count(m, values->type), &many);
    if (is_known && *out_count == many && many > 0) {
        return true;
    }
    ig_onnx_fail(node, IG_INVALID, "has %lld keys and %lld values",
                 (long long)*out_count, (long long)many);
    return false;
}

ig_status ig_onnx_import_label_encoder(ig_onnx_node *node) {
    static const char *const keys_of[] = { "keys_tensor", "keys_int64s", "keys_floats",
                                           "keys_strings", NULL };
    static const char *const values_of[] = { "values_tensor", "values_int64s",
                                             "values_floats", "values_strings", NULL };
    ig_value *x = node->inputs[0], *keys = read_first(node, keys_of);
    ig_value *values = keys ? read_first(node, values_of) : NULL, *at;
    int64_t count = 0;
    IG_TRY(node->e->status);
    if (!keys || !values) {
        return ig_onnx_fail(node, IG_INVALID, "has no keys or no values");
    }
    if (!count_pairs(node, keys, values, &count)) {
        return node->e->status;
    }
    if (keys->type->dtype != x->type->dtype) {
        return ig_onnx_fail(
            node, IG_INVALID, "its keys are of type %s, its input of %s",
            ig_dtypes[keys->type->dtype].name, ig_dtypes[x->type->dtype].name);
    }
    at = x->type->dtype == IG_DT_str
             ? find_text(node, x, ig_onnx_text_source(node, keys), count)
             : find_number(node, x, keys, count);
    return give_values(node, values, at);
}

/* Texts to numbers or back, by the row's two lists: CategoryMapper's, or LabelEncoder's
 * first form, whose numbers are positions. */
ig_status ig_onnx_import_category_mapper(ig_onnx_node *node) {
    ig_expr *e = node->e;
    bool has_numbers = ig_onnx_row_has_attr(node->row, "cats_int64s");
    const char *name = has_numbers ? "cats_strings" : "classes_strings";
    ig_value *x = node->inputs[0], *texts = ig_onnx_attr_value(node, name), *numbers;
    int64_t count = 0;
    IG_TRY(e->status);
    if (!texts || !ig_dim_constant(e->module, ig_onnx_extent(e, texts, 0), &count)) {
        return ig_onnx_fail(node, IG_INVALID, "has no %s", name);
    }
    numbers = has_numbers ? ig_onnx_attr_value(node, "cats_int64s")
                          : ig_expr_iota(e, IG_DT_i64, ig_dim_of(count));
    if (!numbers || !count_pairs(node, texts, numbers, &count)) {
        return e->status != IG_OK
                   ? e->status
                   : ig_onnx_fail(node, IG_INVALID, "has no cats_int64s");
    }
    if (x->type->dtype == IG_DT_str) {
        ig_value *list = ig_onnx_text_source(node, texts);
        return give_values(node, numbers, find_text(node, x, list, count));
    }
    if (x->type->dtype != IG_DT_i64) {
        return ig_onnx_fail(node, IG_INVALID, "its input is neither strings nor i64");
    }
    return give_values(node, texts, find_number(node, x, numbers, count));
}
