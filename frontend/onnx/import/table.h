/* The import table: the known ONNX operators, their forms, and the functions that build
 * them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_FRONTEND_ONNX_IMPORT_TABLE_H
#define IG_FRONTEND_ONNX_IMPORT_TABLE_H

#include "base/str.h"

typedef struct ig_onnx_node ig_onnx_node;
typedef ig_status (*ig_onnx_import_hook)(ig_onnx_node *node);

#define IG_ONNX_MANY UINT16_MAX
/* The newest opset of ai.onnx whose operators were read when the table was written. */
#define IG_ONNX_NEWEST_OPSET 28

typedef struct ig_onnx_attr_row {
    const char *name;
    int type; /* AttributeProto.type */
    bool is_required;
} ig_onnx_attr_row;

typedef struct ig_onnx_row {
    const char *domain, *name;
    uint16_t since, min_in, max_in, min_out, max_out;
    bool takes_host; /* inputs may be sequences; others are tensors */
    int variant;
    ig_onnx_import_hook import;    /* NULL: known to ONNX, not imported yet */
    const ig_onnx_attr_row *attrs; /* up to a NULL name */
} ig_onnx_row;

/* ops/rows.c, which expands ops.def. */
extern const ig_onnx_row ig_onnx_rows[];
extern const size_t ig_onnx_row_count;
extern const char *const ig_onnx_early[]; /* names of EARLY rows, up to a NULL */

/* The first (oldest) row of an operator, or NULL.  `domain` is "" for ai.onnx. */
const ig_onnx_row *ig_onnx_row_first(ig_str domain, ig_str name);
/* The row that serves `opset`, from the operator's first row on; NULL when all are
 * newer. */
const ig_onnx_row *ig_onnx_row_at(const ig_onnx_row *first, int64_t opset);
/* Has any version of the row's operator an input `index`, an attribute `name`? */
bool ig_onnx_row_has_input(const ig_onnx_row *row, uint32_t index);
bool ig_onnx_row_has_attr(const ig_onnx_row *row, const char *name);
/* Do other tools write this operator into models of older opsets? */
bool ig_onnx_row_is_early(const ig_onnx_row *row);
/* Is `domain` one whose operators are all listed? */
bool ig_onnx_domain_is_known(ig_str domain);
/* "ai.onnx" for "". */
const char *ig_onnx_domain_label(ig_str domain, char *buffer, size_t size);

#endif
