#include "supervisor.h"

#include <strsafe.h>

#include "child.h"
#include "event-log.h"
#include "log-file.h"
#include "state-file.h"
#include "text.h"

#define LOOK_MS 1000

static const struct settings *settings;
static struct state state;

static void set_state(const char *active, const char *sub) {
    state.active = active;
    state.sub = sub;
    state_file_write(settings, &state);
}

/* Runs in the thread that reads the output. */
static void use_output(void *context, const char *line, size_t length) {
    static struct rate rate;
    (void)context;
    log_file_line(line, length);
    if (!policy_is_error_line(line)) return;
    char shown[4096];
    WCHAR text[4096];
    struct number count;
    uint32_t released;
    if (!policy_rate_allows(&rate, GetTickCount64(), &released)) return;
    if (released > 0) event_log_report(EVENT_ERRORS_SUPPRESSED, number(&count, released), settings->log, NULL);
    policy_event_text(shown, sizeof shown, line);
    text_wide(text, ARRAYSIZE(text), shown);
    event_log_report(EVENT_BRIDGE_ERROR, text, NULL);
}

/* Why a run of the bridge ended. */
enum outcome { ENDED, HUNG, STOP_TOO_LONG, NOT_STARTED };

/* How one run of the bridge goes. */
struct run {
    DWORD pid;
    DWORD code;
    DWORD error; /* NOT_STARTED only, with what failed */
    const WCHAR *failed;
    enum outcome outcome;
    bool is_ready;
    DWORD silent_ms; /* since READY=1 or the last WATCHDOG=1; until READY=1, since the start */
};

static void use_notification(void *context, const char *line, size_t length) {
    struct run *run = context;
    const char *value;
    (void)length;
    switch (policy_notification(line, &value)) {
    case NOTIFICATION_READY:
        if (run->is_ready) return;
        run->is_ready = true;
        run->silent_ms = 0;
        state_active_now(&state);
        set_state("active", "running");
        return;
    case NOTIFICATION_WATCHDOG: run->silent_ms = 0; return;
    case NOTIFICATION_STATUS:
        state_set_status(&state, value);
        state_file_write(settings, &state);
        return;
    case NOTIFICATION_STOPPING: set_state("deactivating", "stop-sigterm"); return;
    case NOTIFICATION_OTHER: return;
    }
}

/* assumption: windows-service-host-pause */
/* Milliseconds that the machine was not asleep. */
static ULONGLONG awake_ms(void) {
    ULONGLONG units = 0;
    QueryUnbiasedInterruptTime(&units);
    return units / 10000;
}

/* Waits a moment for the end of the bridge, and takes its notifications. @returns whether it has ended. `stop` may be null. */
static bool look(struct child *child, struct run *run, HANDLE stop) {
    HANDLE awaited[] = {child->process, child->notify.overlapped.hEvent, stop};
    ULONGLONG before = awake_ms();
    DWORD answer = WaitForMultipleObjects(stop == NULL ? 2 : 3, awaited, FALSE, LOOK_MS);
    run->silent_ms += policy_watched_ms(awake_ms() - before);
    if (answer == WAIT_OBJECT_0 + 1) notify_pipe_take(&child->notify, child->pid, use_notification, run);
    return answer == WAIT_OBJECT_0;
}

/* Seconds without a sign of progress after which the bridge counts as hung. */
static DWORD silence_limit_s(const struct run *run) {
    return run->is_ready ? settings->watchdog_s : settings->start_s;
}

static bool is_set(HANDLE event) {
    return WaitForSingleObject(event, 0) == WAIT_OBJECT_0;
}

/* assumption: windows-service-host-stop */
/* Asks the bridge to stop, and ends it if it takes too long. */
static void stop_child(struct child *child, struct run *run, void (*stopping)(DWORD left_s)) {
    set_state("deactivating", "stop-sigterm");
    child_ask_to_stop(child);
    ULONGLONG limit_ms = (ULONGLONG)settings->stop_s * 1000, began = awake_ms(), took;
    while ((took = awake_ms() - began) < limit_ms) {
        stopping(settings->stop_s - (DWORD)(took / 1000));
        if (look(child, run, NULL)) return;
    }
    struct number pid, seconds;
    event_log_report(EVENT_STOP_TOO_LONG, number(&pid, child->pid), number(&seconds, settings->stop_s), NULL);
    log_file_say("warn", L"the bridge did not stop within %lu s and is ended.", settings->stop_s);
    run->outcome = STOP_TOO_LONG;
    child_kill(child);
}

/* Watches the bridge until it has ended, for whatever reason. */
static void watch(struct child *child, struct run *run, HANDLE stop, void (*stopping)(DWORD left_s)) {
    while (!look(child, run, stop)) {
        if (is_set(stop)) {
            stop_child(child, run, stopping);
            return;
        }
        if (run->silent_ms >= silence_limit_s(run) * 1000) {
            run->outcome = HUNG;
            child_kill(child);
            return;
        }
    }
}

/* Starts the bridge once, and returns when it has ended. */
static struct run run_once(HANDLE stop, void (*stopping)(DWORD left_s)) {
    struct run run = {0};
    struct child child;
    struct number pid;
    state_new_invocation(&state);
    state.result = "success";
    state.active_since[0] = '\0';
    state.status[0] = '\0';
    set_state("activating", "start");
    run.error = child_start(&child, settings, use_output, &run.failed);
    if (run.error != ERROR_SUCCESS) {
        run.outcome = NOT_STARTED;
        return run;
    }
    run.pid = state.child_pid = child.pid;
    event_log_report(EVENT_BRIDGE_STARTED, number(&pid, run.pid), NULL);
    log_file_say("info", L"the bridge started as process %lu.", run.pid);
    set_state("activating", "start");
    watch(&child, &run, stop, stopping);
    run.code = child_close(&child);
    return run;
}

/* Says why the bridge is started again, and when. */
static void report_restart(const struct run *run, DWORD pause_s) {
    struct number pid, code, limit, pause;
    number(&pid, run->pid);
    number(&pause, pause_s);
    if (run->outcome == NOT_STARTED) {
        WCHAR meaning[512], why[LONGEST_PATH + 512];
        text_of_error(meaning, ARRAYSIZE(meaning), run->error);
        StringCchPrintfW(why, ARRAYSIZE(why), L"%ls: %ls", run->failed, meaning);
        event_log_report(EVENT_BRIDGE_NOT_STARTED, why, pause.text, NULL);
        log_file_say("error", L"the bridge cannot be started: %ls. It is tried again in %lu s.", why, pause_s);
    } else if (run->outcome == HUNG) {
        DWORD limit_s = silence_limit_s(run);
        event_log_report(EVENT_BRIDGE_HUNG, pid.text, number(&limit, limit_s), pause.text, settings->log, NULL);
        log_file_say("warn", L"the bridge reported no progress for %lu s and was ended. It is started again in %lu s.", limit_s, pause_s);
    } else {
        event_log_report(EVENT_BRIDGE_ENDED, pid.text, number(&code, run->code), pause.text, settings->log, NULL);
        log_file_say("warn", L"the bridge ended with exit code %lu. It is started again in %lu s.", run->code, pause_s);
    }
}

/* How `systemctl show` names it. */
static const char *result_of(const struct run *run) {
    switch (run->outcome) {
    case HUNG: return "watchdog";
    case STOP_TOO_LONG: return "timeout";
    case NOT_STARTED: return "resources";
    default: return run->code == 0 ? "success" : "exit-code";
    }
}

static void stopped(bool is_failure) {
    set_state(is_failure ? "failed" : "inactive", is_failure ? "failed" : "dead");
}

DWORD supervise(const struct settings *given, HANDLE stop, void (*stopping)(DWORD left_s)) {
    uint32_t ends = 0;
    settings = given;
    state = (struct state){.host_pid = GetCurrentProcessId()};
    child_prepare_environment(settings);
    for (;; state.restarts++) {
        ULONGLONG began = awake_ms();
        struct run run = run_once(stop, stopping);
        state.child_pid = 0;
        state.exit_status = run.code;
        state.result = result_of(&run);
        if (is_set(stop)) {
            stopped(run.code != 0);
            log_file_say("info", L"the service stopped as requested; the bridge ended with exit code %lu.", run.code);
            return 0;
        }
        if (run.outcome == ENDED && policy_is_final(run.code)) {
            struct number code;
            stopped(true);
            event_log_report(EVENT_BRIDGE_FINAL, number(&code, run.code), settings->log, NULL);
            log_file_say("error", L"the bridge ended with exit code %lu, after which another start would not help. The service stops.", run.code);
            return run.code;
        }
        ends = policy_ends_in_a_row(&settings->restart, ends, awake_ms() - began);
        DWORD pause_s = policy_restart_pause(&settings->restart, ends);
        report_restart(&run, pause_s);
        set_state("activating", "auto-restart");
        if (WaitForSingleObject(stop, pause_s * 1000) == WAIT_OBJECT_0) {
            stopped(false);
            return 0;
        }
    }
}
