//! Microsoft's clients for Rust against the simulator. A line of JSON for each check.
//!
//! Usage: clients WAY | identities CLIENT OBJECT RESOURCE, with the simulator's addresses in the environment variable SIMULATOR.
use azure_core::{credentials::TokenCredential, time::Duration};
use azure_identity::{ManagedIdentityCredential, ManagedIdentityCredentialOptions, UserAssignedId};
use azure_messaging_eventhubs::{
    error::ErrorKind,
    models::{AmqpTransport, ReceivedEventData, StartPositions},
    ConsumerClient, EventDataBatchOptions, EventHubsError, EventProcessor, InMemoryCheckpointStore,
    OpenReceiverOptions, ProducerClient, RetryOptions, StartLocation, StartPosition,
};
use futures::{pin_mut, StreamExt};
use serde_json::{json, Value};
use std::{error::Error, sync::Arc, time::Duration as StdDuration};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn report(check: &str, saw: Value) {
    println!("{}", json!({ "check": check, "saw": saw }));
}

struct Clients {
    address: Value,
    way: String,
    hub: String,
}

impl Clients {
    fn text(&self, name: &str) -> String {
        self.address[name].as_str().unwrap().to_string()
    }

    fn endpoint(&self) -> (String, AmqpTransport) {
        let (name, transport) = match self.way.as_str() {
            "websockets" => ("websocketEndpoint", AmqpTransport::WebSocket),
            _ => ("customEndpoint", AmqpTransport::Tcp),
        };
        let address = self.text(name);
        let (_, host) = address.split_once("://").unwrap();
        (format!("amqps://{host}"), transport)
    }

    async fn producer(&self) -> Result<ProducerClient> {
        let (endpoint, transport) = self.endpoint();
        // A retry would hide that the simulator has refused something.
        let retry_options = RetryOptions {
            max_retries: 0,
            ..Default::default()
        };
        let builder = ProducerClient::builder()
            .with_retry_options(retry_options)
            .with_custom_endpoint(endpoint)
            .with_transport(transport);
        if self.way == "connection string" {
            return Ok(builder
                .open_with_connection_string(&self.text("connectionString"), Some(&self.hub))
                .await?);
        }
        let credential = ManagedIdentityCredential::new(None)?;
        Ok(builder
            .open(&self.text("fullyQualifiedNamespace"), &self.hub, credential)
            .await?)
    }

    async fn consumer(&self) -> Result<ConsumerClient> {
        let (endpoint, transport) = self.endpoint();
        let builder = ConsumerClient::builder()
            .with_custom_endpoint(endpoint)
            .with_transport(transport);
        if self.way == "connection string" {
            return Ok(builder
                .open_with_connection_string(&self.text("connectionString"), Some(&self.hub))
                .await?);
        }
        let credential = ManagedIdentityCredential::new(None)?;
        Ok(builder
            .open(
                &self.text("fullyQualifiedNamespace"),
                self.hub.clone(),
                credential,
            )
            .await?)
    }

    async fn event_hubs(&self) -> Result<()> {
        let producer = self.producer().await?;
        let consumer = self.consumer().await?;

        let properties = producer.get_eventhub_properties().await?;
        report(
            "properties",
            json!({ "name": properties.name, "partitions": properties.partition_ids }),
        );

        send(&producer, &["one", "two", "three"]).await?;
        let mut partition = String::new();
        for id in &properties.partition_ids {
            if !producer.get_partition_properties(id).await?.is_empty {
                partition = id.clone();
            }
        }
        report("a batch under a key", json!({ "partition": partition }));

        let events = read(&consumer, &partition, StartLocation::Earliest, false, 3).await?;
        let saw: Vec<Value> = events
            .iter()
            .map(|event| json!([body(event), event.sequence_number(), event.partition_key()]))
            .collect();
        report("from the beginning", json!(saw));
        let offset = StartLocation::Offset(events[0].offset().clone().unwrap());
        report(
            "from an offset",
            bodies(&read(&consumer, &partition, offset, false, 2).await?),
        );
        let number = StartLocation::SequenceNumber(events[1].sequence_number().unwrap());
        report(
            "from a sequence number",
            bodies(&read(&consumer, &partition, number, true, 2).await?),
        );
        tokio::time::sleep(StdDuration::from_millis(2)).await;
        send(&producer, &["four"]).await?;
        let time = StartLocation::EnqueuedTime(events[2].enqueued_time().unwrap());
        report(
            "from a time",
            bodies(&read(&consumer, &partition, time, false, 1).await?),
        );

        report(
            "from the end",
            bodies(&from_the_end(&producer, &consumer, &partition).await?),
        );
        report(
            "a lower owner level",
            json!(self.owner_level(&partition).await?),
        );
        let store = Arc::new(InMemoryCheckpointStore::new());
        self.process(store.clone(), &partition, 5).await?;
        send(&producer, &["six"]).await?;
        report(
            "from a checkpoint",
            self.process(store, &partition, 1).await?,
        );
        send(&producer, &["x".repeat(200_000).as_str()]).await?;
        send(&producer, &["last"]).await?;
        Ok(())
    }

    /// What becomes of a reader when one of a higher level takes its partition.
    async fn owner_level(&self, partition: &str) -> Result<String> {
        let (one, other) = (self.consumer().await?, self.consumer().await?);
        let own = |level| {
            let start_position = Some(StartPosition {
                location: StartLocation::Earliest,
                inclusive: false,
            });
            Some(OpenReceiverOptions {
                owner_level: Some(level),
                start_position,
                ..Default::default()
            })
        };
        let low = one
            .open_receiver_on_partition(partition.to_string(), own(1))
            .await?;
        let low_events = low.stream_events();
        pin_mut!(low_events);
        for _ in 0..5 {
            low_events.next().await.ok_or("the low reader ended")??;
        }
        let high = other
            .open_receiver_on_partition(partition.to_string(), own(2))
            .await?;
        {
            let high_events = high.stream_events();
            pin_mut!(high_events);
            high_events.next().await.ok_or("the high reader ended")??;
        }
        Ok(match low_events.next().await {
            Some(Err(EventHubsError {
                kind: ErrorKind::ConsumerDisconnected(_),
            })) => "ConsumerDisconnected".to_string(),
            other => format!("{other:?}"),
        })
    }

    /// What a processor reads that begins where another has left its checkpoint.
    async fn process(
        &self,
        store: Arc<InMemoryCheckpointStore>,
        partition: &str,
        count: usize,
    ) -> Result<Value> {
        let default = StartPosition {
            location: StartLocation::Earliest,
            inclusive: false,
        };
        let processor = EventProcessor::builder()
            .with_update_interval(Duration::seconds(1))
            .with_partition_expiration_duration(Duration::seconds(2))
            .with_start_positions(StartPositions {
                default,
                ..Default::default()
            })
            .build(self.consumer().await?, store)
            .await?;
        let running = processor.clone();
        let task = tokio::spawn(async move { running.run().await });
        let mut seen = Vec::new();
        while seen.is_empty() {
            let client = processor.next_partition_client().await?;
            if client.get_partition_id() != partition {
                continue;
            }
            let events = client.stream_events();
            pin_mut!(events);
            while seen.len() < count {
                let event = events.next().await.ok_or("the partition ended")??;
                client.update_checkpoint(&event).await?;
                seen.push(event);
            }
        }
        processor.shutdown().await?;
        task.await??;
        // Its claims have to expire before another one takes them over.
        tokio::time::sleep(StdDuration::from_secs(3)).await;
        Ok(bodies(&seen))
    }
}

async fn send(producer: &ProducerClient, bodies: &[&str]) -> Result<()> {
    let options = EventDataBatchOptions {
        partition_key: Some("käse".to_string()),
        ..Default::default()
    };
    let batch = producer.create_batch(Some(options)).await?;
    for body in bodies {
        batch.try_add_event_data(*body, None)?;
    }
    Ok(producer.send_batch(batch, None).await?)
}

async fn read(
    consumer: &ConsumerClient,
    partition: &str,
    location: StartLocation,
    inclusive: bool,
    count: usize,
) -> Result<Vec<ReceivedEventData>> {
    let options = OpenReceiverOptions {
        start_position: Some(StartPosition {
            location,
            inclusive,
        }),
        receive_timeout: Some(Duration::seconds(20)),
        ..Default::default()
    };
    let receiver = consumer
        .open_receiver_on_partition(partition.to_string(), Some(options))
        .await?;
    let mut read = Vec::new();
    {
        let events = receiver.stream_events();
        pin_mut!(events);
        while read.len() < count {
            read.push(events.next().await.ok_or("no more events")??);
        }
    }
    receiver.close().await?;
    Ok(read)
}

/// An event that is sent while a reader waits at the end.
async fn from_the_end(
    producer: &ProducerClient,
    consumer: &ConsumerClient,
    partition: &str,
) -> Result<Vec<ReceivedEventData>> {
    let reading = read(consumer, partition, StartLocation::Latest, false, 1);
    let sending = async {
        // There is no signal when its link is attached.
        tokio::time::sleep(StdDuration::from_secs(2)).await;
        send(producer, &["five"]).await
    };
    let (events, sent) = tokio::join!(reading, sending);
    sent?;
    events
}

fn body(event: &ReceivedEventData) -> String {
    String::from_utf8_lossy(event.event_data().body().unwrap_or_default()).to_string()
}

fn bodies(events: &[ReceivedEventData]) -> Value {
    json!(events.iter().map(body).collect::<Vec<_>>())
}

/// Tokens of identities that are named by ids of different kinds.
async fn identities(ids: [UserAssignedId; 3]) -> Result<()> {
    let mut tokens = Vec::new();
    for id in ids {
        let options = ManagedIdentityCredentialOptions {
            user_assigned_id: Some(id),
            ..Default::default()
        };
        let credential = ManagedIdentityCredential::new(Some(options))?;
        let token = credential
            .get_token(&["https://eventhubs.azure.net/.default"], None)
            .await?;
        tokens.push(token.token.secret().to_string());
    }
    report("tokens", json!(tokens));
    Ok(())
}

#[tokio::main]
async fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [command, client, object, resource] = &args[..] {
        assert_eq!(command, "identities");
        return identities([
            UserAssignedId::ClientId(client.clone()),
            UserAssignedId::ObjectId(object.clone()),
            UserAssignedId::ResourceId(resource.clone()),
        ])
        .await;
    }
    let simulator: Value = serde_json::from_str(&std::env::var("SIMULATOR")?)?;
    let way = args.first().ok_or("usage: clients WAY")?.clone();
    let hub = format!("rust-{}", way.replace(' ', "-"));
    Clients {
        address: simulator["eventHubs"].clone(),
        way,
        hub,
    }
    .event_hubs()
    .await
}
