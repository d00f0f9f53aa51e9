/* Debug information of kernels: it changes no number, its lines are those of the text,
 * its object is placed as the image is, and damage to the object is survived.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codegen/cpu/debug.h"
#include "ir/parse/read.h"
#include "tests/unit/cpu/cpu_case.h"

/* y = max(x * 2, 0), row by row: loops, a branch, constants of its own. */
static const char text[] =
    "module @m {\n"
    "  kernel @\"%s\"(%%x: &f32, %%y: &f32, %%rows: i64, %%n: i64) {\n"
    "    %%0, %%1 = tiles : i64, i64\n"
    "    %%2 = const {value = i64[] 1} : i64\n"
    "    for %%0, %%1, %%2 (%%3: i64) {\n"
    "      %%4 = load %%x, %%3 : f32\n"
    "      %%5 = const {value = f32[] 2} : f32\n"
    "      %%6 = mul %%4, %%5 : f32\n"
    "      %%7 = const {value = f32[] 0} : f32\n"
    "      %%8 = max %%6, %%7 : f32\n"
    "      store %%8, %%y, %%3\n"
    "      yield\n"
    "    }\n"
    "    ret\n"
    "  }\n"
    "}\n";

typedef struct debug_case {
    cpu_case c;
    ig_module *parsed;
    ig_compiled_kernel plain, debugged;
} debug_case;

static void open_case(debug_case *d, const char *level, const char *name) {
    char source[2048];
    int size = snprintf(source, sizeof source, text, name);
    cpu_case_open(&d->c, level);
    ig_status status = ig_parse_module(&d->c.context, "m.ig",
                                       (ig_str){ source, (size_t)size }, &d->parsed);
    CHECK_MSG(status == IG_OK, "%s", d->c.last);
    const ig_graph *kernel = ig_module_graph(d->parsed, name);
    cpu_case *c = &d->c;
    CHECK_OK(c->backend->compile(c->state, kernel, false, &c->arena, &d->plain));
    CHECK_OK(c->backend->compile(c->state, kernel, true, &c->arena, &d->debugged));
}

static void close_case(debug_case *d) {
    ig_module_destroy(d->parsed);
    cpu_case_close(&d->c);
}

/* The text's line of that number, 1-based. */
static ig_str line_of(ig_str whole, uint32_t index) {
    const char *at = whole.data, *end = whole.data + whole.size;
    for (uint32_t i = 1; i < index && at < end; i++) {
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return (ig_str){ at, stop ? (size_t)(stop - at) : 0 };
}

static bool has_row_of(const ig_kernel_debug *debug, const char *word) {
    for (size_t i = 0; i < debug->row_count; i++) {
        ig_str line = line_of(debug->text, debug->rows[i].line);
        if (memmem(line.data, line.size, word, strlen(word))) {
            return true;
        }
    }
    return false;
}

TEST(nothing_is_given_unless_asked) {
    debug_case d;
    open_case(&d, "v2", "twice");
    CHECK(!d.plain.debug);
    CHECK(d.debugged.debug != NULL);
    close_case(&d);
}

TEST(rows_are_those_of_the_text) {
    for (size_t l = 0; l < IG_COUNT_OF(cpu_levels); l++) {
        debug_case d;
        open_case(&d, cpu_levels[l], "twice");
        const ig_kernel_debug *debug = d.debugged.debug;
        CHECK(debug->row_count > 4);
        CHECK_INT(debug->rows[0].offset, 0);
        CHECK_INT(debug->rows[0].line, 1);
        for (size_t i = 1; i < debug->row_count; i++) {
            CHECK(debug->rows[i].offset >= debug->rows[i - 1].offset);
            CHECK(debug->rows[i].offset < d.debugged.size);
            CHECK(line_of(debug->text, debug->rows[i].line).size > 0);
        }
        CHECK(has_row_of(debug, "kernel @twice"));
        CHECK(has_row_of(debug, "for %"));
        CHECK(has_row_of(debug, "mul %"));
        CHECK(has_row_of(debug, "store %"));
        close_case(&d);
    }
}

static void run_twice(const ig_compiled_kernel *kernel, const float *x, float *y,
                      int64_t count) {
    cpu_code code = cpu_code_map(kernel);
    ig_kernel_report_v0 report = { .operand = -1 };
    void *buffers[] = { (void *)(uintptr_t)x, y };
    int64_t params[] = { count, 1 };
    code.entry(&(ig_kernel_call_v0){
        .buffers = buffers, .params = params, .tile_end = count, .report = &report });
    cpu_code_unmap(&code);
}

TEST(numbers_are_the_same_bits) {
    const float x[] = { 1.5f, -2, 0, -0.0f, NAN, INFINITY, -INFINITY, 1e38f, 1e-45f };
    enum { COUNT = IG_COUNT_OF(x) };
    for (size_t l = 0; l < IG_COUNT_OF(cpu_levels); l++) {
        if (!cpu_level_runs(cpu_levels[l])) {
            continue;
        }
        debug_case d;
        float plain[COUNT], debugged[COUNT];
        open_case(&d, cpu_levels[l], "twice");
        run_twice(&d.plain, x, plain, COUNT);
        run_twice(&d.debugged, x, debugged, COUNT);
        CHECK(memcmp(plain, debugged, sizeof plain) == 0);
        CHECK(plain[0] == 3);
        close_case(&d);
    }
}

TEST(names_are_symbols_and_files) {
    static const char *const names[][2] = { { "twice", "twice.ig" },
                                            { "v3/gemm.7", "v3_gemm_7.ig" },
                                            { "..", "k__.ig" },
                                            { "7up", "k7up.ig" },
                                            { "k", "k.ig" } };
    for (size_t i = 0; i < IG_COUNT_OF(names); i++) {
        debug_case d;
        open_case(&d, "v2", names[i][0]);
        ig_str file = d.debugged.debug->file;
        CHECK_MSG(ig_str_is(file, names[i][1]), "%.*s", (int)file.size, file.data);
        CHECK(memmem(d.debugged.debug->object.data, d.debugged.debug->object.size,
                     names[i][1], strlen(names[i][1])) != NULL);
        close_case(&d);
    }
}

TEST(the_object_is_placed_as_the_image) {
    debug_case d;
    open_case(&d, "v2", "twice");
    const ig_kernel_debug *debug = d.debugged.debug;
    ig_object object;
    CHECK_OK(ig_object_open(&object, &d.c.context, "twice", debug->object, &d.c.arena));
    CHECK(ig_object_find(&object, ".debug_info") != NULL);
    CHECK(ig_object_find(&object, ".debug_frame") != NULL);
    int allocated = 0;
    for (uint32_t i = 0; i < object.section_count; i++) {
        const Elf64_Shdr *s = &object.sections[i].header;
        if (s->sh_flags & SHF_ALLOC) {
            const char *image = d.debugged.bytes;
            CHECK(s->sh_addr + s->sh_size <= d.debugged.size);
            bool is_text = strcmp(object.sections[i].name, ".text") == 0;
            CHECK(is_text ||
                  memcmp(image + s->sh_addr, debug->object.data + s->sh_offset,
                         s->sh_size) == 0);
            allocated++;
        }
    }
    CHECK(allocated >= 1);
    const char *folder = debug->object.data + debug->folder;
    CHECK_INT(folder[debug->folder_bytes - 1], 0);
    CHECK_INT(strspn(folder, "@"), debug->folder_bytes - 1);
    close_case(&d);
}

/* Where a debugger finds an argument: the end of its DW_AT_location (DWARF 5, 2.5),
 * whose head, the slot that holds the call, is the compiler's. */
static bool is_given(const ig_object_section *info, ig_str object, size_t array,
                     size_t at) {
    enum { DEREF = 0x06, PLUS_UCONST = 0x23 };
    const char path[] = {
        DEREF, PLUS_UCONST, (char)array, DEREF, PLUS_UCONST, (char)at
    };
    CHECK(array < 0x80 && at < 0x80); /* one byte of LEB128 each */
    return memmem(object.data + info->header.sh_offset, info->header.sh_size, path,
                  sizeof path) != NULL;
}

TEST(arguments_are_places_of_the_call) {
    const size_t buffers = offsetof(ig_kernel_call_v0, buffers);
    const size_t params = offsetof(ig_kernel_call_v0, params);
    debug_case d;
    open_case(&d, "v2", "twice");
    ig_str bytes = d.debugged.debug->object;
    ig_object object;
    CHECK_OK(ig_object_open(&object, &d.c.context, "twice", bytes, &d.c.arena));
    const ig_object_section *info = ig_object_find(&object, ".debug_info");
    CHECK(is_given(info, bytes, buffers, 0));
    CHECK(is_given(info, bytes, buffers, sizeof(void *)));
    CHECK(is_given(info, bytes, params, 0));
    CHECK(is_given(info, bytes, params, sizeof(int64_t)));
    CHECK(!is_given(info, bytes, params, 2 * sizeof(int64_t)));
    close_case(&d);
}

/* Rows of an object of which one byte was changed. */
static void read_changed(debug_case *d, ig_str bytes) {
    ig_arena arena;
    ig_object object;
    ig_kernel_debug rows = { 0 };
    ig_arena_init(&arena, &d->c.context.budget);
    ig_status status = ig_object_open(&object, &d->c.context, "twice", bytes, &arena);
    if (status == IG_OK) {
        for (uint32_t i = 0; i < object.section_count; i++) {
            bool is_text = strcmp(object.sections[i].name, ".text") == 0;
            object.sections[i].offset = is_text ? 0 : IG_OBJECT_NOWHERE;
        }
        status = ig_cpu_debug_lines(&object, &arena, &rows);
    }
    CHECK(status == IG_OK || status == IG_INTERNAL);
    if (status == IG_OK) {
        ig_kernel_debug placed = { 0 };
        status = ig_cpu_debug_object(&object, &arena, &placed);
        CHECK(status == IG_OK || status == IG_INTERNAL);
    }
    ig_arena_fini(&arena);
}

TEST(any_changed_byte_of_the_object_is_survived) {
    static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
    debug_case d;
    open_case(&d, "v2", "twice");
    ig_str whole = d.debugged.debug->object;
    char *bytes = malloc(whole.size);
    memcpy(bytes, whole.data, whole.size);
    for (size_t i = 0; i < whole.size; i++) {
        for (size_t v = 0; v < IG_COUNT_OF(values); v++) {
            bytes[i] = (char)values[v];
            read_changed(&d, (ig_str){ bytes, whole.size });
        }
        bytes[i] = whole.data[i];
    }
    free(bytes);
    for (size_t size = 0; size < whole.size; size += 7) {
        char *cut = malloc(size + 1);
        memcpy(cut, whole.data, size);
        read_changed(&d, (ig_str){ cut, size });
        free(cut);
    }
    close_case(&d);
}

UNIT_SUITE(cpu_debug, nothing_is_given_unless_asked, rows_are_those_of_the_text,
           numbers_are_the_same_bits, names_are_symbols_and_files,
           the_object_is_placed_as_the_image, arguments_are_places_of_the_call,
           any_changed_byte_of_the_object_is_survived)
