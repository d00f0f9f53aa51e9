/* Passwords and tokens in URLs, kept out of messages.
 * SPDX-License-Identifier: Apache-2.0
 *
 * People name models, caches and stores by URLs, and messages end up in logs and issue
 * trackers.  Every text that leaves the library or a tool goes through here.
 */
#ifndef IG_BASE_SECRET_H
#define IG_BASE_SECRET_H

/* Blanks, in place, the userinfo of each URL ("user:password@" becomes "***@") and the
 * values of query parameters whose names say that they are secret ("?token=***").
 * Never makes a text longer; text that is not a URL stays as it is. */
void ig_hide_secrets(char *text);

#endif
