/* Inputs of a call, however they were given.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/values/bound_inputs.h"

#include "tools/ingot/values/declare.h"

/* Values that are given whole say their extents themselves. */
static bool are_sizes_given(const settings *given) {
    if (!given->batch && !given->batch_size && !given->dims.count) {
        return false;
    }
    complain(0, "the inputs that are given say how large they are: give no --batch and "
                "no --dim with them");
    (void)wrong_usage();
    return true;
}

ig_status bind_inputs(const settings *given, const model *m, const extents *sizes,
                      bound_inputs *out) {
    if (out->is_bound) {
        return IG_OK;
    }
    out->is_bound = true;
    call_init(&out->with, model_input_count(m));
    bool is_tree = tree_is_given(given, m);
    if ((is_tree || given->inputs_from) && are_sizes_given(given)) {
        return IG_INVALID;
    }
    if (is_tree) {
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

/* Where the file leaves a rank out, the values that were given say it. */
static ig_status open_flat_model(const settings *given, ig_context *context,
                                 const char *path, model *m, message *why) {
    declarations types;
    ig_status status = declare_unranked(given, context, path, &types);
    if (status == IG_OK && types.count == 0) {
        status = model_open(given, context, path, m, why);
    } else if (status == IG_OK) {
        ig_import_options how = import_options(given);
        how.inputs = (const char *const *)types.items;
        how.input_count = types.count;
        *m = (model){ .context = context };
        status = module_open(given, path, &how, m);
    }
    if (status != IG_OK) {
        model_close(m);
    }
    declarations_free(&types);
    return status;
}

/* A model whose arguments say its types is opened for them. */
ig_status model_open_for(const settings *given, ig_context *context, const char *path,
                         model *m, bound_inputs *values, message *why) {
    const char *format = NULL;
    ig_status status = model_format(path, &format);
    if (status != IG_OK) {
        return status;
    }
    if (!is_structured_format(format)) {
        return open_flat_model(given, context, path, m, why);
    }
    values->is_bound = true;
    if (are_sizes_given(given)) {
        return IG_INVALID;
    }
    status = structured_model_open(given, context, path, &values->arguments, m);
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
    ig_status status = model_open_for(given, context, given->arguments.items[0], &m,
                                      &values, &why);
    if (status == IG_OK) {
        status = work(given, &m, &values, &why);
    }
    bool has_failed = values.has_failed;
    bound_inputs_free(&values);
    model_close(&m);
    exit_status = status == IG_OK && has_failed ? EXIT_FAILED : report(status, &why);
    context_close(context);
    return exit_status;
}

ig_status run_once(const settings *given, const model *m, bound_inputs *values,
                   results_work work, message *why) {
    results got = { 0 };
    ig_session *session = NULL;
    ig_status status = bind_inputs(given, m, NULL, values);
    if (status == IG_OK) {
        status = session_open(given, m, &session, why);
    }
    if (status == IG_OK) {
        status = call_run(m, session, &values->with, &got, why);
    }
    if (status == IG_OK) {
        status = work(given, m, &got, values);
    }
    results_fini(&got);
    ig_session_destroy(session);
    return status;
}
