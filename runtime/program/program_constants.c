/* The places of constants: entries of the artifact, files beside it, the caller's
 * memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A source is a run of bytes: number 0 is `weights`, number 1 `weights-<level>`, and
 * the files follow.  Constants are checked against their source once and are plain
 * pointers from then on.  With the load policy "hugepage" the used part of a source is
 * copied into 2 MiB pages first.
 */
#include "base/checked.h"
#include "runtime/hash.h"
#include "runtime/program/program.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { EMBEDDED = 2, WHY_BYTES = 128, ENTRY_NAME_BYTES = 128, LARGE_PAGE = 2 << 20 };

static uint32_t source_of(const ig_plan_constant *constant) {
    return constant->source == IG_CONSTANT_FILE ? EMBEDDED + constant->file
                                                : constant->source;
}

/* ---- finding sources ---- */

static void find_entries(ig_program *program) {
    const ig_plan *plan = &program->plan;
    char name[ENTRY_NAME_BYTES];
    (void)ig_container_find(&program->container, IG_ENTRY_WEIGHTS,
                            &program->sources[0].bytes);
    if (program->level == IG_NONE) {
        return;
    }
    int size = snprintf(name, sizeof name, "%s%s", IG_ENTRY_LEVEL_WEIGHTS,
                        ig_plan_string(plan, plan->levels[program->level]));
    if (size < (int)sizeof name) {
        (void)ig_container_find(&program->container, name, &program->sources[1].bytes);
    }
}

static bool find_in_memory(const ig_program_options *options, const char *path,
                           ig_str *out_bytes) {
    for (size_t i = 0; i < options->file_count; i++) {
        if (strcmp(options->files[i].path, path) == 0) {
            *out_bytes = (ig_str){ options->files[i].data, options->files[i].size };
            return true;
        }
    }
    return false;
}

static ig_status map_file(const char *artifact, const char *path, const char *instead,
                          ig_file_map *out_map, char *why) {
    if (instead) {
        return ig_file_map_open(instead, out_map, why);
    }
    if (path[0] == '/') {
        return ig_file_map_open(path, out_map, why);
    }
    if (!artifact) {
        (void)snprintf(why, WHY_BYTES,
                       "the artifact is in memory, so there is no folder to look in");
        return IG_IO;
    }
    return ig_file_map_beneath(artifact, ig_str_of(path), out_map, why);
}

/* The same bytes as when the artifact was written?  By time, else by hash. */
static ig_status check_file(const ig_program *program, uint32_t index,
                            const ig_message *message) {
    const ig_plan *plan = &program->plan;
    const ig_plan_file *file = &plan->files[index];
    const ig_constant_file *source = &program->sources[EMBEDDED + index];
    const char *path = ig_plan_string(plan, file->path);
    if (source->bytes.size != file->bytes) {
        return ig_message_set(
            message, IG_INVALID,
            "%s has changed: it has %zu bytes, the artifact was made from %llu", path,
            source->bytes.size, (unsigned long long)file->bytes);
    }
    if (source->map.base == NULL || source->map.mtime_ns == file->mtime_ns) {
        return IG_OK;
    }
    for (uint32_t i = 0; i < plan->constants_count; i++) {
        const ig_plan_constant *constant = &plan->constants[i];
        if (source_of(constant) != EMBEDDED + index || constant->offset > file->bytes ||
            constant->bytes > file->bytes - constant->offset) {
            continue; /* not in this file; out of range is found later */
        }
        if (ig_hash128_is_zero(&constant->hash) ||
            !ig_hash128_matches(&constant->hash, source->bytes.data + constant->offset,
                                constant->bytes)) {
            return ig_message_set(
                message, IG_INVALID,
                "%s has changed since the artifact was made: constant '%s' differs",
                path, ig_plan_string(plan, constant->name));
        }
    }
    return IG_OK;
}

static ig_status find_file(ig_program *program, uint32_t index, const char *artifact,
                           const ig_program_options *options,
                           const ig_message *message) {
    const ig_plan *plan = &program->plan;
    const char *path = ig_plan_string(plan, plan->files[index].path);
    ig_constant_file *source = &program->sources[EMBEDDED + index];
    if (!find_in_memory(options, path, &source->bytes)) {
        char why[WHY_BYTES];
        const char *instead = index == 0 ? options->weights_path : NULL;
        ig_status status = map_file(artifact, path, instead, &source->map, why);
        if (status != IG_OK) {
            /* The artifact names it, not the user: then it is the artifact that
             * errs. */
            status = status == IG_IO && !instead ? IG_INVALID : status;
            return ig_message_set(message, status, "weights file %s: %s",
                                  instead ? instead : path, why);
        }
        source->bytes = (ig_str){ source->map.data, source->map.size };
    }
    return check_file(program, index, message);
}

/* ---- large pages ---- */

/* Copies bytes begin … end of the source to large pages; constants then count from a
 * base that keeps their offsets. */
static ig_status copy_large(ig_constant_file *source, uint64_t begin, uint64_t end,
                            const ig_message *message) {
    assert(begin < end && end <= source->bytes.size && "constants were not checked");
    size_t size = (size_t)(end - begin) + begin % IG_ENTRY_ALIGN;
    size_t mapped = ig_align_up(size, LARGE_PAGE) + LARGE_PAGE;
    char *memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return ig_message_set(message, IG_LIMIT,
                              "out of memory for %zu bytes of weights", size);
    }
    source->copy = memory;
    source->copy_size = mapped;
    size_t skip = (size_t) - (uintptr_t)memory % LARGE_PAGE;
    char *target = memory + skip;
    (void)madvise(target, ig_align_up(size, LARGE_PAGE), MADV_HUGEPAGE);
    memcpy(target + begin % IG_ENTRY_ALIGN, source->bytes.data + begin,
           (size_t)(end - begin));
    (void)mprotect(memory, mapped, PROT_READ);
    return IG_OK;
}

/* The range of source `number` that constants use. */
static void find_extent(const ig_plan *plan, uint32_t index, uint64_t *out_begin,
                        uint64_t *out_end) {
    *out_begin = UINT64_MAX;
    *out_end = 0;
    for (uint32_t i = 0; i < plan->constants_count; i++) {
        const ig_plan_constant *constant = &plan->constants[i];
        if (source_of(constant) == index && constant->bytes > 0) {
            uint64_t end = constant->offset + constant->bytes;
            *out_begin = constant->offset < *out_begin ? constant->offset : *out_begin;
            *out_end = end > *out_end ? end : *out_end;
        }
    }
}

static ig_status copy_to_large_pages(ig_program *program, uint32_t index,
                                     const ig_message *message) {
    ig_constant_file *source = &program->sources[index];
    uint64_t begin, end;
    find_extent(&program->plan, index, &begin, &end);
    if (begin >= end) {
        return IG_OK;
    }
    IG_TRY(copy_large(source, begin, end, message));
    const char *target = (const char *)source->copy + (size_t) -
                         (uintptr_t)source->copy % LARGE_PAGE + begin % IG_ENTRY_ALIGN;
    for (uint32_t i = 0; i < program->plan.constants_count; i++) {
        const ig_plan_constant *constant = &program->plan.constants[i];
        if (source_of(constant) == index && constant->bytes > 0) {
            program->constants[i] = target + (constant->offset - begin);
        }
    }
    return IG_OK;
}

/* ---- constants ---- */

static ig_status find_constant(ig_program *program, uint32_t index, bool checks,
                               const ig_message *message) {
    const ig_plan_constant *constant = &program->plan.constants[index];
    const ig_constant_file *source = &program->sources[source_of(constant)];
    const char *name = ig_plan_string(&program->plan, constant->name);
    if (constant->offset > source->bytes.size ||
        constant->bytes > source->bytes.size - constant->offset) {
        return ig_message_set(message, IG_INVALID,
                              "constant '%s' is outside of its weights", name);
    }
    /* An empty constant in an absent entry still wants an address. */
    program->constants[index] = source->bytes.data
                                    ? source->bytes.data + constant->offset
                                    : "";
    if (checks && !ig_hash128_is_zero(&constant->hash) &&
        !ig_hash128_matches(&constant->hash, program->constants[index],
                            constant->bytes)) {
        return ig_message_set(message, IG_INVALID,
                              "constant '%s' is damaged: its hash does not match",
                              name);
    }
    return IG_OK;
}

static ig_status check_alignment(const ig_program *program, const ig_message *message) {
    for (uint32_t i = 0; i < EMBEDDED; i++) {
        if ((uintptr_t)program->sources[i].bytes.data % IG_ENTRY_ALIGN != 0) {
            return ig_message_set(message, IG_INVALID,
                                  "the artifact is damaged: weights are not aligned");
        }
    }
    return IG_OK;
}

ig_status ig_program_find_constants(ig_program *program, const char *path,
                                    const ig_program_options *options,
                                    const ig_message *message) {
    const ig_plan *plan = &program->plan;
    uint32_t source_count = EMBEDDED + plan->files_count;
    program->sources = calloc(source_count, sizeof *program->sources);
    program->constants = calloc((size_t)plan->constants_count + 1,
                                sizeof *program->constants);
    if (!program->sources || !program->constants) {
        return ig_message_set(message, IG_LIMIT, "out of memory");
    }
    find_entries(program);
    IG_TRY(check_alignment(program, message));
    for (uint32_t i = 0; i < plan->files_count; i++) {
        IG_TRY(find_file(program, i, path, options, message));
    }
    for (uint32_t i = 0; i < plan->constants_count; i++) {
        IG_TRY(find_constant(program, i, options->check_weights != 0, message));
    }
    program->resident = program->constants;
    for (uint32_t i = 0; i < source_count && options->load == IG_LOAD_HUGEPAGE; i++) {
        IG_TRY(copy_to_large_pages(program, i, message));
    }
    return IG_OK;
}

void ig_program_drop_constants(ig_program *program) {
    for (uint32_t i = 0; program->sources && i < EMBEDDED + program->plan.files_count;
         i++) {
        ig_constant_file *source = &program->sources[i];
        if (source->copy) {
            munmap(source->copy, source->copy_size);
        }
        if (source->map.base) {
            ig_file_map_close(&source->map);
        }
    }
    free(program->sources);
    free(program->constants);
}
