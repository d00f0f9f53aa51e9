/* What quantising cost, as text and as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/quantize/report.h"

#include <math.h>
#include <string.h>

/* ---- text ---- */

static void put_number(double x, int width) {
    if (isnan(x)) {
        printf(" %*s", width, "-");
    } else {
        printf(" %*.3g", width, x);
    }
}

/* Bytes that are not ASCII may be more or less wide than they are many. */
static void put_name(const char *name, int width) {
    put_plain(stdout, name);
    int length = (int)strlen(name);
    printf("%*s", length < width ? width - length : 0, "");
}

static int widest_name(const ig_quantize_report *report) {
    int width = 5;
    for (size_t i = 0; i < report->layer_count; i++) {
        int length = (int)strlen(report->layers[i].name);
        width = length > width ? length : width;
    }
    return width < 40 ? width : 40;
}

static void put_layer(const ig_quantize_layer *layer, int width, const char *format) {
    put_name(layer->name, width);
    printf("  %-8s", layer->op);
    put_number(layer->error.cosine, 9);
    put_number(layer->error.max, 9);
    put_number(layer->error.rms, 9);
    put_number(layer->output_rms, 9);
    put_number(layer->low, 9);
    put_number(layer->high, 9);
    printf("  %s%s\n", layer->is_quantized ? format : "stays real: ", layer->why);
}

static void report_text(const ig_quantize_report *report, const char *output,
                        double seconds) {
    int width = widest_name(report);
    put_name("layer", width);
    printf("  %-8s %9s %9s %9s %9s %9s %9s\n", "op", "cosine", "max", "rms", "harm",
           "low", "high");
    for (size_t i = 0; i < report->layer_count; i++) {
        put_layer(&report->layers[i], width, report->format);
    }
    for (size_t i = 0; i < report->output_count; i++) {
        const ig_quantize_output *of = &report->outputs[i];
        if (!isnan(of->error.rms)) {
            printf("output ");
            put_plain(stdout, of->name);
            printf(": cosine %.6f, largest difference %.3g, rms %.3g of the output's\n",
                   of->error.cosine, of->error.max, of->error.rms);
        }
    }
    if (!isnan(report->auc)) {
        printf("AUC %.5f, was %.5f: %+.3f %%\n", report->quantized_auc, report->auc,
               100 * (report->quantized_auc / report->auc - 1));
    }
    put_plain(stdout, output);
    printf(": %zu of %zu layers in %s, %zu batches, %.2f s\n", report->quantized_count,
           report->layer_count, report->format, report->batch_count, seconds);
}

/* ---- JSON ---- */

/* ", "key": x"; values not measured are null, and so are those that no JSON number
 * is. */
static void put_real(const char *key, double x) {
    printf(", \"%s\": ", key);
    if (isfinite(x)) {
        printf("%.9g", x);
    } else {
        fputs("null", stdout);
    }
}

static void put_error(const ig_quantize_error *error) {
    put_real("cosine", error->cosine);
    put_real("max", error->max);
    put_real("rms", error->rms);
}

static void put_layer_json(const ig_quantize_layer *layer) {
    fputs("{\"name\": ", stdout);
    put_json_text(stdout, layer->name);
    fputs(", \"op\": ", stdout);
    put_json_text(stdout, layer->op);
    printf(", \"quantized\": %s", layer->is_quantized ? "true" : "false");
    if (!layer->is_quantized) {
        fputs(", \"why\": ", stdout);
        put_json_text(stdout, layer->why);
    }
    put_error(&layer->error);
    put_real("output_rms", layer->output_rms);
    put_real("low", layer->low);
    put_real("high", layer->high);
    put_real("scale", layer->scale);
    printf(", \"zero_point\": %d, \"weights\": %lld}", layer->zero,
           (long long)layer->weights);
}

static void report_json(const ig_quantize_report *report, const char *output,
                        double seconds) {
    fputs("{\"output\": ", stdout);
    put_json_text(stdout, output);
    fputs(", \"layers\": [", stdout);
    for (size_t i = 0; i < report->layer_count; i++) {
        fputs(i ? ",\n " : "", stdout);
        put_layer_json(&report->layers[i]);
    }
    fputs("], \"outputs\": [", stdout);
    for (size_t i = 0; i < report->output_count; i++) {
        fputs(i ? ", {\"name\": " : "{\"name\": ", stdout);
        put_json_text(stdout, report->outputs[i].name);
        put_error(&report->outputs[i].error);
        fputs("}", stdout);
    }
    fputs("]", stdout);
    put_real("auc", report->auc);
    put_real("quantized_auc", report->quantized_auc);
    printf(", \"format\": \"%s\", \"quantized\": %zu, \"of\": %zu, \"batches\": %zu",
           report->format, report->quantized_count, report->layer_count,
           report->batch_count);
    put_real("seconds", seconds);
    puts("}");
}

void quantize_report_print(const settings *given, const ig_quantized *made,
                           double seconds) {
    ig_quantize_report report = { .size = sizeof report };
    ig_quantized_get_report(made, &report);
    progress_clear();
    if (given->json) {
        report_json(&report, given->output, seconds);
    } else if (!given->quiet) {
        report_text(&report, given->output, seconds);
    }
}

/* ---- tables ---- */

void quantize_tables_text(const ig_quantize_table *tables, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const ig_quantize_table *t = &tables[i];
        put_name(t->name, 24);
        if (t->dtype[0]) {
            printf("  %-4s %9.2f MB of %9.2f  cosine %.6f, max %.3g, rms %.3g\n",
                   t->dtype, (double)t->quantized_bytes / 1e6, (double)t->bytes / 1e6,
                   t->error.cosine, t->error.max, t->error.rms);
        } else {
            printf("  stays as it is: %s\n", t->why);
        }
    }
}

void quantize_tables_json(const ig_quantize_table *tables, size_t count) {
    fputs("[", stdout);
    for (size_t i = 0; i < count; i++) {
        const ig_quantize_table *t = &tables[i];
        fputs(i ? ", {\"name\": " : "{\"name\": ", stdout);
        put_json_text(stdout, t->name);
        fputs(", \"dtype\": ", stdout);
        put_json_text(stdout, t->dtype);
        fputs(", \"why\": ", stdout);
        put_json_text(stdout, t->why);
        printf(", \"rows\": %lld, \"dim\": %lld, \"bytes\": %lld, "
               "\"quantized_bytes\": %lld",
               (long long)t->rows, (long long)t->dim, (long long)t->bytes,
               (long long)t->quantized_bytes);
        put_error(&t->error);
        fputs("}", stdout);
    }
    fputs("]", stdout);
}
