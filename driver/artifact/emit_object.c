/* An ELF object file whose only content is an artifact.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     header │ artifact, to a multiple of 8 │ its size │ symbols │ names │ sections
 *            └─────────── .rodata ───────────────────┘
 *
 * The artifact is not copied: it stays the parts it is, between a part before it and
 * one after it.  Two symbols: <name>, and <name>_size, a uint64_t.
 */
#include "driver/artifact/emit.h"

#include "base/checked.h"
#include "base/writer.h"

#include <assert.h>
#include <ctype.h>
#include <elf.h>
#include <string.h>

enum { PAGE = 4096, SECTION_COUNT = 6, SYMBOL_COUNT = 3 };

enum { RODATA = 1, SYMTAB, STRTAB, SHSTRTAB, NOTE };

const char *ig_emit_symbol(ig_arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    bool is_library = ig_str_ends(ig_str_of(name), ".so");
    name += is_library && strncmp(name, "lib", 3) == 0 ? 3 : 0;
    const char *dot = strrchr(name, '.');
    size_t size = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    char *symbol = ig_arena_printf(arena, "ingot_%.*s", (int)size, name);
    for (char *at = symbol; *at; at++) {
        if (!isalnum((unsigned char)*at)) {
            *at = '_';
        }
    }
    return symbol;
}

typedef struct object {
    uint64_t data_size; /* of the artifact */
    uint64_t rodata_size;
    ig_writer tail;
    uint64_t tail_begin; /* where it lies in the file */
    Elf64_Shdr sections[SECTION_COUNT];
    ig_writer names; /* of sections */
} object;

static void add_section(object *o, int number, const char *name, Elf64_Shdr facts) {
    assert(number > 0 && number < SECTION_COUNT && "section 0 is ELF's own");
    assert(o->sections[number].sh_name == 0 && "a section is added once");
    facts.sh_name = (Elf64_Word)o->names.size;
    ig_put_bytes(&o->names, name, strlen(name) + 1);
    o->sections[number] = facts;
}

/* Appends a table to the tail and says where it lies. */
static Elf64_Shdr add_table(object *o, const void *bytes, size_t size, uint64_t align) {
    assert(o->tail_begin % 8 == 0 && align <= 8 &&
           "offsets in the tail are aligned as offsets in the file");
    ig_put_align(&o->tail, align);
    Elf64_Shdr facts = { .sh_offset = o->tail_begin + o->tail.size,
                         .sh_size = size,
                         .sh_addralign = align };
    ig_put_bytes(&o->tail, bytes, size);
    return facts;
}

static void add_symbols(object *o, const char *symbol, ig_arena *arena) {
    ig_writer strings;
    ig_writer_init(&strings, arena);
    ig_put_char(&strings, '\0');
    Elf64_Sym symbols[SYMBOL_COUNT] = { { 0 } };
    for (int i = 1; i < SYMBOL_COUNT; i++) {
        bool is_size = i == 2;
        symbols[i] = (Elf64_Sym){
            .st_name = (Elf64_Word)strings.size,
            .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
            .st_shndx = RODATA,
            .st_value = is_size ? o->rodata_size - sizeof(uint64_t) : 0,
            .st_size = is_size ? sizeof(uint64_t) : o->data_size,
        };
        ig_put(&strings, "%s%s", symbol, is_size ? "_size" : "");
        ig_put_char(&strings, '\0');
    }
    Elf64_Shdr table = add_table(o, symbols, sizeof symbols, 8);
    table.sh_type = SHT_SYMTAB;
    table.sh_link = STRTAB;
    table.sh_info = 1; /* the first that is global */
    table.sh_entsize = sizeof *symbols;
    add_section(o, SYMTAB, ".symtab", table);
    table = add_table(o, strings.data, strings.size, 1);
    table.sh_type = SHT_STRTAB;
    add_section(o, STRTAB, ".strtab", table);
}

/* Its own name is among the names, so it goes last. */
static void add_section_names(object *o) {
    add_section(o, NOTE, ".note.GNU-stack",
                (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
                              .sh_offset = o->tail_begin + o->tail.size,
                              .sh_addralign = 1 });
    add_section(o, SHSTRTAB, ".shstrtab", (Elf64_Shdr){ 0 });
    Elf64_Word name = o->sections[SHSTRTAB].sh_name;
    o->sections[SHSTRTAB] = add_table(o, o->names.data, o->names.size, 1);
    o->sections[SHSTRTAB].sh_type = SHT_STRTAB;
    o->sections[SHSTRTAB].sh_name = name;
}

static Elf64_Ehdr *make_header(ig_arena *arena, uint64_t sections_at) {
    assert(sections_at % 8 == 0 && "section headers are aligned");
    char *page = ig_arena_zalloc(arena, PAGE);
    *(Elf64_Ehdr *)page = (Elf64_Ehdr){
        .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                     EV_CURRENT },
        .e_type = ET_REL,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_shoff = sections_at,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = SECTION_COUNT,
        .e_shstrndx = SHSTRTAB,
    };
    return (Elf64_Ehdr *)page;
}

void ig_emit_object(ig_arena *arena, const char *symbol, const ig_file_part *parts,
                    size_t count, ig_file_part **out_parts, size_t *out_count) {
    object o = { 0 };
    for (size_t i = 0; i < count; i++) {
        o.data_size += parts[i].size;
    }
    uint64_t padded = (o.data_size + 7) / 8 * 8;
    o.rodata_size = padded + sizeof(uint64_t);
    o.tail_begin = PAGE + o.data_size;
    ig_writer_init(&o.tail, arena);
    ig_writer_init(&o.names, arena);
    ig_put_char(&o.names, '\0');
    /* Alignment in the tail is that of the file: it begins where the artifact ends. */
    while ((o.tail_begin + o.tail.size) % 8) {
        ig_put_char(&o.tail, '\0');
    }
    ig_put_bytes(&o.tail, &o.data_size, sizeof o.data_size);
    size_t skipped = o.tail.size;
    o.tail_begin += skipped;
    assert(o.tail_begin == PAGE + o.rodata_size &&
           "the size is the last word of .rodata");
    ig_str front = { ig_arena_copy(arena, o.tail.data, skipped), skipped };
    ig_writer_init(&o.tail, arena);
    add_section(&o, RODATA, ".rodata",
                (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
                              .sh_flags = SHF_ALLOC,
                              .sh_offset = PAGE,
                              .sh_size = o.rodata_size,
                              .sh_addralign = PAGE });
    add_symbols(&o, symbol, arena);
    add_section_names(&o);
    ig_put_align(&o.tail, 8);
    Elf64_Ehdr *header = make_header(arena, o.tail_begin + o.tail.size);
    ig_put_bytes(&o.tail, o.sections, sizeof o.sections);
    *out_count = count + 3;
    *out_parts = IG_NEW_ARRAY(arena, ig_file_part, *out_count);
    (*out_parts)[0] = (ig_file_part){ header, PAGE };
    memcpy(*out_parts + 1, parts, count * sizeof *parts);
    (*out_parts)[count + 1] = (ig_file_part){ front.data, front.size };
    (*out_parts)[count + 2] = (ig_file_part){ o.tail.data, o.tail.size };
}
