package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/monitor/ingestion/azlogs"
)

func logsIngestion() {
	address := simulator.LogAnalytics
	client := must(azlogs.NewClient(address.Endpoint, credential(), nil))
	rows := []map[string]any{}
	for n := range 3 {
		rows = append(rows, map[string]any{"TimeGenerated": time.Now().UTC(), "RecordId": fmt.Sprint(n), "Text": "käse"})
	}
	logs := must(json.Marshal(rows))
	must(client.Upload(ctx, address.RuleID, address.StreamName, logs, nil))
	report("rows", len(rows))
	_, err := client.Upload(ctx, "dcr-ffffffffffffffffffffffffffffffff", address.StreamName, logs, nil)
	var failure *azcore.ResponseError
	if errors.As(err, &failure) {
		report("a wrong rule", failure.StatusCode)
	}
}
