/* The ONNX reader against damage: cut files, flipped bits, odd messages.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/import/onnx.h"
#include "frontend/onnx/read/onnx_tensor.h"
#include "frontend/onnx/read/wire.h"
#include "tests/unit/onnx/onnx_build.h"
#include "tests/unit/unit.h"

#include <setjmp.h>

static ig_context context;
static char said[4000];

static void remember(void *user, const ig_diagnostic *diagnostic) {
    (void)user;
    size_t used = strlen(said);
    if (used + 300 < sizeof(said)) {
        ig_diagnostic_format(diagnostic, said + used, sizeof(said) - used - 2);
        strcat(said, "\n");
    }
}

static void start(void) {
    memset(&context, 0, sizeof(context));
    context.limits = ig_limits_default;
    context.diag.sink = remember;
    said[0] = 0;
}

static ig_status import_bytes(ig_str bytes) {
    ig_module *module = NULL;
    ig_status status = ig_import_onnx_memory(&context, bytes, "m.onnx", NULL, &module);
    CHECK((status == IG_OK) == (module != NULL));
    ig_module_destroy(module);
    return status;
}

/* x [N, 4] times w [4, 2] plus a bias, in a Loop that runs twice. */
static void small_model(onnx_model *m) {
    const float w[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, b[2] = { 1, -1 };
    const int64_t w_dims[2] = { 4, 2 }, b_dims[1] = { 2 }, two = 2;
    onnx_model_init(m, 17);
    onnx_input(m, "x", ONNX_F32, 2, "N", "4");
    onnx_initializer(m, onnx_tensor(m, "w", ONNX_F32, 2, w_dims, w));
    onnx_initializer(m, onnx_tensor(m, "b", ONNX_F32, 1, b_dims, b));
    onnx_ints(m, "two", -1, &two);
    onnx_node(m, "MatMul", "x,w", "p");
    Onnx__GraphProto *main = m->graph, *body = onnx_graph(m, "body");
    m->graph = body;
    onnx_formal(m, "i");
    onnx_formal(m, "go");
    onnx_formal(m, "s");
    onnx_node(m, "Add", "s,b", "t");
    onnx_node(m, "Identity", "go", "go_on");
    onnx_output(m, "go_on");
    onnx_output(m, "t");
    m->graph = main;
    onnx_attr_g(m, onnx_node(m, "Loop", "two,,p", "y"), "body", body);
    onnx_output(m, "y");
}

TEST(every_cut_is_refused_or_harmless) {
    onnx_model m;
    small_model(&m);
    ig_str whole = onnx_pack(&m);
    start();
    CHECK_OK(import_bytes(whole));
    for (size_t size = 0; size < whole.size; size++) {
        char *copy = malloc(size + 1); /* of its own, so that reads past it show */
        memcpy(copy, whole.data, size);
        start();
        ig_status status = import_bytes((ig_str){ copy, size });
        CHECK_MSG(status == IG_INVALID, "cut at %zu: %s", size, ig_status_name(status));
        CHECK_MSG(strstr(said, "m.onnx"), "cut at %zu says '%s'", size, said);
        free(copy);
    }
    onnx_model_fini(&m);
}
END_TEST

TEST(every_flipped_bit_is_survived) {
    onnx_model m;
    small_model(&m);
    ig_str whole = onnx_pack(&m);
    for (size_t bit = 0; bit < whole.size * 8; bit++) {
        char *copy = malloc(whole.size);
        memcpy(copy, whole.data, whole.size);
        copy[bit / 8] = (char)(copy[bit / 8] ^ (1 << bit % 8));
        start();
        ig_status status = import_bytes((ig_str){ copy, whole.size });
        CHECK_MSG(status != IG_INTERNAL && status != IG_IO, "bit %zu", bit);
        CHECK_MSG(status == IG_OK || said[0], "bit %zu is refused without a word", bit);
        free(copy);
    }
    onnx_model_fini(&m);
}
END_TEST

TEST(weights_stay_in_the_file) {
    onnx_model m;
    small_model(&m);
    ig_str whole = onnx_pack(&m);
    ig_module *module;
    start();
    CHECK_OK(ig_import_onnx_memory(&context, whole, NULL, NULL, &module));
    const ig_weight *weight = ig_module_weight(module, "w");
    CHECK(weight && weight->data.size == 32);
    const char *bytes = weight->data.bytes;
    CHECK(bytes >= whole.data && bytes + 32 <= whole.data + whole.size);
    ig_module_destroy(module);
    onnx_model_fini(&m);
}
END_TEST

/* ---- messages no writer makes ---- */

static ig_status walk(const char *bytes, size_t size, ig_onnx_wire *wire) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    start();
    ig_status status = ig_onnx_wire_walk(&context, &arena, "w.onnx",
                                         (ig_str){ bytes, size },
                                         &onnx__model_proto__descriptor, wire);
    ig_arena_fini(&arena);
    return status;
}

#define WALK(text, wire) walk((text), sizeof(text) - 1, (wire))

TEST(odd_wire_forms_are_given_apart) {
    ig_onnx_wire wire;
    CHECK_OK(WALK("\x08\x08", &wire));                 /* ir_version = 8 */
    CHECK_OK(WALK("\x08\x88\x80\x80\x00", &wire));     /* a padded varint */
    CHECK_OK(WALK("\xa2\x06\x02zz", &wire));           /* field 100: unknown */
    CHECK_STATUS(WALK("\x0b\x0c", &wire), IG_INVALID); /* groups */
    CHECK_STATUS(WALK("\x0d\x01\x01\x01\x01", &wire), IG_INVALID); /* wrong wire type */
    CHECK_STATUS(WALK("\x00\x01", &wire), IG_INVALID);             /* field 0 */
    CHECK_STATUS(WALK("\x12\x02"
                      "a\0",
                      &wire),
                 IG_INVALID); /* zero byte in a name */
    CHECK_STATUS(WALK("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", &wire),
                 IG_INVALID);
    CHECK_STATUS(WALK("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", &wire),
                 IG_INVALID);
    CHECK_STATUS(WALK("\x3a\x00\x3a\x00", &wire), IG_UNSUPPORTED); /* graph twice */
    CHECK(strstr(said, "byte 2") && strstr(said, "graph"));
}
END_TEST

/* `depth` graphs, each in an attribute of a node of the one around it. */
static ig_str nested(ig_arena *arena, int depth) {
    ig_writer inner;
    ig_writer_init(&inner, arena);
    for (int i = 0; i < depth; i++) { /* g = 6, attribute = 5, node = 1 */
        static const char tags[] = { 6 << 3 | 2, 5 << 3 | 2, 1 << 3 | 2 };
        for (int k = 0; k < 3; k++) {
            ig_writer outer;
            ig_writer_init(&outer, arena);
            ig_put_char(&outer, tags[k]);
            size_t size = inner.size;
            for (; size >= 0x80; size >>= 7) {
                ig_put_char(&outer, (char)(size | 0x80));
            }
            ig_put_char(&outer, (char)size);
            ig_put_bytes(&outer, inner.data ? inner.data : "", inner.size);
            inner = outer;
        }
    }
    return ig_writer_str(&inner);
}

TEST(depth_is_bounded) {
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    const struct {
        int depth;
        ig_status expected;
    } cases[] = { { 20, IG_OK }, { 63, IG_OK }, { 64, IG_LIMIT }, { 3000, IG_LIMIT } };
    for (size_t i = 0; i < IG_COUNT_OF(cases); i++) {
        ig_str bytes = nested(&arena, cases[i].depth);
        ig_onnx_wire wire;
        start();
        CHECK_STATUS(ig_onnx_wire_walk(&context, &arena, "d.onnx", bytes,
                                       &onnx__graph_proto__descriptor, &wire),
                     cases[i].expected);
    }
    ig_arena_fini(&arena);
}
END_TEST

TEST(empty_messages_do_not_inflate_memory) {
    enum { COUNT = 4 << 20 };
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    char *bytes = ig_arena_alloc(&arena, 2 * COUNT + 16);
    size_t size = 0;
    bytes[size++] = 7 << 3 | 2; /* graph of COUNT empty initializers */
    for (size_t left = 2 * COUNT; left; left >>= 7) {
        bytes[size++] = (char)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
    }
    for (size_t i = 0; i < COUNT; i++) {
        bytes[size++] = 5 << 3 | 2;
        bytes[size++] = 0;
    }
    start();
    CHECK_STATUS(import_bytes((ig_str){ bytes, size }), IG_LIMIT);
    CHECK(context.budget.peak <= 64 * size + (64u << 20));
    ig_arena_fini(&arena);
}
END_TEST

static jmp_buf recovery;
static ig_module *half_made;

/* Importing under a limit either ends with a status or unwinds, and then what was made
 * can be destroyed. */
static bool import_within(ig_str bytes, size_t limit) {
    start();
    context.budget.limit = limit;
    context.budget.recovery = &recovery;
    half_made = NULL;
    if (setjmp(recovery)) {
        ig_module_destroy(half_made);
        return false;
    }
    ig_status status = ig_import_onnx_memory(&context, bytes, NULL, NULL, &half_made);
    CHECK_MSG(status == IG_OK || status == IG_LIMIT, "%s", ig_status_name(status));
    ig_module_destroy(half_made);
    return status == IG_OK;
}

TEST(exhausted_memory_unwinds_cleanly) {
    onnx_model m;
    small_model(&m);
    ig_str bytes = onnx_pack(&m);
    size_t failed = 0, limit = 8 << 10;
    for (; !import_within(bytes, limit); limit += 1 << 10) {
        failed++;
        CHECK(limit < 16 << 20);
    }
    CHECK(failed > 10);
    CHECK_INT(context.budget.used, 0);
    onnx_model_fini(&m);
}
END_TEST

UNIT_SUITE(onnx_wire, every_cut_is_refused_or_harmless, every_flipped_bit_is_survived,
           weights_stay_in_the_file, odd_wire_forms_are_given_apart, depth_is_bounded,
           empty_messages_do_not_inflate_memory, exhausted_memory_unwinds_cleanly)
