/* Lists as programs take and give them: a tensor of all elements, `x`, and one of the
 * extents of each item, `x.extents` (docs/c-api.md).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_VALUES_LISTS_H
#define IG_TOOLS_INGOT_VALUES_LISTS_H

#include "tools/ingot/model/call.h"

/* Memory that values point to. */
typedef struct loans {
    void **items;
    size_t count;
} loans;

void loans_fini(loans *which);
/* Two tensors for each list among the inputs; false: with the reason. */
bool lists_to_tensors(const model *m, call *io, loans *memory, message *why);
/* The other way, among the results. */
bool lists_from_tensors(const model *m, results *io, loans *memory, message *why);

#endif
