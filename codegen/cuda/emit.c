/* Printing kernel form as CUDA C++: frame, names, elementwise ops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/cuda/emit.h"

#include "codegen/cuda/print.h"
#include "ir/target.h"

#include <assert.h>
#include <string.h>

/* ---- names and types ---- */

#define CUDA_TYPES(TYPE)              \
    TYPE(bool, "bool")                \
    TYPE(i8, "signed char")           \
    TYPE(i16, "short")                \
    TYPE(i32, "int")                  \
    TYPE(i64, "long long")            \
    TYPE(u8, "unsigned char")         \
    TYPE(u16, "unsigned short")       \
    TYPE(u32, "unsigned int")         \
    TYPE(u64, "unsigned long long")   \
    TYPE(f16, "ig_f16")               \
    TYPE(bf16, "ig_bf16")             \
    TYPE(f8e4m3fn, "ig_f8e4m3fn")     \
    TYPE(f8e4m3fnuz, "ig_f8e4m3fnuz") \
    TYPE(f8e5m2, "ig_f8e5m2")         \
    TYPE(f8e5m2fnuz, "ig_f8e5m2fnuz") \
    TYPE(f8e8m0, "ig_f8e8m0")         \
    TYPE(f32, "float")                \
    TYPE(f64, "double")

typedef struct type_name {
    const char *one, *pointer;
    const char *vectors[3]; /* of 2, 4 and 8 lanes */
} type_name;

static const type_name type_names[IG_DT_COUNT] = {
#define TYPE_NAME(dtype, name)                                          \
    [IG_DT_##dtype] = { name,                                           \
                        name " *",                                      \
                        { "ig_vec<" name ", 2>", "ig_vec<" name ", 4>", \
                          "ig_vec<" name ", 8>" } },
    CUDA_TYPES(TYPE_NAME)
#undef TYPE_NAME
};

const char *ig_cuda_type(const ig_type *type) {
    assert((type->kind == IG_BUFFER || type->kind == IG_VECTOR) &&
           "kernels have buffers and vectors");
    const type_name *name = &type_names[type->dtype];
    return type->kind == IG_BUFFER ? name->pointer : name->one;
}

static bool is_vector(const ig_value *value) {
    return value->type->kind == IG_VECTOR && value->type->lanes > 1;
}

const char *ig_cuda_whole_type(const ig_value *value) {
    uint32_t lanes = is_vector(value) ? value->type->lanes : 1;
    const type_name *name = &type_names[value->type->dtype];
    return lanes == 2   ? name->vectors[0]
           : lanes == 4 ? name->vectors[1]
           : lanes == 8 ? name->vectors[2]
                        : ig_cuda_type(value->type);
}

ig_str ig_cuda_name(const ig_cuda_emitter *e, const ig_value *value) {
    assert(e->names[value->id].size && "a value is named before its uses");
    ig_str name = e->names[value->id];
    return e->lane > 0 && is_vector(value)
               ? ig_str_of(ig_arena_printf(e->arena, "%.*s.at[%u]", IG_STR_ARG(name),
                                           e->lane - 1))
               : name;
}

void ig_cuda_indent(ig_cuda_emitter *e) {
    assert(e->depth >= 1 && "statements are in a function");
    ig_put_spaces(e->out, 4 * e->depth);
}

void ig_cuda_declare(ig_cuda_emitter *e, const ig_value *value) {
    ig_cuda_indent(e);
    if (e->lane == 0 || !is_vector(value)) {
        ig_put(e->out, "%s const ", ig_cuda_whole_type(value));
    }
    ig_put_str(e->out, ig_cuda_name(e, value));
    ig_put(e->out, " = ");
}

ig_status ig_cuda_fail(const ig_cuda_emitter *e, const ig_op *op, const char *what) {
    assert(op->code < IG_OP_COUNT && "the op was erased");
    return ig_error(&e->kernel->module->context->diag, IG_INTERNAL, NULL,
                    "kernel '%s', %s: %s", e->kernel->name, ig_ops[op->code].name,
                    what);
}

/* ---- rows ---- */

typedef struct row {
    const char *text; /* of the result, or of a statement */
    bool is_line, is_for_ints;
    ig_status (*print)(ig_cuda_emitter *e, const ig_op *op);
} row;

static const row rows[IG_OP_COUNT] = {
#define TEXT(name, format) [IG_OP_##name] = { .text = format },
#define INTS(name, format) [IG_OP_##name] = { .text = format, .is_for_ints = true },
#define LINE(name, format) [IG_OP_##name] = { .text = format, .is_line = true },
#define CALL(name) [IG_OP_##name] = { .print = ig_cuda_print_##name },
#include "codegen/cuda/emit.def"
#undef TEXT
#undef INTS
#undef LINE
#undef CALL
};

/* The cuda column of scalar.def: an expression over x, y, z. */
static const char *const scalars[IG_OP_COUNT] = {
#define SCALAR(name, arity, real, sint, uint, boolean, cuda) [IG_OP_##name] = cuda,
#include "ir/semantics/scalar.def"
#undef SCALAR
};

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= '0' && c <= '9');
}

/* x, y and z as whole words become the operands' names. */
static void put_scalar(ig_cuda_emitter *e, const ig_op *op, const char *text) {
    for (const char *c = text; *c; c++) {
        bool is_alone = (c == text || !is_letter(c[-1])) && !is_letter(c[1]);
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

static bool is_integer(const ig_op *op) {
    return op->result_count && ig_dtype_is_int((ig_dtype)op->results->type->dtype);
}

static ig_status check_results(const ig_cuda_emitter *e, const ig_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        const ig_type *type = op->results[i].type;
        if (!ig_cuda_type(type)) {
            return ig_error(&e->kernel->module->context->diag, IG_UNSUPPORTED,
                            ig_op_location(op), "CUDA C++ has no such type: %s",
                            ig_dtypes[type->dtype].name);
        }
        bool has_name = type->kind != IG_VECTOR || type->lanes == 1 ||
                        type->lanes == 2 || type->lanes == 4 || type->lanes == 8;
        if (!has_name) {
            return ig_cuda_fail(e, op, "a vector of so many lanes on a GPU");
        }
    }
    return IG_OK;
}

static void print_line(ig_cuda_emitter *e, const ig_op *op, const char *format) {
    if (format) {
        ig_cuda_indent(e);
        put_format(e, op, format);
        ig_put(e->out, "\n");
    }
}

static ig_status print_one(ig_cuda_emitter *e, const ig_op *op) {
    const row *r = &rows[op->code];
    if (r->print) {
        return r->print(e, op);
    }
    if (r->is_line) {
        print_line(e, op, r->text);
        return IG_OK;
    }
    bool has_row = r->text && (!r->is_for_ints || is_integer(op));
    const char *scalar = scalars[op->code];
    if (!has_row && !scalar) {
        return ig_cuda_fail(e, op, "has no CUDA text");
    }
    ig_cuda_declare(e, op->results);
    if (has_row) {
        put_format(e, op, r->text);
    } else {
        put_scalar(e, op, scalar);
    }
    ig_put(e->out, ";\n");
    return IG_OK;
}

/* Elementwise: a statement a lane. */
static ig_status print_op(ig_cuda_emitter *e, const ig_op *op) {
    IG_TRY(check_results(e, op));
    bool is_whole = op->code == IG_OP_load || op->code == IG_OP_mma ||
                    op->code == IG_OP_for || op->code == IG_OP_if ||
                    op->result_count != 1 || !is_vector(op->results);
    if (is_whole) {
        return print_one(e, op);
    }
    ig_cuda_indent(e);
    ig_put(e->out, "%s %.*s;\n", ig_cuda_whole_type(op->results),
           IG_STR_ARG(ig_cuda_name(e, op->results)));
    ig_status status = IG_OK;
    for (e->lane = 1; e->lane <= op->results->type->lanes && status == IG_OK;
         e->lane++) {
        status = print_one(e, op);
    }
    e->lane = 0;
    return status;
}

ig_status ig_cuda_emit_block(ig_cuda_emitter *e, const ig_block *block) {
    assert(block->last && (ig_ops[block->last->code].traits & IG_TERMINATOR) &&
           "a block ends");
    for (const ig_op *op = block->first; op; op = op->next) {
        if (!(ig_ops[op->code].traits & IG_TERMINATOR)) {
            IG_TRY(print_op(e, op));
        }
    }
    return IG_OK;
}

/* ---- the function ---- */

/* Arguments that only name the start of an array are read by number. */
static bool is_read(const ig_value *arg) {
    for (const ig_use *use = arg->uses; use; use = use->next) {
        bool is_array = use->user->code == IG_OP_buffer_at ||
                        use->user->code == IG_OP_param_at;
        if (!is_array || use != &use->user->operands[0]) {
            return true;
        }
    }
    return false;
}

static ig_status print_arguments(ig_cuda_emitter *e) {
    uint32_t buffer = 0, param = 0;
    for (uint32_t i = 0; i < e->kernel->body.arg_count; i++) {
        const ig_value *arg = e->kernel->body.args[i];
        bool is_buffer = arg->type->kind == IG_BUFFER;
        const char *type = ig_cuda_type(arg->type);
        uint32_t index = is_buffer ? buffer++ : param++;
        if (!type) {
            return ig_error(&e->kernel->module->context->diag, IG_UNSUPPORTED, NULL,
                            "kernel '%s': CUDA C++ has no type for argument %u",
                            e->kernel->name, i);
        }
        if (!is_read(arg)) {
            continue;
        }
        ig_cuda_declare(e, arg);
        if (is_buffer) {
            ig_put(e->out, "(%s)buffers[%u];\n", type, index);
            ig_cuda_indent(e);
            ig_put(e->out, "IG_GLOBAL(%.*s);\n", IG_STR_ARG(ig_cuda_name(e, arg)));
        } else {
            ig_put(e->out, "params[%u];\n", index);
        }
    }
    return IG_OK;
}

static void name_values(ig_cuda_emitter *e) {
    e->names = IG_NEW_ARRAY(e->arena, ig_str, e->kernel->value_count);
    for (uint32_t i = 0; i < e->kernel->value_count; i++) {
        e->names[i] = ig_str_of(ig_arena_printf(e->arena, "v%u", i));
    }
}

static ig_status check_name(const ig_graph *kernel) {
    const char *c = kernel->name;
    bool is_good = *c && !(*c >= '0' && *c <= '9');
    while (is_good && *c) {
        is_good = is_letter(*c++);
    }
    return is_good ? IG_OK
                   : ig_error(&kernel->module->context->diag, IG_UNSUPPORTED, NULL,
                              "kernel '%s': CUDA C++ has no such name", kernel->name);
}

ig_status ig_cuda_emit_kernel(const ig_graph *kernel, ig_writer *out) {
    assert(kernel->stage == IG_STAGE_KERNEL && "only kernel form has emitters");
    ig_cuda_emitter e = {
        .kernel = kernel, .out = out, .arena = out->arena, .depth = 1
    };
    IG_TRY(check_name(kernel));
    name_values(&e);
    /* One block is enough for a multiprocessor: where none is asked for, ptxas spills
     * to have more. */
    ig_put(out, "extern \"C\" __global__ void __launch_bounds__(%d, 1) %s(",
           IG_BLOCK_THREADS, kernel->name);
    ig_put(out, "void *const *buffers,\n    const long long *params, ");
    ig_put(out, "ig_kernel_report *report) {\n");
    IG_TRY(print_arguments(&e));
    IG_TRY(ig_cuda_emit_block(&e, &kernel->body));
    ig_put(out, "}\n\n");
    return IG_OK;
}
