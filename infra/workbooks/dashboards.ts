import { fileURLToPath } from 'node:url';
import { toGrafana } from '../grafana/to-grafana.ts';
import { jsonLines, jsonText } from './json-text.ts';
import { tabs } from './panels/index.ts';
import { toWorkbook } from './to-workbook.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const workbookPath: string = at('fleet.workbook');
export const grafanaPath: string = at('../grafana/fleet.json');

/** Both dashboards, as written to their files. Bicep loads at most 131,072 characters of the workbook. */
export const dashboards = (): readonly { readonly path: string; readonly text: string }[] => [
  { path: workbookPath, text: jsonLines({ ...toWorkbook(tabs) }) },
  { path: grafanaPath, text: jsonText(toGrafana(tabs)) },
];
