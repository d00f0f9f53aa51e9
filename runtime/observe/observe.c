/* A program's kernels, made known to gdb and perf.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     image, plan      → where each kernel is, its name and the nodes that it is of
 *     debug/cpu-LEVEL  → its text, written to a file; lines; an ELF file of it
 *
 * Without the latter, which --debug puts into an artifact and `ingot strip` takes out,
 * perf has names alone, and gdb nothing.
 */
#include "runtime/observe/observe.h"

#include "runtime/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct observer {
    ig_observer verbs; /* first: the program calls it */
    ig_program const *program;
    unsigned wants;
    ig_observe_folder folder;
    char texts[IG_OBSERVE_PATH_BYTES]; /* the folder of this program; or "" */
    ig_str debug;                      /* the entry; empty: there is none */
    ig_observed kernel;                /* the one at hand */
    ig_gdb_entry **entries;            /* by kernel; NULL: gdb does not know it */
    char **files;                      /* by kernel: of its text, or NULL */
} observer;

/* ---- the requested kinds ---- */

static ig_status read_wishes(unsigned given, unsigned *out, const ig_message *message) {
    static const struct {
        const char *word;
        unsigned bit;
    } words[] = { { "map", IG_OBSERVE_PERF_MAP },
                  { "jitdump", IG_OBSERVE_PERF_JITDUMP } };
    const char *perf = secure_getenv("INGOT_PERF"),
               *debug = secure_getenv("INGOT_DEBUG");
    *out = given;
    if (debug && strstr(debug, "gdb")) {
        *out |= IG_OBSERVE_GDB;
    }
    while (perf && *perf) {
        size_t size = strcspn(perf, ",");
        unsigned bit = 0;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            bool is_it = strlen(words[i].word) == size &&
                         memcmp(words[i].word, perf, size) == 0;
            bit |= is_it ? words[i].bit : 0;
        }
        if (!bit) {
            return ig_message_set(message, IG_INVALID,
                                  "INGOT_PERF: '%.*s' is neither map nor jitdump",
                                  (int)size, perf);
        }
        *out |= bit;
        perf += size + (perf[size] == ',');
    }
    return IG_OK;
}

/* ---- the entry of debug information ---- */

static ig_status report_damage(const ig_message *message, const char *what) {
    return ig_message_set(message, IG_INVALID, "the debug information is damaged: %s",
                          what);
}

static ig_status find_debug(observer *o, const ig_message *message) {
    const ig_program *program = o->program;
    char name[128];
    (void)snprintf(
        name, sizeof name, IG_ENTRY_DEBUG "%s-%s", program->device->verbs->family,
        ig_plan_string(&program->plan, program->plan.levels[program->level]));
    if (!ig_container_find(&program->container, name, &o->debug)) {
        return IG_OK;
    }
    const ig_debug_header *header = (const void *)o->debug.data;
    const ig_code_header *code = (const void *)program->image.bytes;
    size_t hashed = sizeof *header;
    if (o->debug.size < sizeof *header ||
        memcmp(header->magic, IG_DEBUG_MAGIC, sizeof header->magic) != 0 ||
        header->version != IG_FORMAT_VERSION || header->bytes != o->debug.size) {
        return report_damage(message, "no header");
    }
    if (!ig_hash128_matches(&header->hash, o->debug.data + hashed,
                            o->debug.size - hashed)) {
        return report_damage(message, "its hash does not match");
    }
    if (memcmp(&header->code, &code->hash, sizeof code->hash) != 0 ||
        header->kernel_count != program->plan.kernels_count ||
        header->kernel_count >
            (o->debug.size - sizeof *header) / sizeof(ig_debug_kernel)) {
        return report_damage(message, "it is of other code");
    }
    return IG_OK;
}

/* NULL when the span is not all there. */
static const char *bytes_of(const observer *o, ig_debug_span span) {
    bool is_there = span.offset <= o->debug.size &&
                    span.bytes <= o->debug.size - span.offset;
    return is_there ? o->debug.data + span.offset : NULL;
}

/* A file name that stays in its folder. */
static bool is_plain_name(const char *name, size_t size) {
    return name && size > 0 && size < 200 && name[0] != '.' &&
           !memchr(name, '/', size) && !memchr(name, 0, size);
}

static ig_status write_text(observer *o, uint32_t index, const ig_debug_kernel *known,
                            const ig_message *message) {
    const char *file = bytes_of(o, known->file), *text = bytes_of(o, known->text);
    if (!text || !is_plain_name(file, known->file.bytes)) {
        return report_damage(message, "a text is out of bounds");
    }
    if (!o->texts[0]) {
        const ig_plan *plan = &o->program->plan;
        IG_TRY(ig_observe_folder_enter(
            &o->folder, ig_plan_string(plan, plan->header->model), o->texts, message));
    }
    int size = snprintf(o->kernel.path, sizeof o->kernel.path, "%s/%.*s", o->texts,
                        (int)known->file.bytes, file);
    if (size >= (int)sizeof o->kernel.path) {
        return ig_message_set(message, IG_IO, "%.60s…: too long a path", o->texts);
    }
    o->files[index] = strdup(o->kernel.path);
    return ig_observe_write(o->kernel.path, (ig_str){ text, known->text.bytes },
                            message);
}

/* The entry's record of kernel `number`, which has code. */
static ig_status add_debug(observer *o, uint32_t index, const ig_message *message) {
    const ig_debug_kernel *known =
        (const ig_debug_kernel *)(const void *)(o->debug.data +
                                                sizeof(ig_debug_header)) +
        index;
    const ig_code_header *header = (const void *)o->program->image.bytes;
    if (known->text.bytes == 0) {
        return IG_OK;
    }
    const char *lines = bytes_of(o, known->lines), *object = bytes_of(o, known->object);
    if (!lines || !object || known->code > header->image_bytes ||
        known->lines.offset % _Alignof(ig_debug_line)) {
        return report_damage(message, "a part is out of bounds");
    }
    IG_TRY(write_text(o, index, known, message));
    o->kernel.code = o->program->image.bytes + header->image_offset + known->code;
    o->kernel.object = (ig_str){ object, known->object.bytes };
    o->kernel.folder = known->folder;
    o->kernel.lines = (const void *)lines;
    o->kernel.line_count = known->lines.bytes / sizeof(ig_debug_line);
    return IG_OK;
}

/* ---- kernels ---- */

static ig_status tell_all(observer *o, uint32_t index, const ig_message *message) {
    if (o->wants & IG_OBSERVE_PERF_MAP) {
        IG_TRY(ig_perf_map_add(&o->kernel, message));
    }
    if (o->wants & IG_OBSERVE_PERF_JITDUMP) {
        IG_TRY(ig_jitdump_add(&o->kernel, message));
    }
    if ((o->wants & IG_OBSERVE_GDB) && o->kernel.object.size) {
        IG_TRY(ig_gdb_add(&o->kernel, o->texts, &o->entries[index], message));
    }
    return IG_OK;
}

static ig_status tell_kernel(observer *o, uint32_t index, const ig_message *message) {
    const char *image = o->program->image.bytes;
    const ig_code_header *header = (const void *)image;
    const ig_code_kernel *kernel = (const ig_code_kernel *)(const void *)(header + 1) +
                                   index;
    if (kernel->entry >= header->image_bytes) { /* this level has not got it */
        return IG_OK;
    }
    uint64_t left = header->image_bytes - kernel->entry;
    o->kernel = (ig_observed){ .code = image + header->image_offset + kernel->entry,
                               .size = kernel->bytes < left ? kernel->bytes : left };
    ig_observe_label(o->program, index, o->kernel.label);
    if (o->debug.size) {
        IG_TRY(add_debug(o, index, message));
    }
    return tell_all(o, index, message);
}

static ig_status tell_program(observer *o, const char *folder,
                              const ig_message *message) {
    uint32_t count = o->program->plan.kernels_count;
    o->entries = calloc(count + 1, sizeof *o->entries);
    o->files = calloc(count + 1, sizeof *o->files);
    if (!o->entries || !o->files) {
        return ig_message_set(message, IG_LIMIT, "out of memory");
    }
    IG_TRY(find_debug(o, message));
    if (o->debug.size || (o->wants & IG_OBSERVE_PERF_JITDUMP)) {
        IG_TRY(ig_observe_folder_open(folder, &o->folder, message));
    }
    if (o->wants & IG_OBSERVE_PERF_JITDUMP) {
        IG_TRY(ig_jitdump_open(&o->folder, message));
    }
    for (uint32_t i = 0; i < count; i++) {
        IG_TRY(tell_kernel(o, i, message));
    }
    return IG_OK;
}

/* ---- life ---- */

/* Texts that only gdb had a use for. */
static void remove_texts(observer *o, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (o->files[i]) {
            (void)unlink(o->files[i]);
        }
    }
    if (o->texts[0]) {
        (void)rmdir(o->texts);
    }
    if (o->folder.is_new) {
        (void)rmdir(o->folder.path); /* fails where others are in it */
    }
}

static void close_observer(ig_observer *opened) {
    observer *o = (observer *)(void *)opened;
    uint32_t count = o->entries && o->files ? o->program->plan.kernels_count : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (o->entries[i]) {
            ig_gdb_drop(o->entries[i]);
        }
    }
    if (o->wants == IG_OBSERVE_GDB) {
        remove_texts(o, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        free(o->files[i]);
    }
    free(o->entries);
    free(o->files);
    free(o);
}

ig_status ig_observe_start(ig_observe_request *request, ig_observer **out_observer) {
    ig_message message = { request->why, sizeof request->why, NULL };
    unsigned wants = 0;
    *out_observer = NULL;
    if (request->program_size != sizeof(ig_program) ||
        strcmp(request->version, INGOT_VERSION) != 0) {
        return ig_message_set(&message, IG_INVALID,
                              "libingot-observe is of another build than the runtime");
    }
    IG_TRY(read_wishes(request->wants, &wants, &message));
    if (!wants || request->program->plan.kernels_count == 0) {
        return IG_OK;
    }
    observer *o = calloc(1, sizeof *o);
    if (!o) {
        return ig_message_set(&message, IG_LIMIT, "out of memory");
    }
    *o = (observer){ .verbs = { close_observer },
                     .program = request->program,
                     .wants = wants };
    ig_status status = tell_program(o, request->folder, &message);
    if (status != IG_OK) {
        close_observer(&o->verbs);
        return status;
    }
    *out_observer = &o->verbs;
    return IG_OK;
}
