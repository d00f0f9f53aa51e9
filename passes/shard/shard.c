/* shard: bags over divided tables exchange ids and rows with the other ranks.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %t = shard @t {world = 2, rank = 0, parts = [0, 0, 3, 0, 8,  1, …]}
 *     %0 = bag %t, %ids, %off {operands = [1], pool = [sum]} : f32[B, 8]
 *   becomes
 *     %1, %2 = bag_ids %ids, %off {operands = 1, rows = 5}            lengths, ids
 *     %3, … %7 = deal %1, %2 {starts = [0, 3], ranks = [0, 1], …}     by owner
 *     %8, … %11 = all_to_all %3, %4, %5, %6                           there
 *     %12 = cumsum %8 {axis = 0, complete = true}
 *     %13 = bag @t.0, %10, %12 {pool = [sum], last = [offset]}    of all ranks
 *     %14 = reduce_scatter %13, %9                                    and back
 *     %0 = reshape %14 {to = [B, 8]}
 *
 * All features of all bag ops that do not need each other travel together: one
 * all_to_all there, and back one, or one reduce_scatter for those whose rows are on all
 * ranks, or both.  Where the mark says `distinct`, an id travels once, its row comes
 * back, and bags are pooled at home.  Where it says that the batch goes in chunks
 * (chunks.c), results come back chunk by chunk, each before the first op that needs it,
 * and exchanges may overlap with the ops after them.  docs/sharding.md lists the
 * results that are equal to the bit, and the tolerances of the others.
 *
 * Keeps: results, but for the order of sums over rows of different ranks.  Tables that
 * every rank has all of lose their mark and nothing else.
 */
#include "ir/bag.h"
#include "passes/engine/levels.h"
#include "passes/engine/pass.h"
#include "passes/engine/users.h"
#include "passes/shard/chunks.h"
#include "passes/shard/journey.h"

#include <assert.h>

#define SHARD_ERROR(op, ...)                                                       \
    ig_error(&ig_op_module(op)->context->diag, IG_UNSUPPORTED, ig_op_location(op), \
             __VA_ARGS__)

typedef struct sharder {
    ig_pass_run *run;
    ig_arena *arena;
    ig_map divided;  /* shard op → ig_divided, of those that have parts */
    ig_map chunk_of; /* bag op → 1 + the chunk that it is of */
    int64_t chunks;  /* that the marks ask for */
    ig_levels levels;
} sharder;

typedef IG_VEC(ig_value *) values;

/* Bags that travel together. */
typedef struct party {
    sharder *s;
    ig_expr e;
    IG_VEC(ig_way) ways;
    uint32_t legs;
} party;

/* ---- features of tables that are not divided ---- */

/* Numbers of the features of a bag that stay. */
typedef struct kept_features {
    ig_op *bag;
    IG_VEC(uint32_t) numbers;
} kept_features;

static ig_ints keep_entries(const party *p, uint32_t slot, const kept_features *kept) {
    const ig_attr *attr = &kept->bag->attrs[slot];
    size_t count = kept->numbers.count;
    if (attr->kind != IG_ATTR_INTS) {
        return (ig_ints){ NULL, 0 };
    }
    int64_t *entries = IG_NEW_ARRAY(p->s->arena, int64_t, count);
    for (size_t i = 0; i < count; i++) {
        entries[i] = attr->as.ints[kept->numbers.items[i]];
    }
    return (ig_ints){ entries, (uint32_t)count };
}

static void keep_features(party *p, const kept_features *kept) {
    values operands = { 0 };
    uint32_t count = (uint32_t)kept->numbers.count;
    for (uint32_t i = 0; i < count; i++) {
        ig_bag_feature f = ig_bag_feature_at(kept->bag, kept->numbers.items[i]);
        for (uint32_t k = 0; k < f.operands; k++) {
            IG_PUSH(p->s->arena, &operands, kept->bag->operands[f.table + k].value);
        }
    }
    ig_bag_attrs attrs = ig_bag_attrs_of(kept->bag);
    attrs.operands = keep_entries(p, IG_bag_operands, kept);
    attrs.pool = keep_entries(p, IG_bag_pool, kept);
    attrs.padding = keep_entries(p, IG_bag_padding, kept);
    attrs.last = keep_entries(p, IG_bag_last, kept);
    attrs.empty = keep_entries(p, IG_bag_empty, kept);
    attrs.tables = keep_entries(p, IG_bag_tables, kept);
    ig_op_spec spec = { .operands = operands.items,
                        .operand_count = (uint32_t)operands.count,
                        .result_count = count };
    ig_op *op = ig_build_bag_op(&p->e, &spec, attrs);
    for (uint32_t i = 0; i < count; i++) {
        ig_value *old = &kept->bag->results[kept->numbers.items[i]];
        op->results[i].name = old->name;
        ig_value_retype(&op->results[i], old->type);
        ig_value_replace(old, &op->results[i]);
    }
}

/* ---- bags that travel together ---- */

/* The divided table of an operand; NULL where it is none. */
static const ig_divided *divided_of(const sharder *s, const ig_value *value) {
    ig_op *op = ig_def(value, IG_OP_shard);
    return op ? ig_map_get_id(&s->divided, IG_MAP_PTR(op)) : NULL;
}

/* The first divided table of a feature. */
static const ig_divided *table_of(const sharder *s, const ig_op *bag,
                                  const ig_bag_feature *in) {
    const ig_divided *table = NULL;
    for (uint32_t k = 0; k < in->tables && !table; k++) {
        table = divided_of(s, bag->operands[in->table + k].value);
    }
    return table;
}

static ig_status check_feature(const ig_op *bag, const ig_bag_feature *in) {
    if (bag->block->parent) {
        return SHARD_ERROR(
            bag,
            "a divided table is looked up in the body of '%s', where the "
            "ranks may not meet; let every rank have all of it "
            "(data_parallel)",
            ig_ops[bag->block->parent->code].name);
    }
    if (in->tables > 1) {
        return SHARD_ERROR(bag,
                           "a divided table is one of %u that are looked up as one; "
                           "let every rank have all of it (data_parallel)",
                           in->tables);
    }
    return IG_OK;
}

/* Lists and counts, with weights, that travel for a bag; reports what cannot travel. */
static ig_status count_lists(const sharder *s, const ig_op *bag, uint64_t *out_lists) {
    enum { LISTS_OF_PART = 6 };
    *out_lists = 0;
    for (uint32_t i = 0; i < bag->result_count; i++) {
        ig_bag_feature in = ig_bag_feature_at(bag, i);
        const ig_divided *table = table_of(s, bag, &in);
        if (table) {
            IG_TRY(check_feature(bag, &in));
            *out_lists += (uint64_t)LISTS_OF_PART * table->count;
        }
    }
    return *out_lists < IG_MANY
               ? IG_OK
               : SHARD_ERROR(bag,
                             "%u look-ups in divided tables make more than %d parts; "
                             "cut tables into fewer columns",
                             bag->result_count, IG_MANY / LISTS_OF_PART);
}

/* Splits the features: those that travel go to p->features, the others to `kept`. */
static void sort_features(party *p, kept_features *kept) {
    ig_op *bag = kept->bag;
    uint32_t chunk = ig_chunk_of(&p->s->chunk_of, bag);
    uint32_t index = chunk ? chunk - 1 : 0;
    for (uint32_t i = 0; i < bag->result_count; i++) {
        ig_way f = { .bag = bag,
                     .index = i,
                     .leg = index,
                     .in = ig_bag_feature_at(bag, i),
                     .attrs = ig_bag_attrs_of(bag) };
        f.table = table_of(p->s, bag, &f.in);
        if (f.table) {
            IG_PUSH(p->s->arena, &p->ways, f);
        } else {
            IG_PUSH(p->s->arena, &kept->numbers, i);
        }
    }
}

/* Bags that may move to the last one's position. */
static void shard_bags(sharder *s, ig_op *const *bags, size_t count) {
    ig_builder b = ig_builder_before(bags[count - 1]);
    party p = { .s = s, .legs = 1 };
    kept_features *kept = IG_NEW_ARRAY(s->arena, kept_features, count);
    p.e = ig_expr_of(&b);
    for (size_t i = 0; i < count; i++) {
        kept[i].bag = bags[i];
        sort_features(&p, &kept[i]);
        p.legs = ig_chunk_of(&s->chunk_of, bags[i]) ? (uint32_t)s->chunks : p.legs;
    }
    ig_op *there = ig_journey_make(&b, s->arena, p.ways.items, (uint32_t)p.ways.count,
                                   p.legs);
    for (size_t i = 0; i < count; i++) {
        if (kept[i].numbers.count) {
            keep_features(&p, &kept[i]);
        }
        ig_op_erase(bags[i]);
    }
    if (p.legs > 1) {
        ig_sink_after(s->arena, there);
    }
    s->run->changed = true;
}

/* ---- the graph ---- */

/* The next bags of the block that travel and need as many bags before them: at most as
 * many as one exchange takes. */
static ig_status next_bags(const sharder *s, ig_op *first, ig_op_list *out) {
    uint64_t lists, all = 0;
    *out = (ig_op_list){ 0 };
    for (ig_op *op = first; op; op = op->next) {
        if (op->code != IG_OP_bag) {
            continue;
        }
        IG_TRY(count_lists(s, op, &lists));
        uint32_t level = out->count ? ig_level_of(&s->levels, out->items[0]) : 0;
        bool fits = !out->count || ig_level_of(&s->levels, op) == level;
        if (lists && fits && all + lists < IG_MANY) {
            IG_PUSH(s->arena, out, op);
            all += lists;
        }
    }
    return IG_OK;
}

static ig_status shard_body(sharder *s, ig_block *block) {
    ig_op_list bags;
    ig_levels_find(&s->levels, s->arena, block, IG_OP_bag);
    IG_TRY(next_bags(s, block->first, &bags));
    while (bags.count) {
        uint32_t level = ig_level_of(&s->levels, bags.items[0]);
        bool is_one = ig_levels_make_way(&s->levels, &bags, level);
        shard_bags(s, bags.items, is_one ? bags.count : 1);
        IG_TRY(next_bags(s, block->first, &bags));
    }
    return IG_OK;
}

/* Look-ups in bodies cannot travel.  They nest at most limits.graph_depth
 * deep. */
static ig_status check_bodies(const sharder *s, const ig_block *block) {
    uint64_t lists;
    for (const ig_op *op = block->first; op; op = op->next) {
        if (op->code == IG_OP_bag && block->parent) {
            IG_TRY(count_lists(s, op, &lists));
        }
        for (uint32_t i = 0; i < op->body_count; i++) {
            IG_TRY(check_bodies(s, op->bodies[i]));
        }
    }
    return IG_OK;
}

static ig_status divide_tables(sharder *s, ig_graph *graph) {
    ig_map_init(&s->divided, s->arena);
    for (ig_op *op = graph->body.first; op; op = op->next) {
        if (op->code != IG_OP_shard) {
            continue;
        }
        ig_divided *divided = IG_NEW(s->arena, ig_divided);
        IG_TRY(ig_divide(op, s->arena, divided));
        if (divided->count) {
            int64_t chunks = ig_attr_int(op, IG_shard_chunks, 1);
            s->chunks = chunks > s->chunks ? chunks : s->chunks;
            ig_map_set_id(&s->divided, IG_MAP_PTR(op), divided);
        }
    }
    return IG_OK;
}

/* Marks go; a table that another op reads as a whole cannot be divided. */
static ig_status take_marks(sharder *s, ig_graph *graph) {
    for (ig_op *op = graph->body.first, *next; op; op = next) {
        next = op->next;
        if (op->code != IG_OP_shard) {
            continue;
        }
        ig_value *table = op->operands[0].value;
        if (op->results->uses && divided_of(s, op->results)) {
            return SHARD_ERROR(
                op->results->uses->user,
                "it reads all of table '%s', of which a rank has a part; "
                "let every rank have all of it (data_parallel)",
                ig_table_name(table));
        }
        ig_value_replace(op->results, table);
        ig_op_erase(op);
        s->run->changed = true;
    }
    return IG_OK;
}

ig_status ig_pass_shard(ig_pass_run *run, ig_graph *graph) {
    sharder s = { .run = run, .arena = run->scratch, .chunks = 1 };
    IG_TRY(divide_tables(&s, graph));
    IG_TRY(check_bodies(&s, &graph->body));
    ig_split_batch(run, graph, &s.divided, s.chunks, &s.chunk_of);
    IG_TRY(shard_body(&s, &graph->body));
    return take_marks(&s, graph);
}
