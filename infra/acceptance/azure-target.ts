import { type AzureTools, toolsHere } from './azure/tools.ts';
import { createAzureData } from './data/azure-data.ts';
import { createAzureMachines } from './events/azure-machines.ts';
import { type CreateTarget, type Pace, paceOfAzure, type Target } from './target.ts';

/** The subscription as the place of the scenarios. */
export const createAzureTarget = (
  context: Parameters<CreateTarget>[0],
  { pace = paceOfAzure, ...tools }: Pick<AzureTools, 'sleep'> & { readonly pace?: Pace } = toolsHere,
): Target => {
  const machines = createAzureMachines(context, tools);
  const data = createAzureData(context, tools);
  return {
    kind: 'azure',
    pace,
    ...machines,
    ...data,
    async close() {
      await machines.close();
      await data.close();
    },
  };
};
