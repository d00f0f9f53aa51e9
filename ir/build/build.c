/* Building typed ops, constants and guards at a cursor.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/build/build.h"

#include "base/checked.h"
#include "ir/dim/dim.h"
#include "ir/semantics/check.h"
#include "ir/verify/verify.h"

#include <assert.h>
#include <string.h>

ig_builder ig_builder_at_end(ig_block *block) {
    assert(block->graph && "the block belongs to a graph");
    return (ig_builder){ .graph = block->graph, .block = block };
}

ig_builder ig_builder_before(ig_op *op) {
    assert(op->block && "a detached op has no place");
    return (ig_builder){ .graph = op->block->graph,
                         .block = op->block,
                         .before = op,
                         .loc = op->loc,
                         .origins = op->origins };
}

/* ---- ops ---- */

enum { FEW_RESULTS = 8 };

static ig_status check_extent(const ig_op *op, ig_dim dim) {
    ig_module *module = ig_op_module(op);
    if (ig_dim_overflows(module, dim)) {
        return INFER_FAIL(op, IG_LIMIT,
                          "the result has more elements than can be counted");
    }
    if (ig_dim_level(module, dim) > IG_DIM_LEVELS_MAX) {
        return INFER_FAIL(op, IG_LIMIT,
                          "the extents of the result need too long a computation");
    }
    return IG_OK;
}

/* An extent known to be negative is no shape; more bytes than can be counted are more
 * than any machine has. */
static ig_status check_extents(const ig_op *op, const ig_type *type) {
    ig_module *module = ig_op_module(op);
    int64_t count = 8;
    for (uint32_t i = 0; type->kind == IG_TENSOR && i < type->rank; i++) {
        IG_TRY(check_extent(op, type->dims[i]));
        int64_t extent = 1;
        bool is_known = ig_dim_constant(module, type->dims[i], &extent);
        if (!is_known || extent == 0) {
            extent = 1; /* another extent may be anything */
        }
        if (extent < 0) {
            return INFER_ERROR(op, "axis %u of the result would have %lld elements", i,
                               (long long)extent);
        }
        if (!ig_mul_i64(count, extent, &count)) {
            return INFER_FAIL(op, IG_LIMIT,
                              "the result has more elements than can be counted");
        }
    }
    return IG_OK;
}

static ig_status infer_types(ig_op *op) {
    ig_infer_hook infer = ig_ops[op->code].infer;
    assert(infer && "an op without an infer hook is made with its types");
    const ig_type *few[FEW_RESULTS] = { NULL };
    const ig_type **types = few;
    if (op->result_count > FEW_RESULTS) {
        types = IG_NEW_ARRAY(&ig_op_module(op)->arena, const ig_type *,
                             op->result_count);
    }
    IG_TRY(infer(op, types));
    IG_TRY(ig_check_texts(op, types));
    for (uint32_t i = 0; i < op->result_count; i++) {
        IG_TRY(check_extents(op, types[i]));
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_value_retype(&op->results[i], types[i]);
    }
    return IG_OK;
}

static ig_status check_counts(const ig_builder *builder, ig_opcode code,
                              const ig_op_spec *spec) {
    const ig_op_info *info = &ig_ops[code];
    ig_module *module = builder->graph->module;
    uint32_t loc = spec->loc ? spec->loc : builder->loc;
    uint32_t max = spec->operand_count > spec->result_count ? spec->operand_count
                                                            : spec->result_count;
    if (max > UINT16_MAX) {
        return ig_error(&module->context->diag, IG_LIMIT, &module->locations.items[loc],
                        "%s: more than %d operands or results", info->name, UINT16_MAX);
    }
    if (spec->operand_count < info->operand_min ||
        spec->operand_count > info->operand_max) {
        return ig_error(&module->context->diag, IG_INVALID,
                        &module->locations.items[loc], "%s does not take %u operands",
                        info->name, spec->operand_count);
    }
    return IG_OK;
}

/* Hooks ask the op for its module, so it is inserted first. */
ig_status ig_build(ig_builder *builder, ig_opcode code, const ig_op_spec *spec,
                   ig_op **out_op) {
    assert(builder->block->graph == builder->graph && "the cursor is in its graph");
    assert((spec->operands || !spec->operand_count) && "an op has its operands");
    IG_TRY(check_counts(builder, code, spec));
    ig_op_spec placed = *spec;
    if (!spec->loc) {
        placed.loc = builder->loc;
        placed.origins = builder->origins;
    }
    ig_op *op = ig_op_create(builder->graph, code, &placed);
    ig_op_insert(op, builder->block, builder->before);
    if (!spec->result_types && op->result_count) {
        ig_status status = infer_types(op);
        if (status != IG_OK) {
            ig_op_erase(op);
            return status;
        }
    }
    if (out_op) {
        *out_op = op;
    }
    return IG_OK;
}

ig_op *ig_make_op(ig_builder *builder, ig_opcode code, const ig_op_spec *spec) {
    ig_op *op = NULL;
    ig_status status = ig_build(builder, code, spec, &op);
    if (status == IG_LIMIT) {
        ig_budget_refuse(builder->graph->module->arena.budget);
    }
    assert(status == IG_OK && "an op right by construction has types");
    return op;
}

ig_value *ig_make(ig_builder *builder, ig_opcode code, uint32_t operand_count,
                  ig_value *const *operands, const ig_attr *attrs) {
    assert((operands || !operand_count) && "an op has its operands");
    ig_op_spec spec = { .operands = operands,
                        .operand_count = operand_count,
                        .attrs = attrs };
    return ig_op_result(ig_make_op(builder, code, &spec), 0);
}

ig_value *ig_make1(ig_builder *builder, ig_opcode code, ig_value *x) {
    assert(x && "an operand is a value");
    return ig_make(builder, code, 1, (ig_value *[]){ x }, NULL);
}

ig_value *ig_make2(ig_builder *builder, ig_opcode code, ig_value *x, ig_value *y) {
    assert(x && y && "an operand is a value");
    return ig_make(builder, code, 2, (ig_value *[]){ x, y }, NULL);
}

ig_value *ig_make3(ig_builder *builder, ig_opcode code, ig_value *x, ig_value *y,
                   ig_value *z) {
    assert(x && y && z && "an operand is a value");
    return ig_make(builder, code, 3, (ig_value *[]){ x, y, z }, NULL);
}

/* ---- constants ---- */

/* Scalars are tensors of rank 0, but in kernels scalars proper. */
static const ig_type *scalar_type(const ig_builder *builder, ig_dtype dtype) {
    ig_module *module = builder->graph->module;
    return builder->graph->stage == IG_STAGE_KERNEL
               ? ig_type_vector(module, dtype, 1)
               : ig_type_tensor(module, dtype, 0, NULL);
}

static int64_t element_count(const ig_type *type) {
    int64_t count = type->kind == IG_VECTOR ? type->lanes : 1;
    for (uint32_t i = 0; i < type->rank; i++) {
        assert(ig_dim_is_static(type->dims[i]) && "a constant has known dims");
        count *= ig_dim_value(type->dims[i]);
    }
    return count;
}

ig_value *ig_make_const(ig_builder *builder, const ig_type *type, const void *bytes) {
    ig_module *module = builder->graph->module;
    int64_t size = 0;
    bool has_size = ig_dtype_bytes((ig_dtype)type->dtype, element_count(type), &size);
    assert(has_size && "a constant has a size");
    (void)has_size;
    const void *copy = ig_arena_copy(&module->arena, bytes, (size_t)size);
    ig_data data = { .type = type, .size = size, .bytes = copy };
    ig_attr attrs[IG_const_attr_count];
    attrs[IG_const_value] = ig_attr_of_data(module, &data);
    ig_op_spec spec = { .result_types = &type, .result_count = 1, .attrs = attrs };
    return &ig_make_op(builder, IG_OP_const, &spec)->results[0];
}

ig_value *ig_make_i64(ig_builder *builder, int64_t value) {
    return ig_make_const(builder, scalar_type(builder, IG_DT_i64), &value);
}

ig_value *ig_make_float(ig_builder *builder, ig_dtype dtype, double value) {
    assert(ig_dtype_is_float(dtype) && "ig_make_float makes floats");
    int64_t room = 0; /* as large as any element */
    ig_tensor tensor = { .kind = IG_TENSOR, .dtype = dtype, .count = 1, .data = &room };
    ig_tensor_set_f64(&tensor, 0, value);
    return ig_make_const(builder, scalar_type(builder, dtype), &room);
}

ig_value *ig_make_dims(ig_builder *builder, const ig_dim *dims, uint32_t count) {
    assert((dims || !count) && "a list has its dims");
    ig_attr attrs[IG_dims_attr_count] = { [IG_dims_values] = ig_attr_of_dims(
                                              builder->graph->module, dims, count) };
    return ig_make(builder, IG_OP_dims, 0, NULL, attrs);
}

ig_value *ig_make_weight(ig_builder *builder, ig_weight *weight) {
    return ig_graph_weight(builder->graph, weight);
}

/* Constants hold no addresses: the texts go into a list of bytes. */
static ig_value *make_texts(ig_builder *builder, const char *name,
                            const ig_data *data) {
    ig_module *module = builder->graph->module;
    const char *const *texts = data->bytes;
    ig_writer list;
    ig_writer_init(&list, &module->arena);
    for (int64_t i = 0; i < data->size / (int64_t)sizeof *texts; i++) {
        const char *text = texts[i] ? texts[i] : "";
        ig_put_bytes(&list, text, strlen(text) + 1);
    }
    ig_dim size = ig_dim_of((int64_t)list.size);
    ig_data bytes = { .type = ig_type_tensor(module, IG_DT_u8, 1, &size),
                      .bytes = list.data ? list.data : "",
                      .size = (int64_t)list.size };
    ig_value *blob = ig_make_data(builder, name, &bytes);
    ig_attr shape = ig_attr_of_dims(module, data->type->dims, data->type->rank);
    return ig_make(builder, IG_OP_text_of, 1, &blob, &shape);
}

ig_value *ig_make_data(ig_builder *builder, const char *name, const ig_data *data) {
    enum { INLINE_BYTES = 1024 };
    assert(data->bytes && "data that is in memory");
    if (data->type->dtype == IG_DT_str) {
        return make_texts(builder, name, data);
    }
    if (data->type->rank <= 1 && data->size <= INLINE_BYTES && !data->is_splat) {
        return ig_make_const(builder, data->type, data->bytes);
    }
    return ig_make_weight(builder,
                          ig_module_add_weight(builder->graph->module, name, data));
}

/* ---- views, movement, ends ---- */

ig_value *ig_make_reshape(ig_builder *builder, ig_value *x, uint32_t rank,
                          const ig_dim *dims) {
    assert((dims || !rank) && "a shape has its extents");
    ig_attr attrs[IG_reshape_attr_count] = { [IG_reshape_to] = ig_attr_of_dims(
                                                 builder->graph->module, dims, rank) };
    return ig_make(builder, IG_OP_reshape, 1, &x, attrs);
}

ig_value *ig_make_cast(ig_builder *builder, ig_value *x, ig_dtype to) {
    assert((int)to < IG_DT_COUNT && "no such element type");
    if (x->type->dtype == to) {
        return x;
    }
    ig_attr attrs[IG_cast_attr_count] = { [IG_cast_to] = ig_attr_of_dtype(to) };
    return ig_make(builder, IG_OP_cast, 1, &x, attrs);
}

static void make_end(ig_builder *builder, ig_opcode code, ig_value *const *values,
                     uint32_t count) {
    assert((!builder->block->last || builder->before ||
            !(ig_ops[builder->block->last->code].traits & IG_TERMINATOR)) &&
           "the block has an end already");
    (void)ig_make(builder, code, count, values, NULL);
}

void ig_make_ret(ig_builder *builder, ig_value *const *values, uint32_t count) {
    make_end(builder, IG_OP_ret, values, count);
}

void ig_make_yield(ig_builder *builder, ig_value *const *values, uint32_t count) {
    make_end(builder, IG_OP_yield, values, count);
}

void ig_make_guard_equal(ig_builder *builder, ig_dim a, ig_dim b, const char *message) {
    ig_module *module = builder->graph->module;
    if (ig_dim_equal(module, a, b) == IG_YES) {
        return;
    }
    ig_attr attrs[IG_guard_attr_count] = {
        [IG_guard_left] = ig_attr_of_dim(a),
        [IG_guard_right] = ig_attr_of_dim(b),
    };
    if (message) {
        attrs[IG_guard_message] = ig_attr_of_str(module, ig_str_of(message));
    }
    (void)ig_make(builder, IG_OP_guard, 0, NULL, attrs);
}
