/* Golden files mean what their input means: both graphs, run on the same values.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each graph of a case below tests/golden/passes is interpreted as it is and as its
 * pipeline leaves it, on extents and values that its name and the round's number say.
 * A plan is compiled for this machine and run.  What the input refuses (an id
 * out of range, extents that disagree) is not compared.
 */
#include "driver/host.h"
#include "ingot/ingot.h"
#include "ingot/runtime.h"
#include "ir/dim/dim.h"
#include "ir/interpret/interpret.h"
#include "ir/data.h"
#include "ir/tensor/tensor.h"
#include "tests/unit/passes/golden_case.h"

#include <math.h>

UNIT_WITH_LLVM

enum { ROUNDS = 2000, ENOUGH = 24, VALUES = 64 };

typedef struct meaning {
    golden_case file;
    char path[1024]; /* of the file, and the case */
    ig_context *context;
    ig_module *before, *after;
    ig_module *drawn; /* the input with its extents solved: whence they are drawn */
    ig_arena arena;   /* of a round */
    int64_t symbols[512];
    ig_tensor inputs[VALUES], expected[VALUES], got[VALUES];
    uint32_t input_count, output_count;
    ig_program *program; /* of a plan */
    ig_session *session;
} meaning;

static ig_module *import_input(meaning *m) {
    ig_module *module = NULL;
    ig_status status = ig_import_memory(m->context, m->file.text, strlen(m->file.text),
                                        m->path, NULL, &module);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(m->context));
    return module;
}

static void open_modules(meaning *m) {
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    m->context = ig_context_create(&options);
    CHECK_OK(ig_context_set_limit(m->context, "interpret_bytes", 8 << 20));
    CHECK_OK(ig_context_set_limit(m->context, "interpret_total", 64 << 20));
    m->before = import_input(m);
    m->after = import_input(m);
    ig_status status = ig_module_run(m->after, m->file.pipeline, m->file.target);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(m->context));
    m->drawn = import_input(m);
    if (ig_module_run(m->drawn, "unify", NULL) != IG_OK) {
        ig_module_close(m->drawn);
        m->drawn = import_input(m);
    }
    ig_arena_init(&m->arena, &m->context->budget);
}

static void close_modules(meaning *m) {
    ig_arena_fini(&m->arena);
    ig_module_close(m->before);
    ig_module_close(m->after);
    ig_module_close(m->drawn);
    ig_context_destroy(m->context);
}

/* ---- inputs ---- */

/* What a state begins with, as a session has it too. */
static void fill_state(meaning *m, const ig_graph *graph, uint32_t index,
                       ig_tensor *out) {
    const ig_weight *weight = ig_module_weight(m->before, graph->states[index]);
    CHECK_OK(ig_tensor_of_data(&weight->data, &m->arena, m->context, out));
}

static const golden_rule *find_rule(const meaning *m, const ig_value *argument) {
    for (uint32_t i = 0; i < m->file.rule_count; i++) {
        if (argument->name && strcmp(argument->name, m->file.rules[i].name) == 0) {
            return &m->file.rules[i];
        }
    }
    return NULL;
}

/* Elements of the input that a rule names, which may come later. */
static int64_t count_of(meaning *m, const ig_graph *drawn, const char *name) {
    int64_t count = 0;
    for (uint32_t i = 0; i < drawn->body.arg_count; i++) {
        const ig_value *argument = drawn->body.args[i];
        if (argument->name && strcmp(argument->name, name) == 0) {
            ig_dim elements = ig_type_count(m->drawn, argument->type);
            ig_dim_evaluate(m->drawn, elements, m->symbols, &count);
        }
    }
    return count;
}

/* The inputs of round `round`; false when these extents make no sense. */
static bool draw_inputs(meaning *m, const ig_graph *graph, const ig_graph *drawn,
                        uint32_t round) {
    uint64_t state = ig_hash_bytes(m->path + strlen(INGOT_SOURCE_DIR),
                                   strlen(m->path) - strlen(INGOT_SOURCE_DIR), round);
    for (uint32_t i = 0; i < ig_symbol_count(m->drawn); i++) {
        m->symbols[i] = golden_extent(ig_symbol_at(m->drawn, i), &state);
    }
    m->input_count = graph->body.arg_count;
    for (uint32_t i = 0; i < m->input_count; i++) {
        const ig_type *type = drawn->body.args[i]->type;
        if (i + graph->state_count >= m->input_count) {
            fill_state(m, graph, i + graph->state_count - m->input_count,
                       &m->inputs[i]);
            continue;
        }
        int64_t dims[IG_TENSOR_RANK];
        for (uint32_t d = 0; d < type->rank; d++) {
            if (!ig_dim_evaluate(m->drawn, type->dims[d], m->symbols, &dims[d]) ||
                dims[d] < 0) {
                return false;
            }
        }
        CHECK_OK(ig_tensor_alloc(&m->arena, NULL, (ig_dtype)type->dtype, type->rank,
                                 dims, &m->inputs[i]));
        const golden_rule *rule = find_rule(m, drawn->body.args[i]);
        if (rule) {
            golden_fill_rule(&m->inputs[i], rule, count_of(m, drawn, rule->of), &state);
        } else {
            golden_fill(&m->inputs[i], round % 2 ? LOWER_SPECIAL : LOWER_PLAIN,
                        (golden_integers)(round / 2 % GOLDEN_INTEGERS), &state);
        }
        if (m->file.within > 0.0 && ig_dtype_is_float((ig_dtype)type->dtype)) {
            golden_tame(&m->inputs[i]);
        }
    }
    return true;
}

/* ---- comparing ---- */

/* Compiled code rounds otherwise, and a zero may have another sign. */
static const double within_plans = 1e-6;

static bool is_same_number(const ig_tensor *want, const ig_tensor *got, int64_t i,
                           double within) {
    if (!ig_dtype_is_float(want->dtype)) {
        return ig_tensor_get_i64(want, i) == ig_tensor_get_i64(got, i);
    }
    double a = ig_tensor_get_f64(want, i), b = ig_tensor_get_f64(got, i);
    if (a == b) {
        return within > 0.0 || signbit(a) == signbit(b);
    }
    return (isnan(a) && isnan(b)) ||
           (isfinite(a) && fabs(a - b) <= within * fmax(1.0, fabs(a)));
}

/* What a difference came of, for whoever looks into it. */
static void show_inputs(const meaning *m) {
    for (uint32_t i = 0; i < m->input_count; i++) {
        const ig_tensor *tensor = &m->inputs[i];
        printf("  input %u: %s[", i, ig_dtypes[tensor->dtype].name);
        for (uint32_t d = 0; d < tensor->rank; d++) {
            printf("%s%lld", d ? ", " : "", (long long)tensor->dims[d]);
        }
        printf("] =");
        for (int64_t k = 0; k < tensor->count && k < 40; k++) {
            printf(" %.9g", ig_tensor_get_f64(tensor, k));
        }
        printf("\n");
    }
    fflush(stdout);
}

static void compare(const meaning *m, const char *graph, const ig_tensor *want,
                    const ig_tensor *got) {
    CHECK_MSG(want->kind == got->kind && want->dtype == got->dtype &&
                  want->rank == got->rank && want->count == got->count,
              "%s: @%s gives another type", m->path, graph);
    for (int64_t i = 0; want->kind != IG_TENSOR && i < want->count; i++) {
        compare(m, graph, &want->items[i], &got->items[i]);
    }
    for (uint32_t d = 0; d < want->rank; d++) {
        CHECK_MSG(want->dims[d] == got->dims[d], "%s: @%s has extent %lld, not %lld",
                  m->path, graph, (long long)got->dims[d], (long long)want->dims[d]);
    }
    double within = m->program ? fmax(m->file.within, within_plans) : m->file.within;
    for (int64_t i = 0; want->kind == IG_TENSOR && i < want->count; i++) {
        bool is_same = is_same_number(want, got, i, within);
        if (!is_same) {
            show_inputs(m);
        }
        CHECK_MSG(is_same, "%s: @%s [%lld] is %.9g, not %.9g", m->path, graph,
                  (long long)i, ig_tensor_get_f64(got, i), ig_tensor_get_f64(want, i));
    }
}

/* ---- plans ---- */

/* What is no entry has no memory of a caller. */
static void leave_entries(ig_graph *graph) {
    graph->is_entry = false;
    if (graph->body.last && graph->body.last->code == IG_OP_ret) {
        ig_attr_set(graph->body.last, IG_ret_in_place, (ig_attr){ 0 });
    }
}

/* The plan of one graph, compiled: the others are no entries for that long. */
static void compile_plan(meaning *m, const char *name) {
    ig_module *module = import_input(m);
    for (size_t i = 0; i < module->graphs.count; i++) {
        ig_graph *graph = module->graphs.items[i];
        if (!graph->is_entry || strcmp(graph->name, name) != 0) {
            leave_entries(graph);
        }
    }
    char passes[512];
    snprintf(passes, sizeof passes, "%s%s%s", m->file.pipeline, m->file.then ? "," : "",
             m->file.then ? m->file.then : "");
    ig_compile_options options = { .size = sizeof options,
                                   .target = m->file.target,
                                   .passes = passes };
    ig_status status = ig_compile(module, &options, &m->program);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(m->context));
    CHECK_OK(ig_session_create(m->program, NULL, &m->session));
    ig_module_close(module);
}

static void close_plan(meaning *m) {
    ig_session_destroy(m->session);
    ig_program_close(m->program);
    m->session = NULL;
    m->program = NULL;
}

static ig_status run_plan(meaning *m, uint32_t states) {
    ig_view in[VALUES] = { { .data = NULL } }, out[VALUES] = { { .data = NULL } };
    uint32_t inputs = m->input_count - states, outputs = m->output_count - states;
    for (uint32_t i = 0; i < inputs; i++) {
        const ig_tensor *tensor = &m->inputs[i];
        in[i] = (ig_view){ .data = tensor->data, .rank = tensor->rank };
        in[i].dtype = ig_dtype_number(ig_dtypes[tensor->dtype].name);
        memcpy(in[i].dims, tensor->dims, tensor->rank * sizeof *tensor->dims);
    }
    ig_session_reset(m->session);
    ig_session_weights_changed(m->session); /* the same memory for other numbers */
    IG_TRY(ig_session_run(m->session, in, inputs, out, outputs));
    for (uint32_t i = 0; i < outputs; i++) {
        m->got[i] = m->expected[i];
        m->got[i].data = out[i].data;
        m->got[i].rank = out[i].rank;
        m->got[i].count = 1;
        memcpy(m->got[i].dims, out[i].dims, out[i].rank * sizeof *out[i].dims);
        for (uint32_t d = 0; d < out[i].rank; d++) {
            m->got[i].count *= out[i].dims[d];
        }
    }
    m->output_count = outputs;
    return IG_OK;
}

/* ---- one graph ---- */

static bool has_loop(const ig_block *block) {
    for (const ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->body_count; i++) {
            if (op->code == IG_OP_loop || has_loop(op->bodies[i])) {
                return true;
            }
        }
    }
    return false;
}

/* Runs both on one round's values; false when the input refuses them. */
static bool run_round(meaning *m, const ig_graph *before, const ig_graph *after) {
    m->output_count = before->body.last->operand_count;
    if (ig_interpret(before, m->inputs, &m->arena, m->expected) != IG_OK) {
        return false;
    }
    ig_status status = m->program ? run_plan(m, before->state_count)
                                  : ig_interpret(after, m->inputs, &m->arena, m->got);
    if (status != IG_OK && m->file.may_refuse) {
        return true;
    }
    CHECK_MSG(status == IG_OK, "%s: @%s fails where the input does not: %s%s", m->path,
              before->name, ig_context_messages(m->context),
              m->session ? ig_session_error(m->session) : "");
    for (uint32_t i = 0; i < m->output_count; i++) {
        compare(m, before->name, &m->expected[i], &m->got[i]);
    }
    return true;
}

static void check_graph(meaning *m, const ig_graph *before) {
    const ig_graph *after = ig_module_graph(m->after, before->name);
    const ig_graph *drawn = ig_module_graph(m->drawn, before->name);
    CHECK_MSG(after && drawn && after->body.arg_count == before->body.arg_count &&
                  drawn->body.arg_count == before->body.arg_count,
              "%s: @%s takes other arguments", m->path, before->name);
    bool is_slow = has_loop(&before->body); /* with 2^63 trips */
    uint32_t runs = 0;
    if (after->stage == IG_STAGE_PLAN || m->file.then) {
        compile_plan(m, before->name);
    }
    for (uint32_t round = 0; round < ROUNDS && runs < ENOUGH; round++) {
        bool is_wild = round / 2 % GOLDEN_INTEGERS == GOLDEN_RANDOM;
        if (!(is_slow && is_wild) && draw_inputs(m, before, drawn, round)) {
            runs += run_round(m, before, after);
        }
        ig_arena_fini(&m->arena);
        ig_arena_init(&m->arena, &m->context->budget);
    }
    close_plan(m);
    CHECK_MSG(runs > 0, "%s: no values that were drawn run @%s: %s", m->path,
              before->name, ig_context_messages(m->context));
}

START_TEST(golden_files_mean_what_their_input_means) {
    static meaning m;
    char *text = NULL;
    golden_find(_i, m.path, sizeof m.path, &text);
    golden_case_read(&m.file, text);
    if (m.file.has_errors || m.file.not_run) {
        return;
    }
    CHECK_MSG(m.file.pipeline, "%s has no '# run:' line", m.path);
    open_modules(&m);
    for (size_t i = 0; i < m.before->graphs.count; i++) {
        const ig_graph *graph = m.before->graphs.items[i];
        if (graph->is_entry && graph->stage == IG_STAGE_TENSOR) {
            check_graph(&m, graph);
        }
    }
    close_modules(&m);
}
END_TEST

TEST(golden_files_are_found) {
    CHECK(golden_find(-1, NULL, 0, NULL) > 100);
}
END_TEST

static void add_files(TCase *tcase) {
    setenv("INGOT_PROVIDER_DIR", INGOT_BINARY_DIR, 1);
    tcase_add_loop_test(tcase, golden_files_mean_what_their_input_means, 0,
                        golden_find(-1, NULL, 0, NULL));
}

UNIT_SUITE_WITH(golden_meaning, add_files, golden_files_are_found)
