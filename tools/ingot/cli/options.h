/* Options of the command line: one table a verb.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An option's row holds everything that is known about it: getopt_long, --help, the
 * man page and shell completion are expansions of the tables.
 */
#ifndef IG_TOOLS_INGOT_CLI_OPTIONS_H
#define IG_TOOLS_INGOT_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 }; /* the others: ingot/status.h */

/* A repeatable option's texts, in order; borrowed from argv. */
typedef struct text_list {
    const char **items;
    size_t count;
} text_list;

/* Values of the options of all verbs; zero means not given. */
typedef struct settings {
    const char *output, *target, *emit, *weights, *form, *suite, *stage, *after,
        *format, *passes, *inputs_from, *outputs_to, *batch, *thread_counts, *expected,
        *symbol, *entry, *open_weights, *plugin, *resource, *fix, *sort, *trace,
        *folded, *html, *kernels, *topology, *constraints, *sample, *checkpoint,
        *model_file, *compat, *svg, *plan, *shard, *grad, *profile, *against,
        *check_command, *interpreter, *script, *loss, *data, *eval, *schedule, *begin,
        *checkpoints, *modulo, *remote, *ca, *token_file;
    text_list backends, optimizers, ops, inputs, limits, dims, modules, stores, missing;
    double rtol, atol, seconds, arena;
    int64_t threads, sessions, interpreters, batch_size, state, column, rank,
        store_memory, deadline, ahead, device_memory;
    bool has_rtol, has_atol, has_seconds, has_arena;
    /* of quantize */
    const char *calibration, *labels, *method, *precision;
    text_list skips, table_formats;
    double percentile, smoothing, max_error, clip_norm;
    bool has_percentile, has_smoothing, has_max_error, has_clip_norm;
    int64_t weight_bits, epochs, steps, checkpoint_every, accumulate;
    bool json, quiet, torch_empty, clamp_ids, winograd, sanitize, debug, isolate,
        no_cache, check, markdown, help, trust_code, bisect, dynamic, per_tensor,
        symmetric, unsigned_weights, measure, only_outputs, resume;
    text_list arguments; /* positional */
    const char *group;   /* of a rank: as ig_group_open takes it */
    int64_t ranks, timeout, chunks;
    const char *made_of;       /* no option: what reshard notes in an artifact */
    int64_t world;             /* of a rank: of how many it is one; or 0 */
    struct bench_table *table; /* of bench: of all models that it measures */
    bool is_silent;            /* a rank that leaves the output to rank 0 */
    bool has_own_data;         /* a rank whose data is its own: --data names %r */
} settings;

typedef enum option_kind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_LIST,
    OPTION_COUNT,  /* a whole number, at least `min` and (when not 0) at most `max` */
    OPTION_COUNTS, /* such numbers with commas between them: the text is kept */
    OPTION_REAL,   /* a number, not negative; the bool `given` is at `mark` */
} option_kind;

typedef struct option_row {
    const char *name;
    char letter; /* or 0 */
    option_kind kind;
    size_t field, mark; /* offsets in settings */
    const char *value;  /* how help calls it: "FILE"; choices: "a|b|c" */
    const char *help;
    int64_t min, max;
} option_row;

#define FLAG(name, field, help) \
    { name, 0, OPTION_FLAG, offsetof(settings, field), 0, NULL, help, 0, 0 }
#define TEXT(name, letter, field, value, help) \
    { name, letter, OPTION_TEXT, offsetof(settings, field), 0, value, help, 0, 0 }
#define LIST(name, field, value, help) \
    { name, 0, OPTION_LIST, offsetof(settings, field), 0, value, help, 0, 0 }
#define COUNT(name, letter, field, min, max, help) \
    { name, letter, OPTION_COUNT, offsetof(settings, field), 0, "N", help, min, max }
#define COUNTS(name, letter, field, min, max, help)                                   \
    {                                                                                 \
        name, letter, OPTION_COUNTS, offsetof(settings, field), 0, "N,N…", help, min, \
            max                                                                       \
    }
#define REAL(name, field, mark, value, help)                                       \
    {                                                                              \
        name, 0, OPTION_REAL, offsetof(settings, field), offsetof(settings, mark), \
            value, help, 0, 0                                                      \
    }
#define OPTIONS_END \
    { NULL, 0, OPTION_FLAG, 0, 0, NULL, NULL, 0, 0 }

enum { MAX_THREADS = 4096, MAX_SESSIONS = 4096, MAX_INTERPRETERS = 64 };

/* Rows that several verbs share. */
#define ROW_HELP                                                     \
    {                                                                \
        "help", 'h', OPTION_FLAG, offsetof(settings, help), 0, NULL, \
            "print this and exit", 0, 0                              \
    }
#define ROW_JSON FLAG("json", json, "print JSON instead of text")
#define ROW_QUIET                                                      \
    {                                                                  \
        "quiet", 'q', OPTION_FLAG, offsetof(settings, quiet), 0, NULL, \
            "no progress and no notes on stderr", 0, 0                 \
    }
#define ROW_TARGET                       \
    TEXT(                                \
        "target", 't', target, "TARGET", \
        "cpu (this machine's best level), cpu:v3,v4-vnni, cpu,cuda:sm_80, interpret …")
#define ROW_LIMIT                   \
    LIST("limit", limits, "NAME=N", \
         "set a limit of the compiler (ingot info lists them)")
#define ROW_TORCH_EMPTY \
    FLAG("torch-empty", torch_empty, "an empty bag gives 0, also where pooling is max")
#define ROW_CLAMP_IDS \
    FLAG("clamp-ids", clamp_ids, "clamp ids out of range instead of reporting them")
#define ROW_WINOGRAD           \
    FLAG("winograd", winograd, \
         "3 x 3 convolutions of f32 by F(2 x 2, 3 x 3), rounded in other places")
#define ROW_SANITIZE           \
    FLAG("sanitize", sanitize, \
         "check every load and store of the code, fill dead memory (slow)")
#define ROW_DEBUG        \
    FLAG("debug", debug, \
         "debug information of the kernels, for gdb and perf (docs/debugging.md)")
#define ROW_ISOLATE FLAG("isolate", isolate, "read and compile in a confined process")
#define ROW_NO_CACHE FLAG("no-cache", no_cache, "neither read nor write the caches")
#define ROW_DEVICE_MEMORY                                \
    COUNT("device-memory", 0, device_memory, 1, 1 << 24, \
          "MB of a GPU's memory for weights; the largest stay in the host's")
#define ROW_TRUST_CODE             \
    FLAG("trust-code", trust_code, \
         "run the machine code of an artifact whatever its file is called")
#define ROW_ENTRY \
    TEXT("entry", 0, entry, "METHOD", "the method of a TorchScript model (forward)")
#define ROW_RESOURCE \
    TEXT("resource", 0, resource, "PACKAGE/NAME.pkl", "which model of a torch.package")
#define ROW_FIX                             \
    TEXT(                                   \
        "fix", 0, fix, "none|rowwise-mean", \
        "compute what the model means where its archive is wrong: shards by rows with mean pooling")
#define ROW_CHECKPOINT                       \
    TEXT("checkpoint", 0, checkpoint, "DIR", \
         "weights from a torch.distributed checkpoint")
#define ROW_OPS                                                                      \
    LIST("ops", ops, "FILE.ig|LIB.so",                                               \
         "operators of your own: functions in IR text, or a library of C functions " \
         "(docs/custom-operators.md)")
#define ROW_OPEN_WEIGHTS                                                     \
    TEXT("open-weights", 0, open_weights, "NAMES|all",                       \
         "make weights inputs that may change from run to run: a,b, or all " \
         "parameters")
#define ROWS_STORED                                                              \
    LIST("store", stores, "TABLE=URL",                                           \
         "where rows of a table are, in place of the artifact's URL; TABLE may " \
         "be a pattern"),                                                        \
        LIST("missing", missing, "TABLE=X,X…",                                   \
             "the row of ids that its store lacks (0): one number fills it"),    \
        COUNT("store-memory", 0, store_memory, 1, 1 << 24,                       \
              "MB of rows in memory, of all tables in stores (256)"),            \
        COUNT("deadline", 0, deadline, 1, 1 << 30,                               \
              "milliseconds for the rows of a call; later rows count as missing")
#define ROWS_COMPILE                                                                   \
    ROW_TARGET, ROW_TORCH_EMPTY, ROW_CLAMP_IDS, ROW_WINOGRAD, ROW_SANITIZE, ROW_DEBUG, \
        ROW_NO_CACHE, ROW_LIMIT

typedef struct verb {
    const char *name, *arguments, *help; /* arguments: "MODEL -o OUT.ingot" */
    const char *details;                 /* further paragraphs of help, or NULL */
    const option_row *options;
    size_t min_arguments, max_arguments; /* positional arguments */
    int (*run)(const settings *given);
    const char *program; /* beside the tool, which reads all words itself; or NULL */
} verb;

/* Takes the next of "1,64,1024" off the list; -1: there is no number. */
int64_t options_next_count(const char **list);
/* Reads argv after the verb; 0, or the exit status after a message. */
int options_read(const verb *which, int argc, char **argv, settings *out);
void options_free(settings *given);
void options_print_help(const verb *which, FILE *to);

/* Is an option's `value` a choice of words, "embed|reference"? */
bool options_are_choices(const char *value);
/* Makes the whole manual (roff) from the tables; `notes` end it. */
void options_print_man(const verb *const *verbs, const char *notes, FILE *to);
/* Makes a completion script for "bash", "zsh" or "fish"; false: no such shell. */
bool options_print_completion(const verb *const *verbs, const char *shell, FILE *to);

#endif
