/* Libraries of the user's own operators (ingot/custom.h): opened, checked, searched.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_BASE_CUSTOM_CUSTOM_H
#define IG_BASE_CUSTOM_CUSTOM_H

#include "base/status.h"
#include "ingot/custom.h"

#include <stdbool.h>

enum { IG_CUSTOM_WHY_BYTES = 256 };

/* Opens the library that the user named, which stays open.  IG_IO: it cannot be opened;
 * IG_INVALID: it holds no table, or one that custom.h does not allow. */
ig_status ig_operators_open(const char *path, const ig_custom_library **out_library,
                            char *why);
/* IG_INVALID: a row of the table lacks something; of another version of the header. */
ig_status ig_operators_check(const ig_custom_library *library, char *why);

const ig_custom_op *ig_operators_at(const ig_custom_library *library, size_t index);
/* The operator of that name (a form is one of its own) and version, else one of that
 * name, else NULL. */
const ig_custom_op *ig_operators_find(const ig_custom_library *library,
                                      const char *name, uint32_t version);

#endif
