/* igcheck: runs golden tests.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     igcheck [--bless] PATH…
 *     igcheck cases [OPTION…] CASE…
 *
 * A path is an .ig file, or a folder that is searched for them.  Each file must give
 * its expected output (golden.h), and each text, input or output, must come back
 * unchanged from being read and printed once more.  --bless writes what came out into
 * the files.  `cases` takes every kind of stored case (cases/cases.c).
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
    size_t passed, failed, blessed;
    bool blesses;
} tally;

static void report(const golden *file, const char *what, const char *detail) {
    printf("FAILED %s: %s\n", file->path, what);
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
static bool survives(const golden *file, const char *output) {
    engine_job job = { .path = file->path, .text = output, .size = strlen(output) };
    engine_result again = engine_run(&job);
    bool is_same = false;
    if (!again.is_ok) {
        report(file, "what was printed cannot be read", again.messages);
    } else if (strcmp(output, again.output) != 0) {
        report(file, "what was printed is printed otherwise when read", NULL);
        show_difference(output, again.output);
    } else {
        is_same = true;
    }
    engine_result_free(&again);
    return is_same;
}

/* ---- one file ---- */

static bool check_errors(const golden *file, const engine_result *result) {
    if (result->is_ok) {
        report(file, "an error was expected, there was none", NULL);
        return false;
    }
    for (size_t i = 0; i < file->error_count; i++) {
        if (!strstr(result->messages, file->errors[i])) {
            printf("FAILED %s: no message holds '%s'; there were\n%s\n", file->path,
                   file->errors[i], result->messages);
            return false;
        }
    }
    return true;
}

static bool check_output(const golden *file, const engine_result *result) {
    if (!result->is_ok) {
        report(file, "it failed", result->messages);
        return false;
    }
    if (!file->expected) {
        report(file, "nothing is expected; --bless writes what comes out", NULL);
        return false;
    }
    if (strcmp(file->expected, result->output) != 0) {
        report(file, "another output", NULL);
        show_difference(file->expected, result->output);
        return false;
    }
    return survives(file, result->output);
}

/* Messages without the file's path, which depends on where the tests are run. */
static char *portable_messages(const golden *file, const char *messages) {
    size_t length = strlen(file->path);
    char *copy = copy_text(messages, strlen(messages)), *to = copy;
    for (const char *from = messages; *from;) {
        size_t size = strcspn(from, "\n");
        if (strncmp(from, file->path, length) == 0 && from[length] == ':') {
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

/* Files that name their errors keep them as they are, as long as they hold. */
static bool bless(const golden *file, const engine_result *result) {
    if (file->error_count) {
        return check_errors(file, result);
    }
    if (result->is_ok) {
        return golden_bless(file, result->output, NULL) &&
               survives(file, result->output);
    }
    char *errors = portable_messages(file, result->messages);
    bool is_done = *errors && golden_bless(file, NULL, errors);
    if (!is_done) {
        report(file, "it failed", result->messages);
    }
    free(errors);
    return is_done;
}

static bool check_input(const golden *file) {
    engine_job job = { file->path, file->text, file->input_size, NULL, NULL };
    engine_result plain = engine_run(&job);
    bool is_good = !plain.is_ok || survives(file, plain.output);
    engine_result_free(&plain);
    return is_good;
}

static bool check_file(const golden *file, bool blesses) {
    const char *pipeline = file->pipeline;
    if (!pipeline) {
        report(file, "no '# run:' line", NULL);
        return false;
    }
    if (!*pipeline || strcmp(pipeline, "verify") == 0) {
        pipeline = NULL;
    }
    engine_job job = { file->path, file->text, file->input_size, pipeline,
                       file->target };
    engine_result result = engine_run(&job);
    bool is_good = blesses             ? bless(file, &result)
                   : file->error_count ? check_errors(file, &result)
                                       : check_output(file, &result);
    engine_result_free(&result);
    return is_good && check_input(file);
}

static void check_path(tally *counts, const char *path) {
    golden file;
    bool is_good = golden_open(&file, path);
    if (!is_good) {
        printf("FAILED %s: cannot be read\n", path);
    }
    is_good = is_good && check_file(&file, counts->blesses);
    counts->passed += is_good;
    counts->failed += !is_good;
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
              "       igcheck cases [OPTION...] CASE...\n",
              stderr);
        return 2;
    }
    check_all(&counts, argv + first);
    printf("%zu passed, %zu failed\n", counts.passed, counts.failed);
    return counts.failed != 0;
}
