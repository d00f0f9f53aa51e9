/* resolve_shapes, ops of sharded graphs: how many ids there are, and how many come.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %l, %nl, %i, %ni = all_to_all %x, %cx, %y, %cy : f32[n, 8], i64[4], i64[m], …
 *   becomes
 *     %c = meet_counts %cx, %cy : i64[14]
 *     bind the first 2 of them to n and m; %nl, %ni = the next 4, and the 4 after them
 *     %l, %i = meet_lists %x, %y, %cx, %cy, %c : f32[n, 8], i64[m]
 *
 * A reduce_scatter's counts are alike on all ranks, so that each knows its own part.
 *
 * A collective that overlaps with other ops begins at its position, and is waited for
 * before the first op that needs a result:
 *
 *     %t = meet_start %x, %y, %cx, %cy, %c : i64[1]
 *     …
 *     %l, %i = meet_lists %x, %y, %cx, %cy, %c, %t
 *     …
 *     meet_end %t, %x, %y                       in front of the end of the graph
 */
#include "passes/place/resolve.h"

#include "ir/bag.h"
#include "ir/shard.h"
#include "passes/engine/users.h"

#include <assert.h>

void ig_resolve_bag_params(const ig_op *op, ig_dim params[IG_BAG_IDS_PARAMS]) {
    ig_module *module = ig_op_module(op);
    ig_bag_feature f = ig_bag_ids_feature(op);
    const ig_type *ids = op->operands[0].value->type;
    bool is_fixed = !f.begins && f.pool != IG_POOL_none;
    bool has_padding = f.padding != INT64_MIN;
    ig_dim begins = f.begins ? op->operands[f.begins].value->type->dims[0]
                             : ig_dim_of(0);
    int64_t weight =
        f.weights ? ig_dtypes[op->operands[f.weights].value->type->dtype].bits / 8 : 0;
    const ig_dim all[IG_BAG_IDS_PARAMS] = {
        ig_dim_const(module, ig_attr_int(op, IG_bag_ids_operands, 0)),
        ig_dim_of(f.pool),
        ig_dim_of(f.last),
        ig_dim_const(module, ig_attr_int(op, IG_bag_ids_negative, IG_NEGATIVE_wrap)),
        ig_dim_const(module, ig_attr_int(op, IG_bag_ids_range, IG_RANGE_error)),
        ig_dim_const(module, ig_attr_int(op, IG_bag_ids_offsets, IG_OFFSETS_error)),
        ig_dim_const(module, ig_attr_int(op, IG_bag_ids_rows, 0)),
        ig_dim_const(module, ig_attr_int(op, IG_bag_ids_feature, 0)),
        ig_dim_of(has_padding),
        ig_dim_const(module, has_padding ? f.padding : 0),
        ig_dim_product(module, ids->dims, ids->rank),
        begins,
        is_fixed ? ids->dims[1] : ig_dim_of(0),
        ig_dim_const(module, weight),
    };
    for (uint32_t i = 0; i < IG_BAG_IDS_PARAMS; i++) {
        params[i] = all[i];
    }
}

/* One number that a function finds, for `symbol`. */
static void find_count(ig_resolver *m, const char *function, const ig_dims *params,
                       ig_value *const *operands, uint32_t count, ig_dim symbol) {
    ig_dim one = ig_dim_of(1);
    const ig_type *type = ig_type_tensor(m->module, IG_DT_i64, 1, &one);
    ig_op_spec spec = { .operands = operands,
                        .operand_count = count,
                        .result_types = &type,
                        .result_count = 1 };
    ig_measure_attrs attrs = { .function = function, .params = *params };
    ig_resolver_bind(m, ig_build_measure_op(&m->e, &spec, attrs)->results, &symbol, 1);
    m->run->changed = true;
}

ig_status ig_resolve_bag_ids(ig_resolver *m) {
    ig_op *op = m->op;
    ig_bag_feature f = ig_bag_ids_feature(op);
    ig_value *operands[3];
    uint32_t count = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (i != f.weights || i == 0) {
            operands[count] = ig_expr_cast(&m->e, op->operands[i].value, IG_DT_i64);
            ig_use_set(&op->operands[i], operands[count++]);
        }
    }
    if (f.pool == IG_POOL_none) {
        return IG_OK; /* as many as were given */
    }
    ig_dim params[IG_BAG_IDS_PARAMS];
    ig_resolve_bag_params(op, params);
    find_count(m, "rank_bag_ids_count", &(ig_dims){ params, IG_BAG_IDS_PARAMS },
               operands, count, ig_resolver_extent(m, 1, 0));
    return IG_OK;
}

ig_status ig_resolve_deal(ig_resolver *m) {
    ig_value *ids = m->op->operands[1].value;
    ig_dim params[] = { ig_dim_of(ig_attr_int(m->op, IG_deal_keep, 0) != 0),
                        ids->type->dims[0],
                        ig_dim_of(ig_attr_int(m->op, IG_deal_distinct, 0) != 0) };
    find_count(m, "rank_deal_count", &(ig_dims){ params, IG_COUNT_OF(params) }, &ids, 1,
               ig_resolver_extent(m, 2, 0));
    return IG_OK;
}

/* Of each list operand `first`. */
static ig_value **of_lists(ig_resolver *m, uint32_t first) {
    uint32_t count = ig_list_count(m->op), stride = ig_list_stride(m->op);
    ig_value **values = IG_NEW_ARRAY(m->run->scratch, ig_value *, count);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = m->op->operands[stride * i + first].value;
    }
    return values;
}

static ig_value *meet_counts(ig_resolver *m, ig_value *const *counts, uint32_t count) {
    ig_op_spec spec = { .operands = counts, .operand_count = count, .result_count = 1 };
    ig_meet_counts_attrs attrs = { .rank = ig_attr_int(m->op, IG_all_to_all_rank, 0) };
    if (ig_attr_is_set(m->op, IG_all_to_all_of)) {
        int64_t of = ig_attr_int(m->op, IG_all_to_all_of, 0);
        attrs.of = (ig_maybe_int)IG_SET(of);
    }
    return ig_build_meet_counts_op(&m->e, &spec, attrs)->results;
}

/* What meet_counts would find, without asking; nobody reads the marks at its end. */
static ig_value *known_counts(ig_resolver *m) {
    uint32_t n = ig_list_count(m->op);
    ig_value **counts = of_lists(m, 2);
    ig_value **parts = IG_NEW_ARRAY(m->run->scratch, ig_value *, 2 * n + 1u);
    for (uint32_t i = 0; i < n; i++) {
        parts[i] = ig_expr_reduce_axis(&m->e, IG_REDUCE_sum, counts[i], 0, true);
        parts[n + i] = counts[i];
    }
    parts[2 * n] = ig_expr_fill(&m->e, IG_DT_i64, 1, counts[0]->type->dims, 0);
    return ig_expr_concat(&m->e, 0, parts, 2 * n + 1);
}

/* ---- exchanges under way ---- */

/* Lists, counts and findings are on their way from here on. */
static ig_value *start_meeting(ig_resolver *m, ig_value *const *operands,
                               uint32_t count, int64_t rank) {
    ig_op_spec spec = { .operands = operands,
                        .operand_count = count,
                        .result_count = 1 };
    ig_meet_start_attrs attrs = { .rank = rank };
    return ig_build_meet_start_op(&m->e, &spec, attrs)->results;
}

/* Builds in front of the first op that needs one of every `step` results; at the latest
 * in front of the ends, as other ranks come to theirs only when they have waited. */
static void go_to_user(ig_resolver *m, uint32_t step) {
    ig_op *user = ig_first_user(m->run->scratch, m->op, step);
    m->b.before = user ? user : m->op->block->last;
    while (m->b.before->prev->code == IG_OP_meet_end) {
        m->b.before = m->b.before->prev;
    }
}

/* At the end of the graph all ranks have the lists. */
static void end_meeting(ig_resolver *m, ig_value *ticket, ig_value *const *lists,
                        uint32_t count) {
    ig_value **operands = IG_NEW_ARRAY(m->run->scratch, ig_value *, count + 1u);
    operands[0] = ticket;
    for (uint32_t i = 0; i < count; i++) {
        operands[i + 1] = lists[i];
    }
    m->b.before = m->op->block->last;
    ig_op_spec spec = { .operands = operands, .operand_count = count + 1 };
    (void)ig_build_meet_end_op(&m->e, &spec);
}

static ig_op *meet_lists(ig_resolver *m, ig_value *const *operands, uint32_t count) {
    uint32_t n = ig_list_count(m->op);
    ig_op_spec spec = { .operands = operands,
                        .operand_count = count,
                        .result_count = n };
    const ig_type **types = IG_NEW_ARRAY(m->run->scratch, const ig_type *, n);
    for (uint32_t i = 0; i < n; i++) {
        types[i] = m->op->results[2 * i].type;
    }
    spec.result_types = types;
    ig_meet_lists_attrs attrs = { .rank = ig_attr_int(m->op, IG_all_to_all_rank, 0) };
    return ig_build_meet_lists_op(&m->e, &spec, attrs);
}

static void replace_counts(ig_resolver *m, ig_value *came, ig_dim world) {
    uint32_t n = ig_list_count(m->op);
    for (uint32_t i = 0; i < n; i++) {
        ig_dim skipped = ig_dim_mul(m->module, ig_dim_of(i), world);
        ig_dim start = ig_dim_add(m->module, ig_dim_of(n), skipped);
        ig_resolver_replace(m, 2 * i + 1,
                            ig_expr_slice(&m->e, came, 0, start, world, 1));
    }
}

ig_status ig_resolve_all_to_all(ig_resolver *m) {
    uint32_t n = ig_list_count(m->op), count = 2 * n + 1;
    ig_value **operands = IG_NEW_ARRAY(m->run->scratch, ig_value *, count + 1u);
    ig_value **lists = of_lists(m, 0), **counts = of_lists(m, 1), *ticket = NULL;
    ig_dim *symbols = IG_NEW_ARRAY(m->run->scratch, ig_dim, n);
    ig_dim world = counts[0]->type->dims[0];
    bool is_known = ig_list_stride(m->op) == 3;
    ig_value *came = is_known ? known_counts(m) : meet_counts(m, counts, n);
    for (uint32_t i = 0; i < n; i++) {
        symbols[i] = ig_resolver_extent(m, 2 * i, 0);
        operands[i] = lists[i];
        operands[n + i] = counts[i];
    }
    operands[2 * n] = came;
    ig_value *found = ig_expr_slice(&m->e, came, 0, ig_dim_of(0), ig_dim_of(n), 1);
    ig_resolver_bind(m, found, symbols, n);
    replace_counts(m, came, world);
    if (ig_attr_int(m->op, IG_all_to_all_overlaps, 0)) {
        int64_t rank = ig_attr_int(m->op, IG_all_to_all_rank, 0);
        ticket = start_meeting(m, operands, count, rank);
        operands[count++] = ticket;
        go_to_user(m, 2);
    }
    ig_op *met = meet_lists(m, operands, count);
    for (uint32_t i = 0; i < n; i++) {
        ig_resolver_replace(m, 2 * i, &met->results[i]);
    }
    if (ticket) {
        end_meeting(m, ticket, lists, n);
    }
    ig_op_erase(m->op);
    return IG_OK;
}

/* Pairs of a reduce_scatter are lists, then counts, for meet_start. */
static void overlap_sums(ig_resolver *m) {
    uint32_t n = m->op->operand_count / 2u;
    ig_value **operands = IG_NEW_ARRAY(m->run->scratch, ig_value *, 2 * n + 1u);
    ig_value **lists = of_lists(m, 0), **counts = of_lists(m, 1);
    const ig_type **types = IG_NEW_ARRAY(m->run->scratch, const ig_type *, n);
    ig_reduce_scatter_attrs attrs = { .rank = ig_attr_int(m->op, IG_reduce_scatter_rank,
                                                          0) };
    for (uint32_t i = 0; i < n; i++) {
        operands[i] = lists[i];
        operands[n + i] = counts[i];
        types[i] = m->op->results[i].type;
    }
    ig_value *ticket = start_meeting(m, operands, 2 * n, attrs.rank);
    for (uint32_t i = 0; i < 2 * n; i++) {
        operands[i] = m->op->operands[i].value;
    }
    operands[2 * n] = ticket;
    ig_op_spec spec = { .operands = operands,
                        .operand_count = 2 * n + 1,
                        .result_types = types,
                        .result_count = n };
    go_to_user(m, 1);
    ig_op *met = ig_build_reduce_scatter_op(&m->e, &spec, attrs);
    for (uint32_t i = 0; i < n; i++) {
        ig_resolver_replace(m, i, &met->results[i]);
    }
    end_meeting(m, ticket, lists, n);
    ig_op_erase(m->op);
}

ig_status ig_resolve_reduce_scatter(ig_resolver *m) {
    if (m->op->operand_count % 2) {
        return IG_OK; /* made below, and waits for the started op */
    }
    ig_dim rank = ig_dim_const(m->module,
                               ig_attr_int(m->op, IG_reduce_scatter_rank, 0));
    for (uint32_t i = 0; i < m->op->result_count; i++) {
        ig_value *counts = m->op->operands[2 * i + 1].value;
        ig_dim symbol = ig_resolver_extent(m, i, 0);
        ig_value *own = ig_expr_slice(&m->e, counts, 0, rank, ig_dim_of(1), 1);
        ig_resolver_bind(m, own, &symbol, 1);
    }
    if (ig_attr_int(m->op, IG_reduce_scatter_overlaps, 0)) {
        overlap_sums(m);
    }
    m->run->changed = true;
    return IG_OK;
}
