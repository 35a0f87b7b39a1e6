/* Calls the pure parts of the service host: one command a line on stdin, one answer a line on stdout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "policy.h"
#include "state.h"

static struct rate rate;

static void show(void *context, const char *line, size_t length) {
    (void)context;
    printf("[%s|%zu]", line, length);
}

static void split(const char *text) {
    static struct lines lines;
    lines = (struct lines){.length = 0};
    for (const char *at = text; *at != '\0'; at++) {
        /* `|` is an end of line, `<` a carriage return, `x` very much text. */
        if (*at == 'x') {
            for (int many = 0; many < LONGEST_LINE; many++) lines_take(&lines, "x", 1, show, NULL);
        } else {
            char byte = *at == '|' ? '\n' : *at == '<' ? '\r' : *at;
            lines_take(&lines, &byte, 1, show, NULL);
        }
    }
    printf("end");
    lines_end(&lines, show, NULL);
    printf("\n");
}

static void print_state(const char *status) {
    char text[STATE_TEXT];
    struct state state = {.active = "active", .sub = "running", .result = "success", .child_pid = 4711, .host_pid = 815, .restarts = 3, .exit_status = 1067};
    strcpy(state.invocation, "0123456789abcdef0123456789abcdef");
    strcpy(state.active_since, "Sun 2026-11-22 17:46:35 UTC");
    state_set_status(&state, status);
    size_t length = state_text(&state, text);
    for (size_t at = 0; at < length; at++) putchar(text[at] == '\n' ? ';' : text[at]);
    printf("\n");
}

int main(void) {
    static char line[65536];
    static const char *const names[] = {"other", "ready", "watchdog", "stopping", "status"};
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *rest = strchr(line, ' ');
        if (rest == NULL) return 1;
        *rest++ = '\0';
        unsigned first = 0, longest = 0, reset = 0, ends = 0;
        unsigned long long ms = 0;
        if (strcmp(line, "pause") == 0 && sscanf(rest, "%u %u %u", &first, &longest, &ends) == 3) {
            struct restart_times times = {first, longest, 600};
            printf("%u\n", policy_restart_pause(&times, ends));
        } else if (strcmp(line, "ends") == 0 && sscanf(rest, "%u %u %llu", &reset, &ends, &ms) == 3) {
            struct restart_times times = {5, 60, reset};
            printf("%u\n", policy_ends_in_a_row(&times, ends, ms));
        } else if (strcmp(line, "final") == 0) {
            printf("%d\n", policy_is_final((uint32_t)strtoul(rest, NULL, 10)));
        } else if (strcmp(line, "watched") == 0) {
            printf("%u\n", policy_watched_ms(strtoull(rest, NULL, 10)));
        } else if (strcmp(line, "notification") == 0) {
            const char *value;
            enum notification found = policy_notification(rest, &value);
            printf("%s %s\n", names[found], value);
        } else if (strcmp(line, "error") == 0) {
            printf("%d\n", policy_is_error_line(rest));
        } else if (strcmp(line, "event") == 0) {
            char text[16];
            policy_event_text(text, sizeof text, rest);
            printf("%s\n", text);
        } else if (strcmp(line, "rate") == 0) {
            uint32_t released;
            bool allowed = policy_rate_allows(&rate, strtoull(rest, NULL, 10), &released);
            printf("%d %u\n", allowed, released);
        } else if (strcmp(line, "lines") == 0) {
            split(rest);
        } else if (strcmp(line, "state") == 0) {
            print_state(rest);
        } else {
            return 1;
        }
    }
    return 0;
}
