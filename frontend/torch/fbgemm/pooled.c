/* FBGEMM's operators on pooled rows: merged, summed, their columns permuted, regrouped.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Devices are all one machine here, so what moves rows between them is the sum or the
 * concatenation alone.
 */
#include "frontend/torch/fbgemm/fbgemm.h"

#include <assert.h>
#include <stdlib.h>

ig_status ig_ts_op_fb_merge_pooled(ig_ts_call *call) {
    enum { PARTS, SIZE, DEVICE, AXIS };
    ig_value **parts;
    uint32_t count;
    IG_TRY(ig_ts_tensors(call, PARTS, &parts, &count));
    if (count == 0) {
        return ig_ts_fail(call, IG_INVALID, "merges 0 tensors, expected 1 or more");
    }
    uint32_t axis = ig_aten_axis(call, AXIS, parts[0]->type->rank);
    return ig_aten_give(call, ig_expr_concat(call->e, axis, parts, count));
}

ig_status ig_ts_op_fb_all_to_one(ig_ts_call *call) {
    ig_value **parts;
    uint32_t count;
    IG_TRY(ig_ts_tensors(call, 0, &parts, &count));
    return ig_ts_give_list(call, 0, IG_TS_NO_ARG, parts, count);
}

ig_status ig_ts_op_fb_sum_to_one(ig_ts_call *call) {
    ig_value **parts;
    uint32_t count;
    IG_TRY(ig_ts_tensors(call, 0, &parts, &count));
    if (count == 0) {
        return ig_ts_fail(call, IG_INVALID, "sums 0 tensors, expected 1 or more");
    }
    ig_value *sum = parts[0];
    for (uint32_t i = 1; i < count; i++) {
        sum = ig_build_add(call->e, sum, parts[i]);
    }
    return ig_aten_give(call, sum);
}

/* ---- columns ---- */

ig_status ig_ts_op_fb_permute_pooled(ig_ts_call *call) {
    enum { ROWS, EDGES, PICKS };
    uint32_t edge_count, count;
    ig_value *x = ig_aten_tensor(call, ROWS);
    const int64_t *edges = ig_fb_known(call, EDGES, "offset_dim_list", &edge_count);
    const int64_t *picks = ig_fb_known(call, PICKS, "permute_list", &count);
    ig_value **parts = IG_NEW_ARRAY(call->arena, ig_value *, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        if (picks[i] < 0 || picks[i] + 1 >= edge_count) {
            return ig_ts_fail(call, IG_INVALID, "entry %u of the permutation is %lld",
                              i, (long long)picks[i]);
        }
        int64_t start = edges[picks[i]], end = edges[picks[i] + 1];
        parts[i] = ig_expr_slice(call->e, x, 1, ig_dim_const(call->module, start),
                                 ig_dim_const(call->module, end - start), 1);
    }
    return ig_aten_give(call, count ? ig_expr_concat(call->e, 1, parts, count) : x);
}

typedef struct piece {
    int64_t in, out, from, to, length;
} piece;

static int by_position(const void *a, const void *b) {
    const piece *x = a, *y = b;
    if (x->out != y->out) {
        return x->out < y->out ? -1 : 1;
    }
    return x->to < y->to ? -1 : x->to > y->to;
}

/* Outputs made of pieces of the inputs' columns. */
static ig_status give_pieces(ig_ts_call *call, ig_value **inputs, uint32_t input_count,
                             piece *pieces, uint32_t count, uint32_t outputs) {
    ig_arena *arena = call->arena;
    ig_value **results = IG_NEW_ARRAY(arena, ig_value *, (size_t)outputs + 1);
    ig_value **parts = IG_NEW_ARRAY(arena, ig_value *, (size_t)count + 1);
    uint32_t at = 0;
    qsort(pieces, count, sizeof *pieces, by_position);
    for (uint32_t out = 0; out < outputs; out++) {
        uint32_t some = 0;
        for (; at < count && pieces[at].out == out; at++) {
            const piece *p = &pieces[at];
            if (p->in < 0 || p->in >= input_count) {
                return ig_ts_fail(call, IG_INVALID,
                                  "input %lld is permuted, expected one below %u",
                                  (long long)p->in, input_count);
            }
            ig_module *module = call->module;
            parts[some++] = ig_expr_slice(call->e, inputs[p->in], 1,
                                          ig_dim_const(module, p->from),
                                          ig_dim_const(module, p->length), 1);
        }
        if (some == 0) {
            return ig_ts_fail(call, IG_INVALID, "group %u holds nothing", out);
        }
        results[out] = ig_expr_concat(call->e, 1, parts, some);
    }
    return ig_ts_give_list(call, 0, IG_TS_NO_ARG, results, outputs);
}

/* Rows of six: input, output, first column of each, columns, and what gradients
 * need.  Variant 1 has the way as an argument. */
ig_status ig_ts_op_fb_permute_multi(ig_ts_call *call) {
    enum { INPUTS, PERMUTES, LENGTHS = 4, REVERSE, ROW = 6 };
    ig_value **inputs;
    uint32_t input_count, length_count, outputs;
    const int64_t *lengths;
    bool is_reverse = false;
    if (call->row->variant == 1) {
        is_reverse = ig_aten_bool(call, REVERSE);
    }
    if (is_reverse) {
        return ig_ts_fail(call, IG_UNSUPPORTED, "the gradients' way (reverse=True)");
    }
    IG_TRY(ig_ts_tensors(call, INPUTS, &inputs, &input_count));
    IG_TRY(ig_ts_ints(call, LENGTHS, 0, &lengths, &outputs));
    const int64_t *rows = ig_fb_known(call, PERMUTES, "permutes", &length_count);
    IG_TRY(call->e->status);
    piece *pieces = IG_NEW_ARRAY(call->arena, piece, length_count / ROW + 1);
    for (uint32_t i = 0; i < length_count / ROW; i++) {
        const int64_t *row = rows + (size_t)i * ROW;
        pieces[i] = (piece){ row[0], row[1], row[2], row[3], row[4] };
    }
    return give_pieces(call, inputs, input_count, pieces, length_count / ROW, outputs);
}

/* ---- groups of keys ---- */

typedef struct regroup {
    ig_ts_call *call;
    const ig_ts_list *keys, *lengths, *groups;
    piece *pieces;
    uint32_t count, outputs;
} regroup;

/* Finds a key among those of all inputs. */
static bool find_key(const regroup *r, ig_str key, piece *out) {
    assert(r->keys->count == r->lengths->count &&
           "read_regroup has compared the lists");
    for (size_t in = 0; in < r->keys->count; in++) {
        const ig_ts_list *keys = ig_ts_items_of(&r->keys->items[in], 0);
        const ig_ts_list *lengths = ig_ts_items_of(&r->lengths->items[in], 0);
        int64_t at = 0;
        for (size_t k = 0; keys && lengths && k < keys->count && k < lengths->count;
             k++) {
            int64_t length = lengths->items[k].as.i;
            if (keys->items[k].kind == IG_TS_STR &&
                ig_str_equal(keys->items[k].as.str, key)) {
                out->in = (int64_t)in;
                out->from = at;
                out->length = length;
                return true;
            }
            at += length;
        }
    }
    return false;
}

static ig_status read_group(regroup *r, uint32_t index) {
    assert(index < r->outputs && "a group of the call");
    const ig_ts_list *group = ig_ts_items_of(&r->groups->items[index], 0);
    int64_t to = 0;
    for (size_t i = 0; group && i < group->count; i++) {
        piece *p = &r->pieces[r->count];
        ig_str key = group->items[i].as.str;
        if (group->items[i].kind != IG_TS_STR || !find_key(r, key, p)) {
            return ig_ts_fail(r->call, IG_INVALID,
                              "group %u names no key of the inputs", index);
        }
        p->out = index;
        p->to = to;
        to += p->length;
        r->count++;
    }
    return IG_OK;
}

/* Known counts of columns, which all together 32 bits can count. */
static ig_status check_lengths(const regroup *r) {
    int64_t sum = 0;
    for (size_t i = 0; i < r->lengths->count; i++) {
        const ig_ts_list *list = ig_ts_items_of(&r->lengths->items[i], 0);
        for (size_t k = 0; list && k < list->count; k++) {
            const ig_ts_value *length = &list->items[k];
            if (length->kind != IG_TS_INT || !ig_ts_is_known(length) ||
                length->as.i < 0 || length->as.i > INT32_MAX - sum) {
                return ig_ts_fail(r->call, IG_INVALID,
                                  "lengths[%zu][%zu] is not a known count of columns",
                                  i, k);
            }
            sum += length->as.i;
        }
    }
    return IG_OK;
}

static ig_status read_regroup(ig_ts_call *call, regroup *r) {
    enum { KEYS = 1, LENGTHS, GROUPS };
    *r = (regroup){ .call = call,
                    .keys = ig_ts_items_of(&call->args[KEYS], 0),
                    .lengths = ig_ts_items_of(&call->args[LENGTHS], 0),
                    .groups = ig_ts_items_of(&call->args[GROUPS], 0) };
    size_t max = 1;
    if (!r->keys || !r->lengths || !r->groups || r->keys->count != r->lengths->count) {
        return ig_ts_fail(call, IG_INVALID,
                          "keys, lengths and groups are lists of lists");
    }
    IG_TRY(check_lengths(r));
    for (size_t i = 0; i < r->groups->count; i++) {
        const ig_ts_list *group = ig_ts_items_of(&r->groups->items[i], 0);
        max += group ? group->count : 0;
    }
    r->pieces = IG_NEW_ARRAY(call->arena, piece, max);
    r->outputs = (uint32_t)r->groups->count;
    for (uint32_t i = 0; i < r->outputs; i++) {
        IG_TRY(read_group(r, i));
    }
    return IG_OK;
}

ig_status ig_ts_op_fb_regroup(ig_ts_call *call) {
    regroup r;
    ig_value **inputs;
    uint32_t count;
    IG_TRY(ig_ts_tensors(call, 0, &inputs, &count));
    IG_TRY(read_regroup(call, &r));
    return give_pieces(call, inputs, count, r.pieces, r.count, r.outputs);
}

static ig_value *i32_matrix(ig_expr *e, const int32_t *values, uint32_t rank,
                            int64_t rows, int64_t columns) {
    int64_t dims[] = { rows, columns };
    return ig_expr_constant(e, "constant", IG_DT_i32, rank, dims, values);
}

/* The last number of a piece: the next piece from the same columns, for gradients; it
 * is negative (-1 - next) when the piece is not the first of its key. */
static void link_pieces(const regroup *r, int32_t *rows) {
    enum { ROW = 6 };
    for (uint32_t i = 0; i < r->count; i++) {
        const piece *p = &r->pieces[i];
        int32_t next = 0;
        bool is_first = true;
        for (uint32_t k = 0; k < r->count; k++) {
            bool is_same = r->pieces[k].in == p->in && r->pieces[k].from == p->from;
            is_first = is_first && !(is_same && k < i);
            next = is_same && k > i && !next ? (int32_t)k : next;
        }
        bool is_alone = is_first && !next;
        rows[i * ROW + 5] = is_alone   ? 0
                            : is_first ? next
                            : next     ? -next
                                       : -(int32_t)r->count;
    }
}

ig_status ig_ts_op_fb_regroup_arguments(ig_ts_call *call) {
    enum { ROW = 6 };
    regroup r;
    IG_TRY(read_regroup(call, &r));
    int32_t *rows = IG_NEW_ARRAY(call->arena, int32_t, (size_t)r.count * ROW + 1);
    int32_t *ins = IG_NEW_ARRAY(call->arena, int32_t, r.keys->count + 1);
    int32_t *outs = IG_NEW_ARRAY(call->arena, int32_t, (size_t)r.outputs + 1);
    int64_t *lengths = IG_NEW_ARRAY(call->arena, int64_t, (size_t)r.outputs + 1);
    ig_dim *dims = IG_NEW_ARRAY(call->arena, ig_dim, (size_t)r.outputs + 1);
    for (uint32_t i = 0; i < r.count; i++) {
        const piece *p = &r.pieces[i];
        const int64_t row[] = { p->in, p->out, p->from, p->to, p->length };
        for (uint32_t k = 0; k < IG_COUNT_OF(row); k++) {
            rows[i * ROW + k] = (int32_t)row[k];
        }
        lengths[p->out] += p->length;
    }
    link_pieces(&r, rows);
    for (size_t i = 0; i < r.lengths->count; i++) {
        const ig_ts_list *list = ig_ts_items_of(&r.lengths->items[i], 0);
        for (size_t k = 0; list && k < list->count; k++) {
            ins[i] += (int32_t)list->items[k].as.i;
        }
    }
    for (uint32_t i = 0; i < r.outputs; i++) {
        outs[i] = (int32_t)lengths[i];
        dims[i] = ig_dim_of(lengths[i]);
    }
    IG_TRY(ig_ts_give(call, 0, i32_matrix(call->e, rows, 2, r.count, ROW)));
    IG_TRY(ig_ts_give(call, 1, i32_matrix(call->e, ins, 1, (int64_t)r.keys->count, 0)));
    IG_TRY(ig_ts_give(call, 2, i32_matrix(call->e, outs, 1, r.outputs, 0)));
    return ig_ts_give_dims(call, 3, dims, r.outputs);
}
