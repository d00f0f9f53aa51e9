/* The line table of an object, as profilers take it: an offset and a line a row.
 * SPDX-License-Identifier: Apache-2.0
 *
 * LLVM writes it as the program of a small machine (DWARF 4, section 6.2): registers
 * for address and line, and opcodes that move both and append a row.  The one address
 * in it is a relocation to the section of the code.  Rows are of one file, so files,
 * columns and the like are read over.
 */
#include "codegen/cpu/debug.h"

#include "base/vec.h"

#include <assert.h>
#include <string.h>

enum {
    DW_LNS_copy = 1,
    DW_LNS_advance_pc,
    DW_LNS_advance_line,
    DW_LNS_const_add_pc = 8,
    DW_LNS_fixed_advance_pc
};
enum { DW_LNE_end_sequence = 1, DW_LNE_set_address };

typedef struct line_program {
    const ig_object *object;
    ig_arena *arena;
    const ig_object_section *section, *relocations;
    const uint8_t *at, *end; /* the rest of it */
    uint8_t min_bytes;       /* of an instruction */
    int8_t line_base;
    uint8_t line_range, opcode_base;
    const uint8_t *operand_counts; /* of standard opcodes, from 1 on */
    int64_t address;               /* in the image */
    int64_t line;
    IG_VEC(ig_debug_row) rows;
} line_program;

static ig_status report_lines(const line_program *p) {
    return ig_object_report(p->object, "its line table is damaged:", ".debug_line");
}

/* ---- numbers ---- */

static uint64_t take_bytes(line_program *p, size_t size) {
    uint64_t value = 0;
    if ((size_t)(p->end - p->at) < size) {
        p->at = p->end;
        return 0;
    }
    memcpy(&value, p->at, size);
    p->at += size;
    return value;
}

static uint64_t take_uleb(line_program *p) {
    uint64_t value = 0;
    for (unsigned shift = 0; p->at < p->end; shift += 7) {
        uint8_t byte = *p->at++;
        value |= shift < 64 ? (uint64_t)(byte & 127) << shift : 0;
        if (!(byte & 128)) {
            break;
        }
    }
    return value;
}

static int64_t take_sleb(line_program *p) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 128;
    while (p->at < p->end && (byte & 128)) {
        byte = *p->at++;
        value |= shift < 64 ? (uint64_t)(byte & 127) << shift : 0;
        shift += 7;
    }
    if (shift < 64 && (byte & 64)) {
        value |= ~UINT64_C(0) << shift;
    }
    return (int64_t)value;
}

/* ---- the head ---- */

/* Reads as far as the program; its end is the section's, as there is one unit. */
static ig_status read_head(line_program *p) {
    uint64_t unit = take_bytes(p, 4);
    uint64_t version = take_bytes(p, 2);
    uint64_t head = take_bytes(p, 4);
    if (version != 4 || unit > (uint64_t)(p->end - p->at) + 6 ||
        head > (uint64_t)(p->end - p->at)) {
        return report_lines(p);
    }
    p->end = p->at - 6 + unit;
    const uint8_t *program = p->at + head;
    p->min_bytes = (uint8_t)take_bytes(p, 1);
    (void)take_bytes(p, 2); /* operations an instruction, default of is_stmt */
    p->line_base = (int8_t)take_bytes(p, 1);
    p->line_range = (uint8_t)take_bytes(p, 1);
    p->opcode_base = (uint8_t)take_bytes(p, 1);
    p->operand_counts = p->at;
    if (p->line_range == 0 || p->opcode_base == 0 || program > p->end ||
        p->at > program || program - p->at < p->opcode_base) {
        return report_lines(p);
    }
    p->at = program;
    return IG_OK;
}

/* ---- the machine ---- */

static void add_row(line_program *p) {
    bool is_new = p->rows.count == 0 || IG_LAST(&p->rows).line != (uint32_t)p->line;
    if (p->line > 0 && p->line <= UINT32_MAX && p->address >= 0 &&
        p->address <= UINT32_MAX && is_new) {
        ig_debug_row row = { (uint32_t)p->address, (uint32_t)p->line };
        IG_PUSH(p->arena, &p->rows, row);
    }
}

/* The place in the image that the relocation at the operand names. */
static ig_status set_address(line_program *p) {
    uint64_t at = (uint64_t)(p->at - (const uint8_t *)p->object->bytes.data) -
                  p->section->header.sh_offset;
    const Elf64_Shdr *header = p->relocations ? &p->relocations->header : NULL;
    for (uint64_t i = 0; header && i + sizeof(Elf64_Rela) <= header->sh_size;
         i += sizeof(Elf64_Rela)) {
        Elf64_Rela rela;
        Elf64_Sym symbol;
        memcpy(&rela, p->object->bytes.data + header->sh_offset + i, sizeof rela);
        if (rela.r_offset == at && header->sh_link < p->object->section_count &&
            ig_object_symbol(p->object, &p->object->sections[header->sh_link].header,
                             ELF64_R_SYM(rela.r_info), &symbol)) {
            int64_t offset = ig_object_symbol_offset(p->object, &symbol);
            p->address = offset < 0
                             ? -1
                             : (int64_t)((uint64_t)offset + (uint64_t)rela.r_addend);
            (void)take_bytes(p, 8);
            return IG_OK;
        }
    }
    return report_lines(p);
}

static ig_status run_extended(line_program *p) {
    uint64_t size = take_uleb(p);
    if (size == 0 || size > (uint64_t)(p->end - p->at)) {
        return report_lines(p);
    }
    const uint8_t *next = p->at + size;
    uint64_t opcode = take_bytes(p, 1);
    if (opcode == DW_LNE_end_sequence) {
        p->line = 1;
    } else if (opcode == DW_LNE_set_address) {
        IG_TRY(set_address(p));
    }
    p->at = next;
    return IG_OK;
}

/* Damaged programs may move them out of all bounds; add_row checks the result. */
static void move_address(line_program *p, uint64_t instructions) {
    p->address = (int64_t)((uint64_t)p->address + instructions * p->min_bytes);
}

static void move_line(line_program *p, int64_t by) {
    p->line = (int64_t)((uint64_t)p->line + (uint64_t)by);
}

static void run_special(line_program *p, uint8_t opcode) {
    int adjusted = opcode - p->opcode_base;
    move_address(p, (uint64_t)(adjusted / p->line_range));
    move_line(p, p->line_base + adjusted % p->line_range);
    add_row(p);
}

static void run_standard(line_program *p, uint8_t opcode) {
    if (opcode == DW_LNS_copy) {
        add_row(p);
    } else if (opcode == DW_LNS_advance_pc) {
        move_address(p, take_uleb(p));
    } else if (opcode == DW_LNS_advance_line) {
        move_line(p, take_sleb(p));
    } else if (opcode == DW_LNS_const_add_pc) {
        move_address(p, (uint64_t)((255 - p->opcode_base) / p->line_range));
    } else if (opcode == DW_LNS_fixed_advance_pc) {
        p->address = (int64_t)((uint64_t)p->address + take_bytes(p, 2));
    } else {
        for (uint8_t i = 0; i < p->operand_counts[opcode - 1]; i++) {
            (void)take_uleb(p);
        }
    }
}

ig_status ig_cpu_debug_lines(const ig_object *object, ig_arena *arena,
                             ig_kernel_debug *out) {
    line_program p = { .object = object,
                       .arena = arena,
                       .section = ig_object_find(object, ".debug_line"),
                       .relocations = ig_object_find(object, ".rela.debug_line"),
                       .line = 1 };
    if (!p.section || p.section->header.sh_type != SHT_PROGBITS) {
        return ig_object_report(object, "it has no section", ".debug_line");
    }
    p.at = (const uint8_t *)object->bytes.data + p.section->header.sh_offset;
    p.end = p.at + p.section->header.sh_size;
    IG_TRY(read_head(&p));
    while (p.at < p.end) {
        uint8_t opcode = (uint8_t)take_bytes(&p, 1);
        if (opcode == 0) {
            IG_TRY(run_extended(&p));
        } else if (opcode >= p.opcode_base) {
            run_special(&p, opcode);
        } else {
            run_standard(&p, opcode);
        }
    }
    out->rows = p.rows.items;
    out->row_count = p.rows.count;
    return IG_OK;
}
