/* tile_rows: computes that treat rows of the batch independently run block by block.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     compute %x, @w0, %0 {family = "gemm"} …      %0 : f32[B, 512]
 *     compute %0, @w1, %1 {family = "gemm"} …      %1 : f32[B, 256]
 *   becomes
 *     rows {count = B, block = 112, symbol = rows} {
 *       %0 = alloc : f32[rows, 512]
 *       compute %x, @w0, %0 …
 *       compute %0, @w1, %1 …
 *     }
 *
 * A layer's results are still in the cache when the next layer reads them, a worker
 * goes through all layers without waiting for the others, and a buffer between layers
 * holds a block of rows instead of all of them.
 *
 * A compute treats rows by itself when every value in it that mentions the batch has it
 * as its first extent and nowhere else, and no op loses it: an op that mixes rows (a
 * sum over the batch, a transpose, a slice of it) changes that extent.  The batch must
 * be a symbol that an input binds.
 *
 * Every block reads all the weights, so blocks are small only where these stay in the
 * cache too, and layers whose weights are large are left alone: they take the whole
 * batch at once, and many workers share the columns of a small one.
 *
 * Rows of convolutions are images.  One of them nearly fills a cache, and has so many
 * windows that all of them together use the weights no better: where a compute reads
 * and writes much more of each image than there are weights, a block is one image.
 * Computes that touch little between two such go along.
 *
 * Computes between the members that do not depend on them move in front of them.
 *
 * Plan stage, entry block, after `order`.  Keeps the results of every compute.
 */
#include "ir/build/expr.h"
#include "ir/families.h"
#include "passes/place/part.h"
#include "passes/engine/pass.h"
#include "passes/engine/substitute.h"

#include <assert.h>

enum {
    BLOCK_ROWS = 112, /* a multiple of the rows of every level's register tiles */
    MIN_ROWS = 14,
    BLOCK_BYTES =
        512
        << 10, /* of the values that a block's computes write: half of an L2 cache */
    MIN_COMPUTES = 2,
    CACHED_WEIGHTS = 512 << 10, /* bytes that blocks of any size may read anew */
    MAX_WEIGHTS = 4 << 20,      /* bytes that blocks may read at all */
    IMAGE_BYTES = 256 << 10, /* of an image that a compute reads and writes, at least */
    IMAGE_TO_WEIGHTS = 4,    /* the same over the bytes of its weights, at least */
    LIGHT_BYTES = 64 << 10,  /* of an image and weights, of computes that go along */
};

typedef struct row_tiler {
    ig_pass_run *run;
    ig_module *module;
    ig_graph *graph;
    ig_dim batch; /* a symbol */
    uint32_t batch_index;
    ig_dim rows;              /* symbol: rows of a block */
    ig_substitution by_block; /* of the one by the other */
    IG_VEC(ig_op *) members;
    ig_map is_member;   /* compute -> itself */
    ig_map written;     /* root that a member writes */
    ig_map read;        /* root that a member reads */
    ig_map row_stride;  /* root -> elements from row to row */
    ig_part_list parts; /* that members write */
    bool has_images;    /* members go over images one by one */
    ig_op *body_op;     /* the rows op */
    ig_block *body;
} row_tiler;

/* ---- does a compute treat rows by itself? ---- */

static bool mentions_batch(const row_tiler *c, ig_dim dim) {
    return ig_dim_mentions(c->module, dim, c->batch_index);
}

static bool has_batch(const row_tiler *c, const ig_type *type) {
    for (uint32_t d = 0; d < type->rank; d++) {
        if (mentions_batch(c, type->dims[d])) {
            return true;
        }
    }
    return false;
}

/* Is the batch the first extent only, or no extent at all? */
static bool is_by_rows(const row_tiler *c, const ig_type *type) {
    for (uint32_t d = 0; d < type->rank; d++) {
        bool is_first = d == 0 && ig_dim_same(type->dims[0], c->batch);
        if (!is_first && mentions_batch(c, type->dims[d])) {
            return false;
        }
    }
    return true;
}

/* Does a value of a row depend on other rows, or on how many there are before it, where
 * extents do not show it? */
static bool mixes_rows(const ig_op *op) {
    bool shifts = op->code == IG_OP_pad &&
                  (!ig_attr_is_set(op, IG_pad_before) ||
                   !ig_dim_is(op->attrs[IG_pad_before].as.dims[0], 0));
    return shifts || (op->code == IG_OP_pool_indices &&
                      ig_attr_int(op, IG_pool_indices_whole, 0));
}

/* An operand of lower rank would be broadcast along the batch. */
static bool keeps_rows(const row_tiler *c, const ig_op *op) {
    if (mixes_rows(op)) {
        return false;
    }
    bool takes = false, gives = false, is_map = ig_ops[op->code].traits & IG_MAP;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const ig_type *type = op->operands[i].value->type;
        bool takes_it = has_batch(c, type);
        takes |= takes_it;
        if (takes_it && is_map && type->rank != op->results->type->rank) {
            return false;
        }
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        gives |= has_batch(c, op->results[i].type);
        if (!is_by_rows(c, op->results[i].type)) {
            return false;
        }
    }
    return takes == gives || op->result_count == 0;
}

/* Elements from the first of a row to one past the last. */
static ig_dim row_span(const row_tiler *c, const ig_part *part) {
    ig_dim span = ig_dim_of(1);
    for (uint32_t d = 1; d < part->type->rank; d++) {
        ig_dim last = ig_dim_sub(c->module, part->type->dims[d], ig_dim_of(1));
        span = ig_dim_add(c->module, span,
                          ig_dim_mul(c->module, last, part->strides[d]));
    }
    return span;
}

/* Is row i of the part inside row i of the buffer?  Rows of a buffer are as far apart
 * for each of its parts; `row_stride` is the first one's. */
static bool is_part_by_rows(row_tiler *c, ig_value *value) {
    if (!is_by_rows(c, value->type)) {
        return false;
    }
    ig_part part = ig_part_of(c->module, value);
    ig_dim end = ig_dim_add(c->module, part.offset, row_span(c, &part));
    if (!has_batch(c, value->type)) {
        return !mentions_batch(c, end);
    }
    uint64_t key = IG_MAP_PTR(part.root);
    ig_dim *noted = ig_map_get_id(&c->row_stride, key);
    if (!noted) {
        noted = IG_NEW(c->run->scratch, ig_dim);
        *noted = part.strides[0];
        ig_map_set_id(&c->row_stride, key, noted);
    }
    ig_dim known = *noted;
    return ig_dim_same(part.strides[0], known) && !mentions_batch(c, end) &&
           !mentions_batch(c, known) &&
           ig_dim_less_equal(c->module, ig_dim_of(0), part.offset) == IG_YES &&
           ig_dim_less_equal(c->module, end, known) == IG_YES;
}

static bool has_trait(const row_tiler *c, const ig_op *compute) {
    ig_kernel_family family = ig_op_family(compute);
    return ig_family_has(family, IG_FAMILY_ROWS) ||
           (c->has_images && ig_family_has(family, IG_FAMILY_IMAGES));
}

static bool is_row_local(row_tiler *c, const ig_op *compute) {
    if (!has_trait(c, compute)) {
        return false;
    }
    for (uint32_t i = 0; i < compute->operand_count; i++) {
        ig_value *value = compute->operands[i].value;
        bool is_out = i >= ig_part_in_count(compute);
        if (!is_part_by_rows(c, value) || (is_out && !has_batch(c, value->type))) {
            return false;
        }
    }
    const ig_block *body = compute->bodies[0];
    for (uint32_t i = 0; i < body->arg_count; i++) {
        if (!is_by_rows(c, body->args[i]->type)) {
            return false;
        }
    }
    for (const ig_op *op = body->first; op; op = op->next) {
        if (op->body_count || !keeps_rows(c, op)) {
            return false;
        }
    }
    return true;
}

/* ---- finding members ---- */

/* Bytes of the axes from `first` on; extents that are not known count as nothing. */
static int64_t bytes_from(const row_tiler *c, const ig_type *type, uint32_t first) {
    int64_t count = 0;
    assert(first <= type->rank && "axes of the type");
    ig_dim inner = ig_dim_product(c->module, type->dims + first, type->rank - first);
    (void)ig_dim_constant(c->module, inner, &count);
    return count * ig_dtypes[type->dtype].bits / 8;
}

/* May it go over images one by one? */
static bool suits_images(const row_tiler *c, const ig_op *compute) {
    int64_t image = 0, weights = 0;
    for (uint32_t i = 0; i < compute->operand_count; i++) {
        const ig_type *type = compute->operands[i].value->type;
        bool is_image = has_batch(c, type);
        *(is_image ? &image : &weights) += bytes_from(c, type, is_image ? 1 : 0);
    }
    bool is_light = c->members.count > 0 && image + weights <= LIGHT_BYTES;
    return is_light || (image >= IMAGE_BYTES && image / IMAGE_TO_WEIGHTS >= weights);
}

static void note_access(row_tiler *c, const ig_op *compute) {
    for (uint32_t i = 0; i < compute->operand_count; i++) {
        ig_value *value = compute->operands[i].value;
        uint64_t key = IG_MAP_PTR(ig_part_root(value));
        bool is_in = i < ig_part_in_count(compute);
        ig_map_set_id(is_in ? &c->read : &c->written, key, c);
        if (!is_in) {
            ig_part part = ig_part_of(c->module, value);
            ig_part_list_add(c->run->scratch, &c->parts, &part);
        }
    }
}

/* May `compute` run before all members? */
static bool can_go_ahead(const row_tiler *c, const ig_op *compute) {
    for (uint32_t i = 0; i < compute->operand_count; i++) {
        ig_value *value = compute->operands[i].value;
        uint64_t key = IG_MAP_PTR(ig_part_root(value));
        bool is_in = i < ig_part_in_count(compute);
        if ((is_in && ig_map_get_id(&c->written, key)) ||
            (!is_in && (ig_map_get_id(&c->read, key) ||
                        !ig_part_lies_apart(c->module, &c->parts, value)))) {
            return false;
        }
    }
    return true;
}

static void reset_members(row_tiler *c) {
    c->members.count = c->parts.count = 0;
    ig_map_init(&c->is_member, c->run->scratch);
    ig_map_init(&c->written, c->run->scratch);
    ig_map_init(&c->read, c->run->scratch);
    ig_map_init(&c->row_stride, c->run->scratch);
}

/* Collects members from `op` on; returns where the next search begins. */
static ig_op *collect_members(row_tiler *c, ig_op *op) {
    reset_members(c);
    for (; op; op = op->next) {
        bool is_free = op->code == IG_OP_alloc || op->code == IG_OP_view ||
                       (ig_ops[op->code].traits & IG_CONSTANT) == IG_CONSTANT ||
                       op->code == IG_OP_guard;
        if (is_free) {
            continue;
        }
        if (op->code != IG_OP_compute) {
            return op->next;
        }
        if (is_row_local(c, op) && (!c->has_images || suits_images(c, op))) {
            IG_PUSH(c->run->scratch, &c->members, op);
            ig_map_set_id(&c->is_member, IG_MAP_PTR(op), op);
            note_access(c, op);
        } else if (c->members.count && !can_go_ahead(c, op)) {
            return op;
        }
    }
    return NULL;
}

/* ---- making it ---- */

/* Is every use of an alloc one by members? */
static bool is_used_by_members(const row_tiler *c, const ig_value *buffer) {
    for (const ig_use *use = buffer->uses; use; use = use->next) {
        const ig_op *user = use->user;
        bool is_view = user->code == IG_OP_view;
        if (is_view ? !is_used_by_members(c, user->results)
                    : !ig_map_get_id(&c->is_member, IG_MAP_PTR(user))) {
            return false;
        }
    }
    return true;
}

/* An operand as the body sees it: the rows of the block, at the same offset. */
static ig_value *make_block_view(row_tiler *c, ig_builder *b, ig_value *value) {
    if (!has_batch(c, value->type)) {
        return value;
    }
    const ig_type *type = value->type;
    ig_part part = ig_part_of(c->module, value);
    ig_dim dims[IG_TENSOR_RANK];
    assert(type->rank > 0 && "rows are along the first axis");
    for (uint32_t d = 0; d < type->rank; d++) {
        dims[d] = d == 0 ? c->rows : type->dims[d];
    }
    ig_view_attrs attrs = { .offset = part.offset,
                            .strides = { part.strides, type->rank } };
    const ig_type *rows = ig_type_buffer(c->module, (ig_dtype)type->dtype, type->rank,
                                         dims);
    ig_value *root = ig_part_root(value);
    ig_op_spec spec = {
        .operands = &root, .operand_count = 1, .result_types = &rows, .result_count = 1
    };
    ig_expr e = ig_expr_of(b);
    return ig_build_view_op(&e, &spec, attrs)->results;
}

/* Bytes per row that the members write. */
static int64_t row_bytes(const row_tiler *c) {
    int64_t total = 0;
    for (size_t i = 0; i < c->members.count; i++) {
        const ig_op *op = c->members.items[i];
        for (uint32_t o = ig_part_in_count(op); o < op->operand_count; o++) {
            const ig_type *type = op->operands[o].value->type;
            int64_t width = 1;
            assert(type->rank > 0 && "members write rows");
            ig_dim inner = ig_dim_product(c->module, type->dims + 1, type->rank - 1);
            (void)ig_dim_constant(c->module, inner, &width);
            total += width * ig_dtypes[type->dtype].bits / 8;
        }
    }
    return total;
}

/* Bytes of constants and other operands that all rows share. */
static int64_t weight_bytes(const row_tiler *c) {
    int64_t total = 0;
    for (size_t i = 0; i < c->members.count; i++) {
        const ig_op *op = c->members.items[i];
        for (uint32_t o = 0; o < ig_part_in_count(op); o++) {
            const ig_type *type = op->operands[o].value->type;
            int64_t count;
            if (!ig_dim_constant(c->module, ig_type_count(c->module, type), &count)) {
                continue;
            }
            if (count > MAX_WEIGHTS) {
                return count;
            }
            total += count * ig_dtypes[type->dtype].bits / 8;
        }
    }
    return total;
}

static int64_t block_rows(const row_tiler *c) {
    if (c->has_images) {
        return 1;
    }
    if (weight_bytes(c) > CACHED_WEIGHTS) {
        return BLOCK_ROWS;
    }
    int64_t each = row_bytes(c), fit = each > 0 ? BLOCK_BYTES / each : BLOCK_ROWS;
    int64_t rows = fit / MIN_ROWS * MIN_ROWS;
    return rows < MIN_ROWS ? MIN_ROWS : rows > BLOCK_ROWS ? BLOCK_ROWS : rows;
}

static void make_rows_op(row_tiler *c) {
    assert(c->members.count > 0 && "a block runs launches");
    ig_builder b = ig_builder_before(IG_LAST(&c->members));
    c->rows = ig_dim_symbol(c->module, "rows");
    ig_substitution_init(&c->by_block, c->module, c->run->scratch);
    c->by_block.by_symbol[c->batch_index] = c->rows;
    ig_expr e = ig_expr_of(&b);
    ig_op_spec spec = { .body_count = 1 };
    ig_rows_attrs attrs = { .count = c->batch,
                            .block = block_rows(c),
                            .symbol = c->rows };
    c->body_op = ig_build_rows_op(&e, &spec, attrs);
    c->body = c->body_op->bodies[0];
}

/* Buffers that only the block knows become the block's. */
static void take_buffers(row_tiler *c) {
    for (ig_op *op = c->graph->body.first, *next; op; op = next) {
        next = op->next;
        bool is_buffer = op->code == IG_OP_alloc && is_by_rows(c, op->results->type) &&
                         has_batch(c, op->results->type);
        if (is_buffer && op->results->uses && is_used_by_members(c, op->results)) {
            ig_op_move(op, c->body, NULL);
            ig_substitute_op(&c->by_block, op);
        }
    }
}

static void move_members(row_tiler *c) {
    for (size_t i = 0; i < c->members.count; i++) {
        ig_op *op = c->members.items[i];
        ig_builder b = ig_builder_at_end(c->body);
        b.loc = op->loc;
        b.origins = op->origins;
        for (uint32_t o = 0; o < op->operand_count; o++) {
            ig_use_set(&op->operands[o], make_block_view(c, &b, op->operands[o].value));
        }
        ig_op_move(op, c->body, NULL);
        ig_substitute_block(&c->by_block, op->bodies[0]);
    }
    ig_builder end = ig_builder_at_end(c->body);
    ig_make_yield(&end, NULL, 0);
}

static void erase_unused_views(ig_block *block) {
    for (ig_op *op = block->last, *prev; op; op = prev) {
        prev = op->prev;
        if (op->code == IG_OP_view && !op->results->uses) {
            ig_op_erase(op);
        }
    }
}

/* Is there a product among the members, or something that goes over images? */
static bool has_anchor(const row_tiler *c) {
    for (size_t i = 0; i < c->members.count; i++) {
        ig_kernel_family family = ig_op_family(c->members.items[i]);
        if (c->has_images ? ig_family_has(family, IG_FAMILY_IMAGES)
                          : family == IG_FAMILY_gemm) {
            return true;
        }
    }
    return false;
}

/* Bytes of an image that only members read and write. */
static int64_t inner_bytes(const row_tiler *c) {
    int64_t total = 0;
    for (const ig_op *op = c->graph->body.first; op; op = op->next) {
        bool is_inner = op->code == IG_OP_alloc && has_batch(c, op->results->type) &&
                        is_used_by_members(c, op->results);
        total += is_inner ? bytes_from(c, op->results->type, 1) : 0;
    }
    return total;
}

/* Do blocks repay that each of them reads the weights anew? */
static bool is_worth_it(const row_tiler *c) {
    return c->members.count >= MIN_COMPUTES && has_anchor(c) &&
           (c->has_images ? inner_bytes(c) >= IMAGE_BYTES
                          : weight_bytes(c) <= MAX_WEIGHTS);
}

/* The rows op takes the position of the last member; other ops between the first and
 * the last member come before it. */
static void tile_members(row_tiler *c) {
    make_rows_op(c);
    take_buffers(c);
    move_members(c);
    erase_unused_views(&c->graph->body);
    c->run->changed = true;
}

static bool find_batch(row_tiler *c) {
    const ig_block *body = &c->graph->body;
    for (uint32_t i = 0; i < body->arg_count; i++) {
        const ig_type *type = body->args[i]->type;
        if (type->rank > 0 && ig_dim_as_symbol(c->module, type->dims[0])) {
            c->batch = type->dims[0];
            c->batch_index = ig_symbol_index(c->module, c->batch);
            return true;
        }
    }
    return false;
}

static void tile_chains(row_tiler *c) {
    for (ig_op *op = c->graph->body.first; op;) {
        op = collect_members(c, op);
        if (is_worth_it(c)) {
            tile_members(c);
        }
    }
}

ig_status ig_pass_tile_rows(ig_pass_run *run, ig_graph *graph) {
    row_tiler c = { .run = run, .module = graph->module, .graph = graph };
    const ig_target *target = run->options->target;
    if ((target && !target->has_row_blocks) || !find_batch(&c)) {
        return IG_OK;
    }
    c.has_images = true;
    tile_chains(&c);
    c.has_images = false;
    tile_chains(&c);
    return IG_OK;
}
