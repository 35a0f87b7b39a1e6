import { expect, test } from 'vitest';
import { frame } from '../../../src/azure-simulator/demo/frame.ts';
import { beginningOf } from '../../../src/azure-simulator/demo/model.ts';
import { toText } from '../../../src/terminal/styled-text.ts';
import { fleetAt } from './maintenance.ts';

const drawn = (seconds: number): string[] =>
  frame(fleetAt(seconds), seconds, 80).map((row) => toText(row, false).trimEnd());

test('every cell of a fleet is empty while its bridges start', () => {
  expect(drawn(3)).toEqual([
    ' Scheduled Events Bridge  5 VMs                  3 of 5 bridges polling     3 s',
    '',
    ' domain 0   ···',
    ' domain 1   ··',
    '',
    ' event hub                                             0 records',
    ' table                                                 0 records',
    ' folded     one per step, whichever VM reported it     0 transitions',
    '',
    ' · no event  ○ scheduled  ● started  ■ ended  +3 records of other VMs',
  ]);
});

test('a cell shows the last phase of its VM, and a domain how far it is', () => {
  expect(drawn(18)).toEqual([
    ' Scheduled Events Bridge  5 VMs           Azure: incarnation 5, 1 event    18 s',
    '',
    ' domain 0   ■●■                                        Completed 2 of 3 +1',
    ' domain 1   ○○                                         Scheduled 2 of 2',
    '',
    ' event hub        ▇    █    ▄▂                         11 records, 1 copy',
    ' table            ▇    █    ▄                          11 records',
    ' folded     one per step, whichever VM reported it     4 transitions',
    '',
    ' · no event  ○ scheduled  ● started  ■ ended  +3 records of other VMs',
  ]);
});

test.for([
  { vmCount: 200, columns: 80, lines: 5 },
  { vmCount: 500, columns: 80, lines: 15 },
  { vmCount: 500, columns: 118, lines: 10 },
  { vmCount: 2, columns: 80, lines: 2 },
])('$vmCount VMs take $lines lines of cells in $columns columns', ({ vmCount, columns, lines }) => {
  const vms = Array.from({ length: vmCount }, (_, number) => `web_${number}`);
  const rows = frame(beginningOf(vms, Math.min(5, vmCount)), 0, columns).map((row) => toText(row, false));
  const ofCells = rows.filter((row) => /^ (domain \d)? +·/.test(row));
  expect(ofCells).toHaveLength(lines);
  expect(ofCells.join('').match(/·/g)).toHaveLength(vmCount);
  expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(columns);
});
