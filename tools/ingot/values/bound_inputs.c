/* Inputs of a call, however they were given.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/values/bound_inputs.h"

ig_status bind_inputs(const settings *given, const model *m, const extents *sizes,
                      bound_inputs *out) {
    if (out->is_bound) {
        return IG_OK;
    }
    out->is_bound = true;
    call_init(&out->with, model_input_count(m));
    if (tree_is_given(given, m)) {
        ig_status status = structured_arguments(given, m->context, &out->arguments);
        return status == IG_OK ? tree_bind_or_report(m, &out->arguments, &out->with)
                               : status;
    }
    return sizes && !given->inputs_from
               ? inputs_fill(given, m, sizes, &out->with)
               : inputs_take(given, m, &out->with, &out->archive);
}

void bound_inputs_free(bound_inputs *which) {
    call_fini(&which->with);
    structured_free(&which->arguments);
    ig_arguments_close(which->archive);
    *which = (bound_inputs){ 0 };
}

/* A model whose arguments say its types is opened for them. */
static ig_status open_model(const settings *given, ig_context *context, model *m,
                            bound_inputs *values, message *why) {
    const char *path = given->arguments.items[0];
    if (!is_structured_model(path)) {
        return model_open(given, context, path, m, why);
    }
    values->is_bound = true;
    ig_status status = structured_model_open(given, context, path, &values->arguments,
                                             m);
    return status == IG_OK ? tree_bind_or_report(m, &values->arguments, &values->with)
                           : status;
}

int work_on_model(const settings *given, model_work work) {
    int exit_status;
    ig_context *context = context_open(given, NULL, &exit_status);
    if (!context) {
        return exit_status;
    }
    model m = { 0 };
    bound_inputs values = { 0 };
    message why = { "" };
    ig_status status = open_model(given, context, &m, &values, &why);
    if (status == IG_OK) {
        status = work(given, &m, &values, &why);
    }
    bound_inputs_free(&values);
    model_close(&m);
    exit_status = report(status, &why);
    context_close(context);
    return exit_status;
}
