"""What OpenTelemetry's detector takes from the instance metadata, as a line of JSON."""
import json

from opentelemetry.resource.detector.azure.vm import AzureVMResourceDetector

print(json.dumps({"check": "attributes", "saw": dict(AzureVMResourceDetector().detect().attributes)}))
