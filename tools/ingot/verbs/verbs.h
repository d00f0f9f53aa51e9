/* The verbs of the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_VERBS_VERBS_H
#define IG_TOOLS_INGOT_VERBS_VERBS_H

#include "tools/ingot/cli/options.h"

extern const verb *const verbs[]; /* NULL-terminated */

#endif
