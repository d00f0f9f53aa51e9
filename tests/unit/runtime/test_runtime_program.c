/* Opening artifacts: good ones, damaged ones, ones for another machine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/runtime/runtime_case.h"
#include "tests/unit/unit.h"

#include "base/checked.h"
#include "runtime/container.h"
#include "runtime/plan/plan.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK_WORDS(c, words) \
    CHECK_MSG(strstr((c)->why, (words)) != NULL, "'%s'", (c)->why)

/* A case with a bit of everything that a plan can hold. */
static rt_case *rich_case(void) {
    static float table[100];
    rt_case *c = rt_begin();
    uint32_t batch = rt_symbol(c, "B", 0, 0), k = rt_late_symbol(c, "K");
    uint32_t r = rt_rows_symbol(c, "r");
    uint32_t one = RT_EXPR(c, RT_INT(1)), eight = RT_EXPR(c, RT_INT(8));
    uint32_t dim = RT_EXPR(c, RT_SYM(batch));
    uint32_t twice = RT_EXPR(c, RT_SYM(batch), RT_INT(2), RT_OP(MUL), RT_INT(1),
                             RT_OP(MAX), RT_INT(3), RT_OP(CEIL));
    uint32_t ids = rt_input(c, "ids", IG_I64, 1, &dim);
    uint32_t cond = rt_input(c, "cond", IG_BOOL8, 1, &one);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &dim);
    uint32_t w = rt_constant(c, "table", table, sizeof table);
    uint32_t bytes = RT_EXPR(c, RT_SYM(batch), RT_INT(8), RT_OP(MUL));
    uint32_t t = rt_buffer(c, IG_SPACE_ARENA, bytes, 0, 10);
    uint32_t own = rt_buffer(c, IG_SPACE_WORKER,
                             RT_EXPR(c, RT_SYM(r), RT_INT(4), RT_OP(MUL)), 8, 9);
    rt_guard(c, one, RT_EXPR(c, RT_SYM(batch)), "at least one row");
    c->w.guards.items[0].test = 1;
    uint32_t tiles = RT_EXPR(c, RT_SYM(r));
    ig_plan_operand id_rows = rt_operand(ids), y_rows = rt_operand(y);
    id_rows.row_stride = eight;
    id_rows.high = RT_EXPR(c, RT_INT(100));
    y_rows.row_stride = RT_EXPR(c, RT_INT(4));
    ig_plan_step step = rt_step(c, IG_STEP_store, "store");
    step.operands = RT_OPERANDS(c, RT_AT(t));
    step.values = RT_LIST(c, dim);
    rt_push(c, step); /* 0 */
    step = rt_step(c, IG_STEP_read, "read");
    step.operands = RT_OPERANDS(c, RT_AT(t));
    step.symbol = k;
    rt_push(c, step); /* 1 */
    step = rt_step(c, IG_STEP_if, "if");
    step.operands = RT_OPERANDS(c, RT_AT(cond));
    step.body_count = step.else_count = 1;
    rt_push(c, step); /* 2 */
    step = rt_step(c, IG_STEP_set, "set");
    step.symbol = k;
    step.value = one;
    rt_push(c, step); /* 3 */
    step.value = twice;
    rt_push(c, step); /* 4 */
    step = rt_step(c, IG_STEP_loop, "loop");
    step.operands = RT_OPERANDS(c, RT_AT(t), RT_AT(IG_NONE));
    step.symbol = k;
    step.body_count = 1;
    rt_push(c, step); /* 5 */
    rt_launch(c, "gather", RT_OPERANDS(c, RT_AT(y), RT_AT(w), RT_AT(ids)),
              RT_LIST(c, RT_EXPR(c, RT_INT(100))), dim, twice); /* 6 */
    step = rt_step(c, IG_STEP_rows, "rows");
    step.value = dim;
    step.block = eight;
    step.symbol = r;
    step.body_count = 2;
    rt_push(c, step); /* 7 */
    rt_launch(c, "gather", RT_OPERANDS(c, RT_AT(own), RT_AT(w), id_rows),
              RT_LIST(c, RT_EXPR(c, RT_INT(100))), tiles, IG_NONE); /* 8 */
    rt_launch(c, "add", RT_OPERANDS(c, y_rows, RT_AT(own), RT_AT(own)),
              RT_LIST(c, tiles, one), tiles, IG_NONE); /* 9 */
    step = rt_step(c, IG_STEP_copy, "copy");
    step.operands = RT_OPERANDS(c, RT_AT(t), RT_AT(ids));
    step.value = eight;
    rt_push(c, step);
    return c;
}

/* ---- what a program tells ---- */

TEST(tells_its_signature_and_facts) {
    rt_case *c = rich_case();
    ig_program *program = rt_open(c, NULL);
    CHECK_INT(ig_program_input_count(program), 2);
    CHECK_INT(ig_program_output_count(program), 1);
    ig_port port = ig_program_input(program, 0);
    CHECK_TEXT(port.name, "ids");
    CHECK_INT(port.dtype, IG_I64);
    CHECK_INT(port.rank, 1);
    CHECK_INT(port.dims[0], -1);
    CHECK_INT(ig_program_input(program, 1).dims[0], 1);
    CHECK_TEXT(ig_program_output(program, 0).type, "rank 1");
    CHECK_INT(ig_program_find_input(program, "cond"), 1);
    CHECK_INT(ig_program_find_input(program, "y"), -1);
    CHECK_INT(ig_program_find_output(program, "y"), 0);
    ig_program_facts facts = { .size = sizeof facts };
    ig_program_get_facts(program, &facts);
    CHECK_TEXT(facts.level, RT_LEVEL);
    CHECK_TEXT(facts.levels, RT_LEVEL);
    CHECK_TEXT(facts.build_id, "test-build");
    CHECK_TEXT(facts.model, "case");
    CHECK_INT(facts.launch_count, 3);
    CHECK_INT(facts.weight_bytes, 400);
    CHECK(strcmp(ig_runtime_level(), "") != 0);
    CHECK_TEXT(ig_status_text(IG_LIMIT), "LIMIT");
    ig_program_close(program);
    ig_program_close(NULL);
    rt_end(c);
}
END_TEST

TEST(the_rich_case_runs) {
    rt_case *c = rich_case();
    ig_program *program = rt_open(c, NULL);
    ig_session *session = NULL;
    CHECK_OK(ig_session_create(program, NULL, &session));
    int64_t ids[3] = { 1, 2, 3 };
    char cond = 1;
    ig_view in[] = { rt_view(ids, IG_I64, 3), rt_view(&cond, IG_BOOL8, 1) };
    ig_view out = rt_room(NULL, 0);
    CHECK_MSG(ig_session_run(session, in, 2, &out, 1) == IG_OK, "%s",
              ig_session_error(session));
    ig_session_destroy(session);
    ig_program_close(program);
    rt_end(c);
}
END_TEST

/* y = x * 2 on level v2, x * 3 on level v3, x * 4 on a level that nobody has. */
static rt_case *levels_case(void) {
    rt_case *c = rt_begin();
    uint32_t one = RT_EXPR(c, RT_INT(1));
    uint32_t x = rt_input(c, "x", IG_F32, 1, &one);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &one);
    IG_PUSH(c->w.arena, &c->w.levels, ig_artifact_text(&c->w, ig_str_of("v3")));
    IG_PUSH(c->w.arena, &c->w.levels, ig_artifact_text(&c->w, ig_str_of("v99")));
    rt_launch(c, "scale", RT_OPERANDS(c, RT_AT(y), RT_AT(x)),
              RT_LIST(c, one, one, RT_EXPR(c, RT_INT(0x40000000))), IG_NONE, IG_NONE);
    ig_plan_variant variant = *rt_variant(c);
    variant.params = RT_LIST(c, one, one, RT_EXPR(c, RT_INT(0x40400000)));
    IG_PUSH(c->w.arena, &c->w.variants, variant);
    variant.params = RT_LIST(c, one, one, RT_EXPR(c, RT_INT(0x40800000)));
    IG_PUSH(c->w.arena, &c->w.variants, variant);
    c->w.steps.items[0].variants.count = 3;
    return c;
}

/* ---- damage ---- */

static bool is_clean(ig_status status) {
    return status == IG_INVALID || status == IG_UNSUPPORTED || status == IG_LIMIT;
}

TEST(every_prefix_is_refused) {
    rt_case *c = rich_case();
    rt_pack(c);
    ig_program *program = NULL;
    char *bytes = aligned_alloc(64, (c->size + 63) / 64 * 64);
    for (size_t size = 0; size < c->size; size++) {
        memcpy(bytes, c->bytes, size);
        ig_status status = rt_try_open(c, bytes, size, &program);
        CHECK_MSG(status == IG_INVALID && !program && c->why[0], "%zu: %s", size,
                  c->why);
    }
    free(bytes);
    rt_end(c);
}
END_TEST

/* Each byte of the file in turn becomes another; what opens all the same must be
 * whole. */
TEST(every_flipped_byte_is_found_or_harmless) {
    rt_case *c = rich_case();
    rt_pack(c);
    unsigned char *bytes = c->bytes;
    for (size_t i = 0; i < c->size; i++) {
        ig_program_options options = { .size = sizeof options,
                                       .message = c->why,
                                       .message_size = sizeof c->why,
                                       .check_weights = 1 };
        ig_program *program = NULL;
        bytes[i] ^= (unsigned char)(1u << i % 8);
        ig_status status = ig_program_open_memory(bytes, c->size, &options, &program);
        CHECK_MSG(status == IG_OK || is_clean(status), "%zu: %s", i, c->why);
        CHECK((status == IG_OK) == (program != NULL));
        ig_program_close(program);
        bytes[i] ^= (unsigned char)(1u << i % 8);
    }
    rt_end(c);
}
END_TEST

static ig_str find_entry(rt_case *c, const char *name) {
    ig_container container;
    ig_message message = { NULL, 0, NULL };
    ig_str entry;
    CHECK_OK(ig_container_open((ig_str){ c->bytes, c->size }, &container, &message));
    CHECK(ig_container_find(&container, name, &entry));
    return entry;
}

/* Makes the plan's hash right again, so that its records are looked at. */
static void rehash(ig_str plan) {
    ig_plan_header *header = (void *)(uintptr_t)plan.data;
    size_t hashed = offsetof(ig_plan_header, build_id);
    header->hash = ig_artifact_hash(plan.data + hashed, plan.size - hashed);
}

/* Damaged sizes ask for any amount of memory. */
static void *allocate_little(void *user, size_t size, size_t alignment) {
    (void)user;
    return size > 64 << 20 ? NULL
                           : aligned_alloc(alignment, ig_align_up(size, alignment));
}

static void release_little(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
    free(memory);
}

/* Opens what stands in c->bytes, and when that works binds a session to it. */
static void try_all(rt_case *c) {
    ig_program *program = NULL;
    ig_status status = rt_try_open(c, c->bytes, c->size, &program);
    CHECK_MSG(status == IG_OK || is_clean(status), "%s", c->why);
    if (status != IG_OK) {
        return;
    }
    ig_session *session = NULL;
    int64_t ids[4] = { 0 };
    ig_view in[] = { rt_view(ids, IG_I64, 3), rt_view(ids, IG_BOOL8, 1) };
    ig_view out = rt_room(NULL, 0);
    ig_session_options options = { .size = sizeof options,
                                   .allocate = allocate_little,
                                   .release = release_little };
    if (ig_session_create(program, &options, &session) == IG_OK) {
        status = ig_session_bind(session, in, ig_program_input_count(program), &out,
                                 ig_program_output_count(program));
        CHECK(status == IG_OK || is_clean(status));
    }
    ig_session_destroy(session);
    ig_program_close(program);
}

TEST(damaged_records_with_a_good_hash) {
    static const unsigned char masks[] = { 1, 0x80, 0xff, 0x7f, 4 };
    rt_case *c = rich_case();
    rt_pack(c);
    ig_str plan = find_entry(c, RT_ENTRY_PLAN);
    char *bytes = (char *)(uintptr_t)plan.data;
    for (size_t i = offsetof(ig_plan_header, build_id); i < plan.size; i++) {
        for (size_t k = 0; k < IG_COUNT_OF(masks); k++) {
            bytes[i] = (char)(bytes[i] ^ masks[k]);
            rehash(plan);
            try_all(c);
            bytes[i] = (char)(bytes[i] ^ masks[k]);
        }
    }
    rt_end(c);
}
END_TEST

/* Also where what a record says would do. */
TEST(every_flipped_byte_of_the_plan_is_found) {
    rt_case *c = rich_case();
    rt_pack(c);
    ig_str plan = find_entry(c, RT_ENTRY_PLAN);
    char *bytes = (char *)(uintptr_t)plan.data;
    for (size_t i = offsetof(ig_plan_header, build_id); i < plan.size; i++) {
        ig_program *program = NULL;
        bytes[i] = (char)(bytes[i] ^ (1 << i % 8));
        CHECK_STATUS(rt_try_open(c, c->bytes, c->size, &program), IG_INVALID);
        CHECK_WORDS(c, "the plan is damaged: its hash does not match");
        bytes[i] = (char)(bytes[i] ^ (1 << i % 8));
    }
    rt_end(c);
}
END_TEST

static void put_number(unsigned char *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) {
        at[i] = (unsigned char)(value >> (8 * i));
    }
}

/* The end of a container as it is when 32 bits do not hold its numbers. */
TEST(large_containers_end_in_zip64_records) {
    rt_case *c = levels_case();
    rt_pack(c);
    size_t end = c->size - 22, size = c->size + 56 + 20;
    unsigned char *bytes = aligned_alloc(64, ig_align_up(size, 64));
    memcpy(bytes, c->bytes, end);
    memset(bytes + end, 0, 56 + 20);
    memcpy(bytes + end + 76, (char *)c->bytes + end, 22);
    unsigned char *end64 = bytes + end, *locator = end64 + 56, *last = locator + 20;
    put_number(end64, 0x06064b50, 4);
    memcpy(end64 + 32, last + 10, 2); /* count, size and offset of the directory */
    memcpy(end64 + 40, last + 12, 4);
    memcpy(end64 + 48, last + 16, 4);
    put_number(locator, 0x07064b50, 4);
    put_number(locator + 8, end, 8);
    memset(last + 8, 0xff, 12);
    ig_program *program = NULL;
    CHECK_MSG(rt_try_open(c, bytes, size, &program) == IG_OK, "%s", c->why);
    ig_program_close(program);
    put_number(locator + 8, UINT64_MAX, 8); /* far outside */
    CHECK_STATUS(rt_try_open(c, bytes, size, &program), IG_INVALID);
    put_number(locator + 8, end, 8);
    put_number(end64 + 48, UINT64_MAX - 8, 8);
    CHECK_STATUS(rt_try_open(c, bytes, size, &program), IG_INVALID);
    free(bytes);
    rt_end(c);
}
END_TEST

/* Both headers of an entry say a size that the file has not. */
TEST(entries_stay_inside_of_the_file) {
    rt_case *c = rich_case();
    rt_pack(c);
    ig_container container;
    ig_message message = { c->why, sizeof c->why, NULL };
    unsigned char *bytes = c->bytes, *directory = bytes + c->size - 22;
    uint32_t at;
    memcpy(&at, directory + 16, sizeof at);
    directory = bytes + at;
    for (uint32_t local, size; memcmp(directory, "PK\1\2", 4) == 0;) {
        uint16_t names[3], head[2];
        memcpy(&local, directory + 42, sizeof local);
        memcpy(&size, directory + 24, sizeof size);
        memcpy(names, directory + 28, sizeof names);
        memcpy(head, bytes + local + 26, sizeof head);
        uint64_t max = c->size - (local + 30u + head[0] + head[1]);
        for (int more = 0; more <= 1; more++) {
            put_number(directory + 20, max + (uint64_t)more, 4);
            put_number(directory + 24, max + (uint64_t)more, 4);
            put_number(bytes + local + 22, max + (uint64_t)more, 4);
            ig_status status = ig_container_open((ig_str){ c->bytes, c->size },
                                                 &container, &message);
            CHECK_STATUS(status, more ? IG_INVALID : IG_OK);
            CHECK(!more || strstr(c->why, "reaches past the end of the file"));
        }
        put_number(directory + 20, size, 4);
        put_number(directory + 24, size, 4);
        put_number(bytes + local + 22, size, 4);
        directory += 46 + names[0] + names[1] + names[2];
    }
    rt_end(c);
}
END_TEST

TEST(damaged_code_is_refused) {
    rt_case *c = rich_case();
    rt_pack(c);
    ig_str code = find_entry(c, IG_ENTRY_CODE RT_FAMILY "-" RT_LEVEL);
    ig_program *program = NULL;
    ((char *)(uintptr_t)code.data)[code.size - 1] ^= 1;
    CHECK_STATUS(rt_try_open(c, c->bytes, c->size, &program), IG_INVALID);
    CHECK_WORDS(c, "code is damaged");
    rt_end(c);
}
END_TEST

TEST(damaged_weights_are_found_when_asked) {
    rt_case *c = rich_case();
    rt_pack(c);
    ig_str weights = find_entry(c, IG_ENTRY_WEIGHTS);
    ((char *)(uintptr_t)weights.data)[17] ^= 1;
    ig_program_options options = { .size = sizeof options,
                                   .message = c->why,
                                   .message_size = sizeof c->why };
    ig_program *program = NULL;
    CHECK_OK(ig_program_open_memory(c->bytes, c->size, &options, &program));
    ig_program_close(program);
    options.check_weights = 1;
    CHECK_STATUS(ig_program_open_memory(c->bytes, c->size, &options, &program),
                 IG_INVALID);
    CHECK_WORDS(c, "constant 'table' is damaged");
    rt_end(c);
}
END_TEST

/* ---- other versions, other machines ---- */

TEST(other_version_is_unsupported) {
    rt_case *c = rich_case();
    rt_pack(c);
    ig_program *program = NULL;
    ig_plan_header *header = (void *)(uintptr_t)find_entry(c, RT_ENTRY_PLAN).data;
    header->version = IG_FORMAT_VERSION + 1;
    CHECK_STATUS(rt_try_open(c, c->bytes, c->size, &program), IG_UNSUPPORTED);
    CHECK_WORDS(c,
                "format version 7; this runtime reads version 6: use the runtime of");
    header->version = IG_FORMAT_VERSION - 1;
    CHECK_STATUS(rt_try_open(c, c->bytes, c->size, &program), IG_UNSUPPORTED);
    CHECK_WORDS(c, "format version 5; this runtime reads version 6: compile its model");
    rt_end(c);
}
END_TEST

static float run_one(ig_program *program) {
    ig_session *session = NULL;
    CHECK_OK(ig_session_create(program, NULL, &session));
    float x = 1, y = 0;
    ig_view in = rt_view(&x, IG_F32, 1), out = rt_room(&y, sizeof y);
    CHECK_OK(ig_session_run(session, &in, 1, &out, 1));
    ig_session_destroy(session);
    return y;
}

static void rehash_plan(ig_plan_header *header) {
    rehash((ig_str){ (const char *)header, header->plan_bytes });
}

/* Takes the last `bytes` bytes, which hold nothing, from each record of a section. */
static void shorten_records(ig_plan_header *header, ig_plan_section section,
                            uint32_t bytes) {
    uint32_t before = header->sections[section].record_bytes;
    char *first = (char *)header + header->sections[section].offset;
    for (uint64_t i = 0; i < header->sections[section].count; i++) {
        memmove(first + i * (before - bytes), first + i * before, before - bytes);
    }
    header->sections[section].record_bytes = before - bytes;
}

/* What a release with longer records sees of this one's artifacts. */
TEST(shorter_records_of_an_older_release_are_read) {
    static const struct {
        ig_plan_section section;
        uint32_t bytes;
    } grown[] = { { IG_SECTION_hosts, 4 },    { IG_SECTION_inputs, 4 },
                  { IG_SECTION_outputs, 4 },  { IG_SECTION_operands, 4 },
                  { IG_SECTION_variants, 4 }, { IG_SECTION_steps, 4 } };
    rt_case *c = levels_case();
    ig_program *program = NULL;
    rt_pack(c);
    CHECK_OK(rt_try_open(c, c->bytes, c->size, &program));
    float expected = run_one(program);
    ig_program_close(program);
    ig_plan_header *header = (void *)(uintptr_t)find_entry(c, RT_ENTRY_PLAN).data;
    for (size_t i = 0; i < IG_COUNT_OF(grown); i++) {
        shorten_records(header, grown[i].section, grown[i].bytes);
        rehash_plan(header);
        CHECK_MSG(rt_try_open(c, c->bytes, c->size, &program) == IG_OK, "%zu: %s", i,
                  c->why);
        CHECK(run_one(program) == expected);
        ig_program_close(program);
    }
    header->sections[IG_SECTION_steps].record_bytes = 0;
    rehash_plan(header);
    CHECK_STATUS(rt_try_open(c, c->bytes, c->size, &program), IG_INVALID);
    rt_end(c);
}
END_TEST

static ig_status open_plan(rt_case *c, const ig_plan_header *header) {
    ig_plan plan;
    ig_message message = { c->why, sizeof c->why, NULL };
    ig_status status = ig_plan_open(header, header->plan_bytes, &plan, &message);
    if (status == IG_OK) {
        ig_plan_close(&plan);
    }
    return status;
}

TEST(longer_records_and_more_sections_are_refused_in_words) {
    rt_case *c = rich_case();
    rt_pack(c);
    ig_str plan = find_entry(c, RT_ENTRY_PLAN);
    enum { SECTION = sizeof((ig_plan_header *)0)->sections[0] };
    size_t head = sizeof(ig_plan_header);
    ig_plan_header *more = calloc(1, plan.size + SECTION);
    memcpy(more, plan.data, head);
    memcpy((char *)more + head + SECTION, plan.data + head, plan.size - head);
    for (uint32_t i = 0; i < IG_SECTION_COUNT; i++) {
        more->sections[i].offset += SECTION;
    }
    more->header_bytes += SECTION;
    more->section_count++;
    more->plan_bytes += SECTION;
    ig_plan_header unknown = { .sections = { { more->header_bytes, 0, 8, 0 } } };
    memcpy((char *)more + head, &unknown.sections[0], SECTION);
    rehash_plan(more);
    CHECK_STATUS(open_plan(c, more), IG_UNSUPPORTED);
    CHECK_WORDS(c, "holds more than this runtime knows of: use the runtime of");
    more->section_count = IG_SECTION_COUNT; /* as many as the header has not */
    rehash_plan(more);
    CHECK_STATUS(open_plan(c, more), IG_INVALID);
    free(more);
    ig_plan_header *longer = calloc(1, plan.size);
    memcpy(longer, plan.data, plan.size);
    longer->sections[IG_SECTION_files].record_bytes += 8;
    rehash_plan(longer);
    CHECK_STATUS(open_plan(c, longer), IG_UNSUPPORTED);
    CHECK_WORDS(c, "holds more than this runtime knows of");
    free(longer);
    rt_end(c);
}
END_TEST

TEST(other_cpu_is_unsupported) {
    rt_case *c = rich_case();
    c->w.levels.items[0] = ig_artifact_text(&c->w, ig_str_of("v9-quantum"));
    rt_pack(c);
    ig_program *program = NULL;
    CHECK_STATUS(rt_try_open(c, c->bytes, c->size, &program), IG_UNSUPPORTED);
    CHECK_WORDS(c, "the artifact has code for v9-quantum; this machine runs " RT_LEVEL);
    rt_end(c);
}
END_TEST

TEST(takes_the_best_level_or_the_one_asked_for) {
    rt_case *c = levels_case();
    ig_program_options options = { .size = sizeof options, .level = RT_LEVEL };
    ig_program *program = rt_open(c, &options);
    CHECK(run_one(program) == 2);
    ig_program_close(program);
    program = rt_open(c, NULL);
    CHECK(run_one(program) == (strcmp(ig_runtime_level(), RT_LEVEL) == 0 ? 2 : 3));
    ig_program_close(program);
    options.level = "v99";
    options.message = c->why;
    options.message_size = sizeof c->why;
    CHECK_STATUS(ig_program_open_memory(c->bytes, c->size, &options, &program),
                 IG_UNSUPPORTED);
    CHECK_WORDS(c, "asked for v99");
    rt_end(c);
}
END_TEST

TEST(missing_kernel_is_damage) {
    rt_case *c = levels_case();
    c->kernels[0][0].bytes = c->kernels[1][0].bytes = NULL;
    rt_pack(c);
    ig_program *program = NULL;
    CHECK_STATUS(rt_try_open(c, c->bytes, c->size, &program), IG_INVALID);
    CHECK_WORDS(c, "kernel 'scale' is missing");
    rt_end(c);
}
END_TEST

/* ---- files ---- */

static char folder[] = "/tmp/ingot-test-XXXXXX";

static void make_folder(void) {
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    CHECK(mkdtemp(folder) != NULL);
}

static void remove_folder(void) {
    static const char *const names[] = { "good.ingot",  "empty.ingot", "text.ingot",
                                         "weights.bin", "moved.bin",   "refers.ingot",
                                         "far.bin",     "near.bin" };
    char path[256];
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    CHECK_INT(rmdir(folder), 0);
}

static const char *in_folder(const char *name, char path[256]) {
    snprintf(path, 256, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t size) {
    char path[256], why[128];
    ig_file_part part = { bytes, size };
    CHECK_OK(ig_file_publish(in_folder(name, path), &part, 1, why));
}

static ig_status open_file(rt_case *c, const char *name, ig_program_options options,
                           ig_program **out_program) {
    char path[256];
    options.size = sizeof options;
    options.message = c->why;
    options.message_size = sizeof c->why;
    return ig_program_open(in_folder(name, path), &options, out_program);
}

TEST(opens_files_and_refuses_others) {
    make_folder();
    rt_case *c = levels_case();
    ig_program *program = NULL;
    rt_pack(c);
    write_file("good.ingot", c->bytes, c->size);
    write_file("empty.ingot", "", 0);
    write_file("text.ingot", "this is not an artifact, but a text\n", 36);
    ig_program_options none = { 0 };
    CHECK_OK(open_file(c, "good.ingot", none, &program));
    CHECK(run_one(program) >= 2);
    ig_program_close(program);
    CHECK_STATUS(open_file(c, "empty.ingot", none, &program), IG_INVALID);
    CHECK_STATUS(open_file(c, "text.ingot", none, &program), IG_INVALID);
    CHECK_WORDS(c, "not an artifact");
    CHECK_STATUS(open_file(c, "absent.ingot", none, &program), IG_IO);
    CHECK_WORDS(c, "absent.ingot");
    CHECK_STATUS(open_file(c, ".", none, &program), IG_IO);
    CHECK_STATUS(ig_program_open_memory((char *)c->bytes + 8, 8, NULL, &program),
                 IG_INVALID);
    rt_end(c);
    remove_folder();
}
END_TEST

static const float beside[4] = { 10, 20, 30, 40 };

/* y = x + the last float of "weights.bin", which stands at its byte 12. */
static rt_case *reference_case(const char *path) {
    rt_case *c = rt_begin();
    uint32_t one = RT_EXPR(c, RT_INT(1));
    uint32_t x = rt_input(c, "x", IG_F32, 1, &one);
    uint32_t y = rt_output(c, "y", IG_F32, 1, &one);
    struct stat info;
    char real[256];
    CHECK_INT(stat(path[0] == '/' ? path : in_folder(path, real), &info), 0);
    ig_plan_file file = { .path = ig_artifact_text(&c->w, ig_str_of(path)),
                          .bytes = sizeof beside,
                          .mtime_ns = (uint64_t)info.st_ctim.tv_sec * 1000000000 +
                                      (uint64_t)info.st_ctim.tv_nsec };
    IG_PUSH(c->w.arena, &c->w.files, file);
    uint32_t w = rt_constant(c, "w", "unused", 6);
    c->w.buffers.items[w].index = ig_artifact_reference(&c->w, IG_STR("bias"), 0, 12, 4,
                                                        beside + 3);
    c->w.buffers.items[w].bytes = RT_EXPR(c, RT_INT(4));
    rt_launch(c, "add", RT_OPERANDS(c, RT_AT(y), RT_AT(x), RT_AT(w)),
              RT_LIST(c, one, one), IG_NONE, IG_NONE);
    rt_pack(c);
    return c;
}

static void check_reference(rt_case *c, ig_program_options options,
                            ig_status expected) {
    ig_program *program = NULL;
    ig_status status = open_file(c, "refers.ingot", options, &program);
    CHECK_MSG(status == expected, "%s: %s", ig_status_name(status), c->why);
    if (status == IG_OK) {
        CHECK(run_one(program) == 41);
        ig_program_close(program);
    }
}

/* What the caller calls the program's text is searched for the same code, and left
 * alone where it is not there. */
TEST(text_without_the_code) {
    static _Alignas(IG_CODE_ALIGN) char text[2 * IG_CODE_ALIGN];
    const struct {
        const void *code;
        size_t size;
        uint64_t bytes; /* as the first header there has it */
    } rows[] = { { text, sizeof text, 0 },
                 { text, sizeof text, IG_CODE_ALIGN },
                 { text, sizeof text, UINT64_MAX - 1 },
                 { text, 1, IG_CODE_ALIGN },
                 { text, 0, IG_CODE_ALIGN },
                 { text + 8, IG_CODE_ALIGN, IG_CODE_ALIGN },
                 { NULL, IG_CODE_ALIGN, IG_CODE_ALIGN } };
    make_folder();
    write_file("weights.bin", beside, sizeof beside);
    rt_case *c = reference_case("weights.bin");
    write_file("refers.ingot", c->bytes, c->size);
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        ((ig_code_header *)(void *)text)->code_bytes = rows[i].bytes;
        check_reference(
            c, (ig_program_options){ .code = rows[i].code, .code_size = rows[i].size },
            IG_OK);
    }
    rt_end(c);
    remove_folder();
}
END_TEST

TEST(weights_in_a_file_beside_the_artifact) {
    char path[256];
    float other[4] = { 10, 20, 30, 41 };
    ig_program_options none = { 0 }, large = { .load = IG_LOAD_HUGEPAGE };
    make_folder();
    write_file("weights.bin", beside, sizeof beside);
    rt_case *c = reference_case("weights.bin");
    write_file("refers.ingot", c->bytes, c->size);
    check_reference(c, none, IG_OK);
    check_reference(c, large, IG_OK);
    usleep(10000);
    write_file("weights.bin", beside, sizeof beside); /* same bytes, another time */
    check_reference(c, none, IG_OK);
    usleep(10000);
    write_file("weights.bin", other, sizeof other);
    check_reference(c, none, IG_INVALID);
    CHECK_WORDS(c,
                "weights.bin has changed since the artifact was made: constant 'bias'");
    write_file("weights.bin", beside, 12);
    check_reference(c, none, IG_INVALID);
    CHECK_WORDS(c, "it has 12 bytes");
    ig_memory_file file = { "weights.bin", beside, sizeof beside };
    ig_program_options memory = { .files = &file, .file_count = 1 };
    check_reference(c, memory, IG_OK);
    CHECK_INT(unlink(in_folder("weights.bin", path)), 0);
    check_reference(c, none, IG_INVALID);
    CHECK_WORDS(c, "weights file weights.bin");
    write_file("moved.bin", beside, sizeof beside);
    ig_program_options moved = { .weights_path = in_folder("moved.bin", path) };
    check_reference(c, moved, IG_OK);
    rt_end(c);
    remove_folder();
}
END_TEST

TEST(weights_in_a_file_elsewhere) {
    char path[256];
    ig_program_options none = { 0 };
    make_folder();
    write_file("far.bin", beside, sizeof beside);
    rt_case *c = reference_case(in_folder("far.bin", path));
    write_file("refers.ingot", c->bytes, c->size);
    check_reference(c, none, IG_OK);
    rt_end(c);
    write_file("near.bin", beside, sizeof beside);
    c = reference_case("near.bin");
    ig_plan_file *file = &c->w.files.items[0];
    file->path = ig_artifact_text(&c->w, ig_str_of("../near.bin"));
    rt_pack(c);
    write_file("refers.ingot", c->bytes, c->size);
    check_reference(c, none, IG_INVALID);
    rt_end(c);
    remove_folder();
}
END_TEST

UNIT_SUITE(runtime_program, tells_its_signature_and_facts, the_rich_case_runs,
           every_prefix_is_refused, every_flipped_byte_is_found_or_harmless,
           damaged_records_with_a_good_hash, every_flipped_byte_of_the_plan_is_found,
           large_containers_end_in_zip64_records, entries_stay_inside_of_the_file,
           damaged_code_is_refused, damaged_weights_are_found_when_asked,
           other_version_is_unsupported, shorter_records_of_an_older_release_are_read,
           longer_records_and_more_sections_are_refused_in_words,
           other_cpu_is_unsupported, takes_the_best_level_or_the_one_asked_for,
           missing_kernel_is_damage, opens_files_and_refuses_others,
           text_without_the_code, weights_in_a_file_beside_the_artifact,
           weights_in_a_file_elsewhere)
