import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Folds records by the rules for consumers in infra/record.md. The result depends on which were added, not on their order, nor on copies. */
final class Fleet {
    static final ObjectMapper JSON = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES);
    private static final Pattern RECORD_TYPE = Pattern.compile("com\\.scheduledeventsbridge\\.scheduledevent\\.[a-z]+\\.v1");
    private static final Set<String> LISTINGS = Set.of("Scheduled", "Updated", "Started");
    private static final Set<String> ENDS = Set.of("Completed", "Canceled", "Ended");

    /** A VM. Its name alone is not enough: two resource groups may have a VM of the same name. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record Vm(String name, String subscriptionId, String resourceGroup) {
        String key() {
            return (subscriptionId + "/" + resourceGroup + "/" + name).toLowerCase();
        }
    }

    /** The fields of a record that a subscriber needs. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record Report(
        String recordId, String streamId, String eventId, String eventType, String notBefore, String phase, List<String> evidence,
        int sequence, String observedAt, Integer clockOffsetSeconds, List<String> affectedResources, int affectedResourceCount,
        boolean observerAffected, String vmId, String vmName, String subscriptionId, String resourceGroup, boolean isTest,
        List<String> eventsInSight) {

        /** When it was observed, by Azure's clock. An offset below two seconds is noise. */
        Instant at() {
            int offset = clockOffsetSeconds == null ? 0 : clockOffsetSeconds;
            return Instant.parse(observedAt).plusSeconds(Math.abs(offset) < 2 ? 0 : offset);
        }

        String event() {
            return eventId.toLowerCase();
        }

        Vm vm(String name) {
            return new Vm(name, subscriptionId == null ? "" : subscriptionId, resourceGroup == null ? "" : resourceGroup);
        }

        /** An event that is listed again had not ended. In one stream, its own numbers decide: a clock may be set back. */
        boolean revokes(Report end) {
            return evidence.contains("reappeared")
                && (end.at().isBefore(at()) || end.streamId.equals(streamId) && end.sequence < sequence);
        }
    }

    /**
     * The record in a message; empty: the message is another one.
     *
     * @throws IOException if it claims to be a record and is not.
     */
    static Optional<Report> parse(Map<String, Object> properties, byte[] body) throws IOException {
        Object kind = properties.getOrDefault("cloudEvents:type", properties.get("cloudEvents_type"));
        if (kind != null && !RECORD_TYPE.matcher(kind.toString()).matches()) return Optional.empty();
        JsonNode data;
        try {
            data = JSON.readTree(body);
        } catch (JacksonException error) {
            if (kind == null) return Optional.empty();
            throw error;
        }
        // Some forwarders lose the properties: then the body decides.
        if (kind == null && !(data.has("recordId") && data.has("schemaVersion"))) return Optional.empty();
        if (!data.path("schemaVersion").asText().startsWith("1.")) return Optional.empty();
        for (String field : List.of("recordId", "streamId", "eventId", "phase", "evidence", "sequence", "observedAt", "affectedResources", "vmId", "vmName"))
            if (!data.hasNonNull(field)) throw new IOException("invalid record: no " + field);
        try {
            Report report = JSON.treeToValue(data, Report.class);
            report.at();
            return Optional.of(report);
        } catch (java.time.DateTimeException error) {
            throw new IOException("invalid record: " + error.getMessage(), error);
        }
    }

    /** By event id, then by stream and record id. */
    private final Map<String, Map<String, Report>> records = new HashMap<>();
    /** By VM id, then by stream. */
    private final Map<String, Map<String, Report>> snapshots = new HashMap<>();
    /** Event ids by VM id. */
    private final Map<String, Set<String>> reportedBy = new HashMap<>();
    /** Time of the last record, by event id. */
    private final Map<String, Instant> forgotten = new HashMap<>();

    /** @return the ids of the events whose state may have changed. */
    Set<String> add(Report report) {
        String vmId = report.vmId.toLowerCase();
        String event = report.event();
        String phase = report.phase;
        if (report.isTest) return Set.of();
        if (phase.equals("Snapshot")) {
            snapshots.computeIfAbsent(vmId, id -> new HashMap<>()).put(report.streamId, report);
            return Set.copyOf(reportedBy.getOrDefault(vmId, Set.of()));
        }
        if (!LISTINGS.contains(phase) && !ENDS.contains(phase) && !phase.equals("Approved")) return Set.of();
        if (!report.at().isAfter(forgotten.getOrDefault(event, Instant.MIN))) return Set.of();
        String id = report.streamId + " " + report.recordId;
        if (records.computeIfAbsent(event, key -> new HashMap<>()).putIfAbsent(id, report) != null) return Set.of();
        reportedBy.computeIfAbsent(vmId, key -> new HashSet<>()).add(event);
        return Set.of(event);
    }

    Collection<String> events() {
        return List.copyOf(records.keySet());
    }

    private List<Report> sorted(String event) {
        return records.getOrDefault(event, Map.of()).values().stream()
            .sorted(Comparator.comparing(Report::at).thenComparing(Report::recordId)).toList();
    }

    /** The last record of an event; empty: the hub has none. */
    Optional<Report> latest(String event) {
        return sorted(event).stream().reduce((first, second) -> second);
    }

    /** The VMs that an event affects now, by their keys. Empty once it is over. */
    Map<String, Vm> affected(String event) {
        List<Report> reports = sorted(event);
        boolean isOver = reports.stream()
            .anyMatch(end -> ENDS.contains(end.phase) && reports.stream().noneMatch(report -> report.revokes(end)));
        if (isOver || isPresumedOver(event, reports)) return Map.of();
        Map<String, Vm> vms = new LinkedHashMap<>();
        Map<String, Instant> namedAt = new HashMap<>();
        Map<String, Instant> deniedAt = new HashMap<>();
        Instant completeAt = Instant.MIN;
        for (Report report : reports) {
            if (!LISTINGS.contains(report.phase)) continue;
            Vm own = report.vm(report.vmName);
            Stream<Vm> listed = report.affectedResources.stream().map(report::vm);
            (report.observerAffected ? Stream.concat(listed, Stream.of(own)) : listed).forEach(vm -> {
                vms.putIfAbsent(vm.key(), vm);
                namedAt.put(vm.key(), report.at());
            });
            if (!report.observerAffected) deniedAt.put(own.key(), report.at());
            if (report.affectedResourceCount == report.affectedResources.size()) completeAt = report.at();
        }
        // A later complete list, or its own later report, lacks it.
        Instant listedAt = completeAt;
        vms.keySet().removeIf(key -> namedAt.get(key).isBefore(listedAt)
            || namedAt.get(key).isBefore(deniedAt.getOrDefault(key, Instant.MIN)));
        return vms;
    }

    /** A VM that reported the event lost its state, and its Snapshot, later than every record, does not list the event. */
    private boolean isPresumedOver(String event, List<Report> reports) {
        return reports.stream().anyMatch(report -> snapshots.getOrDefault(report.vmId.toLowerCase(), Map.of()).values().stream()
            .anyMatch(snapshot -> !snapshot.streamId.equals(report.streamId)
                && snapshot.at().isAfter(reports.get(reports.size() - 1).at())
                && snapshot.eventsInSight != null
                && snapshot.eventsInSight.stream().noneMatch(event::equalsIgnoreCase)));
    }

    /** Drops the events that are over and of which every record is older, except those to keep. */
    void forget(Instant before, Predicate<String> isKept) {
        for (String event : events()) {
            Instant last = latest(event).orElseThrow().at();
            if (!last.isBefore(before) || isKept.test(event) || !affected(event).isEmpty()) continue;
            forgotten.put(event, last);
            records.remove(event);
            reportedBy.values().forEach(events -> events.remove(event));
        }
    }
}
