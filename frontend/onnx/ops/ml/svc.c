/* SVMClassifier: kernels of rows and support vectors, a decision for each two classes,
 * and votes.  SPDX-License-Identifier: Apache-2.0
 *
 * Where the standard leaves something open, this is as ONNX Runtime, and so as libsvm:
 * probabilities of pairs are made those of classes as Wu, Lin and Weng do ("Probability
 * Estimates for Multi-class Classification by Pairwise Coupling", JMLR 5, algorithm 2),
 * until no error is above 0.005 over the number of classes.
 */
#include "frontend/onnx/ops/ml/support.h"

#include "frontend/onnx/ops/hooks.h"

enum { MAX_CLASSES = 256, COUPLING_TRIPS = 100 };

typedef struct classifier {
    ig_onnx_support s;
    ig_onnx_labels labels;
    int64_t classes, pairs, vectors;
    const int64_t *counts; /* vectors of each class; NULL: none, one row of weights */
    bool has_shares;       /* prob_a and prob_b */
    uint32_t transform;
} classifier;

/* ---- attributes ---- */

static int64_t count_floats(const classifier *c, const char *name) {
    const Onnx__AttributeProto *attr = ig_onnx_attr(c->s.node, name, NULL);
    return attr ? (int64_t)attr->n_floats : 0;
}

static ig_status check_count(const classifier *c, const char *name, int64_t wanted) {
    int64_t count = count_floats(c, name);
    return count == wanted
               ? IG_OK
               : ig_onnx_fail(c->s.node, IG_INVALID,
                              "%s has %lld entries, expected %lld for %lld classes and "
                              "%lld support vectors",
                              name, (long long)count, (long long)wanted,
                              (long long)c->classes, (long long)c->vectors);
}

static ig_status read_counts(classifier *c) {
    uint32_t count = 0;
    const int64_t *counts = ig_onnx_attr_ints(c->s.node, "vectors_per_class", &count);
    for (uint32_t i = 0; i < count; i++) {
        if (counts[i] < 0 || counts[i] > INT32_MAX) {
            return ig_onnx_fail(c->s.node, IG_INVALID,
                                "vectors_per_class has an entry %lld",
                                (long long)counts[i]);
        }
        c->vectors += counts[i];
    }
    if (c->vectors > 0 && count != c->classes) {
        return ig_onnx_fail(c->s.node, IG_INVALID,
                            "vectors_per_class has %u entries for %lld classes", count,
                            (long long)c->classes);
    }
    c->counts = c->vectors > 0 ? counts : NULL;
    return IG_OK;
}

static ig_status read_classifier(classifier *c) {
    ig_onnx_node *node = c->s.node;
    c->labels = ig_onnx_read_labels(node, "classlabels_ints", "classlabels_strings");
    c->transform = ig_onnx_attr_choice(node, "post_transform", IG_ONNX_TRANSFORMS);
    c->classes = c->labels.count;
    c->pairs = c->classes * (c->classes - 1) / 2;
    c->has_shares = count_floats(c, "prob_a") > 0;
    IG_TRY(node->e->status);
    if (c->classes < 1 || c->classes > MAX_CLASSES) {
        return ig_onnx_fail(node, IG_UNSUPPORTED, "has %lld classes, expected 1 to %d",
                            (long long)c->classes, MAX_CLASSES);
    }
    IG_TRY(read_counts(c));
    if (!c->counts) {
        return IG_OK;
    }
    IG_TRY(check_count(c, "coefficients", (c->classes - 1) * c->vectors));
    IG_TRY(check_count(c, "rho", c->pairs));
    IG_TRY(c->has_shares ? check_count(c, "prob_a", c->pairs) : IG_OK);
    return c->has_shares ? check_count(c, "prob_b", c->pairs) : IG_OK;
}

/* ---- decisions for two classes each ---- */

/* The weight of each vector in each pair's decision, [V, pairs]: those of class i by
 * row j - 1 of the coefficients, those of j by row i. */
static ig_value *weigh_vectors(const classifier *c) {
    const Onnx__AttributeProto *given = ig_onnx_attr(c->s.node, "coefficients", NULL);
    int64_t dims[] = { c->vectors, c->pairs }, first_i = 0;
    float *weights = IG_NEW_ARRAY(c->s.node->import->arena, float,
                                  (size_t)(c->vectors * c->pairs));
    int64_t pair = 0;
    for (int64_t i = 0; i < c->classes; first_i += c->counts[i++]) {
        int64_t first_j = first_i + c->counts[i];
        for (int64_t j = i + 1; j < c->classes; first_j += c->counts[j++], pair++) {
            for (int64_t v = first_i; v < first_i + c->counts[i]; v++) {
                weights[v * c->pairs + pair] = given->floats[(j - 1) * c->vectors + v];
            }
            for (int64_t v = first_j; v < first_j + c->counts[j]; v++) {
                weights[v * c->pairs + pair] = given->floats[i * c->vectors + v];
            }
        }
    }
    return ig_expr_constant(c->s.e, "coefficients", IG_DT_f32, 2, dims, weights);
}

/* 1 where pair p is of class k first (`is_first`) or second, [pairs, classes]. */
static ig_value *mark_pairs(const classifier *c, bool is_first) {
    int64_t dims[] = { c->pairs, c->classes }, pair = 0;
    float *marks = IG_NEW_ARRAY(c->s.node->import->arena, float,
                                (size_t)(c->pairs * c->classes));
    for (int64_t i = 0; i < c->classes; i++) {
        for (int64_t j = i + 1; j < c->classes; j++, pair++) {
            marks[pair * c->classes + (is_first ? i : j)] = 1;
        }
    }
    return ig_expr_constant(c->s.e, is_first ? "first" : "second", IG_DT_f32, 2, dims,
                            marks);
}

/* The first class with the most votes. */
static ig_value *count_votes(const classifier *c, ig_value *decisions) {
    ig_expr *e = c->s.e;
    ig_value *is_first = ig_expr_cast(e, ig_expr_with(e, IG_OP_gt, decisions, 0),
                                      IG_DT_f32);
    ig_value *for_first = ig_expr_matmul(e, is_first, mark_pairs(c, true));
    ig_value *is_second = ig_expr_number_with(e, IG_OP_sub, 1, is_first);
    ig_value *for_second = ig_expr_matmul(e, is_second, mark_pairs(c, false));
    return ig_onnx_best_class(e, ig_build_add(e, for_first, for_second));
}

/* ---- probabilities ---- */

/* Of class i against class j, [N, C, C]; 0 on the diagonal. */
static ig_value *share_pairs(const classifier *c, ig_value *decisions) {
    ig_expr *e = c->s.e;
    ig_value *a = ig_onnx_take_floats(c->s.node, "prob_a");
    ig_value *b = ig_onnx_take_floats(c->s.node, "prob_b");
    ig_value *x = ig_build_add(e, ig_build_mul(e, decisions, a), b);
    ig_value *share = ig_build_sigmoid(e, ig_build_neg(e, x));
    share = ig_expr_with(e, IG_OP_max, share, (double)1e-7F);
    share = ig_expr_with(e, IG_OP_min, share, (double)(1 - 1e-7F));
    /* pairs to places of the square: i's row, and the rest in j's */
    int64_t count = c->classes * c->classes, pair = 0;
    int64_t *positions = IG_NEW_ARRAY(c->s.node->import->arena, int64_t, (size_t)count);
    for (int64_t i = 0; i < c->classes; i++) {
        for (int64_t j = i + 1; j < c->classes; j++, pair++) {
            positions[i * c->classes + j] = 1 + pair;
            positions[j * c->classes + i] = 1 + c->pairs + pair;
        }
    }
    ig_value *zero = ig_expr_with(
        e, IG_OP_mul, ig_expr_slice(e, share, 1, ig_dim_of(0), ig_dim_of(1), 1), 0);
    ig_value *rest = ig_expr_number_with(e, IG_OP_sub, 1, share);
    ig_value *all = ig_expr_concat(e, 1, (ig_value *[]){ zero, share, rest }, 3);
    ig_value *square = ig_expr_gather(
        e, all, ig_expr_ints(e, positions, (uint32_t)count), 1, IG_NEGATIVE_error);
    if (!square) {
        return NULL;
    }
    ig_dim dims[] = { ig_onnx_extent(e, square, 0), ig_dim_of(c->classes),
                      ig_dim_of(c->classes) };
    return ig_expr_reshape(e, square, 3, dims);
}

/* Q of the paper: -r_ji r_ij, and on the diagonal the sum of r_ji squared. */
static ig_value *make_system(const classifier *c, ig_value *shares) {
    ig_expr *e = c->s.e;
    ig_value *other = shares ? ig_expr_swap(e, shares, 1, 2) : NULL;
    ig_value *sides = ig_build_neg(e, ig_build_mul(e, other, shares));
    ig_value *squares = ig_build_mul(e, shares, shares);
    squares = squares ? ig_expr_reduce_axis(e, IG_REDUCE_sum, squares, 1, false) : NULL;
    ig_value *row = ig_expr_iota(e, IG_DT_i64, ig_dim_of(c->classes));
    ig_value *is_same = ig_build_eq(e, ig_expr_unsqueeze(e, row, 1), row);
    squares = ig_expr_unsqueeze(e, squares, 2);
    return ig_build_where(e, is_same, squares, sides);
}

/* The values carried from trip to trip: p, Q p and p Q p. */
typedef struct estimate {
    ig_value *p, *qp, *pqp; /* [N, C], [N, C], [N, 1] */
} estimate;

static ig_value *take_column(ig_expr *e, ig_value *x, int64_t i) {
    return x ? ig_expr_slice(e, x, 1, ig_dim_of(i), ig_dim_of(1), 1) : NULL;
}

static estimate begin_trip(ig_expr *e, ig_value *system, ig_value *p) {
    estimate at = { .p = p };
    ig_value *products = ig_build_mul(e, system, ig_expr_unsqueeze(e, p, 1));
    at.qp = products ? ig_expr_reduce_axis(e, IG_REDUCE_sum, products, 2, false) : NULL;
    ig_value *sum = ig_build_mul(e, p, at.qp);
    at.pqp = sum ? ig_expr_reduce_axis(e, IG_REDUCE_sum, sum, 1, true) : NULL;
    return at;
}

/* Class i's probability as the others want it, and all of them a sum of 1 again. */
static estimate correct_class(const classifier *c, ig_value *system, estimate at,
                              int64_t i) {
    ig_expr *e = c->s.e;
    ig_value *row = ig_expr_squeeze(e, take_column(e, system, i), 1);
    ig_value *own = take_column(e, row, i), *error = take_column(e, at.qp, i);
    ig_value *step = ig_build_div(e, ig_build_sub(e, at.pqp, error), own);
    ig_value *whole = ig_expr_with(e, IG_OP_add, step, 1);
    ig_value *number = ig_expr_iota(e, IG_DT_i64, ig_dim_of(c->classes));
    ig_value *is_own = ig_expr_with_integer(e, IG_OP_eq, number, i);
    ig_value *p = ig_build_where(e, is_own, ig_build_add(e, at.p, step), at.p);
    ig_value *twice = ig_expr_with(e, IG_OP_mul, error, 2);
    ig_value *more = ig_build_add(e, ig_build_mul(e, step, own), twice);
    ig_value *pqp = ig_build_add(e, at.pqp, ig_build_mul(e, step, more));
    ig_value *qp = ig_build_add(e, at.qp, ig_build_mul(e, step, row));
    pqp = ig_build_div(e, pqp, whole);
    return (estimate){ .p = ig_build_div(e, p, whole),
                       .qp = ig_build_div(e, qp, whole),
                       .pqp = ig_build_div(e, pqp, whole) };
}

/* One trip for the rows whose errors are too large; the others stay. */
static ig_value *build_trip(const classifier *c, ig_value *system, ig_value *p,
                            ig_value **out_goes_on) {
    ig_expr *e = c->s.e;
    estimate at = begin_trip(e, system, p);
    ig_value *error = ig_build_abs(e, ig_build_sub(e, at.qp, at.pqp));
    error = error ? ig_expr_reduce_axis(e, IG_REDUCE_max, error, 1, true) : NULL;
    double enough = (double)(0.005F / (float)c->classes);
    ig_value *is_far = ig_expr_with(e, IG_OP_ge, error, enough);
    ig_value *max = error ? ig_expr_reduce(e, IG_REDUCE_max, error, NULL, 0, false)
                          : NULL;
    *out_goes_on = ig_expr_with(e, IG_OP_ge, max, enough);
    for (int64_t i = 0; i < c->classes; i++) {
        at = correct_class(c, system, at, i);
    }
    return ig_build_where(e, is_far, at.p, p);
}

static ig_value *couple_pairs(const classifier *c, ig_value *decisions) {
    ig_expr *e = c->s.e;
    ig_value *system = make_system(c, share_pairs(c, decisions));
    if (!system) {
        return NULL;
    }
    ig_dim dims[] = { ig_onnx_extent(e, system, 0), ig_dim_of(c->classes) };
    ig_value *operands[] = {
        ig_expr_integer(e, IG_DT_i64, COUPLING_TRIPS), ig_expr_number(e, IG_DT_bool, 1),
        ig_expr_fill(e, IG_DT_f32, 2, dims, (double)(1.0F / (float)c->classes))
    };
    ig_builder outside = *e->builder;
    ig_op *op = ig_expr_open_loop(e, operands);
    if (!op) {
        return NULL;
    }
    ig_value *goes_on, *next = build_trip(c, system, op->bodies[0]->args[2], &goes_on);
    if (next && goes_on) {
        ig_make_yield(e->builder, (ig_value *[]){ goes_on, next }, 2);
    }
    *e->builder = outside;
    return next && goes_on ? ig_op_result(op, 0) : NULL;
}

/* ---- the operator ---- */

/* Without vectors: a score for each class. */
static ig_status give_linear(classifier *c, ig_value *x) {
    ig_expr *e = c->s.e;
    const Onnx__AttributeProto *given = ig_onnx_attr(c->s.node, "coefficients", NULL);
    bool is_positive = true;
    for (size_t i = 0; given && i < given->n_floats; i++) {
        is_positive = is_positive && given->floats[i] >= 0;
    }
    c->s.kind = IG_ONNX_KERNEL_LINEAR;
    c->s.vectors = ig_onnx_support_rows(&c->s, "coefficients", c->classes);
    ig_value *scores = ig_onnx_apply_kernel(&c->s, x);
    ig_value *rho = ig_onnx_take_floats(c->s.node, "rho");
    scores = rho ? ig_build_add(e, scores, ig_expr_select(e, rho, 0, ig_dim_of(0)))
                 : scores;
    ig_value *best = scores ? ig_onnx_best_class(e, scores) : NULL;
    bool is_shared = rho && ig_dim_is(rho->type->dims[0], 1);
    if (best && is_shared && c->classes == 2 && !c->has_shares) {
        ig_value *max = ig_expr_reduce_axis(e, IG_REDUCE_max, scores, 1, false);
        ig_value *is_high = is_positive ? ig_expr_with(e, IG_OP_ge, max, 0.5)
                                        : ig_expr_with(e, IG_OP_gt, max, 0);
        best = ig_build_where(e, is_high, ig_expr_integer(e, IG_DT_i64, 1), best);
    }
    scores = scores ? ig_onnx_transform_scores(e, scores, c->transform) : NULL;
    return ig_onnx_give_classes(c->s.node, &c->labels, best, scores);
}

static ig_value *finish_scores(const classifier *c, ig_value *decisions) {
    if (c->has_shares) {
        ig_value *shares = couple_pairs(c, decisions);
        return shares ? ig_onnx_transform_scores(c->s.e, shares, c->transform) : NULL;
    }
    if (c->classes > 2) {
        return ig_onnx_transform_scores(c->s.e, decisions, c->transform);
    }
    bool is_share = c->transform != IG_ONNX_TRANSFORM_NONE;
    return ig_onnx_pair_scores(c->s.e, decisions, is_share, c->transform);
}

ig_status ig_onnx_import_svm_classifier(ig_onnx_node *node) {
    ig_expr *e = node->e;
    classifier c = { .s = { .node = node, .e = e } };
    ig_value *x = ig_onnx_take_rows(node);
    if (!x || !ig_onnx_read_kernel(&c.s)) {
        return e->status;
    }
    IG_TRY(read_classifier(&c));
    if (!c.counts) {
        return give_linear(&c, x);
    }
    if (c.classes < 2) {
        return ig_onnx_fail(node, IG_INVALID, "has support vectors of only one class");
    }
    c.s.vectors = ig_onnx_support_rows(&c.s, "support_vectors", c.vectors);
    ig_value *kernels = ig_onnx_apply_kernel(&c.s, x);
    ig_value *decisions = ig_expr_matmul(e, kernels, weigh_vectors(&c));
    decisions = ig_build_add(e, decisions, ig_onnx_take_floats(node, "rho"));
    IG_TRY(e->status);
    ig_value *best = count_votes(&c, decisions);
    return ig_onnx_give_classes(node, &c.labels, best, finish_scores(&c, decisions));
}
