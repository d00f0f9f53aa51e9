/* The flattener: an ELF64 object becomes bytes that run wherever they are mapped.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     object                              image
 *     .text  .text.k      ── kept ──▶     .text .text.k | .rodata .rodata.cst16
 *     .rodata .rodata.cst16 ─ kept ──▶      each at its alignment, offsets from byte 0
 *     .rela.text          ── applied: the distance between two places of the image
 *     .eh_frame .comment .note* .symtab …  dropped
 *
 * Code and its read-only data move together, so a reference relative to the place that
 * refers (PC32, and PLT32 to a symbol defined here) is final once the sections are laid
 * out.  Everything else - an undefined symbol, writable data, an absolute address -
 * would need a linker or the address of the mapping, and is a defect of whoever made
 * the object.  Offsets and sizes of the file are checked all the same.
 */
#include "codegen/cpu/image.h"

#include "base/checked.h"

#include <elf.h>
#include <string.h>

enum { LARGEST_ALIGNMENT = 64, NOWHERE = -1 };

typedef struct section {
    Elf64_Shdr header;
    const char *name;
    int64_t place; /* offset in the image; NOWHERE: not kept */
} section;

typedef struct reader {
    ig_context *context;
    const char *kernel;
    ig_str object;
    ig_arena *arena;
    section *sections;
    uint32_t section_count;
    char *image;
    size_t image_size;
} reader;

static ig_status report_image(const reader *r, const char *what, const char *name) {
    return ig_error(
        &r->context->diag, IG_INTERNAL, NULL,
        "kernel '%s': its object code cannot be made position-independent: %s%s%s",
        r->kernel, what, name ? " " : "", name ? name : "");
}

/* `size` bytes at `offset` of the object, or NULL when they are not all there. */
static const char *span_at(const reader *r, uint64_t offset, uint64_t size) {
    if (offset > r->object.size || size > r->object.size - offset) {
        return NULL;
    }
    return r->object.data + offset;
}

/* The zero-terminated string at `offset` of a string table, or NULL. */
static const char *string_at(const reader *r, const Elf64_Shdr *table,
                             uint64_t offset) {
    const char *bytes = span_at(r, table->sh_offset, table->sh_size);
    if (!bytes || offset >= table->sh_size ||
        !memchr(bytes + offset, 0, table->sh_size - offset)) {
        return NULL;
    }
    return bytes + offset;
}

/* ---- sections ---- */

static ig_status read_header(reader *r, Elf64_Ehdr *header) {
    const char *bytes = span_at(r, 0, sizeof(*header));
    if (!bytes) {
        return report_image(r, "it is no ELF file", NULL);
    }
    memcpy(header, bytes, sizeof(*header));
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_type != ET_REL ||
        header->e_machine != EM_X86_64 || header->e_shentsize != sizeof(Elf64_Shdr)) {
        return report_image(r, "it is no relocatable x86-64 ELF file", NULL);
    }
    return IG_OK;
}

static ig_status read_sections(reader *r) {
    Elf64_Ehdr header;
    IG_TRY(read_header(r, &header));
    uint64_t size = (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);
    const char *table = span_at(r, header.e_shoff, size);
    if (!table || header.e_shstrndx >= header.e_shnum) {
        return report_image(r, "its section table is damaged", NULL);
    }
    r->section_count = header.e_shnum;
    r->sections = IG_NEW_ARRAY(r->arena, section, r->section_count);
    for (uint32_t i = 0; i < r->section_count; i++) {
        memcpy(&r->sections[i].header, table + i * sizeof(Elf64_Shdr),
               sizeof(Elf64_Shdr));
    }
    const Elf64_Shdr *names = &r->sections[header.e_shstrndx].header;
    for (uint32_t i = 0; i < r->section_count; i++) {
        section *s = &r->sections[i];
        s->place = NOWHERE;
        s->name = string_at(r, names, s->header.sh_name);
        bool is_empty = s->header.sh_type == SHT_NOBITS || s->header.sh_size == 0;
        if (!s->name ||
            (!is_empty && !span_at(r, s->header.sh_offset, s->header.sh_size))) {
            return report_image(r, "a section is damaged", NULL);
        }
    }
    return IG_OK;
}

static bool has_prefix(const char *name, const char *prefix) {
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Loaded by a linker, but of no use to us. */
static bool is_dropped(const section *s) {
    return !(s->header.sh_flags & SHF_ALLOC) || s->header.sh_size == 0 ||
           has_prefix(s->name, ".eh_frame") || has_prefix(s->name, ".note");
}

/* Gives every kept section of the wanted kind its place. */
static ig_status place_sections(reader *r, const char *prefix) {
    for (uint32_t i = 0; i < r->section_count; i++) {
        section *s = &r->sections[i];
        if (is_dropped(s) || !has_prefix(s->name, prefix)) {
            continue;
        }
        uint64_t alignment = s->header.sh_addralign ? s->header.sh_addralign : 1;
        if (s->header.sh_type != SHT_PROGBITS || (s->header.sh_flags & SHF_WRITE) ||
            (alignment & (alignment - 1)) || alignment > LARGEST_ALIGNMENT) {
            return report_image(r, "it needs section", s->name);
        }
        size_t place = ig_align_up(r->image_size, (size_t)alignment);
        s->place = (int64_t)place;
        r->image_size = place + (size_t)s->header.sh_size; /* both within the object */
    }
    return IG_OK;
}

static ig_status lay_out(reader *r) {
    IG_TRY(place_sections(r, ".text"));
    r->image_size = ig_align_up(r->image_size, LARGEST_ALIGNMENT);
    IG_TRY(place_sections(r, ".rodata"));
    r->image_size = ig_align_up(r->image_size, LARGEST_ALIGNMENT);
    for (uint32_t i = 0; i < r->section_count; i++) {
        if (!is_dropped(&r->sections[i]) && r->sections[i].place == NOWHERE) {
            return report_image(r, "it needs section", r->sections[i].name);
        }
    }
    r->image = ig_arena_zalloc(r->arena, r->image_size);
    for (uint32_t i = 0; i < r->section_count; i++) {
        const section *s = &r->sections[i];
        if (s->place != NOWHERE) {
            memcpy(r->image + s->place, r->object.data + s->header.sh_offset,
                   s->header.sh_size);
        }
    }
    return IG_OK;
}

/* ---- symbols and relocations ---- */

static bool read_symbol(const reader *r, const Elf64_Shdr *table, uint64_t index,
                        Elf64_Sym *out_symbol) {
    const char *symbols = span_at(r, table->sh_offset, table->sh_size);
    if (!symbols || index >= table->sh_size / sizeof(Elf64_Sym)) {
        return false;
    }
    memcpy(out_symbol, symbols + index * sizeof(Elf64_Sym), sizeof(*out_symbol));
    return true;
}

static const char *symbol_name(const reader *r, const Elf64_Shdr *table,
                               const Elf64_Sym *symbol) {
    uint16_t at = symbol->st_shndx;
    const char *name = NULL;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_SECTION && at < r->section_count) {
        name = r->sections[at].name;
    } else if (table->sh_link < r->section_count) {
        name = string_at(r, &r->sections[table->sh_link].header, symbol->st_name);
    }
    return name ? name : "?";
}

/* Where the symbol lies in the image; NOWHERE when it does not. */
static int64_t symbol_place(const reader *r, const Elf64_Sym *symbol) {
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= r->section_count) {
        return NOWHERE;
    }
    const section *s = &r->sections[symbol->st_shndx];
    if (s->place == NOWHERE || symbol->st_value > s->header.sh_size) {
        return NOWHERE;
    }
    return s->place + (int64_t)symbol->st_value;
}

static ig_status apply_relocations(reader *r, const section *target,
                                   const Elf64_Shdr *symbols, const Elf64_Rela *rela) {
    Elf64_Sym symbol;
    if (!read_symbol(r, symbols, ELF64_R_SYM(rela->r_info), &symbol)) {
        return report_image(r, "a relocation is damaged in section", target->name);
    }
    const char *name = symbol_name(r, symbols, &symbol);
    uint64_t kind = ELF64_R_TYPE(rela->r_info);
    if (kind != R_X86_64_PC32 && kind != R_X86_64_PLT32) {
        return report_image(r, "it needs an address at run time, that of symbol", name);
    }
    int64_t value = symbol_place(r, &symbol);
    if (value == NOWHERE) {
        return report_image(r, "it refers to symbol", name);
    }
    if (target->header.sh_size < 4 || rela->r_offset > target->header.sh_size - 4) {
        return report_image(r, "a relocation is damaged in section", target->name);
    }
    int64_t place = target->place + (int64_t)rela->r_offset, sum = 0;
    if (!ig_add_i64(value - place, rela->r_addend, &sum) || sum != (int32_t)sum) {
        return report_image(r, "a distance does not fit 32 bits, to symbol", name);
    }
    int32_t distance = (int32_t)sum;
    memcpy(r->image + place, &distance, sizeof(distance));
    return IG_OK;
}

static ig_status apply_section(reader *r, const section *relocations) {
    const Elf64_Shdr *header = &relocations->header;
    if (header->sh_info >= r->section_count || header->sh_link >= r->section_count) {
        return report_image(r, "a relocation is damaged in section", relocations->name);
    }
    const section *target = &r->sections[header->sh_info];
    if (target->place == NOWHERE) {
        return IG_OK;
    }
    if (header->sh_type != SHT_RELA) {
        return report_image(r, "it needs section", relocations->name);
    }
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= header->sh_size;
         at += sizeof(Elf64_Rela)) {
        Elf64_Rela rela;
        memcpy(&rela, r->object.data + header->sh_offset + at, sizeof(rela));
        IG_TRY(
            apply_relocations(r, target, &r->sections[header->sh_link].header, &rela));
    }
    return IG_OK;
}

static ig_status find_entry(reader *r, const char *wanted, int64_t *out_entry) {
    for (uint32_t i = 0; i < r->section_count; i++) {
        const Elf64_Shdr *table = &r->sections[i].header;
        Elf64_Sym symbol;
        for (uint64_t k = 0;
             table->sh_type == SHT_SYMTAB && read_symbol(r, table, k, &symbol); k++) {
            int64_t place = symbol_place(r, &symbol);
            if (place != NOWHERE &&
                strcmp(symbol_name(r, table, &symbol), wanted) == 0) {
                *out_entry = place;
                return IG_OK;
            }
        }
    }
    return report_image(r, "it does not define symbol", wanted);
}

ig_status ig_image_flatten(ig_context *context, const char *kernel, ig_str object,
                           const char *symbol, ig_arena *arena, ig_image *out_image) {
    reader r = {
        .context = context, .kernel = kernel, .object = object, .arena = arena
    };
    IG_TRY(read_sections(&r));
    IG_TRY(lay_out(&r));
    for (uint32_t i = 0; i < r.section_count; i++) {
        uint32_t type = r.sections[i].header.sh_type;
        if (type == SHT_RELA || type == SHT_REL) {
            IG_TRY(apply_section(&r, &r.sections[i]));
        }
    }
    IG_TRY(find_entry(&r, symbol, &out_image->entry));
    out_image->bytes = r.image;
    out_image->size = r.image_size;
    return IG_OK;
}
