#include "child.h"

#include <strsafe.h>

/* They could run other code in a process of the service, or switch off its checks. */
static const WCHAR *const unset[] = {L"NODE_OPTIONS", L"NODE_PATH", L"NODE_TLS_REJECT_UNAUTHORIZED", L"NODE_REPL_EXTERNAL_MODULE", L"WATCHDOG_PID"};

void child_prepare_environment(const struct settings *settings) {
    WCHAR watchdog_us[24];
    for (size_t at = 0; at < ARRAYSIZE(unset); at++) SetEnvironmentVariableW(unset[at], NULL);
    StringCchPrintfW(watchdog_us, ARRAYSIZE(watchdog_us), L"%llu", (ULONGLONG)settings->watchdog_s * 1000000);
    SetEnvironmentVariableW(L"WATCHDOG_USEC", watchdog_us);
    SetEnvironmentVariableW(L"NODE_COMPILE_CACHE", settings->cache);
    SetEnvironmentVariableW(L"SCHEDULED_EVENTS_BRIDGE_STOP_ON_STDIN_END", L"1");
}

/* assumption: windows-service-host-failure-actions, windows-service-host-memory */
/* A job that ends with its last handle, which is ours. */
static HANDLE make_job(DWORD memory_mb) {
    HANDLE job = CreateJobObjectW(NULL, NULL);
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    limits.BasicLimitInformation.LimitFlags =
        JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_JOB_MEMORY | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
    limits.JobMemoryLimit = (SIZE_T)memory_mb * 1024 * 1024;
    if (job != NULL && !SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits)) {
        DWORD error = GetLastError();
        CloseHandle(job);
        SetLastError(error);
        return NULL;
    }
    return job;
}

static void close(HANDLE *handle) {
    if (*handle != NULL) CloseHandle(*handle);
    *handle = NULL;
}

/* A pipe of which the bridge inherits one end. */
static bool make_pipe(HANDLE *theirs, HANDLE *ours, bool they_read) {
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    HANDLE *reading = they_read ? theirs : ours, *writing = they_read ? ours : theirs;
    return CreatePipe(reading, writing, &inherited, 0) && SetHandleInformation(*ours, HANDLE_FLAG_INHERIT, 0);
}

/* What the thread that reads the output needs; it frees it. */
struct reading {
    HANDLE output;
    line_handler *use;
    struct lines lines;
};

static DWORD WINAPI read_output(void *given) {
    struct reading *reading = given;
    char bytes[8192];
    DWORD count;
    while (ReadFile(reading->output, bytes, sizeof bytes, &count, NULL) && count > 0)
        lines_take(&reading->lines, bytes, count, reading->use, NULL);
    lines_end(&reading->lines, reading->use, NULL);
    HeapFree(GetProcessHeap(), 0, reading);
    return 0;
}

static bool start_reading(struct child *child, line_handler *use) {
    struct reading *reading = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, sizeof *reading);
    if (reading == NULL) return false;
    reading->output = child->output;
    reading->use = use;
    child->output_reader = CreateThread(NULL, 0, read_output, reading, 0, NULL);
    if (child->output_reader == NULL) HeapFree(GetProcessHeap(), 0, reading);
    return child->output_reader != NULL;
}

/* Not running yet, so that nothing that it starts is outside the job. Only the two handles given here are inherited. */
static bool start_process(struct child *child, const struct settings *settings, HANDLE input, HANDLE output, HANDLE *thread) {
    WCHAR line[4 * LONGEST_PATH];
    HANDLE inherited[] = {input, output};
    SIZE_T size = 0;
    bool is_started = false;
    if (FAILED(StringCchPrintfW(line, ARRAYSIZE(line), L"\"%ls\" --max-semi-space-size=1 \"%ls\" run --config \"%ls\"",
                                settings->node, settings->script, settings->config))) {
        SetLastError(ERROR_FILENAME_EXCED_RANGE);
        return false;
    }
    InitializeProcThreadAttributeList(NULL, 1, 0, &size);
    LPPROC_THREAD_ATTRIBUTE_LIST attributes = HeapAlloc(GetProcessHeap(), 0, size);
    if (attributes == NULL) {
        SetLastError(ERROR_OUTOFMEMORY);
        return false;
    }
    if (InitializeProcThreadAttributeList(attributes, 1, 0, &size)) {
        STARTUPINFOEXW start = {.StartupInfo = {.cb = sizeof start,
                                                .dwFlags = STARTF_USESTDHANDLES,
                                                .hStdInput = input,
                                                .hStdOutput = output,
                                                .hStdError = output},
                                .lpAttributeList = attributes};
        PROCESS_INFORMATION made;
        is_started = UpdateProcThreadAttribute(attributes, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, inherited, sizeof inherited, NULL, NULL) &&
                     CreateProcessW(settings->node, line, NULL, NULL, TRUE,
                                    CREATE_SUSPENDED | CREATE_NO_WINDOW | EXTENDED_STARTUPINFO_PRESENT, NULL, settings->data,
                                    &start.StartupInfo, &made);
        if (is_started) {
            child->process = made.hProcess;
            child->pid = made.dwProcessId;
            *thread = made.hThread;
        }
        DWORD error = GetLastError();
        DeleteProcThreadAttributeList(attributes);
        SetLastError(error);
    }
    HeapFree(GetProcessHeap(), 0, attributes);
    return is_started;
}

DWORD child_start(struct child *child, const struct settings *settings, line_handler *use_output, const WCHAR **what) {
    HANDLE their_input = NULL, their_output = NULL, thread = NULL;
    ZeroMemory(child, sizeof *child);
    *what = L"the notification pipe cannot be made";
    DWORD error = notify_pipe_open(&child->notify);
    if (error != ERROR_SUCCESS) return error;
    SetEnvironmentVariableW(L"NOTIFY_SOCKET", child->notify.name);

    *what = L"the job cannot be made";
    bool is_started = (child->job = make_job(settings->memory_mb)) != NULL;
    if (is_started) {
        *what = L"its pipes cannot be made";
        is_started = make_pipe(&their_input, &child->input, true) && make_pipe(&their_output, &child->output, false);
    }
    if (is_started) {
        *what = settings->node;
        is_started = start_process(child, settings, their_input, their_output, &thread);
    }
    if (is_started) {
        *what = L"it cannot be put into its job";
        is_started = AssignProcessToJobObject(child->job, child->process);
        if (!is_started) TerminateProcess(child->process, ERROR_PROCESS_ABORTED);
    }
    if (is_started) {
        *what = L"its output cannot be read";
        is_started = start_reading(child, use_output) && ResumeThread(thread) != (DWORD)-1;
    }
    error = is_started ? ERROR_SUCCESS : GetLastError();
    close(&thread);
    close(&their_input);
    close(&their_output);
    if (!is_started) child_close(child);
    return error;
}

void child_ask_to_stop(struct child *child) {
    close(&child->input);
}

void child_kill(struct child *child) {
    TerminateJobObject(child->job, ERROR_PROCESS_ABORTED);
}

DWORD child_close(struct child *child) {
    DWORD code = 0;
    if (child->job != NULL) child_kill(child);
    if (child->process != NULL) {
        WaitForSingleObject(child->process, INFINITE);
        GetExitCodeProcess(child->process, &code);
    }
    /* All that could write into the pipe has ended: the reader finds its end. */
    if (child->output_reader != NULL) WaitForSingleObject(child->output_reader, INFINITE);
    notify_pipe_close(&child->notify);
    close(&child->input);
    close(&child->output);
    close(&child->output_reader);
    close(&child->process);
    close(&child->job);
    return code;
}
