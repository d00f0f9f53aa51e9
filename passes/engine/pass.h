/* Passes and their contracts.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A pass is one file and one row of passes.def.  It works on one graph, sets
 * run->changed when it changed it, and leaves no state in the IR.  The manager checks
 * the contract (manager.h): the graph verifies at its stage, a pass that claims
 * "unchanged" left the structural hash alone, analyses it says it keeps are kept.
 */
#ifndef IG_PASSES_ENGINE_PASS_H
#define IG_PASSES_ENGINE_PASS_H

#include "ir/build/build.h"
#include "ir/target.h"

/* The caller's options, the same for every pass of a pipeline. */
typedef struct ig_pass_options {
    const ig_target *target; /* NULL: interpret */
    bool torch_empty;        /* an empty bag is 0 in every pooling mode, as in torch */
    bool clamp_ids;          /* ids out of range are clamped instead of reported */
    bool tf32;               /* GPUs may round factors of f32 products to tf32 */
    bool winograd;           /* convolutions may be conv_winograd */
    bool lacks_f16c;         /* a level that shares the weights has no f16 conversion */
    bool has_vnni;           /* one of these has an instruction for dot4 */
    const char *open_weights; /* names "a,b" that open_weights opens; NULL: all that
                               * training changes */
} ig_pass_options;

/* Words of INGOT_DEBUG; "help" explains them. */
typedef enum ig_debug {
    IG_DEBUG_VERIFY = 1 << 0,    /* check each pass's contract (on in debug builds) */
    IG_DEBUG_DUMP = 1 << 1,      /* write NN-pass.ig after each pass */
    IG_DEBUG_ROUNDTRIP = 1 << 2, /* print and parse after each pass, and compare */
    IG_DEBUG_CLONE = 1 << 3,     /* clone after each pass, and compare */
    IG_DEBUG_TIME = 1 << 4,      /* print the time of each pass */
    IG_DEBUG_RULES = 1 << 5,     /* print how often each rule fired */
    IG_DEBUG_GDB = 1 << 6,       /* of the driver and the runtime: no pass reads it */
} ig_debug;

typedef struct ig_pass_run {
    const ig_pass_options *options;
    ig_arena *scratch; /* emptied after the pass */
    bool changed;      /* out */
    const char *pass;  /* its name */
    uint32_t debug;    /* ig_debug bits */
} ig_pass_run;

typedef struct ig_pass {
    const char *name, *help;
    uint32_t stages;      /* ig_stage bits it may run on */
    ig_stage stage_after; /* 0: the same */
    ig_status (*run)(ig_pass_run *run, ig_graph *graph);
} ig_pass;

/* The passes themselves. */
#define PASS(name, stages, stage_after, help) \
    ig_status ig_pass_##name(ig_pass_run *run, ig_graph *graph);
#include "passes/engine/passes.def"
#undef PASS

/* NULL-name-terminated, in the order of passes.def. */
extern const ig_pass ig_passes[];

/* How many passes have run on the module. */
uint32_t ig_passes_seen(const ig_module *module);

/* Are the pipeline's text and every name in it good?  Reports, with the place in it. */
ig_status ig_check_pipeline(ig_diag *diag, const char *pipeline);
/* Runs a pipeline such as "fold,cse,dce,(fuse,dce)*,lower" on every entry graph of the
 * module.  ( )* repeats until nothing changes, bounded. */
ig_status ig_passes_run(ig_module *module, const ig_pass_options *options,
                        const char *pipeline);
/* The same, calling `after` (may be NULL) when each pass is done: dumps, --after. */
typedef struct ig_pass_observer {
    void (*after)(void *user, const char *pass, uint32_t index,
                  const ig_module *module);
    void *user;
    const char *stop_after; /* or NULL */
} ig_pass_observer;
ig_status ig_passes_run_observed(ig_module *module, const ig_pass_options *options,
                                 const char *pipeline,
                                 const ig_pass_observer *observer);

/* The default pipelines. */
extern const char
    ig_pipeline_clean[]; /* after import: what dump --stage tensor shows */
extern const char ig_pipeline_understand[]; /* bags, interaction, composites */
extern const char ig_pipeline_branches[];   /* in front of understand, of training */
extern const char ig_pipeline_grad[];       /* after ig_gradients */
extern const char ig_pipeline_place[];      /* fuse … bufferise: the plan */
extern const char ig_pipeline_lower[];      /* launches to kernels */
extern const char ig_pipeline_sanitize[];   /* kernels check their accesses */

#endif
