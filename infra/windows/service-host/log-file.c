#include "log-file.h"

#include <stdarg.h>
#include <stdio.h>
#include <strsafe.h>

#include "text.h"

#define OLDER_FILES 5

static CRITICAL_SECTION lock;
static bool has_lock;
static const struct settings *where;
static HANDLE file = INVALID_HANDLE_VALUE;
static ULONGLONG size;
static ULONGLONG rotate_at;
static DWORD lost;

#define SHARING (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)

static DWORD open_file(void) {
    file = CreateFileW(where->log, FILE_APPEND_DATA | SYNCHRONIZE, SHARING, NULL, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE) return GetLastError();
    WIN32_FILE_ATTRIBUTE_DATA data;
    size = GetFileAttributesExW(where->log, GetFileExInfoStandard, &data)
               ? ((ULONGLONG)data.nFileSizeHigh << 32) | data.nFileSizeLow
               : 0;
    return ERROR_SUCCESS;
}

static bool older(WCHAR *path, int number) {
    return SUCCEEDED(StringCchPrintfW(path, LONGEST_PATH, L"%ls\\bridge.%d.log", where->logs, number));
}

/*
 * A program that reads the file may not let it be renamed, as PowerShell's Get-Content -Wait: then its content is copied, and it becomes
 * empty. assumption: windows-log-reader
 */
static bool set_aside(const WCHAR *to) {
    if (MoveFileExW(where->log, to, MOVEFILE_REPLACE_EXISTING)) return true;
    if (!CopyFileW(where->log, to, FALSE)) return false;
    HANDLE emptied = CreateFileW(where->log, GENERIC_WRITE, SHARING, NULL, TRUNCATE_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    if (emptied == INVALID_HANDLE_VALUE) return false;
    CloseHandle(emptied);
    return true;
}

/* The file gets the number 0 first. Where that is impossible, the log grows, and rotation is tried again after as much again. */
static void rotate(void) {
    WCHAR from[LONGEST_PATH], to[LONGEST_PATH];
    CloseHandle(file);
    if (older(from, 0) && set_aside(from))
        for (int number = OLDER_FILES - 1; number >= 0; number--)
            if (older(from, number) && older(to, number + 1)) MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING);
    open_file();
    rotate_at = (file == INVALID_HANDLE_VALUE ? 0 : size) + (ULONGLONG)where->log_kb * 1024;
}

static bool put(const char *bytes, size_t count) {
    DWORD written = 0;
    if (file == INVALID_HANDLE_VALUE && open_file() != ERROR_SUCCESS) return false;
    if (!WriteFile(file, bytes, (DWORD)count, &written, NULL)) return false;
    size += written;
    return written == count;
}

DWORD log_file_open(const struct settings *settings) {
    InitializeCriticalSection(&lock);
    has_lock = true;
    where = settings;
    DWORD error = open_file();
    rotate_at = (ULONGLONG)settings->log_kb * 1024;
    return error;
}

void log_file_line(const char *line, size_t length) {
    if (!has_lock) return;
    EnterCriticalSection(&lock);
    if (size + length + 1 > rotate_at && size > 0 && file != INVALID_HANDLE_VALUE) rotate();
    if (lost > 0) {
        char report[96];
        int count = snprintf(report, sizeof report, 
                             "{\"level\":\"warn\",\"msg\":\"%lu lines are missing here: they could not be written.\"}\n", lost);
        if (count > 0 && put(report, (size_t)count)) lost = 0;
    }
    if (lost > 0 || !put(line, length) || !put("\n", 1)) lost++;
    LeaveCriticalSection(&lock);
}

/* Appends text as the inside of a JSON string. @returns the new length. */
static size_t append_json(char *to, size_t length, size_t capacity, const char *text) {
    for (; *text != '\0' && length + 2 < capacity; text++) {
        if (*text == '"' || *text == '\\') to[length++] = '\\';
        to[length++] = (unsigned char)*text < ' ' ? ' ' : *text;
    }
    return length;
}

void log_file_say(const char *level, const WCHAR *format, ...) {
    WCHAR wide[1024];
    char utf8[3 * 1024], line[2 * sizeof utf8];
    va_list arguments;
    va_start(arguments, format);
    StringCchVPrintfW(wide, ARRAYSIZE(wide), format, arguments);
    va_end(arguments);
    text_utf8(utf8, sizeof utf8, wide);
    SYSTEMTIME now;
    GetSystemTime(&now);
    int begun = snprintf(line, sizeof line, "{\"level\":\"%s\",\"time\":\"%04u-%02u-%02uT%02u:%02u:%02u.%03uZ\",\"msg\":\"Service host: ", level,
                         now.wYear, now.wMonth, now.wDay, now.wHour, now.wMinute, now.wSecond, now.wMilliseconds);
    if (begun < 0) return;
    size_t length = append_json(line, (size_t)begun, sizeof line - 4, utf8);
    line[length++] = '"';
    line[length++] = '}';
    log_file_line(line, length);
}

void log_file_close(void) {
    if (file != INVALID_HANDLE_VALUE) CloseHandle(file);
    file = INVALID_HANDLE_VALUE;
}
