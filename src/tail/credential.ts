import { DefaultAzureCredential, type TokenCredential } from '@azure/identity';

// assumption: tail-identity
/**
 * The identity of the user who runs the command: variables of a service principal, a workload or managed identity, else the account of the Azure CLI, in
 * the order of Microsoft's own tools. https://learn.microsoft.com/azure/developer/javascript/sdk/authentication/credential-chains
 *
 * @param clientId of the user-assigned managed identity to use, if it comes to that.
 */
export const operatorCredential = (clientId: string | null): TokenCredential =>
  new DefaultAzureCredential({ ...(clientId !== null && { managedIdentityClientId: clientId }) });
