/* Programs whose inputs have sums as extents, as a host program sees them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/ingot.h"
#include "ingot/runtime.h"
#include "tests/unit/unit.h"

UNIT_WITH_LLVM

/* No input has the extent B, L or A; C is an input's. */
static const char text[] =
    "module @m {\n"
    "  symbol B {max = 4}\n"
    "  symbol A {min = 1, max = 3}\n"
    "  graph @main(%x: f32[2*B], %y: f32[4*L + 3], %z: f32[C + 2*A], %c: f32[C])\n"
    "      -> (f32[B] \"pairs\", f32[L, 4] \"fours\", f32[2*A] \"tail\") {\n"
    "    %0 = reshape %x {to = [B, 2]} : f32[B, 2]\n"
    "    %1 = reduce %0 {axes = [1]} : f32[B]\n"
    "    %2 = slice %y {starts = [3], sizes = [4*L]} : f32[4*L]\n"
    "    %3 = reshape %2 {to = [L, 4]} : f32[L, 4]\n"
    "    %4 = slice %z {starts = [C], sizes = [2*A]} : f32[2*A]\n"
    "    ret %1, %3, %4\n"
    "  }\n"
    "}\n";

enum { INPUTS = 4, OUTPUTS = 3, LONGEST = 16 };

typedef struct call {
    ig_context *context;
    ig_module *module;
    ig_program *program;
    ig_session *session;
    float numbers[LONGEST], got[OUTPUTS][LONGEST];
} call;

static call open_call(void) {
    call c = { 0 };
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    c.context = ig_context_create(&options);
    ig_status status = ig_import_memory(c.context, text, strlen(text), NULL, NULL,
                                        &c.module);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(c.context));
    status = ig_compile(c.module, NULL, &c.program);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(c.context));
    CHECK_OK(ig_session_create(c.program, NULL, &c.session));
    for (int i = 0; i < LONGEST; i++) {
        c.numbers[i] = (float)(i + 1);
    }
    return c;
}

static void close_call(call *c) {
    ig_session_destroy(c->session);
    ig_program_close(c->program);
    ig_module_close(c->module);
    ig_context_destroy(c->context);
}

static ig_view view_of(float *data, int64_t extent) {
    return (ig_view){ .data = data,
                      .capacity = LONGEST * sizeof(float),
                      .dtype = IG_F32,
                      .rank = 1,
                      .dims = { extent } };
}

static ig_status run(call *c, const int64_t extents[INPUTS], ig_view out[OUTPUTS]) {
    ig_view in[INPUTS];
    for (int i = 0; i < INPUTS; i++) {
        in[i] = view_of(c->numbers, extents[i]);
    }
    for (int i = 0; i < OUTPUTS; i++) {
        out[i] = view_of(c->got[i], LONGEST);
        out[i].rank = i == 1 ? 2 : 1;
    }
    return ig_session_run(c->session, in, INPUTS, out, OUTPUTS);
}

TEST(what_sums_are_made_of_follows_from_them) {
    call c = open_call();
    ig_view out[OUTPUTS];
    CHECK_MSG(run(&c, (int64_t[]){ 6, 11, 5, 1 }, out) == IG_OK, "%s",
              ig_session_error(c.session));
    CHECK_INT(out[0].dims[0], 3);
    CHECK_INT(out[1].dims[0], 2);
    CHECK_INT(out[2].dims[0], 4);
    CHECK(c.got[0][2] == 11);
    CHECK(c.got[1][7] == 11);
    CHECK(c.got[2][3] == 5);
    CHECK_OK(run(&c, (int64_t[]){ 0, 3, 2, 0 }, out)); /* nothing, and the least A */
    CHECK_INT(out[0].dims[0], 0);
    CHECK_INT(out[1].dims[0], 0);
    CHECK(c.got[2][1] == 2);
    close_call(&c);
}

/* One extent is wrong, and the message is of it. */
TEST(extents_that_no_sum_has_are_refused_in_words) {
    static const struct {
        int64_t extents[INPUTS];
        const char *words;
    } cases[] = {
        { { 5, 3, 2, 0 }, "dim 0 of input 'x' is 5; it must be a multiple of 2" },
        { { 10, 3, 2, 0 }, "dim 0 of input 'x' is 10; it must be from 0 to 8" },
        { { 2, 5, 2, 0 }, "dim 0 of input 'y' must be 4*L + 3" },
        { { 2, 2, 2, 0 }, "dim 0 of input 'y' is 2; it must be from 3" },
        { { 2, 3, 4, 3 }, "dim 0 of input 'z' must be 2*A + C" }, /* A a half */
        { { 2, 3, 3, 3 }, "dim 0 of input 'z' must be 2*A + C" }, /* A = 0 */
        { { 2, 3, 9, 1 }, "dim 0 of input 'z' must be 2*A + C" }, /* A = 4 */
    };
    call c = open_call();
    ig_view out[OUTPUTS];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_INT(run(&c, cases[i].extents, out), IG_INVALID);
        const char *got = ig_session_error(c.session);
        CHECK_MSG(strstr(got, cases[i].words), "case %zu: %s", i, got);
    }
    close_call(&c);
}

/* What the product is made of is no number of it alone. */
TEST(extents_that_say_too_little_are_refused_in_words) {
    static const char product[] = "module @m {\n"
                                  "  graph @main(%x: f32[2*B], %y: f32[C*D, B])\n"
                                  "      -> (f32[C*D, B] \"y\") {\n"
                                  "    %0 = relu %y : f32[C*D, B]\n"
                                  "    ret %0\n"
                                  "  }\n"
                                  "}\n";
    ig_module *module = NULL;
    ig_program *program = NULL;
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_context *context = ig_context_create(&options);
    CHECK_OK(ig_import_memory(context, product, strlen(product), NULL, NULL, &module));
    CHECK_INT(ig_compile(module, NULL, &program), IG_UNSUPPORTED);
    CHECK_TEXT(ig_context_messages(context),
               "dim 0 of input 'y' is C*D, which no extents of inputs tell");
    ig_module_close(module);
    ig_context_destroy(context);
}

UNIT_SUITE(compiled_extents, what_sums_are_made_of_follows_from_them,
           extents_that_no_sum_has_are_refused_in_words,
           extents_that_say_too_little_are_refused_in_words)
