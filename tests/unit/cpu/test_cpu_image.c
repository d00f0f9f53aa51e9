/* The flattener: what it lays out, what it resolves, what it refuses, and objects that
 * are damaged.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/cpu/image.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <stdlib.h>

/* ---- a small object, made by hand ---- */

enum { TEXT = 1, RELA, RODATA, EXTRA, EH_FRAME, SYMTAB, STRTAB, SHSTRTAB, SECTIONS };

static const char names[] =
    "\0.text\0.rela.text\0.rodata.cst16\0.data\0.eh_frame\0.symtab\0.strtab\0.shstrtab";
static const char symbol_names[] = "\0k\0table\0memcpy";
enum { NAME_K = 1, NAME_TABLE = 3, NAME_MEMCPY = 9 };
enum { SYMBOL_RODATA = 1, SYMBOL_K, SYMBOL_TABLE, SYMBOL_MEMCPY, SYMBOLS };

/* The object's parts, each at a fixed offset; tests change them before use. */
typedef struct object {
    Elf64_Ehdr header;
    Elf64_Shdr sections[SECTIONS];
    Elf64_Sym symbols[SYMBOLS];
    Elf64_Rela relocations[2];
    unsigned char text[40], rodata[32], extra[8], eh_frame[16];
    char names[sizeof(names)], symbol_names[sizeof(symbol_names)];
} object;

static void set_section(object *o, int index, uint32_t type, uint64_t flags,
                        const void *data, size_t size) {
    Elf64_Shdr *s = &o->sections[index];
    const char *name = o->names;
    for (int i = 0; i < index; i++) {
        name += strlen(name) + 1;
    }
    *s = (Elf64_Shdr){ .sh_name = (uint32_t)(name - o->names),
                       .sh_type = type,
                       .sh_flags = flags,
                       .sh_size = size,
                       .sh_addralign = 16,
                       .sh_offset = (uint64_t)((const char *)data - (const char *)o) };
}

static void fill_sections(object *o) {
    uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
    set_section(o, TEXT, SHT_PROGBITS, code, o->text, sizeof(o->text));
    set_section(o, RELA, SHT_RELA, 0, o->relocations, sizeof(o->relocations));
    set_section(o, RODATA, SHT_PROGBITS, SHF_ALLOC, o->rodata, sizeof(o->rodata));
    set_section(o, EXTRA, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, o->extra, 0);
    set_section(o, EH_FRAME, SHT_PROGBITS, SHF_ALLOC, o->eh_frame, sizeof(o->eh_frame));
    set_section(o, SYMTAB, SHT_SYMTAB, 0, o->symbols, sizeof(o->symbols));
    set_section(o, STRTAB, SHT_STRTAB, 0, o->symbol_names, sizeof(o->symbol_names));
    set_section(o, SHSTRTAB, SHT_STRTAB, 0, o->names, sizeof(o->names));
    o->sections[RELA].sh_info = TEXT;
    o->sections[RELA].sh_link = SYMTAB;
    o->sections[SYMTAB].sh_link = STRTAB;
}

static Elf64_Rela relocation(uint64_t offset, uint64_t symbol, uint32_t type,
                             int64_t addend) {
    return (Elf64_Rela){ offset, ELF64_R_INFO(symbol, type), addend };
}

static object make_object(void) {
    object o = { .header = { .e_type = ET_REL,
                             .e_machine = EM_X86_64,
                             .e_shentsize = sizeof(Elf64_Shdr),
                             .e_shnum = SECTIONS,
                             .e_shstrndx = SHSTRTAB,
                             .e_shoff = offsetof(object, sections) } };
    memcpy(o.header.e_ident, ELFMAG, SELFMAG);
    o.header.e_ident[EI_CLASS] = ELFCLASS64;
    memcpy(o.names, names, sizeof(names));
    memcpy(o.symbol_names, symbol_names, sizeof(symbol_names));
    memset(o.text, 0x90, sizeof(o.text));
    memset(o.rodata, 0x55, sizeof(o.rodata));
    fill_sections(&o);
    o.symbols[SYMBOL_RODATA] = (Elf64_Sym){
        .st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION), .st_shndx = RODATA
    };
    o.symbols[SYMBOL_K] = (Elf64_Sym){ .st_name = NAME_K,
                                       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                       .st_shndx = TEXT,
                                       .st_value = 16 };
    o.symbols[SYMBOL_TABLE] =
        (Elf64_Sym){ .st_name = NAME_TABLE, .st_shndx = RODATA, .st_value = 8 };
    o.symbols[SYMBOL_MEMCPY] = (Elf64_Sym){ .st_name = NAME_MEMCPY };
    o.relocations[0] = relocation(4, SYMBOL_RODATA, R_X86_64_PC32, 12);
    o.relocations[1] = relocation(20, SYMBOL_TABLE, R_X86_64_PLT32, -4);
    return o;
}

/* ---- running it ---- */

typedef struct outcome {
    ig_status status;
    ig_code_image image;
    ig_arena arena;
    char message[256];
} outcome;

static void keep_message(void *user, const ig_diagnostic *diagnostic) {
    outcome *out = user;
    ig_diagnostic_format(diagnostic, out->message, sizeof(out->message));
}

/* `size` bytes of the object, in memory of exactly that size. */
static void flatten(const object *o, size_t size, const char *symbol, outcome *out) {
    *out = (outcome){ 0 };
    ig_context context = { .limits = ig_limits_default,
                           .diag = { .sink = keep_message, .user = out } };
    ig_arena_init(&out->arena, NULL);
    char *copy = malloc(size ? size : 1);
    CHECK(copy != NULL);
    memcpy(copy, o, size);
    ig_str bytes = { copy, size };
    out->status = ig_code_image_flatten(&context, "k7", bytes, symbol, &out->arena,
                                        &out->image);
    free(copy);
}

static void expect_refusal(const object *o, const char *what) {
    outcome out;
    flatten(o, sizeof(*o), "k", &out);
    CHECK_STATUS(out.status, IG_INTERNAL);
    CHECK_MSG(strstr(out.message, "kernel 'k7'") && strstr(out.message, what),
              "'%s' should say '%s'", out.message, what);
    ig_arena_fini(&out.arena);
}

static int32_t read_i32(const ig_code_image *image, size_t offset) {
    int32_t value = 0;
    memcpy(&value, (const char *)image->bytes + offset, sizeof(value));
    return value;
}

/* ---- tests ---- */

TEST(sections_are_laid_out_and_distances_resolved) {
    object o = make_object();
    outcome out;
    flatten(&o, sizeof(o), "k", &out);
    CHECK_MSG(out.status == IG_OK, "%s", out.message);
    CHECK_INT(out.image.entry, 16);
    CHECK_INT(out.image.size, 128); /* code from 0, read-only data from 64 */
    const unsigned char *bytes = out.image.bytes;
    CHECK(bytes[0] == 0x90 && bytes[39] == 0x90 && bytes[40] == 0);
    CHECK(bytes[64] == 0x55 && bytes[95] == 0x55 && bytes[96] == 0);
    CHECK_INT(read_i32(&out.image, 4), 64 + 12 - 4);
    CHECK_INT(read_i32(&out.image, 20), 64 + 8 - 4 - 20);
    ig_arena_fini(&out.arena);
}

TEST(what_needs_a_linker_is_refused_by_name) {
    object o = make_object();
    o.relocations[1] = relocation(20, SYMBOL_MEMCPY, R_X86_64_PLT32, -4);
    expect_refusal(&o, "memcpy");
    o = make_object();
    o.relocations[0] = relocation(4, SYMBOL_TABLE, R_X86_64_64, 0);
    expect_refusal(&o, "address at run time, that of symbol table");
    o = make_object();
    o.relocations[0] = relocation(4, SYMBOL_RODATA, R_X86_64_GOTPCREL, 0);
    expect_refusal(&o, ".rodata.cst16");
    o = make_object();
    o.sections[EXTRA].sh_size = sizeof(o.extra);
    expect_refusal(&o, ".data");
    o = make_object();
    o.sections[RODATA].sh_flags |= SHF_WRITE;
    expect_refusal(&o, ".rodata.cst16");
    o = make_object();
    o.relocations[0].r_addend = INT64_C(1) << 32;
    expect_refusal(&o, "too large, to symbol .rodata.cst16");
}

/* A word of aarch64 that refers to `addend` beyond .rodata, at 64 of the image. */
static void expect_word(uint32_t kind, uint32_t word, int64_t addend, uint32_t wanted) {
    object o = make_object();
    outcome out;
    o.header.e_machine = EM_AARCH64;
    memcpy(o.text + 4, &word, sizeof word);
    o.relocations[0] = relocation(4, SYMBOL_RODATA, kind, addend);
    o.relocations[1] = relocation(20, SYMBOL_TABLE, R_AARCH64_PREL32, 0);
    flatten(&o, sizeof(o), "k", &out);
    CHECK_MSG(out.status == IG_OK, "%s", out.message);
    CHECK_INT((uint32_t)read_i32(&out.image, 4), wanted);
    CHECK_INT(read_i32(&out.image, 20), 64 + 8 - 20);
    ig_arena_fini(&out.arena);
}

static void expect_too_far(uint32_t kind, int64_t addend) {
    object o = make_object();
    o.header.e_machine = EM_AARCH64;
    o.relocations[0] = relocation(4, SYMBOL_RODATA, kind, addend);
    o.relocations[1] = relocation(20, SYMBOL_TABLE, R_AARCH64_PREL32, 0);
    expect_refusal(&o, "a distance is too large");
}

/* Encodings as the architecture's manual has them: adr x0, #61 is 0x300001e0. */
TEST(aarch64_refers_by_words) {
    const int64_t mib = 1 << 20;
    expect_word(R_AARCH64_ADR_PREL_LO21, 0x10000000, 1, 0x300001e0);
    expect_word(R_AARCH64_ADR_PREL_LO21, 0x10000001, -61, 0x70ffffe1);
    expect_word(R_AARCH64_ADR_PREL_LO21, 0x10000000, mib - 61, 0x707fffe0);
    expect_word(R_AARCH64_LD_PREL_LO19, 0x9c000000, 0, 0x9c0001e0); /* ldr q0, 60 */
    expect_word(R_AARCH64_CALL26, 0x94000000, -64, 0x97ffffff);     /* bl -4 */
    expect_word(R_AARCH64_JUMP26, 0x14000000, 0, 0x1400000f);
    expect_too_far(R_AARCH64_ADR_PREL_LO21, mib - 60);
    expect_too_far(R_AARCH64_ADR_PREL_LO21, -mib - 61);
    expect_too_far(R_AARCH64_LD_PREL_LO19, 1); /* no whole word */
    expect_too_far(R_AARCH64_CALL26, 128 * mib);
    object o = make_object();
    o.header.e_machine = EM_AARCH64; /* whose numbers mean something else */
    expect_refusal(&o, "address at run time");
}

TEST(an_absent_entry_is_named) {
    object o = make_object();
    outcome out;
    flatten(&o, sizeof(o), "main", &out);
    CHECK_STATUS(out.status, IG_INTERNAL);
    CHECK(strstr(out.message, "does not define symbol main") != NULL);
    ig_arena_fini(&out.arena);
}

TEST(damage_is_found) {
    object o = make_object();
    o.header.e_machine = EM_386;
    expect_refusal(&o, "of a CPU");
    o = make_object();
    o.header.e_shoff = sizeof(o) - 8;
    expect_refusal(&o, "section table");
    o = make_object();
    o.header.e_shstrndx = 200;
    expect_refusal(&o, "section table");
    o = make_object();
    o.sections[TEXT].sh_offset = UINT64_MAX - 4;
    expect_refusal(&o, "damaged");
    o = make_object();
    o.sections[TEXT].sh_name = 5000;
    expect_refusal(&o, "damaged");
    o = make_object();
    o.sections[TEXT].sh_addralign = 4096;
    expect_refusal(&o, ".text");
    o = make_object();
    o.relocations[0].r_offset = sizeof(o.text) - 3;
    expect_refusal(&o, "damaged");
    o = make_object();
    o.relocations[0] = relocation(4, SYMBOLS, R_X86_64_PC32, 0);
    expect_refusal(&o, "damaged");
    o = make_object();
    o.sections[RELA].sh_info = SECTIONS;
    expect_refusal(&o, "damaged");
    o = make_object();
    o.sections[SYMTAB].sh_type = SHT_NOBITS;
    o.sections[SYMTAB].sh_size = 1 << 30;
    expect_refusal(&o, "damaged");
    o = make_object();
    o.symbols[SYMBOL_TABLE].st_value = 4000;
    expect_refusal(&o, "table");
}

TEST(a_short_object_is_refused) {
    object o = make_object();
    for (size_t size = 0; size < sizeof(o) - sizeof(o.symbol_names); size++) {
        outcome out;
        flatten(&o, size, "k", &out);
        CHECK_STATUS(out.status, IG_INTERNAL);
        ig_arena_fini(&out.arena);
    }
}

/* No change of one byte may make it read or write outside (found by the sanitizers). */
TEST(any_changed_byte_is_survived) {
    object o = make_object();
    unsigned char *bytes = (unsigned char *)&o;
    static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
    for (size_t i = 0; i < sizeof(o); i++) {
        unsigned char kept = bytes[i];
        for (size_t v = 0; v < IG_COUNT_OF(values); v++) {
            bytes[i] = values[v];
            outcome out;
            flatten(&o, sizeof(o), "k", &out);
            CHECK(out.status == IG_OK || out.status == IG_INTERNAL);
            ig_arena_fini(&out.arena);
        }
        bytes[i] = kept;
    }
}

UNIT_SUITE(cpu_image, sections_are_laid_out_and_distances_resolved,
           what_needs_a_linker_is_refused_by_name, aarch64_refers_by_words,
           an_absent_entry_is_named, damage_is_found, a_short_object_is_refused,
           any_changed_byte_is_survived)
