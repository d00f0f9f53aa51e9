/* Operators of a program that the user gives as graphs (compose/custom.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/torch/script_case.h"

#include "compose/custom.h"
#include "ir/parse/read.h"

static ig_module *functions;

static const char operators[] =
    "module @operators {\n"
    "  symbol M {min = 2}\n"
    "  graph @\"corp::scale\"(%x: f32[N], %by: i64[]) -> (f32[N]) {\n"
    "    ret %x\n"
    "  }\n"
    "  graph @\"corp::scale.rows\"(%x: f32[R, N], %by: i64[]) -> (f32[R, N]) {\n"
    "    %0 = cast %by {to = f32} : f32[]\n"
    "    %1 = mul %x, %0 : f32[R, N]\n"
    "    ret %1\n"
    "  }\n"
    "  graph @\"corp::both\"(%x: f32[R, M], %y: f32[R, M]) -> (f32[R, M], f32[R, M]) {\n"
    "    %0 = add %x, %y : f32[R, M]\n"
    "    %1 = sub %x, %y : f32[R, M]\n"
    "    ret %0, %1\n"
    "  }\n"
    "}\n";

static ig_status import_with(program *p, const char *body, const char *text) {
    char source[2000];
    snprintf(source, sizeof source,
             HEAD "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n%s",
             body);
    torch_entry entries[] = {
        { "m/data.pkl", { PICKLE, sizeof PICKLE - 1 } },
        { "m/constants.pkl", { "\200\002).", 4 } },
        { "m/code/__torch__.py", { source, strlen(source) } },
        { "m/version", { "3\n", 2 } },
    };
    ig_torchscript_argument argument = { "x", "f32[R, C]" };
    memset(p, 0, sizeof *p);
    torch_case_init(&p->c);
    IG_TRY(ig_parse_module(&p->c.context, "ops.ig", ig_str_of(text), &functions));
    IG_TRY(ig_custom_check_all(functions, "ops.ig"));
    ig_custom_functions all = { &functions, 1 };
    ig_torchscript_options options = { .arguments = &argument,
                                       .argument_count = 1,
                                       .functions = &all };
    ig_str zip = torch_zip(&p->c.arena, entries, IG_COUNT_OF(entries));
    return ig_import_torchscript_memory(&p->c.context, zip, "m.pt", &options,
                                        &p->module);
}

static void close_with(program *p) {
    if (functions) {
        ig_module_destroy(functions);
        functions = NULL;
    }
    close(p);
}

static const float x[4] = { 1, -2, 3, 4 };

TEST(takes_the_form_that_fits_and_numbers) {
    program p;
    const double expected[] = { 3, -6, 9, 12 };
    ig_status status = import_with(&p, "    return ops.corp.scale(x, 3)\n", operators);
    CHECK_MSG(status == IG_OK, "%s", p.c.why);
    run(&p, x);
    check(&p.outputs[0], expected, 4);
    close_with(&p);
}
END_TEST

TEST(results_are_unpacked_and_extents_guarded) {
    program p;
    /* x^T - x: extents R, C and C, R agree where the run has looked. */
    ig_status status = import_with(&p,
                                   "    a, b, = ops.corp.both(x, torch.t(x))\n"
                                   "    return torch.sub(a, torch.mul(x, 2))\n",
                                   operators);
    CHECK_MSG(status == IG_OK, "%s", p.c.why);
    const float skew[4] = { 1, -2, 4, 8 };
    run(&p, skew);
    check(&p.outputs[0], (double[]){ 0, 6, -6, 0 }, 4);
    close_with(&p);
}
END_TEST

TEST(no_form_and_no_operator) {
    program p;
    CHECK_STATUS(
        import_with(&p, "    return ops.corp.scale(torch.sum(x), 3)\n", operators),
        IG_INVALID);
    CHECK_MSG(strstr(p.c.why, "none of its forms"), "%s", p.c.why);
    close_with(&p);
    CHECK_STATUS(import_with(&p, "    return ops.corp.other(x)\n", operators),
                 IG_UNSUPPORTED);
    CHECK_MSG(strstr(p.c.why, "docs/custom-operators.md"), "%s", p.c.why);
    close_with(&p);
}
END_TEST

TEST(symbols_have_ranges_alone) {
    program p;
    CHECK_STATUS(import_with(&p, "    return x\n",
                             "module @m {\n"
                             "  symbol N {multiple = 4}\n"
                             "  graph @\"a::b\"(%x: f32[N]) -> (f32[N]) {\n"
                             "    ret %x\n  }\n}\n"),
                 IG_INVALID);
    CHECK_MSG(strstr(p.c.why, "only a min and a max"), "%s", p.c.why);
    close_with(&p);
}
END_TEST

UNIT_SUITE(torch_custom, takes_the_form_that_fits_and_numbers,
           results_are_unpacked_and_extents_guarded, no_form_and_no_operator,
           symbols_have_ranges_alone)
