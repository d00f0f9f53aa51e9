/* Operators of the user's own: found in the libraries that the user named, and called.
 * SPDX-License-Identifier: Apache-2.0
 *
 * No name of a file comes from an artifact: it holds names of operators, which are
 * looked for in the libraries of the program's options, then in those of INGOT_OPS.
 */
#include "base/custom/custom.h"
#include "ingot/runtime.h"
#include "runtime/plugin/plugin.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- calls ---- */

/* How many bits an element of this ig_dtype_code has; 0: there is none such. */
static int64_t bits_of(int64_t dtype) {
    static const unsigned char bits[] = {
        [IG_F32] = 32,   [IG_U8] = 8,         [IG_I8] = 8,       [IG_U16] = 16,
        [IG_I16] = 16,   [IG_I32] = 32,       [IG_I64] = 64,     [IG_STR8] = 64,
        [IG_BOOL8] = 8,  [IG_F16] = 16,       [IG_F64] = 64,     [IG_U32] = 32,
        [IG_U64] = 64,   [IG_BF16] = 16,      [IG_F8E4M3FN] = 8, [IG_F8E4M3FNUZ] = 8,
        [IG_F8E5M2] = 8, [IG_F8E5M2FNUZ] = 8, [IG_U4] = 4,       [IG_I4] = 4,
        [IG_F4E2M1] = 4, [IG_F8E8M0] = 8,     [IG_U2] = 2,       [IG_I2] = 2,
    };
    return dtype > 0 && dtype < (int64_t)sizeof bits ? bits[dtype] : 0;
}

typedef struct reading {
    const ig_host_call *call;
    uint32_t at; /* of params */
} reading;

/* Its dtype, rank and extents; false where params are short, or the buffer. */
static bool read_tensor(reading *r, uint32_t buffer, ig_custom_tensor *out) {
    const ig_host_call *call = r->call;
    if (call->param_count - r->at < 2) {
        return false;
    }
    int64_t dtype = call->params[r->at], rank = call->params[r->at + 1];
    int64_t bits = bits_of(dtype), count = 1;
    r->at += 2;
    if (!bits || rank < 0 || rank > call->param_count - r->at) {
        return false;
    }
    for (int64_t k = 0; k < rank; k++) {
        int64_t extent = call->params[r->at + k];
        if (extent < 0 || (extent > 0 && count > INT64_MAX / 64 / extent)) {
            return false;
        }
        count *= extent;
    }
    *out = (ig_custom_tensor){ .data = call->buffers[buffer],
                               .count = count,
                               .dims = call->params + r->at,
                               .rank = (uint32_t)rank,
                               .dtype = (int32_t)dtype };
    r->at += (uint32_t)rank;
    return (count * bits + 7) / 8 <= call->bytes[buffer];
}

static bool fail_call(const ig_host_call *call, const ig_custom_op *op,
                      ig_status status, const char *words) {
    bool is_known = status > IG_OK && status <= IG_INTERNAL;
    *call->status = is_known ? status : IG_INVALID;
    snprintf(call->reason, IG_HOST_REASON_BYTES, "%s: %s", op->name,
             words[0] ? words : "it failed");
    return false;
}

/* Params: 1 where extents are asked for; then dtype, rank and extents of each result
 * and each argument.  Results come first. */
static bool call_custom(const ig_host_call *call) {
    const ig_custom_op *op = call->closure;
    ig_custom_tensor tensors[IG_CUSTOM_MAX_TENSORS];
    reading r = { call, 1 };
    if (call->param_count < 1 || call->buffer_count > IG_CUSTOM_MAX_TENSORS) {
        return false;
    }
    for (uint32_t i = 0; i < call->buffer_count; i++) {
        if (!read_tensor(&r, i, &tensors[i])) {
            return false;
        }
    }
    ig_custom_fn *run = call->params[0] ? op->extents : op->run;
    if (!run) {
        return fail_call(call, op, IG_INVALID, "it finds no extents");
    }
    char words[IG_HOST_REASON_BYTES / 2] = "";
    ig_custom_call with = { .size = sizeof with,
                            .user = op->user,
                            .inputs = tensors + call->output_count,
                            .outputs = tensors,
                            .input_count = call->buffer_count - call->output_count,
                            .output_count = call->output_count,
                            .reason = words,
                            .reason_size = sizeof words };
    ig_status status = run(&with);
    words[sizeof words - 1] = 0;
    return status == IG_OK || fail_call(call, op, status, words);
}

/* ---- search ---- */

typedef struct search {
    ig_host_wanted *wanted;
    const ig_custom_op *found;
} search;

/* The right version, or else the first of that name. */
static void look_in(search *s, const ig_custom_library *library) {
    if (!s->found || s->found->version != s->wanted->version) {
        const ig_custom_op *op = ig_operators_find(library, s->wanted->name,
                                                   s->wanted->version);
        s->found = op && (!s->found || op->version == s->wanted->version) ? op
                                                                          : s->found;
    }
}

static ig_status refuse_search(const search *s, ig_status status, const char *format,
                               const char *a, const char *b) {
    const ig_message *message = s->wanted->message;
    if (message->text) {
        snprintf(message->text, message->size, format, a, b);
    }
    return status;
}

static ig_status look_in_file(search *s, const char *path) {
    const ig_custom_library *library;
    char why[IG_CUSTOM_WHY_BYTES];
    ig_status status = ig_operators_open(path, &library, why);
    if (status != IG_OK) {
        return refuse_search(s, status, "operators: %s: %s", path, why);
    }
    look_in(s, library);
    return IG_OK;
}

/* FILE:FILE, as INGOT_OPS has them. */
static ig_status look_in_list(search *s, const char *list) {
    char path[PATH_MAX];
    while (list && *list) {
        size_t size = strcspn(list, ":");
        if (size >= sizeof path) {
            return refuse_search(s, IG_INVALID, "INGOT_OPS: %s%s", "a name is too long",
                                 "");
        }
        memcpy(path, list, size);
        path[size] = 0;
        if (size > 0) {
            IG_TRY(look_in_file(s, path));
        }
        list += size + (list[size] == ':');
    }
    return IG_OK;
}

static ig_status look_everywhere(search *s) {
    const ig_program_options *options = s->wanted->options;
    char why[IG_CUSTOM_WHY_BYTES];
    for (size_t i = 0; i < options->library_count; i++) {
        ig_status status = ig_operators_check(options->libraries[i], why);
        if (status != IG_OK) {
            return refuse_search(s, status, "operators: %s%s", why, "");
        }
        look_in(s, options->libraries[i]);
    }
    for (size_t i = 0; i < options->op_file_count; i++) {
        IG_TRY(look_in_file(s, options->op_files[i]));
    }
    return look_in_list(s, secure_getenv("INGOT_OPS"));
}

IG_API ig_plugin_find_fn ig_customs_find;

ig_status ig_customs_find(ig_host_wanted *wanted) {
    search s = { wanted, NULL };
    char versions[64];
    IG_TRY(look_everywhere(&s));
    if (s.found && s.found->version == wanted->version) {
        wanted->fn = call_custom;
        wanted->closure = s.found;
        return IG_OK;
    }
    if (s.found) {
        snprintf(versions, sizeof versions, "version %u, and was given version %u",
                 (unsigned)wanted->version, (unsigned)s.found->version);
        return refuse_search(&s, IG_UNSUPPORTED, "the artifact calls operator %s of %s",
                             wanted->name, versions);
    }
    snprintf(versions, sizeof versions, "(version %u)", (unsigned)wanted->version);
    return refuse_search(
        &s, IG_UNSUPPORTED,
        "the artifact calls an operator of its user's own, %s %s: give the "
        "library that has it (run --ops, ig_program_options.op_files, "
        "INGOT_OPS)",
        wanted->name, versions);
}
