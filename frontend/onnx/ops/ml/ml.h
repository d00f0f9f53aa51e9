/* What classifiers and regressors of ai.onnx.ml share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_OPS_ML_H
#define IG_FRONTEND_ONNX_OPS_ML_H

#include "frontend/onnx/import/args.h"

/* post_transform, in the order of its numbers. */
#define IG_ONNX_TRANSFORMS "NONE SOFTMAX LOGISTIC SOFTMAX_ZERO PROBIT"
enum {
    IG_ONNX_TRANSFORM_NONE,
    IG_ONNX_TRANSFORM_SOFTMAX,
    IG_ONNX_TRANSFORM_LOGISTIC,
    IG_ONNX_TRANSFORM_SOFTMAX_ZERO,
    IG_ONNX_TRANSFORM_PROBIT,
};

/* The names of classes: numbers, or strings. */
typedef struct ig_onnx_labels {
    const int64_t *numbers; /* NULL: strings */
    const char *strings;    /* the attribute that holds them */
    uint32_t count;
} ig_onnx_labels;

ig_onnx_labels ig_onnx_read_labels(ig_onnx_node *node, const char *numbers,
                                   const char *strings);
/* Floats of an attribute as f32 [count]; one of them is for all axes.  NULL: none
 * are there. */
ig_value *ig_onnx_take_floats(ig_onnx_node *node, const char *name);
/* Input 0 as f32 [N, F]. */
ig_value *ig_onnx_take_rows(ig_onnx_node *node);

/* Scores [N, K] through a post_transform. */
ig_value *ig_onnx_transform_scores(ig_expr *e, ig_value *scores, uint32_t transform);
/* Scores [N, 2] of two classes from those of the second alone, [N, 1].  The first's is
 * 1 less it where it is a share, else its negative; LOGISTIC is of it and its negative.
 * The softmaxes change nothing, as in ONNX Runtime. */
ig_value *ig_onnx_pair_scores(ig_expr *e, ig_value *second, bool is_share,
                              uint32_t transform);
/* i64 [N]: the first class with the highest score. */
ig_value *ig_onnx_best_class(ig_expr *e, ig_value *scores);
/* Output 0 the labels of classes [N], output 1 the scores as f32. */
ig_status ig_onnx_give_classes(ig_onnx_node *node, const ig_onnx_labels *labels,
                               ig_value *classes, ig_value *scores);

#endif
