/* Opening and closing programs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     map → container → copy of the plan, checked → level, code → constants → layout
 *
 * Each part puts what it holds into the program at once, so that one function closes a
 * program in any state.
 */
#include "runtime/program.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_BYTES = 128 };

static ig_status copy_plan(ig_program *program, const ig_message *message) {
    ig_str plan;
    IG_TRY(ig_container_open(program->container.file, &program->container, message));
    if (!ig_container_find(&program->container, IG_ENTRY_PLAN, &plan)) {
        return ig_message_set(message, IG_INVALID, "not an artifact: it holds no plan");
    }
    program->plan_bytes = malloc(plan.size + 1);
    if (!program->plan_bytes) {
        return ig_message_set(message, IG_LIMIT,
                              "out of memory for a plan of %zu bytes", plan.size);
    }
    memcpy(program->plan_bytes, plan.data, plan.size);
    return ig_plan_open(program->plan_bytes, plan.size, &program->plan, message);
}

static ig_status open_parts(ig_program *program, const char *path,
                            const ig_program_options *options,
                            const ig_message *message) {
    IG_TRY(copy_plan(program, message));
    IG_TRY(ig_program_load_code(program, options->level, message));
    IG_TRY(ig_program_find_constants(program, path, options, message));
    return ig_program_lay_out(program, message);
}

static ig_program *create_program(const ig_message *message) {
    ig_program *program = calloc(1, sizeof *program);
    if (!program) {
        (void)ig_message_set(message, IG_LIMIT, "out of memory");
        return NULL;
    }
    atomic_store(&program->references, 1);
    program->device = &ig_device_cpu;
    program->level = IG_NONE;
    return program;
}

/* The options as this library knows them: fields that the caller's struct lacks are
 * zero. */
static ig_program_options complete_options(const ig_program_options *options) {
    ig_program_options all = { .size = sizeof all };
    if (options) {
        memcpy(&all, options, options->size < sizeof all ? options->size : sizeof all);
    }
    return all;
}

ig_status ig_program_open(const char *path, const ig_program_options *options,
                          ig_program **out_program) {
    ig_program_options all = complete_options(options);
    ig_message message = { all.message, all.message_size };
    *out_program = NULL;
    ig_program *program = create_program(&message);
    if (!program) {
        return IG_LIMIT;
    }
    char why[WHY_BYTES];
    ig_status status = ig_file_map_open(path, &program->file, why);
    if (status != IG_OK) {
        (void)ig_message_set(&message, status, "%s: %s", path, why);
    } else {
        program->container.file = (ig_str){ program->file.data, program->file.size };
        status = open_parts(program, path, &all, &message);
    }
    if (status != IG_OK) {
        ig_program_close(program);
        return status;
    }
    *out_program = program;
    return IG_OK;
}

ig_status ig_program_open_memory(const void *bytes, size_t size,
                                 const ig_program_options *options,
                                 ig_program **out_program) {
    ig_program_options all = complete_options(options);
    ig_message message = { all.message, all.message_size };
    *out_program = NULL;
    if ((uintptr_t)bytes % IG_ENTRY_ALIGN != 0) {
        return ig_message_set(&message, IG_INVALID,
                              "an artifact in memory must be aligned to %d bytes",
                              IG_ENTRY_ALIGN);
    }
    ig_program *program = create_program(&message);
    if (!program) {
        return IG_LIMIT;
    }
    program->container.file = (ig_str){ bytes, size };
    ig_status status = open_parts(program, NULL, &all, &message);
    if (status != IG_OK) {
        ig_program_close(program);
        return status;
    }
    *out_program = program;
    return IG_OK;
}

void ig_program_retain(ig_program *program) {
    int references = atomic_fetch_add(&program->references, 1);
    assert(references > 0 && "a closed program is kept alive");
    (void)references;
}

void ig_program_close(ig_program *program) {
    if (!program || atomic_fetch_sub(&program->references, 1) != 1) {
        return;
    }
    free(program->execs);
    free(program->port_slots);
    ig_program_drop_constants(program);
    program->device->verbs->unload(program->device, &program->image);
    ig_plan_close(&program->plan);
    free(program->plan_bytes);
    if (program->file.base) {
        ig_file_map_close(&program->file);
    }
    free(program);
}
