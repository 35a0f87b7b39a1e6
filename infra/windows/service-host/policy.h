/* The decisions of the host, without Windows: also compiled and tested on Linux. */
#ifndef POLICY_H
#define POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds. */
struct restart_times {
    uint32_t first;   /* pause after the first end */
    uint32_t longest; /* it doubles up to here */
    uint32_t reset;   /* a bridge that ran for so long begins again with the first pause */
};

/* How often the bridge ended in a row, with this end, after it ran for `ran_ms`. */
uint32_t policy_ends_in_a_row(const struct restart_times *times, uint32_t before, uint64_t ran_ms);

/* Seconds until it is started again. */
uint32_t policy_restart_pause(const struct restart_times *times, uint32_t ends_in_a_row);

/* Exit codes after which another start would end the same way: Node.js too old, outbox of a newer version, wrong configuration. */
bool policy_is_final(uint32_t exit_code);

/* Milliseconds that count for the watchdog: a pause of the whole machine stops the host as well, and does not count. */
uint32_t policy_watched_ms(uint64_t elapsed_ms);

enum notification { NOTIFICATION_OTHER, NOTIFICATION_READY, NOTIFICATION_WATCHDOG, NOTIFICATION_STOPPING, NOTIFICATION_STATUS };

/* One line of the notification pipe. `value`: what follows the `=`. */
enum notification policy_notification(const char *line, const char **value);

/* Whether a line of the bridge's log belongs in the event log too. */
bool policy_is_error_line(const char *line);

/* Copies a text for an entry, in which the event viewer would replace `%1` once more: a space follows the `%`. What does not fit is cut. */
void policy_event_text(char *to, size_t capacity, const char *text);

/* Limits the entries in the event log. Begins as zeros. */
struct rate {
    bool began;
    uint64_t window_ms;
    uint32_t used;
    uint32_t suppressed;
};

/* `released`: the entries that were suppressed before this one, reported with the first one of a new window. */
bool policy_rate_allows(struct rate *rate, uint64_t now_ms, uint32_t *released);

#endif
