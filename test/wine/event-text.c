/* Prints the texts of events as the event viewer does: event-text.exe PROGRAM ID… Inserts are `text 1` and so on. */
#include <stdio.h>
#include <wchar.h>
#include <windows.h>

int wmain(int count, WCHAR **arguments) {
    static const WCHAR *inserts[] = {L"text 1", L"text 2", L"text 3", L"text 4"};
    HMODULE program = count > 1 ? LoadLibraryExW(arguments[1], NULL, LOAD_LIBRARY_AS_DATAFILE | LOAD_LIBRARY_AS_IMAGE_RESOURCE) : NULL;
    if (program == NULL) return 1;
    for (int at = 2; at < count; at++) {
        WCHAR text[2048];
        DWORD flags = FORMAT_MESSAGE_FROM_HMODULE | FORMAT_MESSAGE_ARGUMENT_ARRAY;
        DWORD length = FormatMessageW(flags, program, wcstoul(arguments[at], NULL, 10), 0, text, 2048, (va_list *)inserts);
        if (length == 0) return 2;
        wprintf(L"%ls", text);
    }
    return 0;
}
