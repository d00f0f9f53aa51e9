/* The functions of an engine of interpreters for the library that opens it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An engine is a library.  One whose globals are an interpreter's is loaded once an
 * interpreter, each time into a link namespace of its own: its libc, its globals and
 * its interpreter are private copies, and nothing but plain memory passes between the
 * two sides.  Such an engine makes one thread in its namespace, the owner, which runs
 * all jobs that are put into the mailbox; the two sides wait for each other by futexes,
 * which know no namespaces.  Any other engine is loaded once, has a state for each
 * interpreter, and runs jobs in the thread of the caller.
 */
#ifndef IG_RUNTIME_INTERP_ENGINE_H
#define IG_RUNTIME_INTERP_ENGINE_H

#include "base/status.h"
#include "ingot/interp.h"
#include "runtime/interp/shared.h"

#include <stdatomic.h>

enum { IG_ENGINE_ABI = 7 };

/* A kind of value beside those of ig_interp_kind: bytes that may be kept, those of the
 * ig_shared that as.text.data points to. */
enum { IG_ENGINE_SHARED = 1000 };

/* Objects and results begin with these, so that the host knows whose they are. */
struct ig_interp_object {
    struct ig_interp *interp;
    void *reference; /* the engine's */
};

struct ig_interp_result {
    struct ig_interp *interp;
    ig_interp_value value;
};

typedef struct ig_engine_job ig_engine_job;
struct ig_engine_job {
    void (*work)(ig_engine_job *job); /* of the engine, below */
    struct ig_interp *interp;         /* put into the new object */
    void *state;                      /* of this interpreter, the engine's */
    char *message;
    size_t message_size;
    int64_t deadline_ns; /* kept by the engine where it has no owner */
    ig_status status;
    /* arguments and results of each kind of work */
    const char *source, *name, *module;
    uint64_t instructions, memory; /* budgets; 0: the engine's own */
    bool is_confined;              /* no sockets, programs and changes of files */
    const ig_interp_object *object;
    const ig_interp_arguments *arguments;
    bool wants_object; /* a call gives made_object, whatever it is */
    ig_interp_object *made_object;
    ig_interp_result *result; /* made, or to be freed */
};

typedef enum ig_mail_state {
    IG_MAIL_STARTING,
    IG_MAIL_IDLE,
    IG_MAIL_POSTED,
    IG_MAIL_DONE,
} ig_mail_state;

typedef struct ig_mailbox {
    atomic_int state;     /* of ig_mail_state; a futex */
    atomic_int interrupt; /* 1: the job is to be interrupted; a futex */
    ig_engine_job *job;
    bool is_apart; /* the engine is in a link namespace of its own */
} ig_mailbox;

typedef struct ig_engine {
    uint32_t abi;
    const char *name;
    bool has_packages; /* Python's packages and pickles */
    bool has_owner;    /* jobs are put into the mailbox; else the caller runs them */
    /* Begins an interpreter.  The job in the box takes its state, or the failure; with
     * an owner, when the box is DONE.  Not 0: there was no thread or memory for it. */
    int (*start)(ig_mailbox *box);
    void (*stop)(void *state);             /* NULL: it lives until the process ends */
    void (*configure)(ig_engine_job *job); /* source: a path for sys.path */
    /* module, name: of what tensors among arguments are given to; NULL: nothing. */
    void (*wrap_tensors)(ig_engine_job *job);
    void (*set_budgets)(ig_engine_job *job); /* NULL: it has none */
    void (*add_source)(ig_engine_job *job);  /* name, source */
    void (*run)(ig_engine_job *job);         /* source, name */
    void (*find_global)(ig_engine_job *job);
    void (*find_attribute)(ig_engine_job *job);
    void (*invoke)(ig_engine_job *job);
    void (*read)(ig_engine_job *job); /* the object as a result */
    void (*keep)(ig_engine_job *job); /* the object once more, as made_object */
    /* Is it still there?  NULL: always. */
    bool (*is_alive)(void *state, const ig_interp_object *object);
    void (*free_object)(ig_engine_job *job);
    void (*free_result)(ig_engine_job *job);
} ig_engine;

/* The one symbol of an engine's library. */
typedef const ig_engine *ig_engine_entry(void);
#define IG_ENGINE_SYMBOL "ig_interp_engine"

/* ---- futexes ---- */

/* Waits until the word is no longer `value`, or until deadline_ns (0: none) of
 * CLOCK_MONOTONIC; may wake early. */
void ig_futex_wait(atomic_int *word, int value, int64_t deadline_ns);
void ig_futex_wake(atomic_int *word);

#endif
