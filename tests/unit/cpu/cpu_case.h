/* Kernels compiled and run in a test: one level, one graph, memory mapped as the
 * runtime maps it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the machine lacks a level, its code is made but cannot run: then the kernel
 * form that it is made of runs in the interpreter of kernel form, and the test counts
 * that the code did not run.  INGOT_TEST_LEVEL names the best level that is to run, so
 * that one can see what such a machine sees. */
#ifndef IG_TESTS_UNIT_CPU_CPU_CASE_H
#define IG_TESTS_UNIT_CPU_CPU_CASE_H

#include "base/platform/platform.h"
#include "codegen/cpu/level.h"
#include "codegen/cpu/provider.h"
#include "ingot/kernel.h"
#include "ingot_build_id.h"
#include "ir/interpret/kernel.h"
#include "passes/lower/kernel/kernel.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A context that prints its diagnostics, a module, and one backend. */
typedef struct cpu_case {
    ig_context context;
    ig_module *module;
    ig_target target;
    const ig_backend *backend;
    void *state;
    ig_arena arena;
    char last[65536]; /* the last diagnostic */
} cpu_case;

static inline void cpu_case_sink(void *user, const ig_diagnostic *diagnostic) {
    cpu_case *c = user;
    ig_diagnostic_format(diagnostic, c->last, sizeof(c->last));
}

static inline void cpu_case_open(cpu_case *c, const char *level) {
    *c = (cpu_case){ .context = { .limits = ig_limits_default },
                     .target = {
                         .name = level, .level = level, .family = IG_FAMILY_CPU } };
    c->context.diag = (ig_diag){ .sink = cpu_case_sink, .user = c };
    ig_arena_init(&c->arena, &c->context.budget);
    c->module = ig_module_create(&c->context, "test");
    c->backend = ig_provider_llvm(INGOT_BUILD_ID);
    CHECK(c->backend != NULL);
    CHECK_OK(c->backend->open(&c->context, &c->target, &c->state));
}

static inline void cpu_case_close(cpu_case *c) {
    c->backend->close(c->state);
    ig_module_destroy(c->module);
    ig_arena_fini(&c->arena);
}

/* Does the system save tiles' registers for this process, now that it is asked to? */
static inline bool cpu_may_use_tiles(void) {
    enum { ASK = 0x1023, TILES = 18 };
    return syscall(SYS_arch_prctl, ASK, TILES) == 0;
}

/* Has this machine `level`? */
static inline bool cpu_has_level(const char *level) {
    if (strcmp(level, "v2") == 0) {
        return __builtin_cpu_supports("sse4.2");
    }
    if (strcmp(level, "v3") == 0) {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    }
    bool is_v4 = __builtin_cpu_supports("avx512f") &&
                 __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") &&
                 __builtin_cpu_supports("avx512vl");
    bool is_vnni = is_v4 && __builtin_cpu_supports("avx512vnni");
    bool is_plain = strcmp(level, "v4") == 0;
    return is_plain ? is_v4
                    : is_vnni && (strcmp(level, "v4-vnni") == 0 || cpu_may_use_tiles());
}

static const char *const cpu_levels[] = { "v2", "v3", "v4", "v4-vnni", "v4-amx" };

static inline size_t cpu_level_index(const char *level) {
    size_t index = 0;
    while (index < IG_COUNT_OF(cpu_levels) && strcmp(cpu_levels[index], level) != 0) {
        index++;
    }
    CHECK_MSG(index < IG_COUNT_OF(cpu_levels), "no level '%s'", level);
    return index;
}

/* Can code of `level` run here? */
static inline bool cpu_level_runs(const char *level) {
    const char *max = getenv("INGOT_TEST_LEVEL");
    return cpu_has_level(level) &&
           (!max || cpu_level_index(level) <= cpu_level_index(max));
}

/* Is it the turn of cpu_levels[number], in a loop over all of them?  In a sample v3 has
 * always its turn, and each of the others in one loop of five. */
static inline bool cpu_level_is_due(size_t index) {
    static size_t loops;
    loops += index == 0;
    return !unit_is_sampled() || index == 1 || index == loops % IG_COUNT_OF(cpu_levels);
}

/* Counts, once in a test, that code of a level did not run, unless that was asked
 * for. */
static inline void cpu_note_missing(const char *level) {
    static bool is_noted[IG_COUNT_OF(cpu_levels)];
    bool *noted = &is_noted[cpu_level_index(level)];
    if (!*noted && !cpu_has_level(level)) {
        unit_skip_part("code for %s, which cannot run here: its kernel form was run",
                       level);
    }
    *noted = true;
}

/* An empty kernel with buffers of these dtypes, then i64 params; *out_b stands at its
 * end.  It still needs ig_make_ret. */
static inline ig_graph *cpu_case_kernel(cpu_case *c, const char *name,
                                        const ig_dtype *buffers, uint32_t buffer_count,
                                        uint32_t param_count, ig_builder *out_b) {
    ig_graph *kernel = ig_graph_create(c->module, name, IG_STAGE_KERNEL);
    for (uint32_t i = 0; i < buffer_count; i++) {
        ig_block_add_arg(&kernel->body, ig_type_buffer(c->module, buffers[i], 0, NULL),
                         NULL);
    }
    for (uint32_t i = 0; i < param_count; i++) {
        ig_block_add_arg(&kernel->body, ig_type_vector(c->module, IG_DT_i64, 1), NULL);
    }
    *out_b = ig_builder_at_end(&kernel->body);
    return kernel;
}

/* Code in memory, readable and executable. */
typedef struct cpu_code {
    ig_kernel_fn_v0 *entry;
    void *base;
    size_t size;
    const ig_graph *kernel; /* that it is made of */
    const char *level;
} cpu_code;

static inline cpu_code cpu_code_map(const ig_compiled_kernel *kernel) {
    cpu_code code = { .size = kernel->size };
    code.base = mmap(NULL, code.size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(code.base != MAP_FAILED);
    memcpy(code.base, kernel->bytes, kernel->size);
    CHECK_INT(mprotect(code.base, code.size, PROT_READ | PROT_EXEC), 0);
    char *address = (char *)code.base + kernel->entry;
    memcpy(&code.entry, &address, sizeof(code.entry));
    return code;
}

static inline void cpu_code_unmap(cpu_code *code) {
    munmap(code->base, code->size);
}

/* With INGOT_TEST_TIME set, prints how long it took. */
static inline cpu_code cpu_case_compile(cpu_case *c, const ig_graph *kernel) {
    ig_compiled_kernel compiled = { 0 };
    double start = ig_time_now();
    ig_status status = c->backend->compile(c->state, kernel, false, &c->arena,
                                           &compiled);
    CHECK_MSG(status == IG_OK, "%s: %s", ig_status_name(status), c->last);
    if (getenv("INGOT_TEST_TIME")) {
        printf("%-8s %-16s %5u ops %6zu bytes %7.2f ms\n", c->target.level,
               kernel->name, kernel->op_count, compiled.size,
               (ig_time_now() - start) * 1e3);
    }
    cpu_code code = cpu_code_map(&compiled);
    code.kernel = kernel;
    code.level = c->target.level;
    return code;
}

/* ---- calls ---- */

enum { CPU_BUFFERS = 256, CPU_SCRATCH = 1 << 20 };

static inline bool cpu_report_is_less(const ig_kernel_report_v0 *a,
                                      const ig_kernel_report_v0 *b) {
    return b->operand < 0 || a->operand < b->operand ||
           (a->operand == b->operand && a->position < b->position);
}

/* The same call in the interpreter of kernel form.  `bytes` (one a buffer) may be NULL:
 * then the ends of buffers are not checked. */
static inline void cpu_call_form(const ig_graph *kernel, const ig_kernel_call_v0 *call,
                                 const int64_t *bytes) {
    ig_kernel_buffer buffers[CPU_BUFFERS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < kernel->body.arg_count; i++) {
        if (kernel->body.args[i]->type->kind == IG_BUFFER) {
            CHECK(count < CPU_BUFFERS);
            buffers[count] = (ig_kernel_buffer){ .data = call->buffers[count],
                                                 .bytes = bytes ? bytes[count]
                                                                : INT64_MAX / 2 };
            count++;
        }
    }
    ig_kernel_call form = { .buffers = buffers,
                            .params = call->params,
                            .tile_begin = call->tile_begin,
                            .tile_end = call->tile_end,
                            .scratch_bytes = CPU_SCRATCH,
                            .threads = 1 };
    ig_status status = ig_interpret_kernel(kernel, &form);
    CHECK_MSG(status == IG_OK, "kernel form of '%s': %s", kernel->name,
              ig_status_name(status));
    ig_kernel_report_v0 report = { form.report_operand, form.report_position,
                                   form.report_value };
    if (form.reported && cpu_report_is_less(&report, call->report)) {
        *call->report = report;
    }
}

/* The code, or where it cannot run, its kernel form. */
static inline void cpu_code_call(const cpu_code *code, const ig_kernel_call_v0 *call) {
    if (cpu_level_runs(code->level)) {
        code->entry(call);
    } else {
        cpu_note_missing(code->level);
        cpu_call_form(code->kernel, call, NULL);
    }
}

/* The kernel as text of the wanted kind; the case's arena owns it. */
static inline const char *cpu_case_text(cpu_case *c, const ig_graph *kernel,
                                        ig_code_form what) {
    ig_writer writer;
    ig_writer_init(&writer, &c->arena);
    ig_status status = c->backend->emit(c->state, kernel, what, &writer);
    CHECK_MSG(status == IG_OK, "%s: %s", ig_status_name(status), c->last);
    return writer.data;
}

/* Compiles, runs all tiles once, drops the code; returns what was reported. */
static inline ig_kernel_report_v0 cpu_case_run(cpu_case *c, const ig_graph *kernel,
                                               void *const *buffers,
                                               const int64_t *params, int64_t tiles) {
    _Alignas(64) static char scratch[4096];
    ig_kernel_report_v0 report = { .operand = -1 };
    ig_kernel_call_v0 call = { .buffers = buffers,
                               .params = params,
                               .tile_end = tiles,
                               .scratch = scratch,
                               .report = &report };
    cpu_code code = cpu_case_compile(c, kernel);
    cpu_code_call(&code, &call);
    cpu_code_unmap(&code);
    return report;
}

#endif
