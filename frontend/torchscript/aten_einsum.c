/* einsum: subscripts to batched products of matrices.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Operands are multiplied from the left, pair by pair.  Of a pair's subscripts those in
 * both that are needed later are the batch, those in both that are not are summed, the
 * others are rows and columns: one matmul.  A subscript that stands twice in an operand
 * takes its diagonal; one that nobody else has is summed first. */
#include "frontend/torchscript/aten.h"

#include <string.h>

/* One operand's subscripts: labels 'A' … in the order of its axes; axes that `...`
 * stands for have labels from FREE on. */
enum { LABELS = 128, FREE = 64, LETTERS = 52 };

typedef struct term {
    ig_value *value;
    uint8_t   labels[IG_TENSOR_RANK];
} term;

typedef struct equation {
    ig_dim   extents[LABELS];
    bool     is_known[LABELS];
    uint8_t  output[2 * IG_TENSOR_RANK];
    uint32_t output_count;
    uint32_t free; /* most axes that `...` stands for */
} equation;

static int label_of(char c) {
    return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1;
}

/* Axis `at` of the term has a label that stands earlier too: only its diagonal
 * counts. */
static void take_diagonal(ig_ts_call *call, term *t, uint32_t first, uint32_t at) {
    ig_value *x = t->value;
    uint32_t  rank = x->type->rank;
    ig_value *index = ig_aten_axis_numbers(call, rank, at, x->type->dims[at]);
    ig_value *other = ig_aten_axis_numbers(call, rank, first, x->type->dims[first]);
    ig_value *mask = ig_aten_map2(call, IG_OP_eq, index, other);
    ig_value *zero = ig_aten_integer(call, (ig_dtype)x->type->dtype, 0);
    x = ig_aten_where(call, mask, x, zero);
    t->value = ig_aten_reduce1(call, IG_REDUCE_sum, x, at, false);
    memmove(t->labels + at, t->labels + at + 1, rank - at - 1);
}

static void take_diagonals(ig_ts_call *call, term *t) {
    for (uint32_t i = 1; t->value && i < t->value->type->rank; i++) {
        for (uint32_t k = 0; t->value && k < i; k++) {
            if (t->labels[i] == t->labels[k]) {
                take_diagonal(call, t, k, i--);
                break;
            }
        }
    }
}

/* Reads one operand's subscripts up to ',' or '-'. */
static const char *read_term(ig_ts_call *call, const char *at, term *t) {
    uint32_t rank = t->value->type->rank, count = 0, letters = 0;
    for (const char *c = at; *c && *c != ',' && *c != '-'; c++) {
        letters += label_of(*c) >= 0;
    }
    bool has_dots = false;
    for (; *at && *at != ',' && *at != '-'; at++) {
        int label = label_of(*at);
        if (label >= 0 && count < rank) {
            t->labels[count++] = (uint8_t)label;
        } else if (*at == '.' && !has_dots && at[1] == '.' && at[2] == '.') {
            uint32_t free = rank > letters ? rank - letters : 0;
            for (uint32_t i = 0; i < free; i++) { /* aligned at their last */
                t->labels[count++] = (uint8_t)(FREE + IG_TENSOR_RANK - free + i);
            }
            has_dots = true;
            at += 2;
        } else if (*at != ' ') {
            ig_aten_fail(call, IG_INVALID,
                         "subscripts do not fit an operand of rank %u", rank);
            return NULL;
        }
    }
    if (count != rank) {
        ig_aten_fail(call, IG_INVALID, "%u subscripts for an operand of rank %u", count,
                     rank);
        return NULL;
    }
    return at;
}

static bool note_extents(ig_ts_call *call, equation *e, const term *t) {
    for (uint32_t i = 0; i < t->value->type->rank; i++) {
        uint8_t label = t->labels[i];
        ig_dim  extent = t->value->type->dims[i];
        if (!e->is_known[label] || e->extents[label] == 1) {
            e->extents[label] = extent;
            e->is_known[label] = true;
        } else if (extent != 1 && call->status == IG_OK) {
            call->status = ig_ts_guard_equal(call, extent, e->extents[label],
                                             "extents of one subscript");
        }
    }
    return call->status == IG_OK;
}

static void add_free(equation *e) {
    for (int label = FREE; label < FREE + IG_TENSOR_RANK; label++) {
        if (e->is_known[label]) {
            e->output[e->output_count++] = (uint8_t)label;
        }
    }
}

static bool read_output(ig_ts_call *call, equation *e, const char *at) {
    for (at += 2; *at; at++) {
        int label = label_of(*at);
        if (label >= 0 && e->is_known[label] && e->output_count < IG_TENSOR_RANK) {
            e->output[e->output_count++] = (uint8_t)label;
        } else if (*at == '.' && at[1] == '.' && at[2] == '.') {
            add_free(e);
            at += 2;
        } else if (*at != ' ') {
            ig_aten_fail(call, IG_INVALID, "the output has a subscript of no operand");
            return false;
        }
    }
    return true;
}

/* Without "->": letters that stand once, in alphabetical order. */
static void imply_output(equation *e, const char *text) {
    int seen[LABELS] = { 0 };
    for (; *text; text++) {
        if (label_of(*text) >= 0) {
            seen[label_of(*text)]++;
        }
    }
    add_free(e);
    for (int label = 0; label < LETTERS && e->output_count < IG_TENSOR_RANK; label++) {
        if (seen[label] == 1) {
            e->output[e->output_count++] = (uint8_t)label;
        }
    }
}

static int find_label(const term *t, uint8_t label) {
    for (uint32_t i = 0; t->value && i < t->value->type->rank; i++) {
        if (t->labels[i] == label) {
            return (int)i;
        }
    }
    return -1;
}

static bool is_kept(const equation *e, uint8_t label, const term *rest,
                    uint32_t count) {
    for (uint32_t k = 0; k < e->output_count; k++) {
        if (e->output[k] == label) {
            return true;
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        if (find_label(&rest[k], label) >= 0) {
            return true;
        }
    }
    return false;
}

/* Sums the axes of `t` that neither the output, nor `other`, nor one of `rest` has. */
static void sum_lonely(ig_ts_call *call, const equation *e, term *t, const term *other,
                       const term *rest, uint32_t count) {
    for (uint32_t i = 0; t->value && i < t->value->type->rank;) {
        bool is_shared = other && find_label(other, t->labels[i]) >= 0;
        if (is_shared || is_kept(e, t->labels[i], rest, count)) {
            i++;
            continue;
        }
        t->value = ig_aten_reduce1(call, IG_REDUCE_sum, t->value, i, false);
        memmove(t->labels + i, t->labels + i + 1, IG_TENSOR_RANK - i - 1);
    }
}

/* The term as [labels…] in the order given; labels it lacks have extent 1. */
static ig_value *align(ig_ts_call *call, const term *t, const uint8_t *labels,
                       uint32_t count) {
    int64_t  perm[IG_TENSOR_RANK];
    ig_dim   dims[IG_TENSOR_RANK];
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        int at = find_label(t, labels[i]);
        dims[i] = at < 0 ? 1 : t->value->type->dims[at];
        if (at >= 0) {
            perm[next++] = at;
        }
    }
    return ig_aten_reshape(call, ig_aten_transpose(call, t->value, perm), count, dims);
}

/* Labels of two terms by what becomes of them in their product. */
typedef struct split {
    uint8_t batch[IG_TENSOR_RANK], left[IG_TENSOR_RANK], right[IG_TENSOR_RANK],
        summed[IG_TENSOR_RANK];
    uint32_t batch_count, left_count, right_count, summed_count;
} split;

static ig_dim extent_in(const term *t, uint8_t label) {
    int at = find_label(t, label);
    return at < 0 ? 1 : t->value->type->dims[at];
}

static split split_labels(const equation *e, const term *a, const term *b,
                          const term *rest, uint32_t count) {
    split s = { 0 };
    for (uint32_t i = 0; i < a->value->type->rank; i++) {
        uint8_t label = a->labels[i];
        bool    in_both = find_label(b, label) >= 0;
        if (!in_both) {
            s.left[s.left_count++] = label;
        } else if (is_kept(e, label, rest, count)) {
            s.batch[s.batch_count++] = label;
        } else {
            s.summed[s.summed_count++] = label;
        }
    }
    for (uint32_t i = 0; i < b->value->type->rank; i++) {
        if (find_label(a, b->labels[i]) < 0) {
            s.right[s.right_count++] = b->labels[i];
        }
    }
    return s;
}

static ig_dim product_of(ig_ts_call *call, const term *t, const uint8_t *labels,
                         uint32_t count) {
    ig_dim all = 1;
    for (uint32_t i = 0; i < count; i++) {
        all = ig_dim_mul(call->module, all, extent_in(t, labels[i]));
    }
    return all;
}

/* A summed label of extent 1 on one side is broadcast to the other's. */
static void widen(ig_ts_call *call, const equation *e, term *t, const split *s) {
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; t->value && i < t->value->type->rank; i++) {
        dims[i] = t->value->type->dims[i];
        for (uint32_t k = 0; k < s->summed_count; k++) {
            dims[i] = t->labels[i] == s->summed[k] ? e->extents[t->labels[i]] : dims[i];
        }
    }
    t->value = ig_aten_expand(call, t->value, t->value ? t->value->type->rank : 0,
                              dims);
}

/* [batch…, left] x [batch…, right], summed ones innermost: one batched product. */
static void multiply(ig_ts_call *call, const equation *e, term *a, term *b,
                     const term *rest, uint32_t count) {
    uint8_t  order[3 * IG_TENSOR_RANK];
    ig_dim   dims[3 * IG_TENSOR_RANK];
    split    s = split_labels(e, a, b, rest, count);
    uint32_t n = s.batch_count, all = n + s.left_count + s.right_count;
    if (all > IG_TENSOR_RANK) {
        a->value = ig_aten_fail(call, IG_LIMIT, "a product of %u axes", all);
        return;
    }
    widen(call, e, a, &s);
    widen(call, e, b, &s);
    if (call->status != IG_OK) {
        return;
    }
    memcpy(order, s.batch, n);
    memcpy(order + n, s.left, s.left_count);
    memcpy(order + n + s.left_count, s.summed, s.summed_count);
    ig_value *x = align(call, a, order, n + s.left_count + s.summed_count);
    memcpy(order + n, s.summed, s.summed_count);
    memcpy(order + n + s.summed_count, s.right, s.right_count);
    ig_value *y = align(call, b, order, n + s.right_count + s.summed_count);
    for (uint32_t i = 0; i < n; i++) {
        dims[i] = extent_in(a, s.batch[i]);
    }
    ig_dim summed = product_of(call, a, s.summed, s.summed_count);
    dims[n] = product_of(call, a, s.left, s.left_count);
    dims[n + 1] = summed;
    x = ig_aten_reshape(call, x, n + 2, dims);
    for (uint32_t i = 0; i < n; i++) {
        dims[i] = extent_in(b, s.batch[i]);
    }
    dims[n] = summed;
    dims[n + 1] = product_of(call, b, s.right, s.right_count);
    y = ig_aten_reshape(call, y, n + 2, dims);
    x = ig_aten_matmul(call, x, y);
    memcpy(order + n, s.left, s.left_count);
    memcpy(order + n + s.left_count, s.right, s.right_count);
    for (uint32_t i = 0; i < all; i++) {
        bool is_left = i < n + s.left_count;
        dims[i] = i < n     ? e->extents[order[i]]
                  : is_left ? extent_in(a, order[i])
                            : extent_in(b, order[i]);
    }
    a->value = ig_aten_reshape(call, x, all, dims);
    memcpy(a->labels, order, all);
}

/* einsum(equation, tensors) */
ig_status ig_ts_op_einsum(ig_ts_call *call) {
    ig_str     text = ig_aten_str(call, 0);
    uint32_t   count;
    ig_value **values = ig_aten_tensors(call, 1, &count);
    equation   e = { 0 };
    IG_TRY(call->status);
    const char *all = ig_arena_copy(call->arena, text.data, text.size), *at = all;
    term       *terms = IG_NEW_ARRAY(call->arena, term, count + 1u);
    for (uint32_t i = 0; i < count; i++) {
        terms[i].value = values[i];
        at = read_term(call, at, &terms[i]);
        if (!at || !note_extents(call, &e, &terms[i])) {
            return call->status;
        }
        take_diagonals(call, &terms[i]);
        at += *at == ',';
    }
    if (count == 0 || (*at && (at[0] != '-' || at[1] != '>'))) {
        return ig_ts_fail(call, IG_INVALID, "the equation does not fit %u operands",
                          count);
    }
    if (!*at) {
        imply_output(&e, all);
    } else if (!read_output(call, &e, at)) {
        return call->status;
    }
    for (uint32_t i = 0; i < count && call->status == IG_OK; i++) {
        const term *other = i > 0 ? &terms[0] : NULL;
        sum_lonely(call, &e, &terms[i], other, terms + i + 1, count - i - 1);
        if (i > 0 && call->status == IG_OK) {
            multiply(call, &e, &terms[0], &terms[i], terms + i + 1, count - i - 1);
        }
    }
    sum_lonely(call, &e, &terms[0], NULL, NULL, 0);
    IG_TRY(call->status);
    return ig_aten_give(call, align(call, &terms[0], e.output, e.output_count));
}
