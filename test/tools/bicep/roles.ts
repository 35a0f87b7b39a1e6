/** A built-in role that is given here, and the types of resources that it may be given on. */
export interface Role {
  readonly id: string;
  readonly name: string;
  /** Lower case; `wider` is a resource group, subscription or management group. */
  readonly on: readonly string[];
}

/** Every role that this repository may name. https://learn.microsoft.com/azure/role-based-access-control/built-in-roles */
export const roles: readonly Role[] = [
  {
    id: '2b629674-e913-4c01-ae53-ef4638d8f975',
    name: 'Azure Event Hubs Data Sender',
    on: ['microsoft.eventhub/namespaces/eventhubs'],
  },
  {
    id: 'a638d3c7-ab3a-418d-83e6-5f17a39d4fde',
    name: 'Azure Event Hubs Data Receiver',
    on: ['microsoft.eventhub/namespaces/eventhubs', 'microsoft.eventhub/namespaces/eventhubs/consumergroups'],
  },
  {
    id: '3913510d-42f4-4e42-8a64-420c390055eb',
    name: 'Monitoring Metrics Publisher',
    on: ['microsoft.insights/datacollectionrules'],
  },
  {
    id: '73c42c96-874c-492b-b04d-ab87d138a893',
    name: 'Log Analytics Reader',
    on: ['microsoft.operationalinsights/workspaces', 'microsoft.operationalinsights/workspaces/tables'],
  },
  {
    id: '3b03c2da-16b3-4a49-8834-0f8130efdd3b',
    name: 'Log Analytics Data Reader',
    on: ['microsoft.operationalinsights/workspaces', 'microsoft.operationalinsights/workspaces/tables'],
  },
  {
    id: 'ba92f5b4-2d11-453d-a403-e96b0029c9fe',
    name: 'Storage Blob Data Contributor',
    on: ['microsoft.storage/storageaccounts', 'microsoft.storage/storageaccounts/blobservices/containers'],
  },
  {
    id: '2a2b9908-6ea1-4ae2-8e65-a410df84e7d1',
    name: 'Storage Blob Data Reader',
    on: ['microsoft.storage/storageaccounts', 'microsoft.storage/storageaccounts/blobservices/containers'],
  },
  { id: 'acdd72a7-3385-48ef-bd42-f606fba81ae7', name: 'Reader', on: ['microsoft.compute/galleries'] },
  { id: '9980e02c-c2be-4d73-94e8-173b1dc7cf3c', name: 'Virtual Machine Contributor', on: ['wider'] },
  {
    id: 'f1a07417-d97a-45cb-824c-7a7467783830',
    name: 'Managed Identity Operator',
    on: ['wider', 'microsoft.managedidentity/userassignedidentities'],
  },
];
