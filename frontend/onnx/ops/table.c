/* The import table, expanded from ops.def.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rows stay in the order of ops.def.  A lookup compares the few hundred names; it runs
 * once per distinct operator, since check.c remembers the row.
 */
#include "frontend/onnx/import/table.h"

#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/read/onnx.pb-c.h"
#include "ir/ops.h"

#include <stdio.h>
#include <string.h>

#define MANY IG_ONNX_MANY

/* ---- attributes of each row ---- */

#define A(type, attr) { #attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__##type, false },
#define R(type, attr) { #attr, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__##type, true },
#define NO_ATTRS
#define EARLY(domain, name)
#define LATER(domain, name, since)
#define ONNX(domain, name, since, min_in, max_in, min_out, max_out, import, variant, \
             attrs)                                                                  \
    static const ig_onnx_attr_row domain##_##name##_##since[] = { attrs{ 0 } };
#include "frontend/onnx/ops/ops.def"
#undef ONNX
#undef LATER
#undef A
#undef R
#undef NO_ATTRS

/* ---- rows ---- */

#define DOMAIN_ai ""
#define DOMAIN_ml "ai.onnx.ml"
#define DOMAIN_preview "ai.onnx.preview"
#define DOMAIN_microsoft "com.microsoft"
#define DOMAIN_training "ai.onnx.preview.training"

static const ig_onnx_attr_row no_attrs[] = { { 0 } };

#define ROW(host, domain, name, since, min_in, max_in, min_out, max_out, hook, kind) \
    { DOMAIN_##domain,                                                               \
      #name,                                                                         \
      since,                                                                         \
      min_in,                                                                        \
      max_in,                                                                        \
      min_out,                                                                       \
      max_out,                                                                       \
      host,                                                                          \
      kind,                                                                          \
      ig_onnx_import_##hook,                                                         \
      domain##_##name##_##since },

const ig_onnx_row ig_onnx_rows[] = {
#define ONNX(domain, name, since, min_in, max_in, min_out, max_out, hook, kind, attrs) \
    ROW(false, domain, name, since, min_in, max_in, min_out, max_out, hook, kind)
#define HOST(domain, name, since, min_in, max_in, min_out, max_out, hook, kind, attrs) \
    ROW(true, domain, name, since, min_in, max_in, min_out, max_out, hook, kind)
#define LATER(domain, name, since) \
    { DOMAIN_##domain, #name, since, 0, MANY, 0, MANY, true, 0, NULL, no_attrs },
#include "frontend/onnx/ops/ops.def"
#undef ONNX
#undef LATER
};
const size_t ig_onnx_row_count = IG_COUNT_OF(ig_onnx_rows);

#undef EARLY
static const char *const early[] = {
#define ONNX(domain, name, since, min_in, max_in, min_out, max_out, import, variant, \
             attrs)
#define LATER(domain, name, since)
#define EARLY(domain, name) #name,
#include "frontend/onnx/ops/ops.def"
#undef ONNX
#undef LATER
#undef EARLY
};

/* ---- lookup ---- */

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

/* The versions of the row's operator stand together. */
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
    for (size_t i = 0; i < IG_COUNT_OF(early); i++) {
        if (row->domain[0] == 0 && strcmp(early[i], row->name) == 0) {
            return true;
        }
    }
    return false;
}

bool ig_onnx_domain_is_known(ig_str domain) {
    return ig_str_is(domain, DOMAIN_ai) || ig_str_is(domain, DOMAIN_ml) ||
           ig_str_is(domain, DOMAIN_preview) || ig_str_is(domain, DOMAIN_training);
}

const char *ig_onnx_domain_label(ig_str domain, char *buffer, size_t size) {
    if (domain.size == 0) {
        return "ai.onnx";
    }
    snprintf(buffer, size, "%.*s", IG_STR_ARG(domain));
    return buffer;
}
