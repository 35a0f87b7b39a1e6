// Microsoft's clients for Go, and OpenTelemetry's detector, against the simulator. A line of JSON for each check.
//
// Usage: clients event-hubs WAY | logs | detect | identities CLIENT OBJECT RESOURCE, with the simulator's addresses in the environment variable SIMULATOR.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
)

var simulator struct {
	EventHubs struct {
		FullyQualifiedNamespace string
		CustomEndpoint          string
		WebsocketEndpoint       string
		ConnectionString        string
	}
	LogAnalytics struct{ Endpoint, RuleID, StreamName string }
}

var ctx, _ = context.WithTimeout(context.Background(), 100*time.Second)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func report(check string, saw any) {
	fmt.Println(string(must(json.Marshal(map[string]any{"check": check, "saw": saw}))))
}

func credential() azcore.TokenCredential {
	return must(azidentity.NewManagedIdentityCredential(nil))
}

func main() {
	check(json.Unmarshal([]byte(os.Getenv("SIMULATOR")), &simulator))
	switch os.Args[1] {
	case "event-hubs":
		eventHubs(os.Args[2])
	case "logs":
		logsIngestion()
	case "detect":
		detect()
	case "identities":
		identities(os.Args[2], os.Args[3], os.Args[4])
	}
}
