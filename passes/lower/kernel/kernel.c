/* Vocabulary for building kernel form.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/expr.h"
#include "passes/lower/kernel/kernel.h"

#include <assert.h>
#include <string.h>

/* ---- making ops ---- */

static inline bool is_vector(const ig_value *x) {
    return x && x->type->kind == IG_VECTOR;
}

static inline bool is_buffer(const ig_value *x) {
    return x && x->type->kind == IG_BUFFER;
}

/* One i64: an index, a count or an extent. */
static inline bool is_index(const ig_value *x) {
    return is_vector(x) && x->type->dtype == IG_DT_i64 && x->type->lanes == 1;
}

static const ig_type *vector_type(ig_builder *b, ig_dtype dtype, uint32_t lanes) {
    assert(lanes > 0 && "a vector has a lane");
    return ig_type_vector(b->graph->module, dtype, lanes);
}

/* An op of one result. */
static ig_op_spec spec_of(ig_value *const *operands, uint32_t count,
                          const ig_type *const *result) {
    return (ig_op_spec){ .operands = operands,
                         .operand_count = count,
                         .result_types = result,
                         .result_count = 1 };
}

static ig_value *make_value(ig_builder *b, ig_opcode code, ig_value *const *operands,
                            uint32_t count, const ig_type *result) {
    ig_op_spec spec = spec_of(operands, count, &result);
    return ig_make_op(b, code, &spec)->results;
}

/* ---- constants ---- */

static void write_element(ig_dtype dtype, double value, void *out) {
    ig_tensor one = { .kind = IG_TENSOR, .dtype = dtype, .count = 1, .data = out };
    if (ig_dtype_is_float(dtype)) {
        ig_tensor_set_f64(&one, 0, value);
    } else {
        ig_tensor_set_i64(&one, 0, (int64_t)value);
    }
}

static ig_value *make_constant(ig_builder *b, ig_dtype dtype, uint32_t lanes,
                               const void *bytes) {
    ig_module *module = b->graph->module;
    assert(ig_dtypes[dtype].bits <= 64 && "a number of at most eight bytes");
    ig_data data = { .type = ig_type_tensor(module, dtype, 0, NULL),
                     .bytes = ig_arena_copy(&module->arena, bytes, 8),
                     .size = ig_dtypes[dtype].bits / 8 };
    const ig_type *type = vector_type(b, dtype, 1);
    ig_op_spec spec = spec_of(NULL, 0, &type);
    ig_expr e = ig_expr_of(b);
    ig_op *one = ig_build_const_op(&e, &spec, (ig_const_attrs){ .value = &data });
    return k_splat(b, one->results, lanes);
}

ig_value *k_i64(ig_builder *b, int64_t value) {
    return make_constant(b, IG_DT_i64, 1, &value);
}

ig_value *k_const_vector(ig_builder *b, ig_dtype dtype, uint32_t lanes, double value) {
    uint64_t bytes = 0;
    write_element(dtype, value, &bytes);
    return make_constant(b, dtype, lanes, &bytes);
}

ig_value *k_const(ig_builder *b, ig_dtype dtype, double value) {
    return k_const_vector(b, dtype, 1, value);
}

static bool constant_i64(const ig_value *x, int64_t *out_value) {
    ig_op *op = ig_def(x, IG_OP_const);
    if (!op || x->type->dtype != IG_DT_i64 || x->type->lanes != 1) {
        return false;
    }
    memcpy(out_value, op->attrs[IG_const_value].as.data->bytes, sizeof *out_value);
    return true;
}

/* ---- arithmetic ---- */

ig_value *k_unary(ig_builder *b, ig_opcode code, ig_value *x) {
    assert(is_vector(x) && "arithmetic is on vectors, loads come first");
    return make_value(b, code, &x, 1, x->type);
}

ig_value *k_binary(ig_builder *b, ig_opcode code, ig_value *x, ig_value *y) {
    assert(is_vector(x) && is_vector(y) && "arithmetic is on vectors");
    assert(x->type == y->type && "operands of one type");
    ig_value *operands[] = { x, y };
    return make_value(b, code, operands, 2, x->type);
}

ig_value *k_compare(ig_builder *b, ig_opcode code, ig_value *x, ig_value *y) {
    assert(is_vector(x) && is_vector(y) && "comparisons are of vectors");
    assert(x->type == y->type && "operands of one type");
    ig_value *operands[] = { x, y };
    return make_value(b, code, operands, 2, vector_type(b, IG_DT_bool, x->type->lanes));
}

ig_value *k_add(ig_builder *b, ig_value *x, ig_value *y) {
    int64_t cx = 0, cy = 0;
    bool is_x = constant_i64(x, &cx), is_y = constant_i64(y, &cy);
    if (is_x && is_y) {
        return k_i64(b, cx + cy);
    }
    if (is_x && cx == 0) {
        return y;
    }
    return is_y && cy == 0 ? x : k_binary(b, IG_OP_add, x, y);
}

ig_value *k_sub(ig_builder *b, ig_value *x, ig_value *y) {
    int64_t cx = 0, cy = 0;
    bool is_x = constant_i64(x, &cx), is_y = constant_i64(y, &cy);
    if (is_x && is_y) {
        return k_i64(b, cx - cy);
    }
    return is_y && cy == 0 ? x : k_binary(b, IG_OP_sub, x, y);
}

ig_value *k_mul(ig_builder *b, ig_value *x, ig_value *y) {
    int64_t cx = 0, cy = 0;
    bool is_x = constant_i64(x, &cx), is_y = constant_i64(y, &cy);
    if (is_x && is_y) {
        return k_i64(b, cx * cy);
    }
    if (is_x && cx == 1) {
        return y;
    }
    if (is_y && cy == 1) {
        return x;
    }
    if ((is_x && cx == 0) || (is_y && cy == 0)) {
        return k_i64(b, 0);
    }
    return k_binary(b, IG_OP_mul, x, y);
}

ig_value *k_min(ig_builder *b, ig_value *x, ig_value *y) {
    return x == y ? x : k_binary(b, IG_OP_min, x, y);
}

ig_value *k_max(ig_builder *b, ig_value *x, ig_value *y) {
    return x == y ? x : k_binary(b, IG_OP_max, x, y);
}

ig_value *k_div(ig_builder *b, ig_value *x, ig_value *y) {
    int64_t cx = 0, cy = 0;
    bool is_x = constant_i64(x, &cx), is_y = constant_i64(y, &cy);
    assert((!is_x || !is_y || cy != 0) && "constants are not divided by 0");
    if (is_y && cy == 1) {
        return x;
    }
    return is_x && is_y ? k_i64(b, cx / cy) : k_binary(b, IG_OP_div, x, y);
}

ig_value *k_mod(ig_builder *b, ig_value *x, ig_value *y) {
    int64_t cx = 0, cy = 0;
    bool is_x = constant_i64(x, &cx), is_y = constant_i64(y, &cy);
    assert((!is_x || !is_y || cy != 0) && "constants are not divided by 0");
    if (is_y && cy == 1) {
        return k_i64(b, 0);
    }
    return is_x && is_y ? k_i64(b, cx % cy) : k_binary(b, IG_OP_mod, x, y);
}

ig_value *k_ceil_div(ig_builder *b, ig_value *x, int64_t y) {
    assert(y > 0 && "rounding up is to a positive multiple");
    return k_div(b, k_add(b, x, k_i64(b, y - 1)), k_i64(b, y));
}

ig_value *k_muladd(ig_builder *b, ig_value *x, ig_value *y, ig_value *z) {
    assert(x->type == y->type && y->type == z->type && "operands of one type");
    ig_value *operands[] = { x, y, z };
    return make_value(b, IG_OP_muladd, operands, 3, x->type);
}

ig_value *k_dot4(ig_builder *b, ig_value *x, ig_value *y, ig_value *z) {
    assert(x->type->dtype == IG_DT_u8 && y->type->dtype == IG_DT_i8 &&
           z->type->dtype == IG_DT_i32 && "bytes are summed in i32");
    assert(x->type->lanes == 4 * z->type->lanes && x->type->lanes == y->type->lanes &&
           "four bytes a sum");
    ig_value *operands[] = { x, y, z };
    return make_value(b, IG_OP_dot4, operands, 3, z->type);
}

ig_value *k_dot2(ig_builder *b, ig_value *x, ig_value *y, ig_value *z) {
    assert(x->type->dtype == IG_DT_u8 && y->type->dtype == IG_DT_i8 &&
           z->type->dtype == IG_DT_i16 && "bytes are summed in i16");
    assert(x->type->lanes == 2 * z->type->lanes && x->type->lanes == y->type->lanes &&
           "two bytes a sum");
    ig_value *operands[] = { x, y, z };
    return make_value(b, IG_OP_dot2, operands, 3, z->type);
}

ig_value *k_add_pairs(ig_builder *b, ig_value *x, ig_value *z) {
    assert(x->type->dtype == IG_DT_i16 && z->type->dtype == IG_DT_i32 &&
           x->type->lanes == 2 * z->type->lanes && "two of 16 bits a sum");
    ig_value *operands[] = { x, z };
    return make_value(b, IG_OP_add_pairs, operands, 2, z->type);
}

ig_value *k_mma(ig_builder *b, ig_value *const factors[6], ig_value *sums) {
    ig_value *operands[7] = { NULL };
    for (uint32_t i = 0; i < 6; i++) {
        assert(factors[i]->type == factors[0]->type && "registers of one type");
        operands[i] = factors[i];
    }
    assert(sums->type->dtype == IG_DT_f32 && sums->type->lanes == 4 && "four sums");
    operands[6] = sums;
    return make_value(b, IG_OP_mma, operands, 7, sums->type);
}

ig_value *k_swap(ig_builder *b, ig_value *x, int64_t bit) {
    assert(x->type->lanes == 1 && ig_dtypes[x->type->dtype].bits >= 32 && "words");
    ig_op_spec spec = spec_of(&x, 1, &x->type);
    ig_expr e = ig_expr_of(b);
    return ig_build_swap_op(&e, &spec, (ig_swap_attrs){ .bit = bit })->results;
}

void k_dot4_block(ig_builder *b, const k_block *block) {
    assert(is_buffer(block->a) && is_buffer(block->b) && is_buffer(block->sums) &&
           "factors and sums are in memory");
    assert(block->panels >= 1 && block->panels <= 4 && "as registers hold them");
    ig_value *operands[] = { block->a,    block->a_step,    block->b,    block->b_step,
                             block->sums, block->sums_step, block->rows, block->k };
    ig_dot4_block_attrs attrs = { .panels = block->panels, .adds = block->adds };
    ig_expr e = ig_expr_of(b);
    (void)ig_build_dot4_block(&e, operands, 8, attrs);
}

ig_value *k_where(ig_builder *b, ig_value *cond, ig_value *x, ig_value *y) {
    assert(cond->type->dtype == IG_DT_bool && "a condition is bool");
    assert(cond->type->lanes == x->type->lanes && "a condition for each lane");
    assert(x->type == y->type && "operands of one type");
    ig_value *operands[] = { cond, x, y };
    return make_value(b, IG_OP_where, operands, 3, x->type);
}

ig_value *k_cast(ig_builder *b, ig_value *x, ig_dtype to) {
    assert(is_vector(x) && "buffers are reinterpreted, not cast");
    if (x->type->dtype == to) {
        return x;
    }
    const ig_type *type = vector_type(b, to, x->type->lanes);
    ig_op_spec spec = spec_of(&x, 1, &type);
    ig_expr e = ig_expr_of(b);
    return ig_build_cast_op(&e, &spec, (ig_cast_attrs){ .to = to })->results;
}

/* ---- vectors ---- */

ig_value *k_splat(ig_builder *b, ig_value *x, uint32_t lanes) {
    assert(is_vector(x) && "splat of a number");
    assert(x->type->lanes == 1 && "splat of a scalar");
    if (lanes == 1) {
        return x;
    }
    return make_value(b, IG_OP_splat, &x, 1, vector_type(b, x->type->dtype, lanes));
}

ig_value *k_iota(ig_builder *b, uint32_t lanes) {
    return make_value(b, IG_OP_iota, NULL, 0, vector_type(b, IG_DT_i64, lanes));
}

ig_value *k_hreduce(ig_builder *b, ig_reduce op, ig_value *x) {
    if (x->type->lanes == 1) {
        return x;
    }
    const ig_type *type = vector_type(b, x->type->dtype, 1);
    ig_op_spec spec = spec_of(&x, 1, &type);
    ig_expr e = ig_expr_of(b);
    return ig_build_hreduce_op(&e, &spec, (ig_hreduce_attrs){ .op = (int)op })->results;
}

ig_value *k_any(ig_builder *b, ig_value *x) {
    assert(x->type->dtype == IG_DT_bool && "lanes that say yes or no");
    return k_hreduce(b, IG_REDUCE_max, x);
}

ig_value *k_extract(ig_builder *b, ig_value *x, int64_t lane) {
    assert(lane >= 0 && lane < x->type->lanes && "the vector has such a lane");
    ig_value *operands[] = { x, k_i64(b, lane) };
    return make_value(b, IG_OP_extract, operands, 2, vector_type(b, x->type->dtype, 1));
}

ig_value *k_shuffle(ig_builder *b, ig_value *x, ig_value *y, const int64_t *lanes,
                    uint32_t count) {
    assert(count > 0 && "a shuffle chooses lanes");
    assert(x->type == y->type && "vectors of one type");
    ig_value *operands[] = { x, y };
    for (uint32_t i = 0; i < count; i++) {
        assert(lanes[i] >= 0 && lanes[i] < 2 * (int64_t)x->type->lanes &&
               "a lane of the two vectors laid end to end");
    }
    const ig_type *type = vector_type(b, x->type->dtype, count);
    ig_op_spec spec = spec_of(operands, 2, &type);
    ig_expr e = ig_expr_of(b);
    ig_shuffle_attrs attrs = { .lanes = { lanes, count } };
    return ig_build_shuffle_op(&e, &spec, attrs)->results;
}

/* ---- memory ---- */

ig_value *k_load(ig_builder *b, ig_value *buffer, ig_value *index, uint32_t lanes) {
    return k_load_count(b, buffer, index, lanes, NULL);
}

ig_value *k_load_count(ig_builder *b, ig_value *buffer, ig_value *index, uint32_t lanes,
                       ig_value *count) {
    assert(is_buffer(buffer) && "a load reads a buffer");
    assert(is_index(index) && "a load begins at one i64 element");
    assert((!count || is_index(count)) && "the number of lanes that count is one i64");
    ig_value *operands[] = { buffer, index, count };
    return make_value(b, IG_OP_load, operands, count ? 3 : 2,
                      vector_type(b, buffer->type->dtype, lanes));
}

ig_value *k_load_at(ig_builder *b, ig_value *buffer, ig_value *indices) {
    assert(is_buffer(buffer) && "a load reads a buffer");
    assert(is_vector(indices) && indices->type->dtype == IG_DT_i64 &&
           "an i64 index per lane");
    ig_value *operands[] = { buffer, indices };
    return make_value(b, IG_OP_load_at, operands, 2,
                      vector_type(b, buffer->type->dtype, indices->type->lanes));
}

/* ---- elements at equal distances ---- */

enum { NEAR = 4, MAX_LANES = 64 };

bool k_is_near(ig_dtype dtype, int64_t stride) {
    assert(dtype < IG_DT_COUNT && "a dtype of elements");
    return ig_dtypes[dtype].bits >= 32 && stride > 1 && stride <= NEAR;
}

/* Loads all elements between the first and the last, and picks every `stride`th.  The
 * last vector ends with the last element. */
static ig_value *load_near(ig_builder *b, ig_value *buffer, ig_value *index,
                           int64_t stride, uint32_t lanes, ig_value *count) {
    int64_t picks[MAX_LANES];
    ig_value *all = NULL, *length = NULL, *one = k_i64(b, 1);
    assert(lanes <= MAX_LANES && "a vector of the target");
    if (count) {
        length = k_min(b, count, k_i64(b, lanes));
        length = k_add(b, k_mul(b, k_sub(b, length, one), k_i64(b, stride)), one);
    }
    for (int64_t v = 0; v < stride; v++) {
        int64_t back = !count && v + 1 == stride ? stride - 1 : 0;
        int64_t first = v * lanes - back;
        ig_value *own = count ? k_sub(b, length, k_i64(b, first)) : NULL;
        ig_value *at = k_add(b, index, k_i64(b, first));
        ig_value *x = k_load_count(b, buffer, at, lanes, own);
        for (int64_t i = 0; i < lanes; i++) {
            bool is_here = i * stride >= v * lanes && i * stride < (v + 1) * lanes;
            int64_t before = v > 1 ? i : i * stride < lanes ? i * stride : 0;
            picks[i] = is_here ? lanes + i * stride - first : before;
        }
        all = all ? k_shuffle(b, all, x, picks, lanes) : x;
    }
    return all;
}

/* Lanes from the count on repeat the last element, also where the count is negative. */
static ig_value *load_far(ig_builder *b, ig_value *buffer, ig_value *index,
                          ig_value *stride, uint32_t lanes, ig_value *count) {
    ig_value *lane = k_iota(b, lanes);
    if (count) {
        ig_value *last = k_sub(b, count, k_i64(b, 1));
        lane = k_binary(b, IG_OP_min, lane, k_splat(b, last, lanes));
    }
    ig_value *offset = k_binary(b, IG_OP_mul, lane, k_splat(b, stride, lanes));
    return k_load_at(b, buffer,
                     k_binary(b, IG_OP_add, k_splat(b, index, lanes), offset));
}

ig_value *k_load_apart(ig_builder *b, ig_value *buffer, ig_value *index,
                       ig_value *stride, uint32_t lanes, ig_value *count) {
    int64_t known = 0;
    (void)ig_constant_i64(stride, &known);
    if (lanes == 1 || known == 1) {
        return k_load_count(b, buffer, index, lanes, lanes == 1 ? NULL : count);
    }
    if (k_is_near((ig_dtype)buffer->type->dtype, known)) {
        return load_near(b, buffer, index, known, lanes, count);
    }
    return load_far(b, buffer, index, stride, lanes, count);
}

void k_store(ig_builder *b, ig_value *x, ig_value *buffer, ig_value *index) {
    k_store_count(b, x, buffer, index, NULL);
}

void k_store_count(ig_builder *b, ig_value *x, ig_value *buffer, ig_value *index,
                   ig_value *count) {
    assert(is_vector(x) && is_buffer(buffer) && "a store writes a vector to a buffer");
    assert(is_index(index) && "a store begins at one i64 element");
    assert((!count || is_index(count)) && "the number of lanes that count is one i64");
    assert(x->type->dtype == buffer->type->dtype && "value and buffer of one dtype");
    ig_expr e = ig_expr_of(b);
    (void)ig_build_store(&e, x, buffer, index, count);
}

ig_value *k_offset(ig_builder *b, ig_value *buffer, ig_value *index) {
    assert(is_buffer(buffer) && "only a buffer has an offset");
    assert(is_index(index) && "an offset is one i64");
    ig_value *operands[] = { buffer, index };
    return make_value(b, IG_OP_offset, operands, 2, buffer->type);
}

ig_value *k_reinterpret(ig_builder *b, ig_value *x, ig_dtype dtype) {
    assert((is_vector(x) || is_buffer(x)) && "bits of a vector or of a buffer");
    assert((is_buffer(x) || ig_dtypes[dtype].bits == ig_dtypes[x->type->dtype].bits) &&
           "a vector keeps its size");
    ig_module *module = b->graph->module;
    const ig_type *type = x->type->kind == IG_BUFFER
                              ? ig_type_buffer(module, dtype, 0, NULL)
                              : ig_type_vector(module, dtype, x->type->lanes);
    return x->type == type ? x : make_value(b, IG_OP_reinterpret, &x, 1, type);
}

ig_value *k_regroup(ig_builder *b, ig_value *x, ig_dtype dtype) {
    uint32_t bits = (uint32_t)ig_dtypes[x->type->dtype].bits * x->type->lanes;
    assert(is_vector(x) && bits % ig_dtypes[dtype].bits == 0 && "whole elements");
    return make_value(b, IG_OP_reinterpret, &x, 1,
                      vector_type(b, dtype, bits / ig_dtypes[dtype].bits));
}

ig_value *k_local(ig_graph *kernel, ig_dtype dtype, int64_t count) {
    assert(count > 0 && "a local array has elements");
    ig_builder b = ig_builder_at_end(&kernel->body);
    b.before = kernel->body.first;
    const ig_type *type = ig_type_buffer(kernel->module, dtype, 0, NULL);
    ig_op_spec spec = spec_of(NULL, 0, &type);
    ig_expr e = ig_expr_of(&b);
    return ig_build_local_op(&e, &spec, (ig_local_attrs){ .count = count })->results;
}

ig_value *k_buffer_at(ig_builder *b, ig_value *first, ig_value *index) {
    assert(is_buffer(first) && !first->def &&
           "an array of buffers begins at an argument");
    assert(is_index(index) && "a buffer is chosen by one i64");
    ig_value *operands[] = { first, index };
    return make_value(b, IG_OP_buffer_at, operands, 2, first->type);
}

ig_value *k_param_at(ig_builder *b, ig_value *first, ig_value *index) {
    assert(is_index(first) && !first->def &&
           "an array of params begins at an argument");
    assert(is_index(index) && "a param is chosen by one i64");
    ig_value *operands[] = { first, index };
    return make_value(b, IG_OP_param_at, operands, 2, first->type);
}

void k_prefetch(ig_builder *b, ig_value *buffer, ig_value *index, int64_t level) {
    assert(is_buffer(buffer) && is_index(index) &&
           "the line of one element of a buffer");
    ig_expr e = ig_expr_of(b);
    (void)ig_build_prefetch(&e, buffer, index,
                            (ig_prefetch_attrs){ .level = IG_SET(level) });
}

void k_report(ig_builder *b, ig_value *operand, ig_value *position, ig_value *value) {
    assert(is_index(operand) && is_index(position) && is_index(value) &&
           "a report is three i64");
    ig_expr e = ig_expr_of(b);
    (void)ig_build_report(&e, operand, position, value);
}

void k_tiles(ig_builder *b, ig_value **out_begin, ig_value **out_end) {
    const ig_type *i64 = vector_type(b, IG_DT_i64, 1);
    const ig_type *types[] = { i64, i64 };
    ig_op_spec spec = { .result_types = types, .result_count = 2 };
    ig_expr e = ig_expr_of(b);
    ig_op *op = ig_build_tiles_op(&e, &spec);
    *out_begin = &op->results[0];
    *out_end = &op->results[1];
}

/* ---- control flow ---- */

k_loop k_loop_open(ig_builder *b, ig_value *lo, ig_value *hi, ig_value *step,
                   ig_value *const *inits, uint32_t count) {
    assert(is_index(lo) && is_index(hi) && is_index(step) && "bounds and step are i64");
    assert(count <= K_CARRIED && "too many carried values");
    ig_value *operands[3 + K_CARRIED] = { lo, hi, step };
    const ig_type *types[K_CARRIED];
    for (uint32_t i = 0; i < count; i++) {
        operands[3 + i] = inits[i];
        types[i] = inits[i]->type;
    }
    ig_op_spec spec = { .operands = operands,
                        .operand_count = 3 + count,
                        .result_types = types,
                        .result_count = count,
                        .body_count = 1 };
    ig_expr e = ig_expr_of(b);
    ig_for_attrs attrs = { .unroll = { false, 0 } };
    k_loop loop = { .op = ig_build_for_op(&e, &spec, attrs), .count = count };
    ig_block *body = loop.op->bodies[0];
    loop.index = ig_block_add_arg(body, vector_type(b, IG_DT_i64, 1), NULL);
    for (uint32_t i = 0; i < count; i++) {
        loop.carried[i] = ig_block_add_arg(body, types[i], NULL);
        loop.results[i] = &loop.op->results[i];
    }
    loop.b = ig_builder_at_end(body);
    loop.b.loc = b->loc;
    return loop;
}

void k_loop_close(k_loop *loop, ig_value *const *yields, uint32_t count) {
    assert(count == loop->count && "one yield a carried value");
    for (uint32_t i = 0; i < count; i++) {
        assert(yields[i]->type == loop->carried[i]->type &&
               "a carried value keeps its type");
    }
    ig_make_yield(&loop->b, yields, count);
}

k_if k_if_open(ig_builder *b, ig_value *cond, const ig_type *const *types,
               uint32_t count) {
    assert(cond->type->dtype == IG_DT_bool && cond->type->lanes == 1 &&
           "one condition");
    assert(count <= K_CARRIED && "too many results");
    ig_op_spec spec = { .operands = &cond,
                        .operand_count = 1,
                        .result_types = types,
                        .result_count = count,
                        .body_count = 2 };
    ig_expr e = ig_expr_of(b);
    k_if branch = { .op = ig_build_if_op(&e, &spec), .count = count };
    branch.then = ig_builder_at_end(branch.op->bodies[0]);
    branch.other = ig_builder_at_end(branch.op->bodies[1]);
    branch.then.loc = branch.other.loc = b->loc;
    for (uint32_t i = 0; i < count; i++) {
        branch.results[i] = &branch.op->results[i];
    }
    return branch;
}

void k_if_close(k_if *branch, ig_value *const *then, ig_value *const *other) {
    for (uint32_t i = 0; i < branch->count; i++) {
        assert(then[i]->type == other[i]->type && "both branches give one type");
    }
    ig_make_yield(&branch->then, then, branch->count);
    ig_make_yield(&branch->other, other, branch->count);
}
