/* Writing and reading the request to a worker.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/compile/request.h"

#include "base/vec.h"
#include "ingot_build_id.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static void put_text(ig_writer *out, const char *key, const char *value) {
    if (value) {
        ig_put(out, "%s=%s", key, value);
        ig_put_char(out, '\0');
    }
}

static void put_number(ig_writer *out, const char *key, int64_t value) {
    ig_put(out, "%s=%lld", key, (long long)value);
    ig_put_char(out, '\0');
}

static void put_options(ig_writer *out, const ig_isolated_work *work) {
    const ig_import_options *import = work->import;
    const ig_compile_options *compile = work->compile;
    for (size_t i = 0; i < import->input_count; i++) {
        put_text(out, "input", import->inputs[i]);
    }
    for (size_t i = 0; i < import->constant_count; i++) {
        put_text(out, "constant", import->constant_names[i]);
        put_text(out, "file", import->constant_files[i]);
    }
    put_text(out, "entry", import->entry);
    put_text(out, "resource", import->resource);
    put_text(out, "open_weights", import->open_weights);
    for (size_t i = 0; i < import->op_text_count; i++) {
        put_text(out, "operators", import->op_texts[i]);
    }
    put_number(out, "rowwise_mean", import->rowwise_mean);
    put_text(out, "target", compile->target);
    put_text(out, "passes", compile->passes);
    put_text(out, "emit", compile->emit);
    put_number(out, "torch_empty", compile->torch_empty);
    put_number(out, "clamp_ids", compile->clamp_ids);
    put_number(out, "sanitize", compile->sanitize);
    put_number(out, "debug", compile->debug);
    put_number(out, "tf32", compile->tf32);
    put_number(out, "winograd", compile->winograd);
    put_text(out, "stop_after", compile->stop_after);
    put_text(out, "stage", work->stage);
    put_number(out, "format", work->format);
}

ig_str ig_request_write(ig_arena *arena, const ig_context *context,
                        const ig_isolated_work *work) {
    assert(work->model && "there is a model to compile");
    ig_writer out;
    ig_writer_init(&out, arena);
    put_text(&out, "build", INGOT_BUILD_ID);
    put_text(&out, "model", work->model);
    put_text(&out, "artifact", work->artifact);
    put_options(&out, work);
    const ig_driver *host = (const ig_driver *)context;
    put_number(&out, "threads", host->options.compile_threads);
    for (size_t i = 0; i < IG_LIMIT_COUNT; i++) {
        put_number(&out, ig_limit_infos[i].name,
                   ig_limit_value(&context->limits, (ig_limit_id)i));
    }
    return ig_writer_str(&out);
}

/* ---- reading ---- */

typedef struct reading {
    ig_arena *arena;
    ig_request *out;
    IG_VEC(const char *) inputs, constants, files, operators;
    bool is_ours;
} reading;

static void take_build(reading *r, const char *value) {
    r->is_ours = strcmp(value, INGOT_BUILD_ID) == 0;
}

static void take_input(reading *r, const char *value) {
    IG_PUSH(r->arena, &r->inputs, value);
}

static void take_constant(reading *r, const char *value) {
    IG_PUSH(r->arena, &r->constants, value);
}

static void take_file(reading *r, const char *value) {
    IG_PUSH(r->arena, &r->files, value);
}

static void take_operators(reading *r, const char *value) {
    IG_PUSH(r->arena, &r->operators, value);
}

static const struct {
    const char *key;
    void (*take)(reading *r, const char *value);
} lists[] = {
    { "build", take_build },         { "input", take_input },
    { "constant", take_constant },   { "file", take_file },
    { "operators", take_operators },
};

#define AT(field) offsetof(ig_request, field)

static const struct {
    const char *key;
    size_t offset;
} texts[] = {
    { "model", AT(model) },
    { "artifact", AT(artifact) },
    { "entry", AT(import.entry) },
    { "resource", AT(import.resource) },
    { "open_weights", AT(import.open_weights) },
    { "target", AT(compile.target) },
    { "passes", AT(compile.passes) },
    { "emit", AT(compile.emit) },
    { "stop_after", AT(compile.stop_after) },
    { "stage", AT(stage) },
}, numbers[] = {
    { "rowwise_mean", AT(import.rowwise_mean) },
    { "torch_empty", AT(compile.torch_empty) },
    { "clamp_ids", AT(compile.clamp_ids) },
    { "sanitize", AT(compile.sanitize) },
    { "debug", AT(compile.debug) },
    { "tf32", AT(compile.tf32) },
    { "winograd", AT(compile.winograd) },
    { "format", AT(format) },
    { "threads", AT(threads) },
};

static void take_limit(reading *r, const char *key, const char *value) {
    for (size_t i = 0; i < IG_LIMIT_COUNT; i++) {
        if (strcmp(ig_limit_infos[i].name, key) == 0) {
            int64_t number = strtoll(value, NULL, 10);
            memcpy((char *)&r->out->limits + ig_limit_infos[i].offset, &number,
                   sizeof number);
        }
    }
}

static void take_pair(reading *r, const char *key, const char *value) {
    for (size_t i = 0; i < IG_COUNT_OF(lists); i++) {
        if (strcmp(lists[i].key, key) == 0) {
            lists[i].take(r, value);
        }
    }
    for (size_t i = 0; i < IG_COUNT_OF(texts); i++) {
        if (strcmp(texts[i].key, key) == 0) {
            memcpy((char *)r->out + texts[i].offset, &value, sizeof value);
        }
    }
    for (size_t i = 0; i < IG_COUNT_OF(numbers); i++) {
        if (strcmp(numbers[i].key, key) == 0) {
            int number = (int)strtol(value, NULL, 10);
            memcpy((char *)r->out + numbers[i].offset, &number, sizeof number);
        }
    }
    take_limit(r, key, value);
}

ig_status ig_request_read(ig_arena *arena, ig_str bytes, ig_request *out) {
    *out = (ig_request){ .limits = ig_limits_default };
    reading r = { .arena = arena, .out = out };
    for (size_t at = 0; at < bytes.size;) {
        const char *pair = bytes.data + at;
        const char *end = memchr(pair, '\0', bytes.size - at);
        const char *equals = end ? strchr(pair, '=') : NULL;
        if (!equals) {
            return IG_INVALID;
        }
        take_pair(&r, ig_arena_copy(arena, pair, (size_t)(equals - pair)), equals + 1);
        at += (size_t)(end - pair) + 1;
    }
    out->import.size = sizeof out->import;
    out->import.inputs = r.inputs.items;
    out->import.input_count = r.inputs.count;
    out->import.constant_names = r.constants.items;
    out->import.constant_files = r.files.items;
    out->import.constant_count = r.constants.count;
    out->import.op_texts = r.operators.items;
    out->import.op_text_count = r.operators.count;
    out->compile.size = sizeof out->compile;
    return r.is_ours && out->model && r.constants.count == r.files.count ? IG_OK
                                                                         : IG_INVALID;
}
