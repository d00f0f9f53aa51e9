/* gdb's interface for code that no file holds.
 * SPDX-License-Identifier: Apache-2.0
 *
 * gdb sets a breakpoint of its own on __jit_debug_register_code, and reads the entry
 * that __jit_debug_descriptor then names: an ELF file in memory, one a kernel.  Names
 * and layout are gdb's (its manual, "JIT Compilation Interface"), version 1.
 */
#include "runtime/observe/observe.h"

#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct jit_code_entry {
    struct jit_code_entry *next, *previous;
    const char *file;
    uint64_t size;
};

struct jit_descriptor {
    uint32_t version, action;
    struct jit_code_entry *entry, *first;
};

enum { JIT_NOACTION, JIT_REGISTER, JIT_UNREGISTER };

/* gdb finds both by name. */
IG_API void __jit_debug_register_code(void);

IG_API struct jit_descriptor __jit_debug_descriptor = { 1, JIT_NOACTION, NULL, NULL };

__attribute__((noinline)) void __jit_debug_register_code(void) {
    __asm__ volatile("" ::: "memory");
}

struct ig_gdb_entry {
    struct jit_code_entry listed;
    char object[];
};

static pthread_mutex_t descriptor_lock = PTHREAD_MUTEX_INITIALIZER;

static void tell_gdb(uint32_t action, struct jit_code_entry *entry) {
    __jit_debug_descriptor.entry = entry;
    __jit_debug_descriptor.action = action;
    __jit_debug_register_code();
    __jit_debug_descriptor.action = JIT_NOACTION;
}

/* Sections of the image get the addresses that they have in this process. */
static bool place_sections(char *object, size_t size, uint64_t code) {
    Elf64_Ehdr header;
    if (size < sizeof header) {
        return false;
    }
    memcpy(&header, object, sizeof header);
    uint64_t bytes = (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shoff > size ||
        bytes > size - header.e_shoff) {
        return false;
    }
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        char *at = object + header.e_shoff + i * sizeof(Elf64_Shdr);
        Elf64_Shdr section;
        memcpy(&section, at, sizeof section);
        if (section.sh_flags & SHF_ALLOC) {
            section.sh_addr += code;
            memcpy(at, &section, sizeof section);
        }
    }
    return true;
}

ig_status ig_gdb_add(const ig_observed *kernel, const char *folder,
                     ig_gdb_entry **out_entry, const ig_message *message) {
    size_t size = kernel->object.size, length = strlen(folder) + 1;
    ig_debug_span room = kernel->folder;
    if (room.offset > size || room.bytes > size - room.offset) {
        return ig_message_set(message, IG_INVALID,
                              "the debug information is damaged: no room for a folder");
    }
    if (length > room.bytes) {
        return ig_message_set(message, IG_IO,
                              "%.60s…: the path is too long for debug information",
                              folder);
    }
    ig_gdb_entry *entry = malloc(sizeof *entry + size);
    if (!entry) {
        return ig_message_set(message, IG_LIMIT, "out of memory for debug information");
    }
    memcpy(entry->object, kernel->object.data, size);
    memset(entry->object + room.offset, 0, room.bytes);
    memcpy(entry->object + room.offset, folder, length);
    if (!place_sections(entry->object, size, (uintptr_t)kernel->code)) {
        free(entry);
        return ig_message_set(message, IG_INVALID,
                              "the debug information is damaged: no ELF file");
    }
    pthread_mutex_lock(&descriptor_lock);
    struct jit_code_entry *next = __jit_debug_descriptor.first;
    entry->listed = (struct jit_code_entry){ next, NULL, entry->object, size };
    if (next) {
        next->previous = &entry->listed;
    }
    __jit_debug_descriptor.first = &entry->listed;
    tell_gdb(JIT_REGISTER, &entry->listed);
    pthread_mutex_unlock(&descriptor_lock);
    *out_entry = entry;
    return IG_OK;
}

void ig_gdb_drop(ig_gdb_entry *entry) {
    struct jit_code_entry *next = entry->listed.next,
                          *previous = entry->listed.previous;
    pthread_mutex_lock(&descriptor_lock);
    if (next) {
        next->previous = previous;
    }
    if (previous) {
        previous->next = next;
    } else {
        __jit_debug_descriptor.first = next;
    }
    tell_gdb(JIT_UNREGISTER, &entry->listed);
    pthread_mutex_unlock(&descriptor_lock);
    free(entry);
}
