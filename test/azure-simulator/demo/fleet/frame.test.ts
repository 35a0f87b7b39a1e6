import { expect, test } from 'vitest';
import { fleetFrame } from '../../../../src/azure-simulator/demo/fleet/frame.ts';
import { toText } from '../../../../src/azure-simulator/demo/picture/ink.ts';
import { fleet, fleetAt } from './maintenance.ts';

const drawn = (seconds: number): string[] =>
  fleetFrame(fleetAt(seconds), seconds, 80, fleet).map((row) => toText(row, false).trimEnd());

test('while bridges are still starting every cell of the fleet is idle', () => {
  expect(drawn(3)).toEqual([
    ' Scheduled Events Bridge  a scale set of 5 VMs           3 bridges look     3 s',
    '',
    ' domain 0    ···',
    ' domain 1    ··',
    '',
    ' event hub                                              0 records',
    ' table                                                  0 records',
    ' folded      what all VMs said, one for each step       0 transitions',
    '',
    ' · nothing   ○ scheduled   ● started   ■ over   +3: told by 3 neighbours',
  ]);
});

test('a cell shows what its VM said last, and a domain how far it is', () => {
  expect(drawn(18)).toEqual([
    ' Scheduled Events Bridge  a scale set of 5 VMs            incarnation 5    18 s',
    '',
    ' domain 0    ■●■                                        Completed 2 of 3 +1',
    ' domain 1    ○○                                         Scheduled 2 of 2',
    '',
    ' event hub         ▇    █    ▄▂                         11 records, 1 copy',
    ' table             ▇    █    ▄                          11 records',
    ' folded      what all VMs said, one for each step       4 transitions',
    '',
    ' · nothing   ○ scheduled   ● started   ■ over   +3: told by 3 neighbours',
  ]);
});

test.for([
  { vmCount: 200, columns: 80, lines: 5 },
  { vmCount: 500, columns: 80, lines: 15 },
  { vmCount: 500, columns: 118, lines: 10 },
  { vmCount: 2, columns: 80, lines: 2 },
])('$vmCount VMs take $lines lines of cells in $columns columns', ({ vmCount, columns, lines }) => {
  const vms = Array.from({ length: vmCount }, (_, number) => `web_${number}`);
  const rows = fleetFrame(fleetAt(0), 0, columns, { vms, domains: Math.min(5, vmCount) }).map((row) =>
    toText(row, false),
  );
  const ofCells = rows.filter((row) => /^ (domain \d)? +·/.test(row));
  expect(ofCells).toHaveLength(lines);
  expect(ofCells.join('').match(/·/g)).toHaveLength(vmCount);
  expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(columns);
});
