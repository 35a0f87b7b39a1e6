#include "notify-pipe.h"

#include <sddl.h>
#include <strsafe.h>

/*
 * Only the system, administrators and the account of this process may open the pipe. By default every user may read: another process could
 * then take the only instance, and the bridge would seem to hang.
 * https://learn.microsoft.com/windows/win32/ipc/named-pipe-security-and-access-rights
 * @returns a descriptor for LocalFree; null, with the last error, if it cannot be made.
 */
static PSECURITY_DESCRIPTOR own_descriptor(void) {
    union {
        TOKEN_USER user;
        BYTE bytes[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } owner;
    PSECURITY_DESCRIPTOR descriptor = NULL;
    WCHAR rights[256];
    LPWSTR sid = NULL;
    HANDLE token;
    DWORD length;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) return NULL;
    if (GetTokenInformation(token, TokenUser, &owner, sizeof owner, &length) && ConvertSidToStringSidW(owner.user.User.Sid, &sid)) {
        StringCchPrintfW(rights, ARRAYSIZE(rights), L"D:P(A;;GA;;;SY)(A;;GA;;;BA)(A;;GA;;;%ls)", sid);
        ConvertStringSecurityDescriptorToSecurityDescriptorW(rights, SDDL_REVISION_1, &descriptor, NULL);
        LocalFree(sid);
    }
    CloseHandle(token);
    return descriptor;
}

/* Waits for a client. The event is set once there is one. */
static void listen_again(struct notify_pipe *notify) {
    notify->is_connected = false;
    notify->lines.length = 0;
    ResetEvent(notify->overlapped.hEvent);
    if (!ConnectNamedPipe(notify->pipe, &notify->overlapped) && GetLastError() != ERROR_IO_PENDING) {
        /* Already connected, or gone already: both are seen by reading. */
        SetEvent(notify->overlapped.hEvent);
    }
}

/* assumption: windows-service-host-account, windows-service-host-stop */
DWORD notify_pipe_open(struct notify_pipe *notify) {
    static DWORD opened;
    ZeroMemory(notify, sizeof *notify);
    SECURITY_ATTRIBUTES security = {.nLength = sizeof security, .lpSecurityDescriptor = own_descriptor()};
    if (security.lpSecurityDescriptor == NULL) return GetLastError();
    StringCchPrintfW(notify->name, ARRAYSIZE(notify->name), L"\\\\.\\pipe\\scheduled-events-bridge-notify-%lu-%lu-%llu",
                     GetCurrentProcessId(), ++opened, GetTickCount64());
    notify->pipe = CreateNamedPipeW(notify->name, PIPE_ACCESS_INBOUND | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
                                    PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS, 1, 0,
                                    sizeof notify->bytes, 0, &security);
    DWORD failure = GetLastError();
    LocalFree(security.lpSecurityDescriptor);
    if (notify->pipe == INVALID_HANDLE_VALUE) return failure;
    notify->overlapped.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (notify->overlapped.hEvent == NULL) {
        DWORD error = GetLastError();
        CloseHandle(notify->pipe);
        return error;
    }
    listen_again(notify);
    return ERROR_SUCCESS;
}

static bool is_from(const struct notify_pipe *notify, DWORD client) {
    ULONG found = 0;
    return GetNamedPipeClientProcessId(notify->pipe, &found) && found == client;
}

/* Begins to read. @returns false if there is nothing more from this client. */
static bool read_more(struct notify_pipe *notify) {
    ResetEvent(notify->overlapped.hEvent);
    /* What arrives at once sets the event as well. */
    return ReadFile(notify->pipe, notify->bytes, sizeof notify->bytes, NULL, &notify->overlapped) ||
           GetLastError() == ERROR_IO_PENDING;
}

void notify_pipe_take(struct notify_pipe *notify, DWORD client, line_handler *handle, void *context) {
    DWORD count = 0;
    bool is_open;
    if (!notify->is_connected) {
        notify->is_connected = true;
        is_open = is_from(notify, client) && read_more(notify);
    } else if (GetOverlappedResult(notify->pipe, &notify->overlapped, &count, FALSE)) {
        lines_take(&notify->lines, notify->bytes, count, handle, context);
        is_open = read_more(notify);
    } else {
        is_open = GetLastError() == ERROR_IO_INCOMPLETE;
    }
    if (is_open) return;
    DisconnectNamedPipe(notify->pipe);
    listen_again(notify);
}

void notify_pipe_close(struct notify_pipe *notify) {
    /* The system may write into `overlapped` until this has ended. */
    DWORD count;
    if (CancelIo(notify->pipe)) GetOverlappedResult(notify->pipe, &notify->overlapped, &count, TRUE);
    CloseHandle(notify->pipe);
    CloseHandle(notify->overlapped.hEvent);
}
