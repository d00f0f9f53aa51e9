/* Runs a script of Lua and prints the text that its f() gives.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     lua_host FOLDER SCRIPT      of modules and artifacts; the text
 */
#include <ingot/interp.h>
#include <stdio.h>

int main(int count, char **arguments) {
    char why[2048];
    ig_interp_call how = { .size = sizeof how,
                           .message = why,
                           .message_size = sizeof why };
    const char *const paths[] = { count == 3 ? arguments[1] : "" };
    ig_interp_options options = { .size = sizeof options,
                                  .engine = "lua",
                                  .count = 1,
                                  .paths = paths,
                                  .path_count = 1,
                                  .memory = 8 << 20 };
    ig_interp_manager *manager = NULL;
    ig_interp *interp = NULL;
    ig_interp_object *f = NULL;
    ig_interp_result *result = NULL;
    ig_status status = count == 3 ? ig_interp_create(&options, &how, &manager)
                                  : IG_INVALID;
    if (status == IG_OK) {
        status = ig_interp_acquire(manager, &how, -1, &interp);
    }
    if (status == IG_OK) {
        status = ig_interp_run(interp, &how, arguments[2], "script");
    }
    if (status == IG_OK) {
        status = ig_interp_global(interp, &how, "__main__", "f", &f);
    }
    if (status == IG_OK) {
        status = ig_interp_invoke(interp, &how, f, NULL, &result);
    }
    const ig_interp_value *value = result ? ig_interp_result_value(result) : NULL;
    puts(status != IG_OK                 ? why
         : value->kind == IG_INTERP_TEXT ? value->as.text.data
                                         : "no text");
    ig_interp_result_free(result);
    ig_interp_object_free(f);
    ig_interp_release(interp);
    ig_interp_destroy(manager);
    return (int)status;
}
