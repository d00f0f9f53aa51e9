/* Small artifacts for tests of the runtime, made by the driver's writer in memory from
 * kernels of tests/unit/kernels/.  SPDX-License-Identifier: Apache-2.0
 *
 *     rt_case *c = rt_begin();
 *     uint32_t batch = rt_symbol(c, "B", 0, 0);
 *     uint32_t n = RT_EXPR(c, RT_SYM(batch));
 *     uint32_t x = rt_input(c, "x", IG_F32, 1, &n);
 *     uint32_t y = rt_output(c, "y", IG_F32, 1, &n);
 *     rt_launch(c, "scale", RT_OPERANDS(c, RT_AT(y), RT_AT(x)), params, n, IG_NONE);
 *     ig_program *program = rt_open(c, NULL);
 */
#ifndef IG_TESTS_UNIT_RUNTIME_RUNTIME_CASE_H
#define IG_TESTS_UNIT_RUNTIME_RUNTIME_CASE_H

#include "driver/artifact/write.h"
#include "ingot/runtime.h"

enum { RT_KERNELS = 16, RT_LEVELS = 4 };

/* The least level of the family of this build. */
#if defined(__aarch64__)
#define RT_FAMILY IG_FAMILY_NAME_ARM64
#define RT_LEVEL "neon"
#define RT_ENTRY_PLAN IG_ENTRY_PLAN "-" IG_FAMILY_NAME_ARM64
#else
#define RT_FAMILY IG_FAMILY_NAME_CPU
#define RT_LEVEL "v2"
#define RT_ENTRY_PLAN IG_ENTRY_PLAN
#endif

typedef struct rt_case {
    ig_arena arena;
    ig_artifact_writer w;
    ig_artifact_kernel kernels[RT_LEVELS][RT_KERNELS];
    void *bytes; /* the container, once it was packed */
    size_t size;
    char why[256];
} rt_case;

/* A case with one level, RT_LEVEL. */
rt_case *rt_begin(void);
void rt_end(rt_case *c);

/* ---- expressions ---- */

#define RT_SYM(symbol) \
    { IG_CODE_SYMBOL, (symbol) }
#define RT_INT(value) \
    { IG_CODE_CONST, (value) }
#define RT_OP(name) \
    { IG_CODE_##name, 0 }
#define RT_EXPR(c, ...)                                              \
    ig_artifact_expr(&(c)->w, (const ig_plan_code[]){ __VA_ARGS__ }, \
                     sizeof((const ig_plan_code[]){ __VA_ARGS__ }) / \
                         sizeof(ig_plan_code))
/* Expression numbers as a range of lists. */
#define RT_LIST(c, ...)                                          \
    ig_artifact_list(&(c)->w, (const uint32_t[]){ __VA_ARGS__ }, \
                     sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))
#define RT_NO_LIST ((ig_plan_range){ 0, 0 })

uint32_t rt_symbol(rt_case *c, const char *name, uint32_t input, uint32_t axis);
uint32_t rt_late_symbol(rt_case *c, const char *name);
uint32_t rt_rows_symbol(rt_case *c, const char *name);

/* ---- ports and buffers; each gives the number of its buffer ---- */

uint32_t rt_input(rt_case *c, const char *name, uint32_t dtype, uint32_t rank,
                  const uint32_t *dims);
/* An output with a buffer of its own, or (rt_output_of) one that stands in `buffer`. */
uint32_t rt_output(rt_case *c, const char *name, uint32_t dtype, uint32_t rank,
                   const uint32_t *dims);
void rt_output_of(rt_case *c, const char *name, uint32_t dtype, uint32_t rank,
                  const uint32_t *dims, uint32_t buffer);
uint32_t rt_constant(rt_case *c, const char *name, const void *data, size_t size);
uint32_t rt_buffer(rt_case *c, uint32_t space, uint32_t bytes, uint32_t first,
                   uint32_t last);

/* ---- steps ---- */

ig_plan_operand rt_operand(uint32_t buffer);
ig_plan_range rt_operands(rt_case *c, const ig_plan_operand *operands, size_t count);
#define RT_OPERANDS(c, ...)                                        \
    rt_operands((c), (const ig_plan_operand[]){ __VA_ARGS__ },     \
                sizeof((const ig_plan_operand[]){ __VA_ARGS__ }) / \
                    sizeof(ig_plan_operand))
#define RT_AT(buffer) rt_operand(buffer)

/* A step with every optional field absent. */
ig_plan_step rt_step(rt_case *c, ig_step_kind kind, const char *name);
/* Appends it and returns its number. */
uint32_t rt_push(rt_case *c, ig_plan_step step);
/* A launch; grid and cost are expressions or IG_NONE.  Returns the step's number. */
uint32_t rt_launch(rt_case *c, const char *kernel, ig_plan_range operands,
                   ig_plan_range params, uint32_t grid, uint32_t cost);
/* The variant that was pushed last. */
ig_plan_variant *rt_variant(rt_case *c);
/* The number of kernel `name` (a file of tests/unit/kernels), loaded at first use. */
uint32_t rt_kernel(rt_case *c, const char *name);
void rt_guard(rt_case *c, uint32_t left, uint32_t right, const char *message);

/* ---- opening ---- */

/* Packs the container into c->bytes. */
void rt_pack(rt_case *c);
/* Packs and opens; fails the test when that fails. */
ig_program *rt_open(rt_case *c, const ig_program_options *options);
/* Opens `size` bytes; words go to c->why. */
ig_status rt_try_open(rt_case *c, const void *bytes, size_t size,
                      ig_program **out_program);

/* y = x * 2 for f32[B, 16], cut into tiles of 16 elements, each said to cost `cost`
 * ns. */
rt_case *rt_scale_case(int64_t cost);

/* ---- views ---- */

ig_view rt_view(void *data, int32_t dtype, int64_t rows); /* rank 1 */
ig_view rt_view2(void *data, int32_t dtype, int64_t rows, int64_t columns);
ig_view rt_room(void *data, size_t capacity);

#endif
