import { parseArgs } from 'node:util';
import { cases } from './cases.ts';
import { brokenKinds, countWorlds, examplesOf, tableOf } from './count.ts';
import { describeFinding, describeRecords, describeWorld } from './describe.ts';
import { generateWorld } from './generate.ts';
import { judge } from './judge.ts';
import { judgeCase } from './judge-case.ts';
import { type Kind, kinds } from './kinds.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    worlds: { type: 'string', default: '5000' },
    first: { type: 'string', default: '1' },
    kind: { type: 'string' },
    cases: { type: 'boolean' },
    case: { type: 'string' },
  },
});

if (values.cases || values.case !== undefined) {
  cases.forEach((one, index) => {
    if (values.case !== undefined && index + 1 !== Number(values.case)) return;
    const { verdict, problems } = judgeCase(one);
    console.log(`${index + 1} ${problems.length === 0 ? 'right' : 'WRONG'}: ${one.title}`);
    for (const problem of problems) console.log(`    ${problem}`);
    if (values.case !== undefined) console.log(`${describeWorld(one.world)}\nrecords\n${describeRecords(verdict)}`);
    if (problems.length > 0) process.exitCode = 1;
  });
} else if (values.seed !== undefined) {
  const verdict = judge(generateWorld(Number(values.seed)));
  const findings = verdict.findings.map(describeFinding);
  console.log(
    [
      describeWorld(verdict.world),
      'records',
      describeRecords(verdict),
      `${findings.length} findings`,
      ...findings,
    ].join('\n'),
  );
} else {
  const counts = countWorlds(Number(values.first), Number(values.worlds), (done) => {
    if (process.stderr.isTTY && done % 50 === 0) process.stderr.write(`\r${done} worlds`);
  });
  const shown = values.kind === undefined ? [] : (Object.keys(kinds) as Kind[]).filter((kind) => kind === values.kind);
  console.log([tableOf(counts), examplesOf(counts, shown)].filter((part) => part !== '').join('\n\n'));
  if (brokenKinds(counts).length > 0) process.exitCode = 1;
}
