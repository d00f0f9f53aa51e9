/* Word from other threads to a loop, which waits for its file descriptor.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_MODEL_MAILBOX_H
#define IG_TOOLS_SERVE_MODEL_MAILBOX_H

#include "tools/serve/call/status.h"
#include "tools/serve/model/config.h"

#include <pthread.h>

/* Work that a loop asks of the repository's thread.  Owner: the front that makes it,
 * from malloc; it is the repository's until `finish` is called, on the loop's
 * thread. */
typedef struct errand {
    bool is_load; /* else unload */
    char *name;   /* of the model */
    char *config; /* text in place of its config.json, or NULL */
    void (*finish)(struct errand *of);
    void *front;
    call_status status;
    char words[WORDS];
    struct mailbox *to;
    struct errand *next;
} errand;

typedef struct mailbox {
    int event; /* an eventfd: readable when there is something */
    pthread_mutex_t lock;
    errand *first, **last;
} mailbox;

bool mailbox_open(mailbox *of);
void mailbox_close(mailbox *of);
void mailbox_wake(mailbox *of);
/* Hands an errand that has ended back to its loop. */
void mailbox_put(mailbox *to, errand *ended);
/* On the loop's thread: makes the descriptor unreadable and finishes the entries. */
void mailbox_empty(mailbox *of);

#endif
