/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/cli/json_file.h"

#include "tools/ingot/cli/console.h"

json_t *read_json_object(const char *path, int *out_exit) {
    json_error_t why;
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
    if (json && json_is_object(json)) {
        return json;
    }
    bool is_unreadable = !json && json_error_code(&why) == json_error_cannot_open_file;
    *out_exit = is_unreadable ? complain(exit_of(IG_IO), "%s: cannot be read", path)
                : json        ? complain(exit_of(IG_INVALID),
                                         "%s: a JSON object {…} is wanted here", path)
                              : complain(exit_of(IG_INVALID), "%s: line %d: %s", path,
                                         why.line, why.text);
    json_decref(json);
    return NULL;
}

char *read_json_text(const char *path, int *out_exit) {
    json_t *json = read_json_object(path, out_exit);
    char *text = json ? need(json_dumps(json, JSON_REAL_PRECISION(17))) : NULL;
    json_decref(json);
    return text;
}
