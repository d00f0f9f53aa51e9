/* An ELF object file whose only content is an artifact, and its code as text.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     header | code, at pages, its function | artifact, to 8 bytes, sizes | symbols |
 *            '------------ .text ------------'---------- .rodata ---------' names,
 *                                                                           sections
 *
 * The artifact is not copied: it stays the parts it is, between parts before it and one
 * after it.  Symbols: <name> and <name>_size, a uint64_t; the function <name>_code,
 * which gives the address of the code (as data, a program that links a shared library
 * would get a copy of it, which may not run), and <name>_code_size, a uint64_t.
 */
#include "driver/artifact/emit.h"

#include "base/checked.h"
#include "base/writer.h"

#include <assert.h>
#include <ctype.h>
#include <elf.h>
#include <string.h>

enum { PAGE = 4096, SECTION_COUNT = 7 };

enum { TEXT = 1, RODATA, SYMTAB, STRTAB, SHSTRTAB, NOTE };

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
    Elf64_Half machine;
    uint64_t code_size; /* a multiple of PAGE */
    uint64_t text_size;
    uint64_t data_size; /* of the artifact */
    uint64_t rodata_size;
    ig_writer tail;
    uint64_t tail_begin; /* its position in the file */
    Elf64_Shdr sections[SECTION_COUNT];
    ig_writer names; /* of sections */
} object;

static void add_section(object *o, int index, const char *name, Elf64_Shdr facts) {
    assert(index > 0 && index < SECTION_COUNT && "section 0 is ELF's own");
    assert(o->sections[index].sh_name == 0 && "a section is added once");
    facts.sh_name = (Elf64_Word)o->names.size;
    ig_put_bytes(&o->names, name, strlen(name) + 1);
    o->sections[index] = facts;
}

/* Appends a table to the tail and gives its position. */
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
    const struct {
        const char *end;
        unsigned char type;
        Elf64_Half section;
        uint64_t value, size;
    } facts[] = {
        { "", STT_OBJECT, RODATA, 0, o->data_size },
        { "_size", STT_OBJECT, RODATA, o->rodata_size - 2 * sizeof(uint64_t),
          sizeof(uint64_t) },
        { "_code", STT_FUNC, TEXT, o->code_size, o->text_size - o->code_size },
        { "_code_size", STT_OBJECT, RODATA, o->rodata_size - sizeof(uint64_t),
          sizeof(uint64_t) },
    };
    ig_writer strings;
    ig_writer_init(&strings, arena);
    ig_put_char(&strings, '\0');
    Elf64_Sym symbols[1 + IG_COUNT_OF(facts)] = { { 0 } };
    for (size_t i = 0; i < IG_COUNT_OF(facts); i++) {
        symbols[1 + i] = (Elf64_Sym){
            .st_name = (Elf64_Word)strings.size,
            .st_info = ELF64_ST_INFO(STB_GLOBAL, facts[i].type),
            .st_shndx = facts[i].section,
            .st_value = facts[i].value,
            .st_size = facts[i].size,
        };
        ig_put(&strings, "%s%s", symbol, facts[i].end);
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

static Elf64_Ehdr *make_header(ig_arena *arena, Elf64_Half machine,
                               uint64_t sections_at) {
    assert(sections_at % 8 == 0 && "section headers are aligned");
    char *page = ig_arena_zalloc(arena, PAGE);
    *(Elf64_Ehdr *)page = (Elf64_Ehdr){
        .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                     EV_CURRENT },
        .e_type = ET_REL,
        .e_machine = machine,
        .e_version = EV_CURRENT,
        .e_shoff = sections_at,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = SECTION_COUNT,
        .e_shstrndx = SHSTRTAB,
    };
    return (Elf64_Ehdr *)page;
}

/* endbr64; lea rax, [the code before this]; ret; and to a multiple of 16. */
static ig_str make_x86_function(ig_arena *arena, uint32_t code_size) {
    enum { BEFORE = 7, END = 11, SIZE = 16 };
    static const unsigned char bytes[SIZE] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x8d,
                                               0x05, 0,    0,    0,    0,    0xc3,
                                               0xcc, 0xcc, 0xcc, 0xcc };
    int32_t distance = -(int32_t)(code_size + END);
    char *function = ig_arena_copy(arena, (const char *)bytes, SIZE);
    memcpy(function + BEFORE, &distance, sizeof distance);
    return (ig_str){ function, SIZE };
}

/* bti c; adr x0, here; x1 = the distance from the program's begin to here; sub x0, x0,
 * x1; ret. */
static ig_str make_arm64_function(ig_arena *arena, uint32_t code_size) {
    enum { HERE = 4 };
    uint32_t distance = code_size + HERE;
    const uint32_t words[] = {
        0xd503245f,
        0x10000000,
        0xd2800001 | (distance & 0xffff) << 5, /* movz x1, #low */
        0xf2a00001 | (distance >> 16) << 5,    /* movk x1, #high, lsl 16 */
        0xcb010000,
        0xd65f03c0,
    };
    char *function = ig_arena_copy(arena, (const char *)words, sizeof words);
    return (ig_str){ function, sizeof words };
}

/* Each entry of code, to the end of its last page, then the function. */
static void add_code(object *o, ig_arena *arena, const ig_part_list *code,
                     ig_part_list *to) {
    static const char zeros[PAGE];
    for (size_t i = 0; i < code->count; i++) {
        uint64_t size = code->items[i].size;
        uint64_t padding = ig_align_up(size, PAGE) - size;
        IG_PUSH(arena, to, code->items[i]);
        IG_PUSH(arena, to, (ig_file_part){ zeros, padding });
        o->code_size += size + padding;
    }
    assert(o->code_size < INT32_MAX - PAGE && "an address 2 GiB away is in no text");
    uint32_t before = (uint32_t)o->code_size;
    ig_str function = o->machine == EM_AARCH64 ? make_arm64_function(arena, before)
                                               : make_x86_function(arena, before);
    IG_PUSH(arena, to, (ig_file_part){ function.data, function.size });
    o->text_size = o->code_size + function.size;
    add_section(o, TEXT, ".text",
                (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
                              .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                              .sh_offset = PAGE,
                              .sh_size = o->text_size,
                              .sh_addralign = PAGE });
}

/* The parts, padding, then the sizes of artifact and code. */
static void add_artifact(object *o, ig_arena *arena, const ig_file_part *parts,
                         size_t count, ig_part_list *to) {
    ig_writer end;
    ig_writer_init(&end, arena);
    for (size_t i = 0; i < count; i++) {
        IG_PUSH(arena, to, parts[i]);
        o->data_size += parts[i].size;
    }
    for (uint64_t at = o->data_size; at % 8 != 0; at++) {
        ig_put_char(&end, '\0');
    }
    ig_put_bytes(&end, &o->data_size, sizeof o->data_size);
    ig_put_bytes(&end, &o->code_size, sizeof o->code_size);
    IG_PUSH(arena, to, (ig_file_part){ end.data, end.size });
    o->rodata_size = o->data_size + end.size;
    add_section(o, RODATA, ".rodata",
                (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
                              .sh_flags = SHF_ALLOC,
                              .sh_offset = PAGE + o->text_size,
                              .sh_size = o->rodata_size,
                              .sh_addralign = PAGE });
}

void ig_emit_object(ig_arena *arena, const ig_emit_target *target,
                    const ig_file_part *parts, size_t count, ig_file_part **out_parts,
                    size_t *out_count) {
    object o = { .machine = target->is_arm64 ? EM_AARCH64 : EM_X86_64 };
    ig_part_list to = { 0 };
    ig_part_list code = { 0 };
    ig_emit_find_code(arena, parts, count, &code);
    ig_writer_init(&o.tail, arena);
    ig_writer_init(&o.names, arena);
    ig_put_char(&o.names, '\0');
    IG_PUSH(arena, &to, (ig_file_part){ NULL, PAGE }); /* the header */
    add_code(&o, arena, &code, &to);
    add_artifact(&o, arena, parts, count, &to);
    o.tail_begin = PAGE + o.text_size + o.rodata_size;
    add_symbols(&o, target->symbol, arena);
    add_section_names(&o);
    ig_put_align(&o.tail, 8);
    to.items[0].data = make_header(arena, o.machine, o.tail_begin + o.tail.size);
    ig_put_bytes(&o.tail, o.sections, sizeof o.sections);
    IG_PUSH(arena, &to, (ig_file_part){ o.tail.data, o.tail.size });
    *out_parts = to.items;
    *out_count = to.count;
}
