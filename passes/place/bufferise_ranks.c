/* bufferise, ops of sharded graphs: what functions of libingot-group get.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %1, %2, %3, %4, %5 = deal %l, %i {world = 2, starts = [0, 3], …}
 *   becomes
 *     host %l, %i, @shards, %a, %b, %c, %d, %e, %next {function = "rank_deal", …}
 *
 * Operands and results are row-major in buffers of their own; after the results comes
 * the function's work memory.
 */
#include "ir/build/expr.h"
#include "passes/place/bufferise.h"
#include "passes/place/resolve.h"

#include <assert.h>
#include <string.h>

typedef struct rank_call {
    ig_buffers *s;
    ig_op *op;
    ig_builder b;
    const char *function;
    IG_VEC(ig_value *) ins, outs;
    IG_VEC(ig_dim) params;
} rank_call;

static void push_param(rank_call *c, ig_dim value) {
    IG_PUSH(c->s->arena, &c->params, value);
}

static void push_number(rank_call *c, int64_t value) {
    push_param(c, ig_dim_const(c->s->module, value));
}

static void push_scratch(rank_call *c, ig_dtype dtype, uint32_t rank,
                         const ig_dim *dims) {
    IG_PUSH(c->s->arena, &c->outs,
            ig_buffers_alloc(c->s, &c->b, dtype, rank, dims)->root);
}

static const ig_type *operand_type(const rank_call *c, uint32_t index) {
    return c->op->operands[index].value->type;
}

/* Bytes of one index of a list. */
static int64_t index_bytes(const ig_type *type) {
    int64_t bytes = ig_dtypes[type->dtype].bits / 8;
    for (uint32_t d = 1; d < type->rank; d++) {
        int64_t extent = 0;
        (void)ig_dim_known(type->dims[d], &extent); /* infer has seen that it is */
        bytes *= extent;
    }
    return bytes;
}

static int64_t world_of(const rank_call *c, uint32_t counts) {
    int64_t world = 1;
    (void)ig_dim_known(operand_type(c, counts)->dims[0], &world);
    return world;
}

/* ---- one function each ---- */

static ig_status call_bag_ids(rank_call *c) {
    ig_dim params[IG_BAG_IDS_PARAMS];
    c->function = "rank_bag_ids";
    ig_resolve_bag_params(c->op, params);
    for (uint32_t i = 0; i < IG_BAG_IDS_PARAMS; i++) {
        push_param(c, params[i]);
    }
    return IG_OK;
}

/* First rows, ranks and bases of the shards, and each rank's place among those that
 * have rows: a constant. */
static void push_shards(rank_call *c) {
    const int64_t *const lists[] = { c->op->attrs[IG_deal_starts].as.ints,
                                     c->op->attrs[IG_deal_ranks].as.ints,
                                     c->op->attrs[IG_deal_bases].as.ints };
    int64_t world = ig_attr_int(c->op, IG_deal_world, 1);
    uint32_t shards = c->op->attrs[IG_deal_starts].count, at = 0;
    uint32_t count = 3 * shards + (uint32_t)world;
    int64_t *numbers = IG_NEW_ARRAY(&c->s->module->arena, int64_t, count);
    for (uint32_t list = 0; list < IG_COUNT_OF(lists); list++) {
        for (uint32_t i = 0; i < shards; i++) {
            numbers[at++] = lists[list][i];
        }
    }
    int64_t *positions = numbers + at, position = 0;
    for (uint32_t i = 0; i < shards; i++) {
        positions[lists[1][i]] = 1;
    }
    for (int64_t rank = 0; rank < world; rank++) {
        positions[rank] = positions[rank] ? position++ : -1;
    }
    ig_dim extent = ig_dim_of(count);
    ig_data data = { .type = ig_type_tensor(c->s->module, IG_DT_i64, 1, &extent),
                     .bytes = numbers,
                     .size = (int64_t)count * 8 };
    ig_weight *weight = ig_module_add_weight(c->s->module, "shards", &data);
    IG_PUSH(c->s->arena, &c->ins, ig_make_weight(&c->b, weight));
}

static ig_status call_deal(rank_call *c) {
    bool has_weights = c->op->operand_count > 2;
    ig_dim world = ig_dim_const(c->s->module, ig_attr_int(c->op, IG_deal_world, 1));
    c->function = "rank_deal";
    push_shards(c);
    push_scratch(c, IG_DT_i64, 1, &world);
    push_param(c, world);
    push_number(c, c->op->attrs[IG_deal_starts].count);
    push_number(c, ig_attr_int(c->op, IG_deal_keep, 0) != 0);
    push_param(c, operand_type(c, 0)->dims[0]);
    push_param(c, operand_type(c, 1)->dims[0]);
    push_number(c, has_weights ? index_bytes(operand_type(c, 2)) : 0);
    push_number(c, ig_attr_int(c->op, IG_deal_distinct, 0) != 0);
    return IG_OK;
}

static ig_status call_meet_counts(rank_call *c) {
    c->function = "rank_meet_counts";
    push_number(c, world_of(c, 0));
    push_number(c, ig_attr_int(c->op, IG_meet_counts_rank, 0));
    push_number(c, c->op->operand_count);
    push_number(c, ig_attr_int(c->op, IG_meet_counts_of, 0));
    return IG_OK;
}

static ig_status call_meet_start(rank_call *c) {
    uint32_t n = c->op->operand_count / 2u;
    c->function = "rank_meet_start";
    push_number(c, world_of(c, n));
    push_number(c, ig_attr_int(c->op, IG_meet_start_rank, 0));
    push_number(c, n);
    for (uint32_t i = 0; i < n; i++) {
        push_number(c, index_bytes(operand_type(c, i)));
    }
    return IG_OK;
}

/* The buffers that are under way, which need not be those of the values. */
static ig_status call_meet_end(rank_call *c) {
    const ig_use *use = c->ins.items[0]->uses;
    c->function = "rank_meet_end";
    while (use->user->code != IG_OP_host ||
           strcmp(ig_attr_str(use->user, IG_host_function), "rank_meet_start") != 0) {
        use = use->next;
        assert(use && "a function has started it");
    }
    for (uint32_t i = 0; i + 1 < c->op->operand_count; i++) {
        IG_PUSH(c->s->arena, &c->ins, use->user->operands[i].value);
    }
    push_number(c, c->op->operand_count - 1);
    return IG_OK;
}

static ig_status call_meet_lists(rank_call *c) {
    uint32_t n = c->op->result_count;
    bool is_started = c->op->operand_count == 2 * n + 2;
    c->function = is_started ? "rank_meet_wait" : "rank_meet_lists";
    push_number(c, world_of(c, n));
    push_number(c, ig_attr_int(c->op, IG_meet_lists_rank, 0));
    push_number(c, n);
    for (uint32_t i = 0; i < n; i++) {
        push_number(c, index_bytes(operand_type(c, i)));
    }
    return IG_OK;
}

static ig_status call_reduce_scatter(rank_call *c) {
    uint32_t n = c->op->result_count;
    bool is_started = c->op->operand_count % 2;
    c->function = is_started ? "rank_reduce_wait" : "rank_reduce_scatter";
    push_number(c, world_of(c, 1));
    push_number(c, ig_attr_int(c->op, IG_reduce_scatter_rank, 0));
    push_number(c, n);
    for (uint32_t i = 0; i < n; i++) {
        const ig_type *type = c->op->results[i].type;
        int64_t bytes = ig_dtypes[type->dtype].bits / 8;
        if (type->dtype != IG_DT_f32 && type->dtype != IG_DT_f64) {
            return ig_buffers_unsupported(c->op, " for floats of 16 bits");
        }
        ig_dim world = ig_dim_const(c->s->module, world_of(c, 1));
        ig_dim all = ig_dim_mul(c->s->module, world,
                                ig_dim_product(c->s->module, type->dims, type->rank));
        push_scratch(c, (ig_dtype)type->dtype, 1, &all);
        push_number(c, index_bytes(type) / bytes);
        push_number(c, bytes);
    }
    return IG_OK;
}

/* World, tensors; of each elements and bytes of one. */
static void push_tensors(rank_call *c, const char *function, int64_t world) {
    uint32_t n = c->op->operand_count;
    c->function = function;
    push_number(c, world);
    push_number(c, n);
    for (uint32_t i = 0; i < n; i++) {
        const ig_type *type = operand_type(c, i);
        push_param(c, ig_dim_product(c->s->module, type->dims, type->rank));
        push_number(c, ig_dtypes[type->dtype].bits / 8);
    }
}

/* Scratch is for the terms of one slice of each tensor, a world-th rounded up. */
static ig_status call_all_reduce(rank_call *c) {
    int64_t world = ig_attr_int(c->op, IG_all_reduce_world, 1);
    ig_module *module = c->s->module;
    for (uint32_t i = 0; i < c->op->operand_count; i++) {
        const ig_type *type = operand_type(c, i);
        if (type->dtype != IG_DT_f32 && type->dtype != IG_DT_f64) {
            return ig_buffers_unsupported(c->op, " for floats of 16 bits");
        }
        ig_dim terms = ig_dim_add(module,
                                  ig_dim_product(module, type->dims, type->rank),
                                  ig_dim_const(module, world));
        push_scratch(c, (ig_dtype)type->dtype, 1, &terms);
    }
    push_tensors(c, "rank_all_reduce", world);
    return IG_OK;
}

static ig_status call_all_gather(rank_call *c) {
    push_tensors(c, "rank_all_gather", ig_attr_int(c->op, IG_all_gather_world, 1));
    return IG_OK;
}

typedef ig_status (*rank_call_fn)(rank_call *c);

static const rank_call_fn calls[IG_OP_COUNT] = {
    [IG_OP_bag_ids] = call_bag_ids,
    [IG_OP_deal] = call_deal,
    [IG_OP_meet_counts] = call_meet_counts,
    [IG_OP_meet_start] = call_meet_start,
    [IG_OP_meet_lists] = call_meet_lists,
    [IG_OP_meet_end] = call_meet_end,
    [IG_OP_reduce_scatter] = call_reduce_scatter,
    [IG_OP_all_reduce] = call_all_reduce,
    [IG_OP_all_gather] = call_all_gather,
};

/* The op that waits for a started one needs no list again: counts, and which one it
 * is. */
static bool is_read(const ig_op *op, uint32_t operand) {
    uint32_t n = op->result_count, last = op->operand_count - 1u;
    return op->code == IG_OP_meet_end     ? operand == 0
           : op->code == IG_OP_meet_lists ? last == 2 * n || operand >= 2 * n
           : op->code == IG_OP_reduce_scatter
               ? last % 2 || operand % 2 || operand == last
               : true;
}

ig_status ig_bufferise_ranks(ig_buffers *s, ig_op *op) {
    assert(calls[op->code] && "a function does this op");
    rank_call c = { .s = s, .op = op, .b = ig_builder_before(op) };
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (is_read(op, i)) {
            ig_place *place = ig_buffers_place(s, op->operands[i].value);
            IG_PUSH(s->arena, &c.ins, ig_buffers_whole(s, &c.b, place));
        }
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_type *type = op->results[i].type;
        ig_place *place = ig_buffers_alloc(s, &c.b, (ig_dtype)type->dtype, type->rank,
                                           type->dims);
        ig_buffers_set_place(s, &op->results[i], place);
        IG_PUSH(s->arena, &c.outs, place->root);
    }
    IG_TRY(calls[op->code](&c));
    for (size_t i = 0; i < c.outs.count; i++) {
        IG_PUSH(s->arena, &c.ins, c.outs.items[i]);
    }
    ig_expr e = ig_expr_of(&c.b);
    ig_host_attrs attrs = { .function = c.function,
                            .outs = (int64_t)c.outs.count,
                            .params = { c.params.items, (uint32_t)c.params.count } };
    (void)ig_build_host(&e, c.ins.items, (uint32_t)c.ins.count, attrs);
    return IG_OK;
}
