/* The public functions that compile: caches, files, programs in memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program for this process is the same container, in the cache or in anonymous
 * memory: there is one way to load code, and code tested ahead of time is the code that
 * runs just in time.
 */
#include "driver/compile/compile.h"

#include "driver/cache/cache.h"
#include "driver/artifact/emit.h"
#include "driver/compile/isolate.h"
#include "driver/cache/key.h"
#include "driver/artifact/record.h"
#include "ingot/runtime.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Weights of this size are not copied where a copy is not asked for. */
enum { BORROWED_BYTES = 16 << 20, CACHED_BYTES = 512 << 20 };

typedef struct compile_call {
    ig_compilation build;
    ig_context *context;
    ig_program **out_program;
    ig_isolated_work work; /* model NULL: the module is here */
    ig_file_map isolated;  /* the worker's result */
    bool has_folder;       /* of the cache: it was looked for */
    bool is_arm64;         /* the machine of an object */
    ig_str key;            /* of the cache; empty: not cached */
    ig_str whole_key;      /* of models with weights inside, where these are borrowed */
    ig_cached_model cached;
} compile_call;

/* ---- making the container ---- */

/* A target that is a GPU, or NULL. */
static ig_status find_gpu(const compile_call *call, const ig_target **out) {
    ig_target_list list;
    IG_TRY(ig_targets_parse(call->context, call->build.options.target, &list));
    for (uint32_t i = 0; i < list.count; i++) {
        bool is_gpu = list.targets[i]->family == IG_FAMILY_GPU;
        *out = is_gpu ? list.targets[i] : *out;
    }
    return IG_OK;
}

/* Refuses work that cannot be isolated, so that no user takes it for isolated. */
static ig_status check_isolation(const compile_call *call) {
    const ig_compile_options *options = &call->build.options;
    ig_diag *diag = &call->context->diag;
    const ig_target *gpu = NULL;
    if (!options->isolate) {
        return IG_OK;
    }
    if (!call->work.model) {
        return ig_error_hint(diag, IG_INVALID, NULL,
                             "ig_compile_model reads and compiles a file in isolation",
                             "a module that was imported here cannot be isolated");
    }
    if (options->weights == IG_WEIGHTS_REFERENCE || options->after_pass ||
        options->stop_after) {
        return ig_error(
            diag, IG_UNSUPPORTED, NULL,
            "an isolated compilation embeds weights and cannot show passes");
    }
    IG_TRY(find_gpu(call, &gpu));
    return gpu ? ig_error(diag, IG_UNSUPPORTED, NULL,
                          "NVRTC, which makes code for %s, does not run in isolation",
                          gpu->name)
               : IG_OK;
}

static ig_status make_container(compile_call *call) {
    ig_compilation *build = &call->build;
    if (!call->work.model) {
        return ig_compilation_run(build);
    }
    call->work.compile = &build->options;
    call->work.artifact = build->path;
    IG_TRY(ig_isolate(call->context, &call->work, (ig_module *)(uintptr_t)build->module,
                      &call->isolated));
    call->build.parts = IG_NEW_ARRAY(&call->build.arena, ig_file_part, 1);
    call->build.parts[0] = (ig_file_part){ call->isolated.data, call->isolated.size };
    call->build.part_count = 1;
    return IG_OK;
}

/* Whoever watches passes wants them to run. */
static bool is_watched(const ig_compile_options *options) {
    static const char *const knobs[] = { "INGOT_DEBUG", "INGOT_SKIP", "INGOT_STOP" };
    bool is_set = options->after_pass || options->stop_after;
    for (size_t i = 0; i < IG_COUNT_OF(knobs); i++) {
        is_set |= secure_getenv(knobs[i]) != NULL;
    }
    return is_set;
}

/* A file of one rank holds more than a program in memory of the same module. */
static void add_record_key(compile_call *call) {
    const ig_compilation *build = &call->build;
    const shard_record *record = shard_record_of(build->module);
    ig_writer key;
    if (!record || !build->path) {
        return;
    }
    ig_writer_init(&key, call->build.payloads.arena);
    ig_put_str(&key, call->key);
    shard_record_put_key(record, &key);
    call->key = ig_writer_str(&key);
}

/* Sets folder and key, and finds a cached artifact. */
static ig_status look_up(compile_call *call) {
    ig_compilation *build = &call->build;
    if (build->options.no_cache || call->work.model) {
        return IG_OK;
    }
    if (!call->has_folder) { /* a folder that is not used is said once */
        call->has_folder = true;
        IG_TRY(ig_cache_check_limit(call->context));
        build->folder = ig_cache_folder(call->context, &build->arena);
    }
    if (!build->folder || is_watched(&build->options)) {
        return IG_OK;
    }
    ig_status status = IG_OK;
    build->payloads.folder = build->folder;
    call->key = ig_key_of_model(build->module, &build->options, &build->payloads,
                                build->path, &status);
    if (status == IG_OK) {
        add_record_key(call);
        call->cached = ig_cache_find_model(build->folder, call->key);
    }
    return status;
}

static uint64_t container_bytes(const ig_compilation *build) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < build->part_count; i++) {
        bytes += build->parts[i].size;
    }
    return bytes;
}

/* ---- public: files ---- */

static ig_status report_write(compile_call *call, ig_status status, const char *why) {
    ig_location where = { .file = call->build.path };
    return status == IG_OK ? IG_OK
                           : ig_error(&call->context->diag, status, &where,
                                      "cannot write: %s", why);
}

static ig_status write_file(compile_call *call, const ig_file_part *parts,
                            size_t count) {
    char why[128];
    ig_status status = ig_file_publish(call->build.path, parts, count, why);
    return report_write(call, status, why);
}

static bool emits_form(const compile_call *call, const char *form) {
    const char *emit = call->build.options.emit;
    return strcmp(emit ? emit : "ingot", form) == 0;
}

/* Writes a container in the form that was asked for. */
static ig_status publish_form(compile_call *call, const ig_file_part *parts,
                              size_t count) {
    assert((emits_form(call, "ingot") || emits_form(call, "object") ||
            emits_form(call, "shared")) &&
           "check_form knows the form, and headers are written elsewhere");
    if (emits_form(call, "ingot")) {
        return write_file(call, parts, count);
    }
    ig_file_part *object = NULL;
    size_t object_count = 0;
    ig_arena *arena = &call->build.arena;
    ig_emit_target target = { ig_emit_symbol(arena, call->build.path), call->is_arm64 };
    ig_emit_object(arena, &target, parts, count, &object, &object_count);
    return emits_form(call, "shared")
               ? ig_emit_shared(call->context, call->build.path, object, object_count)
               : write_file(call, object, object_count);
}

static void *fill_cache(void *user) {
    const compile_call *call = user;
    const ig_compilation *build = &call->build;
    /* Larger artifacts would push out all others. */
    if (call->key.size && container_bytes(build) < CACHED_BYTES) {
        ig_cache_put_model(build->folder, call->key, build->parts, build->part_count);
    }
    return NULL;
}

/* The artifact and its entry in the cache are written side by side.  Nothing between
 * begin and end of the thread takes memory of an arena, which might not come back. */
static ig_status write_and_cache(compile_call *call) {
    assert(call->build.part_count > 0 && "the container was made");
    char why[128];
    pthread_t thread;
    ig_compilation *build = &call->build;
    bool is_beside = pthread_create(&thread, NULL, fill_cache, call) == 0;
    ig_status status = ig_file_publish(build->path, build->parts, build->part_count,
                                       why);
    if (is_beside) {
        pthread_join(thread, NULL);
    }
    return report_write(call, status, why);
}

static ig_status publish_and_cache(compile_call *call) {
    if (emits_form(call, "ingot")) {
        return write_and_cache(call);
    }
    IG_TRY(publish_form(call, call->build.parts, call->build.part_count));
    fill_cache(call);
    return IG_OK;
}

ig_status ig_check_output_path(const ig_module *module, const char *path) {
    struct stat facts;
    if (stat(path, &facts) != 0) {
        return IG_OK;
    }
    for (size_t i = 0; i < module->files.count; i++) {
        const ig_file_map *map = &module->files.items[i];
        if (map->inode == facts.st_ino && map->device == facts.st_dev) {
            ig_location where = { .file = path };
            return ig_error_hint(&module->context->diag, IG_INVALID, &where,
                                 "give the result another name",
                                 "this file is part of the model that is compiled: it "
                                 "would be replaced");
        }
    }
    return IG_OK;
}

static ig_status check_output_path(const compile_call *call) {
    return ig_check_output_path(call->build.module, call->build.path);
}

static ig_status publish_header(compile_call *call) {
    if (call->work.model) {
        IG_TRY(make_container(call));
        IG_TRY(check_output_path(call));
        return write_file(call, call->build.parts, call->build.part_count);
    }
    ig_arena *arena = &call->build.arena;
    ig_str text = ig_emit_header(arena, ig_emit_symbol(arena, call->build.path),
                                 (ig_module *)(uintptr_t)call->build.module);
    ig_file_part part = { text.data, text.size };
    return write_file(call, &part, 1);
}

/* An ELF object is of one machine, and so are the few instructions in it. */
static ig_status find_machine(compile_call *call) {
    ig_target_list list;
    const ig_target *of[IG_FAMILY_GPU + 1] = { NULL };
    IG_TRY(ig_targets_parse(call->context, call->build.options.target, &list));
    for (uint32_t i = 0; i < list.count; i++) {
        of[list.targets[i]->family] = list.targets[i];
    }
    if (of[IG_FAMILY_CPU] && of[IG_FAMILY_ARM64]) {
        return ig_error_hint(&call->context->diag, IG_UNSUPPORTED, NULL,
                             "an artifact runs on both machines",
                             "an object is for one machine, not for %s and %s",
                             of[IG_FAMILY_CPU]->name, of[IG_FAMILY_ARM64]->name);
    }
    call->is_arm64 = of[IG_FAMILY_ARM64] != NULL;
    return IG_OK;
}

static ig_status check_form(compile_call *call) {
    static const char *const forms[] = { "ingot", "object", "header", "shared" };
    for (size_t i = 0; i < IG_COUNT_OF(forms); i++) {
        if (emits_form(call, forms[i])) {
            return i == 0 ? IG_OK : find_machine(call);
        }
    }
    return ig_error_hint(&call->context->diag, IG_INVALID, NULL,
                         "ingot, object, header, shared", "there is no form '%s'",
                         call->build.options.emit);
}

/* An entry that nobody touched is copied as it is. */
static bool copy_cached(compile_call *call) {
    return call->cached.is_untouched && emits_form(call, "ingot") &&
           ig_file_publish_copy(call->build.path, call->cached.path, NULL) == IG_OK;
}

/* True when the artifact was taken out of the cache (or could not be written).  A
 * damaged entry is made again. */
static bool take_cached(compile_call *call, ig_status *status) {
    ig_file_map map;
    if (call->cached.file < 0) {
        return false;
    }
    if (copy_cached(call)) {
        return true;
    }
    if (!ig_cached_model_is_sound(&call->cached, &map)) {
        return false;
    }
    ig_file_part part = { map.data, map.size };
    *status = publish_form(call, &part, 1);
    ig_file_map_close(&map);
    return true;
}

static ig_status compile_to_file(void *arguments) {
    compile_call *call = arguments;
    ig_status status = IG_OK;
    IG_TRY(check_form(call));
    IG_TRY(check_isolation(call));
    IG_TRY(check_output_path(call));
    ig_file_remove_stale(call->build.path);
    if (emits_form(call, "header")) {
        return publish_header(call);
    }
    IG_TRY(look_up(call));
    if (take_cached(call, &status)) {
        return status;
    }
    IG_TRY(make_container(call));
    IG_TRY(check_output_path(call)); /* now the model's files are known */
    return publish_and_cache(call);
}

static ig_status run_call(compile_call *call, ig_status (*work)(void *)) {
    call->cached.file = -1;
    ig_status status = ig_driver_guard(call->context, work, call);
    ig_cached_model_close(&call->cached);
    ig_file_map_close(&call->isolated);
    ig_compilation_fini(&call->build);
    return ig_driver_settle(call->context, status);
}

ig_status ig_compile_file(ig_module *module, const char *path,
                          const ig_compile_options *options) {
    compile_call call = { .context = module->context };
    ig_compilation_init(&call.build, module, options);
    call.build.path = path;
    return run_call(&call, compile_to_file);
}

/* ---- public: this process ---- */

static bool write_part(int file, const ig_file_part *part) {
    const char *data = part->data;
    size_t left = part->size;
    while (left) {
        ssize_t written = write(file, data, left);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        data += written;
        left -= (size_t)written;
    }
    return true;
}

static ig_program_options program_options(const compile_call *call) {
    bool is_debug = call->build.options.debug != 0;
    return (ig_program_options){ .size = sizeof(ig_program_options),
                                 .observe = is_debug ? IG_OBSERVE_GDB : 0,
                                 .libraries = call->context->custom,
                                 .library_count = call->context->custom_count,
                                 .device_memory = call->build.options.device_memory };
}

static ig_status open_in_memory(compile_call *call) {
    assert(call->build.part_count > 0 && "the container was made");
    ig_diag *diag = &call->context->diag;
    int file = memfd_create("ingot-program", MFD_CLOEXEC);
    bool is_written = file >= 0;
    for (size_t i = 0; i < call->build.part_count && is_written; i++) {
        is_written = write_part(file, &call->build.parts[i]);
    }
    if (!is_written) {
        bool is_forbidden = file < 0 && (errno == EPERM || errno == EACCES);
        ig_status status =
            is_forbidden
                ? ig_error_hint(diag, IG_UNSUPPORTED, NULL,
                                "allow memfd_create, write the program to a file, or "
                                "let a cache keep it",
                                "this system forbids programs in memory "
                                "(memfd_create: %s)",
                                strerror(errno))
                : ig_error(diag, IG_LIMIT, NULL, "no memory for the program: %s",
                           strerror(errno));
        if (file >= 0) {
            close(file);
        }
        return status;
    }
    char path[IG_OPEN_PATH_BYTES], message[512] = "";
    ig_open_file_path(file, path);
    ig_program_options options = program_options(call);
    options.message = message;
    options.message_size = sizeof message;
    ig_status status = ig_program_open(path, &options, call->out_program);
    close(file);
    return status == IG_OK
               ? IG_OK
               : ig_error(diag, status, NULL, "the compiled program: %s", message);
}

/* A program for this process reads large weights in place.  False when it does
 * already, or has few. */
static bool borrow_weights(ig_compilation *build) {
    bool is_large = ig_payloads_on_disk(build->module) >= BORROWED_BYTES;
    bool has_own = build->options.weights != IG_WEIGHTS_REFERENCE;
    if (is_large) {
        build->options.weights = IG_WEIGHTS_REFERENCE;
    }
    return is_large && has_own;
}

/* True when the cached artifact is open.  One that is damaged is made again. */
static bool open_cached(compile_call *call) {
    ig_file_map map;
    if (call->cached.file < 0 || !ig_cached_model_is_sound(&call->cached, &map)) {
        return false;
    }
    ig_file_map_close(&map);
    ig_program_options options = program_options(call);
    return ig_program_open(call->cached.path, &options, call->out_program) == IG_OK;
}

/* Keeps the result and opens the entry, whose pages are shared with other processes;
 * where nothing is kept the program has memory of its own. */
static ig_status open_made(compile_call *call) {
    ig_compilation *build = &call->build;
    ig_cached_model_close(&call->cached);
    if (call->key.size &&
        ig_cache_put_model(build->folder, call->key, build->parts, build->part_count)) {
        call->cached = ig_cache_find_model(build->folder, call->key);
    }
    return open_cached(call) ? IG_OK : open_in_memory(call);
}

/* An entry that holds its weights, as writing a file leaves it, serves as well. */
static ig_status find_program(compile_call *call, bool *found) {
    IG_TRY(look_up(call));
    *found = open_cached(call);
    if (!*found && borrow_weights(&call->build)) {
        ig_cached_model_close(&call->cached);
        call->whole_key = call->key;
        IG_TRY(look_up(call));
        *found = open_cached(call);
    }
    return IG_OK;
}

static ig_status compile_to_program(void *arguments) {
    compile_call *call = arguments;
    bool found = false;
    IG_TRY(check_isolation(call));
    IG_TRY(find_program(call, &found));
    if (found) {
        return IG_OK;
    }
    IG_TRY(make_container(call));
    if (call->whole_key.size && !call->build.refers) {
        call->key = call->whole_key; /* all of them were packed: none is borrowed */
    }
    return open_made(call);
}

ig_status ig_compile(ig_module *module, const ig_compile_options *options,
                     ig_program **out_program) {
    *out_program = NULL;
    compile_call call = { .context = module->context, .out_program = out_program };
    ig_compilation_init(&call.build, module, options);
    return run_call(&call, compile_to_program);
}

/* ---- public: models ---- */

/* The empty module replaces the one that only the worker sees. */
static ig_status run_isolated(ig_context *context, const char *path,
                              const ig_import_options *import,
                              const ig_compile_options *options, const char *artifact,
                              ig_program **out_program) {
    ig_import_options how = { .size = sizeof how };
    ig_options_take(context, &how, sizeof how, import);
    if (how.checkpoint || how.external_data_count) {
        ig_status status =
            ig_error(&context->diag, IG_UNSUPPORTED, NULL, "%s in isolation",
                     how.checkpoint ? "weights of a checkpoint are not read"
                                    : "external data in memory is not read");
        return ig_driver_settle(context, status);
    }
    compile_call call = { .context = context,
                          .out_program = out_program,
                          .work = { .model = path, .import = &how } };
    ig_module *module = ig_module_create_for(context, path);
    ig_compilation_init(&call.build, module, options);
    call.build.path = artifact;
    ig_status status = run_call(&call, artifact ? compile_to_file : compile_to_program);
    ig_module_close(module);
    return status;
}

static bool is_isolated(ig_context *context, const ig_compile_options *options) {
    ig_compile_options whole = { 0 };
    ig_options_take(context, &whole, sizeof whole, options);
    return whole.isolate != 0;
}

ig_status ig_compile_model(ig_context *context, const char *path,
                           const ig_import_options *import,
                           const ig_compile_options *options,
                           ig_program **out_program) {
    *out_program = NULL;
    if (is_isolated(context, options)) {
        return run_isolated(context, path, import, options, NULL, out_program);
    }
    ig_module *module = NULL;
    IG_TRY(ig_import(context, path, import, &module));
    ig_status status = ig_compile(module, options, out_program);
    ig_module_close(module);
    return status;
}

ig_status ig_compile_model_file(ig_context *context, const char *path,
                                const ig_import_options *import, const char *artifact,
                                const ig_compile_options *options) {
    if (is_isolated(context, options)) {
        return run_isolated(context, path, import, options, artifact, NULL);
    }
    ig_module *module = NULL;
    IG_TRY(ig_import(context, path, import, &module));
    ig_status status = ig_compile_file(module, artifact, options);
    ig_module_close(module);
    return status;
}
