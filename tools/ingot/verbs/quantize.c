/* ingot quantize: a model of real numbers into one of 8-bit integers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/streams.h"
#include "tools/ingot/measure/clock.h"
#include "tools/ingot/quantize/data.h"
#include "tools/ingot/quantize/report.h"

#include <string.h>

static const option_row options[] = {
    TEXT("output", 'o', output, "OUT.ig|OUT.onnx|OUT.ingot",
         "where the quantised model goes (needed)"),
    TEXT("calibration", 'c', calibration, "DIR|x.npz",
         "inputs as the model meets them: arrays by the names of inputs"),
    TEXT("labels", 0, labels, "NAME",
         "the array that says 0 or 1 for each first output (labels, label)"),
    COUNT("batch", 'b', batch_size, 1, INT32_MAX, "rows of the arrays in each call"),
    TEXT("precision", 0, precision, "int8|bf16",
         "integers (int8), or weights and values rounded to bf16, which has no scales "
         "and needs no data"),
    TEXT("method", 0, method, "min-max|percentile|mse|entropy",
         "how ranges of values are chosen (mse)"),
    REAL("percentile", percentile, has_percentile, "P",
         "of values that a range holds, for percentile (99.99)"),
    FLAG("dynamic", dynamic, "each call finds the ranges of its values itself"),
    FLAG("per-tensor", per_tensor, "one scale for a weight; else one a channel"),
    FLAG("symmetric", symmetric, "values as i8 around 0; else u8 with a zero point"),
    FLAG("unsigned-weights", unsigned_weights,
         "weights as u8 with zero points; else i8 around 0"),
    COUNT("weight-bits", 0, weight_bits, 7, 8,
          "7: faster where a machine has no VNNI; 8"),
    REAL("smooth", smoothing, has_smoothing, "ALPHA",
         "move so much of the spread of channels from values into weights, 0 … 1 (0)"),
    LIST("skip", skips, "LAYER",
         "leave a layer as it is; patterns such as 'top.*'; may be repeated"),
    REAL("max-error", max_error, has_max_error, "E",
         "leave layers that hurt as they are until each output's error (rms, of its "
         "own) is at most this"),
    ROW_ENTRY,
    ROW_RESOURCE,
    ROW_OPS,
    ROW_FIX,
    ROWS_COMPILE,
    ROW_QUIET,
    ROW_JSON,
    ROW_HELP,
    OPTIONS_END,
};

static ig_quantize_method method_of(const settings *given) {
    static const char *const names[] = { "min-max", "percentile", "mse", "entropy" };
    for (int i = 0; given->method && i < 4; i++) {
        if (strcmp(given->method, names[i]) == 0) {
            return (ig_quantize_method)i;
        }
    }
    return IG_QUANTIZE_MSE;
}

static bool is_bf16(const settings *given) {
    return given->precision && strcmp(given->precision, "bf16") == 0;
}

static bool writes_onnx(const settings *given) {
    return text_ends(given->output, ".onnx");
}

static ig_status write_module(const settings *given, ig_module *module) {
    if (text_ends(given->output, ".ingot")) {
        ig_compile_options how = compile_options(given);
        return ig_compile_file(module, given->output, &how);
    }
    return ig_module_write(module, given->output);
}

static ig_status write_result(const settings *given, const model *m,
                              ig_quantized *made) {
    if (writes_onnx(given)) {
        const void *bytes = NULL;
        size_t size = 0;
        ig_status status = ig_quantized_onnx(made, m->path, &bytes, &size);
        return status == IG_OK ? write_output(given->output, bytes, size) : status;
    }
    ig_module *module = NULL;
    ig_status status = ig_quantized_module(made, &module);
    if (status == IG_OK) {
        status = write_module(given, module);
    }
    ig_module_close(module);
    return status;
}

static ig_status quantize_with(const settings *given, const model *m,
                               const calibration_data *data) {
    double begin = clock_seconds();
    ig_compile_options compile = compile_options(given);
    compile.weights = IG_WEIGHTS_REFERENCE;
    ig_quantize_options how = {
        .size = sizeof how,
        .method = method_of(given),
        .percentile = given->percentile,
        .is_dynamic = given->dynamic,
        .signed_values = given->symmetric,
        .per_tensor = given->per_tensor,
        .unsigned_weights = given->unsigned_weights,
        .weight_bits = (int)given->weight_bits,
        .smoothing = given->smoothing,
        .skip = given->skips.items,
        .skip_count = given->skips.count,
        .max_error = given->max_error,
        .only_onnx = writes_onnx(given),
        .compile = &compile,
        .to_bf16 = is_bf16(given),
    };
    ig_quantized *made = NULL;
    ig_status status = ig_quantize(m->module, data->batches, data->batch_count, &how,
                                   &made);
    if (status == IG_OK) {
        status = write_result(given, m, made);
    }
    if (status == IG_OK) {
        quantize_report_print(given, made, clock_seconds() - begin);
    }
    ig_quantized_close(made);
    return status;
}

static ig_status quantize_model(const settings *given, ig_context *context,
                                const data_paths *paths, message *why) {
    settings how = *given;
    model m = { 0 };
    bound_inputs first = { 0 };
    calibration_data data = { 0 };
    how.target = "interpret"; /* the model itself is not what runs */
    how.inputs_from = paths->count ? paths->items[0] : NULL;
    how.batch_size = 0;
    ig_status status = model_open_for(&how, context, given->arguments.items[0], &m,
                                      &first, why);
    m.path = given->arguments.items[0];
    if (status == IG_OK && !m.module) {
        complain(0, "%s: a compiled artifact cannot be quantised", m.path);
        status = IG_UNSUPPORTED;
    }
    if (status == IG_OK) {
        how.batch_size = given->batch_size;
        status = data_bind(&how, &m, paths, &first, &data);
    }
    if (status == IG_OK) {
        status = quantize_with(given, &m, &data);
    }
    data_free(&data);
    bound_inputs_free(&first);
    model_close(&m);
    return status;
}

static int check_options(const settings *given) {
    if (!given->output) {
        return complain(EXIT_USAGE, "quantize needs -o FILE, where the model goes");
    }
    bool is_known = text_ends(given->output, ".ig") ||
                    text_ends(given->output, ".ingot") || writes_onnx(given);
    if (!is_known) {
        return complain(EXIT_USAGE,
                        "--output %s: a quantised model is written as .ig, "
                        ".onnx or .ingot",
                        given->output);
    }
    if (writes_onnx(given) &&
        strcmp(ig_model_format(given->arguments.items[0]), "onnx") != 0) {
        return complain(EXIT_USAGE, "--output %s: only ONNX models are written as ONNX",
                        given->output);
    }
    if (writes_onnx(given) && is_bf16(given)) {
        return complain(EXIT_USAGE, "--precision bf16 writes no ONNX");
    }
    if (!given->calibration && !given->dynamic && !is_bf16(given)) {
        return complain(EXIT_USAGE, "quantize needs --calibration DIR|x.npz, "
                                    "--dynamic or --precision bf16");
    }
    if (given->has_smoothing && given->smoothing > 1) {
        return complain(EXIT_USAGE, "--smooth takes a number between 0 and 1");
    }
    if (given->has_percentile && !(given->percentile > 0 && given->percentile <= 100)) {
        return complain(EXIT_USAGE, "--percentile takes a number up to 100");
    }
    return output_check(given);
}

static int run_quantize(const settings *given) {
    int exit_status = check_options(given);
    ig_context *context = exit_status ? NULL : context_open(given, NULL, &exit_status);
    if (!context) {
        return exit_status;
    }
    data_paths paths = { 0 };
    message why = { "" };
    ig_status status = given->calibration ? data_list(given->calibration, &paths)
                                          : IG_OK;
    if (status == IG_OK) {
        status = quantize_model(given, context, &paths, &why);
    }
    data_paths_free(&paths);
    exit_status = report(status, &why);
    context_close(context);
    return exit_status;
}

const verb verb_quantize = {
    .name = "quantize",
    .arguments = "MODEL --calibration DIR|x.npz -o OUT",
    .help = "makes the products and convolutions of a model 8-bit integers, or bf16",
    .details =
        "Weights get a scale a channel, values a range that the calibration data choose. The report says what each layer costs by itself (cosine, largest difference, root of mean square against its own), with --max-error also what it does to the outputs (harm), and what all of them do together. Where labels of 0 and 1 are among the data, it gives the area under the ROC curve, too. OUT.onnx is the source with QuantizeLinear and DequantizeLinear around the layers.",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_quantize,
};
