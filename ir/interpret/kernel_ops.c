/* The effect of each op of kernel form on a thread's values.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise ops are the rows of scalar.def, lane by lane; the rest is here.
 */
#include "ir/hooks.h"
#include "ir/interpret/kernel_state.h"
#include "ir/semantics/scalar.h"

#include <string.h>

/* ---- values ---- */

int64_t ig_kernel_size(const ig_type *type) {
    if (type->kind == IG_BUFFER) {
        return sizeof(ig_kernel_pointer);
    }
    return (int64_t)type->lanes * ((ig_dtypes[type->dtype].bits + 7) / 8);
}

void *ig_kernel_value(const ig_kernel_thread *thread, const ig_value *value) {
    return thread->values + thread->run->offset_of[value->id];
}

ig_tensor ig_kernel_lanes(const ig_kernel_thread *thread, const ig_value *value) {
    ig_tensor tensor = { .kind = IG_TENSOR, .rank = 1, .count = value->type->lanes };
    tensor.dtype = (ig_dtype)value->type->dtype;
    tensor.dims[0] = tensor.count;
    tensor.data = ig_kernel_value(thread, value);
    return tensor;
}

int64_t ig_kernel_i64(const ig_kernel_thread *thread, const ig_op *op,
                      uint32_t operand) {
    ig_tensor lanes = ig_kernel_lanes(thread, op->operands[operand].value);
    return ig_tensor_get_i64(&lanes, 0);
}

static ig_tensor operand_lanes(const ig_kernel_thread *thread, const ig_op *op,
                               uint32_t operand) {
    return ig_kernel_lanes(thread, op->operands[operand].value);
}

static ig_tensor result_lanes(const ig_kernel_thread *thread, const ig_op *op) {
    return ig_kernel_lanes(thread, &op->results[0]);
}

static const ig_kernel_pointer *operand_pointer(const ig_kernel_thread *thread,
                                                const ig_op *op, uint32_t operand) {
    return ig_kernel_value(thread, op->operands[operand].value);
}

static void set_pointer(const ig_kernel_thread *thread, const ig_op *op,
                        ig_kernel_pointer pointer) {
    memcpy(ig_kernel_value(thread, &op->results[0]), &pointer, sizeof pointer);
}

/* ---- elementwise ---- */

ig_status ig_kernel_run_map(ig_kernel_thread *thread, const ig_op *op) {
    ig_scalar_call call;
    ig_tensor out = result_lanes(thread, op);
    ig_scalar_call_init(&call, op);
    call.out = &out;
    call.count = out.count;
    for (uint32_t i = 0; i < call.arity; i++) {
        ig_tensor in = operand_lanes(thread, op, i);
        if (in.count != out.count) {
            return ig_kernel_error(thread, op,
                                   "operand %u has %lld lanes, the result %lld", i,
                                   (long long)in.count, (long long)out.count);
        }
        call.operands[i] = ig_span_of(&in, 0, 1);
    }
    int64_t bad = ig_scalar_apply(&call);
    if (bad >= 0) {
        return ig_kernel_error(thread, op, "an integer is divided by zero in lane %lld",
                               (long long)bad);
    }
    return IG_OK;
}

/* ---- constants and lanes ---- */

ig_status ig_kernel_run_const(ig_kernel_thread *thread, const ig_op *op) {
    const ig_data *data = op->attrs[IG_const_value].as.data;
    ig_tensor out = result_lanes(thread, op), value = out;
    if (!data->bytes) {
        return ig_kernel_error(thread, op,
                               "the content of the constant is not in memory");
    }
    value.data = (void *)(uintptr_t)data->bytes; /* only read */
    for (int64_t i = 0; i < out.count; i++) {
        ig_span_copy(&out, i, &value, data->is_splat ? 0 : i, 1);
    }
    return IG_OK;
}

ig_status ig_kernel_run_splat(ig_kernel_thread *thread, const ig_op *op) {
    ig_tensor x = operand_lanes(thread, op, 0), out = result_lanes(thread, op);
    for (int64_t i = 0; i < out.count; i++) {
        ig_span_copy(&out, i, &x, 0, 1);
    }
    return IG_OK;
}

ig_status ig_kernel_run_iota(ig_kernel_thread *thread, const ig_op *op) {
    ig_tensor out = result_lanes(thread, op);
    for (int64_t i = 0; i < out.count; i++) {
        ig_tensor_set_i64(&out, i, i);
    }
    return IG_OK;
}

ig_status ig_kernel_run_extract(ig_kernel_thread *thread, const ig_op *op) {
    ig_tensor x = operand_lanes(thread, op, 0), out = result_lanes(thread, op);
    int64_t lane = ig_kernel_i64(thread, op, 1);
    if (lane < 0 || lane >= x.count) {
        return ig_kernel_error(thread, op, "lane %lld of %lld", (long long)lane,
                               (long long)x.count);
    }
    ig_span_copy(&out, 0, &x, lane, 1);
    return IG_OK;
}

ig_status ig_kernel_run_shuffle(ig_kernel_thread *thread, const ig_op *op) {
    ig_tensor x = operand_lanes(thread, op, 0), y = operand_lanes(thread, op, 1);
    ig_tensor out = result_lanes(thread, op);
    const ig_attr *lanes = &op->attrs[IG_shuffle_lanes];
    for (uint32_t i = 0; i < lanes->count; i++) {
        int64_t lane = lanes->as.ints[i];
        if (lane < 0 || lane >= x.count + y.count || i >= out.count) {
            return ig_kernel_error(thread, op, "lane %lld of two vectors of %lld",
                                   (long long)lane, (long long)x.count);
        }
        bool is_second = lane >= x.count;
        ig_span_copy(&out, i, is_second ? &y : &x, lane - (is_second ? x.count : 0), 1);
    }
    return IG_OK;
}

/* Halves with halves, rounding at each step: a tree that does not depend on the
 * target. */
ig_status ig_kernel_run_hreduce(ig_kernel_thread *thread, const ig_op *op) {
    static const ig_opcode steps[] = { [IG_REDUCE_sum] = IG_OP_add,
                                       [IG_REDUCE_mean] = 0,
                                       [IG_REDUCE_max] = IG_OP_max,
                                       [IG_REDUCE_min] = IG_OP_min,
                                       [IG_REDUCE_prod] = IG_OP_mul };
    int64_t kind = ig_attr_int(op, IG_hreduce_op, IG_REDUCE_sum);
    ig_tensor x = operand_lanes(thread, op, 0), out = result_lanes(thread, op);
    char room[64 * sizeof(double)];
    ig_tensor lanes = x;
    bool is_step = kind >= 0 && kind < (int64_t)IG_COUNT_OF(steps) &&
                   kind != IG_REDUCE_mean;
    if (!is_step || x.count > 64 || (x.count & (x.count - 1))) {
        return ig_kernel_error(thread, op, "not a reduction of 1, 2, 4 … 64 lanes");
    }
    lanes.data = room;
    ig_span_copy(&lanes, 0, &x, 0, x.count);
    for (int64_t half = x.count / 2; half >= 1; half /= 2) {
        ig_scalar_call call = { .code = steps[kind], .arity = 2, .out = &lanes };
        call.operands[0] = ig_span_of(&lanes, 0, 1);
        call.operands[1] = ig_span_of(&lanes, half, 1);
        call.count = half;
        ig_scalar_apply(&call);
    }
    ig_span_copy(&out, 0, &lanes, 0, 1);
    return IG_OK;
}

ig_status ig_kernel_run_dot4(ig_kernel_thread *thread, const ig_op *op) {
    ig_tensor a = operand_lanes(thread, op, 0), b = operand_lanes(thread, op, 1);
    ig_tensor c = operand_lanes(thread, op, 2), out = result_lanes(thread, op);
    for (int64_t i = 0; i < out.count; i++) {
        int64_t sum = ig_tensor_get_i64(&c, i);
        for (int64_t k = 4 * i; k < 4 * i + 4; k++) {
            sum += ig_tensor_get_i64(&a, k) * ig_tensor_get_i64(&b, k);
        }
        ig_tensor_set_i64(&out, i, sum);
    }
    return IG_OK;
}

static bool fits_16_bits(int64_t x) {
    return x >= INT16_MIN && x <= INT16_MAX;
}

/* A caller promised that the value fits: instructions differ in the result
 * otherwise. */
ig_status ig_kernel_run_dot2(ig_kernel_thread *thread, const ig_op *op) {
    ig_tensor a = operand_lanes(thread, op, 0), b = operand_lanes(thread, op, 1);
    ig_tensor c = operand_lanes(thread, op, 2), out = result_lanes(thread, op);
    for (int64_t i = 0; i < out.count; i++) {
        int64_t pair = 0, sum = ig_tensor_get_i64(&c, i);
        for (int64_t k = 2 * i; k < 2 * i + 2; k++) {
            pair += ig_tensor_get_i64(&a, k) * ig_tensor_get_i64(&b, k);
        }
        sum += pair;
        if (!fits_16_bits(pair) || !fits_16_bits(sum)) {
            return ig_kernel_error(thread, op, "a sum beyond 16 bits");
        }
        ig_tensor_set_i64(&out, i, sum);
    }
    return IG_OK;
}

ig_status ig_kernel_run_add_pairs(ig_kernel_thread *thread, const ig_op *op) {
    ig_tensor a = operand_lanes(thread, op, 0), c = operand_lanes(thread, op, 1);
    ig_tensor out = result_lanes(thread, op);
    for (int64_t i = 0; i < out.count; i++) {
        int64_t pair = ig_tensor_get_i64(&a, 2 * i) + ig_tensor_get_i64(&a, 2 * i + 1);
        ig_tensor_set_i64(&out, i, ig_tensor_get_i64(&c, i) + pair);
    }
    return IG_OK;
}

/* ---- memory ---- */

static ig_status touch_bytes(ig_kernel_thread *thread, const ig_op *op, ig_touch touch,
                             char **out) {
    return touch.count > 0 ? ig_kernel_touch(thread, op, &touch, out) : IG_OK;
}

/* A row of the first factor times a panel, k quads deep, into a row of sums. */
static void dot_panel(const uint8_t *a, const int8_t *b, int64_t k, bool adds,
                      int32_t *out) {
    enum { COLUMNS = 16, QUAD = 4 };
    for (int64_t c = 0; c < COLUMNS; c++) {
        uint32_t sum = adds ? (uint32_t)out[c] : 0;
        for (int64_t i = 0; i < k * QUAD; i++) {
            int64_t at = (i / QUAD * COLUMNS + c) * QUAD + i % QUAD;
            sum += (uint32_t)(a[i] * b[at]);
        }
        out[c] = (int32_t)sum;
    }
}

static ig_status run_dot4_panel(ig_kernel_thread *thread, const ig_op *op, int64_t row,
                                int64_t panel) {
    enum { COLUMNS = 16, QUAD = 4 };
    int64_t k = ig_kernel_i64(thread, op, 7);
    bool adds = ig_attr_int(op, IG_dot4_block_adds, 0) != 0;
    char *a = NULL, *b = NULL, *c = NULL;
    int64_t at = row * ig_kernel_i64(thread, op, 5) + panel * COLUMNS;
    ig_touch left = { 0, row * ig_kernel_i64(thread, op, 1), k * QUAD, IG_ACCESS_READ };
    ig_touch right = { 2, panel * ig_kernel_i64(thread, op, 3), k * QUAD * COLUMNS,
                       IG_ACCESS_READ };
    ig_touch before = { 4, at, adds ? COLUMNS : 0, IG_ACCESS_READ };
    ig_touch after = { 4, at, COLUMNS, IG_ACCESS_WRITE };
    IG_TRY(touch_bytes(thread, op, left, &a));
    IG_TRY(touch_bytes(thread, op, right, &b));
    IG_TRY(touch_bytes(thread, op, before, &c));
    IG_TRY(touch_bytes(thread, op, after, &c));
    dot_panel((const uint8_t *)a, (const int8_t *)b, k, adds, (int32_t *)(void *)c);
    return IG_OK;
}

ig_status ig_kernel_run_dot4_block(ig_kernel_thread *thread, const ig_op *op) {
    enum { MAX_ROWS = 16 };
    int64_t rows = ig_kernel_i64(thread, op, 6), k = ig_kernel_i64(thread, op, 7);
    if (rows < 1 || rows > MAX_ROWS || k < 0) {
        return ig_kernel_error(thread, op, "a block of %lld rows, %lld deep",
                               (long long)rows, (long long)k);
    }
    int64_t panels = ig_attr_int(op, IG_dot4_block_panels, 1);
    for (int64_t i = 0; i < rows * panels; i++) {
        IG_TRY(run_dot4_panel(thread, op, i / panels, i % panels));
    }
    return IG_OK;
}

/* Lanes that are touched: all, or as many as the last operand says. */
static int64_t active_lanes(const ig_kernel_thread *thread, const ig_op *op,
                            uint32_t operand, int64_t lanes) {
    if (operand >= op->operand_count) {
        return lanes;
    }
    int64_t count = ig_kernel_i64(thread, op, operand);
    return count < 0 ? 0 : count < lanes ? count : lanes;
}

ig_status ig_kernel_run_load(ig_kernel_thread *thread, const ig_op *op) {
    ig_tensor out = result_lanes(thread, op);
    ig_touch touch = { .operand = 0, .index = ig_kernel_i64(thread, op, 1) };
    char *from;
    touch.count = active_lanes(thread, op, 2, out.count);
    memset(out.data, 0, (size_t)ig_kernel_size(op->results[0].type));
    if (touch.count > 0) {
        IG_TRY(ig_kernel_touch(thread, op, &touch, &from));
        memcpy(out.data, from, (size_t)(touch.count * (ig_dtypes[out.dtype].bits / 8)));
    }
    return IG_OK;
}

ig_status ig_kernel_run_store(ig_kernel_thread *thread, const ig_op *op) {
    ig_tensor value = operand_lanes(thread, op, 0);
    ig_touch touch = { .operand = 1,
                       .index = ig_kernel_i64(thread, op, 2),
                       .access = IG_ACCESS_WRITE };
    char *to;
    touch.count = active_lanes(thread, op, 3, value.count);
    if (touch.count > 0) {
        IG_TRY(ig_kernel_touch(thread, op, &touch, &to));
        memcpy(to, value.data,
               (size_t)(touch.count * (ig_dtypes[value.dtype].bits / 8)));
    }
    return IG_OK;
}

ig_status ig_kernel_run_load_at(ig_kernel_thread *thread, const ig_op *op) {
    ig_tensor out = result_lanes(thread, op), indices = operand_lanes(thread, op, 1);
    int64_t size = ig_dtypes[out.dtype].bits / 8;
    for (int64_t i = 0; i < out.count; i++) {
        ig_touch touch = { .operand = 0, .count = 1 };
        char *from;
        touch.index = ig_tensor_get_i64(&indices, i);
        IG_TRY(ig_kernel_touch(thread, op, &touch, &from));
        memcpy((char *)out.data + i * size, from, (size_t)size);
    }
    return IG_OK;
}

ig_status ig_kernel_run_offset(ig_kernel_thread *thread, const ig_op *op) {
    ig_kernel_pointer pointer = *operand_pointer(thread, op, 0);
    int64_t size = ig_dtypes[op->results[0].type->dtype].bits / 8, bytes;
    if (__builtin_mul_overflow(ig_kernel_i64(thread, op, 1), size, &bytes) ||
        __builtin_add_overflow(pointer.offset, bytes, &pointer.offset)) {
        return ig_kernel_error(thread, op, "the offset overflows");
    }
    set_pointer(thread, op, pointer);
    return IG_OK;
}

ig_status ig_kernel_run_reinterpret(ig_kernel_thread *thread, const ig_op *op) {
    const ig_type *type = op->results[0].type, *from = op->operands[0].value->type;
    if (ig_kernel_size(type) != ig_kernel_size(from)) {
        return ig_kernel_error(thread, op, "operand and result differ in size");
    }
    memcpy(ig_kernel_value(thread, &op->results[0]),
           ig_kernel_value(thread, op->operands[0].value),
           (size_t)ig_kernel_size(type));
    return IG_OK;
}

ig_status ig_kernel_run_local(ig_kernel_thread *thread, const ig_op *op) {
    ig_kernel_region *array = &thread->locals[thread->run->array_of[op->id]];
    set_pointer(thread, op, (ig_kernel_pointer){ array, 0 });
    return IG_OK;
}

ig_status ig_kernel_run_shared(ig_kernel_thread *thread, const ig_op *op) {
    ig_kernel_region *array = &thread->run->shared[thread->run->array_of[op->id]];
    set_pointer(thread, op, (ig_kernel_pointer){ array, 0 });
    return IG_OK;
}

ig_status ig_kernel_run_scratch(ig_kernel_thread *thread, const ig_op *op) {
    int64_t offset = ig_attr_int(op, IG_scratch_offset, 0);
    set_pointer(thread, op, (ig_kernel_pointer){ &thread->run->scratch, offset });
    return IG_OK;
}

/* Argument number (that of operand 0) + operand 1, which must be of the same kind. */
static ig_status argument_at(ig_kernel_thread *thread, const ig_op *op,
                             const ig_value **out_arg) {
    const ig_block *body = &thread->run->kernel->body;
    const ig_value *first = op->operands[0].value;
    int64_t index;
    if (__builtin_add_overflow(ig_kernel_i64(thread, op, 1), (int64_t)first->index,
                               &index) ||
        index < 0 || index >= body->arg_count ||
        body->args[index]->type->kind != first->type->kind) {
        return ig_kernel_error(thread, op,
                               "index %lld leaves the arguments of its kind",
                               (long long)ig_kernel_i64(thread, op, 1));
    }
    *out_arg = body->args[index];
    return IG_OK;
}

ig_status ig_kernel_run_argument_at(ig_kernel_thread *thread, const ig_op *op) {
    const ig_value *arg = NULL;
    IG_TRY(argument_at(thread, op, &arg));
    memcpy(ig_kernel_value(thread, &op->results[0]), ig_kernel_value(thread, arg),
           (size_t)ig_kernel_size(arg->type));
    return IG_OK;
}

/* ---- the call ---- */

ig_status ig_kernel_run_tiles(ig_kernel_thread *thread, const ig_op *op) {
    const ig_kernel_call *call = thread->run->call;
    ig_tensor begin = ig_kernel_lanes(thread, &op->results[0]);
    ig_tensor end = ig_kernel_lanes(thread, &op->results[1]);
    ig_tensor_set_i64(&begin, 0, call->tile_begin);
    ig_tensor_set_i64(&end, 0, call->tile_end);
    return IG_OK;
}

ig_status ig_kernel_run_thread(ig_kernel_thread *thread, const ig_op *op) {
    ig_tensor out = result_lanes(thread, op);
    ig_tensor_set_i64(&out, 0, thread->index);
    return IG_OK;
}

/* The least by operand, then position, stays. */
ig_status ig_kernel_run_report(ig_kernel_thread *thread, const ig_op *op) {
    ig_kernel_call *call = thread->run->call;
    int64_t operand = ig_kernel_i64(thread, op, 0),
            position = ig_kernel_i64(thread, op, 1);
    bool is_less = operand < call->report_operand || (operand == call->report_operand &&
                                                      position < call->report_position);
    if (!call->reported || is_less) {
        call->reported = true;
        call->report_operand = operand;
        call->report_position = position;
        call->report_value = ig_kernel_i64(thread, op, 2);
    }
    return IG_OK;
}

ig_status ig_kernel_run_nothing(ig_kernel_thread *thread, const ig_op *op) {
    (void)thread, (void)op;
    return IG_OK;
}
