/* Lowering: one compute op of the plan becomes one kernel and its launch.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A compute op names a family ("gemm", "bag", "map" …).  The family's schedule builds a
 * kernel graph: buffer arguments first, one an operand of the launch in order, then i64
 * params, which the runtime computes from dim expressions when shapes are bound.
 * Schedules are per family of targets (cpu/, gpu/); everything in this header is
 * shared.
 */
#ifndef IG_PASSES_LOWER_LOWER_H
#define IG_PASSES_LOWER_LOWER_H

#include "ir/families.h"
#include "passes/lower/kernel/kernel.h"
#include "passes/engine/pass.h"

/* An operand of the launch as its kernel sees it. */
typedef struct ig_lower_operand {
    ig_value *buffer;      /* &dtype, at the operand's first element */
    const ig_type *type;   /* dtype and dims */
    const ig_dim *strides; /* in elements, one a dim */
} ig_lower_operand;

typedef struct ig_lower {
    ig_module *module;
    const ig_pass_options *options;
    const ig_target *target;
    ig_arena *arena; /* dies with this launch's lowering */
    ig_op *compute;  /* the op to lower */
    ig_block *body;  /* the computation; its arguments are the inputs */
    ig_lower_operand *ins, *outs;
    uint32_t in_count, out_count;
    ig_graph *kernel;
    ig_builder b; /* at the end of the kernel */
    ig_map param_of, constant_of;
    IG_VEC(ig_dim) params;
    const char *name;       /* of the kernel, without its number; set by the family */
    IG_VEC(ig_dim) ranges;  /* launch.ranges: what reported operands must be */
    IG_VEC(ig_dim) offsets; /* launch.offsets: the same of offsets */
    bool wraps;             /* ranges begin at -high */
    ig_dim grid;            /* number of tiles; set by the family */
    ig_dim cost;            /* rough ns on one core; 0: unknown */
    int64_t scratch;        /* bytes a worker */
    int64_t threads;        /* GPU: of a tile's block; 0 on CPUs */
    bool shares_strides;    /* strides are params: shapes share the kernel */
} ig_lower;

typedef ig_status (*ig_lower_fn)(ig_lower *lower);

/* Has the target a schedule for this family? */
bool ig_lower_has_family(const ig_target *target, ig_kernel_family family);
ig_lower_fn ig_lower_schedule(const ig_target *target, ig_kernel_family family);

/* Strides of a plan value: row-major, or what its view op says. */
const ig_dim *ig_lower_strides(ig_arena *arena, const ig_value *value);
/* Row-major strides of a type. */
const ig_dim *ig_lower_row_major(ig_arena *arena, ig_module *module,
                                 const ig_type *type);

/* A dim as an i64 of the kernel: a constant, or a param. */
ig_value *ig_lower_dim(ig_lower *lower, ig_dim dim);
/* Always a param, so that kernels of one schedule are shared by all shapes. */
ig_value *ig_lower_param(ig_lower *lower, ig_dim dim);
/* A new run of params that k_param_at can index; returns the first. */
ig_value *ig_lower_param_array(ig_lower *lower, const ig_dim *dims, uint32_t count);
/* Says, for error messages, that ids of an operand must be 0 <= x < high, or -high <= x
 * when they wrap; all of a kernel do or none. */
void ig_lower_range(ig_lower *lower, int64_t operand, ig_dim high, bool wraps);
/* The same of offsets, which never wrap. */
void ig_lower_offsets(ig_lower *lower, int64_t operand, ig_dim high);
/* Vector lanes of `dtype` on the target; 1 on GPUs, where lanes are threads. */
uint32_t ig_lower_lanes(const ig_lower *lower, ig_dtype dtype);
/* Lines of a tile: the given number for a worker of a CPU, one for a GPU's thread. */
int64_t ig_lower_tile(const ig_lower *lower, int64_t lines);
ig_dim ig_lower_ceil_div(ig_lower *lower, ig_dim a, int64_t b);
ig_dim ig_lower_mul(ig_lower *lower, ig_dim a, ig_dim b);
/* The operand's step along `axis`, whose extent in the result is `whole`: 0 where it is
 * the same for the whole axis, which the run may learn. */
ig_dim ig_lower_batch_stride(ig_lower *lower, const ig_lower_operand *x, uint32_t axis,
                             ig_dim whole);
/* "This form of the op has no kernel yet": UNSUPPORTED with the op's location. */
ig_status ig_lower_unsupported(ig_lower *lower, const char *what);

/* ---- the body at one place of its iteration space ---- */

/* The position of the code being emitted.  Indices are i64, one per dim of the space;
 * lanes run along the last one. */
typedef struct ig_site {
    ig_builder *b;
    uint32_t lanes;
    uint32_t rank;
    const ig_dim *dims; /* extents of the space */
    ig_value *const *index;
    ig_value *count; /* lanes that count, or NULL for all */
    ig_map *values;  /* body value -> kernel value; preset with anchors' results */
} ig_site;

/* The kernel value of a body value: loads inputs with broadcasting, emits elementwise
 * ops.  Every other op's results must be preset. */
ig_value *ig_lower_value(ig_lower *lower, const ig_site *site, const ig_value *value);
/* Stores the body's yields to the destinations. */
void ig_lower_store_yields(ig_lower *lower, const ig_site *site);
/* The same where the body's anchor gives `value`; site.values is not read. */
void ig_lower_store_anchor(ig_lower *lower, ig_site site, const ig_op *anchor,
                           ig_value *value);
/* Can every input of the body be loaded `lanes` at a time along the last dim of a space
 * with these dims (by strides of 1 or 0, which the run may choose)? */
bool ig_lower_is_vectorizable(ig_lower *lower, uint32_t rank, const ig_dim *dims);
/* Where a launch's operand begins, as far as a schedule may know: ig_compute_key holds
 * it.  Weights, and buffers of CPU sessions, begin at a cache line's begin; what the
 * caller gives begins at any element. */
typedef enum ig_root {
    IG_ROOT_unknown, /* an operand of a body */
    IG_ROOT_buffer,
    IG_ROOT_weight,
    IG_ROOT_port
} ig_root;

typedef struct ig_lower_start {
    ig_root root;
    int64_t even; /* elements: a power of two that divides its offset, 256 at most */
} ig_lower_start;

ig_lower_start ig_lower_start_of(const ig_value *operand);
/* GPUs: does each row begin at a multiple of `lanes` elements, of 16 bytes at most?
 * Weights are at multiples of 256 bytes, other buffers of the session and ports in the
 * GPU's memory at multiples of 16. */
bool ig_lower_has_even_rows(const ig_lower *lower, const ig_lower_operand *x,
                            uint32_t lanes);
/* The value that the launch is given for an operand. */
const ig_value *ig_lower_operand_value(const ig_lower *lower,
                                       const ig_lower_operand *operand);
/* The stride of an operand along dim `d` of a space, with broadcasting. */
ig_dim ig_lower_step(ig_lower *lower, const ig_lower_operand *operand, uint32_t rank,
                     const ig_dim *dims, uint32_t d);
/* The element of an operand at a site, an i64. */
ig_value *ig_lower_element(ig_lower *lower, const ig_site *site,
                           const ig_lower_operand *operand);
/* Load of one operand at a site, with broadcasting; exposed for schedules. */
ig_value *ig_lower_load(ig_lower *lower, const ig_site *site,
                        const ig_lower_operand *operand);
/* One elementwise op on kernel values: casts narrow floats around it, expands math. */
ig_value *ig_lower_scalar(ig_builder *b, const ig_op *op, ig_value *const *operands);

#endif
