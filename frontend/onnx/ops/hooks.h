/* The import functions, declared by expanding the table that names them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A function that several rows name is declared several times, which is harmless. */
#ifndef IG_FRONTEND_ONNX_OPS_HOOKS_H
#define IG_FRONTEND_ONNX_OPS_HOOKS_H

#include "frontend/onnx/import/args.h"

#define ONNX(domain, name, since, min_in, max_in, min_out, max_out, import, variant, \
             attrs)                                                                  \
    ig_status ig_onnx_import_##import(ig_onnx_node *node);
#define LATER(domain, name, since)
#define EARLY(domain, name)
#include "frontend/onnx/ops/ops.def"
#undef ONNX
#undef LATER
#undef EARLY

#endif
