import { assignRole, type KnownVm } from '../../check/remedy.ts';

// assumption: check-remedies
/** Commands that fix a problem with a data collection rule: see `check/remedy.ts`. */

/**
 * The data collection rules of the subscription. `az monitor data-collection` is not part of the CLI: it would first ask whether to
 * install an extension, and inside another command that question is not shown.
 */
const rules = (vm: KnownVm, query: string): string =>
  `az rest --method get --url "/subscriptions/${vm?.subscriptionId ?? '<subscription>'}/providers/Microsoft.Insights/dataCollectionRules?api-version=2024-03-11" --query "${query}"`;

/** The resource id of a data collection rule, which Azure can be asked for by the id that is configured. */
const ruleScope = (ruleId: string, vm: KnownVm): string =>
  `$(${rules(vm, `value[?properties.immutableId=='${ruleId}'].id`)} --output tsv)`;

/** @param resourceId of the rule, where the refusal of the service named it. */
export const grantPublish = (
  rule: { readonly ruleId: string; readonly resourceId: string | null },
  objectId: string | null,
  vm: KnownVm,
): string => assignRole('Monitoring Metrics Publisher', objectId, rule.resourceId ?? ruleScope(rule.ruleId, vm));

/** Shows ids, endpoints and streams of the rules that there are. */
export const listRules = (vm: KnownVm): string =>
  rules(
    vm,
    'value[?properties.streamDeclarations].{name:name, ruleId:properties.immutableId, endpoint:properties.endpoints.logsIngestion, streams:keys(properties.streamDeclarations)}',
  );

/** Shows a row as it arrived in the table of a stream. */
export const queryFor = (streamName: string, recordId: string): string =>
  `az monitor log-analytics query --workspace <workspace id> --analytics-query "${streamName.replace(/^Custom-/, '')} | where RecordId == '${recordId}'"`;
