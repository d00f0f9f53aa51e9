/* einsum: subscripts to batched products of matrices.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Operands are multiplied from the left, pair by pair.  Of a pair's subscripts those in
 * both that are needed later are the batch, those in both that are not are summed, the
 * others are rows and columns:
 *
 *     bth,hd->btd    batch none, rows b t, summed h, columns d: a product of matrices
 *     bhd,bmd->bhmd  nothing is summed: an elementwise product of [b h 1 d], [b 1 m d]
 *     bd,bd->b       neither rows nor columns: an elementwise product, summed
 *
 * Axes of `...` are broadcast, as those of products are: an extent that is known at run
 * time only may be 1.  Extents of one letter are equal, or known to be 1.
 *
 * A subscript that occurs twice in an operand takes its diagonal; one that nobody else
 * has is summed first.
 *
 * Truth values are so as long as none of them are summed, which counts them in i64;
 * pairs of them are not multiplied and summed at once (as in torch).
 */
#include "compose/math/einsum.h"

#include <string.h>

/* One operand's subscripts: labels in the order of its axes, letters from 0; axes of
 * `...` have labels from FREE on. */
enum { LABELS = 128, FREE = 64, LETTERS = 52 };

typedef struct term {
    ig_value *value;
    uint8_t labels[IG_TENSOR_RANK];
} term;

typedef struct labels {
    uint8_t items[2 * IG_TENSOR_RANK];
    uint32_t count;
} labels;

typedef struct equation {
    ig_expr build;
    ig_module *module;
    const char *why; /* NULL: all is well so far */
    ig_dim extents[LABELS];
    bool is_known[LABELS];
    labels output;
    const term *rest; /* terms after the pair at work */
    uint32_t rest_count;
    bool has_bools; /* as i64 while at work */
    bool has_sums, widens_sums;
} equation;

static int label_of(char c) {
    return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1;
}

static bool fail_equation(equation *e, const char *why) {
    e->why = e->why ? e->why : why;
    return false;
}

static void add_label(labels *l, uint8_t label) {
    l->items[l->count++] = label;
}

static int find_label(const term *t, uint8_t label) {
    for (uint32_t i = 0; i < t->value->type->rank; i++) {
        if (t->labels[i] == label) {
            return (int)i;
        }
    }
    return -1;
}

static void drop_label(term *t, uint32_t at) {
    memmove(t->labels + at, t->labels + at + 1, IG_TENSOR_RANK - at - 1);
}

/* ---- ops ---- */

static void sum_axis(equation *e, term *t, uint32_t axis) {
    t->value = ig_expr_reduce_axis(&e->build, IG_REDUCE_sum, t->value, axis, false);
    drop_label(t, axis);
}

/* 0, 1, 2 … along one axis, as many as `t` has there. */
static ig_value *axis_indices(equation *e, const term *t, uint32_t axis) {
    const ig_type *type = t->value->type;
    return ig_expr_axis_iota(&e->build, type->rank, axis, type->dims[axis]);
}

/* Axis `at` has a label that occurs earlier too, at `first`: elements off the diagonal
 * become 0, and are summed away. */
static void take_diagonal(equation *e, term *t, uint32_t first, uint32_t at) {
    ig_value *zero = ig_expr_number(&e->build, (ig_dtype)t->value->type->dtype, 0);
    ig_value *column = axis_indices(e, t, at);
    ig_value *on = ig_build_eq(&e->build, column, axis_indices(e, t, first));
    t->value = ig_build_where(&e->build, on, t->value, zero);
    sum_axis(e, t, at);
}

static void take_diagonals(equation *e, term *t) {
    for (uint32_t at = t->value->type->rank; at-- > 1;) {
        int first = find_label(t, t->labels[at]);
        if ((uint32_t)first < at) {
            take_diagonal(e, t, (uint32_t)first, at);
        }
    }
}

/* ---- reading ---- */

static bool is_dots(const char *at, const char *end) {
    return end - at >= 3 && memcmp(at, "...", 3) == 0;
}

/* One operand's subscripts; `...` takes the axes without letters, aligned at its
 * last. */
static bool read_term(equation *e, const char *at, const char *end, term *t) {
    uint32_t rank = t->value->type->rank, letters = 0, count = 0;
    bool has_dots = false;
    for (const char *c = at; c < end; c++) {
        letters += label_of(*c) >= 0;
    }
    for (; at < end; at++) {
        int label = label_of(*at);
        if (label >= 0 && count < rank) {
            t->labels[count++] = (uint8_t)label;
        } else if (is_dots(at, end) && !has_dots && letters <= rank) {
            uint32_t free = rank - letters;
            for (uint32_t i = 0; i < free; i++) {
                t->labels[count++] = (uint8_t)(FREE + IG_TENSOR_RANK - free + i);
            }
            has_dots = true;
            at += 2;
        } else if (*at != ' ') {
            return fail_equation(e, "subscripts do not fit the rank of their operand");
        }
    }
    return count == rank ||
           fail_equation(e, "an operand has more axes than subscripts");
}

static bool note_extents(equation *e, const term *t) {
    for (uint32_t i = 0; i < t->value->type->rank; i++) {
        uint8_t label = t->labels[i];
        ig_dim extent = t->value->type->dims[i];
        if (!e->is_known[label] || ig_dim_is(e->extents[label], 1)) {
            e->extents[label] = extent;
            e->is_known[label] = true;
            continue;
        }
        ig_truth equal = ig_dim_equal(e->module, extent, e->extents[label]);
        if (!ig_dim_is(extent, 1) && equal == IG_NO) {
            return fail_equation(e, "extents of one subscript differ");
        }
        if (!ig_dim_is(extent, 1) && equal == IG_MAYBE && label >= FREE) {
            e->extents[label] = ig_dim_bcast(e->module, e->extents[label], extent);
        } else if (!ig_dim_is(extent, 1) && equal == IG_MAYBE) {
            ig_make_guard_equal(e->build.builder, extent, e->extents[label],
                                "extents of one subscript differ");
        }
    }
    return true;
}

static void add_free(equation *e) {
    for (uint8_t label = FREE; label < FREE + IG_TENSOR_RANK; label++) {
        if (e->is_known[label] && e->output.count < IG_TENSOR_RANK) {
            add_label(&e->output, label);
        }
    }
}

static bool is_in_output(const equation *e, int label) {
    return memchr(e->output.items, label, e->output.count) != NULL;
}

static bool read_output(equation *e, const char *at, const char *end) {
    bool has_dots = false;
    for (; at < end; at++) {
        int label = label_of(*at);
        bool is_new = label >= 0 && e->is_known[label] && !is_in_output(e, label);
        if (is_new && e->output.count < IG_TENSOR_RANK) {
            add_label(&e->output, (uint8_t)label);
        } else if (is_dots(at, end) && !has_dots) {
            add_free(e);
            has_dots = true;
            at += 2;
        } else if (*at != ' ') {
            return fail_equation(
                e, "a subscript of the output is in no operand, or given twice");
        }
    }
    return true;
}

/* Without "->": letters that occur once, in alphabetical order. */
static void imply_output(equation *e, ig_str text) {
    int seen[LABELS] = { 0 };
    for (size_t i = 0; i < text.size; i++) {
        int label = label_of(text.data[i]);
        seen[label < 0 ? LETTERS : label]++;
    }
    add_free(e);
    for (int label = 0; label < LETTERS; label++) {
        if (seen[label] == 1 && e->output.count < IG_TENSOR_RANK) {
            add_label(&e->output, (uint8_t)label);
        }
    }
}

/* ---- products ---- */

static bool is_kept(const equation *e, uint8_t label) {
    bool is_kept = is_in_output(e, label);
    for (uint32_t k = 0; !is_kept && k < e->rest_count; k++) {
        is_kept = find_label(&e->rest[k], label) >= 0;
    }
    return is_kept;
}

/* Sums the axes that neither the output, nor `other`, nor one of the rest has. */
static void sum_lonely(equation *e, term *t, const term *other) {
    for (uint32_t i = t->value->type->rank; i-- > 0;) {
        bool is_shared = other && find_label(other, t->labels[i]) >= 0;
        if (!is_shared && !is_kept(e, t->labels[i])) {
            e->has_sums = true;
            if (e->widens_sums && ig_dtype_is_int((ig_dtype)t->value->type->dtype)) {
                t->value = ig_expr_cast(&e->build, t->value, IG_DT_i64);
            }
            sum_axis(e, t, i);
        }
    }
}

static ig_dim extent_in(const term *t, uint8_t label) {
    int at = find_label(t, label);
    return at < 0 ? ig_dim_of(1) : t->value->type->dims[at];
}

/* The term with its axes in the order given; labels it lacks have extent 1. */
static ig_value *align_axes(equation *e, const term *t, const labels *order) {
    int64_t perm[IG_TENSOR_RANK];
    ig_dim dims[IG_TENSOR_RANK];
    uint32_t next = 0;
    for (uint32_t i = 0; i < order->count; i++) {
        int at = find_label(t, order->items[i]);
        dims[i] = extent_in(t, order->items[i]);
        if (at >= 0) {
            perm[next++] = at;
        }
    }
    ig_value *x = ig_expr_transpose(&e->build, t->value, perm);
    return ig_expr_reshape(&e->build, x, order->count, dims);
}

/* Labels of two terms by their role in the product. */
typedef struct split {
    labels batch, rows, columns, summed;
} split;

static split split_labels(const equation *e, const term *a, const term *b) {
    split s = { 0 };
    for (uint32_t i = 0; i < a->value->type->rank; i++) {
        uint8_t label = a->labels[i];
        labels *to = find_label(b, label) < 0 ? &s.rows
                     : is_kept(e, label)      ? &s.batch
                                              : &s.summed;
        add_label(to, label);
    }
    for (uint32_t i = 0; i < b->value->type->rank; i++) {
        if (find_label(a, b->labels[i]) < 0) {
            add_label(&s.columns, b->labels[i]);
        }
    }
    return s;
}

static void append_labels(labels *to, const labels *from) {
    memcpy(to->items + to->count, from->items, from->count);
    to->count += from->count;
}

/* Axes in the order of the output where it has them, so that nothing is moved later. */
static labels in_output_order(const equation *e, const labels *some) {
    labels order = { 0 };
    for (uint32_t i = 0; i < e->output.count; i++) {
        if (memchr(some->items, e->output.items[i], some->count)) {
            add_label(&order, e->output.items[i]);
        }
    }
    for (uint32_t i = 0; i < some->count; i++) {
        if (!is_in_output(e, some->items[i])) {
            add_label(&order, some->items[i]);
        }
    }
    return order;
}

static void set_product(term *a, ig_value *value, const labels *order) {
    a->value = value;
    memcpy(a->labels, order->items, order->count);
}

/* Elementwise, then summed. */
static void multiply_elements(equation *e, term *a, const term *b, const split *s) {
    labels all = s->batch;
    append_labels(&all, &s->rows);
    append_labels(&all, &s->columns);
    labels order = in_output_order(e, &all);
    append_labels(&order, &s->summed);
    if (order.count > IG_TENSOR_RANK) {
        (void)fail_equation(e, "a product of more axes than a tensor may have");
        return;
    }
    ig_value *left = align_axes(e, a, &order), *right = align_axes(e, b, &order);
    ig_value *product = ig_build_mul(&e->build, left, right);
    set_product(a, product, &order);
    for (uint32_t i = order.count; i-- > order.count - s->summed.count;) {
        sum_axis(e, a, i);
    }
}

/* A summed label of extent 1 on one side is as wide as on the other. */
static void widen_term(equation *e, term *t, const split *s) {
    const ig_type *type = t->value->type;
    ig_dim dims[IG_TENSOR_RANK] = { 0 };
    for (uint32_t i = 0; i < type->rank; i++) {
        bool is_summed = memchr(s->summed.items, t->labels[i], s->summed.count) != NULL;
        dims[i] = is_summed ? e->extents[t->labels[i]] : type->dims[i];
    }
    t->value = ig_expr_expand(&e->build, t->value, type->rank, dims);
}

static ig_dim product_of(equation *e, const term *t, const labels *some) {
    ig_dim all = ig_dim_of(1);
    for (uint32_t i = 0; i < some->count; i++) {
        all = ig_dim_mul(e->module, all, extent_in(t, some->items[i]));
    }
    return all;
}

/* [batch…, first, second], where each of the two is several labels. */
static ig_value *as_matrices(equation *e, const term *t, const split *s,
                             const labels *first, const labels *second) {
    labels order = s->batch;
    ig_dim dims[IG_TENSOR_RANK + 2] = { 0 };
    for (uint32_t i = 0; i < s->batch.count; i++) {
        dims[i] = extent_in(t, s->batch.items[i]);
    }
    dims[s->batch.count] = product_of(e, t, first);
    dims[s->batch.count + 1] = product_of(e, t, second);
    append_labels(&order, first);
    append_labels(&order, second);
    return ig_expr_reshape(&e->build, align_axes(e, t, &order), s->batch.count + 2,
                           dims);
}

static void multiply_matrices(equation *e, term *a, term *b, split *s) {
    labels order = s->batch = in_output_order(e, &s->batch);
    s->rows = in_output_order(e, &s->rows);
    s->columns = in_output_order(e, &s->columns);
    append_labels(&order, &s->rows);
    append_labels(&order, &s->columns);
    if (order.count > IG_TENSOR_RANK || s->batch.count + 2 > IG_TENSOR_RANK) {
        (void)fail_equation(e, "a product of more axes than a tensor may have");
        return;
    }
    widen_term(e, a, s);
    widen_term(e, b, s);
    ig_value *left = as_matrices(e, a, s, &s->rows, &s->summed);
    ig_value *right = as_matrices(e, b, s, &s->summed, &s->columns);
    ig_value *product = ig_build_matmul(&e->build, left, right, (ig_matmul_attrs){ 0 });
    ig_dim dims[IG_TENSOR_RANK];
    for (uint32_t i = 0; i < order.count; i++) {
        bool is_row = find_label(a, order.items[i]) >= 0;
        dims[i] = i < s->batch.count ? product->type->dims[i]
                                     : extent_in(is_row ? a : b, order.items[i]);
    }
    set_product(a, ig_expr_reshape(&e->build, product, order.count, dims), &order);
}

static void multiply_terms(equation *e, term *a, term *b) {
    if (a->value->type->dtype != b->value->type->dtype) { /* one was widened */
        a->value = ig_expr_cast(&e->build, a->value, IG_DT_i64);
        b->value = ig_expr_cast(&e->build, b->value, IG_DT_i64);
    }
    split s = split_labels(e, a, b);
    bool is_narrow = !s.rows.count && !s.columns.count;
    if (s.summed.count && e->has_bools) {
        fail_equation(
            e, "bools cannot be multiplied and summed: cast them to numbers first");
        return;
    }
    if (!s.summed.count || is_narrow) {
        multiply_elements(e, a, b, &s);
    } else {
        multiply_matrices(e, a, b, &s);
    }
}

/* ---- the equation ---- */

static const char *find_arrow(ig_str text) {
    for (size_t i = 0; i + 1 < text.size; i++) {
        if (text.data[i] == '-' && text.data[i + 1] == '>') {
            return text.data + i;
        }
    }
    return NULL;
}

static bool read_terms(equation *e, const char *at, const char *end, term *terms,
                       uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const char *comma = end > at ? memchr(at, ',', (size_t)(end - at)) : NULL;
        if ((comma != NULL) != (i + 1 < count)) {
            return fail_equation(
                e, "as many groups of subscripts as operands are expected");
        }
        const char *stop = comma ? comma : end;
        if (!read_term(e, at, stop, &terms[i]) || !note_extents(e, &terms[i])) {
            return false;
        }
        at = stop + 1;
    }
    return count > 0 || fail_equation(e, "expected at least one operand");
}

static void evaluate_terms(equation *e, term *terms, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        take_diagonals(e, &terms[i]);
    }
    e->rest = terms + 1;
    e->rest_count = count - 1;
    sum_lonely(e, &terms[0], NULL);
    for (uint32_t i = 1; i < count && !e->why; i++) {
        e->rest = terms + i + 1;
        e->rest_count = count - i - 1;
        sum_lonely(e, &terms[i], &terms[0]);
        multiply_terms(e, &terms[0], &terms[i]);
    }
}

/* The terms' values; truth values are numbers from here on. */
static bool take_operands(equation *e, term *terms, const ig_einsum_spec *spec) {
    for (uint32_t i = 0; i < spec->operand_count; i++) {
        ig_value *x = spec->operands[i];
        if (x->type->dtype != spec->operands[0]->type->dtype) {
            return fail_equation(e, "the operands differ in their element types");
        }
        if (x->type->dtype == IG_DT_str) {
            return fail_equation(e, "strings have no sums and products");
        }
        e->has_bools = x->type->dtype == IG_DT_bool;
        terms[i].value = e->has_bools ? ig_expr_cast(&e->build, x, IG_DT_i64) : x;
    }
    return true;
}

ig_status ig_einsum(ig_builder *builder, ig_arena *scratch, const ig_einsum_spec *spec,
                    ig_value **out_value, const char **out_why) {
    equation e = { .build = ig_expr_of(builder),
                   .module = builder->graph->module,
                   .widens_sums = spec->widens_sums };
    ig_str text = spec->equation.size ? spec->equation : ig_str_of("");
    uint32_t count = spec->operand_count;
    term *terms = IG_NEW_ARRAY(scratch, term, count + 1u);
    const char *arrow = find_arrow(text), *end = text.data + text.size;
    bool is_read = take_operands(&e, terms, spec) &&
                   read_terms(&e, text.data, arrow ? arrow : end, terms, count);
    if (is_read && !arrow) {
        imply_output(&e, text);
    } else if (is_read) {
        is_read = read_output(&e, arrow + 2, end);
    }
    if (is_read) {
        evaluate_terms(&e, terms, count);
    }
    *out_why = e.why;
    if (e.why) {
        return IG_INVALID;
    }
    ig_value *value = align_axes(&e, &terms[0], &e.output);
    *out_value = e.has_bools && !e.has_sums ? ig_expr_cast(&e.build, value, IG_DT_bool)
                                            : value;
    return IG_OK;
}
