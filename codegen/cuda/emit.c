/* Printing kernel form as CUDA C++: frame, names, elementwise ops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/cuda/emit.h"

#include "codegen/cuda/print.h"

#include <string.h>

/* ---- names and types ---- */

static const char *const type_names[IG_DT_COUNT] = {
    [IG_DT_bool] = "bool",
    [IG_DT_i8] = "signed char",
    [IG_DT_i16] = "short",
    [IG_DT_i32] = "int",
    [IG_DT_i64] = "long long",
    [IG_DT_u8] = "unsigned char",
    [IG_DT_u16] = "unsigned short",
    [IG_DT_u32] = "unsigned int",
    [IG_DT_f16] = "ig_f16",
    [IG_DT_bf16] = "ig_bf16",
    [IG_DT_f32] = "float",
    [IG_DT_f64] = "double",
    [IG_DT_u64] = "unsigned long long",
};

static const char *const pointer_names[IG_DT_COUNT] = {
    [IG_DT_bool] = "bool *",
    [IG_DT_i8] = "signed char *",
    [IG_DT_i16] = "short *",
    [IG_DT_i32] = "int *",
    [IG_DT_i64] = "long long *",
    [IG_DT_u8] = "unsigned char *",
    [IG_DT_u16] = "unsigned short *",
    [IG_DT_u32] = "unsigned int *",
    [IG_DT_f16] = "ig_f16 *",
    [IG_DT_bf16] = "ig_bf16 *",
    [IG_DT_f32] = "float *",
    [IG_DT_f64] = "double *",
    [IG_DT_u64] = "unsigned long long *",
};

const char *ig_cuda_type(const ig_type *type) {
    return type->kind == IG_BUFFER ? pointer_names[type->dtype]
                                   : type_names[type->dtype];
}

ig_str ig_cuda_name(const ig_cuda_emitter *e, const ig_value *value) {
    return e->names[value->id];
}

void ig_cuda_indent(ig_cuda_emitter *e) {
    ig_put_spaces(e->out, 4 * e->depth);
}

ig_status ig_cuda_fail(const ig_cuda_emitter *e, const ig_op *op, const char *what) {
    return ig_error(&e->kernel->module->context->diag, IG_INTERNAL, NULL,
                    "kernel '%s', %s: %s", e->kernel->name, ig_ops[op->code].name,
                    what);
}

/* ---- rows ---- */

typedef struct row {
    const char *text; /* of the result, or of a statement */
    bool        is_line;
    ig_status (*print)(ig_cuda_emitter *e, const ig_op *op);
} row;

static const row rows[IG_OP_COUNT] = {
#define TEXT(name, format) [IG_OP_##name] = { format, false, NULL },
#define LINE(name, format) [IG_OP_##name] = { format, true, NULL },
#define CALL(name) [IG_OP_##name] = { NULL, false, ig_cuda_print_##name },
#include "codegen/cuda/emit.def"
#undef TEXT
#undef LINE
#undef CALL
};

/* The cuda column of scalar.def: an expression over x, y, z. */
static const char *const scalars[IG_OP_COUNT] = {
#define SCALAR(name, arity, real, sint, uint, boolean, cuda) [IG_OP_##name] = cuda,
#include "ir/scalar.def"
#undef SCALAR
};

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= '0' && c <= '9');
}

/* x, y and z that stand alone become the operands' names. */
static void put_scalar(ig_cuda_emitter *e, const ig_op *op, const char *text) {
    for (const char *c = text; *c; c++) {
        bool     is_alone = (c == text || !is_letter(c[-1])) && !is_letter(c[1]);
        uint32_t operand = (uint32_t)(*c - 'x');
        if (is_alone && *c >= 'x' && *c <= 'z' && operand < op->operand_count) {
            ig_put_str(e->out, ig_cuda_name(e, op->operands[operand].value));
        } else {
            ig_put_char(e->out, *c);
        }
    }
}

/* %0, %1, %2 are operands, %t is the result's type. */
static void put_format(ig_cuda_emitter *e, const ig_op *op, const char *format) {
    for (const char *c = format; *c; c++) {
        if (*c != '%') {
            ig_put_char(e->out, *c);
        } else if (*++c == 't') {
            ig_put(e->out, "%s", ig_cuda_type(op->results->type));
        } else {
            ig_put_str(e->out, ig_cuda_name(e, op->operands[*c - '0'].value));
        }
    }
}

static ig_status print_op(ig_cuda_emitter *e, const ig_op *op) {
    const row *r = &rows[op->code];
    if (r->print) {
        return r->print(e, op);
    }
    const char *text = r->text ? r->text : scalars[op->code];
    if (!text) {
        return ig_cuda_fail(e, op, "has no CUDA text");
    }
    if (op->result_count && op->results->type->lanes > 1) {
        return ig_cuda_fail(e, op, "a vector on a GPU");
    }
    ig_cuda_indent(e);
    if (!r->is_line) {
        ig_put(e->out, "%s const ", ig_cuda_type(op->results->type));
        ig_put_str(e->out, ig_cuda_name(e, op->results));
        ig_put(e->out, " = ");
    }
    if (r->text) {
        put_format(e, op, text);
    } else {
        put_scalar(e, op, text);
    }
    ig_put(e->out, r->is_line ? "\n" : ";\n");
    return IG_OK;
}

ig_status ig_cuda_emit_block(ig_cuda_emitter *e, const ig_block *block) {
    for (const ig_op *op = block->first; op; op = op->next) {
        if (!(ig_ops[op->code].traits & IG_TERMINATOR)) {
            IG_TRY(print_op(e, op));
        }
    }
    return IG_OK;
}

/* ---- the function ---- */

static void count_args(const ig_graph *kernel, uint32_t *buffers, uint32_t *params) {
    for (uint32_t i = 0; i < kernel->body.arg_count; i++) {
        bool is_buffer = kernel->body.args[i]->type->kind == IG_BUFFER;
        *buffers += is_buffer;
        *params += !is_buffer;
    }
}

static void print_arguments(ig_cuda_emitter *e) {
    uint32_t buffer = 0, param = 0;
    for (uint32_t i = 0; i < e->kernel->body.arg_count; i++) {
        const ig_value *arg = e->kernel->body.args[i];
        const char     *type = ig_cuda_type(arg->type);
        bool            is_buffer = arg->type->kind == IG_BUFFER;
        ig_str          name = ig_cuda_name(e, arg);
        ig_put(e->out, "    %s const %.*s = ", type, IG_STR_ARG(name));
        if (is_buffer) {
            ig_put(e->out, "(%s)args.buffers[%u];\n", type, buffer++);
        } else {
            ig_put(e->out, "args.params[%u];\n", param++);
        }
    }
}

static void name_values(ig_cuda_emitter *e) {
    e->names = IG_NEW_ARRAY(e->arena, ig_str, e->kernel->value_count);
    for (uint32_t i = 0; i < e->kernel->value_count; i++) {
        size_t size = 0;
        char  *text = ig_arena_printf(e->arena, "v%u", i);
        size = strlen(text);
        e->names[i] = (ig_str){ text, size };
    }
}

ig_status ig_cuda_emit_kernel(const ig_graph *kernel, ig_writer *out) {
    ig_cuda_emitter e = {
        .kernel = kernel, .out = out, .arena = out->arena, .depth = 1
    };
    uint32_t buffers = 0, params = 0;
    count_args(kernel, &buffers, &params);
    name_values(&e);
    ig_put(out, "struct %s_args {\n    void *buffers[%u];\n", kernel->name,
           buffers ? buffers : 1);
    ig_put(out, "    long long params[%u];\n    ig_kernel_report *report;\n};\n",
           params ? params : 1);
    ig_put(out, "extern \"C\" __global__ void %s(const %s_args args) {\n", kernel->name,
           kernel->name);
    print_arguments(&e);
    IG_TRY(ig_cuda_emit_block(&e, &kernel->body));
    ig_put(out, "}\n\n");
    return IG_OK;
}
