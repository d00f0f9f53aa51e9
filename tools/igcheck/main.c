/* igcheck: runs golden tests.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     igcheck [--bless] PATH…
 *     igcheck [--bless] FILE.ig:CASE
 *     igcheck cases [OPTION…] CASE…
 *
 * A path is an .ig file, or a folder that is searched for them.  Each case of a file
 * must give its expected output (golden.h), and each text, input or output, must come
 * back unchanged from being read and printed once more.  --bless writes what came out
 * into the files.  `cases` takes every kind of stored case (cases/cases.c).
 */
#include "tools/igcheck/cases/cases.h"
#include "tools/igcheck/engine.h"
#include "tools/igcheck/golden.h"

#include <sys/types.h> /* before fts.h */

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
    size_t passed, failed;
    bool blesses;
    const char *wanted; /* the only case to run; NULL: all */
} tally;

static void report_case(const golden *one) {
    printf("FAILED %s%s%s: ", one->path, *one->name ? ":" : "", one->name);
}

static void report(const golden *one, const char *what, const char *detail) {
    report_case(one);
    printf("%s\n", what);
    if (detail && *detail) {
        printf("%s%s", detail, detail[strlen(detail) - 1] == '\n' ? "" : "\n");
    }
}

/* ---- comparing ---- */

/* Both texts around the first line in which they differ. */
static void show_difference(const char *expected, const char *got) {
    size_t line = 1, start = 0, i = 0;
    for (; expected[i] && expected[i] == got[i]; i++) {
        if (expected[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    printf("  line %zu of the output\n    expected: %.*s\n    got:      %.*s\n", line,
           (int)strcspn(expected + start, "\n"), expected + start,
           (int)strcspn(got + start, "\n"), got + start);
}

/* A printed text, read and printed again, must be the same. */
static bool survives(const golden *one, const char *output) {
    engine_job job = { .path = one->path, .text = output, .size = strlen(output) };
    engine_result again = engine_run(&job);
    bool is_same = false;
    if (!again.is_ok) {
        report(one, "the printed text cannot be read", again.messages);
    } else if (strcmp(output, again.output) != 0) {
        report(one, "the printed text is printed otherwise when read", NULL);
        show_difference(output, again.output);
    } else {
        is_same = true;
    }
    engine_result_free(&again);
    return is_same;
}

/* ---- one case ---- */

static bool check_errors(const golden *one, const engine_result *result) {
    if (result->is_ok) {
        report(one, "an error was expected, there was none", NULL);
        return false;
    }
    for (size_t i = 0; i < one->error_count; i++) {
        if (!strstr(result->messages, one->errors[i])) {
            report_case(one);
            printf("no message holds '%s'; there were\n%s\n", one->errors[i],
                   result->messages);
            return false;
        }
    }
    return true;
}

static bool check_output(const golden *one, const engine_result *result) {
    if (!result->is_ok) {
        report(one, "it failed", result->messages);
        return false;
    }
    if (!one->expected) {
        report(one, "nothing is expected; --bless writes what comes out", NULL);
        return false;
    }
    if (strcmp(one->expected, result->output) != 0) {
        report(one, "another output", NULL);
        show_difference(one->expected, result->output);
        return false;
    }
    return survives(one, result->output);
}

/* Messages without the file's path, which depends on where the tests are run. */
static char *portable_messages(const golden *one, const char *messages) {
    size_t length = strlen(one->path);
    char *copy = copy_text(messages, strlen(messages)), *to = copy;
    for (const char *from = messages; *from;) {
        size_t size = strcspn(from, "\n");
        if (strncmp(from, one->path, length) == 0 && from[length] == ':') {
            size_t skipped = length + 1 + strspn(from + length + 1, " ");
            memcpy(to, from + skipped, size - skipped);
            to += size - skipped;
            *to++ = '\n';
        }
        from += size + (from[size] == '\n');
    }
    *to = '\0';
    return copy;
}

/* Cases that name their errors keep them as they are, as long as they hold. */
static bool bless(golden *one, const engine_result *result) {
    if (one->error_count) {
        return check_errors(one, result);
    }
    if (result->is_ok) {
        golden_bless(one, result->output, NULL);
        return survives(one, result->output);
    }
    char *errors = portable_messages(one, result->messages);
    bool is_done = *errors != '\0';
    if (is_done) {
        golden_bless(one, NULL, errors);
    } else {
        report(one, "it failed", result->messages);
    }
    free(errors);
    return is_done;
}

static bool check_input(const golden *one) {
    engine_job job = { one->path, one->text, one->input_size, NULL, NULL };
    engine_result plain = engine_run(&job);
    bool is_good = !plain.is_ok || survives(one, plain.output);
    engine_result_free(&plain);
    return is_good;
}

static bool check_case(golden *one, bool blesses) {
    const char *pipeline = one->pipeline;
    if (!pipeline) {
        report(one, "no '# run:' line", NULL);
        return false;
    }
    if (!*pipeline || strcmp(pipeline, "verify") == 0) {
        pipeline = NULL;
    }
    engine_job job = { one->path, one->text, one->input_size, pipeline, one->target };
    engine_result result = engine_run(&job);
    bool is_good = blesses            ? bless(one, &result)
                   : one->error_count ? check_errors(one, &result)
                                      : check_output(one, &result);
    engine_result_free(&result);
    return is_good && check_input(one);
}

static void check_file(tally *counts, golden_file *file) {
    size_t before = counts->passed + counts->failed;
    for (size_t i = 0; i < file->count; i++) {
        golden *one = &file->cases[i];
        if (counts->wanted && strcmp(counts->wanted, one->name) != 0) {
            continue;
        }
        bool is_good = check_case(one, counts->blesses);
        counts->passed += is_good;
        counts->failed += !is_good;
    }
    if (counts->passed + counts->failed == before) {
        printf("FAILED %s: it has no case %s\n", file->path, counts->wanted);
        counts->failed++;
    }
    if (counts->blesses && !golden_write(file)) {
        printf("FAILED %s: cannot be written\n", file->path);
        counts->failed++;
    }
}

static void check_path(tally *counts, const char *path) {
    golden_file file;
    if (golden_open(&file, path)) {
        check_file(counts, &file);
    } else {
        printf("FAILED %s: cannot be read\n", path);
        counts->failed++;
    }
    golden_close(&file);
}

/* ---- all files ---- */

static int compare_entries(const FTSENT **a, const FTSENT **b) {
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_golden(const FTSENT *entry) {
    size_t size = entry->fts_namelen;
    return entry->fts_info == FTS_F && size > 3 &&
           strcmp(entry->fts_name + size - 3, ".ig") == 0;
}

static void check_all(tally *counts, char **paths) {
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, compare_entries);
    for (FTSENT *entry; walk && (entry = fts_read(walk));) {
        if (is_golden(entry)) {
            check_path(counts, entry->fts_path);
        } else if (entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR) {
            printf("FAILED %s: cannot be searched\n", entry->fts_path);
            counts->failed++;
        }
    }
    if (walk) {
        fts_close(walk);
    }
}

int main(int argc, char **argv) {
    tally counts = { 0 };
    int first = 1;
    if (argc > 1 && strcmp(argv[1], "cases") == 0) {
        return cases_main(argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(argv[1], "--bless") == 0) {
        counts.blesses = true;
        first = 2;
    }
    if (first >= argc || argv[first][0] == '-') {
        fputs("usage: igcheck [--bless] PATH...\n"
              "       igcheck [--bless] FILE.ig:CASE\n"
              "       igcheck cases [OPTION...] CASE...\n",
              stderr);
        return 2;
    }
    char *name = strstr(argv[first], ".ig:");
    if (name) {
        name[3] = '\0';
        counts.wanted = name + 4;
    }
    check_all(&counts, argv + first);
    printf("%zu passed, %zu failed\n", counts.passed, counts.failed);
    return counts.failed != 0;
}
