/* Values between inputs and outputs, and the pass that changed an answer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/defect.h"
#include "ingot/runtime.h"
#include "tests/unit/unit.h"

UNIT_WITH_LLVM

enum { COUNT = 8 };

/* A gelu as exporters write it out: recognised, it has other last bits.  The loop's
 * inner values are its own, and a constant is no value. */
static const char model[] =
    "module @m {\n"
    "  weight @calls : f32[] = 0.5\n"
    "  graph @main(%x: f32[B], %calls: f32[] = @calls)\n"
    "      -> (f32[B] \"y\", f32[B] \"r\", f32[]) {\n"
    "    %0 = const {value = 1.41421354} : f32[]\n"
    "    %1 = div %x, %0 : f32[B] \"scaled\" loc {node = \"scale\", op = \"Div\"}\n"
    "    %2 = erf %1 : f32[B] \"scaled\"\n"
    "    %3 = const {value = 1} : f32[]\n"
    "    %4 = add %2, %3 : f32[B]\n"
    "    %5 = mul %x, %4 : f32[B]\n"
    "    %6 = const {value = 0.5} : f32[]\n"
    "    %7 = mul %5, %6 : f32[B]\n"
    "    %8 = relu %x : f32[B]\n"
    "    %9 = add %calls, %3 : f32[]\n"
    "    ret %7, %8, %9\n"
    "  }\n"
    "}\n";

static float x[COUNT];
static int64_t dims[] = { COUNT };
static const ig_argument input = { .kind = IG_ARGUMENT_TENSOR,
                                   .dtype = "f32",
                                   .rank = 1,
                                   .dims = dims,
                                   .data = x,
                                   .size = sizeof x };

static ig_context *open_context(void) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_context *context = ig_context_create(&options);
    CHECK(context);
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(i * 13 % 7) / 3.0f - 0.9f;
    }
    return context;
}

static ig_module *import(ig_context *context) {
    ig_module *module = NULL;
    ig_status status = ig_import_memory(context, model, sizeof model - 1, NULL, NULL,
                                        &module);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(context));
    return module;
}

/* ---- values ---- */

TEST(values_are_listed_in_order) {
    static const struct {
        const char *name, *op, *source;
    } wanted[] = {
        { "scaled", "div", "'scale' (Div)" },
        { "scaled#2", "erf", "" },
        { "%4", "add", "" },
        { "%5", "mul", "" },
        { "%7", "mul", "" },
        { "%8", "relu", "" },
        { "%9", "add", "" },
    };
    ig_context *context = open_context();
    ig_module *module = import(context);
    const ig_inner_value *values;
    size_t count;
    CHECK(ig_module_values(module, &values, &count) == IG_OK);
    CHECK(count == IG_COUNT_OF(wanted));
    for (size_t i = 0; i < count; i++) {
        CHECK_MSG(strcmp(values[i].name, wanted[i].name) == 0, "%zu is called %s", i,
                  values[i].name);
        CHECK(strcmp(values[i].op, wanted[i].op) == 0);
        CHECK_MSG(strstr(values[i].source, wanted[i].source), "%zu is of %s", i,
                  values[i].source);
    }
    CHECK(strcmp(values[0].type, "f32[B]") == 0);
    ig_module_close(module);
    ig_context_destroy(context);
}

TEST(exposed_values_follow_the_outputs) {
    static const size_t chosen[] = { 1, 0 }, beyond[] = { 7 };
    ig_context *context = open_context();
    ig_module *module = import(context), *exposed = NULL;
    CHECK(ig_module_expose(module, chosen, 2, &exposed) == IG_OK);
    CHECK(ig_module_output_count(module) == 2 && ig_module_output_count(exposed) == 4);
    CHECK(strcmp(ig_module_output_name(exposed, 0), "y") == 0);
    CHECK(strcmp(ig_module_output_name(exposed, 2), "scaled#2") == 0);
    CHECK(strcmp(ig_module_output_name(exposed, 3), "scaled") == 0);
    const ig_argument *outputs;
    size_t count;
    CHECK(ig_interpret_run(exposed, &input, 1, &outputs, &count) == IG_OK);
    CHECK(count == 4);
    CHECK(((const float *)outputs[3].data)[1] == x[1] / 1.41421354f);
    ig_program *program = NULL;
    CHECK(ig_compile(exposed, NULL, &program) == IG_OK);
    CHECK(ig_program_output_count(program) == 4);
    CHECK(ig_program_state_count(program) == 1);
    ig_program_close(program);
    ig_module_close(exposed);
    CHECK(ig_module_expose(module, beyond, 1, &exposed) == IG_INVALID && !exposed);
    ig_module_close(module);
    ig_context_destroy(context);
}

/* ---- passes ---- */

typedef struct answers {
    float y[COUNT];
    int asked, wrong;
} answers;

/* Good answers are the same bits. */
static int judge(void *user, const ig_argument *outputs, size_t count) {
    answers *right = user;
    bool is_good = count == 2 && outputs[0].size == sizeof right->y &&
                   memcmp(outputs[0].data, right->y, sizeof right->y) == 0;
    right->asked++;
    right->wrong += !is_good;
    return is_good;
}

static int refuse_program(void *user, ig_program *program) {
    (void)user;
    (void)program;
    return 0;
}

static answers answers_of(ig_module *module) {
    answers right = { .asked = 0 };
    const ig_argument *outputs;
    size_t count;
    CHECK(ig_interpret_run(module, &input, 1, &outputs, &count) == IG_OK);
    memcpy(right.y, outputs[0].data, sizeof right.y);
    ig_interpret_reset(module);
    return right;
}

static ig_guilty_pass find_pass(ig_module *module, answers *right, const char *passes,
                                int (*program)(void *, ig_program *)) {
    ig_compile_options options = { .size = sizeof options, .passes = passes };
    ig_answer_judge judges = { sizeof judges, judge, program, right };
    ig_guilty_pass guilty = { .size = sizeof guilty };
    ig_status status = ig_module_bisect(module, &options, &input, 1, &judges, &guilty);
    CHECK(status == IG_OK);
    return guilty;
}

TEST(the_pass_that_changed_the_answer_is_named) {
    ig_context *context = open_context();
    ig_module *module = import(context);
    answers right = answers_of(module);
    ig_guilty_pass guilty = find_pass(module, &right, NULL, NULL);
    CHECK_MSG(strcmp(guilty.pass, "recognise_gelu") == 0, "%s", guilty.pass);
    CHECK(guilty.index > 1 && right.wrong > 0 && right.asked < 20);
    CHECK(strstr(guilty.before, "erf") && !strstr(guilty.before, "gelu"));
    CHECK(strstr(guilty.after, "gelu"));
    ig_module_close(module);
    ig_context_destroy(context);
}

TEST(a_model_read_wrong_is_given_from_its_passes) {
    ig_context *context = open_context();
    ig_module *module = import(context);
    answers right = answers_of(module);
    right.y[0] += 1;
    ig_guilty_pass guilty = find_pass(module, &right, NULL, NULL);
    CHECK_MSG(strcmp(guilty.pass, "import") == 0, "%s", guilty.pass);
    ig_module_close(module);
    ig_context_destroy(context);
}

TEST(no_pass_is_named_where_none_did) {
    ig_context *context = open_context();
    ig_module *module = import(context);
    answers right = answers_of(module);
    ig_guilty_pass guilty = find_pass(module, &right, "infer,cse,dce", refuse_program);
    CHECK_MSG(strcmp(guilty.pass, "") == 0, "%s", guilty.pass);
    ig_module_close(module);
    ig_context_destroy(context);
}

/* No state is bad, and the program is: what cannot be told apart is said. */
TEST(a_bad_program_of_good_passes_is_the_lowering) {
    static const char passes[] =
        "(infer,guards,canonicalise,fold,cse,dce)*,resolve_shapes,fuse,bufferise,order,lower";
    ig_context *context = open_context();
    ig_module *module = import(context);
    answers right = answers_of(module);
    ig_guilty_pass guilty = find_pass(module, &right, passes, refuse_program);
    CHECK_MSG(strcmp(guilty.pass, "lower") == 0 && guilty.others[0], "%s", guilty.pass);
    ig_module_close(module);
    ig_context_destroy(context);
}

UNIT_SUITE(api_defect, values_are_listed_in_order, exposed_values_follow_the_outputs,
           the_pass_that_changed_the_answer_is_named,
           a_model_read_wrong_is_given_from_its_passes, no_pass_is_named_where_none_did,
           a_bad_program_of_good_passes_is_the_lowering)
