import com.azure.core.amqp.AmqpTransportType;
import com.azure.core.amqp.exception.AmqpException;
import com.azure.core.credential.TokenCredential;
import com.azure.core.credential.TokenRequestContext;
import com.azure.core.exception.HttpResponseException;
import com.azure.identity.ManagedIdentityCredentialBuilder;
import com.azure.messaging.eventhubs.CheckpointStore;
import com.azure.messaging.eventhubs.EventData;
import com.azure.messaging.eventhubs.EventHubClientBuilder;
import com.azure.messaging.eventhubs.EventHubConsumerAsyncClient;
import com.azure.messaging.eventhubs.EventHubConsumerClient;
import com.azure.messaging.eventhubs.EventHubProducerClient;
import com.azure.messaging.eventhubs.EventProcessorClient;
import com.azure.messaging.eventhubs.EventProcessorClientBuilder;
import com.azure.messaging.eventhubs.LoadBalancingStrategy;
import com.azure.messaging.eventhubs.models.Checkpoint;
import com.azure.messaging.eventhubs.models.CreateBatchOptions;
import com.azure.messaging.eventhubs.models.EventPosition;
import com.azure.messaging.eventhubs.models.PartitionEvent;
import com.azure.messaging.eventhubs.models.PartitionOwnership;
import com.azure.messaging.eventhubs.models.ReceiveOptions;
import com.azure.monitor.ingestion.LogsIngestionClient;
import com.azure.monitor.ingestion.LogsIngestionClientBuilder;
import com.azure.monitor.ingestion.models.LogsUploadException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Microsoft's clients for Java against the simulator. A line of JSON for each check.
 *
 * Usage: Clients WAY | logs | identities CLIENT OBJECT RESOURCE, with the simulator's addresses in the environment variable SIMULATOR.
 */
public final class Clients {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    public static void main(String[] args) throws Exception {
        JsonNode simulator = JSON.readTree(System.getenv("SIMULATOR"));
        if (args[0].equals("logs")) {
            logsIngestion(simulator.get("logAnalytics"));
        } else if (args[0].equals("identities")) {
            identities(args[1], args[2], args[3]);
        } else {
            new Clients(simulator.get("eventHubs"), args[0]).eventHubs();
        }
        // Threads of the libraries outlive their clients.
        System.exit(0);
    }

    private final JsonNode address;
    private final String way;
    private final String hub;

    private Clients(JsonNode address, String way) {
        this.address = address;
        this.way = way;
        this.hub = "java-" + way.replace(' ', '-');
    }

    private static void report(String check, Object saw) throws Exception {
        System.out.println(JSON.writeValueAsString(Map.of("check", check, "saw", saw)));
    }

    private static TokenCredential credential() {
        return new ManagedIdentityCredentialBuilder().build();
    }

    private String endpoint() {
        return address.get(way.equals("websockets") ? "websocketEndpoint" : "customEndpoint").asText().replaceFirst("^\\w+", "https");
    }

    private AmqpTransportType transport() {
        return way.equals("websockets") ? AmqpTransportType.AMQP_WEB_SOCKETS : AmqpTransportType.AMQP;
    }

    private EventHubClientBuilder client() {
        EventHubClientBuilder builder = new EventHubClientBuilder().consumerGroup("$Default");
        if (way.equals("connection string")) {
            return builder.connectionString(address.get("connectionString").asText(), hub);
        }
        return builder.credential(address.get("fullyQualifiedNamespace").asText(), hub, credential())
            .customEndpointAddress(endpoint())
            .transportType(transport());
    }

    private static void send(EventHubProducerClient producer, String... bodies) {
        var batch = producer.createBatch(new CreateBatchOptions().setPartitionKey("käse"));
        for (String body : bodies) batch.tryAdd(new EventData(body));
        producer.send(batch);
    }

    private static List<EventData> read(EventHubConsumerClient consumer, String partition, EventPosition from, int count) {
        return consumer.receiveFromPartition(partition, count, from, TIMEOUT).stream().map(PartitionEvent::getData).toList();
    }

    private static List<String> bodies(List<EventData> events) {
        return events.stream().map(EventData::getBodyAsString).toList();
    }

    private void eventHubs() throws Exception {
        try (EventHubProducerClient producer = client().buildProducerClient();
            EventHubConsumerClient consumer = client().buildConsumerClient()) {
            var properties = producer.getEventHubProperties();
            List<String> partitions = properties.getPartitionIds().stream().toList();
            report("properties", Map.of("name", properties.getName(), "partitions", partitions));

            send(producer, "one", "two", "three");
            String partition = partitions.stream().filter(id -> !producer.getPartitionProperties(id).isEmpty()).findFirst().get();
            report("a batch under a key", Map.of("partition", partition));

            List<EventData> events = read(consumer, partition, EventPosition.earliest(), 3);
            report("from the beginning", events.stream()
                .map(event -> List.of(event.getBodyAsString(), event.getSequenceNumber(), event.getPartitionKey())).toList());
            report("from an offset", bodies(read(consumer, partition, EventPosition.fromOffsetString(events.get(0).getOffsetString()), 2)));
            EventPosition number = EventPosition.fromSequenceNumber(events.get(1).getSequenceNumber(), true);
            report("from a sequence number", bodies(read(consumer, partition, number, 2)));
            Thread.sleep(2);
            send(producer, "four");
            report("from a time", bodies(read(consumer, partition, EventPosition.fromEnqueuedTime(events.get(2).getEnqueuedTime()), 1)));

            try (EventHubConsumerAsyncClient waiting = client().buildAsyncConsumerClient()) {
                report("from the end", bodies(fromTheEnd(producer, waiting, partition)));
            }
            report("a lower owner level", ownerLevel(partition));
            CheckpointStore store = new Memory();
            process(store, 5);
            send(producer, "six");
            report("from a checkpoint", process(store, 1));
            send(producer, "x".repeat(200_000));
            send(producer, "last");
        }
    }

    /** An event that is sent while a reader waits at the end. */
    private static List<EventData> fromTheEnd(EventHubProducerClient producer, EventHubConsumerAsyncClient consumer, String partition)
        throws Exception {
        CompletableFuture<PartitionEvent> first =
            consumer.receiveFromPartition(partition, EventPosition.latest()).next().toFuture();
        // There is no signal when its link is attached.
        Thread.sleep(2000);
        send(producer, "five");
        return List.of(first.get(60, TimeUnit.SECONDS).getData());
    }

    /** What becomes of a reader when one of a higher level takes its partition. */
    private String ownerLevel(String partition) throws Exception {
        try (EventHubConsumerAsyncClient low = client().buildAsyncConsumerClient();
            EventHubConsumerAsyncClient high = client().buildAsyncConsumerClient()) {
            CompletableFuture<String> lost = new CompletableFuture<>();
            CountDownLatch reads = new CountDownLatch(5);
            Disposable reader = own(low, partition, 1).subscribe(
                event -> reads.countDown(),
                error -> lost.complete(error instanceof AmqpException amqp ? String.valueOf(amqp.getErrorCondition()) : error.toString()));
            reads.await(60, TimeUnit.SECONDS);
            own(high, partition, 2).take(5).blockLast(TIMEOUT);
            String condition = lost.get(60, TimeUnit.SECONDS);
            reader.dispose();
            return condition;
        }
    }

    private static Flux<PartitionEvent> own(EventHubConsumerAsyncClient client, String partition, long level) {
        return client.receiveFromPartition(partition, EventPosition.earliest(), new ReceiveOptions().setOwnerLevel(level));
    }

    /** What a processor reads, which begins where another has left its checkpoint. */
    private List<String> process(CheckpointStore store, int count) throws Exception {
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        AtomicBoolean stops = new AtomicBoolean();
        EventProcessorClientBuilder builder = new EventProcessorClientBuilder()
            .consumerGroup("$Default")
            .checkpointStore(store)
            .loadBalancingStrategy(LoadBalancingStrategy.GREEDY)
            .loadBalancingUpdateInterval(Duration.ofSeconds(1))
            .partitionOwnershipExpirationInterval(Duration.ofSeconds(5))
            .initialPartitionEventPosition(partition -> EventPosition.earliest())
            .processEvent(context -> {
                // A processor that stops may read on for a moment; what it gets then is for the next one.
                if (stops.get()) return;
                context.updateCheckpoint();
                seen.add(context.getEventData().getBodyAsString());
            })
            .processError(context -> seen.add(context.getThrowable().toString()));
        if (way.equals("connection string")) {
            builder.connectionString(address.get("connectionString").asText(), hub);
        } else {
            builder.credential(address.get("fullyQualifiedNamespace").asText(), hub, credential())
                .customEndpointAddress(endpoint())
                .transportType(transport());
        }
        EventProcessorClient processor = builder.buildEventProcessorClient();
        processor.start();
        List<String> bodies = new ArrayList<>();
        while (bodies.size() < count) bodies.add(String.valueOf(seen.poll(60, TimeUnit.SECONDS)));
        stops.set(true);
        processor.stop();
        return bodies;
    }

    /** A checkpoint store in memory. */
    private static final class Memory implements CheckpointStore {
        private final Map<String, PartitionOwnership> ownerships = new ConcurrentHashMap<>();
        private final Map<String, Checkpoint> checkpoints = new ConcurrentHashMap<>();

        @Override
        public Flux<PartitionOwnership> listOwnership(String namespace, String hub, String group) {
            return Flux.fromIterable(ownerships.values());
        }

        @Override
        public Flux<PartitionOwnership> claimOwnership(List<PartitionOwnership> wanted) {
            return Flux.fromIterable(wanted).doOnNext(one -> {
                one.setETag(UUID.randomUUID().toString()).setLastModifiedTime(System.currentTimeMillis());
                ownerships.put(one.getPartitionId(), one);
            });
        }

        @Override
        public Flux<Checkpoint> listCheckpoints(String namespace, String hub, String group) {
            return Flux.fromIterable(checkpoints.values());
        }

        @Override
        public Mono<Void> updateCheckpoint(Checkpoint checkpoint) {
            checkpoints.put(checkpoint.getPartitionId(), checkpoint);
            return Mono.empty();
        }
    }

    /** Tokens of an identity by its client id, of another by its object id and of a third by its resource id. */
    private static void identities(String clientId, String objectId, String resourceId) throws Exception {
        var scope = new TokenRequestContext().addScopes("https://eventhubs.azure.net/.default");
        report("tokens", Stream.of(
            new ManagedIdentityCredentialBuilder().clientId(clientId),
            new ManagedIdentityCredentialBuilder().objectId(objectId),
            new ManagedIdentityCredentialBuilder().resourceId(resourceId)
        ).map(builder -> builder.build().getTokenSync(scope).getToken()).toList());
    }

    private static void logsIngestion(JsonNode address) throws Exception {
        LogsIngestionClient client = new LogsIngestionClientBuilder()
            .endpoint(address.get("endpoint").asText())
            .credential(credential())
            .buildClient();
        List<Object> rows = new ArrayList<>();
        for (int n = 0; n < 3; n++) {
            rows.add(Map.of("TimeGenerated", OffsetDateTime.now().toString(), "RecordId", String.valueOf(n), "Text", "käse"));
        }
        String stream = address.get("streamName").asText();
        client.upload(address.get("ruleId").asText(), stream, rows);
        report("rows", rows.size());
        try {
            client.upload("dcr-ffffffffffffffffffffffffffffffff", stream, rows);
            report("a wrong rule", "accepted");
        } catch (HttpResponseException error) {
            report("a wrong rule", error.getResponse().getStatusCode());
        } catch (LogsUploadException error) {
            report("a wrong rule", error.getLogsUploadErrors().get(0).getResponse().getStatusCode());
        }
    }
}
