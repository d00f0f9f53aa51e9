/* The parts of a training, compiled: for this process, or as one artifact.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The artifact is that of the step; the other parts are artifacts in it, by the names
 * of runtime/train_format.h.  Weights that training changes are in the part of the
 * first values alone.
 */
#include "driver/compile/nested.h"
#include "driver/train/train.h"
#include "runtime/train_format.h"

typedef struct parts_call {
    ig_module *module;
    const ig_train_options *options;
    const ig_compile_options *compile;
    const char *path;
    ig_module *copies[IG_TRAIN_PARTS];
    ig_compilation builds[IG_TRAIN_PARTS];
    ig_train_part part; /* the one that is made */
    ig_module *described;
    ig_writer about;
} parts_call;

static ig_status clone_module(void *arguments) {
    parts_call *call = arguments;
    call->copies[call->part] = ig_module_clone(call->module);
    return IG_OK;
}

static ig_status make_part(parts_call *call, ig_train_part part) {
    ig_context *context = call->module->context;
    call->part = part;
    ig_status status = ig_driver_guard(context, clone_module, call);
    IG_TRY(ig_driver_settle(context, status));
    return ig_train_make(call->copies[part], call->options, call->compile, part);
}

/* ---- the description ---- */

static ig_status clone_described(void *arguments) {
    parts_call *call = arguments;
    ig_writer_init(&call->about, &ig_driver_of(call->module->context)->arena);
    call->described = ig_module_clone(call->module);
    return IG_OK;
}

/* In the context's memory for texts. */
static ig_status describe_training(parts_call *call) {
    ig_context *context = call->module->context;
    ig_status status = ig_driver_guard(context, clone_described, call);
    IG_TRY(ig_driver_settle(context, status));
    status = ig_train_describe_module(call->described, call->options, call->compile,
                                      &call->about);
    ig_module_close(call->described);
    return status;
}

ig_status ig_train_describe(ig_module *module, const ig_train_options *options,
                            const ig_compile_options *compile, const char **out_json) {
    parts_call call = { .module = module, .options = options, .compile = compile };
    ig_status status = describe_training(&call);
    *out_json = status == IG_OK ? call.about.data : NULL;
    return status;
}

/* ---- parts ---- */

ig_status ig_compile_train(ig_module *module, const ig_train_options *options,
                           const ig_compile_options *compile, ig_train_part part,
                           ig_program **out_program) {
    parts_call call = { .module = module, .options = options, .compile = compile };
    *out_program = NULL;
    ig_status status = make_part(&call, part);
    if (status == IG_OK) {
        status = ig_compile(call.copies[part], compile, out_program);
    }
    ig_module_close(call.copies[part]);
    return status;
}

static ig_status write_parts(void *arguments) {
    static const char *const names[] = { [IG_TRAIN_EVALUATE - 1] = IG_ENTRY_EVALUATE,
                                         [IG_TRAIN_PREDICT - 1] = IG_ENTRY_PREDICT,
                                         [IG_TRAIN_INITIAL - 1] = IG_ENTRY_INITIAL };
    parts_call *call = arguments;
    ig_artifact_entry about = { .name = ig_str_of(IG_ENTRY_ABOUT),
                                .data = ig_writer_str(&call->about) };
    ig_nested nested = { .what = "a model in training",
                         .path = call->path,
                         .outer = &call->builds[IG_TRAIN_STEP],
                         .inner = &call->builds[IG_TRAIN_STEP + 1],
                         .names = names,
                         .inner_count = IG_COUNT_OF(names),
                         .more = &about,
                         .more_count = 1 };
    return ig_nested_write(&nested);
}

static ig_status write_file(parts_call *call) {
    ig_context *context = call->module->context;
    IG_TRY(describe_training(call));
    for (ig_train_part part = IG_TRAIN_STEP; part < IG_TRAIN_PARTS; part++) {
        IG_TRY(make_part(call, part));
    }
    for (ig_train_part part = IG_TRAIN_STEP; part < IG_TRAIN_PARTS; part++) {
        ig_compilation_init(&call->builds[part], call->copies[part], call->compile);
    }
    ig_status status = ig_driver_guard(context, write_parts, call);
    for (ig_train_part part = IG_TRAIN_STEP; part < IG_TRAIN_PARTS; part++) {
        ig_compilation_fini(&call->builds[part]);
    }
    return ig_driver_settle(context, status);
}

ig_status ig_compile_train_file(ig_module *module, const ig_train_options *options,
                                const char *path, const ig_compile_options *compile) {
    parts_call call = {
        .module = module, .options = options, .compile = compile, .path = path
    };
    ig_status status = write_file(&call);
    for (ig_train_part part = IG_TRAIN_STEP; part < IG_TRAIN_PARTS; part++) {
        ig_module_close(call.copies[part]);
    }
    return status;
}
