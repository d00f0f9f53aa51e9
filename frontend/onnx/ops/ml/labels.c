/* LabelEncoder between numbers: keys are sorted, and each element of x is searched for.
 * SPDX-License-Identifier: Apache-2.0
 *
 * NaN is a key as others are.  Of equal keys the first counts.
 */
#include "frontend/onnx/ops/ml/ml.h"

#include "frontend/onnx/ops/hooks.h"

/* The first attribute that is there; NULL: none is. */
static ig_value *read_first(ig_onnx_node *node, const char *const *names) {
    for (; *names; names++) {
        ig_value *value = ig_onnx_attr_value(node, *names);
        if (value || ig_onnx_has_failed(node)) {
            return value;
        }
    }
    return NULL;
}

/* What elements get that are no key, a scalar of the values' type. */
static ig_value *read_default(ig_onnx_node *node, ig_dtype dtype) {
    static const char *const of_floats[] = { "default_tensor", "default_float", NULL };
    static const char *const of_ints[] = { "default_tensor", "default_int64", NULL };
    bool is_real = ig_dtype_is_float(dtype);
    ig_value *given = read_first(node, is_real ? of_floats : of_ints);
    if (!given) {
        return ig_expr_number(node->e, dtype, is_real ? -0.0 : -1);
    }
    return ig_expr_reshape(node->e, ig_expr_cast(node->e, given, dtype), 0, NULL);
}

static ig_value *is_same(ig_expr *e, ig_value *a, ig_value *b) {
    ig_value *same = ig_build_eq(e, a, b);
    if (!same || !ig_expr_is_float(a)) {
        return same;
    }
    ig_value *none = ig_build_and(e, ig_build_isnan(e, a), ig_build_isnan(e, b));
    return ig_build_or(e, same, none);
}

ig_status ig_onnx_import_label_encoder(ig_onnx_node *node) {
    static const char *const keys_of[] = { "keys_tensor", "keys_int64s", "keys_floats",
                                           NULL };
    static const char *const values_of[] = { "values_tensor", "values_int64s",
                                             "values_floats", NULL };
    ig_expr *e = node->e;
    ig_value *x = node->inputs[0], *keys = read_first(node, keys_of);
    ig_value *values = keys ? read_first(node, values_of) : NULL;
    int64_t count = 0, many = 0;
    IG_TRY(e->status);
    if (!keys || !values) {
        return ig_onnx_fail(node, IG_UNSUPPORTED,
                            "its keys or values are strings, which are not supported");
    }
    bool is_known =
        ig_dim_constant(e->module, ig_type_count(e->module, keys->type), &count) &&
        ig_dim_constant(e->module, ig_type_count(e->module, values->type), &many);
    if (!is_known || count != many || count == 0) {
        return ig_onnx_fail(node, IG_INVALID, "has %lld keys and %lld values",
                            (long long)count, (long long)many);
    }
    if (keys->type->dtype != x->type->dtype) {
        return ig_onnx_fail(
            node, IG_INVALID, "its keys are of type %s, its input of %s",
            ig_dtypes[keys->type->dtype].name, ig_dtypes[x->type->dtype].name);
    }
    ig_value *sorted[2];
    ig_topk_attrs all = { .axis = 0, .smallest = true };
    all.k = (ig_maybe_dim)IG_SET(ig_dim_of(count));
    if (!ig_expr_results(ig_build_topk(e, ig_expr_flatten(e, keys), NULL, all),
                         sorted)) {
        return e->status;
    }
    values = ig_expr_gather(e, ig_expr_flatten(e, values), sorted[1], 0,
                            IG_NEGATIVE_error);
    ig_value *at = ig_build_bucketize(e, x, sorted[0], (ig_bucketize_attrs){ 0 });
    at = ig_expr_with_integer(e, IG_OP_min, at, count - 1);
    ig_value *found = ig_expr_gather(e, sorted[0], at, 0, IG_NEGATIVE_error);
    ig_value *y = ig_expr_gather(e, values, at, 0, IG_NEGATIVE_error);
    IG_TRY(e->status);
    ig_value *other = read_default(node, (ig_dtype)values->type->dtype);
    return ig_onnx_give(node, ig_build_where(e, is_same(e, found, x), y, other));
}
