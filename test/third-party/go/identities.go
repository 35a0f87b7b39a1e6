package main

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
)

// Tokens of an identity by its client id, of another by its object id and of a third by its resource id.
func identities(clientID, objectID, resourceID string) {
	tokens := []string{}
	for _, id := range []azidentity.ManagedIDKind{
		azidentity.ClientID(clientID), azidentity.ObjectID(objectID), azidentity.ResourceID(resourceID),
	} {
		credential := must(azidentity.NewManagedIdentityCredential(&azidentity.ManagedIdentityCredentialOptions{ID: id}))
		options := policy.TokenRequestOptions{Scopes: []string{"https://eventhubs.azure.net/.default"}}
		tokens = append(tokens, must(credential.GetToken(ctx, options)).Token)
	}
	report("tokens", tokens)
}
