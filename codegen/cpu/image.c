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
 * refers (PC32, and PLT32 to a symbol defined here; ADR and its like on aarch64) is
 * final once the sections are laid out.  Everything else - an undefined symbol,
 * writable data, an absolute address - would need a linker or the address of the
 * mapping, and is a defect of whoever made the object.  Offsets and sizes of the file
 * are checked all the same.
 */
#include "codegen/cpu/image.h"

#include "base/checked.h"

#include <string.h>

enum { LARGEST_ALIGNMENT = 64, NOWHERE = IG_OBJECT_NOWHERE };

typedef ig_object_section section;

typedef struct flattener {
    ig_object *object;
    ig_arena *arena;
    char *image;
    size_t image_size;
} flattener;

/* ---- sections ---- */

static bool has_prefix(const char *name, const char *prefix) {
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Loaded by a linker, but of no use to us. */
static bool is_dropped(const section *s) {
    return !(s->header.sh_flags & SHF_ALLOC) || s->header.sh_size == 0 ||
           has_prefix(s->name, ".eh_frame") || has_prefix(s->name, ".note");
}

/* Gives every kept section of the wanted kind its place. */
static ig_status place_sections(flattener *f, const char *prefix) {
    for (uint32_t i = 0; i < f->object->section_count; i++) {
        section *s = &f->object->sections[i];
        if (is_dropped(s) || !has_prefix(s->name, prefix)) {
            continue;
        }
        uint64_t alignment = s->header.sh_addralign ? s->header.sh_addralign : 1;
        if (s->header.sh_type != SHT_PROGBITS || (s->header.sh_flags & SHF_WRITE) ||
            (alignment & (alignment - 1)) || alignment > LARGEST_ALIGNMENT) {
            return ig_object_report(f->object, "it needs section", s->name);
        }
        size_t offset = ig_align_up(f->image_size, (size_t)alignment);
        s->offset = (int64_t)offset;
        f->image_size = offset + (size_t)s->header.sh_size; /* both within the object */
    }
    return IG_OK;
}

static ig_status lay_out(flattener *f) {
    IG_TRY(place_sections(f, ".text"));
    f->image_size = ig_align_up(f->image_size, LARGEST_ALIGNMENT);
    IG_TRY(place_sections(f, ".rodata"));
    f->image_size = ig_align_up(f->image_size, LARGEST_ALIGNMENT);
    for (uint32_t i = 0; i < f->object->section_count; i++) {
        if (!is_dropped(&f->object->sections[i]) &&
            f->object->sections[i].offset == NOWHERE) {
            return ig_object_report(f->object, "it needs section",
                                    f->object->sections[i].name);
        }
    }
    f->image = ig_arena_zalloc(f->arena, f->image_size);
    for (uint32_t i = 0; i < f->object->section_count; i++) {
        const section *s = &f->object->sections[i];
        if (s->offset != NOWHERE) {
            memcpy(f->image + s->offset, f->object->bytes.data + s->header.sh_offset,
                   s->header.sh_size);
        }
    }
    return IG_OK;
}

/* ---- symbols and relocations ---- */

/* How a relocation writes the distance to its target: `bits` of it without its
 * `shift` lowest, from bit `at` of a word on; of ADR (`is_split`) the two lowest bits
 * are apart. */
typedef struct relocation_form {
    uint16_t machine;
    uint32_t kind;
    unsigned bits, shift, at;
    bool is_split;
} relocation_form;

static const relocation_form forms[] = {
    { EM_X86_64, R_X86_64_PC32, 32, 0, 0, false },
    { EM_X86_64, R_X86_64_PLT32, 32, 0, 0, false },
    { EM_AARCH64, R_AARCH64_PREL32, 32, 0, 0, false },
    { EM_AARCH64, R_AARCH64_LD_PREL_LO19, 19, 2, 5, false },
    { EM_AARCH64, R_AARCH64_ADR_PREL_LO21, 19, 2, 5, true },
    { EM_AARCH64, R_AARCH64_CALL26, 26, 2, 0, false },
    { EM_AARCH64, R_AARCH64_JUMP26, 26, 2, 0, false },
};

static const relocation_form *find_relocation(const ig_object *object, uint64_t kind) {
    for (size_t i = 0; i < IG_COUNT_OF(forms); i++) {
        if (forms[i].machine == object->machine && forms[i].kind == kind) {
            return &forms[i];
        }
    }
    return NULL;
}

/* False where the distance does not fit. */
static bool write_distance(const relocation_form *form, char *at, int64_t distance) {
    enum { LOW_BITS = 3, LOW_AT = 29 };
    int64_t whole = distance >> form->shift;
    int64_t end = (int64_t)1 << (form->bits - 1);
    uint32_t word, mask = (uint32_t)((UINT64_C(1) << form->bits) - 1);
    bool is_even = form->is_split || whole * ((int64_t)1 << form->shift) == distance;
    if (whole < -end || whole >= end || !is_even) {
        return false;
    }
    memcpy(&word, at, sizeof word);
    word &= ~(mask << form->at);
    word |= ((uint32_t)whole & mask) << form->at;
    if (form->is_split) {
        word &= ~((uint32_t)LOW_BITS << LOW_AT);
        word |= ((uint32_t)distance & LOW_BITS) << LOW_AT;
    }
    memcpy(at, &word, sizeof word);
    return true;
}

static ig_status apply_relocations(flattener *f, const section *target,
                                   const Elf64_Shdr *symbols, const Elf64_Rela *rela) {
    Elf64_Sym symbol;
    if (!ig_object_symbol(f->object, symbols, ELF64_R_SYM(rela->r_info), &symbol)) {
        return ig_object_report(f->object, "a relocation is damaged in section",
                                target->name);
    }
    const char *name = ig_object_symbol_name(f->object, symbols, &symbol);
    const relocation_form *form = find_relocation(f->object,
                                                  ELF64_R_TYPE(rela->r_info));
    if (!form) {
        return ig_object_report(
            f->object, "it needs an address at run time, that of symbol", name);
    }
    int64_t value = ig_object_symbol_offset(f->object, &symbol);
    if (value == NOWHERE) {
        return ig_object_report(f->object, "it refers to symbol", name);
    }
    if (target->header.sh_size < 4 || rela->r_offset > target->header.sh_size - 4) {
        return ig_object_report(f->object, "a relocation is damaged in section",
                                target->name);
    }
    int64_t offset = target->offset + (int64_t)rela->r_offset, sum = 0;
    if (!ig_add_i64(value - offset, rela->r_addend, &sum) ||
        !write_distance(form, f->image + offset, sum)) {
        return ig_object_report(f->object, "a distance is too large, to symbol", name);
    }
    return IG_OK;
}

static ig_status apply_section(flattener *f, const section *relocations) {
    const Elf64_Shdr *header = &relocations->header;
    if (header->sh_info >= f->object->section_count ||
        header->sh_link >= f->object->section_count) {
        return ig_object_report(f->object, "a relocation is damaged in section",
                                relocations->name);
    }
    const section *target = &f->object->sections[header->sh_info];
    if (target->offset == NOWHERE) {
        return IG_OK;
    }
    if (header->sh_type != SHT_RELA) {
        return ig_object_report(f->object, "it needs section", relocations->name);
    }
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= header->sh_size;
         at += sizeof(Elf64_Rela)) {
        Elf64_Rela rela;
        memcpy(&rela, f->object->bytes.data + header->sh_offset + at, sizeof(rela));
        IG_TRY(apply_relocations(f, target,
                                 &f->object->sections[header->sh_link].header, &rela));
    }
    return IG_OK;
}

static ig_status find_entry(flattener *f, const char *wanted, int64_t *out_entry) {
    for (uint32_t i = 0; i < f->object->section_count; i++) {
        const Elf64_Shdr *table = &f->object->sections[i].header;
        Elf64_Sym symbol;
        for (uint64_t k = 0; table->sh_type == SHT_SYMTAB &&
                             ig_object_symbol(f->object, table, k, &symbol);
             k++) {
            int64_t offset = ig_object_symbol_offset(f->object, &symbol);
            if (offset != NOWHERE &&
                strcmp(ig_object_symbol_name(f->object, table, &symbol), wanted) == 0) {
                *out_entry = offset;
                return IG_OK;
            }
        }
    }
    return ig_object_report(f->object, "it does not define symbol", wanted);
}

ig_status ig_code_image_flatten(ig_context *context, const char *kernel, ig_str bytes,
                                const char *symbol, ig_arena *arena,
                                ig_code_image *out_image) {
    ig_object *object = IG_NEW(arena, ig_object);
    flattener f = { .object = object, .arena = arena };
    IG_TRY(ig_object_open(object, context, kernel, bytes, arena));
    IG_TRY(lay_out(&f));
    for (uint32_t i = 0; i < object->section_count; i++) {
        uint32_t type = object->sections[i].header.sh_type;
        if (type == SHT_RELA || type == SHT_REL) {
            IG_TRY(apply_section(&f, &object->sections[i]));
        }
    }
    IG_TRY(find_entry(&f, symbol, &out_image->entry));
    out_image->bytes = f.image;
    out_image->size = f.image_size;
    out_image->object = object;
    return IG_OK;
}
