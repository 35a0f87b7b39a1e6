import { FleetView, type LifecycleRecord } from '../../src/consumer/index.ts';
import { FleetModel } from '../../src/fleet-page/fleet-model.ts';
import { parseQuery } from '../../src/fleet-page/query.ts';
import { recordsOf, smallFleet, smallFleetGroups } from '../support/fleet-rows/wave.ts';

const { from, nowSeconds } = smallFleet;

/** When the small fleet is looked at. */
export const now = from.getTime() + 1000 * nowSeconds;
/** This many seconds after the beginning. */
export const at = (seconds: number): number => from.getTime() + 1000 * seconds;

export function viewOf(records: readonly LifecycleRecord[]): FleetView {
  const view = new FleetView();
  for (const record of records) view.add(record);
  return view;
}

export const smallFleetRecords = (): readonly LifecycleRecord[] => recordsOf(smallFleetGroups(), from, nowSeconds);

/** What the page answers for this query when it is looked at. */
export function answer(search: string, view: FleetView) {
  return new FleetModel(view).view(parseQuery(new URLSearchParams(search)), now);
}
