/** Writes `fleet.workbook` and `../grafana/fleet.json` from the list of panels. */
import { writeFileSync } from 'node:fs';
import { dashboards } from './dashboards.ts';

for (const { path, text } of dashboards()) {
  writeFileSync(path, text);
  process.stdout.write(`${path}: ${text.length.toLocaleString('en-US')} characters\n`);
}
