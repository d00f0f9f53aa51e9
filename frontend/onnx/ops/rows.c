/* The rows of the import table, expanded from ops.def in its order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frontend/onnx/import/table.h"

#include "frontend/onnx/ops/hooks.h"
#include "frontend/onnx/read/onnx.pb-c.h"
#include "ir/ops.h"

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
const char *const ig_onnx_early[] = {
#define ONNX(domain, name, since, min_in, max_in, min_out, max_out, import, variant, \
             attrs)
#define LATER(domain, name, since)
#define EARLY(domain, name) #name,
#include "frontend/onnx/ops/ops.def"
#undef ONNX
#undef LATER
#undef EARLY
    NULL
};
