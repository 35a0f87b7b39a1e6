package main

import (
	"go.opentelemetry.io/contrib/detectors/azure/azurevm"
)

// What OpenTelemetry's detector takes from the instance metadata.
func detect() {
	attributes := map[string]any{}
	for _, attribute := range must(azurevm.New().Detect(ctx)).Attributes() {
		attributes[string(attribute.Key)] = attribute.Value.AsInterface()
	}
	report("attributes", attributes)
}
