/* The build and its tables, as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/host.h"
#include "ingot/runtime.h"
#include "ingot_build_id.h"
#include "ir/target.h"
#include "passes/engine/pass.h"

#include <dlfcn.h>
#include <stdlib.h>

/* Environment variables that change what Ingot does. */
static const struct {
    const char *name, *help;
} knobs[] = {
    { "INGOT_CACHE_DIR", "folder of the caches; empty: none" },
    { "INGOT_CACHE_BYTES", "how much of compiled models is kept (4 GiB)" },
    { "INGOT_PROVIDER_DIR", "where libingot-llvm.so is, when not beside libingot.so" },
    { "INGOT_DEBUG",
      "checks and dumps of passes: verify, dump, roundtrip, clone, time, rules, gdb, help" },
    { "INGOT_SKIP", "passes that are left out" },
    { "INGOT_STOP", "after:PASS: stop there" },
    { "INGOT_PERF", "map, jitdump: perf is told of the code (docs/debugging.md)" },
    { "INGOT_OBSERVE_DIR", "folder of files for perf and gdb; a new one" },
    { "INGOT_LOG", "text, json: the commands' messages as lines of a log (c-api.md)" },
    { "INGOT_CAPTURE",
      "folder that calls of host programs are written to (inspect.md)" },
    { "INGOT_CAPTURE_CALLS", "how many of each session" },
    { "INGOT_CAPTURE_EVERY", "of how many calls one is written" },
    { "INGOT_OPS",
      "FILE:FILE, libraries of your own operators (docs/custom-operators.md)" },
    { "INGOT_STORE_DIR", "where plug-ins of stores are, when not beside the library" },
    { "INGOT_MPI_LIBRARY", "the MPI library of groups" },
    { "INGOT_NCCL_LIBRARY", "the NCCL library of groups" },
    { "INGOT_CUDA_DIR", "folder of the CUDA toolkit, for NVRTC" },
};

static void put_limits(ig_writer *out, const ig_limits *limits) {
    for (int i = 0; i < IG_LIMIT_COUNT; i++) {
        const ig_limit_info *info = &ig_limit_infos[i];
        ig_put(out,
               "%s\n  {\"name\": \"%s\", \"value\": %lld, \"meaning\": ", i ? "," : "",
               info->name, (long long)ig_limit_value(limits, (ig_limit_id)i));
        ig_put_json_string(out, ig_str_of(info->meaning));
        ig_put(out, "}");
    }
}

static void put_row(ig_writer *out, size_t index, const char *name, const char *help) {
    ig_put(out, "%s\n  {\"name\": ", index ? "," : "");
    ig_put_json_string(out, ig_str_of(name));
    ig_put(out, ", \"help\": ");
    ig_put_json_string(out, ig_str_of(help));
    ig_put(out, "}");
}

/* Libraries that are opened when they are needed.  They stay open: theirs are statics
 * that do not survive being closed. */
static void put_libraries(ig_writer *out) {
    static const char *const names[] = {
        "libnvrtc.so.12",    "libnvrtc.so.13",  "libcuda.so.1", "libnccl.so.2",
        "libmpi.so.40",      "libmpich.so.12",  "liblmdb.so.0", "libhiredis.so.0.14",
        "libpng16.so.16",    "libtiff.so.6",    "libwebp.so.7", "libopenjp2.so.7",
        "libturbojpeg.so.0", "libpcre2-8.so.0",
    };
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        void *library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        ig_put(out, "%s\n  {\"name\": \"%s\", \"is_found\": %s}", i ? "," : "",
               names[i], library ? "true" : "false");
    }
}

const char *ig_compiler_version(void) {
    return INGOT_VERSION;
}

const char *ig_compiler_info(ig_context *context) {
    ig_driver *host = ig_driver_of(context);
    ig_writer out;
    ig_writer_init(&out, &host->arena);
    ig_put(&out,
           "{\"version\": \"%s\",\n \"build\": \"%s\",\n \"level\": \"%s\",\n"
           " \"cpus\": %d,\n \"targets\": [",
           INGOT_VERSION, INGOT_BUILD_ID, ig_runtime_level(), ig_cpu_count());
    for (size_t i = 0; ig_targets[i]; i++) {
        ig_put(&out, "%s\"%s\"", i ? ", " : "", ig_targets[i]->name);
    }
    ig_put(&out, "],\n \"passes\": [");
    for (size_t i = 0; ig_passes[i].name; i++) {
        put_row(&out, i, ig_passes[i].name, ig_passes[i].help);
    }
    ig_put(&out, "],\n \"limits\": [");
    put_limits(&out, &context->limits);
    ig_put(&out, "],\n \"knobs\": [");
    for (size_t i = 0; i < IG_COUNT_OF(knobs); i++) {
        put_row(&out, i, knobs[i].name, knobs[i].help);
    }
    ig_put(&out, "],\n \"libraries\": [");
    put_libraries(&out);
    ig_put(&out, "]}\n");
    return ig_writer_str(&out).data;
}
