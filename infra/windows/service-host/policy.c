#include "policy.h"

#include <string.h>

uint32_t policy_ends_in_a_row(const struct restart_times *times, uint32_t before, uint64_t ran_ms) {
    if (ran_ms >= (uint64_t)times->reset * 1000) return 1;
    return before == UINT32_MAX ? before : before + 1;
}

uint32_t policy_restart_pause(const struct restart_times *times, uint32_t ends_in_a_row) {
    uint64_t pause = times->first;
    for (uint32_t end = 1; end < ends_in_a_row && pause < times->longest; end++) pause *= 2;
    return pause < times->longest ? (uint32_t)pause : times->longest;
}

bool policy_is_final(uint32_t exit_code) {
    return exit_code == 69 || exit_code == 76 || exit_code == 78;
}

/* assumption: windows-service-host-pause */
/* The host looks every second. */
static const uint32_t longest_watched_ms = 2000;

uint32_t policy_watched_ms(uint64_t elapsed_ms) {
    return elapsed_ms < longest_watched_ms ? (uint32_t)elapsed_ms : longest_watched_ms;
}

enum notification policy_notification(const char *line, const char **value) {
    static const char status[] = "STATUS=";
    *value = "";
    if (strcmp(line, "READY=1") == 0) return NOTIFICATION_READY;
    if (strcmp(line, "WATCHDOG=1") == 0) return NOTIFICATION_WATCHDOG;
    if (strcmp(line, "STOPPING=1") == 0) return NOTIFICATION_STOPPING;
    if (strncmp(line, status, sizeof status - 1) == 0) {
        *value = line + sizeof status - 1;
        return NOTIFICATION_STATUS;
    }
    return NOTIFICATION_OTHER;
}

/* The level is the first field of a line of the log: a text that contains the same words does not count. */
bool policy_is_error_line(const char *line) {
    return strncmp(line, "{\"level\":\"error\"", 16) == 0 || strncmp(line, "{\"level\":\"fatal\"", 16) == 0;
}

void policy_event_text(char *to, size_t capacity, const char *text) {
    size_t length = 0;
    for (; *text != '\0' && length + 2 < capacity; text++) {
        to[length++] = *text;
        if (text[0] == '%' && text[1] >= '0' && text[1] <= '9') to[length++] = ' ';
    }
    to[length] = '\0';
}

static const uint64_t window_length_ms = 10 * 60 * 1000;
static const uint32_t entries_in_window = 10;

bool policy_rate_allows(struct rate *rate, uint64_t now_ms, uint32_t *released) {
    *released = 0;
    if (!rate->began || now_ms - rate->window_ms >= window_length_ms) {
        *released = rate->suppressed;
        *rate = (struct rate){.began = true, .window_ms = now_ms};
    }
    if (rate->used >= entries_in_window) {
        rate->suppressed++;
        return false;
    }
    rate->used++;
    return true;
}
