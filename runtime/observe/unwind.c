/* How to unwind a kernel's frames, as perf takes it: .eh_frame and .eh_frame_hdr.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     object    .debug_frame        one CIE, an FDE a function; addresses are relocated
 *     jitdump   code │ .eh_frame │ .eh_frame_hdr      addresses count from themselves
 *
 * The instructions in between are the same (DWARF 5, 6.4; Linux Standard Base, core,
 * 10.6).  `perf inject --jit` puts both after the code, at the next multiple of 8.
 */
#include "runtime/observe/observe.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { PC_RELATIVE = 0x1b, DATA_RELATIVE = 0x3b, U32 = 0x03 }; /* DW_EH_PE_* */
enum { CIE = -1, DW_CFA_nop = 0, CIE_BYTES = 8, FDE_BYTES = 24, ALIGNMENT = 8 };

/* ---- the object ---- */

/* The section's bytes; false where there is none, or it is out of bounds. */
static bool find_section(ig_str object, const char *name, ig_str *out) {
    Elf64_Ehdr header;
    Elf64_Shdr section, names;
    if (object.size < sizeof header) {
        return false;
    }
    memcpy(&header, object.data, sizeof header);
    if (header.e_shoff > object.size || header.e_shstrndx >= header.e_shnum ||
        header.e_shnum * sizeof section > object.size - header.e_shoff) {
        return false;
    }
    const char *table = object.data + header.e_shoff;
    memcpy(&names, table + header.e_shstrndx * sizeof names, sizeof names);
    size_t length = strlen(name) + 1;
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        memcpy(&section, table + i * sizeof section, sizeof section);
        uint64_t at = names.sh_offset + section.sh_name;
        if (names.sh_offset > object.size || at > object.size ||
            length > object.size - at || memcmp(object.data + at, name, length) != 0) {
            continue;
        }
        if (section.sh_offset > object.size ||
            section.sh_size > object.size - section.sh_offset) {
            return false;
        }
        *out = (ig_str){ object.data + section.sh_offset, section.sh_size };
        return true;
    }
    return false;
}

static uint32_t u32_at(const char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Where in .text the function is whose address is to be at `place` of .debug_frame. */
static bool find_function(ig_str relocations, size_t position, uint64_t *out) {
    Elf64_Rela row;
    for (size_t i = 0; i + sizeof row <= relocations.size; i += sizeof row) {
        memcpy(&row, relocations.data + i, sizeof row);
        if (row.r_offset == position) {
            *out = (uint64_t)row.r_addend;
            return ELF64_R_TYPE(row.r_info) == R_X86_64_64;
        }
    }
    return false;
}

/* ---- output ---- */

typedef struct frames {
    char *bytes;
    size_t size, capacity;
    size_t begin; /* of the entry at hand */
} frames;

static void put_bytes(frames *f, const void *bytes, size_t size) {
    if (size <= f->capacity - f->size) {
        memcpy(f->bytes + f->size, bytes, size);
        f->size += size;
    }
}

static void put_byte(frames *f, uint8_t byte) {
    put_bytes(f, &byte, 1);
}

static void put_u32(frames *f, uint64_t value) {
    uint32_t low = (uint32_t)value;
    put_bytes(f, &low, sizeof low);
}

static void begin_entry(frames *f) {
    f->begin = f->size;
    put_u32(f, 0);
}

static void end_entry(frames *f) {
    while (f->size % ALIGNMENT) {
        put_byte(f, DW_CFA_nop);
    }
    uint32_t length = (uint32_t)(f->size - f->begin - sizeof length);
    memcpy(f->bytes + f->begin, &length, sizeof length);
}

/* ---- entries ---- */

/* A number whose last byte is the first without the high bit. */
static size_t skip_digits(ig_str text, size_t at) {
    while (at < text.size && text.data[at] & 0x80) {
        at++;
    }
    return at + 1;
}

/* The entry after `at`; false at the end, and for what reaches beyond it. */
static bool next_entry(ig_str section, size_t *at, ig_str *out) {
    if (section.size < 8 || *at > section.size - 8) {
        return false;
    }
    uint32_t length = u32_at(section.data + *at);
    if (length < 4 || length > section.size - *at - 4) {
        return false;
    }
    *out = (ig_str){ section.data + *at + 4, length };
    *at += 4 + length;
    return true;
}

/* Versions 1 to 4 without augmentation; in 4 two bytes tell the addresses' size. */
static bool put_cie(frames *f, ig_str cie) {
    static const char augmentation[] = "zR";
    bool is_known = cie.size > CIE_BYTES && u32_at(cie.data) == (uint32_t)CIE &&
                    cie.data[5] == 0;
    size_t factors = is_known && cie.data[4] == 4 ? CIE_BYTES : CIE_BYTES - 2;
    size_t end = factors;
    for (int i = 0; i < 3; i++) { /* of code, of data, the return address's register */
        end = skip_digits(cie, end);
    }
    if (!is_known || end > cie.size) {
        return false;
    }
    begin_entry(f);
    put_u32(f, 0);
    put_byte(f, 1);
    put_bytes(f, augmentation, sizeof augmentation);
    put_bytes(f, cie.data + factors, end - factors);
    put_byte(f, 1); /* bytes of the augmentation */
    put_byte(f, PC_RELATIVE);
    put_bytes(f, cie.data + end, cie.size - end);
    end_entry(f);
    return true;
}

/* `base`: where .eh_frame is, counted from the code. */
static void put_fde(frames *f, ig_str fde, uint64_t function, uint64_t base) {
    begin_entry(f);
    put_u32(f, f->size); /* back to the CIE, which is first */
    put_u32(f, function - (base + f->size));
    put_bytes(f, fde.data + 12, 4); /* how long the function is */
    put_byte(f, 0);
    put_bytes(f, fde.data + 20, fde.size - 20);
    end_entry(f);
}

/* ---- all of it ---- */

static uint64_t after_code(uint64_t code_size) {
    return (code_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* A row of .eh_frame_hdr. */
typedef struct row {
    uint64_t function, entry; /* from the code; in .eh_frame */
} row;

static void put_header(frames *f, const row *rows, size_t count, uint64_t base) {
    uint64_t begin = base + f->size, frame_size = f->size;
    put_byte(f, 1);
    put_byte(f, PC_RELATIVE);
    put_byte(f, U32);
    put_byte(f, DATA_RELATIVE);
    put_u32(f, 0 - (frame_size + 4));
    put_u32(f, count);
    for (size_t i = 0; i < count; i++) {
        put_u32(f, rows[i].function - begin);
        put_u32(f, base + rows[i].entry - begin);
    }
}

/* The entries of functions of `code_size` bytes of code, with rising addresses; how
 * many there are.  rows has room for all. */
static size_t put_frames(frames *f, ig_str section, ig_str relocations,
                         uint64_t code_size, row *rows) {
    uint64_t base = after_code(code_size), last = 0;
    size_t at = 0, count = 0;
    ig_str entry;
    if (!next_entry(section, &at, &entry) || !put_cie(f, entry)) {
        return 0;
    }
    for (size_t begin = at; next_entry(section, &at, &entry); begin = at) {
        uint64_t function = 0;
        bool is_of_code = entry.size >= FDE_BYTES - 4 &&
                          find_function(relocations, begin + 8, &function) &&
                          function < code_size && (count == 0 || function > last);
        if (is_of_code) {
            rows[count++] = (row){ last = function, f->size };
            put_fde(f, entry, function, base);
        }
    }
    put_u32(f, 0);
    put_u32(f, 0);
    return count;
}

bool ig_unwind_info(const ig_observed *kernel, ig_unwind *out) {
    ig_str section, relocations;
    *out = (ig_unwind){ 0 };
    if (!find_section(kernel->object, ".debug_frame", &section) ||
        !find_section(kernel->object, ".rela.debug_frame", &relocations)) {
        return true;
    }
    frames f = { .capacity = 64 + 3 * section.size };
    row *rows = calloc(section.size / FDE_BYTES + 1, sizeof *rows);
    f.bytes = malloc(f.capacity);
    if (!rows || !f.bytes) {
        free(rows);
        free(f.bytes);
        return false;
    }
    size_t count = put_frames(&f, section, relocations, kernel->size, rows);
    size_t frame_size = f.size;
    if (count) {
        put_header(&f, rows, count, after_code(kernel->size));
        *out = (ig_unwind){ f.bytes, f.size, f.size - frame_size };
    } else {
        free(f.bytes);
    }
    free(rows);
    return true;
}
