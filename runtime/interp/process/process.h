/* The child of an interpreter: begun, asked, ended.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_RUNTIME_INTERP_PROCESS_H
#define IG_RUNTIME_INTERP_PROCESS_H

#include "runtime/interp/wire/wire.h"

#include <stdarg.h>
#include <sys/types.h>

/* The settings that every child of this interpreter gets before all else. */
typedef struct process_fact {
    struct process_fact *next;
    ig_wire_work work;
    char *source, *name, *module;
} process_fact;

typedef struct process {
    bool is_up;
    pid_t id;
    int watch, socket;   /* watch: a descriptor of the process; -1: none */
    uint64_t generation; /* how many children there were */
    ig_wire request, response;
    process_fact *facts;
    bool is_confined; /* its children are */
    uint64_t memory;  /* bytes that a confined one may write; 0: no bound */
} process;

process *process_make(void); /* without a child; NULL: no memory */
void process_free(process *p);
ig_status process_begin(process *p, char *why, size_t size);
void process_end(process *p); /* at once */
/* Sends p->request and waits for p->response.  LIMIT: the deadline has passed by so
 * much that the child was ended; INVALID: it ended by itself; `why` says how. */
ig_status process_ask(process *p, int64_t deadline_ns, const ig_wire_names *names,
                      char *why, size_t size);
/* False: no memory. */
bool process_note(process *p, ig_wire_work work, const ig_engine_job *job);

#endif
