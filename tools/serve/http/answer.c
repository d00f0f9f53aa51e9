/* Answers as JSON and bytes.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/http/answer.h"

#include "tools/serve/call/datatype.h"
#include "tools/serve/http/data.h"

#include <string.h>

static bool is_binary_result(const request *of, size_t i) {
    bool is_binary = of->output_count ? of->outputs[i].is_binary : of->is_binary;
    return is_binary && !of->results[i].region;
}

static void write_result(bytes *to, const tensor *from, bool is_binary) {
    put_text(to, "{\"name\":");
    put_string(to, from->name, strlen(from->name));
    put_format(to, ",\"datatype\":\"%s\",\"shape\":[", datatype_name(from->dtype));
    for (uint32_t i = 0; i < from->rank; i++) {
        put_format(to, i ? ",%lld" : "%lld", (long long)from->dims[i]);
    }
    if (from->region) {
        put_text(to, "],\"parameters\":{\"shared_memory_region\":");
        put_string(to, from->region, strlen(from->region));
        put_format(to,
                   ",\"shared_memory_offset\":%llu,\"shared_memory_byte_size\":%zu}}",
                   (unsigned long long)from->offset, from->size);
    } else if (is_binary) {
        put_format(to, "],\"parameters\":{\"binary_data_size\":%zu}}", from->size);
    } else {
        put_text(to, "],\"data\":");
        data_write(to, from);
        put_text(to, "}");
    }
}

bool answer_write(bytes *to, request *of, size_t *out_json_size) {
    bool has_binary = false;
    put_text(to, "{");
    if (*of->id) {
        put_text(to, "\"id\":");
        put_string(to, of->id, strlen(of->id));
        put_text(to, ",");
    }
    put_text(to, "\"model_name\":");
    put_string(to, of->model, strlen(of->model));
    put_format(to, ",\"model_version\":\"%lld\",", (long long)of->answered);
    if (of->stored.ids) {
        put_format(to,
                   "\"parameters\":{\"rows_absent\":%zu,\"rows_late\":%zu,"
                   "\"rows_stale\":%zu},",
                   of->stored.absent, of->stored.late, of->stored.stale);
    }
    put_text(to, "\"outputs\":[");
    for (size_t i = 0; i < of->result_count; i++) {
        bool is_binary = is_binary_result(of, i);
        has_binary |= is_binary;
        if (!is_binary && !of->results[i].region &&
            !data_has_text(of->results[i].dtype)) {
            return request_fail(
                of, CALL_INVALID,
                "output '%s' is %s, which goes after the JSON only: ask for binary_data",
                of->results[i].name, datatype_name(of->results[i].dtype));
        }
        put_text(to, i ? "," : "");
        write_result(to, &of->results[i], is_binary);
    }
    put_text(to, "]}");
    *out_json_size = has_binary ? to->size : 0;
    for (size_t i = 0; i < of->result_count; i++) {
        if (is_binary_result(of, i)) {
            bytes_put(to, of->results[i].data, of->results[i].size);
        }
    }
    return !to->has_failed ||
           request_fail(of, CALL_FULL, "memory for the answer ran out");
}
