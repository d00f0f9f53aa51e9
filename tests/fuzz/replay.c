/* Runs a fuzzer's corpus once, without libFuzzer, and says which things no input
 * reaches.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     test_corpus_TARGET [FILE…]       without files: tests/fuzz/corpus/TARGET.tar
 *
 * Each target is built so with every compiler: its corpus is a test of the build at
 * hand.  Inputs abort the program when they find a defect.  Things that no input
 * reaches fail, unless tests/fuzz/unreached.txt lists them.
 */
#include "tests/fuzz/archive.h"
#include "tests/fuzz/reach.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
/* Inputs that a target makes itself: number i, or 0 behind the last. */
size_t ig_fuzz_seed(size_t i, uint8_t *bytes, size_t room);

__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    return 0;
}

__attribute__((weak)) size_t ig_fuzz_seed(size_t i, uint8_t *bytes, size_t room) {
    (void)i;
    (void)bytes;
    (void)room;
    return 0;
}

/* Mutations are libFuzzer's business. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) {
    (void)data;
    (void)max_size;
    return size;
}

/* An input of exactly its size, so that sanitizers see what reads behind it. */
static void run_input(const uint8_t *bytes, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) {
        abort();
    }
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static uint8_t input[4 << 20];

static size_t run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return 0;
    }
    printf("%s\n", path);
    fflush(stdout);
    run_input(input, fread(input, 1, sizeof input, file));
    fclose(file);
    return 1;
}

/* Each input's name comes before it runs: the last one printed is the one that
 * failed. */
static size_t run_archive(const char *path) {
    char name[ARCHIVE_NAME_BYTES];
    size_t ran = 0, size;
    FILE *file = fopen(path, "rb");
    while (file && archive_next(file, name, input, sizeof input, &size)) {
        printf("%s\n", name);
        fflush(stdout);
        run_input(input, size);
        ran++;
    }
    if (file) {
        fclose(file);
    }
    return ran;
}

static size_t run_seeds(void) {
    uint8_t bytes[4096];
    size_t ran = 0, size;
    while ((size = ig_fuzz_seed(ran, bytes, sizeof bytes)) > 0) {
        run_input(bytes, size);
        ran++;
    }
    return ran;
}

/* What nothing reaches and no line "TARGET THING" excuses. */
static size_t count_failures(void) {
    char report[] = "/tmp/ingot-replay-XXXXXX", line[512];
    static char excuses[1 << 16];
    int made = mkstemp(report);
    FILE *file = made >= 0 ? fdopen(made, "w+") : NULL;
    FILE *list = fopen(INGOT_SOURCE_DIR "/tests/fuzz/unreached.txt", "r");
    size_t failed = 0, things = 0;
    if (!file || !list) {
        return 1;
    }
    excuses[fread(excuses, 1, sizeof excuses - 1, list)] = '\0';
    fclose(list);
    ig_fuzz_reach_report(file);
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        char wanted[600];
        snprintf(wanted, sizeof wanted, "\n%s %s", INGOT_FUZZ_TARGET,
                 line + strlen("missing "));
        bool is_excused = strstr(excuses, wanted) != NULL;
        bool is_missing = strncmp(line, "missing", 7) == 0;
        things++;
        if (is_missing != is_excused) {
            printf("%s%s", is_missing ? "" : "listed as unreached, but ", line);
            failed++;
        }
    }
    fclose(file);
    remove(report);
    printf("%zu of %zu things as wanted\n", things - failed, things);
    return failed * 100 > things * (100 - ig_fuzz_reach_min) ? failed : 0;
}

int main(int argc, char **argv) {
    size_t ran = 0;
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        ran += run_file(argv[i]);
    }
    if (argc > 1) {
        return ran == (size_t)argc - 1 ? 0 : 1;
    }
    ran = run_archive(INGOT_SOURCE_DIR "/tests/fuzz/corpus/" INGOT_FUZZ_CORPUS ".tar");
    ran += run_seeds();
    size_t failed = count_failures() + (ran == 0);
    printf("%zu inputs\n%d passed, %zu failed\n", ran, failed == 0, failed);
    return failed != 0;
}
