/* Files that hold a JSON object.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_INGOT_CLI_JSON_FILE_H
#define IG_TOOLS_INGOT_CLI_JSON_FILE_H

#include <jansson.h>

/* The caller's; NULL after a message, and *out_exit is the exit status. */
json_t *read_json_object(const char *path, int *out_exit);
/* The same as text: allocated. */
char *read_json_text(const char *path, int *out_exit);

#endif
