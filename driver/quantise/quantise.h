/* Quantising a model: what its steps share.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     quantise.c     the public functions, and the order of the steps
 *     runner.c       a variant of the model, compiled or interpreted, run on batches
 *     calibrate.c    what values there are: ranges, channels, histograms
 *     laboratory.c   each layer's harm, and which ones stay real
 *     error.c        sums of errors; areas under curves
 *
 * A step that allocates runs inside of the recovery point (ig_driver_guard); compiling
 * and running are public calls of their own, between steps.
 */
#ifndef IG_DRIVER_QUANTISE_QUANTISE_H
#define IG_DRIVER_QUANTISE_QUANTISE_H

#include "driver/host.h"
#include "ingot/quantize.h"
#include "ingot/runtime.h"
#include "passes/quantise/quantise.h"

/* Real numbers of one output of one batch, as the model gave them. */
typedef struct quant_values {
    float *items;
    size_t count;
} quant_values;

struct ig_quantized {
    ig_context *context;
    ig_module *source; /* the caller's */
    ig_module *base;   /* a copy of it, cleaned, as layers were found in it */
    ig_arena arena;    /* all below */
    ig_quantize_options options;
    ig_compile_options compile;
    const ig_quantize_batch *batches; /* while ig_quantize runs */
    size_t batch_count;
    ig_quant_plan plan;
    size_t output_count;  /* of the model */
    bool *is_real;        /* by output: it is compared */
    quant_values *wanted; /* by batch, then output */
    ig_quantize_report report;
    ig_quantize_layer *layers; /* of the report */
    ig_quantize_output *outputs;
    ig_module *file; /* of ig_quantized_onnx: owns its bytes */
};

/* ---- error.c ---- */

typedef struct quant_error {
    double product, wanted, got, difference, max; /* sums of squares but the last */
} quant_error;

/* Element `i` of a tensor of real numbers. */
double quant_number(const ig_argument *x, size_t i);
size_t quant_count(const ig_argument *x);
void quant_error_add(quant_error *sum, double wanted, double got);
ig_quantize_error quant_error_of(const quant_error *sum);

/* ---- runner.c ---- */

typedef struct quant_runner {
    ig_quantized *q;
    ig_module *module; /* owned */
    ig_program *program;
    ig_session *session;
    ig_view *inputs, *views;
    ig_argument *arguments, *outputs; /* outputs: until the next run */
    size_t input_count, output_count;
} quant_runner;

/* Takes the module over, whatever comes of it.  Closed by quant_close in any case. */
ig_status quant_open(quant_runner *runner, ig_quantized *q, ig_module *module);
/* Runs a batch; `flags` are the further inputs of a laboratory, one byte each. */
ig_status quant_run(quant_runner *runner, size_t batch, const uint8_t *flags,
                    size_t flag_count);
void quant_close(quant_runner *runner);

/* ---- calibrate.c ---- */

/* Runs all batches: the values of activations, and the model's answers. */
ig_status quant_calibrate(ig_quantized *q);

/* ---- laboratory.c ---- */

/* Measures each layer, and turns off those that hurt until max_error holds. */
ig_status quant_try_layers(ig_quantized *q);
/* Measures the model with the layers that are on; *out_rms: the largest error. */
ig_status quant_measure(ig_quantized *q, double *out_rms);
/* The layer that hurts most of those that are on goes; false: none is left. */
bool quant_drop_worst(ig_quantized *q);

#endif
