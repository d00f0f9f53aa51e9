/* Recognised composites compute what the ops written out do: each graph of the golden
 * files is interpreted before and after, on random and on special values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/interpret/interpret.h"
#include "ir/tensor/tensor.h"
#include "ir/parse/read.h"
#include "passes/engine/pass.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>

enum { TEXT_MAX = 1 << 16, INPUTS_MAX = 8, OUTPUTS_MAX = 4, GRAPHS_MAX = 8 };

/* The module of a golden case FILE:CASE, without what it expects. */
static ig_str read_golden(const char *name) {
    static char text[TEXT_MAX];
    char path[512], heading[128];
    const char *colon = strchr(name, ':');
    snprintf(path, sizeof(path), "%s/tests/golden/passes/recognise/%.*s.ig",
             INGOT_SOURCE_DIR, (int)(colon - name), name);
    snprintf(heading, sizeof(heading), "# ---- %s ----\n", colon + 1);
    FILE *file = fopen(path, "rb");
    CHECK_MSG(file, "%s cannot be read", path);
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    char *found = strstr(text, heading);
    CHECK_MSG(found, "%s has no case %s", path, colon + 1);
    char *start = strstr(found, "module"), *end = strstr(found, "# expect");
    CHECK_MSG(start && end, "%s is no golden case", name);
    *end = 0;
    return ig_str_of(start);
}

/* ---- inputs ---- */

typedef struct value_set {
    const char *name;
    double special; /* in every fifth element */
    bool is_huge;   /* what is written out may overflow where the composite does not */
} value_set;

static const value_set value_sets[] = {
    { "random", 0.25, false },     { "zero", -0.0, false },
    { "inf", INFINITY, false },    { "-inf", -INFINITY, false },
    { "nan", (double)NAN, false }, { "tiny", 1e-40, false },
    { "large", 1e18, false },      { "huge", 3e38, true },
};

static uint64_t random_state;

static double random_number(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 40) / (1 << 22) - 2;
}

static int64_t extent_of(ig_module *module, ig_dim dim) {
    int64_t extent;
    if (ig_dim_known(dim, &extent)) {
        return extent;
    }
    const ig_symbol *symbol = ig_dim_as_symbol(module, dim);
    return symbol->name[0] == 'T' ? 5 : 3;
}

static ig_tensor make_input(ig_module *module, const ig_type *type, ig_arena *arena,
                            const value_set *set) {
    ig_tensor tensor;
    int64_t dims[IG_TENSOR_RANK];
    for (uint32_t d = 0; d < type->rank; d++) {
        dims[d] = extent_of(module, type->dims[d]);
    }
    CHECK_OK(
        ig_tensor_alloc(arena, NULL, (ig_dtype)type->dtype, type->rank, dims, &tensor));
    for (int64_t i = 0; i < tensor.count; i++) {
        double value = i % 5 == 3 ? set->special : random_number();
        if (type->dtype == IG_DT_bool) {
            ig_tensor_set_i64(&tensor, i, i >= 5 && value > -1); /* row 0: no key */
        } else {
            ig_tensor_set_f64(&tensor, i, value);
        }
    }
    return tensor;
}

/* ---- comparing ---- */

/* Of huge values a norm's squares overflow when they are written out. */
static bool is_comparable(ig_opcode code, const value_set *set) {
    return code != IG_OP_layer_norm || !set->is_huge;
}

static bool is_close(double got, double expected, const value_set *set) {
    if (isnan(got) || isnan(expected)) {
        return isnan(expected) && (isnan(got) || set->is_huge);
    }
    if (isinf(expected) || isinf(got)) {
        return got == expected || (isinf(expected) && set->is_huge);
    }
    return fabs(got - expected) <= 1e-6 + 1e-5 * fabs(expected);
}

static void check_output(const ig_tensor *got, const ig_tensor *expected,
                         const char *name, const value_set *set) {
    CHECK_INT(got->count, expected->count);
    for (int64_t i = 0; i < got->count; i++) {
        double a = ig_tensor_get_f64(got, i), b = ig_tensor_get_f64(expected, i);
        CHECK_MSG(is_close(a, b, set), "@%s, %s, element %lld: %g, expected %g", name,
                  set->name, (long long)i, a, b);
    }
}

static void check_graph(ig_module *before, ig_module *after, const char *name,
                        const value_set *set) {
    ig_tensor inputs[INPUTS_MAX], expected[OUTPUTS_MAX], got[OUTPUTS_MAX];
    const ig_graph *graph = ig_module_graph(before, name);
    ig_arena arena;
    ig_arena_init(&arena, NULL);
    random_state = 7;
    CHECK(graph->body.arg_count <= INPUTS_MAX);
    CHECK(graph->body.last->operand_count <= OUTPUTS_MAX);
    for (uint32_t i = 0; i < graph->body.arg_count; i++) {
        inputs[i] = make_input(before, graph->body.args[i]->type, &arena, set);
    }
    CHECK_OK(ig_interpret(graph, inputs, &arena, expected));
    CHECK_OK(ig_interpret(ig_module_graph(after, name), inputs, &arena, got));
    for (uint32_t i = 0; i < graph->body.last->operand_count; i++) {
        check_output(&got[i], &expected[i], name, set);
    }
    ig_arena_fini(&arena);
}

static uint32_t count_ops(const ig_module *module, ig_opcode code) {
    uint32_t count = 0;
    for (size_t i = 0; i < module->graphs.count; i++) {
        const ig_graph *graph = module->graphs.items[i];
        for (const ig_op *op = graph->body.first; op; op = op->next) {
            count += op->code == code;
        }
    }
    return count;
}

static void check_file(const char *file, ig_opcode code, uint32_t op_count) {
    static const char passes[] =
        "recognise_gelu,recognise_norm,recognise_attention,recognise_dequantise,dce";
    ig_context context = { .limits = ig_limits_default };
    ig_str text = read_golden(file);
    ig_module *before, *after;
    CHECK_OK(ig_parse_module(&context, "before", text, &before));
    CHECK_OK(ig_parse_module(&context, "after", text, &after));
    CHECK_OK(ig_passes_run(after, &(ig_pass_options){ 0 }, passes));
    CHECK_INT(count_ops(after, code), op_count);
    for (size_t i = 0; i < before->graphs.count; i++) {
        const char *name = before->graphs.items[i]->name;
        for (size_t k = 0; k < IG_COUNT_OF(value_sets); k++) {
            if (is_comparable(code, &value_sets[k])) {
                check_graph(before, after, name, &value_sets[k]);
            }
        }
    }
    ig_module_destroy(before);
    ig_module_destroy(after);
}

TEST(gelu_by_erf_computes_the_same) {
    check_file("gelu:erf", IG_OP_gelu, 5);
}

TEST(gelu_by_tanh_computes_the_same) {
    check_file("gelu:tanh", IG_OP_gelu, 3);
}

TEST(layer_norms_compute_the_same) {
    check_file("norm:layer_norm", IG_OP_layer_norm, 3);
}

TEST(rms_norms_compute_the_same) {
    check_file("norm:rms", IG_OP_layer_norm, 3);
}

TEST(attention_computes_the_same) {
    check_file("attention:attention_of_products", IG_OP_attention, 3);
}

TEST(masked_attention_computes_the_same) {
    check_file("attention:masks", IG_OP_attention, 3);
}

TEST(attention_with_masks_in_other_places_computes_the_same) {
    check_file("attention:places", IG_OP_attention, 5);
}

TEST(dequantize_computes_the_same) {
    check_file("dequantise:forms", IG_OP_dequantize, 6);
}

UNIT_SUITE(passes_recognise, gelu_by_erf_computes_the_same,
           gelu_by_tanh_computes_the_same, layer_norms_compute_the_same,
           rms_norms_compute_the_same, attention_computes_the_same,
           masked_attention_computes_the_same,
           attention_with_masks_in_other_places_computes_the_same,
           dequantize_computes_the_same)
