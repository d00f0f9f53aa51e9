/* Opened weights of every kind of layer: what is computed after a change of one is what
 * the interpreter computes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/ingot.h"
#include "ingot/runtime.h"
#include "tests/unit/unit.h"

#include <math.h>

UNIT_WITH_LLVM

enum { INPUTS = 8, OUTPUTS = 2, OUT_BYTES = 1 << 16 };

typedef struct layer {
    const char *name, *head, *body; /* weights; graph */
    const char *inputs[2];          /* of the graph, in front of the weights */
} layer;

static const layer kinds[] = {
    { "matmul",
      "weight @w : f32[16, 40] = splat(1) {parameter} weight @b : f32[40] = splat(1) {parameter}",
      "graph @main(%x: f32[B, 16]) -> (f32[B, 40]) {\n %0 = matmul %x, @w : f32[B, 40]\n"
      "%1 = add %0, @b : f32[B, 40]\n %2 = tanh %1 : f32[B, 40]\n ret %2\n }",
      { "f32[3,16]=random" } },
    { "matmul_transposed",
      "weight @w : f32[40, 16] = splat(1) {parameter}",
      "graph @main(%x: f32[B, 16]) -> (f32[B, 40]) {\n"
      " %0 = matmul %x, @w {transpose_b} : f32[B, 40]\n ret %0\n }",
      { "f32[3,16]=random" } },
    { "matmul_of_a_view",
      "weight @w : f32[2, 40, 16] = splat(1) {parameter}",
      "graph @main(%x: f32[B, 16]) -> (f32[B, 40]) {\n"
      " %0 = slice @w {starts = [1, 0, 0], sizes = [1, 40, 16]} : f32[1, 40, 16]\n"
      " %1 = reshape %0 {to = [40, 16]} : f32[40, 16]\n"
      " %2 = transpose %1 {perm = [1, 0]} : f32[16, 40]\n"
      " %3 = matmul %x, %2 : f32[B, 40]\n ret %3\n }",
      { "f32[3,16]=random" } },
    { "batched_matmul",
      "weight @w : f32[2, 16, 40] = splat(1) {parameter}",
      "graph @main(%x: f32[2, B, 16]) -> (f32[2, B, 40]) {\n"
      " %0 = matmul %x, @w : f32[2, B, 40]\n ret %0\n }",
      { "f32[2,3,16]=random" } },
    { "scaled_matmul",
      "weight @w : f32[16, 40] = splat(1) {parameter} weight @s : f32[40] = splat(2) {parameter}\n"
      "weight @k : f32[40] = splat(3)",
      "graph @main(%x: f32[B, 16]) -> (f32[B, 40]) {\n"
      " %0 = mul @w, @s : f32[16, 40]\n %1 = mul %0, @k : f32[16, 40]\n"
      " %2 = matmul %x, %1 : f32[B, 40]\n ret %2\n }",
      { "f32[3,16]=random" } },
    { "bf16_matmul",
      "weight @w : bf16[16, 40] = splat(1) {parameter}",
      "graph @main(%x: bf16[B, 16]) -> (f32[B, 40]) {\n"
      " %0 = matmul %x, @w : bf16[B, 40]\n %1 = cast %0 {to = f32} : f32[B, 40]\n ret %1\n }",
      { "bf16[3,16]=random" } },
    { "widened_bf16",
      "weight @w : bf16[16, 40] = splat(1) {parameter}",
      "graph @main(%x: f32[B, 16]) -> (f32[B, 40]) {\n"
      " %0 = cast @w {to = f32} : f32[16, 40]\n %1 = matmul %x, %0 : f32[B, 40]\n ret %1\n }",
      { "f32[3,16]=random" } },
    { "f16_matmul",
      "weight @w : f16[40, 16] = splat(1) {parameter}",
      "graph @main(%x: f16[B, 16]) -> (f32[B, 40]) {\n"
      " %0 = matmul %x, @w {transpose_b} : f16[B, 40]\n %1 = cast %0 {to = f32} : f32[B, 40]\n"
      " ret %1\n }",
      { "f16[3,16]=random" } },
    { "dequantized",
      "weight @w : i8[16, 40] = splat(1) {parameter} weight @s : f32[40] = splat(1) {parameter}\n"
      "weight @z : i8[40] = splat(1) {parameter}",
      "graph @main(%x: f32[B, 16]) -> (f32[B, 40]) {\n"
      " %0 = dequantize @w, @s, @z {axis = 1} : f32[16, 40]\n"
      " %1 = matmul %x, %0 : f32[B, 40]\n ret %1\n }",
      { "f32[3,16]=random" } },
    { "matmul_integer",
      "weight @w : i8[16, 40] = splat(1) {parameter} weight @z : i8[40] = splat(1) {parameter}",
      "graph @main(%x: u8[B, 16], %a: u8[]) -> (i32[B, 40]) {\n"
      " %0 = matmul_integer %x, @w, %a, @z : i32[B, 40]\n ret %0\n }",
      { "u8[3,16]=random", "u8[]=7" } },
    { "matmul_integer_plain",
      "weight @w : u8[16, 40] = splat(1) {parameter}",
      "graph @main(%x: u8[B, 16]) -> (i32[B, 40]) {\n"
      " %0 = matmul_integer %x, @w : i32[B, 40]\n ret %0\n }",
      { "u8[3,16]=random" } },
    { "conv",
      "weight @w : f32[20, 8, 3, 3] = splat(1) {parameter} weight @b : f32[20] = splat(1) {parameter}",
      "graph @main(%x: f32[B, 8, 9, 9]) -> (f32[B, 20, 7, 7]) {\n"
      " %0 = conv %x, @w, @b : f32[B, 20, 7, 7]\n %1 = relu %0 : f32[B, 20, 7, 7]\n ret %1\n }",
      { "f32[2,8,9,9]=random" } },
    { "conv_chain",
      "weight @w : f32[20, 8, 3, 3] = splat(1) {parameter} weight @d : f32[20, 1, 3, 3] = splat(1) {parameter}\n"
      "weight @p : f32[8, 20, 1, 1] = splat(1) {parameter}",
      "graph @main(%x: f32[B, 8, 9, 9]) -> (f32[B, 8, 7, 7]) {\n"
      " %0 = conv %x, @w : f32[B, 20, 7, 7]\n"
      " %1 = conv %0, @d {group = 20, before = [1, 1], after = [1, 1]} : f32[B, 20, 7, 7]\n"
      " %2 = relu %1 : f32[B, 20, 7, 7]\n %3 = conv %2, @p : f32[B, 8, 7, 7]\n ret %3\n }",
      { "f32[2,8,9,9]=random" } },
    { "conv_norm",
      "weight @w : f32[20, 8, 3, 3] = splat(1) {parameter} weight @s : f32[20] = splat(1) {parameter}\n"
      "weight @b : f32[20] = splat(1) {parameter} weight @m : f32[20] = splat(1) {parameter}\n"
      "weight @v : f32[20] = splat(2)",
      "graph @main(%x: f32[B, 8, 9, 9]) -> (f32[B, 20, 7, 7]) {\n"
      " %0 = conv %x, @w : f32[B, 20, 7, 7]\n"
      " %1 = batch_norm %0, @s, @b, @m, @v {epsilon = 1e-5} : f32[B, 20, 7, 7]\n ret %1\n }",
      { "f32[2,8,9,9]=random" } },
    { "conv_integer",
      "weight @w : i8[20, 8, 3, 3] = splat(1) {parameter}",
      "graph @main(%x: u8[B, 8, 9, 9], %a: u8[]) -> (i32[B, 20, 7, 7]) {\n"
      " %0 = conv_integer %x, @w, %a : i32[B, 20, 7, 7]\n ret %0\n }",
      { "u8[2,8,9,9]=random", "u8[]=7" } },
    { "bag",
      "weight @t : f32[10, 16] = splat(1) {parameter}",
      "graph @main(%i: i64[N], %o: i64[B]) -> (f32[B, 16]) {\n"
      " %0 = bag @t, %i, %o {operands = [1], pool = [sum]} : f32[B, 16]\n ret %0\n }",
      { "i64[8]=iota", "i64[3]=iota" } },
    { "tied_embedding",
      "weight @t : f32[40, 16] = splat(1) {parameter}",
      "graph @main(%i: i64[B]) -> (f32[B, 40]) {\n"
      " %0 = gather @t, %i {axis = 0} : f32[B, 16]\n"
      " %1 = matmul %0, @t {transpose_b} : f32[B, 40]\n ret %1\n }",
      { "i64[3]=iota" } },
    { "layer_norm",
      "weight @s : f32[16] = splat(1) {parameter} weight @b : f32[16] = splat(1) {parameter}",
      "graph @main(%x: f32[B, 16]) -> (f32[B, 16]) {\n"
      " %0 = layer_norm %x, @s, @b {axis = 1, epsilon = 1e-5} : f32[B, 16]\n ret %0\n }",
      { "f32[3,16]=random" } },
};

/* ---- a case ---- */

typedef struct open_case {
    const layer *kind;
    ig_context *context;
    ig_module *module;
    ig_program *program;
    ig_session *session;
    ig_arguments *held[INPUTS];
    ig_argument in[INPUTS];
    ig_view views[INPUTS];
    size_t count;
    char *memory, *outputs[2]; /* of this run, of the one before */
} open_case;

static int32_t code_of(const char *dtype) {
    static const struct {
        const char *name;
        int32_t code;
    } codes[] = { { "f32", IG_F32 }, { "f16", IG_F16 }, { "bf16", IG_BF16 },
                  { "i8", IG_I8 },   { "u8", IG_U8 },   { "i64", IG_I64 } };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (strcmp(codes[i].name, dtype) == 0) {
            return codes[i].code;
        }
    }
    CHECK_MSG(false, "dtype %s", dtype);
    return 0;
}

/* Values in memory that the test may write. */
static void add_input(open_case *c, const char *value) {
    size_t i = c->count++;
    ig_status status = ig_arguments_parse(c->context, value, NULL, &c->held[i]);
    CHECK_MSG(status == IG_OK, "%s: %s", value, ig_context_messages(c->context));
    c->in[i] = *ig_arguments_at(c->held[i], 0);
    void *own = malloc(c->in[i].size + 1);
    memcpy(own, c->in[i].data, c->in[i].size);
    c->in[i].data = own;
    c->views[i] = (ig_view){ .data = own,
                             .dtype = code_of(c->in[i].dtype),
                             .rank = c->in[i].rank };
    for (uint32_t d = 0; d < c->in[i].rank; d++) {
        c->views[i].dims[d] = c->in[i].dims[d];
    }
}

static open_case open_kind(const layer *kind) {
    open_case c = { .kind = kind };
    char text[2000], value[80];
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_import_options how = { .size = sizeof how, .open_weights = "all" };
    c.context = ig_context_create(&options);
    snprintf(text, sizeof text, "module @m {\n%s\n%s\n}\n", kind->head, kind->body);
    ig_status status = ig_import_memory(c.context, text, strlen(text), NULL, &how,
                                        &c.module);
    CHECK_MSG(status == IG_OK, "%s: %s", kind->name, ig_context_messages(c.context));
    status = ig_compile(c.module, NULL, &c.program);
    CHECK_MSG(status == IG_OK, "%s: %s", kind->name, ig_context_messages(c.context));
    CHECK_OK(ig_session_create(c.program, NULL, &c.session));
    for (size_t i = 0; i < 2 && kind->inputs[i]; i++) {
        add_input(&c, kind->inputs[i]);
    }
    while (c.count < ig_program_input_count(c.program)) {
        snprintf(value, sizeof value, "%s=random",
                 ig_module_input_type(c.module, c.count));
        add_input(&c, value);
    }
    c.memory = calloc(2, OUT_BYTES);
    c.outputs[0] = c.memory;
    c.outputs[1] = c.memory + OUT_BYTES;
    return c;
}

static void close_case(open_case *c) {
    for (size_t i = 0; i < c->count; i++) {
        free((void *)(uintptr_t)c->in[i].data);
        ig_arguments_close(c->held[i]);
    }
    free(c->memory);
    ig_session_destroy(c->session);
    ig_program_close(c->program);
    ig_module_close(c->module);
    ig_context_destroy(c->context);
}

/* ---- runs ---- */

static void compare(const open_case *c, const ig_argument *wanted, const char *got,
                    const char *when) {
    bool is_float = strcmp(wanted->dtype, "f32") == 0;
    size_t count = wanted->size / 4;
    CHECK_MSG(is_float || memcmp(got, wanted->data, wanted->size) == 0, "%s %s",
              c->kind->name, when);
    for (size_t i = 0; i < count && is_float; i++) {
        float a = ((const float *)(const void *)got)[i];
        float b = ((const float *)wanted->data)[i];
        float near = strstr(c->kind->name, "f16") ? 2e-2f : 1e-4f;
        CHECK_MSG(fabsf(a - b) <= near * (1 + fabsf(b)), "%s %s: %zu is %g, not %g",
                  c->kind->name, when, i, (double)a, (double)b);
    }
}

/* One run, held against the interpreter; true when it gave something new. */
static bool run_case(open_case *c, const char *when) {
    const ig_argument *wanted = NULL;
    size_t count = 0;
    char *before = c->outputs[0];
    c->outputs[0] = c->outputs[1];
    c->outputs[1] = before;
    ig_view out = { .data = c->outputs[0], .capacity = OUT_BYTES };
    CHECK_MSG(ig_session_run(c->session, c->views, c->count, &out, 1) == IG_OK,
              "%s: %s", c->kind->name, ig_session_error(c->session));
    CHECK_MSG(ig_interpret_run(c->module, c->in, c->count, &wanted, &count) == IG_OK,
              "%s: %s", c->kind->name, ig_context_messages(c->context));
    compare(c, wanted, c->outputs[0], when);
    return memcmp(c->outputs[0], c->outputs[1], wanted->size) != 0;
}

/* Other values of about the same size. */
static void change(open_case *c, size_t index) {
    const ig_argument *weight = &c->in[index];
    size_t width = strcmp(weight->dtype, "f32") == 0 ? 4
                   : strstr(weight->dtype, "f16")    ? 2
                                                     : 1;
    unsigned char *bytes = c->views[index].data;
    for (size_t i = 0; i + width <= weight->size; i += 3 * width) {
        bytes[i + width - 1] ^= width == 1 ? 0x55 : 0x80; /* the sign */
    }
}

static void check_kind(const layer *kind) {
    char when[60];
    open_case c = open_kind(kind);
    size_t first = kind->inputs[1] ? 2 : 1;
    (void)run_case(&c, "at first");
    CHECK(c.count > first);
    for (size_t i = first; i < c.count; i++) {
        change(&c, i);
        ig_session_weights_changed(c.session);
        snprintf(when, sizeof when, "after a change of weight %zu", i - first);
        CHECK_MSG(run_case(&c, when), "%s %s: nothing is new", kind->name, when);
        CHECK_MSG(!run_case(&c, when), "%s %s: two runs differ", kind->name, when);
    }
    close_case(&c);
}

TEST(every_kind_sees_its_changes) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        check_kind(&kinds[i]);
    }
}
END_TEST

UNIT_SUITE(compiled_open_kinds, every_kind_sees_its_changes)
