/* Ingot, quantisation: models of real numbers become models of 8-bit integers.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ig_quantize_options how = { .size = sizeof how, .method = IG_QUANTIZE_MSE };
 *     ig_quantize_batch batches[] = { { inputs, input_count, NULL, "day 1" } };
 *     ig_quantized *made = NULL;
 *     ig_module *module8 = NULL;
 *     if (ig_quantize(module, batches, 1, &how, &made) == IG_OK &&
 *         ig_quantized_module(made, &module8) == IG_OK) {
 *         ... ig_quantized_get_report(made), ig_compile(module8, …) ...
 *     }
 *     ig_module_close(module8);
 *     ig_quantized_close(made);
 *
 * A layer is a product (MatMul, Gemm, Linear) or a convolution of f32 values with a
 * constant weight, at the top of the model's graph.  Its weight becomes integers of 8
 * bits with a scale for each output channel, w = scale * (code - zero point), and so
 * does its input, by a scale that the calibration data choose (static) or that the
 * run finds in each call (dynamic).  Sums are exact.  All else stays as it is.
 *
 * Errors of values are measured on the calibration data, against the model as it was.
 */
#ifndef INGOT_QUANTIZE_H
#define INGOT_QUANTIZE_H

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- options ---- */

/* How the range of a value is chosen, of which the 256 steps are made. */
typedef enum ig_quantize_method {
    IG_QUANTIZE_MIN_MAX,    /* all that was seen */
    IG_QUANTIZE_PERCENTILE, /* `percentile` % of it, half of the rest beyond each end */
    IG_QUANTIZE_MSE,        /* least mean square error */
    IG_QUANTIZE_ENTROPY     /* least loss of information */
} ig_quantize_method;

/* Extensible: set size to sizeof(the struct), without which it is refused; other zero
 * fields mean the default. */
typedef struct ig_quantize_options {
    size_t size;
    ig_quantize_method method;
    double percentile;    /* 0: 99.99 */
    int is_dynamic;       /* scales of values are found by each run: they need no
                          * calibration, which then only measures */
    int signed_values;    /* values as i8 around 0; else u8 with a zero point */
    int per_tensor;       /* one scale for a whole weight */
    int unsigned_weights; /* weights as u8 with zero points; else i8 around 0 */
    int weight_bits;      /* 8 (0: that), or 7: faster where a machine has no VNNI */
    double smoothing;     /* 0 … 1: how much of the spread of a value's channels moves
                          * into the weights (SmoothQuant); 0: none */
    const char *const *skip; /* layers that stay as they are: patterns as of a shell */
    size_t skip_count;
    /* Layers that hurt most stay as they are until the error of each output, the root
     * of its mean square over that of the output, is at most this.  0: no bound. */
    double max_error;
    int only_onnx; /* leave layers alone that ig_quantized_onnx cannot write */
    const ig_compile_options *compile; /* for the runs that calibrate; or NULL */
    int to_bf16; /* round weights and values to bf16: no scales, no calibration */
} ig_quantize_options;

/* One call of the model; values are borrowed. */
typedef struct ig_quantize_batch {
    const ig_argument *inputs; /* one for each input of the module */
    size_t input_count;
    const ig_argument *labels; /* 0 or 1 for each row of the first output, or NULL: the
                                * last number of a row is its score */
    const char *name;          /* for messages */
} ig_quantize_batch;

/* ---- what came of it ---- */

/* Of values against those of the model as it was; NaN where nothing was measured. */
typedef struct ig_quantize_error {
    double cosine; /* of the angle between the two */
    double max;    /* of the differences */
    double rms;    /* root of mean square of the differences, over that of the value */
} ig_quantize_error;

typedef struct ig_quantize_layer {
    const char *name, *op; /* "fc1", "Gemm" */
    int is_quantized;
    const char *why;         /* it is not; "" where it is */
    ig_quantize_error error; /* of its result when it alone is quantised */
    double output_rms;       /* then, of the output that has the largest; NaN: not
                              * measured, which max_error asks for */
    double low, high, scale; /* of its input; NaN where the run finds them */
    int zero;
    int64_t weights; /* elements */
} ig_quantize_layer;

typedef struct ig_quantize_output {
    const char *name;
    ig_quantize_error error;
} ig_quantize_output;

/* Texts and lists are the ig_quantized's. */
typedef struct ig_quantize_report {
    size_t size;
    const ig_quantize_layer *layers;
    size_t layer_count, quantized_count;
    const ig_quantize_output *outputs; /* those of real numbers */
    size_t output_count;
    double auc, quantized_auc; /* areas under the ROC curve; NaN without labels */
    size_t batch_count;
    const char *format; /* of layers that are quantised: "int8", "bf16" */
} ig_quantize_report;

typedef struct ig_quantized ig_quantized;

/* Quantises a copy of the module, which stays as it is and must outlive *out_made.
 * Several runs over the batches: the range of values, their distribution, the error of
 * each layer, and the result.  Progress goes to the context.  Errors: IG_INVALID where
 * there is nothing to calibrate with, inputs hold NaN or infinities, or do not fit the
 * model; IG_UNSUPPORTED where no layer can be quantised; those of compiling. */
IG_API IG_MUST_USE ig_status ig_quantize(ig_module *module,
                                         const ig_quantize_batch *batches,
                                         size_t batch_count,
                                         const ig_quantize_options *options,
                                         ig_quantized **out_made);
/* Fills *out_report as far as its size goes, which is set before. */
IG_API void ig_quantized_get_report(const ig_quantized *made,
                                    ig_quantize_report *out_report);
/* The quantised model, the caller's to close. */
IG_API IG_MUST_USE ig_status ig_quantized_module(ig_quantized *made,
                                                 ig_module **out_module);
/* The ONNX model at `path`, which the module was read from, with QuantizeLinear and
 * DequantizeLinear (dynamic: DynamicQuantizeLinear and the integer operators) around
 * the layers.  The bytes are *made's until the next call on it.
 * Errors: IG_UNSUPPORTED for other formats, and opsets below 13. */
IG_API IG_MUST_USE ig_status ig_quantized_onnx(ig_quantized *made, const char *path,
                                               const void **out_bytes,
                                               size_t *out_size);
IG_API void ig_quantized_close(ig_quantized *made);

/* ---- tables ---- */

typedef struct ig_quantize_table {
    const char *name;  /* of the weight */
    const char *dtype; /* "int4"; "" where it stays as it is */
    const char *why;   /* it does; "" where it does not */
    int64_t rows, dim, bytes, quantized_bytes;
    ig_quantize_error error; /* of its elements */
} ig_quantize_table;

/* Gives the tables that a module looks up fewer bits, in place.  Each wish is "int8",
 * "int4", "int2" or "f16" for all tables, or "PATTERN=int4" for those whose names a
 * pattern of a shell fits; in place of a format a bound of the rms error ("0.01") takes
 * the narrowest format that holds it.  The last wish that fits counts.  Rows have an
 * f16 scale and bias and FBGEMM's rounding (rows of f16 have neither).  Look-ups become
 * bags; of `options` (may be NULL) those about bags count.  The list, of tables that
 * some wish fits, is the module's.  After an error the module is to be closed.
 * Errors: IG_INVALID for a wish that says nothing, or a pattern that fits no table. */
IG_API IG_MUST_USE ig_status
ig_module_quantize_tables(ig_module *module, const char *const *wishes, size_t count,
                          const ig_compile_options *options,
                          const ig_quantize_table **out_tables, size_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
