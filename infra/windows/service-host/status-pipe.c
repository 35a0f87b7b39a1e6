#include "status-pipe.h"

#include <aclapi.h>

#include "access.h"

/* The bridge answers within milliseconds. */
#define ANSWER_MS 2000

/*
 * Whoever serves the pipe learns who asks, and cannot act as them.
 * https://learn.microsoft.com/windows/win32/ipc/impersonating-a-named-pipe-client
 */
static HANDLE open_pipe(const WCHAR *name) {
    DWORD how = FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION;
    for (;;) {
        HANDLE pipe = CreateFileW(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, how, NULL);
        if (pipe != INVALID_HANDLE_VALUE || GetLastError() != ERROR_PIPE_BUSY || !WaitNamedPipeW(name, ANSWER_MS)) return pipe;
    }
}

/* Any user can make a pipe of this name while the service does not run, and is its owner. assumption: windows-status-pipe-owner */
static bool is_of_service(HANDLE pipe, const WCHAR *service_sid) {
    PSID owner = NULL;
    PSECURITY_DESCRIPTOR descriptor = NULL;
    DWORD error = GetSecurityInfo(pipe, SE_KERNEL_OBJECT, OWNER_SECURITY_INFORMATION, &owner, NULL, NULL, NULL, &descriptor);
    if (error != ERROR_SUCCESS) return false;
    /* Windows gives every pipe an owner. Wine gives none to a pipe with default rights. */
    bool is_safe = owner == NULL || access_trusts(owner, service_sid);
    LocalFree(descriptor);
    return is_safe;
}

/* @returns whether the operation that was begun has ended in time; `count`: how many bytes it moved. */
static bool ended(HANDLE pipe, OVERLAPPED *overlapped, BOOL is_done, DWORD *count, DWORD *error) {
    *error = is_done ? ERROR_SUCCESS : GetLastError();
    if (*error == ERROR_IO_PENDING) {
        if (WaitForSingleObject(overlapped->hEvent, ANSWER_MS) != WAIT_OBJECT_0) return false;
        *error = ERROR_SUCCESS;
    }
    if (*error == ERROR_SUCCESS && !GetOverlappedResult(pipe, overlapped, count, TRUE)) *error = GetLastError();
    return true;
}

static int converse(HANDLE pipe) {
    /* The system may write here until the process has ended. */
    static char bytes[65536];
    static OVERLAPPED overlapped;
    DWORD count, error, written;
    overlapped.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
    /* An answer has to be asked for: everybody may read from a pipe with default rights. */
    if (!ended(pipe, &overlapped, WriteFile(pipe, "\n", 1, NULL, &overlapped), &count, &error)) return STATUS_PIPE_SILENT;
    while (error == ERROR_SUCCESS) {
        ResetEvent(overlapped.hEvent);
        if (!ended(pipe, &overlapped, ReadFile(pipe, bytes, sizeof bytes, NULL, &overlapped), &count, &error)) return STATUS_PIPE_SILENT;
        if (error == ERROR_SUCCESS) WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), bytes, count, &written, NULL);
    }
    return error == ERROR_BROKEN_PIPE || error == ERROR_PIPE_NOT_CONNECTED ? STATUS_PIPE_ANSWERED : STATUS_PIPE_NOBODY;
}

int status_pipe_ask(const WCHAR *name, const WCHAR *service_sid) {
    HANDLE pipe = open_pipe(name);
    if (pipe == INVALID_HANDLE_VALUE) {
        switch (GetLastError()) {
            case ERROR_ACCESS_DENIED:
                return STATUS_PIPE_DENIED;
            case ERROR_SEM_TIMEOUT:
                return STATUS_PIPE_SILENT;
        }
        return STATUS_PIPE_NOBODY;
    }
    return is_of_service(pipe, service_sid) ? converse(pipe) : STATUS_PIPE_FOREIGN;
}
