/* attention, batch_norm, group_norm and group_norm_last.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Everything is computed in double and rounded once.
 */
#include "ir/fold/fold.h"
#include "ir/hooks.h"

#include <math.h>

/* ---- normalisation over channels ---- */

static ig_status check_channels(ig_eval *eval, const ig_op *op,
                                const ig_tensor *const *in) {
    for (uint32_t i = 1; i < op->operand_count; i++) {
        if (in[i]->count != in[0]->dims[1]) {
            return FOLD_ERROR(eval, op,
                              "%s: operand %u has %lld entries, expected %lld",
                              ig_ops[op->code].name, i, (long long)in[i]->count,
                              (long long)in[0]->dims[1]);
        }
    }
    return IG_OK;
}

ig_status ig_fold_batch_norm(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    const ig_tensor *x = in[0];
    double epsilon = ig_attr_float(op, IG_batch_norm_epsilon, 0);
    IG_TRY(check_channels(eval, op, in));
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank, x->dims, out));
    if (out->count == 0) {
        return IG_OK;
    }
    ig_around around = ig_around_axis(x, 1);
    for (int64_t i = 0; i < out->count; i++) {
        int64_t c = i / around.inner % around.extent;
        double spread = sqrt(ig_tensor_get_f64(in[4], c) + epsilon);
        double centred = ig_tensor_get_f64(x, i) - ig_tensor_get_f64(in[3], c);
        double scaled = centred / spread * ig_tensor_get_f64(in[1], c);
        ig_tensor_set_f64(out, i, scaled + ig_tensor_get_f64(in[2], c));
    }
    return IG_OK;
}

static void compute_moments(const ig_tensor *x, int64_t at, int64_t count,
                            double *out_mean, double *out_variance) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += ig_tensor_get_f64(x, at + i);
    }
    *out_mean = sum / (double)count;
    for (int64_t i = 0; i < count; i++) {
        double centred = ig_tensor_get_f64(x, at + i) - *out_mean;
        squares += centred * centred;
    }
    *out_variance = squares / (double)count;
}

ig_status ig_fold_group_norm(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                             ig_tensor *out) {
    const ig_tensor *x = in[0];
    int64_t groups = ig_attr_int(op, IG_group_norm_groups, 1);
    double epsilon = ig_attr_float(op, IG_group_norm_epsilon, 0);
    IG_TRY(check_channels(eval, op, in));
    if (x->dims[1] % groups != 0) {
        return FOLD_ERROR(eval, op, "group_norm: %lld channels do not make %lld groups",
                          (long long)x->dims[1], (long long)groups);
    }
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank, x->dims, out));
    if (out->count == 0) {
        return IG_OK;
    }
    ig_around around = ig_around_axis(x, 1);
    int64_t count = around.extent / groups * around.inner;
    for (int64_t at = 0; at < out->count; at += count) {
        double mean, variance;
        compute_moments(x, at, count, &mean, &variance);
        for (int64_t i = at; i < at + count; i++) {
            int64_t c = i / around.inner % around.extent;
            double value = (ig_tensor_get_f64(x, i) - mean) / sqrt(variance + epsilon);
            if (op->operand_count > 2) {
                value = value * ig_tensor_get_f64(in[1], c) +
                        ig_tensor_get_f64(in[2], c);
            }
            ig_tensor_set_f64(out, i, value);
        }
    }
    return IG_OK;
}

/* The elements of a group, of channels that are neighbours. */
typedef struct group {
    int64_t first, positions, channels;
    int64_t pitch; /* from one position to the next */
} group;

static int64_t element_of(const group *g, int64_t i) {
    return g->first + i / g->channels * g->pitch + i % g->channels;
}

static void normalise_group(const ig_tensor *x, const group *g, double epsilon,
                            ig_tensor *out) {
    double sum = 0, squares = 0;
    int64_t count = g->positions * g->channels;
    for (int64_t i = 0; i < count; i++) {
        sum += ig_tensor_get_f64(x, element_of(g, i));
    }
    double mean = sum / (double)count;
    for (int64_t i = 0; i < count; i++) {
        double centred = ig_tensor_get_f64(x, element_of(g, i)) - mean;
        squares += centred * centred;
    }
    double deviation = sqrt(squares / (double)count + epsilon);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = element_of(g, i);
        ig_tensor_set_f64(out, at, (ig_tensor_get_f64(x, at) - mean) / deviation);
    }
}

ig_status ig_fold_group_norm_last(ig_eval *eval, const ig_op *op,
                                  const ig_tensor *const *in, ig_tensor *out) {
    const ig_tensor *x = in[0];
    int64_t groups = ig_attr_int(op, IG_group_norm_last_groups, 1);
    double epsilon = ig_attr_float(op, IG_group_norm_last_epsilon, 0);
    group g = { .pitch = x->dims[x->rank - 1], .positions = 1 };
    g.channels = g.pitch / groups;
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, x->rank, x->dims, out));
    for (uint32_t d = 1; d + 1 < x->rank; d++) {
        g.positions *= x->dims[d];
    }
    for (int64_t i = 0; i < x->dims[0] * groups; i++) {
        g.first = i / groups * g.positions * g.pitch + i % groups * g.channels;
        normalise_group(x, &g, epsilon, out);
    }
    return IG_OK;
}

/* ---- attention ---- */

enum { Q, K, V, MASK };

typedef struct attend {
    const ig_tensor *in[4]; /* the mask may be absent */
    ig_tensor *out;
    int64_t rows, keys, width, values; /* L, S, E, V */
    int64_t mask_row, mask_column;     /* strides */
    int64_t past;                      /* columns before the first row's own */
    double scale, softcap, masked, *scores;
    bool is_causal, is_empty_nan;
} attend;

/* The score of a key for a row, or -inf where it takes no part. */
static double score_key(const attend *a, const int64_t *at, int64_t row, int64_t key) {
    if (a->is_causal && key > row + a->past) {
        return -INFINITY;
    }
    double sum = 0;
    for (int64_t e = 0; e < a->width; e++) {
        sum += ig_tensor_get_f64(a->in[Q], at[Q] + row * a->width + e) *
               ig_tensor_get_f64(a->in[K], at[K] + key * a->width + e);
    }
    sum *= a->scale;
    sum = a->softcap > 0 ? a->softcap * tanh(sum / a->softcap) : sum;
    if (!a->in[MASK]) {
        return sum;
    }
    int64_t position = at[MASK] + row * a->mask_row + key * a->mask_column;
    if (a->in[MASK]->dtype == IG_DT_bool) {
        return ig_tensor_get_i64(a->in[MASK], position) ? sum : a->masked;
    }
    return sum + ig_tensor_get_f64(a->in[MASK], position);
}

static void attend_row(const attend *a, const int64_t *at, int64_t row, int64_t to) {
    double largest = -INFINITY, sum = 0;
    for (int64_t s = 0; s < a->keys; s++) {
        a->scores[s] = score_key(a, at, row, s);
        bool is_larger = a->scores[s] > largest || isnan(a->scores[s]);
        largest = is_larger && !isnan(largest) ? a->scores[s] : largest;
    }
    bool is_empty = largest == -INFINITY && !a->is_empty_nan;
    for (int64_t s = 0; s < a->keys; s++) {
        a->scores[s] = is_empty ? 0 : exp(a->scores[s] - largest);
        sum += a->scores[s];
    }
    sum = is_empty ? 1 : sum;
    for (int64_t v = 0; v < a->values; v++) {
        double total = 0;
        for (int64_t s = 0; s < a->keys; s++) {
            double value = ig_tensor_get_f64(a->in[V], at[V] + s * a->values + v);
            total += a->scores[s] / sum * value;
        }
        ig_tensor_set_f64(a->out, to + v, total);
    }
}

/* Strides of the axes before the last two, aligned to the result's; joins extents. */
static bool lead_strides(const ig_tensor *x, uint32_t rank, int64_t *dims,
                         int64_t *strides) {
    int64_t own[IG_TENSOR_RANK];
    ig_strides_of(x->rank, x->dims, own);
    for (uint32_t i = 0; i < rank; i++) {
        strides[i] = 0;
    }
    for (uint32_t i = 3; i <= x->rank; i++) {
        int64_t extent = x->dims[x->rank - i], *dim = &dims[rank + 2 - i];
        if (extent != 1 && *dim != 1 && extent != *dim) {
            return false;
        }
        *dim = *dim == 1 ? extent : *dim;
        strides[rank + 2 - i] = extent == 1 ? 0 : own[x->rank - i];
    }
    return true;
}

static bool read_mask(attend *a) {
    const ig_tensor *mask = a->in[MASK];
    int64_t columns = mask->rank > 0 ? mask->dims[mask->rank - 1] : 1;
    int64_t rows = mask->rank > 1 ? mask->dims[mask->rank - 2] : 1;
    a->mask_column = columns == 1 ? 0 : 1;
    a->mask_row = rows == 1 ? 0 : columns;
    return (columns == 1 || columns == a->keys) && (rows == 1 || rows == a->rows);
}

static ig_status read_shapes(ig_eval *eval, const ig_op *op, attend *a) {
    const ig_tensor *q = a->in[Q], *k = a->in[K], *v = a->in[V];
    a->rows = q->dims[q->rank - 2];
    a->width = q->dims[q->rank - 1];
    a->keys = k->dims[k->rank - 2];
    a->values = v->dims[v->rank - 1];
    bool fits = k->dims[k->rank - 1] == a->width && v->dims[v->rank - 2] == a->keys;
    if (!fits || (a->in[MASK] && !read_mask(a))) {
        return FOLD_ERROR(
            eval, op,
            "attention: the extents of queries, keys, values and mask do not fit");
    }
    return IG_OK;
}

ig_status ig_fold_attention(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                            ig_tensor *out) {
    attend a = { .in = { in[0], in[1], in[2], op->operand_count > 3 ? in[3] : NULL },
                 .out = out,
                 .scale = ig_attr_float(op, IG_attention_scale, 1),
                 .softcap = ig_attr_float(op, IG_attention_softcap, 0),
                 .masked = ig_attr_float(op, IG_attention_masked, -INFINITY),
                 .is_causal = ig_attr_int(op, IG_attention_causal, 0) != 0,
                 .is_empty_nan = ig_attr_int(op, IG_attention_empty_nan, 0) != 0 };
    int64_t dims[IG_TENSOR_RANK], strides[4][IG_TENSOR_RANK];
    uint32_t rank = 0;
    if (ig_attr_is_set(op, IG_attention_past)) {
        IG_TRY(ig_eval_dim(eval, op, op->attrs[IG_attention_past].as.dim, &a.past));
    }
    IG_TRY(read_shapes(eval, op, &a));
    for (uint32_t i = 0; i < op->operand_count; i++) {
        rank = in[i]->rank > rank ? in[i]->rank : rank;
    }
    for (uint32_t d = 0; d < rank; d++) {
        dims[d] = 1;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!lead_strides(in[i], rank - 2, dims, strides[i])) {
            return FOLD_ERROR(eval, op, "attention: operand %u does not broadcast", i);
        }
    }
    dims[rank - 2] = a.rows;
    dims[rank - 1] = a.values;
    IG_TRY(ig_eval_alloc(eval, op, in[0]->dtype, rank, dims, out));
    IG_TRY(ig_eval_scratch(eval, op, a.keys, sizeof *a.scores, &a.scores));
    int64_t to = 0;
    ig_walk walk = { 0 };
    for (ig_walk_start(&walk, rank - 2, dims); walk.is_inside && out->count > 0;
         ig_walk_next(&walk)) {
        int64_t at[4] = { 0 };
        for (uint32_t i = 0; i < op->operand_count; i++) {
            for (uint32_t d = 0; d + 2 < rank; d++) {
                at[i] += walk.index[d] * strides[i][d];
            }
        }
        for (int64_t row = 0; row < a.rows; row++, to += a.values) {
            attend_row(&a, at, row, to);
        }
        IG_TRY(ig_context_poll(eval->context));
    }
    return IG_OK;
}
