/* Opening a plan: header, hash, sections; then the checks; then derived fields.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/plan/plan.h"

#include "base/checked.h"
#include "runtime/hash.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(ig_plan_header) == 80 + 24 * IG_SECTION_COUNT, "format");
_Static_assert(sizeof(ig_plan_host) == 24, "format");
_Static_assert(sizeof(ig_plan_symbol) == 56, "format");
_Static_assert(sizeof(ig_plan_port) == 56, "format");
_Static_assert(sizeof(ig_plan_state) == 72, "format");
_Static_assert(sizeof(ig_plan_node) == 40, "format");
_Static_assert(sizeof(ig_plan_guard) == 24, "format");
_Static_assert(sizeof(ig_plan_file) == 24, "format");
_Static_assert(sizeof(ig_plan_constant) == 48, "format");
_Static_assert(sizeof(ig_plan_buffer) == 40, "format");
_Static_assert(sizeof(ig_plan_operand) == 24, "format");
_Static_assert(sizeof(ig_plan_variant) == 40, "format");
_Static_assert(sizeof(ig_plan_step) == 80, "format");

ig_status ig_plan_refuse_version(uint32_t version, const ig_message *message) {
    bool is_older = version < IG_FORMAT_VERSION;
    return ig_message_set(
        message, IG_UNSUPPORTED,
        "the artifact has format version %u; this runtime reads version %u: %s",
        (unsigned)version, IG_FORMAT_VERSION,
        is_older
            ? "compile its model again"
            : "use the runtime of the Ingot that made it, or compile its model again");
}

ig_status ig_plan_refuse_newer(const ig_message *message) {
    return ig_message_set(
        message, IG_UNSUPPORTED,
        "the artifact holds more than this runtime knows of: use the "
        "runtime of the Ingot that made it, or compile its model again");
}

static ig_status check_header(const void *bytes, size_t size,
                              const ig_message *message) {
    const ig_plan_header *header = bytes;
    if (size < offsetof(ig_plan_header, plan_bytes) ||
        memcmp(header->magic, IG_PLAN_MAGIC, sizeof header->magic) != 0) {
        return ig_message_set(message, IG_INVALID, "the plan is damaged: no header");
    }
    if (!ig_format_is_read(header->version)) {
        return ig_plan_refuse_version(header->version, message);
    }
    if (size < offsetof(ig_plan_header, sections) || header->header_bytes > size ||
        header->plan_bytes != size) {
        return ig_message_set(message, IG_INVALID, "the plan is damaged: wrong size");
    }
    size_t hashed = offsetof(ig_plan_header, build_id);
    if (!ig_hash128_matches(&header->hash, (const char *)bytes + hashed,
                            size - hashed)) {
        return ig_message_set(message, IG_INVALID,
                              "the plan is damaged: its hash does not match");
    }
    return IG_OK;
}

/* ---- sections ---- */

static const uint32_t record_sizes[IG_SECTION_COUNT] = {
#define RECORD_SIZE(name, record) sizeof(record),
    IG_PLAN_SECTIONS(RECORD_SIZE)
#undef RECORD_SIZE
};

typedef enum fit {
    FIT_SAME,    /* records as this runtime has them */
    FIT_OLDER,   /* some are shorter, or there are fewer sections */
    FIT_NEWER,   /* there are more, or longer ones */
    FIT_DAMAGED, /* a section is out of bounds */
} fit;

static fit judge_sections(const ig_plan_header *header) {
    uint64_t end = offsetof(ig_plan_header, sections) +
                   (uint64_t)header->section_count * sizeof header->sections[0];
    fit result = header->section_count < IG_SECTION_COUNT ? FIT_OLDER : FIT_SAME;
    if (header->header_bytes != end) {
        return FIT_DAMAGED;
    }
    if (header->section_count > IG_SECTION_COUNT) {
        return FIT_NEWER;
    }
    for (uint32_t i = 0; i < header->section_count; i++) {
        uint64_t offset = header->sections[i].offset;
        uint64_t count = header->sections[i].count;
        uint32_t bytes = header->sections[i].record_bytes;
        if (bytes == 0 || offset % 8 != 0 || offset < header->header_bytes ||
            offset > header->plan_bytes ||
            count > (header->plan_bytes - offset) / bytes || count >= IG_NONE) {
            return FIT_DAMAGED;
        }
        if (bytes > record_sizes[i]) {
            return FIT_NEWER;
        }
        result = bytes < record_sizes[i] ? FIT_OLDER : result;
    }
    return result;
}

/* A copy with records as long as this runtime has them: fields that an older one lacks
 * are zero, a section that it lacks is empty.  NULL: out of memory. */
static ig_plan_header *widen_records(const ig_plan_header *from) {
    size_t size = sizeof *from;
    for (uint32_t i = 0; i < from->section_count; i++) {
        size += ig_align_up(from->sections[i].count * record_sizes[i], 8);
    }
    ig_plan_header *to = calloc(1, size);
    if (!to) {
        return NULL;
    }
    size_t at = sizeof *to;
    memcpy(to, from, from->header_bytes);
    to->header_bytes = sizeof *to;
    to->plan_bytes = size;
    for (uint32_t i = 0; i < IG_SECTION_COUNT; i++) {
        const char *record = (const char *)from + to->sections[i].offset;
        uint32_t bytes = to->sections[i].record_bytes, wide = record_sizes[i];
        to->sections[i].offset = at;
        to->sections[i].record_bytes = wide;
        for (uint64_t k = 0; k < to->sections[i].count; k++) {
            memcpy((char *)to + at + k * wide, record + k * bytes, bytes);
        }
        at += ig_align_up(to->sections[i].count * wide, 8);
    }
    to->section_count = IG_SECTION_COUNT;
    return to;
}

static ig_status find_sections(const ig_plan_header *header, ig_plan *plan,
                               const ig_message *message) {
    fit result = judge_sections(header);
    if (result == FIT_NEWER) {
        return ig_plan_refuse_newer(message);
    }
    if (result == FIT_DAMAGED) {
        return ig_message_set(message, IG_INVALID,
                              "the plan is damaged: a section is outside");
    }
    if (result == FIT_OLDER) {
        header = plan->widened = widen_records(header);
        if (!header) {
            return ig_message_set(message, IG_LIMIT, "out of memory");
        }
    }
    plan->header = header;
#define FIND_SECTION(name, record)                                            \
    plan->name##_count = (uint32_t)header->sections[IG_SECTION_##name].count; \
    plan->name =                                                              \
        (const record *)(const void *)((const char *)header +                 \
                                       header->sections[IG_SECTION_##name].offset);
    IG_PLAN_SECTIONS(FIND_SECTION)
#undef FIND_SECTION
    return IG_OK;
}

static bool allocate_derived(ig_plan *plan) {
    size_t keys = (size_t)plan->symbols_count * sizeof *plan->keys;
    size_t nodes = (size_t)plan->nodes_count * sizeof *plan->node_sizes;
    char *memory =
        calloc(1, keys + 2 * nodes + plan->symbols_count + plan->exprs_count + 1);
    if (!memory) {
        return false;
    }
    plan->derived = memory;
    plan->keys = (uint32_t *)(void *)memory;
    plan->node_sizes = (uint32_t *)(void *)(memory + keys);
    plan->node_leaves = (int32_t *)(void *)(memory + keys + nodes);
    plan->symbol_flags = (uint8_t *)memory + keys + 2 * nodes;
    plan->expr_flags = plan->symbol_flags + plan->symbols_count;
    return true;
}

ig_status ig_plan_open(const void *bytes, size_t size, ig_plan *out_plan,
                       const ig_message *message) {
    memset(out_plan, 0, sizeof *out_plan);
    IG_TRY(check_header(bytes, size, message));
    IG_TRY(find_sections(bytes, out_plan, message));
    if (!allocate_derived(out_plan)) {
        ig_plan_close(out_plan);
        return ig_message_set(message, IG_LIMIT, "out of memory");
    }
    ig_status status = ig_plan_check_records(out_plan, message);
    if (status == IG_OK) {
        status = ig_plan_check_tree(out_plan, message);
    }
    if (status == IG_OK) {
        status = ig_plan_check_steps(out_plan, message);
    }
    if (status != IG_OK) {
        ig_plan_close(out_plan);
        return status;
    }
    ig_plan_find_keys(out_plan);
    return IG_OK;
}

void ig_plan_close(ig_plan *plan) {
    free(plan->derived);
    free(plan->widened);
    plan->derived = NULL;
    plan->widened = NULL;
}

/* ---- dependencies of sizes and grids ---- */

/* Marks the symbols of `expr` in `reached`, through definitions by `spread`. */
static void reach_symbols(const ig_plan *plan, uint32_t expr, uint8_t *reached) {
    if (expr == IG_NONE) {
        return;
    }
    const ig_plan_range range = plan->exprs[expr];
    for (uint32_t i = 0; i < range.count; i++) {
        const ig_plan_code *code = &plan->codes[range.first + i];
        if (code->opcode == IG_CODE_SYMBOL) {
            reached[code->value] |= IG_DEPENDS_LOOSE;
        }
    }
}

static void reach_ports(const ig_plan *plan, uint8_t *reached) {
    for (uint32_t i = 0; i < plan->outputs_count; i++) {
        const ig_plan_port *port = &plan->outputs[i];
        for (uint32_t axis = 0; axis < port->rank; axis++) {
            reach_symbols(plan, plan->lists[port->dims + axis], reached);
        }
    }
    for (uint32_t i = 0; i < plan->buffers_count; i++) {
        const ig_plan_buffer *buffer = &plan->buffers[i];
        if (buffer->space != IG_SPACE_INPUT) {
            reach_symbols(plan, buffer->bytes, reached);
        }
    }
}

static void reach_steps(const ig_plan *plan, uint8_t *reached) {
    for (uint32_t i = 0; i < plan->operands_count; i++) {
        reach_symbols(plan, plan->operands[i].offset, reached);
        reach_symbols(plan, plan->operands[i].row_stride, reached);
    }
    for (uint32_t i = 0; i < plan->variants_count; i++) {
        reach_symbols(plan, plan->variants[i].grid, reached);
    }
    for (uint32_t i = 0; i < plan->steps_count; i++) {
        const ig_plan_step *step = &plan->steps[i];
        if (step->kind != IG_STEP_set) { /* evaluated by each run */
            reach_symbols(plan, step->value, reached);
            reach_symbols(plan, step->block, reached);
        }
    }
}

static bool mentions_loose(const ig_plan *plan, uint32_t expr) {
    const ig_plan_range range = plan->exprs[expr];
    for (uint32_t i = 0; i < range.count; i++) {
        const ig_plan_code *code = &plan->codes[range.first + i];
        if (code->opcode == IG_CODE_SYMBOL &&
            (plan->symbol_flags[code->value] & IG_DEPENDS_LOOSE)) {
            return true;
        }
    }
    return false;
}

void ig_plan_find_keys(ig_plan *plan) {
    /* First the bit means "reached"; a definition comes after the symbols it uses. */
    uint8_t *flags = plan->symbol_flags;
    reach_ports(plan, flags);
    reach_steps(plan, flags);
    for (uint32_t i = plan->symbols_count; i-- > 0;) {
        if ((flags[i] & IG_DEPENDS_LOOSE) &&
            plan->symbols[i].kind == IG_SYMBOL_DEFINED) {
            reach_symbols(plan, plan->symbols[i].expr, flags);
        }
    }
    /* Then it is turned round: an input symbol that was not reached is loose, and so is
     * every definition over one. */
    for (uint32_t i = 0; i < plan->symbols_count; i++) {
        const ig_plan_symbol *symbol = &plan->symbols[i];
        bool is_reached = (flags[i] & IG_DEPENDS_LOOSE) != 0;
        flags[i] &= (uint8_t)~IG_DEPENDS_LOOSE;
        if (symbol->kind == IG_SYMBOL_INPUT && is_reached) {
            plan->keys[plan->key_count++] = i;
        } else if (symbol->kind == IG_SYMBOL_INPUT ||
                   (symbol->kind == IG_SYMBOL_DEFINED &&
                    mentions_loose(plan, symbol->expr))) {
            flags[i] |= IG_DEPENDS_LOOSE;
        }
    }
    for (uint32_t i = 0; i < plan->exprs_count; i++) {
        if (mentions_loose(plan, i)) {
            plan->expr_flags[i] |= IG_DEPENDS_LOOSE;
        }
    }
}

bool ig_plan_is_late_output(const ig_plan *plan, uint32_t index) {
    const ig_plan_port *port = &plan->outputs[index];
    for (uint32_t i = 0; i < port->rank; i++) {
        if (ig_plan_expr_depends(plan, plan->lists[port->dims + i], IG_DEPENDS_LATE)) {
            return true;
        }
    }
    return false;
}
