/* Entries in the Application log of Windows, source scheduled-events-bridge; their texts are in messages.mc. */
#ifndef EVENT_LOG_H
#define EVENT_LOG_H

#include <windows.h>

#include "messages.h"

void event_log_open(void);

/* `texts`: up to four, for %1 and so on; the last one is followed by NULL. */
void event_log_report(DWORD id, ...);

/* A number as text, for event_log_report. */
struct number {
    WCHAR text[16];
};
const WCHAR *number(struct number *room, DWORD value);

#endif
