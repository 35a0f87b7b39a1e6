#include "event-log.h"

#include <stdarg.h>
#include <strsafe.h>

#include "settings.h"

static HANDLE source;

/* assumption: windows-service-host-event-log */
void event_log_open(void) {
    source = RegisterEventSourceW(NULL, SERVICE);
}

/* The severity is in the two highest bits of an id. */
static WORD type_of(DWORD id) {
    switch (id >> 30) {
    case 3: return EVENTLOG_ERROR_TYPE;
    case 2: return EVENTLOG_WARNING_TYPE;
    default: return EVENTLOG_INFORMATION_TYPE;
    }
}

void event_log_report(DWORD id, ...) {
    const WCHAR *texts[4];
    WORD count = 0;
    if (source == NULL) return;
    va_list rest;
    va_start(rest, id);
    for (const WCHAR *text; count < ARRAYSIZE(texts) && (text = va_arg(rest, const WCHAR *)) != NULL;)
        texts[count++] = text;
    va_end(rest);
    /* A full or stopped event log is no reason to fail: the log file has the same. */
    ReportEventW(source, type_of(id), 0, id, NULL, count, 0, texts, NULL);
}

const WCHAR *number(struct number *room, DWORD value) {
    StringCchPrintfW(room->text, ARRAYSIZE(room->text), L"%lu", value);
    return room->text;
}
