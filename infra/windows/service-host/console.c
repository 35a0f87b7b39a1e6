#include "console.h"

#include <stdarg.h>
#include <strsafe.h>

#include "text.h"

void console_say(bool is_error, const WCHAR *format, ...) {
    WCHAR wide[4096];
    char utf8[3 * 4096];
    DWORD written;
    va_list arguments;
    va_start(arguments, format);
    StringCchVPrintfW(wide, ARRAYSIZE(wide), format, arguments);
    va_end(arguments);
    text_utf8(utf8, sizeof utf8, wide);
    WriteFile(GetStdHandle(is_error ? STD_ERROR_HANDLE : STD_OUTPUT_HANDLE), utf8, (DWORD)strlen(utf8), &written, NULL);
}

void console_format(WCHAR *text, size_t capacity, const WCHAR *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    StringCchVPrintfW(text, capacity, format, arguments);
    va_end(arguments);
}

#define WIDE_AGAIN(text) L##text
#define WIDE(text) WIDE_AGAIN(text)

const WCHAR *console_version(void) {
    return WIDE(HOST_VERSION);
}
