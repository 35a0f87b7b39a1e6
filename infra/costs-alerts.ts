import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { AlertRule } from './costs-model.ts';

const minutesIn: Readonly<Record<string, number>> = { M: 1, H: 60, D: 1440 };

/** `PT5M` -> 5. */
export function minutes(duration: string): number {
  const [, number, unit = ''] = /^P(?:T(?=\d+[MH]$))?(\d+)([MHD])$/.exec(duration) ?? [];
  const length = minutesIn[unit];
  if (length === undefined) throw new Error(`${duration} in alerts.yaml is no duration such as PT5M, PT1H or P1D`);
  return Number(number) * length;
}

/** The rules in a text such as `alerts.yaml` that are deployed enabled, as far as their price depends on them. */
export function alertRulesIn(yaml: string): AlertRule[] {
  const lists = parse(yaml) as Readonly<Record<string, readonly unknown[]>>;
  return Object.values(lists).flat().flatMap(rule);
}

/** The alerts of the platform, as a text. */
export const readAlertsText = (): string => readFileSync(new URL('alerts/alerts.yaml', import.meta.url), 'utf8');

/** Those of the platform. */
export const readAlertRules = (): AlertRule[] => alertRulesIn(readAlertsText());

/** Rows and metrics are looked at as they come; a query at its interval. */
function rule(one: unknown): AlertRule[] {
  const { enabled, metricName, operationName, evaluationFrequency } = one as {
    readonly enabled?: boolean;
    readonly operationName?: string;
    readonly metricName?: string;
    readonly evaluationFrequency?: string;
  };
  // Alerts by the activity log are free.
  if (enabled === false || operationName !== undefined) return [];
  if (metricName !== undefined) return ['metric'];
  return [evaluationFrequency === undefined ? 'near-real-time' : minutes(evaluationFrequency)];
}
