/* Mailboxes of loops.  SPDX-License-Identifier: Apache-2.0 */
#include "tools/serve/model/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

bool mailbox_open(mailbox *of) {
    *of = (mailbox){ .event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
    of->last = &of->first;
    return of->event >= 0 && pthread_mutex_init(&of->lock, NULL) == 0;
}

void mailbox_close(mailbox *of) {
    close(of->event);
    pthread_mutex_destroy(&of->lock);
}

void mailbox_wake(mailbox *of) {
    uint64_t one = 1;
    ssize_t written = write(of->event, &one, sizeof one);
    (void)written; /* full: it is awake already */
}

void mailbox_put(mailbox *to, errand *ended) {
    pthread_mutex_lock(&to->lock);
    ended->next = NULL;
    *to->last = ended;
    to->last = &ended->next;
    pthread_mutex_unlock(&to->lock);
    mailbox_wake(to);
}

void mailbox_empty(mailbox *of) {
    uint64_t count;
    ssize_t got = read(of->event, &count, sizeof count);
    (void)got;
    pthread_mutex_lock(&of->lock);
    errand *first = of->first;
    of->first = NULL;
    of->last = &of->first;
    pthread_mutex_unlock(&of->lock);
    for (errand *next; first; first = next) {
        next = first->next;
        first->finish(first);
    }
}
