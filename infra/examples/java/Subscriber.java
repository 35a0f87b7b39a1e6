import com.azure.identity.DefaultAzureCredentialBuilder;
import com.azure.messaging.eventhubs.EventData;
import com.azure.messaging.eventhubs.EventHubClientBuilder;
import com.azure.messaging.eventhubs.EventHubConsumerClient;
import com.azure.messaging.eventhubs.EventHubConsumerAsyncClient;
import com.azure.messaging.eventhubs.models.EventPosition;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.core.type.TypeReference;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import reactor.util.retry.Retry;

/**
 * Moves work off a VM when Azure announces an event that affects it, and back when the last such event is over.
 *
 * It reads everything that the hub holds before it acts, and then does what STATE_FILE does not list as done. An action is repeated only
 * if it failed, or if the process died before saving its outcome.
 */
public final class Subscriber {
    /** Your part. Both must be idempotent. */
    private static void drain(Fleet.Vm vm, Fleet.Report report) {
        String notBefore = report.notBefore() == null ? "an unknown time" : report.notBefore();
        System.out.printf("drain %s: %s, not before %s%n", vm.name(), report.eventType(), notBefore);
    }

    private static void restore(Fleet.Vm vm, Fleet.Report report) {
        String evidence = String.join(" ", report.evidence());
        System.out.printf("restore %s: %s %s, %s%n", vm.name(), report.eventType(), report.phase(), evidence);
    }

    public static void main(String[] args) throws Exception {
        Subscriber subscriber = new Subscriber(Path.of(setting("STATE_FILE", "subscriber-state.json")));
        EventHubClientBuilder builder = clientBuilder();
        CountDownLatch stopped = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(stopped::countDown));
        // The partitions of which history has not been read to this number.
        Map<String, Long> unread = new HashMap<>();
        List<String> partitions;
        try (EventHubConsumerClient client = builder.buildConsumerClient()) {
            partitions = client.getPartitionIds().stream().toList();
            for (String id : partitions) {
                var properties = client.getPartitionProperties(id);
                if (!properties.isEmpty()) unread.put(id, properties.getLastEnqueuedSequenceNumber());
            }
        }
        if (unread.isEmpty()) subscriber.onHistoryRead();
        EventHubConsumerAsyncClient client = builder.buildAsyncConsumerClient();
        for (String id : partitions)
            client.receiveFromPartition(id, EventPosition.earliest())
                .doOnError(error -> System.err.printf("partition %s: %s%n", id, error))
                .retryWhen(Retry.backoff(Long.MAX_VALUE, Duration.ofSeconds(1)).maxBackoff(Duration.ofSeconds(30)))
                .subscribe(event -> {
                    subscriber.onEvent(id, event.getData());
                    synchronized (unread) {
                        if (event.getData().getSequenceNumber() < unread.getOrDefault(id, Long.MAX_VALUE)) return;
                        unread.remove(id);
                        if (unread.isEmpty()) subscriber.onHistoryRead();
                    }
                });
        stopped.await();
        client.close();
    }

    private static EventHubClientBuilder clientBuilder() {
        EventHubClientBuilder builder = new EventHubClientBuilder()
            .consumerGroup(setting("CONSUMER_GROUP", "$Default")); // one subscriber for each
        String hub = setting("EVENT_HUB_NAME", "vm-lifecycle");
        String connection = setting("EVENT_HUBS_CONNECTION_STRING", "");
        if (!connection.isEmpty()) return builder.connectionString(connection, hub);
        String namespace = setting("EVENT_HUBS_NAMESPACE", "");
        if (namespace.isEmpty()) {
            System.err.println("Set EVENT_HUBS_NAMESPACE or EVENT_HUBS_CONNECTION_STRING.");
            System.exit(2);
        }
        String endpoint = setting("EVENT_HUBS_CUSTOM_ENDPOINT", ""); // the simulator
        if (!endpoint.isEmpty()) builder.customEndpointAddress(endpoint.replaceFirst("^sb:", "https:"));
        return builder.credential(namespace, hub, new DefaultAzureCredentialBuilder().build());
    }

    private static String setting(String name, String otherwise) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    private static final String FORMAT = "scheduled-events-bridge-consumer/1";
    private static final Duration RETRY_AFTER = Duration.ofSeconds(5);
    private static final Duration REMEMBER_FOR = Duration.ofHours(24);

    /** What was done for a VM: its events, each `draining` or `drained`. */
    private record Drained(Fleet.Vm vm, Map<String, String> events) {}

    private record Act(String event, Runnable run) {}

    private final Path file;
    private final Map<String, Drained> drained;
    private final Fleet fleet = new Fleet();
    /** The VMs of each open event, by their keys. */
    private final Map<String, Map<String, Fleet.Vm>> affected = new HashMap<>();
    /** The VMs with an action in progress. */
    private final Set<String> busy = new HashSet<>();
    /** By VM and event of which an action failed. */
    private final Map<String, Instant> retryAt = new HashMap<>();
    private final ExecutorService actions = Executors.newCachedThreadPool(Subscriber::daemon);
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(Subscriber::daemon);
    private boolean isHistoryRead;

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }

    private Subscriber(Path file) throws IOException {
        this.file = file;
        this.drained = load(file);
        clock.scheduleWithFixedDelay(() -> look(Set.of()), 1, 1, TimeUnit.SECONDS);
        clock.scheduleWithFixedDelay(this::forget, 1, 60, TimeUnit.MINUTES);
    }

    private static Map<String, Drained> load(Path file) throws IOException {
        if (!Files.exists(file)) return new TreeMap<>();
        JsonNode state = Fleet.JSON.readTree(Files.readAllBytes(file));
        if (!FORMAT.equals(state.path("format").asText()))
            throw new IOException(file + " is not the state of a subscriber: move it aside to start with an empty state.");
        return Fleet.JSON.convertValue(state.get("drained"), new TypeReference<TreeMap<String, Drained>>() {});
    }

    private void onEvent(String partition, EventData event) {
        try {
            Optional<Fleet.Report> report = Fleet.parse(event.getProperties(), event.getBody());
            synchronized (this) {
                report.map(fleet::add).ifPresent(this::look);
            }
        } catch (IOException error) {
            System.err.printf("partition %s, message %d: %s%n", partition, event.getSequenceNumber(), error.getMessage());
        }
    }

    private synchronized void onHistoryRead() {
        isHistoryRead = true;
        look(fleet.events());
    }

    private synchronized void forget() {
        fleet.forget(Instant.now().minus(REMEMBER_FOR),
            event -> drained.values().stream().anyMatch(one -> one.events.containsKey(event)));
    }

    /** Finds out whom the events affect now, and starts what has to be done. Without events it retries what failed. */
    private synchronized void look(Collection<String> events) {
        if (!isHistoryRead) return;
        for (String event : events) {
            Map<String, Fleet.Vm> vms = fleet.affected(event);
            if (vms.isEmpty()) affected.remove(event);
            else affected.put(event, vms);
        }
        Set<String> keys = new HashSet<>(drained.keySet());
        affected.values().forEach(vms -> keys.addAll(vms.keySet()));
        for (String key : keys)
            if (!busy.contains(key) && nextAct(key).isPresent()) {
                busy.add(key);
                actions.execute(() -> bringInLine(key));
            }
    }

    /** One action after the other, until what was done for the VM matches its events. */
    private void bringInLine(String key) {
        for (;;) {
            Optional<Act> act;
            synchronized (this) {
                act = nextAct(key);
                if (act.isEmpty()) {
                    busy.remove(key);
                    return;
                }
            }
            try {
                act.get().run.run();
            } catch (RuntimeException error) {
                System.err.printf("%s: %s; retrying in %s%n", key, error, RETRY_AFTER);
                synchronized (this) {
                    retryAt.put(key + " " + act.get().event, Instant.now().plus(RETRY_AFTER));
                }
            }
        }
    }

    /** New events first, so that a VM is not restored between two of them. */
    private Optional<Act> nextAct(String key) {
        Drained done = drained.get(key);
        Map<String, String> events = done == null ? Map.of() : done.events;
        for (var entry : affected.entrySet()) {
            String event = entry.getKey();
            Fleet.Vm vm = entry.getValue().get(key);
            if (vm == null || "drained".equals(events.get(event)) || !isDue(key, event)) continue;
            Fleet.Report latest = fleet.latest(event).orElseThrow();
            return Optional.of(new Act(event, () -> {
                note(vm, event, "draining");
                drain(vm, latest);
                note(vm, event, "drained");
            }));
        }
        for (String event : events.keySet()) {
            // The hub may no longer hold the records of an event: unknown does not mean over.
            Optional<Fleet.Report> latest = fleet.latest(event);
            boolean isAffected = affected.getOrDefault(event, Map.of()).containsKey(key);
            if (latest.isEmpty() || isAffected || !isDue(key, event)) continue;
            boolean isLast = events.size() == 1;
            return Optional.of(new Act(event, () -> {
                if (isLast) restore(done.vm, latest.get());
                note(done.vm, event, null);
            }));
        }
        return Optional.empty();
    }

    private boolean isDue(String key, String event) {
        return retryAt.getOrDefault(key + " " + event, Instant.MIN).isBefore(Instant.now());
    }

    /** Saves the state as a whole: after a crash, the file has this state or the one before. */
    private synchronized void note(Fleet.Vm vm, String event, String progress) {
        Map<String, String> events = drained.computeIfAbsent(vm.key(), key -> new Drained(vm, new TreeMap<>())).events;
        if (progress == null) events.remove(event);
        else events.put(event, progress);
        if (events.isEmpty()) drained.remove(vm.key());
        Path fresh = Path.of(file + ".new");
        try (FileChannel channel = FileChannel.open(
            fresh, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            byte[] text = Fleet.JSON.writeValueAsBytes(Map.of("format", FORMAT, "drained", drained));
            for (ByteBuffer left = ByteBuffer.wrap(text); left.hasRemaining();) channel.write(left);
            channel.force(true);
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException error) {
            // Actions continue: a VM with half a minute of notice cannot wait for a disk.
            System.err.println("The state could not be saved: " + error);
        }
    }
}
