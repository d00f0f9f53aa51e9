/* Post-training quantisation of products and convolutions with constant weights.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     layers.c    the ops that can be quantised, and their operands
 *     range.c     from observed values to a scale and a zero point
 *     weights.c   weights as 8-bit integers, activations smoothed into them
 *     insert.c    the ops of a quantised layer
 *     rows.c      rows of embedding tables
 *
 * A layer is an op at the top of the entry graph whose second operand is a constant
 * f32 matrix or kernel.  Layers and their inputs ("activations") are known by their
 * position, so that the same lists serve each copy of the graph.  The driver calibrates
 * and decides which layers stay real numbers.
 */
#ifndef IG_PASSES_QUANTISE_QUANTISE_H
#define IG_PASSES_QUANTISE_QUANTISE_H

#include "base/vec.h"
#include "ir/build/expr.h"
#include "ir/tensor/tensor.h"

enum { IG_QUANT_BINS = 2048 };
#define IG_QUANT_ARGUMENT UINT32_MAX /* a place: none of an op */

/* How a range is chosen from the values that were seen. */
typedef enum ig_quant_method {
    IG_QUANT_MIN_MAX,
    IG_QUANT_PERCENTILE,
    IG_QUANT_MSE,
    IG_QUANT_ENTROPY
} ig_quant_method;

typedef struct ig_quant_options {
    ig_quant_method method;
    double percentile;         /* of values that the range holds: 99.99 */
    bool is_bf16;              /* weights and activations are rounded to bf16 */
    bool is_dynamic;           /* scales of activations are found by the run */
    bool has_signed_values;    /* activations as i8 around 0; else u8 with zero point */
    bool has_one_scale;        /* for all of a weight; else one a channel */
    bool has_unsigned_weights; /* weights as u8 with zero point; else i8 around 0 */
    int weight_bits;           /* 8, or 7: pairs of products fit 16 bits */
    double smoothing;          /* how much moves into weights, 0 … 1; 0: nothing */
} ig_quant_options;

/* Real numbers low … high, which hold 0, as integers. */
typedef struct ig_quant_grid {
    float scale;
    int32_t zero, min, max;
} ig_quant_grid;

/* Counts of values in equal bins between low and high. */
typedef struct ig_histogram {
    double low, high;
    uint64_t bins[IG_QUANT_BINS];
} ig_histogram;

/* What layers multiply with their weights. */
typedef struct ig_quant_activation {
    uint32_t position, index; /* result `index` of the op at that place of the body, or
                            * (place IG_QUANT_ARGUMENT) that argument */
    uint32_t axis;            /* of channels: the axis that a layer sums over */
    int64_t channels;
    bool is_seen;         /* by calibration, and finite */
    double low, high;     /* of values, then of those smoothed */
    float *lows, *highs;  /* by channel, where smoothing wants them; else NULL */
    ig_histogram *counts; /* where the method wants them; else NULL */
    float *factors;       /* by channel, that values are multiplied with; or NULL */
    ig_quant_grid grid;
} ig_quant_activation;

typedef struct ig_quant_layer {
    uint32_t position, activation;
    const char *name; /* of the node, else of its result; each once */
    uint32_t loc;     /* in the module's locations */
    bool is_conv;
    uint32_t out_axis, in_axis; /* of the weight: channels that are made, and read */
    int64_t channels, depth;    /* made; terms of a sum */
    ig_tensor weight;           /* f32, as the op has it */
    uint8_t *codes;             /* i8, u8 or bf16, in the order of `weight` */
    float *scales;              /* scale_count: 1, or `channels` */
    uint8_t *zeros;             /* the same count; NULL: 0 */
    uint32_t scale_count;
    bool is_on;
    const char *why; /* it is not on: words; NULL where it is */
} ig_quant_layer;

typedef struct ig_quant_plan {
    ig_quant_options options;
    IG_VEC(ig_quant_layer) layers;
    IG_VEC(ig_quant_activation) activations;
} ig_quant_plan;

/* layers.c: lists the layers of a graph; those that cannot be quantised say why.
 * Weights and lists are in `arena`, or borrowed from the module. */
void ig_quant_find_layers(const ig_graph *graph, ig_arena *arena, ig_quant_plan *plan);
/* The value that an activation is in `graph`, a copy of the graph it was found in. */
ig_value *ig_quant_value(const ig_graph *graph, const ig_quant_activation *activation);
/* The op at a place of such a copy. */
ig_op *ig_quant_op(const ig_graph *graph, uint32_t position);

/* range.c: the part of the range that the method keeps. */
void ig_quant_choose_range(const ig_quant_options *options, const ig_histogram *counts,
                           double *low, double *high);
/* Integers least … most for low … high; 0 is one of them exactly.  Symmetric: around
 * zero point 0.  The scale is a normal number, whatever low and high are. */
ig_quant_grid ig_quant_grid_of(double low, double high, int32_t min, int32_t max,
                               bool is_symmetric);
ig_quant_grid ig_quant_grid_of_values(const ig_quant_options *options, double low,
                                      double high);
int32_t ig_quant_code(const ig_quant_grid *grid, double x);

/* weights.c: factors of each activation that all its layers that are on can take; the
 * activation's low and high become those of the smoothed values. */
void ig_quant_smooth(ig_quant_plan *plan, ig_arena *arena);
/* Codes, scales and zero points of a layer's weight. */
void ig_quant_weights(const ig_quant_plan *plan, ig_quant_layer *layer,
                      ig_arena *arena);

/* insert.c: values that layers share while a graph is rewritten. */
typedef struct ig_quant_inserter {
    const ig_quant_plan *plan;
    ig_graph *graph;
    ig_value **rounded; /* by activation: quantised and real again; NULL so far */
} ig_quant_inserter;

ig_quant_inserter ig_quant_inserter_of(const ig_quant_plan *plan, ig_graph *graph,
                                       ig_arena *arena);
/* What layer `number`, which is `op` in this graph, gives when it is quantised; built
 * before `op`. */
ig_value *ig_quant_build_layer(ig_quant_inserter *in, size_t index, ig_op *op);
/* Replaces all layers that are on. */
void ig_quant_replace_layers(const ig_quant_plan *plan, ig_graph *graph,
                             ig_arena *arena);

/* rows.c: a row as f16 scale, f16 bias and packed codes of 8, 4 or 2 bits.  False where
 * f16 does not hold them, or an element is not finite. */
bool ig_quant_row(const float *row, int64_t dim, int bits, uint8_t *out);
/* The real numbers of such a row. */
void ig_quant_row_back(const uint8_t *row, int64_t dim, int bits, float *out);

#endif
