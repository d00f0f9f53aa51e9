/* A tensor graph run twice: by the interpreter, and through the passes, the CPU's
 * schedules and the code generator; and both compared.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TESTS_UNIT_CPU_LOWER_CASE_H
#define IG_TESTS_UNIT_CPU_LOWER_CASE_H

#include "tests/unit/cpu/lower_form.h"

/* Relative RMS of floats within `bound`; everything else equal. */
static inline void lower_match(lower_case *c, uint32_t outputs, double bound) {
    CHECK_INT(c->report.operand, -1);
    for (uint32_t i = 0; i < outputs; i++) {
        double error = 0.0, size = 0.0;
        for (int64_t k = 0; k < c->expected[i].count; k++) {
            double want = ig_tensor_get_f64(&c->expected[i], k);
            double got = ig_tensor_get_f64(&c->got[i], k);
            bool is_same = want == got || (isnan(want) && isnan(got));
            bool is_number = isfinite(want) && isfinite(got);
            CHECK_MSG(is_same || is_number, "output %u [%lld]: %g, not %g", i,
                      (long long)k, got, want);
            error += is_same ? 0.0 : (got - want) * (got - want);
            size += is_number ? want * want : 0.0;
        }
        double rms = error == 0.0 ? 0.0 : sqrt(error / (size > 0.0 ? size : 1e-30));
        CHECK_MSG(rms <= bound, "output %u differs by %g", i, rms);
    }
}

static inline void lower_compare(lower_case *c, double bound) {
    lower_match(c, lower_run(c), bound);
}

/* Each element by itself: equal, or within `bound` of what it should be. */
static inline void lower_match_each(lower_case *c, uint32_t outputs, double bound) {
    CHECK_INT(c->report.operand, -1);
    for (uint32_t i = 0; i < outputs; i++) {
        bool is_float = ig_dtype_is_float(c->expected[i].dtype);
        for (int64_t k = 0; k < c->expected[i].count; k++) {
            double want = ig_tensor_get_f64(&c->expected[i], k);
            double got = ig_tensor_get_f64(&c->got[i], k);
            bool is_same = is_float ? want == got || (isnan(want) && isnan(got))
                                    : ig_tensor_get_i64(&c->expected[i], k) ==
                                          ig_tensor_get_i64(&c->got[i], k);
            bool is_near = is_float && isfinite(want) &&
                           fabs(got - want) <= bound * fabs(want);
            CHECK_MSG(is_same || is_near, "%s: output %u [%lld]: %g, not %g",
                      c->cpu.target.level, i, (long long)k, got, want);
        }
    }
}

/* Offsets (input 1) that are wrong at `position`, where they are `value`; a position of
 * -1: they are right.  Nothing outside is touched. */
static inline void lower_check_offsets(lower_case *c, const int64_t *offsets,
                                       int64_t position, int64_t value) {
    for (int64_t i = 0; i < c->inputs[1].count; i++) {
        ig_tensor_set_i64(&c->inputs[1], i, offsets[i]);
    }
    lower_passes(c);
    lower_launch_all(c); /* code */
    CHECK_INT(c->report.operand, position < 0 ? -1 : 1);
    if (position >= 0) {
        CHECK_INT(c->report.position, position);
        CHECK_INT(c->report.value, value);
    }
    lower_check_form(c);
}

/* Special values at every level; `prepare` (may be NULL) sets
 * inputs that need an order. */
static inline void lower_check_special(const char *text, const int64_t *extents,
                                       double bound, void (*prepare)(lower_case *c)) {
    for (size_t i = 0; i < IG_COUNT_OF(cpu_levels); i++) {
        if (!cpu_level_is_due(i)) {
            continue;
        }
        lower_case c;
        lower_open_values(&c, cpu_levels[i], text, extents, LOWER_SPECIAL, 0);
        if (prepare) {
            prepare(&c);
        }
        lower_match_each(&c, lower_run(&c), bound);
        lower_close(&c);
    }
}

/* One text at every level; `prepare` may set inputs first. */
static inline void lower_check_with(const char *text, const int64_t *extents,
                                    int64_t bound, void (*prepare)(lower_case *c)) {
    for (size_t i = 0; i < IG_COUNT_OF(cpu_levels); i++) {
        if (!cpu_level_is_due(i)) {
            continue;
        }
        lower_case c;
        lower_open(&c, cpu_levels[i], text, extents, bound);
        if (prepare) {
            prepare(&c);
        }
        lower_compare(&c, 1e-6);
        lower_close(&c);
    }
}

static inline void lower_check(const char *text, const int64_t *extents,
                               int64_t bound) {
    lower_check_with(text, extents, bound, NULL);
}

#endif
