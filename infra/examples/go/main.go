// Moves work off a VM when Azure announces an event that affects it, and back when the last such event is over.
//
// It reads everything that the hub holds before it acts, and then does what STATE_FILE does not list as done. An action is repeated
// only if it failed, or if the process died before saving its outcome.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azeventhubs/v2"
)

// Your part. Both must be idempotent.
func drain(vm VM, record *Record) error {
	_, err := fmt.Printf("drain %s: %s, not before %s\n", vm.Name, record.EventType, cmp.Or(record.NotBefore, "an unknown time"))
	return err
}

func restore(vm VM, record *Record) error {
	_, err := fmt.Printf("restore %s: %s %s, %s\n", vm.Name, record.EventType, record.Phase, strings.Join(record.Evidence, " "))
	return err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	subscriber, err := newSubscriber(cmp.Or(os.Getenv("STATE_FILE"), "subscriber-state.json"))
	exitOn(err)
	client, err := newClient()
	exitOn(err)
	hub, err := client.GetEventHubProperties(ctx, nil)
	exitOn(err)

	var history, readers sync.WaitGroup
	for _, id := range hub.PartitionIDs {
		properties, err := client.GetPartitionProperties(ctx, id, nil)
		exitOn(err)
		history.Add(1)
		readers.Go(func() { read(ctx, client, subscriber, properties, history.Done) })
	}
	go func() {
		history.Wait()
		subscriber.onHistoryRead()
	}()
	readers.Wait()
}

// read reads a partition from its beginning. Calls onHistoryRead once, when it has read what the partition held at the start.
func read(ctx context.Context, client *azeventhubs.ConsumerClient, subscriber *Subscriber, partition azeventhubs.PartitionProperties, onHistoryRead func()) {
	earliest, isHistoryRead := true, partition.IsEmpty
	if isHistoryRead {
		onHistoryRead()
	}
	from := azeventhubs.StartPosition{Earliest: &earliest}
	reader, err := client.NewPartitionClient(partition.PartitionID, &azeventhubs.PartitionClientOptions{StartPosition: from})
	exitOn(err)
	for ctx.Err() == nil {
		// It waits until all have come or the time is up: a VM may have half a minute of notice.
		soon, cancel := context.WithTimeout(ctx, time.Second)
		events, err := reader.ReceiveEvents(soon, 100, nil)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			log.Printf("partition %s: %v", partition.PartitionID, err)
			time.Sleep(time.Second)
		}
		var records []*Record
		for _, event := range events {
			record, err := parse(event.Properties, event.Body)
			if err != nil {
				log.Printf("partition %s, message %d: %v", partition.PartitionID, event.SequenceNumber, err)
			}
			if record != nil {
				records = append(records, record)
			}
		}
		subscriber.onRecords(records)
		if !isHistoryRead && len(events) > 0 && events[len(events)-1].SequenceNumber >= partition.LastEnqueuedSequenceNumber {
			isHistoryRead = true
			onHistoryRead()
		}
	}
}

func newClient() (*azeventhubs.ConsumerClient, error) {
	hub := cmp.Or(os.Getenv("EVENT_HUB_NAME"), "vm-lifecycle")
	group := cmp.Or(os.Getenv("CONSUMER_GROUP"), azeventhubs.DefaultConsumerGroup) // one subscriber for each
	if connection := os.Getenv("EVENT_HUBS_CONNECTION_STRING"); connection != "" {
		return azeventhubs.NewConsumerClientFromConnectionString(connection, hub, group, nil)
	}
	namespace := os.Getenv("EVENT_HUBS_NAMESPACE")
	if namespace == "" {
		return nil, errors.New("set EVENT_HUBS_NAMESPACE or EVENT_HUBS_CONNECTION_STRING")
	}
	credential, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	// For the simulator; empty with Azure.
	endpoint := strings.TrimPrefix(os.Getenv("EVENT_HUBS_CUSTOM_ENDPOINT"), "sb://")
	return azeventhubs.NewConsumerClient(namespace, hub, group, credential, &azeventhubs.ConsumerClientOptions{CustomEndpoint: endpoint})
}

func exitOn(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
