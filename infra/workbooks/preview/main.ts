/** Draws the workbook over the demo fleet as one page of HTML. */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { workbookPath } from '../dashboards.ts';
import { drawPage } from './page.ts';
import { answerAll, openDemoFleet } from './preview.ts';
import { readWorkbook, stepsOf, tabsOf } from './read-workbook.ts';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const file = values.out ?? join(tmpdir(), 'fleet-workbook.html');
const workbook = readWorkbook(workbookPath);
const fleet = openDemoFleet();
const answered = answerAll(stepsOf(workbook), fleet);
writeFileSync(file, drawPage(tabsOf(workbook), answered, `The demo fleet, ${fleet.now.toUTCString()}, 14 days back`));
process.stdout.write(`${file}: ${answered.length} panels\n`);
