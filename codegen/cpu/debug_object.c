/* The object of a kernel as a debugger is to see it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A debugger relocates the DWARF sections by the addresses that the section
 * table has, so the object stays relocatable and a process adds the address of the code
 * to each allocated section:
 *
 *     .text         place in the image, later + where the image is mapped
 *     .rodata*      likewise
 *     .eh_frame …   not in the image: no longer allocated
 *     .debug_*      as LLVM made them; .debug_frame unwinds
 */
#include "codegen/cpu/debug.h"

#include "base/vec.h"

#include <string.h>

static ig_status find_folder(const ig_object *object, uint64_t *out_offset) {
    char wanted[IG_CPU_FOLDER_BYTES];
    const ig_object_section *strings = ig_object_find(object, ".debug_str");
    ig_cpu_debug_folder(wanted);
    if (!strings || strings->header.sh_type != SHT_PROGBITS) {
        return ig_object_report(object, "it has no section", ".debug_str");
    }
    const Elf64_Shdr *header = &strings->header;
    const char *found = memmem(object->bytes.data + header->sh_offset, header->sh_size,
                               wanted, sizeof wanted);
    if (!found) {
        return ig_object_report(object, "it does not name the folder of its", "text");
    }
    *out_offset = (uint64_t)(found - object->bytes.data);
    return IG_OK;
}

ig_status ig_cpu_debug_object(const ig_object *object, ig_arena *arena,
                              ig_kernel_debug *out) {
    char *copy = ig_arena_copy(arena, object->bytes.data, object->bytes.size);
    Elf64_Ehdr header;
    memcpy(&header, copy, sizeof header);
    for (uint32_t i = 0; i < object->section_count; i++) {
        const ig_object_section *s = &object->sections[i];
        Elf64_Shdr changed = s->header;
        changed.sh_addr = s->offset >= 0 ? (uint64_t)s->offset : 0;
        if (s->offset < 0) {
            changed.sh_flags &= ~(uint64_t)SHF_ALLOC;
        }
        memcpy(copy + header.e_shoff + i * sizeof changed, &changed, sizeof changed);
    }
    out->object = (ig_str){ copy, object->bytes.size };
    out->folder_bytes = IG_CPU_FOLDER_BYTES;
    return find_folder(object, &out->folder);
}
