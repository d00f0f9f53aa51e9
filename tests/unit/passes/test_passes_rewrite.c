/* The rewrite engine and the pass manager.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/parse/read.h"
#include "passes/engine/manager.h"
#include "passes/engine/rewrite.h"

#include "tests/unit/unit.h"

#include <stdlib.h>

static ig_context context;
static char message[1024];
static ig_module *module;
static ig_graph *graph;
static ig_arena scratch;

static void note_message(void *user, const ig_diagnostic *diagnostic) {
    (void)user;
    ig_diagnostic_format(diagnostic, message, sizeof(message));
}

/* A graph @main with these lines, made of arguments x, y: f32[B]. */
static void start(const char *lines) {
    char text[2048];
    snprintf(text, sizeof(text),
             "module @m {\n  graph @main(%%x: f32[B], %%y: f32[B]) -> (f32[B]) {\n"
             "%s  }\n}\n",
             lines);
    message[0] = '\0';
    context = (ig_context){ .limits = ig_limits_default, .diag.sink = note_message };
    ig_arena_init(&scratch, NULL);
    CHECK_OK(ig_parse_module(&context, "test.ig", ig_str_of(text), &module));
    graph = ig_module_graph(module, "main");
}

static void finish(void) {
    ig_arena_fini(&scratch);
    ig_module_destroy(module);
}

static ig_status rewrite(const ig_rule *rules, size_t count, bool *out_changed) {
    ig_pass_options options = { 0 };
    ig_pass_run run = { .options = &options, .scratch = &scratch, .pass = "test" };
    ig_status status = ig_rewrite(&run, graph, rules, count);
    *out_changed = run.changed;
    return status;
}

static bool body_is(const char *lines) {
    ig_writer writer;
    ig_writer_init(&writer, &scratch);
    ig_print_graph(graph, &writer);
    const char *open = strstr(writer.data, "{\n");
    const char *close = open ? strstr(open, "}\n") : NULL;
    bool same = close && (size_t)(close - open - 2) == strlen(lines) &&
                memcmp(open + 2, lines, strlen(lines)) == 0;
    if (!same) {
        printf("got:\n%s\n", writer.data);
    }
    return same;
}

/* ---- the driver ---- */

static ig_value *neg_of_neg(ig_builder *b, ig_op *op) {
    (void)b;
    ig_op *inner = ig_def(op->operands[0].value, IG_OP_neg);
    return inner ? inner->operands[0].value : NULL;
}

/* sub(x, y) is add(x, neg(y)): makes new ops, which other rules must see. */
static ig_value *sub_is_add(ig_builder *b, ig_op *op) {
    ig_value *negative = ig_make1(b, IG_OP_neg, op->operands[1].value);
    return ig_make2(b, IG_OP_add, op->operands[0].value, negative);
}

static const ig_rule chain_rules[] = { RULE(neg, neg_of_neg), RULE(sub, sub_is_add) };

TEST(rules_see_what_rules_made) {
    bool changed;
    start("%0 = neg %y\n%1 = neg %0\n%2 = neg %1\n%3 = sub %x, %2\nret %3\n");
    CHECK_OK(rewrite(chain_rules, 2, &changed));
    CHECK(changed);
    CHECK(body_is("  %0 = add %x, %y : f32[B]\n  ret %0\n"));
    finish();
}

static ig_value *swap(ig_builder *b, ig_op *op) {
    return ig_make2(b, IG_OP_sub, op->operands[1].value, op->operands[0].value);
}

static const ig_rule endless_rules[] = { RULE(neg, neg_of_neg), RULE(sub, swap) };

TEST(rules_that_never_end_are_named) {
    bool changed;
    start("%0 = sub %x, %y\nret %0\n");
    CHECK_STATUS(rewrite(endless_rules, 2, &changed), IG_INTERNAL);
    CHECK_MSG(strstr(message, "rule swap of pass test"), "%s", message);
    finish();
}

/* ---- the manager ---- */

typedef struct record {
    char names[512];
    uint32_t last;
} record;

static void note_pass(void *user, const char *pass, uint32_t index,
                      const ig_module *seen) {
    record *r = (record *)user;
    CHECK_PTR(seen, module);
    CHECK_INT(index, r->last + 1);
    r->last = index;
    strncat(r->names, pass, sizeof(r->names) - strlen(r->names) - 2);
    strcat(r->names, " ");
}

static record run(const char *pipeline, const char *stop_after, ig_status expected) {
    record r = { .last = ig_passes_seen(module) };
    ig_pass_options options = { 0 };
    ig_pass_observer observer = { .after = note_pass,
                                  .user = &r,
                                  .stop_after = stop_after };
    CHECK_STATUS(ig_passes_run_observed(module, &options, pipeline, &observer),
                 expected);
    return r;
}

static const char *const two_rounds = "%0 = neg %x\n%1 = neg %0\nret %1\n";

TEST(groups_repeat_until_nothing_changes) {
    start(two_rounds);
    CHECK_TEXT(run("cse,(canonicalise, dce)*,infer", NULL, IG_OK).names,
               "cse canonicalise dce canonicalise dce infer ");
    CHECK_TEXT(run(" ", NULL, IG_OK).names, "");
    CHECK_TEXT(run("((dce)*,cse)*", NULL, IG_OK).names, "dce cse ");
    finish();
}

TEST(pipelines_stop_where_given) {
    start(two_rounds);
    CHECK_TEXT(run("cse,(canonicalise,dce)*,infer", "canonicalise", IG_OK).names,
               "cse canonicalise ");
    setenv("INGOT_STOP", "after:cse", 1);
    CHECK_TEXT(run("dce,cse,infer", NULL, IG_OK).names, "dce cse ");
    unsetenv("INGOT_STOP");
    setenv("INGOT_SKIP", "infer,cse", 1);
    CHECK_TEXT(run("dce,cse,infer", NULL, IG_OK).names, "dce ");
    unsetenv("INGOT_SKIP");
    finish();
}

TEST(pipelines_are_checked_before_anything_runs) {
    static const char *const bad[] = {
        "dce,nonsense", "dce,", "(dce",    "(dce)", "dce)",
        "dce cse",      ",",    "(dce)*x", "()*",   "((((((((((dce)*)*)*)*)*)*)*)*)*)*"
    };
    start(two_rounds);
    for (size_t i = 0; i < IG_COUNT_OF(bad); i++) {
        message[0] = '\0';
        CHECK_TEXT(run(bad[i], NULL, IG_INVALID).names, "");
        CHECK_MSG(strstr(message, "pipeline"), "%s", message);
    }
    finish();
}

TEST(cancelling_ends_a_pipeline) {
    start(two_rounds);
    atomic_store(&context.cancelled, true);
    CHECK_TEXT(run("dce", NULL, IG_CANCELLED).names, "");
    finish();
}

/* ---- the contract ---- */

static ig_status break_nothing(ig_pass_run *r, ig_graph *g) {
    (void)r;
    (void)g;
    return IG_OK;
}

static const ig_pass quiet_pass = { "quiet", "", IG_STAGE_TENSOR, (ig_stage)0,
                                    break_nothing };

TEST(a_pass_that_changes_silently_is_caught) {
    start(two_rounds);
    ig_manager manager = { .module = module, .debug = IG_DEBUG_VERIFY, .index = 7 };
    ig_pass_check before = ig_check_before(&manager, graph);
    CHECK_OK(ig_check_after(&manager, &quiet_pass, graph, &before, false));
    ig_op_move(graph->body.last->prev, &graph->body, NULL); /* also ends after ret */
    CHECK_OK(ig_check_after(&manager, &quiet_pass, graph, &before, true));
    CHECK_STATUS(ig_check_after(&manager, &quiet_pass, graph, &before, false),
                 IG_INTERNAL);
    CHECK_MSG(strstr(message, "pass quiet (number 7)"), "%s", message);
    CHECK_STATUS(ig_check_module(&manager, &quiet_pass), IG_INTERNAL);
    graph->stage = IG_STAGE_PLAN;
    CHECK_STATUS(ig_check_after(&manager, &quiet_pass, graph, &before, true),
                 IG_INTERNAL);
    finish();
}

TEST(round_trip_and_clone_are_checked) {
    start(two_rounds);
    setenv("INGOT_DEBUG", "verify,roundtrip,clone", 1);
    CHECK_TEXT(
        run(ig_pipeline_clean, NULL, IG_OK).names,
        "add_guards infer guards canonicalise fold cse dce infer guards canonicalise fold cse dce ");
    unsetenv("INGOT_DEBUG");
    finish();
}

TEST(words_of_a_list) {
    CHECK(ig_word_is_in("verify,dump", "dump"));
    CHECK(ig_word_is_in("dump", "dump"));
    CHECK(!ig_word_is_in("dumps,dum", "dump"));
    CHECK(!ig_word_is_in("", "dump"));
    CHECK(!ig_word_is_in(NULL, "dump"));
}

UNIT_SUITE(passes_rewrite, rules_see_what_rules_made, rules_that_never_end_are_named,
           groups_repeat_until_nothing_changes, pipelines_stop_where_given,
           pipelines_are_checked_before_anything_runs, cancelling_ends_a_pipeline,
           a_pass_that_changes_silently_is_caught, round_trip_and_clone_are_checked,
           words_of_a_list)
