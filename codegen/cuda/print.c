/* Ops whose CUDA text is more than a format: memory, control flow, constants.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/cuda/print.h"

#include <inttypes.h>
#include <string.h>

static ig_str operand_name(const ig_cuda_emitter *e, const ig_op *op, uint32_t index) {
    return ig_cuda_name(e, op->operands[index].value);
}

/* ---- constants and conversions ---- */

static ig_tensor tensor_of(const ig_data *data, ig_dtype dtype) {
    return (ig_tensor){ .kind = IG_TENSOR,
                        .dtype = dtype,
                        .count = 1,
                        .data = (void *)(uintptr_t)data->bytes }; /* only read */
}

static void put_integer(ig_cuda_emitter *e, const ig_tensor *value) {
    int64_t number = ig_tensor_get_i64(value, 0);
    bool is_unsigned = ig_dtypes[value->dtype].class == IG_UINT;
    if (is_unsigned || number == INT64_MIN) { /* which has no literal */
        ig_put(e->out, "0x%" PRIx64 "ull", (uint64_t)number);
    } else {
        ig_put(e->out, "%" PRId64 "%s", number, value->dtype == IG_DT_i64 ? "ll" : "");
    }
}

/* Bits, not digits: the text is exact, NaN and infinities too. */
static void put_float(ig_cuda_emitter *e, const ig_tensor *value, const char *type) {
    uint64_t bits = 0;
    int width = ig_dtypes[value->dtype].bits;
    const char *words = width == 64   ? "unsigned long long"
                        : width == 32 ? "ig_u32"
                        : width == 16 ? "ig_u16"
                                      : "unsigned char";
    memcpy(&bits, value->data, (size_t)width / 8);
    ig_put(e->out, "ig_bits<%s>((%s)0x%" PRIx64 "ull) /* %.9g */", type, words, bits,
           ig_tensor_get_f64(value, 0));
}

ig_status ig_cuda_print_const(ig_cuda_emitter *e, const ig_op *op) {
    const ig_data *data = op->attrs[IG_const_value].as.data;
    ig_dtype dtype = (ig_dtype)op->results->type->dtype;
    ig_tensor value = tensor_of(data, dtype);
    if (!data->bytes) {
        return ig_cuda_fail(e, op, "the content of the constant is not in memory");
    }
    ig_cuda_declare(e, op->results);
    if (ig_dtype_is_float(dtype)) {
        put_float(e, &value, ig_cuda_type(op->results->type));
    } else {
        put_integer(e, &value);
    }
    ig_put(e->out, ";\n");
    return IG_OK;
}

ig_status ig_cuda_print_cast(ig_cuda_emitter *e, const ig_op *op) {
    ig_str x = operand_name(e, op, 0);
    const ig_type *to = op->results->type;
    bool is_float8 = ig_dtype_is_float((ig_dtype)to->dtype) &&
                     ig_dtypes[to->dtype].bits == 8;
    bool saturates = is_float8 && ig_attr_int(op, IG_cast_saturate, 0) != 0;
    ig_cuda_declare(e, op->results);
    ig_put(e->out, "%s<%s>(%.*s);\n", saturates ? "ig_cast_saturating" : "ig_cast",
           ig_cuda_type(to), IG_STR_ARG(x));
    return IG_OK;
}

ig_status ig_cuda_print_reinterpret(ig_cuda_emitter *e, const ig_op *op) {
    const char *type = ig_cuda_type(op->results->type);
    bool is_buffer = op->results->type->kind == IG_BUFFER;
    ig_cuda_declare(e, op->results);
    ig_put(e->out, is_buffer ? "(%s)%.*s;\n" : "ig_bits<%s>(%.*s);\n", type,
           IG_STR_ARG(operand_name(e, op, 0)));
    return IG_OK;
}

ig_status ig_cuda_print_extract(ig_cuda_emitter *e, const ig_op *op) {
    bool is_one = op->operands[0].value->type->lanes == 1;
    ig_cuda_declare(e, op->results);
    ig_put(e->out, is_one ? "%.*s;\n" : "%.*s.at[%.*s];\n",
           IG_STR_ARG(operand_name(e, op, 0)), IG_STR_ARG(operand_name(e, op, 1)));
    return IG_OK;
}

ig_status ig_cuda_print_swap(ig_cuda_emitter *e, const ig_op *op) {
    ig_cuda_declare(e, op->results);
    ig_put(e->out, "__shfl_xor_sync(~0u, %.*s, %lld);\n",
           IG_STR_ARG(operand_name(e, op, 0)),
           (long long)ig_attr_int(op, IG_swap_bit, 0));
    return IG_OK;
}

/* ---- memory ---- */

ig_status ig_cuda_print_tiles(ig_cuda_emitter *e, const ig_op *op) {
    ig_cuda_declare(e, &op->results[0]);
    ig_put(e->out, "(long long)blockIdx.x;\n");
    ig_cuda_declare(e, &op->results[1]);
    ig_put(e->out, "(long long)blockIdx.x + 1;\n");
    return IG_OK;
}

/* Is every element at a multiple of its size?  Not in a buffer of narrower elements
 * seen as wider ones (the scale within a row of bytes): a GPU faults on that. */
static bool is_aligned(const ig_value *buffer) {
    const ig_op *op = buffer->def;
    while (op && (op->code == IG_OP_offset || op->code == IG_OP_reinterpret)) {
        const ig_value *from = op->operands[0].value;
        if (ig_dtypes[buffer->type->dtype].bits > ig_dtypes[from->type->dtype].bits) {
            return false;
        }
        buffer = from;
        op = buffer->def;
    }
    bool is_argument = !op && !buffer->block->parent;
    return is_argument || ig_def(buffer, IG_OP_buffer_at) ||
           ig_def(buffer, IG_OP_local) || ig_def(buffer, IG_OP_shared);
}

/* Lanes at a multiple of their size together, which the schedule has made sure of. */
static ig_status print_vector_load(ig_cuda_emitter *e, const ig_op *op) {
    const char *type = ig_cuda_whole_type(op->results);
    if (op->operand_count > 2 || !is_aligned(op->operands[0].value)) {
        return ig_cuda_fail(e, op, "some lanes of a vector, or lanes anywhere");
    }
    ig_cuda_declare(e, op->results);
    ig_put(e->out, "*(%s const *)(%.*s + %.*s);\n", type,
           IG_STR_ARG(operand_name(e, op, 0)), IG_STR_ARG(operand_name(e, op, 1)));
    return IG_OK;
}

/* Lanes from `count` on are zero and not touched. */
ig_status ig_cuda_print_load(ig_cuda_emitter *e, const ig_op *op) {
    ig_str from = operand_name(e, op, 0), at = operand_name(e, op, 1);
    if (op->results->type->lanes > 1) {
        return print_vector_load(e, op);
    }
    ig_cuda_declare(e, op->results);
    if (op->operand_count > 2) {
        ig_put(e->out,
               "%.*s <= 0 ? ig_zero<%s>() : ", IG_STR_ARG(operand_name(e, op, 2)),
               ig_cuda_type(op->results->type));
    }
    bool is_plain = is_aligned(op->operands[0].value);
    ig_put(e->out, is_plain ? "%.*s[%.*s];\n" : "ig_load_bytes(%.*s + %.*s);\n",
           IG_STR_ARG(from), IG_STR_ARG(at));
    return IG_OK;
}

static ig_status print_vector_store(ig_cuda_emitter *e, const ig_op *op) {
    if (op->operand_count > 3 || !is_aligned(op->operands[1].value)) {
        return ig_cuda_fail(e, op, "some lanes of a vector, or lanes anywhere");
    }
    ig_cuda_indent(e);
    ig_put(e->out, "ig_store_vec(%.*s + %.*s, %.*s);\n",
           IG_STR_ARG(operand_name(e, op, 1)), IG_STR_ARG(operand_name(e, op, 2)),
           IG_STR_ARG(operand_name(e, op, 0)));
    return IG_OK;
}

ig_status ig_cuda_print_store(ig_cuda_emitter *e, const ig_op *op) {
    ig_str x = operand_name(e, op, 0), to = operand_name(e, op, 1),
           at = operand_name(e, op, 2);
    bool is_plain = is_aligned(op->operands[1].value);
    if (op->operands[0].value->type->lanes > 1) {
        return print_vector_store(e, op);
    }
    ig_cuda_indent(e);
    if (op->operand_count > 3) {
        ig_put(e->out, "if (%.*s > 0) ", IG_STR_ARG(operand_name(e, op, 3)));
    }
    ig_put(e->out,
           is_plain ? "%.*s[%.*s] = %.*s;\n" : "ig_store_bytes(%.*s + %.*s, %.*s);\n",
           IG_STR_ARG(to), IG_STR_ARG(at), IG_STR_ARG(x));
    return IG_OK;
}

static ig_status print_array(ig_cuda_emitter *e, const ig_op *op, const char *space,
                             int64_t count) {
    const ig_type *element = ig_type_vector(e->kernel->module,
                                            (ig_dtype)op->results->type->dtype, 1);
    ig_cuda_indent(e);
    ig_put(e->out, "%s%s %.*s[%lld];\n", space, ig_cuda_type(element),
           IG_STR_ARG(ig_cuda_name(e, op->results)), (long long)count);
    return IG_OK;
}

ig_status ig_cuda_print_local(ig_cuda_emitter *e, const ig_op *op) {
    return print_array(e, op, "", ig_attr_int(op, IG_local_count, 0));
}

ig_status ig_cuda_print_shared(ig_cuda_emitter *e, const ig_op *op) {
    return print_array(e, op, "__shared__ ", ig_attr_int(op, IG_shared_count, 0));
}

/* ---- arrays of arguments ---- */

static uint32_t argument_index(const ig_cuda_emitter *e, const ig_value *value) {
    uint32_t index = 0;
    for (uint32_t i = 0; e->kernel->body.args[i] != value; i++) {
        const ig_type *type = e->kernel->body.args[i]->type;
        index += (type->kind == IG_BUFFER) == (value->type->kind == IG_BUFFER);
    }
    return index;
}

static ig_status print_argument(ig_cuda_emitter *e, const ig_op *op,
                                const char *array) {
    uint32_t first = argument_index(e, op->operands[0].value);
    ig_cuda_declare(e, op->results);
    ig_put(e->out, "(%s)%s[%u + %.*s];\n", ig_cuda_type(op->results->type), array,
           first, IG_STR_ARG(operand_name(e, op, 1)));
    return IG_OK;
}

/* The compiler does not see that an address out of an array is of global memory. */
ig_status ig_cuda_print_buffer_at(ig_cuda_emitter *e, const ig_op *op) {
    IG_TRY(print_argument(e, op, "buffers"));
    ig_cuda_indent(e);
    ig_put(e->out, "IG_GLOBAL(%.*s);\n", IG_STR_ARG(ig_cuda_name(e, op->results)));
    return IG_OK;
}

ig_status ig_cuda_print_param_at(ig_cuda_emitter *e, const ig_op *op) {
    return print_argument(e, op, "params");
}

/* ---- control flow: results are variables that bodies assign ---- */

static void put_variable(ig_cuda_emitter *e, const ig_value *value) {
    ig_cuda_indent(e);
    ig_put(e->out, "%s %.*s", ig_cuda_whole_type(value),
           IG_STR_ARG(ig_cuda_name(e, value)));
}

/* All yields are read before any variable is written. */
static void put_yields(ig_cuda_emitter *e, const ig_block *body, const ig_op *op) {
    const ig_op *yield = body->last;
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_cuda_indent(e);
        ig_put(e->out, "%s const t%u_%u = %.*s;\n", ig_cuda_whole_type(&op->results[i]),
               op->results[0].id, i, IG_STR_ARG(operand_name(e, yield, i)));
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_cuda_indent(e);
        ig_put(e->out, "%.*s = t%u_%u;\n", IG_STR_ARG(ig_cuda_name(e, &op->results[i])),
               op->results[0].id, i);
    }
}

ig_status ig_cuda_print_for(ig_cuda_emitter *e, const ig_op *op) {
    const ig_block *body = op->bodies[0];
    for (uint32_t i = 0; i < op->result_count; i++) {
        put_variable(e, &op->results[i]);
        ig_put(e->out, " = %.*s;\n", IG_STR_ARG(operand_name(e, op, 3 + i)));
        e->names[body->args[1 + i]->id] = ig_cuda_name(e, &op->results[i]);
    }
    ig_str index = ig_cuda_name(e, body->args[0]);
    ig_cuda_indent(e);
    ig_put(e->out, "for (long long %.*s = %.*s; %.*s < %.*s; ", IG_STR_ARG(index),
           IG_STR_ARG(operand_name(e, op, 0)), IG_STR_ARG(index),
           IG_STR_ARG(operand_name(e, op, 1)));
    ig_put(e->out, "%.*s += %.*s) {\n", IG_STR_ARG(index),
           IG_STR_ARG(operand_name(e, op, 2)));
    e->depth++;
    IG_TRY(ig_cuda_emit_block(e, body));
    put_yields(e, body, op);
    e->depth--;
    ig_cuda_indent(e);
    ig_put(e->out, "}\n");
    return IG_OK;
}

ig_status ig_cuda_print_if(ig_cuda_emitter *e, const ig_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        put_variable(e, &op->results[i]);
        ig_put(e->out, ";\n");
    }
    ig_cuda_indent(e);
    ig_put(e->out, "if (%.*s) {\n", IG_STR_ARG(operand_name(e, op, 0)));
    for (uint32_t i = 0; i < 2; i++) {
        e->depth++;
        IG_TRY(ig_cuda_emit_block(e, op->bodies[i]));
        put_yields(e, op->bodies[i], op);
        e->depth--;
        ig_cuda_indent(e);
        ig_put(e->out, i == 0 ? "} else {\n" : "}\n");
    }
    return IG_OK;
}
