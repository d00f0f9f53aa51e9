/* Shared by the writers of a plan: numbers of symbols, expressions and buffers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * plan_write.c writes declarations (symbols, buffers, constants, ports, guards);
 * plan_steps.c walks the ops that become steps.
 */
#ifndef IG_DRIVER_ARTIFACT_PLAN_STEPS_H
#define IG_DRIVER_ARTIFACT_PLAN_STEPS_H

#include "driver/artifact/plan_write.h"
#include "passes/place/part.h"

typedef struct ig_plan_build {
    ig_artifact_writer *w;
    const ig_plan_input *input;
    const ig_graph *graph; /* of the first level */
    ig_module *module;
    ig_arena *arena;
    ig_map symbol_of;                 /* the module's index -> number + 1 */
    ig_map buffer_of;                 /* root value -> buffer number + 1 */
    ig_map constant_of;               /* weight -> constant number + 1 */
    ig_map file_of;                   /* path -> file number + 1 */
    ig_map phase_reads, phase_writes; /* buffers, since the last barrier */
    ig_part_list phase_parts;         /* the writes since then */
    bool phase_open;
    ig_dim rows; /* symbol of the rows op whose body is written, or 0 */
} ig_plan_build;

/* ---- plan_write.c ---- */

ig_plan_text ig_plan_build_text(ig_plan_build *plan, const char *text);
uint32_t ig_plan_build_expr(ig_plan_build *plan, ig_dim dim);
uint32_t ig_plan_build_bytes(ig_plan_build *plan, ig_dim elements, ig_dtype dtype);
/* Number of the symbol with this index in the module. */
uint32_t ig_plan_build_symbol(ig_plan_build *plan, uint32_t index);
uint32_t ig_plan_build_buffer(ig_plan_build *plan, const ig_value *root);
/* Level graphs have modules of their own: their dims are taken over by name. */
ig_dim ig_plan_build_taken_over(ig_plan_build *plan, const ig_graph *from, ig_dim dim);
/* Is it known only while the program runs? */
bool ig_plan_build_is_late(ig_plan_build *plan, ig_dim dim);
uint32_t ig_plan_build_guard(ig_plan_build *plan, const ig_op *op, bool is_at_bind);

/* ---- plan_steps.c ---- */

/* Steps of the graphs of all levels, in step. */
void ig_plan_add_steps(ig_plan_build *plan);

#endif
