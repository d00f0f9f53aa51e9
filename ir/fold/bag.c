/* bag: pooled look-ups in embedding tables, one feature after the other; and interact.
 * SPDX-License-Identifier: Apache-2.0
 *
 * For every bag: its ids one after the other, each through the rules
 *
 *     padding    the row that is left out, as if its id were absent
 *     negative   wrap: counted from the end · error · skip: -1 adds nothing, but
 *                counts in the mean; other negatives go on to the next rule
 *     range      error · clamp to the first and last row · first: row 0 instead
 *
 * then weight * row is added up (or the larger taken) in double, and rounded once.  The
 * mean divides by the number of ids that count.  A bag in which no id was added and
 * none counts - for max: none was added - is empty: zero, -inf or NaN by the `empty`
 * rule. Without pooling each id gives a row; padding and skipped ids give zeros.
 *
 * Offsets must satisfy 0 <= begin <= end <= number of ids, or are made to (`offsets`).
 * Where the last bag's end is in the offsets, two exporters treat the ids after it in
 * ways of their own (`last`).
 *
 * Row-wise tables hold unsigned codes, whatever the signedness of their dtype:
 * value = code * scale + bias; ir/tensor/row.def gives their offsets in the row.
 */
#include "ir/bag.h"

#include "ir/fold/fold.h"
#include "ir/hooks.h"

#include <math.h>
#include <string.h>

typedef struct bag {
    ig_eval *eval;
    const ig_op *op;
    uint32_t index; /* of the feature */
    ig_bag_feature feature;
    const ig_tensor *const *tables, *table; /* all (bag_ids: NULL); that of the id */
    const ig_tensor *ids, *begins, *ends, *weights;
    ig_negative negative;
    ig_range_rule range;
    ig_offsets_rule offsets;
    ig_row_layout layout; /* tables */
    int64_t rows, dim;
    double *row, *total; /* dim values each */
} bag;

#define BAG_ERROR(b, format, ...)                             \
    FOLD_ERROR((b)->eval, (b)->op, "%s: feature %u: " format, \
               ig_ops[(b)->op->code].name, (b)->index, __VA_ARGS__)

/* ---- rows ---- */

static ig_dtype code_dtype(ig_dtype dtype) {
    static const struct {
        ig_dtype from, to;
    } codes[] = { { IG_DT_i8, IG_DT_u8 },
                  { IG_DT_i4, IG_DT_u4 },
                  { IG_DT_i2, IG_DT_u2 } };
    for (size_t i = 0; i < IG_COUNT_OF(codes); i++) {
        dtype = dtype == codes[i].from ? codes[i].to : dtype;
    }
    return dtype;
}

static void read_small_floats(const bag *b, const void *codes) {
    const uint8_t *code = codes;
    for (int64_t i = 0; i < b->dim; i++) {
        b->row[i] = ig_row_small_float(b->tables[0]->rows, code[i]);
    }
}

static void read_row(const bag *b, int64_t row) {
    const ig_tensor *table = b->table;
    if (table->kind != IG_TABLE) {
        ig_span_read_f64(ig_span_of(table, row * b->dim, 1), b->dim, b->row);
        return;
    }
    const ig_row_info *format = &ig_rows_formats[table->rows.format];
    const char *at = (const char *)table->data + row * b->layout.stride;
    double factor[2]; /* scale, bias */
    if (table->rows.exponent_bits) {
        read_small_floats(b, at + b->layout.codes);
        return;
    }
    ig_dtype dtype = format->side ? code_dtype(table->dtype) : table->dtype;
    ig_span_read_f64((ig_span){ dtype, at + b->layout.codes, 0, 1 }, b->dim, b->row);
    if (!format->side) {
        return;
    }
    ig_span pair = { (ig_dtype)format->dtype, at + b->layout.factors, 0, 1 };
    ig_span_read_f64(pair, 2, factor);
    for (int64_t i = 0; i < b->dim; i++) {
        b->row[i] = b->row[i] * factor[0] + factor[1];
    }
}

/* ---- ids ---- */

typedef enum id_use { ID_ROW, ID_COUNTS, ID_LEFT_OUT } id_use;

/* The id's table becomes the one in hand; the result is its row there. */
static int64_t open_id(bag *b, int64_t id) {
    if (!b->tables) {
        return id;
    }
    int64_t last = (int64_t)b->feature.tables - 1;
    int64_t table = id < 0 ? 0 : id >> IG_BAG_ROW_BITS;
    table = table > last ? last : table;
    b->table = b->tables[table];
    b->rows = b->table->dims[0];
    return id - (table << IG_BAG_ROW_BITS);
}

static ig_status use_of_id(bag *b, int64_t position, id_use *out_use,
                           int64_t *out_row) {
    int64_t id = open_id(b, ig_tensor_get_i64(b->ids, position)), row = id;
    *out_use = ID_ROW;
    bool is_wrapped = id < 0 && b->negative == IG_NEGATIVE_wrap;
    bool may_move = b->rows > 0 && b->range != IG_RANGE_error &&
                    (id >= 0 || b->negative != IG_NEGATIVE_error);
    row += is_wrapped ? b->rows : 0;
    if (b->feature.padding != INT64_MIN && row == b->feature.padding) {
        *out_use = ID_LEFT_OUT;
        return IG_OK;
    }
    if (id == -1 && b->negative == IG_NEGATIVE_skip) {
        *out_use = ID_COUNTS;
        return IG_OK;
    }
    if (may_move && (row < 0 || row >= b->rows)) {
        row = row < 0 || b->range == IG_RANGE_first ? 0 : b->rows - 1;
    }
    if (row < 0 || row >= b->rows) {
        return BAG_ERROR(
            b, "id %lld at position %lld is out of range: the table has %lld rows",
            (long long)id, (long long)position, (long long)b->rows);
    }
    *out_row = row;
    return IG_OK;
}

/* ---- pooling ---- */

static double empty_value(ig_empty empty) {
    static const double values[] = {
        [IG_EMPTY_zero] = 0, [IG_EMPTY_neg_inf] = -INFINITY, [IG_EMPTY_nan] = NAN
    };
    return values[empty];
}

static void add_row(const bag *b, int64_t position, bool is_first) {
    double weight = b->weights ? ig_tensor_get_f64(b->weights, position) : 1;
    for (int64_t i = 0; i < b->dim; i++) {
        double x = b->weights ? weight * b->row[i] : b->row[i];
        double total = b->total[i];
        if (b->feature.pool != IG_POOL_max) {
            b->total[i] = total + x;
        } else if (is_first || x > total || isnan(x)) {
            b->total[i] = is_first || !isnan(total) ? x : total;
        }
    }
}

/* Positions of one bag's ids, and what its mean divides by when `divisor` >= 0. */
typedef struct bag_span {
    int64_t begin, end, divisor;
} bag_span;

static ig_status pool_bag(bag *b, bag_span span, ig_tensor *out, int64_t to) {
    int64_t added = 0, counted = 0, row;
    memset(b->total, 0, (size_t)b->dim * sizeof *b->total);
    for (int64_t position = span.begin; position < span.end; position++) {
        id_use use;
        IG_TRY(use_of_id(b, position, &use, &row));
        counted += use != ID_LEFT_OUT;
        if (use == ID_ROW) {
            read_row(b, row);
            add_row(b, position, added == 0);
            added++;
        }
    }
    bool is_max = b->feature.pool == IG_POOL_max;
    bool is_empty = is_max ? added == 0 : counted == 0;
    double count = (double)(span.divisor >= 0 ? span.divisor : counted);
    count = b->feature.pool == IG_POOL_mean ? count : 1;
    for (int64_t i = 0; i < b->dim; i++) {
        b->total[i] = is_empty ? empty_value(b->feature.empty) : b->total[i] / count;
    }
    ig_span_write_f64(out, to, b->dim, b->total, false);
    return IG_OK;
}

/* ---- the three forms of a feature ---- */

static ig_status look_up_each(bag *b, bag_span window, ig_tensor *out) {
    for (int64_t position = window.begin; position < window.end; position++) {
        id_use use;
        int64_t row;
        IG_TRY(use_of_id(b, position, &use, &row));
        if (use != ID_ROW) {
            continue;
        }
        memset(b->total, 0, (size_t)b->dim * sizeof *b->total);
        read_row(b, row);
        add_row(b, position, true);
        ig_span_write_f64(out, position * b->dim, b->dim, b->total, false);
    }
    return IG_OK;
}

static ig_status pool_fixed(bag *b, ig_tensor *out) {
    int64_t length = b->ids->dims[1];
    for (int64_t i = 0; i < b->ids->dims[0]; i++) {
        bag_span span = { i * length, (i + 1) * length, -1 };
        IG_TRY(pool_bag(b, span, out, i * b->dim));
    }
    return IG_OK;
}

static bag_span span_of(const bag *b, int64_t index) {
    int64_t ids = b->ids->count;
    bag_span span = { ig_tensor_get_i64(b->begins, index), ids, -1 };
    if (b->ends) {
        span.end = ig_tensor_get_i64(b->ends, index);
    } else if (index + 1 < b->begins->count) {
        span.end = ig_tensor_get_i64(b->begins, index + 1);
    }
    return span;
}

/* The two ways of exporters with ids after the last offset. */
static void open_last(const bag *b, bag_span *span) {
    if (b->feature.last == IG_LAST_mean) {
        span->divisor = b->ids->count - span->begin;
    }
    if (b->feature.last == IG_LAST_rest && span->begin != span->end) {
        span->end = b->ids->count;
    }
}

static int64_t clamp_index(int64_t x, int64_t low, int64_t high) {
    return x < low ? low : x > high ? high : x;
}

/* The offsets of a bag, in order and within the ids. */
static ig_status check_span(const bag *b, int64_t index, bag_span *span) {
    int64_t ids = b->ids->count;
    if (b->offsets == IG_OFFSETS_slice) {
        span->begin += span->begin < 0 ? ids : 0;
        span->end += span->end < 0 ? ids : 0;
    }
    if (b->offsets == IG_OFFSETS_first && index == 0 && span->begin != 0) {
        return BAG_ERROR(b, "the first bag begins at %lld, expected 0",
                         (long long)span->begin);
    }
    if (b->offsets == IG_OFFSETS_clamp || b->offsets == IG_OFFSETS_slice) {
        span->begin = clamp_index(span->begin, 0, ids);
        span->end = clamp_index(span->end, span->begin, ids);
    }
    if (span->begin < 0 || span->begin > span->end || span->end > ids) {
        return BAG_ERROR(b, "bag %lld goes from %lld to %lld, and there are %lld ids",
                         (long long)index, (long long)span->begin, (long long)span->end,
                         (long long)ids);
    }
    return IG_OK;
}

static ig_status pool_jagged(bag *b, int64_t bags, ig_tensor *out) {
    for (int64_t i = 0; i < bags; i++) {
        bag_span span = span_of(b, i);
        IG_TRY(check_span(b, i, &span));
        if (i == bags - 1) {
            open_last(b, &span);
        }
        IG_TRY(pool_bag(b, span, out, i * b->dim));
    }
    return IG_OK;
}

/* Without pooling: from the first begin to the last end. */
static ig_status look_up_window(bag *b, int64_t bags, ig_tensor *out) {
    if (bags == 0) {
        return IG_OK;
    }
    bag_span first = span_of(b, 0), window = span_of(b, bags - 1);
    window.begin = first.begin;
    IG_TRY(check_span(b, 0, &window));
    return look_up_each(b, window, out);
}

static ig_status check_operands(const bag *b, int64_t bags) {
    bool is_fixed = !b->begins && b->feature.pool != IG_POOL_none;
    if (is_fixed && b->ids->rank != 2) {
        return BAG_ERROR(b, "ids have rank %u, expected 2", b->ids->rank);
    }
    if (b->weights && b->weights->count != b->ids->count) {
        return BAG_ERROR(b, "%lld weights for %lld ids", (long long)b->weights->count,
                         (long long)b->ids->count);
    }
    if (b->ends && b->ends->count != b->begins->count) {
        return BAG_ERROR(b, "%lld begins and %lld ends", (long long)b->begins->count,
                         (long long)b->ends->count);
    }
    if (bags < 0) {
        return BAG_ERROR(b, "the last end is missing among %lld offsets",
                         (long long)b->begins->count);
    }
    return IG_OK;
}

static ig_status fold_feature(bag *b, ig_tensor *out) {
    const ig_type *type = b->op->results[b->index].type;
    int64_t dims[IG_TENSOR_RANK] = { 0 }, bags = 0;
    uint32_t rank = 1;
    if (b->begins) {
        bags = b->begins->count - (b->feature.last != IG_LAST_ids);
        dims[0] = b->feature.pool == IG_POOL_none ? b->ids->count : bags;
    } else if (b->feature.pool != IG_POOL_none) {
        dims[0] = b->ids->dims[0];
    } else {
        rank = b->ids->rank;
        memcpy(dims, b->ids->dims, rank * sizeof *dims);
    }
    IG_TRY(check_operands(b, bags));
    dims[rank++] = b->dim;
    ig_dtype dtype = (ig_dtype)type->dtype;
    IG_TRY(ig_eval_alloc(b->eval, b->op, dtype, rank, dims, out));
    IG_TRY(ig_eval_scratch(b->eval, b->op, b->dim, sizeof(double), &b->row));
    IG_TRY(ig_eval_scratch(b->eval, b->op, b->dim, sizeof(double), &b->total));
    bool is_none = b->feature.pool == IG_POOL_none;
    if (b->begins) {
        return is_none ? look_up_window(b, bags, out) : pool_jagged(b, bags, out);
    }
    bag_span all = { 0, b->ids->count, -1 };
    return is_none ? look_up_each(b, all, out) : pool_fixed(b, out);
}

static ig_status open_tables(bag *b) {
    const ig_tensor *first = b->tables[0];
    b->dim = first->dims[1];
    for (uint32_t i = 0; i < b->feature.tables; i++) {
        const ig_tensor *table = b->tables[i];
        if (table->dims[1] != b->dim) {
            return BAG_ERROR(b, "rows of %lld and of %lld", (long long)b->dim,
                             (long long)table->dims[1]);
        }
    }
    if (first->kind == IG_TABLE && !ig_table_layout(first, &b->layout)) {
        return BAG_ERROR(b, "a table whose rows have an impossible format (of %lld)",
                         (long long)b->dim);
    }
    return IG_OK;
}

ig_status ig_fold_bag(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                      ig_tensor *out) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_bag_feature f = ig_bag_feature_at(op, i);
        bag b = { .eval = eval, .op = op, .index = i, .feature = f };
        b.tables = in + f.table;
        b.ids = in[f.ids];
        b.begins = f.begins ? in[f.begins] : NULL;
        b.ends = f.ends ? in[f.ends] : NULL;
        b.weights = f.weights ? in[f.weights] : NULL;
        b.negative = (ig_negative)ig_attr_int(op, IG_bag_negative, IG_NEGATIVE_wrap);
        b.range = (ig_range_rule)ig_attr_int(op, IG_bag_range, IG_RANGE_error);
        b.offsets = (ig_offsets_rule)ig_attr_int(op, IG_bag_offsets, IG_OFFSETS_error);
        IG_TRY(open_tables(&b));
        IG_TRY(fold_feature(&b, &out[i]));
        IG_TRY(ig_context_poll(eval->context));
    }
    return IG_OK;
}

/* ---- bag_ids: the ids of a bag, without rows ---- */

/* Walked twice: results are NULL while ids are counted and checked. */
typedef struct id_list {
    ig_tensor *lengths, *ids, *weights;
    int64_t count, bags;
} id_list;

/* `position` -1: of no id. */
static void list_id(const bag *b, id_list *list, int64_t position, int64_t row) {
    if (list->ids) {
        ig_tensor_set_i64(list->ids, list->count, row);
    }
    if (list->weights && position >= 0) {
        ig_span_copy(list->weights, list->count, b->weights, position, 1);
    }
    list->count++;
}

static void end_bag(id_list *list, int64_t first) {
    if (list->lengths) {
        ig_tensor_set_i64(list->lengths, list->bags, list->count - first);
    }
    list->bags++;
}

static ig_status list_bag(bag *b, bag_span span, id_list *list) {
    int64_t first = list->count, row;
    for (int64_t position = span.begin; position < span.end; position++) {
        id_use use;
        IG_TRY(use_of_id(b, position, &use, &row));
        if (use == ID_ROW || (use == ID_COUNTS && b->feature.pool != IG_POOL_max)) {
            list_id(b, list, position, use == ID_ROW ? row : -1);
        }
    }
    int64_t counted = list->count - first;
    bool is_mean = b->feature.pool == IG_POOL_mean && counted > 0;
    for (int64_t i = counted; is_mean && i < span.divisor; i++) {
        list_id(b, list, -1, -1); /* they count */
    }
    end_bag(list, first);
    return IG_OK;
}

static ig_status list_each(bag *b, int64_t bags, id_list *list) {
    bag_span window = { 0, b->ids->count, -1 };
    if (b->begins && bags > 0) {
        window = span_of(b, bags - 1);
        window.begin = span_of(b, 0).begin;
        IG_TRY(check_span(b, 0, &window));
    } else if (b->begins) {
        window.end = 0;
    }
    for (int64_t position = 0; position < b->ids->count; position++) {
        int64_t first = list->count, row = -1;
        id_use use = ID_LEFT_OUT;
        if (position >= window.begin && position < window.end) {
            IG_TRY(use_of_id(b, position, &use, &row));
        }
        list_id(b, list, position, use == ID_ROW ? row : -1);
        end_bag(list, first);
    }
    return IG_OK;
}

static ig_status list_all(bag *b, int64_t bags, id_list *list) {
    if (b->feature.pool == IG_POOL_none) {
        return list_each(b, bags, list);
    }
    for (int64_t i = 0; i < bags; i++) {
        int64_t length = b->begins ? 0 : b->ids->dims[1];
        bag_span span = { i * length, (i + 1) * length, -1 };
        if (b->begins) {
            span = span_of(b, i);
            IG_TRY(check_span(b, i, &span));
        }
        if (b->begins && i == bags - 1) {
            open_last(b, &span);
        }
        IG_TRY(list_bag(b, span, list));
    }
    return IG_OK;
}

ig_status ig_fold_bag_ids(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                          ig_tensor *out) {
    ig_bag_feature f = ig_bag_ids_feature(op);
    bag b = { .eval = eval, .op = op, .feature = f, .ids = in[0] };
    b.index = (uint32_t)ig_attr_int(op, IG_bag_ids_feature, 0);
    b.rows = ig_attr_int(op, IG_bag_ids_rows, 0);
    b.begins = f.begins ? in[f.begins] : NULL;
    b.ends = f.ends ? in[f.ends] : NULL;
    b.weights = f.weights ? in[f.weights] : NULL;
    b.negative = (ig_negative)ig_attr_int(op, IG_bag_ids_negative, IG_NEGATIVE_wrap);
    b.range = (ig_range_rule)ig_attr_int(op, IG_bag_ids_range, IG_RANGE_error);
    b.offsets = (ig_offsets_rule)ig_attr_int(op, IG_bag_ids_offsets, IG_OFFSETS_error);
    int64_t bags = b.begins                 ? b.begins->count - (f.last != IG_LAST_ids)
                   : f.pool == IG_POOL_none ? b.ids->count
                                            : b.ids->dims[0];
    IG_TRY(check_operands(&b, bags));
    id_list counted = { 0 };
    IG_TRY(list_all(&b, bags, &counted));
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, 1, &counted.bags, &out[0]));
    IG_TRY(ig_eval_alloc(eval, op, IG_DT_i64, 1, &counted.count, &out[1]));
    id_list list = { .lengths = &out[0], .ids = &out[1] };
    if (b.weights) {
        IG_TRY(ig_eval_alloc(eval, op, b.weights->dtype, 1, &counted.count, &out[2]));
        list.weights = &out[2];
    }
    return list_all(&b, bags, &list);
}

/* ---- interact ---- */

static double dot_rows(const ig_tensor *x, int64_t a, int64_t b, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        sum += ig_tensor_get_f64(x, a + i) * ig_tensor_get_f64(x, b + i);
    }
    return sum;
}

ig_status ig_fold_interact(ig_eval *eval, const ig_op *op, const ig_tensor *const *in,
                           ig_tensor *out) {
    const ig_tensor *x = in[0];
    const ig_attr *pairs = &op->attrs[IG_interact_pairs];
    int64_t rows = x->dims[1], width = x->dims[2], to = 0;
    int64_t dims[] = { x->dims[0], pairs->count };
    for (uint32_t k = 0; k < pairs->count; k++) {
        int64_t pair = pairs->as.ints[k];
        if (pair < 0 || rows == 0 || pair / rows >= rows) {
            return FOLD_ERROR(eval, op,
                              "interact: pair %u is %lld, outside of %lld rows", k,
                              (long long)pair, (long long)rows);
        }
    }
    IG_TRY(ig_eval_alloc(eval, op, x->dtype, 2, dims, out));
    for (int64_t b = 0; b < dims[0]; b++) {
        for (uint32_t k = 0; k < pairs->count; k++) {
            int64_t pair = pairs->as.ints[k], base = b * rows * width;
            int64_t left = base + pair / rows * width,
                    right = base + pair % rows * width;
            ig_tensor_set_f64(out, to++, dot_rows(x, left, right, width));
        }
    }
    return IG_OK;
}
