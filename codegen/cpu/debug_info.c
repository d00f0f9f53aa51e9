/* LLVM's debug information of one kernel.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The source that a debugger shows is the kernel as it prints, so each instruction has
 * the line of the op that it was emitted for.  A kernel has one parameter, and keeps it
 * where a debugger finds it at every moment, with one store on entry:
 *
 *     call  ─ slot of the stack
 *     %i    ─ *(slot) → buffers or params → element of its number
 *
 * so that the arguments, which are the elements of these arrays, are shown by name
 * wherever the kernel stops.  The store, and a frame pointer, is all that code with
 * debug information has more; its numbers are the same.
 */
#include "codegen/cpu/debug.h"

#include "codegen/cpu/emit.h"
#include "ingot/kernel.h"
#include "ir/text/text.h"

#include <assert.h>

enum { DWARF_VERSION = 4, POINTER_BITS = 64 };

/* Numbers of the DWARF standard, section 7. */
enum { DW_ATE_boolean = 2, DW_ATE_float = 4, DW_ATE_signed = 5, DW_ATE_unsigned = 7 };
enum { DW_OP_deref = 0x06, DW_OP_plus_uconst = 0x23 };

/* ---- the text and its lines ---- */

typedef struct line_counter {
    ig_cpu_debug *debug;
    uint32_t line; /* ends of lines so far */
    size_t seen;   /* bytes of the text that were counted */
} line_counter;

/* Called when the line of `op` is printed. */
static void note_line(void *user, const ig_op *op, ig_writer *text) {
    line_counter *counter = user;
    for (; counter->seen < text->size; counter->seen++) {
        counter->line += text->data[counter->seen] == '\n';
    }
    if (op) {
        assert(op->id < counter->debug->op_count && "ids of ops are dense");
        counter->debug->lines[op->id] = counter->line;
    }
}

static void print_kernel(const ig_cpu_emitter *e, ig_cpu_debug *debug) {
    line_counter counter = { .debug = debug };
    ig_print_options options = { .note = note_line, .user = &counter };
    ig_writer text;
    debug->op_count = e->kernel->op_count;
    debug->lines = IG_NEW_ARRAY(e->arena, uint32_t, debug->op_count);
    ig_writer_init(&text, e->arena);
    ig_print_graph_with(e->kernel, &options, &text);
    debug->text = ig_writer_str(&text);
}

static bool is_symbol_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

/* A name that can be typed at a debugger, and can name a file. */
static char *clean_name(const ig_cpu_emitter *e, const char *prefix, const char *name) {
    char *clean = ig_arena_printf(e->arena, "%s%s", prefix, name);
    for (char *c = clean; *c; c++) {
        *c = is_symbol_char(*c) ? *c : '_';
    }
    return clean;
}

/* ---- the unit ---- */

static void add_flag(const ig_cpu_emitter *e, const char *name, unsigned value) {
    LLVMValueRef position = LLVMConstInt(LLVMInt32TypeInContext(e->llvm), value, 0);
    LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                      LLVMValueAsMetadata(position));
}

void ig_cpu_debug_folder(char folder[IG_CPU_FOLDER_BYTES]) {
    memset(folder, '@', IG_CPU_FOLDER_BYTES);
    folder[IG_CPU_FOLDER_BYTES - 1] = '\0';
}

void ig_cpu_debug_begin(ig_cpu_emitter *e, ig_cpu_debug *debug) {
    static const char producer[] = "ingot";
    char folder[IG_CPU_FOLDER_BYTES];
    const char *file = NULL;
    bool needs_prefix = !is_symbol_char(e->kernel->name[0]) ||
                        (e->kernel->name[0] >= '0' && e->kernel->name[0] <= '9');
    print_kernel(e, debug);
    debug->name = clean_name(e, needs_prefix ? "k" : "", e->kernel->name);
    file = ig_arena_printf(e->arena, "%s.ig", debug->name);
    ig_cpu_debug_folder(folder);
    add_flag(e, "Debug Info Version", LLVMDebugMetadataVersion());
    add_flag(e, "Dwarf Version", DWARF_VERSION);
    debug->file = LLVMDIBuilderCreateFile(debug->builder, file, strlen(file), folder,
                                          strlen(folder));
    debug->unit = LLVMDIBuilderCreateCompileUnit(
        debug->builder, LLVMDWARFSourceLanguageC99, debug->file, producer,
        sizeof producer - 1, 0, "", 0, 0, "", 0, LLVMDWARFEmissionFull, 0, 0, 0, "", 0,
        "", 0);
    e->debug = debug;
}

/* ---- types ---- */

static LLVMMetadataRef element_type(const ig_cpu_debug *debug, ig_dtype dtype) {
    const ig_dtype_info *info = &ig_dtypes[dtype];
    /* gdb knows bfloat16 by this name, and binary16 by its size. */
    const char *name = dtype == IG_DT_bf16 ? "__bfloat16" : info->name;
    bool is_float = info->class == IG_FLOAT && info->bits >= 16;
    unsigned encoding = dtype == IG_DT_bool      ? DW_ATE_boolean
                        : is_float               ? DW_ATE_float
                        : info->class == IG_SINT ? DW_ATE_signed
                                                 : DW_ATE_unsigned;
    return LLVMDIBuilderCreateBasicType(debug->builder, name, strlen(name),
                                        8ull * ig_cpu_bytes(dtype), encoding,
                                        LLVMDIFlagZero);
}

static LLVMMetadataRef pointer_type(const ig_cpu_debug *debug, LLVMMetadataRef to) {
    return LLVMDIBuilderCreatePointerType(debug->builder, to, POINTER_BITS, 0, 0, "",
                                          0);
}

static LLVMMetadataRef make_member(const ig_cpu_debug *debug, const char *name,
                                   size_t offset, LLVMMetadataRef type) {
    return LLVMDIBuilderCreateMemberType(debug->builder, debug->unit, name,
                                         strlen(name), debug->file, 0, POINTER_BITS, 0,
                                         8 * (uint64_t)offset, LLVMDIFlagZero, type);
}

/* const ig_kernel_call_v0 *, as include/ingot/kernel.h has it. */
static LLVMMetadataRef call_type(const ig_cpu_debug *debug) {
    static const char name[] = "ig_kernel_call_v0";
    LLVMMetadataRef i64 = element_type(debug, IG_DT_i64);
    LLVMMetadataRef any = pointer_type(debug, NULL);
#define MEMBER(field, type) \
    make_member(debug, #field, offsetof(ig_kernel_call_v0, field), type)
    LLVMMetadataRef members[] = {
        MEMBER(buffers, pointer_type(debug, any)),
        MEMBER(params, pointer_type(debug, i64)),
        MEMBER(tile_begin, i64),
        MEMBER(tile_end, i64),
        MEMBER(scratch, any),
        MEMBER(report, pointer_type(debug, i64)),
    };
#undef MEMBER
    LLVMMetadataRef call = LLVMDIBuilderCreateStructType(
        debug->builder, debug->unit, name, sizeof name - 1, debug->file, 0,
        8 * sizeof(ig_kernel_call_v0), 0, LLVMDIFlagZero, NULL, members,
        IG_COUNT_OF(members), 0, NULL, "", 0);
    return pointer_type(debug, call);
}

/* ---- the function and its arguments ---- */

static LLVMMetadataRef location_of(const ig_cpu_emitter *e, uint32_t line) {
    return LLVMDIBuilderCreateDebugLocation(e->llvm, line, 0, e->debug->scope, NULL);
}

typedef struct parameter {
    unsigned position; /* from 1 on */
    const char *name;
    LLVMMetadataRef type;
    uint64_t path[6]; /* from the slot that holds the call to its value */
    size_t length;
} parameter;

static void declare_parameter(const ig_cpu_emitter *e, LLVMValueRef slot,
                              parameter *what) {
    const ig_cpu_debug *debug = e->debug;
    LLVMMetadataRef variable = LLVMDIBuilderCreateParameterVariable(
        debug->builder, debug->scope, what->name, strlen(what->name), what->position,
        debug->file, 1, what->type, 1, LLVMDIFlagZero);
    LLVMMetadataRef where = LLVMDIBuilderCreateExpression(debug->builder, what->path,
                                                          what->length);
    LLVMDIBuilderInsertDeclareRecordAtEnd(debug->builder, slot, variable, where,
                                          location_of(e, 1),
                                          LLVMGetInsertBlock(e->builder));
}

/* Names are those of the text; %0, which no debugger could be asked for, is arg0. */
static void declare_arguments(const ig_cpu_emitter *e, LLVMValueRef slot) {
    const ig_block *body = &e->kernel->body;
    uint64_t counts[2] = { 0, 0 };
    uint32_t unnamed = 0;
    for (uint32_t i = 0; i < body->arg_count; i++) {
        const ig_value *arg = body->args[i];
        bool is_buffer = arg->type->kind == IG_BUFFER;
        LLVMMetadataRef type = element_type(e->debug, (ig_dtype)arg->type->dtype);
        uint64_t array = is_buffer ? offsetof(ig_kernel_call_v0, buffers)
                                   : offsetof(ig_kernel_call_v0, params);
        uint64_t at = sizeof(int64_t) * counts[is_buffer]++;
        parameter what = { .position = i + 2,
                           .name = arg->name && arg->name[0]
                                       ? clean_name(e, "", arg->name)
                                       : ig_arena_printf(e->arena, "arg%u", unnamed++),
                           .type = is_buffer ? pointer_type(e->debug, type) : type,
                           .path = { DW_OP_deref, DW_OP_plus_uconst, array, DW_OP_deref,
                                     DW_OP_plus_uconst, at },
                           .length = IG_COUNT_OF(what.path) };
        declare_parameter(e, slot, &what);
    }
}

void ig_cpu_debug_enter(ig_cpu_emitter *e) {
    ig_cpu_debug *debug = e->debug;
    LLVMMetadataRef call = call_type(debug);
    LLVMMetadataRef types[] = { NULL, call };
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(
        debug->builder, debug->file, types, IG_COUNT_OF(types), LLVMDIFlagZero);
    size_t size = strlen(debug->name);
    debug->scope = LLVMDIBuilderCreateFunction(debug->builder, debug->file, debug->name,
                                               size, debug->name, size, debug->file, 1,
                                               type, 0, 1, 1, LLVMDIFlagPrototyped, 0);
    LLVMSetSubprogram(e->function, debug->scope);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(e->llvm, 0);
    LLVMValueRef slot = LLVMBuildAlloca(e->builder, pointer, L_UNNAMED);
    /* Without a line of its own the store is of the entry, after which debuggers stop;
     * being volatile, it stays in front of all loads. */
    LLVMSetVolatile(LLVMBuildStore(e->builder, e->call, slot), 1);
    LLVMSetCurrentDebugLocation2(e->builder, location_of(e, 1));
    parameter whole = { .position = 1, .name = "call", .type = call };
    declare_parameter(e, slot, &whole);
    declare_arguments(e, slot);
}

void ig_cpu_debug_at(const ig_cpu_emitter *e, const ig_op *op) {
    assert(op->id < e->debug->op_count && "ids of ops are dense");
    uint32_t line = e->debug->lines[op->id];
    if (line) {
        LLVMSetCurrentDebugLocation2(e->builder, location_of(e, line));
    }
}

void ig_cpu_debug_end(const ig_cpu_emitter *e) {
    LLVMDIBuilderFinalize(e->debug->builder);
}
