/** Scale sets in the queries of panels. The same name may exist in other resource groups and subscriptions. */

/** Columns of which a scale set has one value each. */
export const setColumns = ['SubscriptionId', 'ResourceGroup', 'ScaleSet', 'Location'] as const;

/** The columns of a scale set, from those of VmEventTimeline or VmBridgeCoverage. */
export const ofSet: readonly string[] = [
  '| extend ResourceGroup = tolower(ResourceGroup), ScaleSet = tolower(VmScaleSetName)',
];

/** `Set`, a name for each scale set that no other one has, from the columns of a scale set. */
export const nameSets: readonly string[] = [
  '| extend Set = strcat(iff(isempty(ScaleSet), "no scale set", ScaleSet), " (", ResourceGroup, ", ", Location, ")")',
  '| as Sets',
  '| lookup kind = leftouter (Sets | summarize Subscriptions = dcount(SubscriptionId) by Set) on Set',
  '| extend Set = iff(Subscriptions > 1, strcat(Set, " ", SubscriptionId), Set)',
];

/**
 * How many intervals of a scale set hold at the same time, at each moment at which that changes: exact, without bins.
 * Reads the table `Intervals` with From, Until and the columns of a scale set; gives At, Change and VMs.
 */
export const atTheSameTime: readonly string[] = [
  'union',
  '    (',
  '    Intervals',
  '    | project SubscriptionId, ResourceGroup, ScaleSet, Location, At = From, Change = 1),',
  '    (',
  '    Intervals',
  '    | project SubscriptionId, ResourceGroup, ScaleSet, Location, At = Until, Change = -1)',
  '| summarize Change = sum(Change) by SubscriptionId, ResourceGroup, ScaleSet, Location, At',
  '| extend Key = strcat(SubscriptionId, "/", ResourceGroup, "/", ScaleSet, "/", Location)',
  '| sort by Key asc, At asc',
  '| extend VMs = row_cumsum(Change, Key != prev(Key))',
];
