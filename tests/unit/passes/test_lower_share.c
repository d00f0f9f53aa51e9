/* Which computes have one kernel: those that say the same of other values, and no
 * others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/parse/read.h"
#include "passes/lower/share.h"
#include "tests/unit/unit.h"

typedef struct share_case {
    ig_context context;
    ig_arena arena;
    ig_module *module;
    char why[512];
} share_case;

static void keep_words(void *user, const ig_diagnostic *diagnostic) {
    share_case *c = user;
    snprintf(c->why, sizeof c->why, "%s", diagnostic->message);
}

static void open_case(share_case *c, const char *text) {
    *c = (share_case){ .context.limits = ig_limits_default };
    c->context.diag.sink = keep_words;
    c->context.diag.user = c;
    ig_arena_init(&c->arena, NULL);
    ig_status status = ig_parse_module(&c->context, "test", ig_str_of(text),
                                       &c->module);
    CHECK_MSG(status == IG_OK, "%s", c->why);
}

static void close_case(share_case *c) {
    ig_module_destroy(c->module);
    ig_arena_fini(&c->arena);
}

/* Each line is a compute of the plan below; the first is like no other but `same`. */
static const char *const computes[] = {
    "compute %x, %0 {family = \"map\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %r = relu %a : f32[B, 4]\n  yield %r\n}\n",
    /* another op, another family */
    "compute %x, %0 {family = \"map\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %r = neg %a : f32[B, 4]\n  yield %r\n}\n",
    "compute %x, %0 {family = \"copy\", outs = 1} (%a: f32[B, 4]) {\n  yield %a\n}\n",
    /* another extent, another dtype */
    "compute %y, %1 {family = \"map\", outs = 1} (%a: f32[C, 4]) {\n"
    "  %r = relu %a : f32[C, 4]\n  yield %r\n}\n",
    "compute %h, %2 {family = \"map\", outs = 1} (%a: f16[B, 4]) {\n"
    "  %r = relu %a : f16[B, 4]\n  yield %r\n}\n",
    /* other strides of what is read, and of what is written */
    "compute %3, %0 {family = \"map\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %r = relu %a : f32[B, 4]\n  yield %r\n}\n",
    "compute %x, %4 {family = \"map\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %r = relu %a : f32[B, 4]\n  yield %r\n}\n",
    /* memory of another kind, and another begin in memory of the same kind */
    "compute %0, %6 {family = \"map\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %r = relu %a : f32[B, 4]\n  yield %r\n}\n",
    "compute %7, %0 {family = \"map\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %r = relu %a : f32[B, 4]\n  yield %r\n}\n",
    "compute %8, %0 {family = \"map\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %r = relu %a : f32[B, 4]\n  yield %r\n}\n",
    /* the same op of two values, in each order and of one value twice */
    "compute %x, %z, %0 {family = \"map\", outs = 1} (%a: f32[B, 4], %b: f32[B, 4]) {\n"
    "  %r = sub %a, %b : f32[B, 4]\n  yield %r\n}\n",
    "compute %x, %z, %0 {family = \"map\", outs = 1} (%a: f32[B, 4], %b: f32[B, 4]) {\n"
    "  %r = sub %b, %a : f32[B, 4]\n  yield %r\n}\n",
    "compute %x, %z, %0 {family = \"map\", outs = 1} (%a: f32[B, 4], %b: f32[B, 4]) {\n"
    "  %r = sub %a, %a : f32[B, 4]\n  yield %r\n}\n",
    /* other constants: numbers, lists, and what is one number but not the same */
    "compute %x, %0 {family = \"map\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %k = const {value = 2} : f32[]\n  %r = mul %a, %k : f32[B, 4]\n  yield %r\n}\n",
    "compute %x, %0 {family = \"map\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %k = const {value = 3} : f32[]\n  %r = mul %a, %k : f32[B, 4]\n  yield %r\n}\n",
    "compute %x, %0 {family = \"map\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %k = const {value = [1, 2, 3, 4]} : f32[4]\n  %r = mul %a, %k : f32[B, 4]\n"
    "  yield %r\n}\n",
    "compute %x, %0 {family = \"map\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %k = const {value = [1, 2, 3, 5]} : f32[4]\n  %r = mul %a, %k : f32[B, 4]\n"
    "  yield %r\n}\n",
    /* attributes: a number, a flag, a list, a name, a dtype */
    "compute %x, %0 {family = \"softmax\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %r = softmax %a {axis = 0} : f32[B, 4]\n  yield %r\n}\n",
    "compute %x, %0 {family = \"softmax\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %r = softmax %a {axis = 1} : f32[B, 4]\n  yield %r\n}\n",
    "compute %x, %0 {family = \"softmax\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %r = softmax %a {axis = 1, log} : f32[B, 4]\n  yield %r\n}\n",
    "compute %x, %5 {family = \"reduce\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %r = reduce %a {op = max, axes = [1]} : f32[B]\n  yield %r\n}\n",
    "compute %x, %5 {family = \"reduce\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %r = reduce %a {op = min, axes = [1]} : f32[B]\n  yield %r\n}\n",
    "compute %x, %0 {family = \"softmax\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %r = layer_norm %a {axis = 1, epsilon = 1e-05} : f32[B, 4]\n  yield %r\n}\n",
    "compute %x, %0 {family = \"softmax\", outs = 1} (%a: f32[B, 4]) {\n"
    "  %r = layer_norm %a {axis = 1, epsilon = 1e-06} : f32[B, 4]\n  yield %r\n}\n",
};

/* The first compute again, of other values and under other names. */
static const char same[] =
    "compute %z, %6 {family = \"map\", outs = 1} (%any: f32[B, 4]) {\n"
    "  %other = relu %any : f32[B, 4]\n  yield %other\n}\n";

static const char plan_begin[] =
    "module @m {\n  plan @main(%x: f32[B, 4], %y: f32[C, 4], %z: f32[B, 4], "
    "%h: f16[B, 4], %w: f32[B, 8]) -> (&f32[B, 4] \"o\") {\n"
    "%0 = alloc : &f32[B, 4]\n%1 = alloc : &f32[C, 4]\n%2 = alloc : &f16[B, 4]\n"
    "%3 = view %w {offset = 0, strides = [8, 1]} : &f32[B, 4]\n"
    "%t = alloc : &f32[4, B]\n"
    "%4 = view %t {offset = 0, strides = [1, B]} : &f32[B, 4]\n"
    "%5 = alloc : &f32[B]\n%6 = alloc : &f32[B, 4]\n"
    "%7 = view %w {offset = 1, strides = [8, 1]} : &f32[B, 4]\n"
    "%8 = view %w {offset = 2, strides = [8, 1]} : &f32[B, 4]\n";

static const char plan_end[] = "ret %0\n  }\n}\n";

TEST(computes_that_say_the_same_have_one_key) {
    enum { COUNT = IG_COUNT_OF(computes) + 1 };
    char text[16384];
    size_t size = (size_t)snprintf(text, sizeof text, "%s", plan_begin);
    for (size_t i = 0; i < COUNT; i++) {
        const char *compute = i + 1 < COUNT ? computes[i] : same;
        size += (size_t)snprintf(text + size, sizeof text - size, "%s", compute);
    }
    snprintf(text + size, sizeof text - size, "%s", plan_end);
    share_case c;
    open_case(&c, text);
    ig_str keys[COUNT];
    size_t count = 0;
    const ig_graph *plan = ig_module_graph(c.module, "main");
    for (const ig_op *op = plan->body.first; op; op = op->next) {
        if (op->code == IG_OP_compute) {
            CHECK(count < COUNT);
            keys[count++] = ig_compute_key(op, &c.arena);
        }
    }
    CHECK_INT(count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < i; k++) {
            bool is_same = i + 1 == COUNT && k == 0;
            CHECK_MSG(ig_str_equal(keys[i], keys[k]) == is_same, "computes %zu and %zu",
                      k, i);
        }
    }
    close_case(&c);
}
END_TEST

/* ---- kernels ---- */

#define KERNEL(name, op, at)                                                     \
    "  kernel @" name "(%x: &f32, %y: &f32) {\n    %i = const {value = " at "} " \
    ": i64\n    %a = load %x, %i : f32\n    %b = " op                            \
    " %a : f32\n    store %b, %y, %i\n    ret\n  }\n"

TEST(kernels_that_are_equal_are_one) {
    share_case old, new;
    open_case(&old, "module @m {\n" KERNEL("known", "neg", "0") KERNEL("op", "abs", "0")
                        KERNEL("place", "neg", "1") "}\n");
    open_case(&new, "module @m {\n" KERNEL("k", "neg", "0") KERNEL("l", "sqrt", "0")
                        KERNEL("m", "sqrt", "0") KERNEL("n", "neg", "2") "}\n");
    ig_kernel_share share;
    ig_kernel_share_init(&share, old.module, &old.arena);
    ig_graph *kernels[4];
    for (int i = 0; i < 4; i++) {
        kernels[i] = new.module->graphs.items[i];
    }
    CHECK_PTR(ig_kernel_share_find(&share, kernels[0]),
              ig_module_graph(old.module, "known"));
    CHECK_PTR(ig_kernel_share_find(&share, kernels[1]), NULL);
    CHECK_PTR(ig_kernel_share_find(&share, kernels[2]), kernels[1]);
    CHECK_PTR(ig_kernel_share_find(&share, kernels[3]), NULL);
    close_case(&new);
    close_case(&old);
}
END_TEST

/* What is kept is a copy: the lists of the launch it was made of may go. */
TEST(a_kept_launch_owns_its_lists) {
    share_case c;
    open_case(&c, "module @m {\n" KERNEL("known", "neg", "0") "}\n");
    ig_kernel_share share;
    ig_kernel_share_init(&share, c.module, &c.arena);
    ig_dim dims[] = { ig_dim_of(3), ig_dim_of(5) };
    ig_launch_attrs launch = { .kernel = "known", .grid = ig_dim_of(7) };
    launch.params.items = dims;
    launch.params.count = 2;
    ig_str key = ig_str_of("key"), other = ig_str_of("kez");
    CHECK_PTR(ig_kernel_share_launch(&share, key), NULL);
    ig_kernel_share_keep(&share, key, &launch);
    dims[0] = dims[1] = ig_dim_of(9);
    const ig_launch_attrs *kept = ig_kernel_share_launch(&share, key);
    CHECK(kept && kept != &launch);
    CHECK_INT(kept->params.count, 2);
    CHECK(ig_dim_is(kept->params.items[0], 3) && ig_dim_is(kept->params.items[1], 5));
    CHECK(!kept->ranges.items && ig_dim_is(kept->grid, 7));
    CHECK_PTR(ig_kernel_share_launch(&share, other), NULL);
    close_case(&c);
}
END_TEST

UNIT_SUITE(lower_share, computes_that_say_the_same_have_one_key,
           kernels_that_are_equal_are_one, a_kept_launch_owns_its_lists)
