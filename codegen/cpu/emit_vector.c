/* Constants, and ops that know of lanes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/cpu/emit.h"

/* ---- constants ---- */

static int64_t read_int(const uint8_t *bytes, uint32_t size) {
    uint64_t value = 0;
    memcpy(&value, bytes, size);
    return (int64_t)value;
}

/* Element `index` of a constant; a splat has one. */
static LLVMValueRef read_constant(const ig_cpu_emitter *e, const ig_data *data,
                                  uint32_t index) {
    ig_dtype dtype = (ig_dtype)data->type->dtype;
    LLVMTypeRef type = ig_cpu_scalar_type(e, dtype);
    uint32_t size = ig_cpu_bytes(dtype);
    const uint8_t *at = (const uint8_t *)data->bytes +
                        (data->is_splat ? 0 : size * index);
    int64_t bits = read_int(at, size);
    if (dtype == IG_DT_bool) {
        return LLVMConstInt(type, bits != 0, 0);
    }
    LLVMTypeRef as_int = LLVMIntTypeInContext(e->llvm, 8 * size);
    LLVMValueRef value = LLVMConstInt(as_int, (unsigned long long)bits, 0);
    return as_int == type ? value : LLVMConstBitCast(value, type);
}

ig_status ig_cpu_emit_const(ig_cpu_emitter *e, const ig_op *op) {
    const ig_data *data = op->attrs[IG_const_value].as.data;
    uint32_t lanes = ig_cpu_result_lanes(op);
    if (lanes <= 1) {
        return ig_cpu_set_result(e, op, read_constant(e, data, 0));
    }
    LLVMValueRef placed = ig_cpu_table_constant(e, op);
    if (placed) {
        return ig_cpu_set_result(e, op, placed);
    }
    LLVMValueRef *values = IG_NEW_ARRAY(e->arena, LLVMValueRef, lanes);
    for (uint32_t i = 0; i < lanes; i++) {
        values[i] = read_constant(e, data, i);
    }
    return ig_cpu_set_result(e, op, LLVMConstVector(values, lanes));
}

/* ---- lanes ---- */

ig_status ig_cpu_emit_splat(ig_cpu_emitter *e, const ig_op *op) {
    LLVMValueRef x = ig_cpu_operand(e, op, 0), placed = ig_cpu_table_constant(e, op);
    LLVMValueRef lanes = placed ? placed
                                : l_splat(e->builder, x, ig_cpu_result_lanes(op));
    return ig_cpu_set_result(e, op, lanes);
}

ig_status ig_cpu_emit_iota(ig_cpu_emitter *e, const ig_op *op) {
    uint32_t lanes = ig_cpu_result_lanes(op);
    ig_dtype dtype = (ig_dtype)op->results[0].type->dtype;
    LLVMTypeRef type = ig_cpu_scalar_type(e, dtype);
    LLVMValueRef *values = IG_NEW_ARRAY(e->arena, LLVMValueRef, lanes);
    for (uint32_t i = 0; i < lanes; i++) {
        values[i] = ig_dtype_is_float(dtype) ? LLVMConstReal(type, i)
                                             : LLVMConstInt(type, i, 0);
    }
    return ig_cpu_set_result(e, op,
                             lanes > 1 ? LLVMConstVector(values, lanes) : values[0]);
}

/* One element a lane.  LLVM makes a gather where the level has a good one, and loads of
 * single elements elsewhere. */
ig_status ig_cpu_emit_load_at(ig_cpu_emitter *e, const ig_op *op) {
    LLVMBuilderRef b = e->builder;
    uint32_t lanes = ig_cpu_result_lanes(op);
    ig_dtype dtype = (ig_dtype)op->results[0].type->dtype;
    LLVMTypeRef type = ig_cpu_memory_type(e, dtype, lanes);
    LLVMValueRef at = ig_cpu_address(e, l_element(type), ig_cpu_operand(e, op, 0),
                                     ig_cpu_operand(e, op, 1));
    LLVMValueRef value = NULL;
    if (lanes == 1) {
        value = LLVMBuildLoad2(b, type, at, L_UNNAMED);
        LLVMSetAlignment(value, ig_cpu_bytes(dtype));
    } else {
        LLVMTypeRef i32 = LLVMInt32TypeInContext(e->llvm);
        LLVMTypeRef mask = LLVMVectorType(LLVMInt1TypeInContext(e->llvm), lanes);
        LLVMTypeRef types[] = { type, LLVMTypeOf(at) };
        LLVMValueRef args[] = { at, LLVMConstInt(i32, ig_cpu_bytes(dtype), 0),
                                LLVMConstAllOnes(mask), LLVMConstNull(type) };
        value = l_intrinsic(b, "llvm.masked.gather", types, 2, args, 4);
    }
    if (dtype == IG_DT_bool) {
        value = LLVMBuildICmp(b, LLVMIntNE, value, LLVMConstNull(type), L_UNNAMED);
    }
    return ig_cpu_set_result(e, op, value);
}

/* The lanes [from, from + count) of `x`. */
static LLVMValueRef take_lanes(ig_cpu_emitter *e, LLVMValueRef x, uint32_t from,
                               uint32_t count) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->llvm);
    if (count == 1) {
        return LLVMBuildExtractElement(e->builder, x, LLVMConstInt(i32, from, 0),
                                       L_UNNAMED);
    }
    LLVMValueRef *lanes = IG_NEW_ARRAY(e->arena, LLVMValueRef, count);
    for (uint32_t i = 0; i < count; i++) {
        lanes[i] = LLVMConstInt(i32, from + i, 0);
    }
    return LLVMBuildShuffleVector(e->builder, x, LLVMGetPoison(LLVMTypeOf(x)),
                                  LLVMConstVector(lanes, count), L_UNNAMED);
}

/* Which op combines two halves. */
static const uint16_t combine_codes[] = {
    [IG_REDUCE_sum] = IG_OP_add,  [IG_REDUCE_mean] = IG_OP_add,
    [IG_REDUCE_max] = IG_OP_max,  [IG_REDUCE_min] = IG_OP_min,
    [IG_REDUCE_prod] = IG_OP_mul,
};

/* A fixed tree: lane i of the lower half with lane i of the upper half, and again.  Is
 * any of some lanes set?  x86 has an instruction for that. */
ig_status ig_cpu_emit_hreduce(ig_cpu_emitter *e, const ig_op *op) {
    int64_t how = ig_attr_int(op, IG_hreduce_op, IG_REDUCE_sum);
    uint32_t lanes = op->operands[0].value->type->lanes;
    if (how < 0 || how > IG_REDUCE_prod || how == IG_REDUCE_mean) {
        return ig_cpu_fail(e, IG_INTERNAL, op, "not a reduction of lanes");
    }
    if ((lanes & (lanes - 1)) != 0) {
        return ig_cpu_fail(e, IG_INTERNAL, op,
                           "the number of lanes is not a power of two");
    }
    const ig_cpu_row *combine = &ig_cpu_rows[combine_codes[how]];
    ig_dtype dtype = ig_cpu_operand_dtype(op, 0);
    LLVMValueRef x = ig_cpu_operand(e, op, 0);
    if (dtype == IG_DT_bool && lanes > 1 && how == IG_REDUCE_max) {
        return ig_cpu_set_result(e, op,
                                 l_call1(e->builder, "llvm.vector.reduce.or", x));
    }
    for (; lanes > 1; lanes /= 2) {
        LLVMValueRef low = take_lanes(e, x, 0, lanes / 2);
        LLVMValueRef high = take_lanes(e, x, lanes / 2, lanes / 2);
        x = ig_cpu_combine(e, combine, dtype, low, high);
    }
    return ig_cpu_set_result(e, op, x);
}

ig_status ig_cpu_emit_extract(ig_cpu_emitter *e, const ig_op *op) {
    LLVMValueRef x = ig_cpu_operand(e, op, 0);
    if (l_is_vector(LLVMTypeOf(x))) {
        x = LLVMBuildExtractElement(e->builder, x, ig_cpu_operand(e, op, 1), L_UNNAMED);
    }
    return ig_cpu_set_result(e, op, x);
}

/* A scalar as a vector of one lane: LLVM shuffles know only vectors. */
static LLVMValueRef as_vector(ig_cpu_emitter *e, LLVMValueRef x) {
    LLVMTypeRef type = LLVMTypeOf(x);
    if (l_is_vector(type)) {
        return x;
    }
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->llvm);
    return LLVMBuildInsertElement(e->builder, LLVMGetPoison(LLVMVectorType(type, 1)), x,
                                  LLVMConstInt(i32, 0, 0), L_UNNAMED);
}

ig_status ig_cpu_emit_shuffle(ig_cpu_emitter *e, const ig_op *op) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(e->llvm);
    const ig_attr *attr = &op->attrs[IG_shuffle_lanes];
    LLVMValueRef *lanes = IG_NEW_ARRAY(e->arena, LLVMValueRef, attr->count);
    for (uint32_t i = 0; i < attr->count; i++) {
        lanes[i] = LLVMConstInt(i32, (unsigned long long)attr->as.ints[i], 0);
    }
    LLVMValueRef x = as_vector(e, ig_cpu_operand(e, op, 0));
    LLVMValueRef y = as_vector(e, ig_cpu_operand(e, op, 1));
    LLVMValueRef result = LLVMBuildShuffleVector(
        e->builder, x, y, LLVMConstVector(lanes, attr->count), L_UNNAMED);
    if (attr->count == 1) {
        result = LLVMBuildExtractElement(e->builder, result, LLVMConstInt(i32, 0, 0),
                                         L_UNNAMED);
    }
    return ig_cpu_set_result(e, op, result);
}
