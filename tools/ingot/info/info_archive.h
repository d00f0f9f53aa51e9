/* The contents of a TorchScript archive: ig_model_inspect's JSON, printed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_INFO_INFO_ARCHIVE_H
#define IG_TOOLS_INGOT_INFO_INFO_ARCHIVE_H

#include "tools/ingot/cli/console.h"

#include <jansson.h>

/* Must the caller specify the arguments of the method (NULL: forward) are like? */
bool archive_needs_types(const json_t *archive, const char *entry);
bool archive_has(const json_t *archive, const char *entry);
void archive_print(const json_t *archive, const char *path);
/* That it must, with a command line. */
void archive_print_need(const json_t *archive, const char *path, const char *entry);

#endif
