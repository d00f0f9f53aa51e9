/* Lists as programs take and give them: a tensor of all elements, `x`, and one of the
 * extents of each item, `x.extents`; an optional of a list is also a bool, `x.there`
 * (docs/c-api.md).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_MODEL_LISTS_H
#define IG_TOOLS_INGOT_MODEL_LISTS_H

#include "tools/ingot/model/call.h"

/* Two or three tensors for each list among the inputs; false: with the reason.  New
 * values are the results'. */
bool lists_to_tensors(const model *m, call *io, results *owner, message *why);
/* The other way, among the results. */
bool lists_from_tensors(const model *m, results *io, message *why);

#endif
