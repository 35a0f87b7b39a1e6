/** The one Event Hubs namespace: what audiences of tokens name. It resolves nowhere, so clients are given a custom endpoint with it. */
export const fullyQualifiedNamespace = 'simulated.servicebus.windows.net';
