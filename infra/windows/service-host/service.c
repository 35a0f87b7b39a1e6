#include "service.h"

#include "console.h"
#include "event-log.h"
#include "log-file.h"
#include "supervisor.h"
#include "text.h"

static SERVICE_STATUS_HANDLE handle;
static HANDLE stop;
static struct settings settings;

/* While it starts and stops, a counter shows that it progresses. */
static void report(DWORD current, DWORD code, DWORD hint_ms) {
    static DWORD checkpoint;
    bool is_pending = current == SERVICE_START_PENDING || current == SERVICE_STOP_PENDING;
    SERVICE_STATUS status = {
        .dwServiceType = SERVICE_WIN32_OWN_PROCESS,
        .dwCurrentState = current,
        .dwControlsAccepted = current == SERVICE_RUNNING ? SERVICE_ACCEPT_STOP | SERVICE_ACCEPT_PRESHUTDOWN : 0,
        .dwWin32ExitCode = code == 0 ? NO_ERROR : ERROR_SERVICE_SPECIFIC_ERROR,
        .dwServiceSpecificExitCode = code,
        .dwCheckPoint = is_pending ? ++checkpoint : 0,
        .dwWaitHint = hint_ms,
    };
    SetServiceStatus(handle, &status);
}

/* assumption: windows-service-host-failure-actions, windows-service-host-preshutdown */
/* The thread of the service reports the progress; this one only wakes it. */
static DWORD WINAPI control(DWORD code, DWORD type, void *data, void *context) {
    (void)type, (void)data, (void)context;
    switch (code) {
    case SERVICE_CONTROL_STOP:
    case SERVICE_CONTROL_PRESHUTDOWN: SetEvent(stop); return NO_ERROR;
    case SERVICE_CONTROL_INTERROGATE: return NO_ERROR;
    default: return ERROR_CALL_NOT_IMPLEMENTED;
    }
}

static void stopping(DWORD left_s) {
    report(SERVICE_STOP_PENDING, 0, (left_s + 5) * 1000);
}

/* Opens what both ways of running need. @returns null, or why not. */
static const WCHAR *prepare(const WCHAR *service) {
    static WCHAR why[LONGEST_PATH + 512];
    /* No dialog box waits for somebody in a session that nobody sees. The bridge inherits it. */
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
    stop = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (stop == NULL) return L"Windows has no more memory for an event";
    const WCHAR *problem = settings_read(&settings, service);
    if (problem != NULL) return problem;
    /* The installer makes them with their access rights; a zip that was unpacked by an administrator has none yet. */
    CreateDirectoryW(settings.data, NULL);
    CreateDirectoryW(settings.logs, NULL);
    DWORD error = log_file_open(&settings);
    if (error != ERROR_SUCCESS) {
        WCHAR meaning[512];
        text_of_error(meaning, ARRAYSIZE(meaning), error);
        console_format(why, ARRAYSIZE(why), L"%ls cannot be written: %ls", settings.log, meaning);
        return why;
    }
    return NULL;
}

static void WINAPI service_main(DWORD count, LPWSTR *arguments) {
    const WCHAR *name = count > 0 ? arguments[0] : SERVICE;
    handle = RegisterServiceCtrlHandlerExW(name, control, NULL);
    if (handle == NULL) return;
    report(SERVICE_START_PENDING, 0, 10000);
    event_log_open();
    const WCHAR *problem = prepare(name);
    if (problem != NULL) {
        event_log_report(EVENT_HOST_FAILED, problem, NULL);
        report(SERVICE_STOPPED, 1, 0);
        return;
    }
    event_log_report(EVENT_HOST_STARTED, console_version(), NULL);
    report(SERVICE_RUNNING, 0, 0);
    DWORD code = supervise(&settings, stop, stopping);
    if (code == 0) event_log_report(EVENT_HOST_STOPPED, NULL);
    log_file_close();
    report(SERVICE_STOPPED, code, 0);
}

bool service_run(void) {
    SERVICE_TABLE_ENTRYW services[] = {{(LPWSTR)SERVICE, service_main}, {NULL, NULL}};
    return StartServiceCtrlDispatcherW(services);
}

static BOOL WINAPI console_control(DWORD type) {
    SetEvent(stop);
    /* When the console is closed, Windows ends the process as soon as this returns, else after five seconds. */
    if (type != CTRL_C_EVENT && type != CTRL_BREAK_EVENT) Sleep(INFINITE);
    return TRUE;
}

static void stopping_in_console(DWORD left_s) {
    (void)left_s;
}

int service_run_in_console(void) {
    const WCHAR *problem = prepare(SERVICE);
    if (problem != NULL) {
        console_say(true, L"The bridge cannot run: %ls.\n", problem);
        return 1;
    }
    SetConsoleCtrlHandler(console_control, TRUE);
    console_say(false, L"Running the bridge; its log is %ls, its state %ls. Ctrl+C stops it.\n", settings.log, settings.state);
    DWORD code = supervise(&settings, stop, stopping_in_console);
    log_file_close();
    if (code == 0) console_say(false, L"Stopped.\n");
    else console_say(true, L"The bridge ended with exit code %lu; see the last lines of %ls.\n", code, settings.log);
    return (int)code;
}
