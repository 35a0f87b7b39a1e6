"""azure-monitor-ingestion against the simulator: uploads rows, is throttled and is refused. A line of JSON for each check.

Usage: logs_ingestion.py, with the simulator's addresses in the environment variable SIMULATOR.
"""
import json
import os

from azure.core.exceptions import HttpResponseError
from azure.identity import ManagedIdentityCredential
from azure.monitor.ingestion import LogsIngestionClient

simulator = json.loads(os.environ["SIMULATOR"])
address = simulator["logAnalytics"]
rows = [{"TimeGenerated": "2026-01-01T00:00:00Z", "RecordId": str(n), "Text": "käse"} for n in range(3)]


def report(check, saw):
    print(json.dumps({"check": check, "saw": saw}, ensure_ascii=False), flush=True)


with LogsIngestionClient(
    address["endpoint"], ManagedIdentityCredential(), connection_verify=simulator["caFile"]
) as client:
    client.upload(address["ruleId"], address["streamName"], rows)
    report("rows", len(rows))
    try:
        client.upload("dcr-ffffffffffffffffffffffffffffffff", address["streamName"], rows)
        report("a wrong rule", None)
    except HttpResponseError as error:
        report("a wrong rule", error.status_code)
