/* Ops whose CUDA text is more than a format: memory, control flow, constants.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/cuda/print.h"

#include <inttypes.h>
#include <string.h>

static ig_str operand(const ig_cuda_emitter *e, const ig_op *op, uint32_t index) {
    return ig_cuda_name(e, op->operands[index].value);
}

static void put_declaration(ig_cuda_emitter *e, const ig_value *value) {
    ig_str name = ig_cuda_name(e, value);
    ig_cuda_indent(e);
    ig_put(e->out, "%s const %.*s = ", ig_cuda_type(value->type), IG_STR_ARG(name));
}

/* ---- constants and conversions ---- */

/* Bits, not digits: what is printed is what is meant, NaN and infinities too. */
ig_status ig_cuda_print_const(ig_cuda_emitter *e, const ig_op *op) {
    const ig_data *data = op->attrs[IG_const_value].as.data;
    ig_dtype       dtype = (ig_dtype)op->results->type->dtype;
    uint64_t       bits = 0;
    memcpy(&bits, data->bytes, (size_t)ig_dtypes[dtype].bits / 8);
    put_declaration(e, op->results);
    const char *type = ig_cuda_type(op->results->type);
    switch (ig_dtypes[dtype].bits) {
    case 64:
        ig_put(e->out, "ig_bits<%s>(0x%" PRIx64 "ull);\n", type, bits);
        break;
    case 32:
        ig_put(e->out, "ig_bits<%s>(0x%" PRIx64 "u);\n", type, bits);
        break;
    case 16:
        ig_put(e->out, "ig_bits<%s>((ig_u16)0x%" PRIx64 "u);\n", type, bits);
        break;
    default:
        ig_put(e->out, "(%s)0x%" PRIx64 ";\n", type, bits);
        break;
    }
    return IG_OK;
}

ig_status ig_cuda_print_cast(ig_cuda_emitter *e, const ig_op *op) {
    put_declaration(e, op->results);
    ig_str x = operand(e, op, 0);
    ig_put(e->out, "ig_cast<%s>(%.*s);\n", ig_cuda_type(op->results->type),
           IG_STR_ARG(x));
    return IG_OK;
}

/* ---- memory ---- */

ig_status ig_cuda_print_tiles(ig_cuda_emitter *e, const ig_op *op) {
    put_declaration(e, &op->results[0]);
    ig_put(e->out, "blockIdx.x;\n");
    put_declaration(e, &op->results[1]);
    ig_put(e->out, "(long long)blockIdx.x + 1;\n");
    return IG_OK;
}

ig_status ig_cuda_print_load(ig_cuda_emitter *e, const ig_op *op) {
    if (op->results->type->lanes > 1) {
        return ig_cuda_fail(e, op, "a vector on a GPU");
    }
    ig_str from = operand(e, op, 0), at = operand(e, op, 1);
    put_declaration(e, op->results);
    if (op->operand_count > 2) {
        ig_put(e->out, "%.*s > 0 ? ", IG_STR_ARG(operand(e, op, 2)));
    }
    ig_put(e->out, "%.*s[%.*s]", IG_STR_ARG(from), IG_STR_ARG(at));
    ig_put(e->out, op->operand_count > 2 ? " : 0;\n" : ";\n");
    return IG_OK;
}

ig_status ig_cuda_print_store(ig_cuda_emitter *e, const ig_op *op) {
    ig_str x = operand(e, op, 0), to = operand(e, op, 1), at = operand(e, op, 2);
    ig_cuda_indent(e);
    if (op->operand_count > 3) {
        ig_put(e->out, "if (%.*s > 0) ", IG_STR_ARG(operand(e, op, 3)));
    }
    ig_put(e->out, "%.*s[%.*s] = %.*s;\n", IG_STR_ARG(to), IG_STR_ARG(at),
           IG_STR_ARG(x));
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

static uint32_t argument_number(const ig_cuda_emitter *e, const ig_value *value) {
    uint32_t number = 0;
    for (uint32_t i = 0; e->kernel->body.args[i] != value; i++) {
        const ig_type *type = e->kernel->body.args[i]->type;
        number += (type->kind == IG_BUFFER) == (value->type->kind == IG_BUFFER);
    }
    return number;
}

static ig_status print_argument(ig_cuda_emitter *e, const ig_op *op,
                                const char *array) {
    uint32_t first = argument_number(e, op->operands[0].value);
    put_declaration(e, op->results);
    ig_put(e->out, "(%s)args.%s[%u + %.*s];\n", ig_cuda_type(op->results->type), array,
           first, IG_STR_ARG(operand(e, op, 1)));
    return IG_OK;
}

ig_status ig_cuda_print_buffer_at(ig_cuda_emitter *e, const ig_op *op) {
    return print_argument(e, op, "buffers");
}

ig_status ig_cuda_print_param_at(ig_cuda_emitter *e, const ig_op *op) {
    return print_argument(e, op, "params");
}

/* ---- control flow: results are variables that bodies assign ---- */

static void put_variable(ig_cuda_emitter *e, const ig_value *value) {
    ig_cuda_indent(e);
    ig_put(e->out, "%s %.*s", ig_cuda_type(value->type),
           IG_STR_ARG(ig_cuda_name(e, value)));
}

/* All yields are read before any variable is written. */
static void put_yields(ig_cuda_emitter *e, const ig_block *body, const ig_op *op) {
    const ig_op *yield = body->last;
    for (uint32_t i = 0; i < op->result_count; i++) {
        ig_cuda_indent(e);
        ig_put(e->out, "%s const t%u_%u = %.*s;\n", ig_cuda_type(op->results[i].type),
               op->results[0].id, i, IG_STR_ARG(operand(e, yield, i)));
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
        ig_put(e->out, " = %.*s;\n", IG_STR_ARG(operand(e, op, 3 + i)));
        e->names[body->args[1 + i]->id] = ig_cuda_name(e, &op->results[i]);
    }
    ig_str index = ig_cuda_name(e, body->args[0]);
    ig_cuda_indent(e);
    ig_put(e->out, "for (long long %.*s = %.*s; %.*s < %.*s; ", IG_STR_ARG(index),
           IG_STR_ARG(operand(e, op, 0)), IG_STR_ARG(index),
           IG_STR_ARG(operand(e, op, 1)));
    ig_put(e->out, "%.*s += %.*s) {\n", IG_STR_ARG(index),
           IG_STR_ARG(operand(e, op, 2)));
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
    ig_put(e->out, "if (%.*s) {\n", IG_STR_ARG(operand(e, op, 0)));
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
