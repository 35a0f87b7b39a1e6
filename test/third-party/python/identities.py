"""Tokens of an identity by its client id, of another by its object id and of a third by its resource id, as a line of JSON.

Usage: identities.py CLIENT OBJECT RESOURCE
"""
import json
import sys

from azure.identity import ManagedIdentityCredential

client_id, object_id, resource_id = sys.argv[1:]
credentials = [
    ManagedIdentityCredential(client_id=client_id),
    ManagedIdentityCredential(identity_config={"object_id": object_id}),
    ManagedIdentityCredential(identity_config={"resource_id": resource_id}),
]
tokens = [one.get_token("https://eventhubs.azure.net/.default").token for one in credentials]
print(json.dumps({"check": "tokens", "saw": tokens}))
