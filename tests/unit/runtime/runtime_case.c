/* Small artifacts for tests of the runtime.  SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/runtime/runtime_case.h"

#include "base/checked.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

rt_case *rt_begin(void) {
    rt_case *c = calloc(1, sizeof *c);
    CHECK(c != NULL);
    ig_arena_init(&c->arena, NULL);
    ig_artifact_init(&c->w, &c->arena, "test-build", "case");
    c->w.family = RT_FAMILY;
    IG_PUSH(c->w.arena, &c->w.levels, ig_artifact_text(&c->w, ig_str_of(RT_LEVEL)));
    return c;
}

void rt_end(rt_case *c) {
    free(c->bytes);
    ig_arena_fini(&c->arena);
    free(c);
}

/* ---- symbols ---- */

static uint32_t push_symbol(rt_case *c, const char *name, ig_plan_symbol symbol) {
    symbol.name = ig_artifact_text(&c->w, ig_str_of(name));
    if (symbol.origin.size == 0) {
        symbol.origin = symbol.name;
    }
    symbol.max = INT64_MAX;
    symbol.multiple = 1;
    symbol.expr = IG_NONE;
    IG_PUSH(c->w.arena, &c->w.symbols, symbol);
    return (uint32_t)c->w.symbols.count - 1;
}

uint32_t rt_symbol(rt_case *c, const char *name, uint32_t input, uint32_t axis) {
    const char *origin = ig_arena_printf(&c->arena, "dim %u of input number %u", axis,
                                         input);
    return push_symbol(
        c, name,
        (ig_plan_symbol){ .kind = IG_SYMBOL_INPUT,
                          .origin = ig_artifact_text(&c->w, ig_str_of(origin)),
                          .input = input,
                          .axis = axis });
}

uint32_t rt_late_symbol(rt_case *c, const char *name) {
    return push_symbol(
        c, name,
        (ig_plan_symbol){ .kind = IG_SYMBOL_LATE, .input = IG_NONE, .axis = IG_NONE });
}

uint32_t rt_rows_symbol(rt_case *c, const char *name) {
    return push_symbol(
        c, name,
        (ig_plan_symbol){ .kind = IG_SYMBOL_ROWS, .input = IG_NONE, .axis = IG_NONE });
}

/* ---- ports and buffers ---- */

/* The bytes of a tensor as an expression. */
static uint32_t tensor_bytes(rt_case *c, uint32_t dtype, uint32_t rank,
                             const uint32_t *dims) {
    ig_plan_code code[64];
    uint32_t count = 0;
    int64_t unit = dtype == IG_I64 || dtype == IG_F64 ? 8 : dtype == IG_F32 ? 4 : 1;
    code[count++] = (ig_plan_code)RT_INT(unit);
    for (uint32_t i = 0; i < rank; i++) {
        ig_plan_range range = c->w.exprs.items[dims[i]];
        for (uint32_t k = 0; k < range.count; k++) {
            code[count++] = c->w.codes.items[range.first + k];
        }
        code[count++] = (ig_plan_code)RT_OP(MUL);
    }
    return ig_artifact_expr(&c->w, code, count);
}

static uint32_t push_buffer(rt_case *c, const char *name, ig_plan_buffer buffer) {
    buffer.name = ig_artifact_text(&c->w, ig_str_of(name));
    buffer.offset = -1;
    IG_PUSH(c->w.arena, &c->w.buffers, buffer);
    return (uint32_t)c->w.buffers.count - 1;
}

static ig_plan_port make_port(rt_case *c, const char *name, uint32_t dtype,
                              uint32_t rank, const uint32_t *dims, uint32_t buffer) {
    const char *type = ig_arena_printf(&c->arena, "rank %u", rank);
    return (ig_plan_port){ .name = ig_artifact_text(&c->w, ig_str_of(name)),
                           .type = ig_artifact_text(&c->w, ig_str_of(type)),
                           .dtype = dtype,
                           .rank = rank,
                           .dims = ig_artifact_list(&c->w, dims, rank).first,
                           .buffer = buffer,
                           .in_place_of = IG_NONE,
                           .partner = IG_NONE };
}

uint32_t rt_input(rt_case *c, const char *name, uint32_t dtype, uint32_t rank,
                  const uint32_t *dims) {
    uint32_t buffer =
        push_buffer(c, name,
                    (ig_plan_buffer){ .space = IG_SPACE_INPUT,
                                      .index = (uint32_t)c->w.inputs.count,
                                      .bytes = tensor_bytes(c, dtype, rank, dims),
                                      .dtype = dtype });
    IG_PUSH(c->w.arena, &c->w.inputs, make_port(c, name, dtype, rank, dims, buffer));
    return buffer;
}

uint32_t rt_output(rt_case *c, const char *name, uint32_t dtype, uint32_t rank,
                   const uint32_t *dims) {
    uint32_t buffer =
        push_buffer(c, name,
                    (ig_plan_buffer){ .space = IG_SPACE_OUTPUT,
                                      .index = (uint32_t)c->w.outputs.count,
                                      .bytes = tensor_bytes(c, dtype, rank, dims),
                                      .dtype = dtype });
    rt_output_of(c, name, dtype, rank, dims, buffer);
    return buffer;
}

void rt_output_of(rt_case *c, const char *name, uint32_t dtype, uint32_t rank,
                  const uint32_t *dims, uint32_t buffer) {
    IG_PUSH(c->w.arena, &c->w.outputs, make_port(c, name, dtype, rank, dims, buffer));
}

uint32_t rt_constant(rt_case *c, const char *name, const void *data, size_t size) {
    uint32_t index = ig_artifact_constant(&c->w, ig_str_of(name), data, size);
    return push_buffer(c, name,
                       (ig_plan_buffer){ .space = IG_SPACE_CONSTANT,
                                         .index = index,
                                         .bytes = ig_artifact_int(&c->w, (int64_t)size),
                                         .dtype = IG_F32 });
}

uint32_t rt_buffer(rt_case *c, uint32_t space, uint32_t bytes, uint32_t first,
                   uint32_t last) {
    return push_buffer(c, "temporary",
                       (ig_plan_buffer){ .space = space,
                                         .index = IG_NONE,
                                         .bytes = bytes,
                                         .dtype = IG_F32,
                                         .first = first,
                                         .last = last });
}

/* ---- steps ---- */

ig_plan_operand rt_operand(uint32_t buffer) {
    return (ig_plan_operand){ .buffer = buffer,
                              .offset = IG_NONE,
                              .row_stride = IG_NONE,
                              .low = IG_NONE,
                              .high = IG_NONE };
}

ig_plan_range rt_operands(rt_case *c, const ig_plan_operand *operands, size_t count) {
    ig_plan_range range = { (uint32_t)c->w.operands.count, (uint32_t)count };
    for (size_t i = 0; i < count; i++) {
        IG_PUSH(c->w.arena, &c->w.operands, operands[i]);
    }
    return range;
}

ig_plan_step rt_step(rt_case *c, ig_step_kind kind, const char *name) {
    return (ig_plan_step){ .name = ig_artifact_text(&c->w, ig_str_of(name)),
                           .source = ig_artifact_text(&c->w, IG_STR("")),
                           .kind = kind,
                           .symbol = IG_NONE,
                           .index = IG_NONE,
                           .value = IG_NONE,
                           .block = IG_NONE };
}

uint32_t rt_push(rt_case *c, ig_plan_step step) {
    IG_PUSH(c->w.arena, &c->w.steps, step);
    return (uint32_t)c->w.steps.count - 1;
}

static void load_kernel(rt_case *c, const char *name, ig_artifact_kernel *out_kernel) {
    const char *path = ig_arena_printf(&c->arena,
                                       INGOT_BINARY_DIR "/unit/kernels/%s.bin", name);
    FILE *file = fopen(path, "rb");
    CHECK_MSG(file != NULL, "cannot open %s", path);
    char *bytes = ig_arena_alloc(&c->arena, 65536);
    size_t size = fread(bytes, 1, 65536, file);
    fclose(file);
    CHECK(size > 0 && size < 65536);
    *out_kernel = (ig_artifact_kernel){ bytes, size, 0, NULL };
}

uint32_t rt_kernel(rt_case *c, const char *name) {
    ig_plan_text text = ig_artifact_text(&c->w, ig_str_of(name));
    for (uint32_t i = 0; i < c->w.kernels.count; i++) {
        if (c->w.kernels.items[i].offset == text.offset) {
            return i;
        }
    }
    uint32_t index = (uint32_t)c->w.kernels.count;
    CHECK(index < RT_KERNELS);
    IG_PUSH(c->w.arena, &c->w.kernels, text);
    for (int level = 0; level < RT_LEVELS; level++) {
        load_kernel(c, name, &c->kernels[level][index]);
    }
    return index;
}

uint32_t rt_launch(rt_case *c, const char *kernel, ig_plan_range operands,
                   ig_plan_range params, uint32_t grid, uint32_t cost) {
    ig_plan_step step = rt_step(c, IG_STEP_launch, kernel);
    step.operands = operands;
    step.variants = (ig_plan_range){ (uint32_t)c->w.variants.count, 1 };
    ig_plan_variant variant = { .kernel = rt_kernel(c, kernel),
                                .grid = grid,
                                .params = params,
                                .cost = cost,
                                .scratch = 64,
                                .threads = 1 };
    IG_PUSH(c->w.arena, &c->w.variants, variant);
    return rt_push(c, step);
}

ig_plan_variant *rt_variant(rt_case *c) {
    return &IG_LAST(&c->w.variants);
}

void rt_guard(rt_case *c, uint32_t left, uint32_t right, const char *message) {
    ig_plan_guard guard = { left, right, 0, 1,
                            ig_artifact_text(&c->w, ig_str_of(message)) };
    IG_PUSH(c->w.arena, &c->w.guards, guard);
}

/* ---- opening ---- */

/* Aligned as the runtime asks. */
static void join_parts(rt_case *c, const ig_file_part *parts, size_t count) {
    char *at = NULL;
    c->size = 0;
    for (size_t i = 0; i < count; i++) {
        c->size += parts[i].size;
    }
    at = aligned_alloc(IG_WEIGHTS_ALIGN, ig_align_up(c->size + 1, IG_WEIGHTS_ALIGN));
    c->bytes = at;
    CHECK(at != NULL);
    for (size_t i = 0; at && i < count; i++) {
        memcpy(at, parts[i].data, parts[i].size);
        at += parts[i].size;
    }
}

void rt_pack(rt_case *c) {
    ig_artifact_level levels[RT_LEVELS];
    for (int i = 0; i < RT_LEVELS; i++) {
        levels[i].kernels = c->kernels[i];
    }
    ig_artifact_contents contents = { .manifest = IG_STR("{}\n"), .levels = levels };
    ig_file_part *parts;
    size_t count;
    ig_artifact_pack(&c->w, &contents, &parts, &count);
    free(c->bytes);
    join_parts(c, parts, count);
}

ig_status rt_try_open(rt_case *c, const void *bytes, size_t size,
                      ig_program **out_program) {
    ig_program_options options = { .size = sizeof options,
                                   .message = c->why,
                                   .message_size = sizeof c->why };
    c->why[0] = 0;
    return ig_program_open_memory(bytes, size, &options, out_program);
}

ig_program *rt_open(rt_case *c, const ig_program_options *options) {
    ig_program_options all = { .size = sizeof all };
    if (options) {
        all = *options;
    }
    all.message = c->why;
    all.message_size = sizeof c->why;
    rt_pack(c);
    ig_program *program = NULL;
    ig_status status = ig_program_open_memory(c->bytes, c->size, &all, &program);
    CHECK_MSG(status == IG_OK, "%s", c->why);
    return program;
}

rt_case *rt_scale_case(int64_t cost) {
    rt_case *c = rt_begin();
    uint32_t batch = rt_symbol(c, "B", 0, 0);
    uint32_t dims[] = { RT_EXPR(c, RT_SYM(batch)), RT_EXPR(c, RT_INT(16)) };
    uint32_t n = RT_EXPR(c, RT_SYM(batch), RT_INT(16), RT_OP(MUL));
    uint32_t x = rt_input(c, "x", IG_F32, 2, dims);
    uint32_t y = rt_output(c, "y", IG_F32, 2, dims);
    uint32_t total = RT_EXPR(c, RT_SYM(batch), RT_INT(cost), RT_OP(MUL));
    rt_launch(c, "scale", RT_OPERANDS(c, RT_AT(y), RT_AT(x)),
              RT_LIST(c, n, dims[1], RT_EXPR(c, RT_INT(0x40000000))), dims[0], total);
    return c;
}

/* ---- views ---- */

ig_view rt_view(void *data, int32_t dtype, int64_t rows) {
    return (ig_view){ .data = data, .dtype = dtype, .rank = 1, .dims = { rows } };
}

ig_view rt_view2(void *data, int32_t dtype, int64_t rows, int64_t columns) {
    return (
        ig_view){ .data = data, .dtype = dtype, .rank = 2, .dims = { rows, columns } };
}

ig_view rt_room(void *data, size_t capacity) {
    return (ig_view){ .data = data, .capacity = capacity };
}
