/* Starting ranks, and meeting in a group.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/ingot/model/ranks.h"

#include "tools/ingot/cli/json_file.h"
#include "tools/ingot/model/model.h"

#include <ingot/group.h>
#include <ingot/shard.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The group of this process, which is one rank: closed when its work is done. */
static ig_group *own_group;

/* ---- what one rank is given ---- */

typedef struct rank_settings {
    settings given;
    char **texts; /* with "%r" replaced */
    size_t count, room;
} rank_settings;

/* The text with each "%r" replaced by the rank's number; itself without one. */
static const char *text_for_rank(rank_settings *r, const char *text) {
    const char *at = text ? strstr(text, "%r") : NULL;
    if (!at) {
        return text;
    }
    char *out = text_of("%s", "");
    for (; at; text = at + 2, at = strstr(text, "%r")) {
        char *longer = text_of("%s%.*s%lld", out, (int)(at - text), text,
                               (long long)r->given.rank);
        free(out);
        out = longer;
    }
    char *whole = text_of("%s%s", out, text);
    free(out);
    if (r->count == r->room) {
        r->room = r->room ? 2 * r->room : 8;
        r->texts = need(realloc(r->texts, r->room * sizeof *r->texts));
    }
    return r->texts[r->count++] = whole;
}

static text_list list_for_rank(rank_settings *r, const text_list *from) {
    text_list out = { need(calloc(from->count + 1, sizeof *out.items)), from->count };
    for (size_t i = 0; i < from->count; i++) {
        out.items[i] = text_for_rank(r, from->items[i]);
    }
    return out;
}

static void open_rank_settings(rank_settings *r, const settings *given, int64_t rank,
                               int64_t world, const char *group) {
    *r = (rank_settings){ .given = *given };
    settings *own = &r->given;
    own->rank = rank;
    own->world = world;
    own->group = group;
    own->quiet = given->quiet || rank > 0;
    own->inputs = list_for_rank(r, &given->inputs);
    own->arguments = list_for_rank(r, &given->arguments);
    own->inputs_from = text_for_rank(r, given->inputs_from);
    own->outputs_to = text_for_rank(r, given->outputs_to);
    own->data = text_for_rank(r, given->data);
    own->output = text_for_rank(r, given->output);
    own->has_own_data = own->data != given->data;
    own->is_silent = rank > 0 && own->outputs_to == given->outputs_to;
}

static void close_rank_settings(rank_settings *r) {
    for (size_t i = 0; i < r->count; i++) {
        free(r->texts[i]);
    }
    free(r->texts);
    free((void *)r->given.inputs.items);
    free((void *)r->given.arguments.items);
}

static int work_as_rank(rank_settings *r, int (*work)(const settings *given)) {
    int status = work(&r->given);
    ig_group_close(own_group);
    own_group = NULL;
    return status;
}

bool ranks_are_silent(const settings *given) {
    return given->is_silent;
}

/* ---- processes ---- */

typedef struct family {
    pid_t *ranks;
    int64_t count;
    int status; /* exit status, of the first that failed */
} family;

static void run_child(const settings *given, int64_t rank, const char *group,
                      int (*work)(const settings *given)) {
    pid_t parent = getppid();
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    if (getppid() != parent) {
        _exit(exit_of(IG_CANCELLED)); /* it was gone before it could tell */
    }
    rank_settings r;
    open_rank_settings(&r, given, rank, given->ranks, group);
    int status = work_as_rank(&r, work);
    if (fflush(stdout) != 0 && status == 0) {
        status = complain(exit_of(IG_IO), "cannot write the output");
    }
    close_rank_settings(&r);
    _exit(status);
}

/* A rank that has failed says why itself; one that was killed cannot. */
static void note_end(family *f, pid_t pid, int how) {
    int64_t rank = 0;
    while (rank < f->count - 1 && f->ranks[rank] != pid) {
        rank++;
    }
    int status = WIFEXITED(how) ? WEXITSTATUS(how) : exit_of(IG_INVALID);
    f->ranks[rank] = 0;
    if (WIFSIGNALED(how) && !f->status) {
        complain(status, "rank %lld was ended by signal %d (%s)", (long long)rank,
                 WTERMSIG(how), strsignal(WTERMSIG(how)));
    }
    f->status = f->status ? f->status : status;
}

/* Once one has failed the others have a second for their messages. */
static void wait_family(family *f) {
    enum { NAP_MS = 10, LAST_MS = 1000 };
    int64_t left = f->count;
    for (int ms = 0; left > 0;) {
        int how;
        pid_t pid = waitpid(-1, &how, f->status ? WNOHANG : 0);
        if (pid > 0) {
            note_end(f, pid, how);
            left--;
        } else if (pid == 0) {
            struct timespec nap = { .tv_nsec = NAP_MS * 1000000L };
            (void)nanosleep(&nap, NULL);
            ms += NAP_MS;
        } else if (errno != EINTR) {
            break;
        }
        for (int64_t i = 0; ms >= LAST_MS && i < f->count; i++) {
            if (f->ranks[i] > 0) {
                (void)kill(f->ranks[i], SIGKILL);
            }
        }
    }
}

static int start_family(const settings *given, int (*work)(const settings *given)) {
    char group[64];
    snprintf(group, sizeof group, "shm:ingot-%d", (int)getpid());
    family f = { .ranks = need(calloc((size_t)given->ranks, sizeof *f.ranks)) };
    (void)signal(SIGINT, SIG_IGN); /* the ranks end, and say so */
    fflush(stdout);
    fflush(stderr);
    for (; f.count < given->ranks; f.count++) {
        pid_t pid = fork();
        if (pid == 0) {
            run_child(given, f.count, group, work);
        }
        if (pid < 0) {
            f.status = complain(exit_of(IG_LIMIT), "cannot start rank %lld",
                                (long long)f.count);
            break;
        }
        f.ranks[f.count] = pid;
    }
    wait_family(&f);
    *strchr(group, ':') = '/';
    (void)shm_unlink(strchr(group, '/')); /* of ranks that were killed early */
    free(f.ranks);
    return f.status;
}

/* ---- ranks that somebody else has started ---- */

static int64_t number_of_variable(const char *name) {
    const char *text = getenv(name);
    char *end = NULL;
    long long number = text ? strtoll(text, &end, 10) : -1;
    return text && *text && !*end ? number : -1;
}

/* What mpirun says: Open MPI's variables, then those of MPICH and its kin; or torchrun,
 * which sets a port too.  The group; NULL: nobody started ranks. */
static const char *find_start(int64_t *rank, int64_t *world) {
    static const char *const starts[][4] = {
        { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE",
          "mpi" },
        { "PMI_RANK", "PMI_SIZE", "PMI_SIZE", "mpi" },
        { "RANK", "WORLD_SIZE", "MASTER_PORT", "env" },
    };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        *rank = number_of_variable(starts[i][0]);
        *world = number_of_variable(starts[i][1]);
        if (*rank >= 0 && *rank < *world && *world <= MAX_RANKS &&
            getenv(starts[i][2])) {
            return starts[i][3];
        }
    }
    return NULL;
}

int ranks_work(const settings *given, int (*work)(const settings *given)) {
    int64_t rank, world;
    bool is_compiled = !given->isolate && !is_interpret(given->target);
    if (given->ranks && !is_compiled) {
        return complain(EXIT_USAGE,
                        "--ranks runs compiled programs: give neither --isolate nor "
                        "--target interpret");
    }
    if (given->ranks) {
        return start_family(given, work);
    }
    const char *group = is_compiled ? find_start(&rank, &world) : NULL;
    if (!group) {
        const char *alone = given->plan ? "plan" : given->chunks ? "chunks" : NULL;
        return alone ? complain(EXIT_USAGE, "--%s goes with --ranks, or mpirun", alone)
                     : work(given);
    }
    rank_settings r;
    open_rank_settings(&r, given, rank, world, group);
    int status = work_as_rank(&r, work);
    close_rank_settings(&r);
    return status;
}

/* ---- the program of a rank ---- */

/* The planner's choice for ranks of this host: allocated.  Where nothing is trained
 * they map tables that each of them has whole from one file. */
static ig_status choose_plan(const settings *given, ig_context *context,
                             ig_module *module, bool is_training, char **out) {
    ig_compile_options how = compile_options(given);
    const char *tables = NULL, *plan = NULL;
    ig_status status = ig_module_tables(module, &how, &tables);
    if (status != IG_OK) {
        return status;
    }
    const char *kind = is_training ? "\"is_training\": true"
                                   : "\"is_training\": false, \"shares_memory\": true";
    char *text = text_of("{\"topology\": {\"world_size\": %lld, \"local_world_size\": "
                         "%lld, \"compute_device\": \"cpu\", %s},\n%s",
                         (long long)given->world, (long long)given->world, kind,
                         strchr(tables, '{') + 1);
    status = ig_shard_plan(context, given->arguments.items[0], text,
                           IG_SHARD_CRITICAL_PATH, &plan);
    *out = status == IG_OK ? text_of("%s", plan) : NULL;
    free(text);
    return status;
}

/* Is the plan for as many ranks as there are?  False after a message. */
static bool fits_world(const settings *given, const char *plan) {
    json_t *read = json_loads(plan, 0, NULL);
    const json_t *ranks = json_object_get(read, "ranks");
    int64_t world = json_is_array(ranks)
                        ? (int64_t)json_array_size(ranks)
                        : json_integer_value(json_object_get(read, "world_size"));
    json_decref(read);
    if (world > 0 && world != given->world) {
        complain(0, "%s is a plan for %lld ranks, and there are %lld", given->plan,
                 (long long)world, (long long)given->world);
    }
    return world <= 0 || world == given->world; /* 0: said elsewhere */
}

/* The plan with --chunks and a note in it, or as it is: allocated. */
static char *plan_with_options(const settings *given, const char *plan) {
    bool has_any = given->chunks || given->made_of;
    json_t *read = has_any ? json_loads(plan, 0, NULL) : NULL;
    if (!json_is_object(read)) {
        json_decref(read);
        return text_of("%s", plan); /* said elsewhere */
    }
    if (given->chunks &&
        json_object_set_new(read, "chunks", json_integer(given->chunks)) != 0) {
        need(NULL);
    }
    if (given->made_of &&
        json_object_set_new(read, "made_of", json_string(given->made_of)) != 0) {
        need(NULL);
    }
    char *text = need(json_dumps(read, JSON_REAL_PRECISION(17)));
    json_decref(read);
    return text;
}

static ig_status shard_by(const settings *given, ig_module *module, const char *name,
                          const char *plan) {
    ig_compile_options how = compile_options(given);
    char *text = plan_with_options(given, plan);
    ig_status status = ig_module_shard(module, name, text, (size_t)given->rank, &how);
    free(text);
    return status;
}

ig_status ranks_shard_by_plan(const settings *given, ig_module *module) {
    int exit_status = 0;
    char *plan = read_json_text(given->plan, &exit_status);
    if (!plan) {
        return exit_status == exit_of(IG_IO) ? IG_IO : IG_INVALID;
    }
    ig_status status = !given->world || fits_world(given, plan)
                           ? shard_by(given, module, given->plan, plan)
                           : IG_INVALID;
    free(plan);
    return status;
}

ig_status ranks_shard(const settings *given, ig_context *context, ig_module *module) {
    char *plan = NULL;
    if (!given->world) {
        return IG_OK;
    }
    if (given->plan) {
        return ranks_shard_by_plan(given, module);
    }
    ig_status status = choose_plan(given, context, module, false, &plan);
    if (status == IG_OK) {
        status = shard_by(given, module, "the plan chosen", plan);
    }
    free(plan);
    return status;
}

/* As many ranks, and no tables: trained weights are alike on all of them. */
static char *plan_of_none(const settings *given) {
    return text_of("{\"world_size\": %lld, \"tables\": []}", (long long)given->world);
}

/* Chosen in a context of its own, which says nothing of a model without tables. */
static char *choose_training_plan(const settings *given) {
    ig_context *context = need(ig_context_create(NULL));
    ig_import_options how = import_options(given);
    ig_module *module = NULL;
    char *plan = NULL;
    ig_status status = ig_import(context, given->arguments.items[0], &how, &module);
    if (status == IG_OK) {
        status = choose_plan(given, context, module, true, &plan);
    }
    ig_module_close(module);
    ig_context_destroy(context);
    return status == IG_OK ? plan : plan_of_none(given);
}

bool ranks_training_plan(const settings *given, char **out_plan) {
    int exit_status;
    *out_plan = NULL;
    if (!given->world && !given->plan) {
        return true;
    }
    *out_plan = given->plan ? read_json_text(given->plan, &exit_status)
                            : choose_training_plan(given);
    return *out_plan && (!given->plan || !given->world || fits_world(given, *out_plan));
}

/* ---- meeting ---- */

ig_group *ranks_group(void) {
    return own_group;
}

ig_status ranks_agree(int64_t *value) {
    return ig_group_broadcast(own_group, 0, value, sizeof *value);
}

ig_status ranks_meet(const settings *given, ig_ranks **out_ranks, message *why) {
    enum { TIMEOUT = 60 };
    *out_ranks = NULL;
    if (!given->world) {
        return IG_OK;
    }
    if (own_group) {
        *out_ranks = ig_group_ranks(own_group);
        return IG_OK;
    }
    ig_group_options options = {
        .size = sizeof options,
        .rank = (uint32_t)given->rank,
        .world = (uint32_t)given->world,
        .timeout_ms = 1000 * (given->timeout ? given->timeout : TIMEOUT),
        .message = why->text,
        .message_size = sizeof why->text,
    };
    ig_status status = ig_group_open(given->group, &options, &own_group);
    *out_ranks = status == IG_OK ? ig_group_ranks(own_group) : NULL;
    return status;
}
