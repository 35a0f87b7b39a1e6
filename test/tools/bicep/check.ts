import { checks } from './checks/index.ts';
import type { Finding } from './finding.ts';
import type { Project } from './project.ts';
import type { SecondReader } from './second-reader.ts';
import type { BicepFile } from './syntax.ts';

/** Everything wrong in these files, one sentence each: `file:line: what [code]`. */
export function check(project: Project, reader: SecondReader, paths: readonly string[]): string[] {
  return paths.flatMap((path) =>
    findingsOf(project, reader, path)
      .sort((a, b) => a.line - b.line)
      .map(({ line, code, what }) => `${path}:${line}: ${what} [${code}]`),
  );
}

function findingsOf(project: Project, reader: SecondReader, path: string): Finding[] {
  const file = project.file(path);
  const scope = project.scope(path);
  if (file === null || scope === null) return [{ line: 1, code: 'BCP091', what: 'there is no such file' }];
  if (file.errors.length > 0) return file.errors.map(({ line, what }) => ({ line, code: 'syntax', what }));
  const stumbles = reader.errors(project.text(path) ?? '');
  const what = 'the grammar of tree-sitter does not know this: say it in another way';
  return [
    ...stumbles.map((line) => ({ line, code: 'syntax', what })),
    ...unlessDisabled(
      file,
      Object.values(checks).flatMap((one) => one({ file, scope, project })),
    ),
  ];
}

/** `#disable-next-line` is honoured when it says why, and when there is something to disable. */
function unlessDisabled({ pragmas }: BicepFile, findings: readonly Finding[]): Finding[] {
  const disables = (line: number, code: string) =>
    pragmas.find((pragma) => pragma.line === line - 1 && pragma.codes.includes(code) && pragma.reason !== '');
  const unexplained = pragmas.filter(({ reason }) => reason === '');
  return [
    ...findings.filter(({ line, code }) => disables(line, code) === undefined),
    ...unexplained.map(({ line }) => ({
      line,
      code: 'disable',
      what: '#disable-next-line says why: in a comment behind it, or on the line before',
    })),
  ];
}
