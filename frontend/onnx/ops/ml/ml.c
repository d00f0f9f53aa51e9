/* ai.onnx.ml but for trees: scalers, encoders of numbers, linear models.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the standard leaves something open, ONNX Runtime's way is taken.
 */
#include "frontend/onnx/ops/ml/ml.h"

#include "frontend/onnx/import/keys.h"
#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/ops/math/constant.h"
#include "frontend/onnx/ops/text/text.h"

#include <math.h>

/* ---- scores and classes ---- */

ig_onnx_labels ig_onnx_read_labels(ig_onnx_node *node, const char *numbers,
                                   const char *strings) {
    ig_onnx_labels labels = { NULL, strings, 0 };
    const Onnx__AttributeProto *names = ig_onnx_attr(node, strings, NULL);
    labels.numbers = ig_onnx_attr_ints(node, numbers, &labels.count);
    if (names && names->n_strings && labels.count) {
        ig_onnx_fail(node, IG_INVALID, "has both %s and %s", numbers, strings);
    } else if (names && names->n_strings <= UINT32_MAX && !labels.count) {
        labels = (ig_onnx_labels){ NULL, strings, (uint32_t)names->n_strings };
    }
    return labels;
}

/* Softmax in which numbers next to 0 take no part but in the sum: e^-max times them. */
static ig_value *softmax_zero(ig_expr *e, ig_value *x) {
    ig_value *max = ig_expr_reduce_axis(e, IG_REDUCE_max, x, 1, true);
    ig_value *power = ig_build_exp(e, ig_build_sub(e, x, max));
    ig_value *small = ig_build_mul(e, x, ig_build_exp(e, ig_build_neg(e, max)));
    ig_value *is_zero = ig_expr_with(e, IG_OP_le, ig_build_abs(e, x), 0.0000001);
    power = ig_build_where(e, is_zero, small, power);
    ig_value *sum = ig_expr_reduce_axis(e, IG_REDUCE_sum, power, 1, true);
    return ig_build_div(e, power, sum);
}

ig_value *ig_onnx_transform_scores(ig_expr *e, ig_value *scores, uint32_t transform) {
    switch (transform) {
    case IG_ONNX_TRANSFORM_SOFTMAX:
        return ig_build_softmax(e, scores, (ig_softmax_attrs){ .axis = 1 });
    case IG_ONNX_TRANSFORM_LOGISTIC:
        return ig_build_sigmoid(e, scores);
    case IG_ONNX_TRANSFORM_SOFTMAX_ZERO:
        return softmax_zero(e, scores);
    case IG_ONNX_TRANSFORM_PROBIT: {
        ig_value *twice = ig_expr_with(e, IG_OP_mul, scores, 2);
        ig_value *y = ig_build_erfinv(e, ig_expr_with(e, IG_OP_sub, twice, 1));
        return ig_expr_with(e, IG_OP_mul, y, 1.41421356237309504880);
    }
    default:
        return scores;
    }
}

ig_value *ig_onnx_pair_scores(ig_expr *e, ig_value *second, bool is_share,
                              uint32_t transform) {
    bool is_logistic = transform == IG_ONNX_TRANSFORM_LOGISTIC;
    ig_value *first = is_share && !is_logistic
                          ? ig_expr_number_with(e, IG_OP_sub, 1, second)
                          : ig_build_neg(e, second);
    ig_value *pair = ig_expr_concat(e, 1, (ig_value *[]){ first, second }, 2);
    return is_logistic || transform == IG_ONNX_TRANSFORM_PROBIT
               ? ig_onnx_transform_scores(e, pair, transform)
               : pair;
}

ig_value *ig_onnx_best_class(ig_expr *e, ig_value *scores) {
    return ig_build_arg_reduce(
        e, scores, (ig_arg_reduce_attrs){ .op = IG_EXTREME_max, .axis = 1 });
}

ig_status ig_onnx_give_classes(ig_onnx_node *node, const ig_onnx_labels *labels,
                               ig_value *classes, ig_value *scores) {
    ig_expr *e = node->e;
    bool has_labels = node->output_count > 0 && node->proto->output[0][0];
    if (has_labels && labels->count == 0) {
        return ig_onnx_fail(node, IG_INVALID, "has no class labels");
    }
    if (has_labels) {
        ig_value *list = labels->numbers
                             ? ig_expr_ints(e, labels->numbers, labels->count)
                             : ig_onnx_attr_value(node, labels->strings);
        node->outputs[0] = ig_expr_gather(e, list, classes, 0, IG_NEGATIVE_error);
    }
    if (node->output_count > 1) {
        node->outputs[1] = scores ? ig_expr_cast(e, scores, IG_DT_f32) : NULL;
    }
    return e->status;
}

/* ---- lists of floats ---- */

ig_value *ig_onnx_take_floats(ig_onnx_node *node, const char *name) {
    const Onnx__AttributeProto *attr = ig_onnx_attr(node, name, NULL);
    if (!attr || attr->n_floats == 0) {
        return NULL;
    }
    int64_t count = (int64_t)attr->n_floats;
    return ig_expr_constant(node->e, name, IG_DT_f32, 1, &count, attr->floats);
}

ig_value *ig_onnx_take_rows(ig_onnx_node *node) {
    ig_value *x = ig_expr_cast(node->e, node->inputs[0], IG_DT_f32);
    if (x && x->type->rank == 1) {
        x = ig_expr_unsqueeze(node->e, x, 0);
    }
    return x && x->type->rank == 2
               ? x
               : ig_expr_fail(node->e, IG_INVALID,
                              "input 0 has rank %u, expected 1 or 2",
                              node->inputs[0]->type->rank);
}

/* ---- element by element ---- */

ig_status ig_onnx_import_binarizer(ig_onnx_node *node) {
    ig_value *x = node->inputs[0];
    double threshold = ig_onnx_attr_float(node, "threshold", 0);
    ig_value *is_above = ig_expr_with(node->e, IG_OP_gt, x, threshold);
    return ig_onnx_give(node, ig_expr_like(node->e, is_above, x));
}

/* (x - offset) * scale */
ig_status ig_onnx_import_scaler(ig_onnx_node *node) {
    ig_value *x = ig_expr_cast(node->e, node->inputs[0], IG_DT_f32);
    ig_value *offset = ig_onnx_take_floats(node, "offset"),
             *scale = ig_onnx_take_floats(node, "scale");
    x = offset ? ig_build_sub(node->e, x, offset) : x;
    return ig_onnx_give(node, scale ? ig_build_mul(node->e, x, scale) : x);
}

/* Rows over their maximum, sum of sizes, or length; one that is 0 divides nothing. */
ig_status ig_onnx_import_normalizer(ig_onnx_node *node) {
    ig_expr *e = node->e;
    uint32_t norm = ig_onnx_attr_choice(node, "norm", "MAX L1 L2");
    ig_value *x = ig_expr_cast(e, node->inputs[0], IG_DT_f32);
    if (!x || x->type->rank == 0) {
        return ig_onnx_fail(node, IG_INVALID, "input 0 is a scalar, expected rows");
    }
    uint32_t axis = x->type->rank - 1;
    ig_value *parts = norm == 0   ? x
                      : norm == 1 ? ig_build_abs(e, x)
                                  : ig_build_mul(e, x, x);
    ig_reduce kind = norm == 0 ? IG_REDUCE_max : IG_REDUCE_sum;
    ig_value *size = ig_expr_reduce_axis(e, kind, parts, axis, true);
    size = norm == 2 ? ig_build_sqrt(e, size) : size;
    ig_value *is_zero = ig_expr_with(e, IG_OP_eq, size, 0);
    size = ig_build_where(e, is_zero, ig_expr_number(e, IG_DT_f32, 1), size);
    return ig_onnx_give(node, ig_build_div(e, x, size));
}

/* Where an element is the one to be replaced (or is NaN, as that is): the column's. */
ig_status ig_onnx_import_imputer(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_value *x = node->inputs[0], *with, *is_missing;
    uint32_t count = 0;
    const int64_t *ints = ig_onnx_attr_ints(node, "imputed_value_int64s", &count);
    if (ig_expr_is_float(x)) {
        double replaced = ig_onnx_attr_float(node, "replaced_value_float", 0);
        with = ig_onnx_take_floats(node, "imputed_value_floats");
        is_missing = isnan(replaced) ? ig_build_isnan(e, x)
                                     : ig_expr_with(e, IG_OP_eq, x, replaced);
    } else {
        with = ints ? ig_expr_ints(e, ints, count) : NULL;
        is_missing = ig_expr_with_integer(
            e, IG_OP_eq, x, ig_onnx_attr_int(node, "replaced_value_int64", 0));
    }
    if (!with) {
        return ig_onnx_fail(node, IG_INVALID,
                            "has no imputed values of the type of its input");
    }
    return ig_onnx_give(node,
                        ig_build_where(e, is_missing, ig_expr_like(e, with, x), x));
}

/* ---- columns ---- */

/* The elements of the last axis that the indices name. */
ig_status ig_onnx_import_array_feature_extractor(ig_onnx_node *node) {
    ig_value *x = node->inputs[0], *at = ig_expr_flatten(node->e, node->inputs[1]);
    if (x->type->rank == 1) {
        x = ig_expr_unsqueeze(node->e, x, 0);
    }
    if (!x || x->type->rank == 0) {
        return ig_onnx_fail(node, IG_INVALID, "input 0 is a scalar, expected rows");
    }
    return ig_onnx_give(
        node, ig_expr_gather(node->e, x, at, x->type->rank - 1, IG_NEGATIVE_error));
}

/* An input's rows with as many elements as inputdimensions says: others follow as
 * zeros, or are left out.  A vector is one row. */
static ig_value *take_feature_rows(ig_onnx_node *node, uint32_t index,
                                   const int64_t *sizes) {
    ig_expr *e = node->e;
    ig_value *x = ig_onnx_in(node, index);
    if (!x || x->type->rank == 0) {
        ig_onnx_fail(node, IG_INVALID, "input %u is not a tensor of rows", index);
        return NULL;
    }
    x = x->type->rank == 1 ? ig_expr_unsqueeze(e, x, 0)
                           : ig_expr_merge_axes(e, x, 1, x->type->rank - 1);
    x = ig_expr_cast(e, x, IG_DT_f32);
    if (!x || !sizes) {
        return x;
    }
    ig_dim none = ig_dim_of(0), size = ig_dim_const(e->module, sizes[index]);
    ig_dim rest = ig_dim_sub(e->module, size, ig_onnx_extent(e, x, 1));
    return ig_expr_pad(e, x, (ig_dim[]){ none, none }, (ig_dim[]){ none, rest },
                       IG_PAD_constant, 0);
}

/* All inputs, as f32 [N, its dimension], side by side. */
ig_status ig_onnx_import_feature_vectorizer(ig_onnx_node *node) {
    uint32_t count = 0;
    const int64_t *sizes = ig_onnx_attr_ints(node, "inputdimensions", &count);
    ig_value **parts = IG_NEW_ARRAY(node->import->arena, ig_value *, node->input_count);
    if (sizes && count != node->input_count) {
        return ig_onnx_fail(node, IG_INVALID, "has %u inputs, but %u inputdimensions",
                            node->input_count, count);
    }
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (sizes && sizes[i] < 0) {
            return ig_onnx_fail(node, IG_INVALID,
                                "inputdimensions has a negative size");
        }
        parts[i] = take_feature_rows(node, i, sizes);
        if (!parts[i]) {
            return node->e->status;
        }
    }
    return ig_onnx_give(node, ig_expr_concat(node->e, 1, parts, node->input_count));
}

/* Rows of marks, of which the last counts: a row without one is an error of the run,
 * the place of its mark being -1. */
static ig_value *mark_known(ig_onnx_node *node, ig_value *is_it) {
    ig_expr *e = node->e;
    ig_value *rows = ig_expr_cast(e, is_it, IG_DT_i64);
    if (!rows) {
        return NULL;
    }
    uint32_t axis = rows->type->rank - 1;
    ig_value *positions = ig_expr_iota(e, IG_DT_i64, ig_onnx_extent(e, rows, axis));
    ig_value *from_one = ig_expr_with(e, IG_OP_add, positions, 1);
    ig_value *last = ig_expr_reduce_axis(e, IG_REDUCE_max,
                                         ig_build_mul(e, rows, from_one), axis, true);
    ig_value *position = ig_expr_gather(
        e, positions, ig_expr_with(e, IG_OP_sub, last, 1), 0, IG_NEGATIVE_error);
    return ig_build_eq(e, position, positions);
}

/* A further axis: 1 where the element is the category. */
ig_status ig_onnx_import_one_hot_encoder(ig_onnx_node *node) {
    ig_expr *e = node->e;
    uint32_t count = 0;
    const int64_t *cats = ig_onnx_attr_ints(node, "cats_int64s", &count);
    bool is_text = node->inputs[0]->type->dtype == IG_DT_str;
    ig_value *texts = is_text ? ig_onnx_attr_value(node, "cats_strings") : NULL;
    IG_TRY(e->status);
    if (is_text ? !texts : !cats || count == 0) {
        return ig_onnx_fail(node, IG_INVALID, "has no %s",
                            is_text ? "cats_strings" : "cats_int64s");
    }
    ig_value *x = is_text ? ig_build_text_find(e, node->inputs[0],
                                               ig_onnx_text_source(node, texts))
                          : ig_expr_cast(e, node->inputs[0], IG_DT_i64);
    ig_value *known = is_text ? ig_expr_iota(e, IG_DT_i64, ig_onnx_extent(e, texts, 0))
                              : ig_expr_ints(e, cats, count);
    x = x ? ig_expr_unsqueeze(e, x, x->type->rank) : NULL;
    ig_value *is_it = ig_build_eq(e, x, known);
    if (!ig_onnx_attr_bool(node, "zeros", true)) {
        is_it = mark_known(node, is_it);
    }
    return ig_onnx_give(node, ig_expr_cast(e, is_it, IG_DT_f32));
}

/* ---- linear models ---- */

/* x times the coefficients [targets, F]', and the intercepts. */
static ig_value *score_rows(ig_onnx_node *node, ig_value *x, int64_t targets) {
    ig_expr *e = node->e;
    ig_value *flat = ig_onnx_take_floats(node, "coefficients"), *bias;
    int64_t count = 0;
    if (!flat || targets < 1 ||
        !ig_dim_constant(e->module, ig_onnx_extent(e, flat, 0), &count) ||
        count % targets) {
        return ig_expr_fail(e, IG_INVALID,
                            "has %lld coefficients, expected a row for each of %lld "
                            "targets",
                            (long long)count, (long long)targets);
    }
    ig_dim dims[] = { ig_dim_const(e->module, targets),
                      ig_dim_const(e->module, count / targets) };
    ig_value *weights = ig_expr_reshape(e, flat, 2, dims);
    x = ig_expr_matmul_transposed(e, x, weights);
    bias = ig_onnx_take_floats(node, "intercepts");
    return bias ? ig_build_add(e, x, bias) : x;
}

ig_status ig_onnx_import_linear_regressor(ig_onnx_node *node) {
    uint32_t transform = ig_onnx_attr_choice(node, "post_transform",
                                             IG_ONNX_TRANSFORMS);
    ig_value *x = ig_onnx_take_rows(node);
    x = score_rows(node, x, ig_onnx_attr_int(node, "targets", 1));
    return ig_onnx_give(node, ig_onnx_transform_scores(node->e, x, transform));
}

/* One row of coefficients for two classes is the second's. */
ig_status ig_onnx_import_linear_classifier(ig_onnx_node *node) {
    ig_expr *e = node->e;
    ig_onnx_labels labels = ig_onnx_read_labels(node, "classlabels_ints",
                                                "classlabels_strings");
    uint32_t transform = ig_onnx_attr_choice(node, "post_transform",
                                             IG_ONNX_TRANSFORMS);
    const Onnx__AttributeProto *bias = ig_onnx_attr(node, "intercepts", NULL);
    int64_t targets = bias && bias->n_floats ? (int64_t)bias->n_floats : labels.count;
    ig_value *label, *scores = score_rows(node, ig_onnx_take_rows(node), targets);
    if (targets == 1 && labels.count == 2) {
        ig_value *is_second = ig_expr_with(e, IG_OP_gt, scores, 0);
        label = ig_expr_flatten(e, ig_expr_cast(e, is_second, IG_DT_i64));
        scores = ig_onnx_pair_scores(e, scores, true, transform);
    } else if (targets == labels.count) {
        label = ig_onnx_best_class(e, scores);
        scores = ig_onnx_transform_scores(e, scores, transform);
    } else {
        return ig_onnx_fail(node, IG_INVALID, "has %u labels, but %lld intercepts",
                            labels.count, (long long)targets);
    }
    return ig_onnx_give_classes(node, &labels, label, scores);
}

/* NULL: the node has failed. */
static const ig_onnx_keys *keys_of(ig_onnx_node *node, const ig_onnx_labels *labels) {
    ig_onnx_keys *keys = IG_NEW(node->import->arena, ig_onnx_keys);
    *keys = (ig_onnx_keys){ .numbers = labels->numbers, .count = labels->count };
    if (!labels->numbers) {
        ig_data data;
        const Onnx__AttributeProto *attr = ig_onnx_attr(node, labels->strings, NULL);
        if (ig_onnx_text_data(node, 1, attr->strings, labels->count, &data) != IG_OK) {
            return NULL;
        }
        keys->texts = data.bytes;
    }
    return keys;
}

/* Maps from the labels to the elements of each row stay rows, column j of label j; the
 * tree of the call tells the labels. */
ig_status ig_onnx_import_zip_map(ig_onnx_node *node) {
    ig_onnx_labels labels = ig_onnx_read_labels(node, "classlabels_int64s",
                                                "classlabels_strings");
    ig_value *x = node->inputs[0];
    uint32_t rank = x->type->rank;
    IG_TRY(node->e->status);
    if (labels.count == 0 || rank < 1 || rank > 2) {
        return ig_onnx_fail(node, IG_INVALID, "has %u labels and an input of rank %u",
                            labels.count, rank);
    }
    ig_expr_guard_equal(node->e, ig_onnx_extent(node->e, x, rank - 1),
                        ig_dim_const(node->e->module, labels.count),
                        "a row must have an element for each label");
    if (x->type->dtype == IG_DT_f32) {
        ig_onnx_set_keys(node, 0, keys_of(node, &labels));
    }
    return ig_onnx_give(node, x);
}
