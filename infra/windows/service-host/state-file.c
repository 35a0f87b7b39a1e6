#include "state-file.h"

#include <ntsecapi.h>
#include <stdio.h>
#include <strsafe.h>

#include "log-file.h"
#include "text.h"

/* A virus scanner may hold the file for a moment. */
#define TRIES 20
#define PAUSE_MS 25

static bool write_draft(const WCHAR *path, const char *text, size_t length) {
    HANDLE file = CreateFileW(path, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE) return false;
    DWORD written = 0;
    bool is_written = WriteFile(file, text, (DWORD)length, &written, NULL) && written == length;
    return CloseHandle(file) && is_written;
}

void state_file_write(const struct settings *settings, const struct state *state) {
    static bool failed;
    char text[STATE_TEXT];
    WCHAR draft[LONGEST_PATH], meaning[512];
    size_t length = state_text(state, text);
    if (FAILED(StringCchPrintfW(draft, LONGEST_PATH, L"%ls.new", settings->state))) return;
    bool is_placed = write_draft(draft, text, length);
    for (int attempt = 1; is_placed && !MoveFileExW(draft, settings->state, MOVEFILE_REPLACE_EXISTING); attempt++) {
        is_placed = attempt < TRIES;
        if (is_placed) Sleep(PAUSE_MS);
    }
    if (!is_placed && !failed) {
        text_of_error(meaning, ARRAYSIZE(meaning), GetLastError());
        log_file_say("error", L"%ls cannot be written: %ls.", settings->state, meaning);
    }
    failed = !is_placed;
}

void state_active_now(struct state *state) {
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    SYSTEMTIME now;
    GetSystemTime(&now);
    snprintf(state->active_since, sizeof state->active_since, "%s %04u-%02u-%02u %02u:%02u:%02u UTC", days[now.wDayOfWeek % 7],
             now.wYear, now.wMonth, now.wDay, now.wHour, now.wMinute, now.wSecond);
}

void state_new_invocation(struct state *state) {
    unsigned char id[16];
    if (!RtlGenRandom(id, sizeof id)) ZeroMemory(id, sizeof id);
    for (size_t at = 0; at < sizeof id; at++) snprintf(state->invocation + 2 * at, 3, "%02x", id[at]);
}
