/* Cases in ONNX's own layout, judged through the reference interpreter.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     FOLDER/model.onnx   test_data_set_K/input_I.pb   output_I.pb
 *
 * A case passes when every data set gives the stored outputs: dtype and shape exact,
 * |got - want| <= atol + rtol * |want|.
 */
#ifndef IG_TESTS_UNIT_ONNX_ONNX_CASE_H
#define IG_TESTS_UNIT_ONNX_ONNX_CASE_H

#include "base/platform/platform.h"
#include "frontend/onnx/import/onnx.h"
#include "frontend/onnx/read/onnx_tensor.h"
#include "ir/interpret/interpret.h"
#include "ir/verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct onnx_case {
    ig_context context;
    ig_arena arena;
    double rtol, atol;
    char why[4000]; /* the last messages, or the first difference */
} onnx_case;

static inline void onnx_case_sink(void *user, const ig_diagnostic *diagnostic) {
    onnx_case *c = user;
    size_t used = strlen(c->why);
    if (used + 2 < sizeof(c->why)) {
        ig_diagnostic_format(diagnostic, c->why + used, sizeof(c->why) - used - 2);
        strcat(c->why, "\n");
    }
}

static inline void onnx_case_init(onnx_case *c) {
    memset(c, 0, sizeof(*c));
    c->context.limits = ig_limits_default;
    c->context.diag.sink = onnx_case_sink;
    c->context.diag.user = c;
    c->rtol = 1e-3;
    c->atol = 1e-7;
    ig_arena_init(&c->arena, NULL);
}

static inline void onnx_case_fini(onnx_case *c) {
    ig_arena_fini(&c->arena);
}

/* A whole file in the case's arena; false when it is not there. */
static inline bool onnx_case_file(onnx_case *c, const char *path, ig_str *out) {
    ig_file_map map;
    if (ig_file_map_open(path, &map, NULL) != IG_OK) {
        return false;
    }
    out->data = ig_arena_copy(&c->arena, map.data, map.size);
    out->size = map.size;
    ig_file_map_close(&map);
    return true;
}

/* ---- comparison ---- */

static inline bool onnx_case_is_close(const onnx_case *c, double got, double want) {
    if (isnan(want) || isinf(want)) {
        return isnan(want) ? isnan(got) : got == want;
    }
    return fabs(got - want) <= c->atol + c->rtol * fabs(want);
}

static inline bool onnx_case_equal(onnx_case *c, const ig_tensor *got,
                                   const ig_tensor *want) {
    bool is_same = got->kind == want->kind && got->rank == want->rank &&
                   got->count == want->count &&
                   (got->kind != IG_TENSOR || got->dtype == want->dtype) &&
                   memcmp(got->dims, want->dims, want->rank * sizeof(*want->dims)) == 0;
    if (!is_same) {
        snprintf(c->why, sizeof(c->why),
                 "kind %d, %s, rank %u, %lld elements; expected %d, %s, %u, %lld",
                 got->kind, ig_dtypes[got->dtype].name, got->rank,
                 (long long)got->count, want->kind, ig_dtypes[want->dtype].name,
                 want->rank, (long long)want->count);
        return false;
    }
    for (int64_t i = 0; i < want->count; i++) {
        if (want->kind != IG_TENSOR) {
            if (!onnx_case_equal(c, &got->items[i], &want->items[i])) {
                return false;
            }
            continue;
        }
        if (want->dtype == IG_DT_str) {
            const char *got_text = ((const char *const *)got->data)[i];
            const char *want_text = ((const char *const *)want->data)[i];
            if (strcmp(got_text ? got_text : "", want_text ? want_text : "") != 0) {
                snprintf(c->why, sizeof(c->why), "element %lld is '%s', expected '%s'",
                         (long long)i, got_text, want_text);
                return false;
            }
            continue;
        }
        bool is_int = !ig_dtype_is_float(want->dtype);
        double a = ig_tensor_get_f64(got, i), b = ig_tensor_get_f64(want, i);
        bool is_right = is_int ? ig_tensor_get_i64(got, i) == ig_tensor_get_i64(want, i)
                               : onnx_case_is_close(c, a, b);
        if (!is_right) {
            snprintf(c->why, sizeof(c->why), "element %lld is %.9g, expected %.9g",
                     (long long)i, a, b);
            return false;
        }
    }
    return true;
}

/* ---- one data set ---- */

static inline ig_kind onnx_case_result_kind(const ig_graph *graph, uint32_t index) {
    const ig_value *value = graph->body.last->operands[index].value;
    return (ig_kind)value->type->kind;
}

/* OK, INVALID (a difference or an error, see why), or IO: no such data set. */
static inline ig_status onnx_case_data_set(onnx_case *c, const ig_graph *graph,
                                           const char *folder) {
    ig_str bytes;
    uint32_t ins = graph->body.arg_count, outs = graph->body.last->operand_count;
    ig_tensor *inputs = IG_NEW_ARRAY(&c->arena, ig_tensor, ins + 1);
    ig_tensor *outputs = IG_NEW_ARRAY(&c->arena, ig_tensor, outs + 1);
    for (uint32_t i = 0; i < ins; i++) {
        const char *path = ig_arena_printf(&c->arena, "%s/input_%u.pb", folder, i);
        if (!onnx_case_file(c, path, &bytes)) {
            return IG_IO;
        }
        IG_TRY(ig_onnx_tensor_read(&c->context, &c->arena, path, bytes,
                                   (ig_kind)graph->body.args[i]->type->kind,
                                   &inputs[i]));
    }
    if (!ig_file_exists(ig_arena_printf(&c->arena, "%s/output_0.pb", folder))) {
        return IG_IO;
    }
    IG_TRY(ig_interpret(graph, inputs, &c->arena, outputs));
    for (uint32_t i = 0; i < outs; i++) {
        ig_tensor want;
        const char *path = ig_arena_printf(&c->arena, "%s/output_%u.pb", folder, i);
        if (!onnx_case_file(c, path, &bytes)) {
            snprintf(c->why, sizeof(c->why), "%s is missing", path);
            return IG_INVALID;
        }
        IG_TRY(ig_onnx_tensor_read(&c->context, &c->arena, path, bytes,
                                   onnx_case_result_kind(graph, i), &want));
        if (!onnx_case_equal(c, &outputs[i], &want)) {
            return IG_INVALID;
        }
    }
    return IG_OK;
}

/* Runs all data sets of a case's folder. */
static inline ig_status onnx_case_run(onnx_case *c, const char *folder) {
    ig_module *module;
    const char *model = ig_arena_printf(&c->arena, "%s/model.onnx", folder);
    IG_TRY(ig_import_onnx(&c->context, model, NULL, &module));
    ig_status status = ig_verify_module(module);
    const ig_graph *graph = ig_module_graph(module, "main");
    int sets = 0;
    for (; status == IG_OK; sets++) {
        status = onnx_case_data_set(
            c, graph, ig_arena_printf(&c->arena, "%s/test_data_set_%d", folder, sets));
    }
    ig_module_destroy(module);
    return status == IG_IO && sets > 1 ? IG_OK : status;
}

#endif
