/* Passwords and tokens never stay in a text.  SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"
#include "base/secret.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *text, *want;
} rows[] = {
    { "https://user:hunter2@host/m.onnx", "https://***@host/m.onnx" },
    { "cannot read 'redis://:hunter2@host:6379/0': no",
      "cannot read 'redis://***@host:6379/0': no" },
    { "https://ghp_hunter2@github.com/a/b.git", "https://***@github.com/a/b.git" },
    { "s3+https://u:hunter2@h and ftp://u:hunter2@i/x",
      "s3+https://***@h and ftp://***@i/x" },
    { "https://h/m?token=hunter2&v=1", "https://h/m?token=***&v=1" },
    { "https://h/m?v=1&X-Amz-Signature=hunter2#a",
      "https://h/m?v=1&X-Amz-Signature=***#a" },
    { "https://h/m#access_token=hunter2", "https://h/m#access_token=***" },
    { "https://u:hunter2@h?api_key=hunter2;password=hunter2 end",
      "https://***@h?api_key=***;password=*** end" },
    { "redis://u:hun@ter2@host/0", "redis://***@host/0" },
    { "redis://u:hun/ter2@host/0", "redis://***@host/0" },
    { "https://user:hunter2", "https://***" }, /* cut off */
    { "a://b@c", "a://*@c" },                  /* never longer */
    { "a://@c", "a://@c" },
    /* nothing to hide */
    { "https://host:8080/m.onnx?v=1", "https://host:8080/m.onnx?v=1" },
    { "https://[::1]:80/x", "https://[::1]:80/x" },
    { "https://host/@scope/pkg@1.0", "https://host/@scope/pkg@1.0" },
    { "/home/user/m.onnx: token=abc is no value",
      "/home/user/m.onnx: token=abc is no value" },
    { "code/__torch__/m.py:3: a@b", "code/__torch__/m.py:3: a@b" },
    { "://", "://" },
    { "https://", "https://" },
    { "", "" },
};

TEST(userinfo_and_tokens_are_blanked) {
    for (size_t i = 0; i < IG_COUNT_OF(rows); i++) {
        char text[256];
        snprintf(text, sizeof text, "%s", rows[i].text);
        ig_hide_secrets(text);
        CHECK_MSG(strcmp(text, rows[i].want) == 0, "%s became %s", rows[i].text, text);
        ig_hide_secrets(text);
        CHECK_MSG(strcmp(text, rows[i].want) == 0, "twice: %s", text);
    }
}
END_TEST

static uint32_t random_state = 7;

static uint32_t random_below(uint32_t bound) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % bound;
}

/* Bytes of any kind but those that end a text. */
static void put_noise(char *text, size_t size) {
    static const char some[] = " '\"\n/?#&=;:@*.%abcXYZ019\xc3\xa9()<>";
    for (size_t i = strlen(text), end = i + random_below((uint32_t)size); i < end;
         i++) {
        text[i] = some[random_below(sizeof some - 1)];
        text[i + 1] = '\0';
    }
}

/* A secret is of letters that nothing else here has. */
static void put_secret(char *text) {
    static const char letters[] = "QWRTPSDFGHJK";
    size_t length = strlen(text);
    uint32_t count = 4 + random_below(12);
    for (uint32_t i = 0; i < count; i++) {
        text[length + i] = letters[random_below(sizeof letters - 1)];
    }
    text[length + count] = '\0';
}

TEST(no_secret_survives_in_any_text) {
    static const char *const schemes[] = { "https", "redis", "s3", "postgresql+x",
                                           "a" };
    static const char *const names[] = { "token",    "access_token", "x-amz-signature",
                                         "password", "apikey",       "sig" };
    for (int round = 0; round < 20000; round++) {
        char text[512] = "";
        put_noise(text, 40);
        strcat(text, " ");
        strcat(text, schemes[random_below(IG_COUNT_OF(schemes))]);
        strcat(text, "://");
        if (random_below(2)) {
            strcat(text, "u:");
            put_secret(text);
            strcat(text, "@");
        }
        strcat(text, "host.org:80/a/b");
        if (random_below(2)) {
            strcat(text, random_below(2) ? "?v=1&" : "?");
            strcat(text, names[random_below(IG_COUNT_OF(names))]);
            strcat(text, "=");
            put_secret(text);
            strcat(text, random_below(2) ? "&w=2" : "");
        }
        strcat(text, "' ");
        put_noise(text, 40);
        size_t before = strlen(text);
        ig_hide_secrets(text);
        CHECK(strlen(text) <= before);
        CHECK_MSG(!strpbrk(text, "QWRTPSDFGHJK"), "%s", text);
        CHECK_MSG(strstr(text, "host.org:80/a/b") != NULL, "%s", text);
    }
}
END_TEST

TEST(diagnostics_hide_them) {
    char text[256];
    ig_diagnostic said = { .severity = IG_ERROR,
                           .where = { .file = "https://u:hunter2@h/m.onnx" },
                           .message = "cannot read https://h/?token=hunter2",
                           .hint = "try ftp://u:hunter2@h" };
    size_t size = ig_diagnostic_format(&said, text, sizeof text);
    CHECK_INT(size, (int)strlen(text));
    CHECK_MSG(!strstr(text, "hunter2") && strstr(text, "https://***@h/m.onnx: "), "%s",
              text);
    for (size_t room = 1; room < size; room++) { /* cut anywhere */
        ig_diagnostic_format(&said, text, room);
        CHECK_MSG(!strstr(text, "hunt"), "%s", text);
    }
}
END_TEST

UNIT_SUITE(base_secret, userinfo_and_tokens_are_blanked, no_secret_survives_in_any_text,
           diagnostics_hide_them)
