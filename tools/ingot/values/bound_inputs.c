/* The values of a call, however they were given.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/values/bound_inputs.h"

ig_status bind_inputs(const settings *given, const model *m, const extents *sizes,
                      bound_inputs *out) {
    *out = (bound_inputs){ 0 };
    call_init(&out->with, model_input_count(m));
    if (tree_is_given(given, m)) {
        return tree_take(given, m, &out->arguments, &out->with);
    }
    return sizes && !given->inputs_from
               ? inputs_fill(given, m, sizes, &out->with)
               : inputs_take(given, m, &out->with, &out->archive);
}

ig_status open_and_bind_inputs(const settings *given, ig_context *context,
                               const char *path, model *out_model, bound_inputs *out) {
    *out = (bound_inputs){ 0 };
    *out_model = (model){ 0 };
    ig_status status = structured_model_open(given, context, path, &out->arguments,
                                             out_model);
    return status == IG_OK ? structured_inputs(out_model, &out->arguments, &out->with)
                           : status;
}

void bound_inputs_free(bound_inputs *which) {
    call_fini(&which->with);
    structured_free(&which->arguments);
    ig_arguments_close(which->archive);
    *which = (bound_inputs){ 0 };
}
