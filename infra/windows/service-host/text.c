#include "text.h"

#include <strsafe.h>

void text_wide(WCHAR *wide, size_t capacity, const char *utf8) {
    size_t length = strlen(utf8);
    /* A character of UTF-8 is never longer in UTF-16. */
    if (length >= capacity) length = capacity - 1;
    int written = length == 0 ? 0 : MultiByteToWideChar(CP_UTF8, 0, utf8, (int)length, wide, (int)capacity - 1);
    wide[written] = L'\0';
}

void text_utf8(char *utf8, size_t capacity, const WCHAR *wide) {
    size_t length = wcslen(wide);
    /* A code unit of UTF-16 becomes at most three bytes. */
    if (length > (capacity - 1) / 3) length = (capacity - 1) / 3;
    int written = length == 0 ? 0 : WideCharToMultiByte(CP_UTF8, 0, wide, (int)length, utf8, (int)capacity - 1, NULL, NULL);
    utf8[written] = '\0';
}

void text_of_error(WCHAR *text, size_t capacity, DWORD error) {
    WCHAR meaning[512];
    DWORD flags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK;
    DWORD length = FormatMessageW(flags, NULL, error, 0, meaning, ARRAYSIZE(meaning), NULL);
    while (length > 0 && (meaning[length - 1] == L' ' || meaning[length - 1] == L'.')) length--;
    meaning[length] = L'\0';
    StringCchPrintfW(text, capacity, L"%ls (error %lu)", meaning, error);
}
