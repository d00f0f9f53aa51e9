/* Look-up in the import table, whose rows are in ops/.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A lookup compares the few hundred names; it runs once per distinct operator, since
 * check.c remembers the row.
 */
#include "frontend/onnx/import/table.h"

#include <stdio.h>
#include <string.h>

const ig_onnx_row *ig_onnx_row_first(ig_str domain, ig_str name) {
    for (size_t i = 0; i < ig_onnx_row_count; i++) {
        const ig_onnx_row *row = &ig_onnx_rows[i];
        if (ig_str_is(name, row->name) && ig_str_is(domain, row->domain)) {
            return row;
        }
    }
    return NULL;
}

static bool is_same_operator(const ig_onnx_row *a, const ig_onnx_row *b) {
    return strcmp(a->name, b->name) == 0 && strcmp(a->domain, b->domain) == 0;
}

const ig_onnx_row *ig_onnx_row_at(const ig_onnx_row *first, int64_t opset) {
    const ig_onnx_row *found = NULL;
    const ig_onnx_row *end = ig_onnx_rows + ig_onnx_row_count;
    for (const ig_onnx_row *row = first; row < end && is_same_operator(row, first);
         row++) {
        if (row->since <= opset) {
            found = row;
        }
    }
    return found;
}

/* The versions of the row's operator are neighbours. */
static const ig_onnx_row *first_version(const ig_onnx_row *row) {
    while (row > ig_onnx_rows && is_same_operator(row - 1, row)) {
        row--;
    }
    return row;
}

bool ig_onnx_row_has_input(const ig_onnx_row *row, uint32_t index) {
    const ig_onnx_row *end = ig_onnx_rows + ig_onnx_row_count;
    for (const ig_onnx_row *r = first_version(row); r < end && is_same_operator(r, row);
         r++) {
        if (index < r->max_in || r->max_in == IG_ONNX_MANY) {
            return true;
        }
    }
    return false;
}

bool ig_onnx_row_has_attr(const ig_onnx_row *row, const char *name) {
    const ig_onnx_row *end = ig_onnx_rows + ig_onnx_row_count;
    for (const ig_onnx_row *r = first_version(row); r < end && is_same_operator(r, row);
         r++) {
        for (const ig_onnx_attr_row *a = r->attrs; a && a->name; a++) {
            if (strcmp(a->name, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

bool ig_onnx_row_is_early(const ig_onnx_row *row) {
    for (const char *const *early = ig_onnx_early; *early; early++) {
        if (row->domain[0] == 0 && strcmp(*early, row->name) == 0) {
            return true;
        }
    }
    return false;
}

bool ig_onnx_domain_is_known(ig_str domain) {
    return ig_str_is(domain, "") || ig_str_is(domain, "ai.onnx.ml") ||
           ig_str_is(domain, "ai.onnx.preview") ||
           ig_str_is(domain, "ai.onnx.preview.training");
}

const char *ig_onnx_domain_label(ig_str domain, char *buffer, size_t size) {
    if (domain.size == 0) {
        return "ai.onnx";
    }
    snprintf(buffer, size, "%.*s", IG_STR_ARG(domain));
    return buffer;
}
