/* Choosing a level and loading its code.  SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "runtime/hash.h"
#include "runtime/program/program.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { ENTRY_NAME_BYTES = 128 };

static bool find_code(const ig_program *program, uint32_t level, ig_str *out_code) {
    char name[ENTRY_NAME_BYTES];
    const char *text = ig_plan_string(&program->plan, program->plan.levels[level]);
    int size = snprintf(name, sizeof name, IG_ENTRY_CODE "%s-%s",
                        program->device->verbs->family, text);
    return size < (int)sizeof name &&
           ig_container_find(&program->container, name, out_code);
}

/* The names of all levels that there is code for, those of other families with the
 * family in front: "v3, v4-vnni, cuda-sm_80". */
static void list_levels(ig_program *program) {
    const ig_container *container = &program->container;
    const char *family = program->device->verbs->family;
    size_t at = 0, own = strlen(family);
    for (uint32_t i = 0; i < container->count && at < sizeof program->levels; i++) {
        ig_str name = container->entries[i].name;
        if (!ig_str_starts(name, IG_ENTRY_CODE)) {
            continue;
        }
        name.data += strlen(IG_ENTRY_CODE);
        name.size -= strlen(IG_ENTRY_CODE);
        bool is_own = ig_str_starts(name, family) && name.size > own &&
                      name.data[own] == '-';
        size_t skipped = is_own ? own + 1 : 0;
        at += (size_t)snprintf(program->levels + at, sizeof program->levels - at,
                               "%s%.*s", at ? ", " : "", (int)(name.size - skipped),
                               name.data + skipped);
    }
}

static ig_status choose_level(ig_program *program, const char *wanted, ig_str *out_code,
                              const ig_message *message) {
    const ig_plan *plan = &program->plan;
    int best = 0;
    for (uint32_t i = 0; i < plan->levels_count; i++) {
        const char *name = ig_plan_string(plan, plan->levels[i]);
        int rank = program->device->verbs->rank(program->device, name);
        ig_str code;
        if (rank > best && (!wanted || strcmp(wanted, name) == 0) &&
            find_code(program, i, &code)) {
            best = rank;
            program->level = i;
            *out_code = code;
        }
    }
    if (best > 0) {
        return IG_OK;
    }
    return ig_message_set(message, IG_UNSUPPORTED,
                          "the artifact has code for %s; this machine runs %s%s%s",
                          program->levels[0] ? program->levels : "no level",
                          program->device->verbs->levels(program->device),
                          wanted ? "; asked for " : "", wanted ? wanted : "");
}

static ig_status report_damage(const ig_message *message, const char *what) {
    return ig_message_set(message, IG_INVALID, "the code is damaged: %s", what);
}

/* Header, hash, image inside the entry, entries inside the image. */
static ig_status check_code(const ig_program *program, ig_str code,
                            const ig_message *message) {
    const ig_code_header *header = (const void *)code.data;
    size_t hashed = offsetof(ig_code_header, image_offset);
    if (code.size < sizeof *header ||
        memcmp(header->magic, IG_CODE_MAGIC, sizeof header->magic) != 0) {
        return report_damage(message, "no header");
    }
    if (!ig_format_is_read(header->version)) {
        return ig_plan_refuse_version(header->version, message);
    }
    if (header->header_bytes < sizeof *header || header->code_bytes != code.size ||
        !ig_hash128_matches(&header->hash, code.data + hashed, code.size - hashed)) {
        return report_damage(message, "its hash does not match");
    }
    if (header->header_bytes > sizeof *header ||
        header->record_bytes > sizeof(ig_code_kernel)) {
        return ig_plan_refuse_newer(message);
    }
    uint64_t kernels = (uint64_t)header->kernel_count * header->record_bytes;
    if (header->kernel_count != program->plan.kernels_count ||
        header->record_bytes < sizeof(uint64_t) ||
        kernels > code.size - sizeof *header || header->image_offset > code.size ||
        header->image_offset % IG_CODE_ALIGN != 0 ||
        header->image_bytes > code.size - header->image_offset) {
        return report_damage(message, "a part is out of bounds");
    }
    return IG_OK;
}

/* The same entry in the program's text, which has its code page by page, or NULL.
 * The bytes there are checked as any other code is. */
static const void *find_text(const ig_program_options *options, ig_str code) {
    const ig_code_header *wanted = (const void *)code.data;
    for (uint64_t at = 0; at + code.size <= options->code_size;) {
        const ig_code_header *header = (const void *)((const char *)options->code + at);
        if (memcmp(header, wanted, sizeof *header) == 0) {
            return header;
        }
        uint64_t bytes = ig_align_up(header->code_bytes, IG_CODE_ALIGN);
        if (bytes == 0 || bytes > options->code_size - at) {
            break;
        }
        at += bytes;
    }
    return NULL;
}

static ig_code_source find_source(const ig_program *program,
                                  const ig_program_options *options, ig_str code) {
    const ig_file_map *file = &program->file;
    bool may_be_text = code.size >= sizeof(ig_code_header) && options->code &&
                       (uintptr_t)options->code % IG_CODE_ALIGN == 0;
    const void *text = may_be_text ? find_text(options, code) : NULL;
    return (ig_code_source){
        .bytes = text ? text : code.data,
        .size = code.size,
        .is_text = text != NULL,
        .file = file->is_copy ? -1 : program->file_index,
        .offset = file->base ? (uint64_t)(code.data - (const char *)file->data) : 0,
    };
}

/* The whole entry is loaded, header and table too: the checked code is the called code,
 * unless somebody writes into a file that is mapped. */
ig_status ig_program_load_code(ig_program *program, const ig_program_options *options,
                               const ig_message *message) {
    list_levels(program);
    if (program->plan.kernels_count == 0 && program->plan.levels_count == 0) {
        return IG_OK; /* nothing to run but copies */
    }
    ig_str code = { NULL, 0 };
    IG_TRY(choose_level(program, options->level, &code, message));
    if ((code.data - program->container.file.data) % IG_CODE_ALIGN != 0) {
        return report_damage(message, "it begins within a page");
    }
    const ig_device *device = program->device;
    ig_code_source source = find_source(program, options, code);
    IG_TRY(device->verbs->load(device, &source, &program->image, message));
    program->code_bytes = code.size;
    return check_code(program, (ig_str){ program->image.bytes, code.size }, message);
}

ig_status ig_program_find_kernel(const ig_program *program, uint32_t index,
                                 ig_device_kernel *out_kernel,
                                 const ig_message *message) {
    const ig_device *device = program->device;
    assert(index < program->plan.kernels_count && "the plan has no such kernel");
    const ig_code_header *header = (const void *)program->image.bytes;
    const char *name = ig_plan_string(&program->plan, program->plan.kernels[index]);
    uint64_t entry = UINT64_MAX; /* the first field of a record, however long that is */
    if (header) {
        memcpy(&entry,
               (const char *)(header + 1) + (size_t)index * header->record_bytes,
               sizeof entry);
    }
    if (!header || entry >= header->image_bytes) {
        return ig_message_set(message, IG_INVALID,
                              "the code is damaged: kernel '%s' is missing", name);
    }
    ig_kernel_id id = { name, header->image_offset + entry };
    return device->verbs->find(device, &program->image, id, out_kernel, message);
}
