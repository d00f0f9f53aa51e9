/* Opening and closing programs.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     map → container → copy of the plan, checked → level, code → constants → layout
 *
 * Each part puts its resources into the program at once, so that one function closes a
 * program in any state.
 */
#include "base/platform/platform_open.h"
#include "base/sized.h"
#include "runtime/cpu/cpu.h"
#include "runtime/hash.h"
#include "runtime/program/program.h"
#include "runtime/stored_format.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_BYTES = 128, ENTRY_NAME_BYTES = 64 };

/* The container, or the one inside of it that `part` names. */
static ig_status open_container(ig_program *program, const char *part,
                                const ig_message *message) {
    ig_container *container = &program->container;
    ig_str inner;
    IG_TRY(ig_container_open(container->file, container, message));
    if (!part) {
        return IG_OK;
    }
    if (!ig_container_find(container, part, &inner) ||
        (uintptr_t)inner.data % IG_ENTRY_ALIGN != 0) {
        return ig_message_set(message, IG_INVALID, "the artifact has no part '%s'",
                              part);
    }
    return ig_container_open(inner, container, message);
}

/* Of tables in stores; artifacts without them have no such entry. */
static ig_status check_stored(const ig_program *program, const ig_message *message) {
    ig_str stored;
    ig_stored_header header;
    size_t hashed = offsetof(ig_stored_header, input_count);
    if (!ig_container_find(&program->container, IG_ENTRY_STORED, &stored)) {
        return IG_OK;
    }
    if (stored.size < sizeof header ||
        memcmp(stored.data, IG_STORED_MAGIC, sizeof header.magic) != 0) {
        return ig_message_set(message, IG_INVALID, "its list of stores is damaged");
    }
    memcpy(&header, stored.data, sizeof header);
    if (!ig_format_is_read(header.version)) {
        return ig_plan_refuse_version(header.version, message);
    }
    return ig_hash128_matches(&header.hash, stored.data + hashed, stored.size - hashed)
               ? IG_OK
               : ig_message_set(
                     message, IG_INVALID,
                     "its list of stores is damaged: its hash does not match");
}

/* The plan of the device's family. */
static ig_status find_plan(const ig_program *program, ig_str *out_plan,
                           const ig_message *message) {
    const char *family = program->device->verbs->family;
    const ig_container *container = &program->container;
    bool is_cpu = strcmp(family, IG_FAMILY_NAME_CPU) == 0;
    char name[ENTRY_NAME_BYTES];
    (void)snprintf(name, sizeof name, is_cpu ? IG_ENTRY_PLAN : IG_ENTRY_PLAN "-%s",
                   family);
    if (ig_container_find(container, name, out_plan)) {
        return IG_OK;
    }
    for (uint32_t i = 0; i < container->count; i++) {
        ig_str other = container->entries[i].name;
        if (ig_str_starts(other, IG_ENTRY_PLAN)) {
            return ig_message_set(message, IG_UNSUPPORTED,
                                  "the artifact has no plan for %s, but '%.*s'", family,
                                  (int)other.size, other.data);
        }
    }
    return ig_message_set(message, IG_INVALID, "not an artifact: it holds no plan");
}

static ig_status copy_plan(ig_program *program, const ig_message *message) {
    ig_str plan;
    IG_TRY(check_stored(program, message));
    IG_TRY(find_plan(program, &plan, message));
    program->plan_bytes = malloc(plan.size + 1);
    if (!program->plan_bytes) {
        return ig_message_set(message, IG_LIMIT,
                              "out of memory for a plan of %zu bytes", plan.size);
    }
    memcpy(program->plan_bytes, plan.data, plan.size);
    IG_TRY(ig_plan_open(program->plan_bytes, plan.size, &program->plan, message));
    const char *family = ig_plan_string(&program->plan, program->plan.header->family);
    return strcmp(family, program->device->verbs->family) == 0
               ? IG_OK
               : ig_message_set(message, IG_INVALID,
                                "the plan is damaged: it is of another family");
}

static ig_status open_parts(ig_program *program, const char *path,
                            const ig_program_options *options,
                            const ig_message *message) {
    IG_TRY(open_container(program, options->part, message));
    IG_TRY(ig_program_choose_device(program, options, message));
    IG_TRY(copy_plan(program, message));
    IG_TRY(ig_program_load_code(program, options, message));
    IG_TRY(ig_program_find_constants(program, path, options, message));
    if (program->device->verbs->staging) {
        IG_TRY(program->device->verbs->staging->load(program, options, message));
    }
    IG_TRY(ig_program_lay_out(program, options, message));
    return ig_program_begin_observing(program, options, message);
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
    program->file_index = -1;
    return program;
}

/* The file stays open until its code is mapped. */
static ig_status open_file(ig_program *program, const char *path,
                           const ig_message *message) {
    char why[WHY_BYTES];
    ig_status status = ig_file_open(path, &program->file_index, why);
    if (status == IG_OK) {
        status = ig_file_map_kept(program->file_index, &program->file, why);
    }
    program->container.file = (ig_str){ program->file.data, program->file.size };
    return status == IG_OK ? IG_OK
                           : ig_message_set(message, status, "%s: %s", path, why);
}

static void close_file(ig_program *program) {
    if (program->file_index >= 0) {
        (void)ig_close(program->file_index);
        program->file_index = -1;
    }
}

/* The options as this library knows them: fields that the caller's struct lacks are
 * zero. */
static ig_status complete_options(const ig_program_options *options,
                                  ig_program_options *all, ig_message *out_message) {
    *all = (ig_program_options){ .size = sizeof *all };
    bool is_sized = ig_sized_take(all, sizeof *all, options);
    const ig_program_options *heard = is_sized ? all : options;
    *out_message = (ig_message){ heard->message, heard->message_size, all->log };
    return is_sized ? IG_OK
                    : ig_message_set(out_message, IG_INVALID, IG_UNSIZED_WORDS,
                                     "ig_program_options");
}

static ig_status open_file_or_memory(const char *path, ig_str bytes,
                                     const ig_program_options *options,
                                     const ig_message *message,
                                     ig_program **out_program) {
    ig_program *program = create_program(message);
    if (!program) {
        return IG_LIMIT;
    }
    program->container.file = bytes;
    ig_status status = path ? open_file(program, path, message) : IG_OK;
    if (status == IG_OK) {
        status = open_parts(program, path, options, message);
    }
    close_file(program);
    if (status != IG_OK) {
        ig_program_close(program);
        return status;
    }
    *out_program = program;
    return IG_OK;
}

ig_status ig_program_open(const char *path, const ig_program_options *options,
                          ig_program **out_program) {
    ig_program_options all;
    ig_message message;
    *out_program = NULL;
    IG_TRY(complete_options(options, &all, &message));
    return open_file_or_memory(path, IG_STR(""), &all, &message, out_program);
}

ig_status ig_program_open_memory(const void *bytes, size_t size,
                                 const ig_program_options *options,
                                 ig_program **out_program) {
    ig_program_options all;
    ig_message message;
    *out_program = NULL;
    IG_TRY(complete_options(options, &all, &message));
    if ((uintptr_t)bytes % IG_ENTRY_ALIGN != 0) {
        return ig_message_set(&message, IG_INVALID,
                              "an artifact in memory must be aligned to %d bytes",
                              IG_ENTRY_ALIGN);
    }
    return open_file_or_memory(NULL, (ig_str){ bytes, size }, &all, &message,
                               out_program);
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
    if (program->observer) {
        program->observer->close(program->observer);
    }
    free(program->execs);
    free(program->port_slots);
    free(program->late_outputs);
    const ig_device_verbs *verbs = program->device->verbs;
    if (verbs->staging) {
        verbs->staging->unload(program);
    }
    ig_program_drop_constants(program);
    verbs->unload(program->device, &program->image);
    if (verbs->close) {
        verbs->close(program->device);
    }
    ig_plan_close(&program->plan);
    free(program->plan_bytes);
    if (program->file.base) {
        ig_file_map_close(&program->file);
    }
    free(program);
}
