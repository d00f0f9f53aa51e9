/* Code against its kernel form: both run the plan and must give the same bits.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter of kernel form checks each access, so what code would touch beyond
 * its buffers fails here.
 */
#ifndef IG_TESTS_UNIT_CPU_LOWER_FORM_H
#define IG_TESTS_UNIT_CPU_LOWER_FORM_H

#include "tests/unit/cpu/lower_plan.h"

static inline int lower_count_in(const ig_block *block, ig_opcode code) {
    int count = 0;
    for (const ig_op *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->body_count; i++) {
            count += lower_count_in(op->bodies[i], code);
        }
        count += op->code == code;
    }
    return count;
}

/* Ops of all kernels. */
static inline int lower_count(const lower_case *c, ig_opcode code) {
    int count = 0;
    for (size_t i = 0; i < c->module->graphs.count; i++) {
        const ig_graph *graph = c->module->graphs.items[i];
        bool is_kernel = graph->stage == IG_STAGE_KERNEL;
        count += is_kernel ? lower_count_in(&graph->body, code) : 0;
    }
    return count;
}

static inline bool lower_has(const lower_case *c, ig_opcode code) {
    return lower_count(c, code) > 0;
}

/* Of the code for `text` at level v2. */
static inline int lower_count_of(const char *text, const int64_t *extents,
                                 ig_opcode code) {
    lower_case c;
    lower_open(&c, "v2", text, extents, 2);
    lower_passes(&c);
    int count = lower_count(&c, code);
    lower_close(&c);
    return count;
}

/* What code and kernel form may differ in: v2 rounds a muladd twice; and which of two
 * zeros min, max and relu choose is not defined (ir/semantics/scalar.def). */
typedef struct lower_freedom {
    bool is_rounded_twice, has_any_zero;
} lower_freedom;

static inline lower_freedom lower_freedom_of(const lower_case *c) {
    bool is_v2 = strcmp(c->cpu.target.level, "v2") == 0;
    return (lower_freedom){ .is_rounded_twice = is_v2 && lower_has(c, IG_OP_muladd),
                            .has_any_zero = lower_has(c, IG_OP_min) ||
                                            lower_has(c, IG_OP_max) ||
                                            lower_has(c, IG_OP_relu) ||
                                            lower_has(c, IG_OP_hreduce) };
}

/* Equal bits, or two NaNs. */
static inline bool lower_same_bits(const ig_tensor *a, const ig_tensor *b, int64_t i,
                                   bool has_any_zero) {
    int64_t size = ig_dtypes[a->dtype].bits / 8;
    if (memcmp((const char *)a->data + i * size, (const char *)b->data + i * size,
               (size_t)size) == 0) {
        return true;
    }
    double x = ig_tensor_get_f64(a, i), y = ig_tensor_get_f64(b, i);
    return ig_dtype_is_float(a->dtype) &&
           ((isnan(x) && isnan(y)) || (has_any_zero && x == 0 && y == 0));
}

/* Code has run; its kernel form must give the same, and touch nothing else. */
static inline void lower_check_form(lower_case *c) {
    ig_tensor code[16];
    ig_kernel_report_v0 report = c->report;
    memcpy(code, c->got, sizeof code);
    uint32_t launches = c->launches, outputs = lower_launch_some(c, true);
    CHECK_INT(c->report.operand, report.operand);
    CHECK_INT(c->report.position, report.position);
    CHECK_INT(c->report.value, report.value);
    lower_freedom freedom = lower_freedom_of(c);
    for (uint32_t i = 0; i < outputs && !freedom.is_rounded_twice; i++) {
        for (int64_t k = 0; k < code[i].count; k++) {
            CHECK_MSG(lower_same_bits(&code[i], &c->got[i], k, freedom.has_any_zero),
                      "%s: output %u [%lld]: code gives %a, its kernel form %a",
                      c->cpu.target.level, i, (long long)k,
                      ig_tensor_get_f64(&code[i], k), ig_tensor_get_f64(&c->got[i], k));
        }
    }
    memcpy(c->got, code, sizeof code);
    c->launches = launches;
}

enum { LOWER_LITTLE = 200000 };

/* Interprets, lowers, runs; results are in expected and got. */
static inline uint32_t lower_run(lower_case *c) {
    lower_interpret(c);
    lower_passes(c);
    uint32_t outputs = lower_launch_all(c);
    if (!c->runs_form && lower_work(c) <= LOWER_LITTLE) {
        lower_check_form(c);
    }
    return outputs;
}

#endif
