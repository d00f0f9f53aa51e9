/* Scatters that stand in the memory of what they change, as a host program sees them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ingot/ingot.h"
#include "ingot/runtime.h"
#include "tests/unit/unit.h"

#include <math.h>

UNIT_WITH_LLVM

enum { V = 5, B = 3 };

/* ---- programs ---- */

typedef struct program {
    ig_context *context;
    ig_module *module;
    ig_program *program;
    ig_session *session;
    const char *plan; /* the module's */
} program;

static program open_program(const char *text) {
    program p = { 0 };
    size_t size = 0;
    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    p.context = ig_context_create(&options);
    CHECK(p.context);
    ig_status status = ig_import_memory(p.context, text, strlen(text), NULL, NULL,
                                        &p.module);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(p.context));
    status = ig_compile(p.module, NULL, &p.program);
    CHECK_MSG(status == IG_OK, "%s", ig_context_messages(p.context));
    CHECK_OK(ig_session_create(p.program, NULL, &p.session));
    CHECK_OK(ig_dump(p.module, "plan", NULL, IG_FORMAT_TEXT, &p.plan, &size));
    return p;
}

static void close_program(program *p) {
    ig_session_destroy(p->session);
    ig_program_close(p->program);
    ig_module_close(p->module);
    ig_context_destroy(p->context);
}

static size_t count_words(const char *text, const char *word) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        count++;
    }
    return count;
}

static ig_view view_of(void *data, int32_t dtype, uint32_t rank, int64_t rows) {
    return (ig_view){ .data = data,
                      .capacity = (size_t)rows * 16,
                      .dtype = dtype,
                      .rank = rank,
                      .dims = { rows, 2 } };
}

static void check_values(const float *got, const float *wanted, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bool is_nan = isnan(wanted[i]) && isnan(got[i]);
        CHECK_MSG(is_nan ||
                      (got[i] == wanted[i] && signbit(got[i]) == signbit(wanted[i])),
                  "element %zu is %g, not %g", i, (double)got[i], (double)wanted[i]);
    }
}

/* ---- tables ---- */

/* The old rows, and the table with d added to them; then rows are replaced. */
static const char updates[] =
    "module @m {\n"
    "  graph @main(%t: f32[V, 2], %i: i64[B, 2], %d: f32[B, 2], %j: i32[C, 1],\n"
    "              %r: f32[C, 2]) -> (f32[V, 2] \"next\", f32[B, 2] \"old\") {\n"
    "    %0 = gather_elements %t, %i {axis = 0} : f32[B, 2]\n"
    "    %1 = add %0, %d : f32[B, 2]\n"
    "    %2 = sub %1, %0 : f32[B, 2]\n"
    "    %3 = scatter_elements %t, %i, %2 {axis = 0, reduce = add} : f32[V, 2]\n"
    "    %4 = scatter_nd %3, %j, %r : f32[V, 2]\n"
    "    ret %4, %0 {in_place = [0, -1]}\n"
    "  }\n"
    "}\n";

typedef struct call {
    float t[V * 2], d[B * 2], r[4], old[B * 2];
    int64_t i[B * 2];
    int32_t j[2];
    ig_view in[5], out[2];
} call;

static void begin_call(call *a) {
    *a = (call){ .t = { 1, 2, 3, 4, 5, 6, 7, 8, NAN, -0.0f },
                 .i = { 1, 0, 1, 4, -1, 1 },
                 .d = { 10, 20, 30, 0, 50, 60 },
                 .j = { 3, -2 },
                 .r = { 1, 1, -2, INFINITY } };
    a->in[0] = view_of(a->t, IG_F32, 2, V);
    a->in[1] = view_of(a->i, IG_I64, 2, B);
    a->in[2] = view_of(a->d, IG_F32, 2, B);
    a->in[3] = view_of(a->j, IG_I32, 2, 2);
    a->in[3].dims[1] = 1;
    a->in[4] = view_of(a->r, IG_F32, 2, 2);
    a->out[1] = view_of(a->old, IG_F32, 2, B);
}

TEST(a_table_is_changed_where_updates_are) {
    call a;
    program p = open_program(updates);
    begin_call(&a);
    CHECK_INT(count_words(p.plan, "@copy"), 0);
    CHECK_INT(count_words(p.plan, "@check_index"), 2);
    CHECK(strstr(p.plan, "alloc : &f32[V") == NULL); /* no second table */
    CHECK_MSG(ig_session_run(p.session, a.in, 5, a.out, 2) == IG_OK, "%s",
              ig_session_error(p.session));
    CHECK(a.out[0].data == a.t);
    /* Rows 1 and 1 of column 0 add up; -1 is 4; 3 and -2 are one row, the last wins. */
    check_values(a.t, (float[]){ 1, 22, 43, 64, 5, 6, -2, INFINITY, NAN, 0 }, V * 2);
    check_values(a.old, (float[]){ 3, 2, 3, -0.0f, NAN, 4 }, B * 2);
    close_program(&p);
}
END_TEST

TEST(bad_indices_leave_every_byte) {
    static const int64_t bad[] = { V, -V - 1, INT64_MAX, INT64_MIN };
    call a, before;
    program p = open_program(updates);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        begin_call(&a);
        a.i[5] = bad[k];
        before = a;
        CHECK_STATUS(ig_session_run(p.session, a.in, 5, a.out, 2), IG_INVALID);
        CHECK(memcmp(a.t, before.t, sizeof a.t) == 0);
        begin_call(&a);
        a.j[1] = k % 2 ? -V - 1 : V;
        CHECK_STATUS(ig_session_run(p.session, a.in, 5, a.out, 2), IG_INVALID);
        CHECK_MSG(strstr(ig_session_error(p.session), "element 1") != NULL, "%s",
                  ig_session_error(p.session));
        CHECK(memcmp(a.t, before.t, sizeof a.t) == 0);
    }
    begin_call(&a);
    CHECK_OK(ig_session_run(p.session, a.in, 5, a.out, 2)); /* usable as before */
    close_program(&p);
}
END_TEST

TEST(no_updates_change_nothing) {
    call a, before;
    program p = open_program(updates);
    begin_call(&a);
    before = a;
    for (int i = 1; i < 5; i++) {
        a.in[i].dims[0] = 0;
    }
    CHECK_OK(ig_session_run(p.session, a.in, 5, a.out, 2));
    CHECK(memcmp(a.t, before.t, sizeof a.t) == 0);
    close_program(&p);
}
END_TEST

/* ---- indices of no row ---- */

static const char skipping[] =
    "module @m {\n"
    "  graph @main(%x: f32[V, 2], %j: i64[C, 1], %r: f32[C, 2]) -> (f32[V, 2]) {\n"
    "    %0 = scatter_nd %x, %j, %r {reduce = add, negative = skip} : f32[V, 2]\n"
    "    ret %0\n"
    "  }\n"
    "}\n";

TEST(negative_indices_are_skipped_and_no_others) {
    float x[V * 2] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, out[V * 2];
    float r[8] = { 1, 1, NAN, NAN, INFINITY, INFINITY, 2, -0.0f };
    int64_t j[4] = { 1, -1, INT64_MIN, 1 };
    program p = open_program(skipping);
    ig_view in[3] = { view_of(x, IG_F32, 2, V), view_of(j, IG_I64, 2, 4),
                      view_of(r, IG_F32, 2, 4) };
    ig_view result = view_of(out, IG_F32, 2, V);
    in[1].dims[1] = 1;
    CHECK_MSG(ig_session_run(p.session, in, 3, &result, 1) == IG_OK, "%s",
              ig_session_error(p.session));
    check_values(out, (float[]){ 1, 2, 6, 5, 5, 6, 7, 8, 9, 10 }, V * 2);
    j[2] = V;
    CHECK_STATUS(ig_session_run(p.session, in, 3, &result, 1), IG_INVALID);
    CHECK_MSG(strstr(ig_session_error(p.session), "element 2") != NULL, "%s",
              ig_session_error(p.session));
    in[0].dims[0] = 0; /* no row at all */
    j[2] = j[0] = j[3] = -1;
    CHECK_OK(ig_session_run(p.session, in, 3, &result, 1));
    close_program(&p);
}
END_TEST

/* ---- values of the run ---- */

/* Only what dies at its scatter is changed where it stands. */
static const char values[] =
    "module @m {\n"
    "  graph @main(%x: f32[5, 2], %i: i64[3, 2], %d: f32[3, 2]) -> (f32[5, 2] \"a\",\n"
    "              f32[2] \"b\", f32[5, 2] \"c\", f32[5, 2] \"d\") {\n"
    "    %0 = neg %x : f32[5, 2]\n"
    "    %1 = reduce %0 {op = max, axes = [0]} : f32[2]\n"
    "    %2 = scatter_elements %0, %i, %d {axis = 0} : f32[5, 2]\n"
    "    %3 = scatter_elements %2, %i, %d {axis = 0, reduce = mul} : f32[5, 2]\n"
    "    %4 = abs %x : f32[5, 2]\n"
    "    %5 = scatter_elements %4, %i, %d {axis = 0, reduce = max} : f32[5, 2]\n"
    "    %6 = add %4, %5 : f32[5, 2]\n"
    "    %7 = floor %x : f32[5, 2]\n"
    "    %8 = slice %7 {starts = [0, 0], sizes = [3, 2]} : f32[3, 2]\n"
    "    %9 = scatter_elements %7, %i, %8 {axis = 0, reduce = add} : f32[5, 2]\n"
    "    ret %3, %1, %6, %9\n"
    "  }\n"
    "}\n";

TEST(what_is_read_later_is_copied) {
    float x[V * 2] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, d[6] = { 2, 3, 4, 5, 6, 7 };
    float out[4][V * 2];
    int64_t i[6] = { 0, 1, 0, 1, 4, -1 };
    program p = open_program(values);
    ig_view in[3] = { view_of(x, IG_F32, 2, V), view_of(i, IG_I64, 2, B),
                      view_of(d, IG_F32, 2, B) };
    ig_view outs[4];
    for (int k = 0; k < 4; k++) {
        outs[k] = (ig_view){ .data = out[k], .capacity = sizeof out[k] };
    }
    CHECK_MSG(ig_session_run(p.session, in, 3, outs, 4) == IG_OK, "%s",
              ig_session_error(p.session));
    check_values(out[0],
                 (float[]){ 4 * 2 * 4, -2, -3, 5 * 3 * 5, -5, -6, -7, -8, 36, 49 },
                 V * 2);
    check_values(out[1], (float[]){ -1, -2 }, 2);
    check_values(out[2], (float[]){ 5, 4, 6, 9, 10, 12, 14, 16, 18, 20 }, V * 2);
    check_values(out[3], (float[]){ 5, 2, 3, 10, 5, 6, 7, 8, 14, 16 }, V * 2);
    close_program(&p);
}
END_TEST

/* ---- caches ---- */

/* Two caches, of which the second's rows come of the first's new value. */
#define CACHES(in_place)                                                        \
    "module @m {\n"                                                             \
    "  graph @main(%k: f32[B, T, 2], %v: f32[B, T, 2], %p: i64[B],\n"           \
    "      %x: f32[B, 1, 2]) -> (f32[B, T, 2], f32[B, T, 2], f32[B, 1, 4]) {\n" \
    "    %0 = reshape %p {to = [B, 1, 1]} : i64[B, 1, 1]\n"                     \
    "    %1 = expand %0 {to = [B, 1, 2]} : i64[B, 1, 2]\n"                      \
    "    %2 = sin %x : f32[B, 1, 2]\n"                                          \
    "    %3 = scatter_elements %k, %1, %2 {axis = 1} : f32[B, T, 2]\n"          \
    "    %4 = matmul %x, %3 {transpose_b} : f32[B, 1, T]\n"                     \
    "    %5 = softmax %4 {axis = 2} : f32[B, 1, T]\n"                           \
    "    %6 = matmul %5, %3 : f32[B, 1, 2]\n"                                   \
    "    %7 = scatter_elements %v, %1, %6 {axis = 1, reduce = add}\n"           \
    "    %8 = transpose %7 {perm = [0, 2, 1]} : f32[B, 2, T]\n"                 \
    "    %9 = matmul %x, %8 : f32[B, 1, T]\n"                                   \
    "    %10 = matmul %9, %7 : f32[B, 1, 2]\n"                                  \
    "    %11 = concat %10, %2 {axis = 2} : f32[B, 1, 4]\n"                      \
    "    ret %3, %7, %11" in_place "\n"                                         \
    "  }\n"                                                                     \
    "}\n"

enum { T = 3 };

typedef struct cache_call {
    float k[2 * T * 2], v[2 * T * 2], x[4], y[8], k1[2 * T * 2], v1[2 * T * 2];
    int64_t p[2];
    ig_view in[4], out[3];
} cache_call;

static void begin_cache(cache_call *a, bool is_in_place) {
    *a = (cache_call){ .x = { 1, 2, -1, 0.5f }, .p = { 1, -1 } };
    for (int i = 0; i < 2 * T * 2; i++) {
        a->k[i] = (float)i / 4;
        a->v[i] = 2 - (float)i;
    }
    ig_view cache = { .dtype = IG_F32, .rank = 3, .dims = { 2, T, 2 } };
    a->in[0] = a->in[1] = cache;
    a->in[0].data = a->k;
    a->in[1].data = a->v;
    a->in[2] = view_of(a->p, IG_I64, 1, 2);
    a->in[3] = cache;
    a->in[3].data = a->x;
    a->in[3].dims[1] = 1;
    a->out[0] = (ig_view){ .data = is_in_place ? a->k : a->k1,
                           .capacity = sizeof a->k };
    a->out[1] = (ig_view){ .data = is_in_place ? a->v : a->v1,
                           .capacity = sizeof a->v };
    a->out[2] = (ig_view){ .data = a->y, .capacity = sizeof a->y };
}

TEST(caches_are_written_where_they_stand_and_read) {
    program plain = open_program(CACHES("")),
            p = open_program(CACHES(" {in_place = [0, 1, -1]}"));
    cache_call a, b;
    CHECK_INT(count_words(p.plan, "@copy"), 0);
    CHECK(strstr(p.plan, "alloc : &f32[B, T, 2]") == NULL);
    begin_cache(&a, false);
    begin_cache(&b, true);
    for (int step = 0; step < 3; step++) { /* on with what the step before has left */
        CHECK_MSG(ig_session_run(plain.session, a.in, 4, a.out, 3) == IG_OK, "%s",
                  ig_session_error(plain.session));
        CHECK_MSG(ig_session_run(p.session, b.in, 4, b.out, 3) == IG_OK, "%s",
                  ig_session_error(p.session));
        check_values(b.k, a.k1, 2 * T * 2);
        check_values(b.v, a.v1, 2 * T * 2);
        check_values(b.y, a.y, 8);
        memcpy(a.k, a.k1, sizeof a.k);
        memcpy(a.v, a.v1, sizeof a.v);
        a.p[0] = b.p[0] = step;
        a.x[1] = b.x[1] = -a.x[1];
    }
    a = b;
    b.p[1] = T;
    CHECK_STATUS(ig_session_run(p.session, b.in, 4, b.out, 3), IG_INVALID);
    CHECK(memcmp(a.k, b.k, sizeof a.k) == 0 && memcmp(a.v, b.v, sizeof a.v) == 0);
    close_program(&plain);
    close_program(&p);
}
END_TEST

/* ---- wide rows ---- */

enum { WIDEST = 300, UPDATES = 7, ROWS_OF = 2 };

/* Rows of 17, 300 and W elements, of a dtype and kind: onto a table, and onto one
 * number.  Small integers are exact in each dtype. */
#define WIDE(w, width, dtype, kind)                                                \
    "%x" w " = cast %t" w " {to = " dtype "}\n%u" w " = cast %d" w " {to = " dtype \
    "}\n"                                                                          \
    "%a" w " = scatter_nd %x" w ", %i, %u" w " {reduce = " kind "}\n"              \
    "%f" w " = expand %two {to = [V, " width "]}\n"                                \
    "%b" w " = scatter_nd %f" w ", %i, %u" w " {reduce = " kind "}\n"              \
    "%p" w " = cast %a" w " {to = f32}\n%q" w " = cast %b" w " {to = f32}\n"

#define WIDE_ROWS(dtype, kind)                                                     \
    "module @m {\ngraph @main(%i: i64[B, 1], %t0: f32[V, 17], %d0: f32[B, 17], "   \
    "%t1: f32[V, 300], %d1: f32[B, 300], %t2: f32[V, W], %d2: f32[B, W]) -> "      \
    "(f32[V, 17], f32[V, 17], f32[V, 300], f32[V, 300], f32[V, W], f32[V, W]) {\n" \
    "%number = const {value = 2} : f32[]\n%two = cast %number {to = " dtype        \
    "}\n" WIDE("0", "17", dtype, kind) WIDE("1", "300", dtype, kind)               \
        WIDE("2", "W", dtype, kind) "ret %p0, %q0, %p1, %q1, %p2, %q2\n}\n}\n"

static const struct {
    const char *text, *kind;
} wide_rows[] = {
    { WIDE_ROWS("f32", "add"), "add" },   { WIDE_ROWS("f16", "add"), "add" },
    { WIDE_ROWS("f64", "max"), "max" },   { WIDE_ROWS("i32", "mul"), "mul" },
    { WIDE_ROWS("i8", "min"), "min" },    { WIDE_ROWS("bf16", "none"), "none" },
    { WIDE_ROWS("i64", "none"), "none" },
};

static float combine(const char *kind, float old, float x) {
    return strcmp(kind, "add") == 0   ? old + x
           : strcmp(kind, "mul") == 0 ? old * x
           : strcmp(kind, "max") == 0 ? fmaxf(old, x)
           : strcmp(kind, "min") == 0 ? fminf(old, x)
                                      : x;
}

typedef struct wide_call {
    float t[V * WIDEST], d[UPDATES * WIDEST], out[3 * ROWS_OF][V * WIDEST];
} wide_call;

static void check_wide(const wide_call *c, const int64_t *ids, const char *kind,
                       int64_t width, int index) {
    static float want[ROWS_OF][V * WIDEST];
    for (int64_t i = 0; i < V * width; i++) {
        want[0][i] = c->t[i];
        want[1][i] = 2;
    }
    for (int64_t i = 0; i < UPDATES * width; i++) {
        int64_t row = ids[i / width] < 0 ? ids[i / width] + V : ids[i / width];
        for (int k = 0; k < ROWS_OF; k++) {
            float *at = &want[k][row * width + i % width];
            *at = combine(kind, *at, c->d[i]);
        }
    }
    check_values(c->out[ROWS_OF * index], want[0], (size_t)(V * width));
    check_values(c->out[ROWS_OF * index + 1], want[1], (size_t)(V * width));
}

TEST(rows_of_any_width_are_combined) {
    static const int64_t widths[] = { 17, 300, 5 };
    static wide_call c;
    int64_t ids[UPDATES] = { 0, 2, 2, -1, 2, 0, 3 };
    program p = open_program(wide_rows[_i].text);
    ig_view in[7] = { view_of(ids, IG_I64, 2, UPDATES) }, out[6];
    in[0].dims[1] = 1;
    for (int i = 0; i < UPDATES * WIDEST; i++) {
        c.d[i] = (float)(1 + i % 3);
        c.t[i % (V * WIDEST)] = (float)(i % 5 + 1);
    }
    for (int i = 0; i < 6; i++) {
        in[1 + i] = view_of(i % 2 ? c.d : c.t, IG_F32, 2, i % 2 ? UPDATES : V);
        in[1 + i].dims[1] = widths[i / 2];
        in[1 + i].capacity = i % 2 ? sizeof c.d : sizeof c.t;
        out[i] = (ig_view){ .data = c.out[i], .capacity = sizeof c.out[i] };
    }
    CHECK_MSG(ig_session_run(p.session, in, 7, out, 6) == IG_OK, "%s",
              ig_session_error(p.session));
    for (int i = 0; i < 3; i++) {
        check_wide(&c, ids, wide_rows[_i].kind, widths[i], i);
    }
    close_program(&p);
}
END_TEST

static void add_wide_rows(TCase *tcase) {
    tcase_add_loop_test(tcase, rows_of_any_width_are_combined, 0,
                        (int)IG_COUNT_OF(wide_rows));
}

UNIT_SUITE_WITH(compiled_scatter, add_wide_rows, a_table_is_changed_where_updates_are,
                bad_indices_leave_every_byte, no_updates_change_nothing,
                negative_indices_are_skipped_and_no_others,
                what_is_read_later_is_copied,
                caches_are_written_where_they_stand_and_read)
