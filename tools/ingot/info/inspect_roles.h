/* Prints the roles of an artifact's ports along the batch.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_INFO_INSPECT_ROLES_H
#define IG_TOOLS_INGOT_INFO_INSPECT_ROLES_H

#include <ingot/program.h>

/* A line a port, or one that says that calls cannot be put together. */
void roles_print(const ig_program *of);
/* , "batch": [{"name": …, "role": …, "partner": …, "keys": …}, …]; none: []. */
void roles_put_json(const ig_program *of);

#endif
