/* The hook of logs, and its sinks.  SPDX-License-Identifier: Apache-2.0 */
#include "ingot/ingot.h"
#include "ingot/log.h"
#include "ingot/runtime.h"
#include "tests/unit/unit.h"

#include <unistd.h>

static const char text[] = "module @m {\n"
                           "  graph @main(%x: f32[B, 4]) -> (f32[B, 4] \"y\") {\n"
                           "    %0 = relu %x : f32[B, 4]\n"
                           "    ret %0\n"
                           "  }\n"
                           "}\n";

/* What the hook was given last: "level component code: words [name=text]…". */
typedef struct heard {
    int calls;
    ig_status status;
    char line[2048];
} heard;

static void hear(void *user, const ig_log_record *record) {
    heard *to = user;
    CHECK(record->size >= sizeof *record && record->level <= IG_LOG_ERROR);
    to->calls++;
    to->status = record->status;
    int used = snprintf(to->line, sizeof to->line, "%d %s %s: %s", (int)record->level,
                        record->component, record->code, record->words);
    for (size_t i = 0; i < record->field_count; i++) {
        const ig_log_field *field = &record->fields[i];
        char number[32];
        snprintf(number, sizeof number, "%lld", (long long)field->number);
        used += snprintf(to->line + used, sizeof to->line - (size_t)used, " [%s=%s]",
                         field->name, field->text ? field->text : number);
    }
}

TEST(a_context_tells_errors_by_their_parts) {
    heard logged = { 0 };
    ig_log log = { hear, &logged };
    ig_context_options options = { .size = sizeof options,
                                   .cache_folder = "",
                                   .log = &log };
    ig_context *context = ig_context_create(&options);
    ig_module *module = NULL;
    static const char bad[] = "module @m {\n  nonsense\n}\n";
    CHECK_INT(ig_import_memory(context, bad, sizeof bad - 1, "a.ig", NULL, &module),
              IG_INVALID);
    CHECK_INT(logged.calls, 1);
    CHECK_INT(logged.status, IG_INVALID);
    CHECK_MSG(strncmp(logged.line, "2 compiler INVALID: ", 20) == 0 &&
                  strstr(logged.line, "[file=a.ig] [line=2] [column="),
              "%s", logged.line);
    CHECK_INT(ig_import(context, "https://me:secret@host/x.onnx", NULL, &module),
              IG_IO);
    CHECK_MSG(strstr(logged.line, "compiler IO") && !strstr(logged.line, "secret"),
              "%s", logged.line);
    ig_context_destroy(context);
}

TEST(opening_and_runs_tell_errors_once) {
    heard logged = { 0 };
    ig_log log = { hear, &logged };
    char words[256] = "";
    ig_program_options opening = { .size = sizeof opening, .log = &log };
    ig_program *program = NULL;
    ig_session *session = NULL;
    CHECK_INT(ig_program_open("/no/such.ingot", &opening, &program), IG_IO);
    CHECK_INT(logged.calls, 1);
    CHECK_MSG(strncmp(logged.line, "2 runtime IO: /no/such.ingot: ", 30) == 0, "%s",
              logged.line);
    opening.message = words;
    opening.message_size = sizeof words;
    CHECK_INT(ig_program_open("/no/such.ingot", &opening, &program), IG_IO);
    CHECK(logged.calls == 2 && strstr(logged.line, words) && words[0]);

    ig_context_options options = { .size = sizeof options, .cache_folder = "" };
    ig_context *context = ig_context_create(&options);
    ig_module *module = NULL;
    CHECK_INT(ig_import_memory(context, text, sizeof text - 1, NULL, NULL, &module),
              IG_OK);
    CHECK_INT(ig_compile(module, NULL, &program), IG_OK);
    ig_session_options how = { .size = sizeof how, .log = &log, .arena_size = 1 };
    CHECK_INT(ig_session_create(program, &how, &session), IG_INVALID);
    CHECK_INT(logged.calls, 3);
    how.arena_size = 0;
    CHECK_INT(ig_session_create(program, &how, &session), IG_OK);
    float x[8] = { 0 };
    ig_view in = { .data = x, .dtype = IG_F32, .rank = 2, .dims = { 2, 4 } },
            out = { 0 };
    CHECK_INT(ig_session_run(session, &in, 1, &out, 1), IG_OK);
    CHECK_INT(logged.calls, 3); /* what is well is not logged */
    in.rank = 1;
    out = (ig_view){ 0 };
    CHECK_INT(ig_session_run(session, &in, 1, &out, 1), IG_INVALID);
    CHECK_INT(logged.calls, 4);
    CHECK_MSG(strstr(logged.line, ig_session_error(session)), "%s", logged.line);
    ig_session_destroy(session);
    ig_program_close(program);
    ig_module_close(module);
    ig_context_destroy(context);
}

/* The line of a sink after the time, which has 24 letters. */
static const char *line_of(void (*sink)(void *, const ig_log_record *),
                           const ig_log_record *record, size_t after) {
    static char line[1024];
    int ends[2];
    CHECK(pipe(ends) == 0);
    sink(&ends[1], record);
    ssize_t size = read(ends[0], line, sizeof line - 1);
    close(ends[0]);
    close(ends[1]);
    CHECK(size > (ssize_t)after + 24);
    line[size] = 0;
    return line + after + 24;
}

TEST(sinks_write_a_line_that_nothing_breaks) {
    ig_log_field fields[] = { { "file", "a\nb\"\x1b[2J\xff", 0 },
                              { "line", NULL, INT64_MIN } };
    ig_log_record record = { .size = sizeof record,
                             .level = IG_LOG_WARNING,
                             .component = "compiler",
                             .code = "OK",
                             .words = "w\xc3\xa9\\",
                             .fields = fields,
                             .field_count = 2 };
    CHECK_TEXT(
        line_of(ig_log_json, &record, strlen("{\"time\": \"")),
        "\", \"level\": \"warning\", \"component\": \"compiler\", \"code\": \"OK\", "
        "\"file\": \"a\\u000ab\\u0022\\u001b[2J\\ufffd\", "
        "\"line\": -9223372036854775808, \"words\": \"w\xc3\xa9\\u005c\"}\n");
    CHECK_TEXT(line_of(ig_log_text, &record, 0),
               " warning compiler OK file=a\\x0ab\"\\x1b[2J\\xff "
               "line=-9223372036854775808: w\xc3\xa9\\\n");
    record.words = "";
    record.field_count = 0;
    CHECK_TEXT(line_of(ig_log_text, &record, 0), " warning compiler OK\n");
    CHECK_TEXT(line_of(ig_log_json, &record, strlen("{\"time\": \"")),
               "\", \"level\": \"warning\", \"component\": \"compiler\", "
               "\"code\": \"OK\"}\n");
}

UNIT_SUITE(api_log, a_context_tells_errors_by_their_parts,
           opening_and_runs_tell_errors_once, sinks_write_a_line_that_nothing_breaks)
