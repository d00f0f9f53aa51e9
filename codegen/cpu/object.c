/* Sections and symbols of an ELF object, every offset checked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/cpu/object.h"

#include <string.h>

ig_status ig_object_report(const ig_object *object, const char *what,
                           const char *name) {
    return ig_error(
        &object->context->diag, IG_INTERNAL, NULL,
        "kernel '%s': its object code cannot be made position-independent: %s%s%s",
        object->kernel, what, name ? " " : "", name ? name : "");
}

/* `size` bytes at `offset` of the object, or NULL when they are not all there. */
const char *ig_object_span(const ig_object *object, uint64_t offset, uint64_t size) {
    if (offset > object->bytes.size || size > object->bytes.size - offset) {
        return NULL;
    }
    return object->bytes.data + offset;
}

/* The zero-terminated string at `offset` of a string table, or NULL. */
static const char *string_at(const ig_object *object, const Elf64_Shdr *table,
                             uint64_t offset) {
    const char *bytes = ig_object_span(object, table->sh_offset, table->sh_size);
    if (!bytes || offset >= table->sh_size ||
        !memchr(bytes + offset, 0, table->sh_size - offset)) {
        return NULL;
    }
    return bytes + offset;
}

/* ---- sections ---- */

static ig_status read_header(ig_object *object, Elf64_Ehdr *header) {
    const char *bytes = ig_object_span(object, 0, sizeof(*header));
    if (!bytes) {
        return ig_object_report(object, "it is not an ELF file", NULL);
    }
    memcpy(header, bytes, sizeof(*header));
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_type != ET_REL ||
        (header->e_machine != EM_X86_64 && header->e_machine != EM_AARCH64) ||
        header->e_shentsize != sizeof(Elf64_Shdr)) {
        return ig_object_report(object, "it is not a relocatable ELF file of a CPU",
                                NULL);
    }
    return IG_OK;
}

static ig_status read_sections(ig_object *object, ig_arena *arena) {
    Elf64_Ehdr header;
    IG_TRY(read_header(object, &header));
    uint64_t size = (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);
    const char *table = ig_object_span(object, header.e_shoff, size);
    if (!table || header.e_shstrndx >= header.e_shnum) {
        return ig_object_report(object, "its section table is damaged", NULL);
    }
    object->machine = header.e_machine;
    object->section_count = header.e_shnum;
    object->sections = IG_NEW_ARRAY(arena, ig_object_section, object->section_count);
    for (uint32_t i = 0; i < object->section_count; i++) {
        memcpy(&object->sections[i].header, table + i * sizeof(Elf64_Shdr),
               sizeof(Elf64_Shdr));
    }
    const Elf64_Shdr *names = &object->sections[header.e_shstrndx].header;
    for (uint32_t i = 0; i < object->section_count; i++) {
        ig_object_section *s = &object->sections[i];
        s->offset = IG_OBJECT_NOWHERE;
        s->name = string_at(object, names, s->header.sh_name);
        bool is_empty = s->header.sh_type == SHT_NOBITS || s->header.sh_size == 0;
        if (!s->name || (!is_empty && !ig_object_span(object, s->header.sh_offset,
                                                      s->header.sh_size))) {
            return ig_object_report(object, "a section is damaged", NULL);
        }
    }
    return IG_OK;
}

ig_status ig_object_open(ig_object *object, ig_context *context, const char *kernel,
                         ig_str bytes, ig_arena *arena) {
    *object = (ig_object){ .context = context, .kernel = kernel, .bytes = bytes };
    return read_sections(object, arena);
}

const ig_object_section *ig_object_find(const ig_object *object, const char *name) {
    for (uint32_t i = 0; i < object->section_count; i++) {
        if (strcmp(object->sections[i].name, name) == 0) {
            return &object->sections[i];
        }
    }
    return NULL;
}

/* ---- symbols ---- */

bool ig_object_symbol(const ig_object *object, const Elf64_Shdr *table, uint64_t index,
                      Elf64_Sym *out_symbol) {
    const char *symbols = ig_object_span(object, table->sh_offset, table->sh_size);
    if (!symbols || index >= table->sh_size / sizeof(Elf64_Sym)) {
        return false;
    }
    memcpy(out_symbol, symbols + index * sizeof(Elf64_Sym), sizeof(*out_symbol));
    return true;
}

const char *ig_object_symbol_name(const ig_object *object, const Elf64_Shdr *table,
                                  const Elf64_Sym *symbol) {
    uint16_t at = symbol->st_shndx;
    const char *name = NULL;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_SECTION && at < object->section_count) {
        name = object->sections[at].name;
    } else if (table->sh_link < object->section_count) {
        name = string_at(object, &object->sections[table->sh_link].header,
                         symbol->st_name);
    }
    return name ? name : "?";
}

/* Where the symbol is in the image; IG_OBJECT_NOWHERE when it does not. */
int64_t ig_object_symbol_offset(const ig_object *object, const Elf64_Sym *symbol) {
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= object->section_count) {
        return IG_OBJECT_NOWHERE;
    }
    const ig_object_section *s = &object->sections[symbol->st_shndx];
    if (s->offset == IG_OBJECT_NOWHERE || symbol->st_value > s->header.sh_size) {
        return IG_OBJECT_NOWHERE;
    }
    return s->offset + (int64_t)symbol->st_value;
}
