import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface OnCall {
  readonly meaning: string;
  readonly urgent: string;
  readonly firstQuery: string;
  readonly whatToDo: string;
}

interface AnyAlert {
  readonly name: string;
  readonly displayName: string;
  readonly enabled: boolean;
  readonly severity: number;
  readonly autoMitigate: boolean;
  readonly onCall: OnCall;
}

export interface RowAlert extends AnyAlert {
  readonly query: string;
}

export type Operator = 'Equals' | 'GreaterThan' | 'GreaterThanOrEqual' | 'LessThan' | 'LessThanOrEqual';

export interface LogAlert extends AnyAlert {
  readonly query: string;
  readonly evaluationFrequency: string;
  readonly windowSize: string;
  readonly overrideQueryTimeRange?: string;
  readonly metricMeasureColumn?: string;
  readonly timeAggregation?: 'Count' | 'Average' | 'Minimum' | 'Maximum' | 'Total';
  readonly resourceIdColumn?: string;
  readonly dimensions?: readonly string[];
  readonly operator: Operator;
  readonly threshold: number;
}

export interface MetricAlert extends AnyAlert {
  readonly targetKind: 'eventHubNamespace' | 'dataCollectionRule' | 'virtualMachines';
  readonly metricName: string;
  readonly operator: Operator;
  readonly threshold: number;
  readonly percentOf?: string;
}

export interface ActivityAlert extends AnyAlert {
  readonly targetKind: 'workspace' | 'alertRules';
  readonly operationName: string;
}

export interface Alerts {
  readonly rowAlerts: readonly RowAlert[];
  readonly logAlerts: readonly LogAlert[];
  readonly metricAlerts: readonly MetricAlert[];
  readonly activityAlerts: readonly ActivityAlert[];
}

/** All of them, in the order of their kinds. */
export const allAlerts = (alerts: Alerts): readonly (RowAlert | LogAlert | MetricAlert | ActivityAlert)[] => [
  ...alerts.rowAlerts,
  ...alerts.logAlerts,
  ...alerts.metricAlerts,
  ...alerts.activityAlerts,
];

/** The alerts of the platform, as `infra/alerts/alerts.yaml` has them. */
export function readAlerts(): Alerts {
  return parse(readFileSync(new URL('../../../infra/alerts/alerts.yaml', import.meta.url), 'utf8'));
}

const minutesIn: Readonly<Record<string, number>> = { M: 1, H: 60, D: 1440 };

/** Minutes of `PT5M`, `PT1H`, `P1D`. */
export function minutesOf(duration: string): number {
  const [, number, unit = ''] = /^PT?(\d+)([MHD])$/.exec(duration) ?? [];
  const minutes = Number(number) * (minutesIn[unit] ?? Number.NaN);
  if (Number.isNaN(minutes)) throw new Error(`${duration} is no duration such as PT5M`);
  return minutes;
}
