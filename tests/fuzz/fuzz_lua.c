/* Fuzzes the sandbox of Lua: each input is a script, which is run, called with values
 * of all kinds, and its results read.  SPDX-License-Identifier: Apache-2.0
 *
 * It ends, by its budgets at the latest, with a status; sanitizers see the rest.
 * Mutations put names of the libraries and numbers at the edges in place of words.
 */
#include "runtime/interp/engine.h"
#include "tests/fuzz/case/mutate_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);
ig_engine_entry ig_interp_engine;

enum { INSTRUCTIONS = 200000, MEMORY = 4 << 20, SCRIPT_BYTES = 1 << 16 };

static void expect(bool claim) {
    if (!claim) {
        abort();
    }
}

/* Touches all that a result says it has. */
static size_t walk_value(const ig_interp_value *value) {
    size_t sum = (size_t)value->kind;
    if (value->kind == IG_INTERP_TEXT || value->kind == IG_INTERP_BYTES) {
        return sum + strnlen(value->as.text.data, value->as.text.size);
    }
    if (value->kind == IG_INTERP_TENSOR) {
        const char *data = value->as.tensor.data;
        size_t bytes = value->as.tensor.capacity;
        return bytes > 0 ? sum + (size_t)data[0] + (size_t)data[bytes - 1] : sum;
    }
    bool is_nested = value->kind == IG_INTERP_LIST || value->kind == IG_INTERP_TUPLE ||
                     value->kind == IG_INTERP_DICT;
    for (size_t i = 0; is_nested && i < value->as.list.count; i++) {
        sum += walk_value(&value->as.list.items[i]);
    }
    return sum;
}

typedef struct subject {
    const ig_engine *engine;
    void *state;
    char message[512];
} subject;

static ig_engine_job make_job(subject *s) {
    return (ig_engine_job){ .state = s->state,
                            .message = s->message,
                            .message_size = sizeof s->message };
}

static void expect_status(const ig_engine_job *job) {
    expect(job->status == IG_OK || job->status == IG_INVALID ||
           job->status == IG_LIMIT);
}

static void invoke(subject *s, const ig_interp_object *function,
                   const ig_interp_arguments *arguments) {
    ig_engine_job call = make_job(s);
    call.object = function;
    call.arguments = arguments;
    s->engine->invoke(&call);
    expect_status(&call);
    if (call.result) {
        (void)walk_value(&call.result->value);
        ig_engine_job end = make_job(s);
        end.result = call.result;
        s->engine->free_result(&end);
    }
}

static void call_function(subject *s, const ig_interp_object *function) {
    float data[6] = { 1, 2, 3, 4, 5, 6 };
    ig_interp_value values[2] = { { .kind = IG_INTERP_TENSOR },
                                  { .kind = IG_INTERP_TEXT,
                                    .as.text = { "text", 4 } } };
    values[0].as.tensor =
        (ig_view){ .data = data, .dtype = IG_F32, .rank = 2, .dims = { 2, 3 } };
    ig_interp_arguments arguments = { .values = values, .count = 2 };
    invoke(s, function, &arguments);
    uint8_t bytes[3] = { 0, 255, 7 };
    ig_interp_value inner[3] = { { .kind = IG_INTERP_TENSOR },
                                 { .kind = IG_INTERP_REAL, .as.real = -0.0 },
                                 { .kind = IG_INTERP_NONE } };
    inner[0].as.tensor =
        (ig_view){ .data = bytes, .dtype = IG_U8, .rank = 1, .dims = { 3 } };
    values[0] = (ig_interp_value){ .kind = IG_INTERP_LIST };
    values[0].as.list.items = inner;
    values[0].as.list.count = 3;
    values[1] = (ig_interp_value){ .kind = IG_INTERP_INTEGER, .as.integer = INT64_MIN };
    invoke(s, function, &arguments);
}

static void run_script(subject *s, const char *source) {
    ig_engine_job run = make_job(s), find = make_job(s);
    run.source = source;
    run.name = "script";
    s->engine->run(&run);
    expect_status(&run);
    find.module = "__main__";
    find.name = "f";
    s->engine->find_global(&find);
    expect_status(&find);
    if (find.made_object) {
        call_function(s, find.made_object);
        ig_engine_job end = make_job(s);
        end.object = find.made_object;
        s->engine->free_object(&end);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char source[SCRIPT_BYTES];
    subject s = { .engine = ig_interp_engine() };
    ig_engine_job first = make_job(&s);
    ig_mailbox box = { .job = &first };
    size = size < sizeof source ? size : sizeof source - 1;
    if (size > 0) {
        memcpy(source, data, size);
    }
    source[size] = '\0';
    expect(s.engine->start(&box) == 0);
    s.state = first.state;
    ig_engine_job budgets = make_job(&s);
    budgets.instructions = INSTRUCTIONS;
    budgets.memory = MEMORY;
    s.engine->set_budgets(&budgets);
    run_script(&s, source);
    s.engine->stop(s.state);
    return 0;
}

/* clang-format off */
static const char *const words[] = {
    "0", "1", "-1", "2", "3", "64", "2^53", "-0.0", "0/0", "1/0", "1e308",
    "math.mininteger", "math.maxinteger", "1 << 62", "4294967296", "nil", "true",
    "\"\"", "\"a\\0b\"", "\"%d %s\"", "\"(a*)*b\"", "\"%f[%w]\"", "\"%bxy\"",
    "{}", "{1, 2, 3}", "{n = 1}", "...", "#t", "and", "or", "not", "==", "<", "//",
    "..", "&", "~", "function", "return", "goto", "::x::", "local", "for", "while",
    "repeat", "break", "end", "pcall", "error", "select", "next", "pairs", "ipairs",
    "type", "tostring", "tonumber", "rawset", "rawget", "rawlen", "rawequal",
    "setmetatable", "getmetatable", "load", "require", "assert", "_G", "_ENV",
    "__index", "__newindex", "__call", "__gc", "__close", "__len", "__eq", "__lt",
    "__concat", "__name", "__tostring", "__pairs", "__mode", "__metatable",
    "string.rep", "string.find", "string.match", "string.gmatch", "string.gsub",
    "string.format", "string.byte", "string.char", "string.sub", "string.pack",
    "string.unpack", "string.packsize", "string.reverse", "string.upper",
    "string.len", "string.dump", "table.concat", "table.insert", "table.remove",
    "table.sort", "table.unpack", "table.pack", "table.move", "math.random",
    "math.floor", "math.tointeger", "math.fmod", "math.ult", "utf8.char",
    "utf8.codepoint", "utf8.codes", "utf8.offset", "utf8.len", "os", "io", "debug",
    "coroutine", "package", "ingot.tensor", "ingot.open", "\"f32\"", "\"f64\"",
    "\"i8\"", "\"i64\"", "\"u32\"", "\"bool\"", "\"f16\"", "x:dims()", "x:dtype()",
    "x:totable()", "x:reshape({6})", "x:reshape({})", "x:reshape({0})",
    "x:reshape({1 << 32, 1 << 32})", "x[1]", "x[0]", "x[7]", "#x"
};
/* clang-format on */

static void other_word(const char *word, size_t size, uint32_t *state, char *out,
                       size_t room) {
    (void)word;
    (void)size;
    snprintf(out, room, "%s", words[ig_fuzz_draw(state, sizeof words / sizeof *words)]);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed) {
    return ig_fuzz_mutate_text(data, size, max_size, seed, other_word);
}
