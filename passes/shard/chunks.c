/* SPDX-License-Identifier: Apache-2.0
 *
 *     %t = shard @t {…, chunks = 2}
 *     %0 = bag %t, %ids, %off {operands = [1], pool = [sum]} : f32[B, 8]
 *     %1 = matmul %0, @w : f32[B, 4]
 *   becomes
 *     %2 = concat %off, N {axis = 0}               where each bag ends, too
 *     %3 = slice %2 {starts = [0], sizes = [floor(B / 2) + 1]}
 *     %4 = bag %t, %ids, %3 {operands = [1], pool = [sum], last = [offset]}
 *     %5 = slice %2 {starts = [floor(B / 2)], …}
 *     %6 = bag %t, %ids, %5 {…}
 *     %7 = matmul %4, @w
 *     %8 = matmul %6, @w
 *     %1 = concat %7, %8 {axis = 0}
 *
 * shard then lets the ids of all chunks travel at once and the rows chunk by chunk, so
 * that those of the second travel while the first is multiplied.  Chunk k of K has
 * samples floor(k * B / K) …; some have none where B is small, as every rank must
 * come to as many exchanges whatever its batch.
 *
 * The ops taken in chunks: bags of the entry block that need no other such bag, if all
 * results have a row a sample; then every op by rows.c that needs nothing from after
 * the first op that wants a result whole.  That one, and the graph's results, get the
 * chunks put together again.
 */
#include "passes/shard/chunks.h"

#include "ir/bag.h"
#include "ir/build/expr.h"
#include "passes/engine/levels.h"
#include "passes/shard/rows.h"

#include <assert.h>

typedef struct splitter {
    ig_arena *arena;
    ig_module *module;
    const ig_map *divided;
    ig_samples samples;
    uint32_t count;  /* of chunks */
    ig_op_list ops;  /* that are made in chunks, in order */
    ig_map uses;     /* such an op but a bag -> ig_row_use */
    ig_map is_split; /* such an op -> itself */
    ig_map waits;    /* op that needs one of their results whole, or comes after one */
    ig_map pieces;   /* value -> count chunks of it */
    ig_map edges_of; /* begins -> edges */
    ig_op *anchor;   /* the first that waits */
    ig_builder b;    /* before it */
    ig_expr e;       /* over b */
    ig_map *chunk_of;
} splitter;

typedef IG_VEC(ig_value *) values;

uint32_t ig_chunk_of(const ig_map *chunk_of, const ig_op *bag) {
    return (uint32_t)(uintptr_t)ig_map_get_id(chunk_of, IG_MAP_PTR(bag));
}

/* ---- split ops ---- */

static bool is_divided(const splitter *s, const ig_op *bag, uint32_t index) {
    ig_bag_feature f = ig_bag_feature_at(bag, index);
    ig_op *op = ig_def(bag->operands[f.table].value, IG_OP_shard);
    return op && ig_map_get_id(s->divided, IG_MAP_PTR(op));
}

/* A bag over a divided table, with a row a sample. */
static bool is_bag_of_samples(splitter *s, const ig_op *op) {
    bool travels = false;
    if (op->code != IG_OP_bag || ig_attr_int(op, IG_bag_whole, 0)) {
        return false;
    }
    if (!s->ops.count) {
        s->samples.count = op->results->type->dims[0];
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_bag_feature f = ig_bag_feature_at(op, i);
        bool is_list = f.pool == IG_POOL_none && f.begins;
        if (is_list || !ig_samples_have(&s->samples, &op->results[i], 1)) {
            return false;
        }
        travels = travels || is_divided(s, op, i);
    }
    return travels &&
           ig_dim_less_equal(s->module, ig_dim_of(0), s->samples.count) == IG_YES;
}

static bool is_marked(const ig_map *map, const ig_op *op) {
    return op && ig_map_get_id(map, IG_MAP_PTR(op)) != NULL;
}

/* Does it, or an op of its bodies, need a result of an op in `map`?  Recursion is as
 * deep as bodies nest, which readers bound by limits.graph_depth. */
static bool needs_any(const ig_map *map, const ig_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (is_marked(map, op->operands[i].value->def)) {
            return true;
        }
    }
    for (uint32_t i = 0; i < op->body_count; i++) {
        for (const ig_op *in = op->bodies[i]->first; in; in = in->next) {
            if (needs_any(map, in)) {
                return true;
            }
        }
    }
    return false;
}

static void add_op(splitter *s, ig_op *op, ig_row_use *use) {
    IG_PUSH(s->arena, &s->ops, op);
    ig_map_set_id(&s->is_split, IG_MAP_PTR(op), op);
    if (use) {
        ig_map_set_id(&s->uses, IG_MAP_PTR(op), use);
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_samples_set(&s->samples, &op->results[i], use ? use->rows : 1);
    }
}

static bool try_op(splitter *s, ig_op *op) {
    bool is_free = !needs_any(&s->is_split, op);
    if (needs_any(&s->waits, op)) {
        return false;
    }
    if (is_free && is_bag_of_samples(s, op)) {
        add_op(s, op, NULL);
        return true;
    }
    ig_row_use *use = IG_NEW(s->arena, ig_row_use);
    use->operands = IG_NEW_ARRAY(s->arena, int64_t, op->operand_count + 1u);
    if (is_free || !ig_op_keeps_samples(&s->samples, op, use)) {
        return false;
    }
    add_op(s, op, use);
    return true;
}

/* The order of effects stays: they end the chunks. */
static void find_ops(splitter *s, ig_block *block) {
    for (ig_op *op = block->first; op; op = op->next) {
        if (try_op(s, op)) {
            continue;
        }
        bool has_effects = ig_ops[op->code].traits & (IG_STATE | IG_TERMINATOR);
        if (s->ops.count && (s->anchor || has_effects || needs_any(&s->is_split, op))) {
            s->anchor = s->anchor ? s->anchor : op;
            ig_map_set_id(&s->waits, IG_MAP_PTR(op), op);
        }
    }
}

/* ---- chunks of a value ---- */

static ig_dim first_sample(const splitter *s, uint32_t chunk) {
    ig_dim all = s->samples.count;
    ig_dim passed = ig_dim_mul(s->module, all, ig_dim_of(chunk));
    return chunk == s->count ? all
                             : ig_dim_floor_div(s->module, passed, ig_dim_of(s->count));
}

static ig_dim sample_count(const splitter *s, uint32_t chunk) {
    return ig_dim_sub(s->module, first_sample(s, chunk + 1), first_sample(s, chunk));
}

static ig_dim rows_for(const splitter *s, ig_dim samples, int64_t rows) {
    return ig_dim_mul(s->module, samples, ig_dim_const(s->module, rows));
}

static ig_value **pieces_of(splitter *s, const ig_value *value) {
    ig_value **pieces = ig_map_get_id(&s->pieces, IG_MAP_PTR(value));
    if (!pieces) {
        pieces = IG_NEW_ARRAY(s->arena, ig_value *, s->count);
        ig_map_set_id(&s->pieces, IG_MAP_PTR(value), pieces);
    }
    return pieces;
}

/* Of a value with so many rows a sample. */
static ig_value *piece_of(splitter *s, ig_value *value, uint32_t chunk, int64_t rows) {
    ig_value **piece = &pieces_of(s, value)[chunk];
    if (!*piece) {
        assert(!is_marked(&s->is_split, value->def) && "made before it is needed");
        *piece = ig_expr_slice(&s->e, value, 0,
                               rows_for(s, first_sample(s, chunk), rows),
                               rows_for(s, sample_count(s, chunk), rows), 1);
    }
    return *piece;
}

/* ---- bags ---- */

/* Where bags begin, and the end of the last. */
typedef struct edge_list {
    ig_dim ids; /* which is there */
    ig_value *list;
} edge_list;

static ig_value *edges_of(splitter *s, const ig_op *bag, const ig_bag_feature *f) {
    ig_value *begins = bag->operands[f->begins].value;
    ig_dim ids = bag->operands[f->ids].value->type->dims[0];
    if (f->last != IG_LAST_ids) {
        return begins;
    }
    edge_list *known = ig_map_get_id(&s->edges_of, IG_MAP_PTR(begins));
    if (!known || !ig_dim_same(known->ids, ids)) {
        ig_value *end = ig_expr_like(&s->e, ig_expr_dims(&s->e, &ids, 1), begins);
        ig_value *both[] = { begins, end };
        known = IG_NEW(s->arena, edge_list);
        *known = (edge_list){ ids, ig_expr_concat(&s->e, 0, both, 2) };
        ig_map_set_id(&s->edges_of, IG_MAP_PTR(begins), known);
    }
    return known->list;
}

static void push_feature(splitter *s, values *to, const ig_op *bag,
                         const ig_bag_feature *f, uint32_t chunk) {
    ig_value *ids = bag->operands[f->ids].value;
    for (uint32_t i = 0; i < f->tables; i++) {
        IG_PUSH(s->arena, to, bag->operands[f->table + i].value);
    }
    IG_PUSH(s->arena, to, f->begins ? ids : piece_of(s, ids, chunk, 1));
    if (f->ends) {
        IG_PUSH(s->arena, to, piece_of(s, bag->operands[f->begins].value, chunk, 1));
        IG_PUSH(s->arena, to, piece_of(s, bag->operands[f->ends].value, chunk, 1));
    } else if (f->begins) {
        ig_dim size = ig_dim_add(s->module, sample_count(s, chunk), ig_dim_of(1));
        ig_value *edges = edges_of(s, bag, f);
        IG_PUSH(s->arena, to,
                ig_expr_slice(&s->e, edges, 0, first_sample(s, chunk), size, 1));
    }
    if (f->weights) {
        ig_value *weights = bag->operands[f->weights].value;
        IG_PUSH(s->arena, to, f->begins ? weights : piece_of(s, weights, chunk, 1));
    }
}

/* Ops after the last end are the last chunk's. */
static int64_t last_of(const splitter *s, const ig_bag_feature *f, uint32_t chunk) {
    bool is_own = f->last != IG_LAST_ids && chunk + 1 == s->count;
    return !f->begins || f->ends || is_own ? (int64_t)f->last : IG_LAST_offset;
}

static ig_op *make_bag(splitter *s, const ig_op *bag, uint32_t chunk) {
    values operands = { 0 };
    ig_bag_attrs attrs = ig_bag_attrs_of(bag);
    int64_t *last = IG_NEW_ARRAY(s->arena, int64_t, bag->result_count);
    bool is_set = false;
    for (uint32_t i = 0; i < bag->result_count; i++) {
        ig_bag_feature f = ig_bag_feature_at(bag, i);
        push_feature(s, &operands, bag, &f, chunk);
        last[i] = last_of(s, &f, chunk);
        is_set = is_set || last[i] != IG_LAST_ids;
    }
    attrs.last = (ig_ints){ is_set ? last : NULL, bag->result_count };
    ig_op_spec spec = { .operands = operands.items,
                        .operand_count = (uint32_t)operands.count,
                        .result_count = bag->result_count };
    ig_op *made = ig_build_bag_op(&s->e, &spec, attrs);
    ig_map_set_id(s->chunk_of, IG_MAP_PTR(made), (void *)(uintptr_t)(chunk + 1));
    return made;
}

/* ---- followers ---- */

static ig_op *make_op(splitter *s, const ig_op *op, const ig_row_use *use,
                      uint32_t chunk) {
    uint32_t attr_count = ig_ops[op->code].attr_count;
    ig_attr *attrs = IG_NEW_ARRAY(s->arena, ig_attr, attr_count + 1u);
    ig_value **operands = IG_NEW_ARRAY(s->arena, ig_value *, op->operand_count);
    for (uint32_t i = 0; i < attr_count; i++) {
        attrs[i] = op->attrs[i];
    }
    if (use->dims >= 0) {
        ig_attr *dims = &attrs[use->dims];
        ig_dim *extents = IG_NEW_ARRAY(s->arena, ig_dim, dims->count);
        for (uint32_t i = 0; i < dims->count; i++) {
            extents[i] = dims->as.dims[i];
        }
        extents[0] = rows_for(s, sample_count(s, chunk), use->rows);
        *dims = ig_attr_of_dims(s->module, extents, dims->count);
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        ig_value *value = op->operands[i].value;
        operands[i] = use->operands[i] ? piece_of(s, value, chunk, use->operands[i])
                                       : value;
    }
    ig_op_spec spec = { .operands = operands,
                        .operand_count = op->operand_count,
                        .result_count = op->result_count,
                        .attrs = attrs };
    return ig_make_op(&s->b, (ig_opcode)op->code, &spec);
}

/* Bags of all chunks come first, so that their ids may travel at once. */
static void make_chunk(splitter *s, uint32_t chunk, bool is_bags) {
    for (size_t i = 0; i < s->ops.count; i++) {
        const ig_op *op = s->ops.items[i];
        if ((op->code == IG_OP_bag) != is_bags) {
            continue;
        }
        const ig_row_use *use = ig_map_get_id(&s->uses, IG_MAP_PTR(op));
        s->b.loc = op->loc;
        s->b.origins = op->origins;
        ig_op *made = use ? make_op(s, op, use, chunk) : make_bag(s, op, chunk);
        for (uint32_t k = 0; k < op->result_count; k++) {
            pieces_of(s, &op->results[k])[chunk] = &made->results[k];
        }
    }
}

/* ---- together again ---- */

static bool is_needed_whole(const splitter *s, const ig_value *value) {
    for (const ig_use *use = value->uses; use; use = use->next) {
        if (!is_marked(&s->is_split, use->user)) {
            return true;
        }
    }
    return false;
}

static void join_chunks(splitter *s, ig_value *value) {
    ig_value *whole = ig_expr_concat(&s->e, 0, pieces_of(s, value), s->count);
    if (whole->type != value->type) {
        ig_value_retype(whole, value->type);
    }
    whole->name = value->name;
    ig_value_replace(value, whole);
}

static void replace_ops(splitter *s) {
    for (size_t i = 0; i < s->ops.count; i++) {
        ig_op *op = s->ops.items[i];
        s->b.loc = op->loc;
        s->b.origins = op->origins;
        for (uint32_t k = 0; k < op->result_count; k++) {
            if (is_needed_whole(s, &op->results[k])) {
                join_chunks(s, &op->results[k]);
            }
        }
    }
    for (size_t i = s->ops.count; i-- > 0;) {
        ig_op_erase(s->ops.items[i]);
    }
}

void ig_split_batch(ig_pass_run *run, ig_graph *graph, const ig_map *divided,
                    int64_t count, ig_map *out_chunk_of) {
    splitter s = { .arena = run->scratch,
                   .module = graph->module,
                   .divided = divided,
                   .samples = { .module = graph->module },
                   .count = (uint32_t)count,
                   .chunk_of = out_chunk_of };
    ig_map *const maps[] = { &s.samples.rows, &s.uses,     &s.is_split, &s.waits,
                             &s.pieces,       &s.edges_of, out_chunk_of };
    for (size_t i = 0; i < IG_COUNT_OF(maps); i++) {
        ig_map_init(maps[i], s.arena);
    }
    assert(count > 0 && count <= UINT16_MAX && "infer has seen that it is");
    if (count > 1) {
        find_ops(&s, &graph->body);
    }
    if (!s.ops.count) {
        return;
    }
    s.b = ig_builder_before(s.anchor);
    s.e = ig_expr_of(&s.b);
    for (uint32_t k = 0; k < s.count; k++) {
        make_chunk(&s, k, true);
    }
    for (uint32_t k = 0; k < s.count; k++) {
        make_chunk(&s, k, false);
    }
    replace_ops(&s);
    run->changed = true;
}
