package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azeventhubs/v2"
	"github.com/coder/websocket"
)

func overWebSockets(ctx context.Context, _ azeventhubs.WebSocketConnParams) (net.Conn, error) {
	address := simulator.EventHubs.WebsocketEndpoint + "/$servicebus/websocket"
	socket, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{Subprotocols: []string{"amqp"}})
	if err != nil {
		return nil, err
	}
	return websocket.NetConn(context.Background(), socket, websocket.MessageBinary), nil
}

type clients struct {
	way, hub string
}

func (c clients) producer() *azeventhubs.ProducerClient {
	address := simulator.EventHubs
	options := &azeventhubs.ProducerClientOptions{}
	switch c.way {
	case "connection string":
		return must(azeventhubs.NewProducerClientFromConnectionString(address.ConnectionString, c.hub, options))
	case "websockets":
		options.NewWebSocketConn = overWebSockets
	default:
		options.CustomEndpoint = strings.TrimPrefix(address.CustomEndpoint, "sb://")
	}
	return must(azeventhubs.NewProducerClient(address.FullyQualifiedNamespace, c.hub, credential(), options))
}

func (c clients) consumer() *azeventhubs.ConsumerClient {
	address := simulator.EventHubs
	options := &azeventhubs.ConsumerClientOptions{}
	group := azeventhubs.DefaultConsumerGroup
	switch c.way {
	case "connection string":
		return must(azeventhubs.NewConsumerClientFromConnectionString(address.ConnectionString, c.hub, group, options))
	case "websockets":
		options.NewWebSocketConn = overWebSockets
	default:
		options.CustomEndpoint = strings.TrimPrefix(address.CustomEndpoint, "sb://")
	}
	return must(azeventhubs.NewConsumerClient(address.FullyQualifiedNamespace, c.hub, group, credential(), options))
}

func send(producer *azeventhubs.ProducerClient, bodies ...string) {
	key := "käse"
	batch := must(producer.NewEventDataBatch(ctx, &azeventhubs.EventDataBatchOptions{PartitionKey: &key}))
	for _, body := range bodies {
		check(batch.AddEventData(&azeventhubs.EventData{Body: []byte(body)}, nil))
	}
	check(producer.SendEventDataBatch(ctx, batch, nil))
}

func read(consumer *azeventhubs.ConsumerClient, partition string, from azeventhubs.StartPosition, count int) []*azeventhubs.ReceivedEventData {
	reader := must(consumer.NewPartitionClient(partition, &azeventhubs.PartitionClientOptions{StartPosition: from}))
	defer reader.Close(ctx)
	return receive(reader, count)
}

func receive(reader interface {
	ReceiveEvents(context.Context, int, *azeventhubs.ReceiveEventsOptions) ([]*azeventhubs.ReceivedEventData, error)
}, count int) []*azeventhubs.ReceivedEventData {
	var events []*azeventhubs.ReceivedEventData
	for len(events) < count {
		events = append(events, must(reader.ReceiveEvents(ctx, count-len(events), nil))...)
	}
	return events
}

func bodies(events []*azeventhubs.ReceivedEventData) []string {
	texts := []string{}
	for _, event := range events {
		texts = append(texts, string(event.Body))
	}
	return texts
}

func ptr[T any](value T) *T { return &value }

func eventHubs(way string) {
	c := clients{way, "go-" + strings.ReplaceAll(way, " ", "-")}
	producer, consumer := c.producer(), c.consumer()
	defer producer.Close(ctx)
	defer consumer.Close(ctx)

	properties := must(producer.GetEventHubProperties(ctx, nil))
	report("properties", map[string]any{"name": properties.Name, "partitions": properties.PartitionIDs})

	send(producer, "one", "two", "three")
	var partition string
	for _, id := range properties.PartitionIDs {
		if !must(producer.GetPartitionProperties(ctx, id, nil)).IsEmpty {
			partition = id
		}
	}
	report("a batch under a key", map[string]any{"partition": partition})

	events := read(consumer, partition, azeventhubs.StartPosition{Earliest: ptr(true)}, 3)
	saw := [][]any{}
	for _, event := range events {
		saw = append(saw, []any{string(event.Body), event.SequenceNumber, *event.PartitionKey})
	}
	report("from the beginning", saw)
	report("from an offset", bodies(read(consumer, partition, azeventhubs.StartPosition{Offset: ptr(events[0].Offset)}, 2)))
	number := azeventhubs.StartPosition{SequenceNumber: ptr(events[1].SequenceNumber), Inclusive: true}
	report("from a sequence number", bodies(read(consumer, partition, number, 2)))
	time.Sleep(2 * time.Millisecond)
	send(producer, "four")
	report("from a time", bodies(read(consumer, partition, azeventhubs.StartPosition{EnqueuedTime: events[2].EnqueuedTime}, 1)))

	report("from the end", bodies(fromTheEnd(producer, consumer, partition)))
	report("a lower owner level", ownerLevel(consumer, partition))
	report("from a checkpoint", processors(producer, c, partition))
	send(producer, strings.Repeat("x", 200_000))
	send(producer, "last")
}

// An event that is sent while a reader waits at the end.
func fromTheEnd(producer *azeventhubs.ProducerClient, consumer *azeventhubs.ConsumerClient, partition string) []*azeventhubs.ReceivedEventData {
	options := &azeventhubs.PartitionClientOptions{StartPosition: azeventhubs.StartPosition{Latest: ptr(true)}}
	reader := must(consumer.NewPartitionClient(partition, options))
	defer reader.Close(ctx)
	// Its link is attached by the first call.
	soon, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := reader.ReceiveEvents(soon, 1, nil); !errors.Is(err, context.DeadlineExceeded) {
		panic(fmt.Sprint("nothing was sent: ", err))
	}
	send(producer, "five")
	return receive(reader, 1)
}

// What becomes of a reader when one of a higher level takes its partition.
func ownerLevel(consumer *azeventhubs.ConsumerClient, partition string) string {
	own := func(level int64) *azeventhubs.PartitionClient {
		from := azeventhubs.StartPosition{Earliest: ptr(true)}
		return must(consumer.NewPartitionClient(partition, &azeventhubs.PartitionClientOptions{StartPosition: from, OwnerLevel: &level}))
	}
	low, high := own(1), own(2)
	defer low.Close(ctx)
	defer high.Close(ctx)
	receive(low, 5)
	receive(high, 5)
	_, err := low.ReceiveEvents(ctx, 1, nil)
	var failure *azeventhubs.Error
	if !errors.As(err, &failure) {
		return fmt.Sprint(err)
	}
	return string(failure.Code)
}

// What a processor reads that begins where another has left its checkpoint.
func processors(producer *azeventhubs.ProducerClient, c clients, partition string) []string {
	store := &memory{}
	process(c, store, partition, 5)
	send(producer, "six")
	return process(c, store, partition, 1)
}

func process(c clients, store azeventhubs.CheckpointStore, partition string, count int) []string {
	consumer := c.consumer()
	defer consumer.Close(ctx)
	options := &azeventhubs.ProcessorOptions{LoadBalancingStrategy: azeventhubs.ProcessorStrategyGreedy, UpdateInterval: time.Second}
	options.StartPositions.Default = azeventhubs.StartPosition{Earliest: ptr(true)}
	processor := must(azeventhubs.NewProcessor(consumer, store, options))
	running, stop := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- processor.Run(running) }()
	var texts []string
	for len(texts) < count {
		reader := processor.NextPartitionClient(running)
		if reader == nil {
			panic(<-ended)
		}
		if reader.PartitionID() != partition {
			continue
		}
		events := receive(reader, count)
		check(reader.UpdateCheckpoint(ctx, events[len(events)-1], nil))
		texts = bodies(events)
	}
	stop()
	<-ended
	return texts
}

// A checkpoint store in memory.
type memory struct {
	lock        sync.Mutex
	ownerships  map[string]azeventhubs.Ownership
	checkpoints map[string]azeventhubs.Checkpoint
}

func (m *memory) ClaimOwnership(_ context.Context, wanted []azeventhubs.Ownership, _ *azeventhubs.ClaimOwnershipOptions) ([]azeventhubs.Ownership, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.ownerships == nil {
		m.ownerships = map[string]azeventhubs.Ownership{}
	}
	for i := range wanted {
		wanted[i].LastModifiedTime = time.Now()
		m.ownerships[wanted[i].PartitionID] = wanted[i]
	}
	return wanted, nil
}

func (m *memory) ListOwnership(context.Context, string, string, string, *azeventhubs.ListOwnershipOptions) ([]azeventhubs.Ownership, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return values(m.ownerships), nil
}

func (m *memory) ListCheckpoints(context.Context, string, string, string, *azeventhubs.ListCheckpointsOptions) ([]azeventhubs.Checkpoint, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return values(m.checkpoints), nil
}

func (m *memory) SetCheckpoint(_ context.Context, checkpoint azeventhubs.Checkpoint, _ *azeventhubs.SetCheckpointOptions) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.checkpoints == nil {
		m.checkpoints = map[string]azeventhubs.Checkpoint{}
	}
	m.checkpoints[checkpoint.PartitionID] = checkpoint
	return nil
}

func values[T any](entries map[string]T) []T {
	var list []T
	for _, entry := range entries {
		list = append(list, entry)
	}
	return list
}
