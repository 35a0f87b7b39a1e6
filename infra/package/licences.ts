import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BundledPackage } from './bundled.ts';

/**
 * Licences of what may be in the bundle: they ask for their text and for the names of the authors, which the package brings, and for
 * nothing else. One that is not here is a question for a person.
 */
export const allowedLicences: readonly string[] = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];

/** Packages that are published without the text of their licence -> one of the same repository and author that brings it. */
export const textBeside: Readonly<Record<string, string>> = { 'proxy-agent-negotiate': 'agent-base' };

interface Sources {
  /** Of the sources, where `node_modules` is. */
  readonly root: string;
  /** Null: the package brings no runtime. */
  readonly node: { readonly version: string; readonly licence: string } | null;
  /** What is compiled into our own programs. */
  readonly compiledIn?: readonly { readonly title: string; readonly text: string }[];
}

/**
 * The licences of all that others have written in a package: of every npm package in the bundle, equal texts once, and of Node if it is there.
 * @throws Error naming every package that says no licence, one that is not allowed, or that brings no text.
 */
export function thirdPartyLicences(
  packages: readonly BundledPackage[],
  { root, node, compiledIn = [] }: Sources,
): string {
  const problems: string[] = [];
  const byText = new Map<string, string[]>();
  for (const one of packages) {
    const { name, version, licence } = one;
    const text = textOf(one, packages, root);
    if (licence === null) problems.push(`${name} ${version} says no licence`);
    else if (!allowedLicences.includes(licence)) problems.push(`${name} ${version} is under ${licence}`);
    if (text === null) problems.push(`${name} ${version} brings no text of its licence`);
    else byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${licence})`]);
  }
  if (problems.length > 0) {
    throw new Error(
      `What is in the bundle cannot be passed on: ${problems.join('; ')}. Allowed are ${allowedLicences.join(', ')}, with their texts: see infra/package/licences.ts.`,
    );
  }
  const chapters = [...byText].map(([text, titles]) => ({ title: titles.join('\n'), text }));
  if (node !== null)
    chapters.push({
      title: `Node.js ${node.version}, the runtime, with what is compiled into it`,
      text: node.licence.trim(),
    });
  chapters.push(...compiledIn);
  const runtime = node === null ? '' : 'the runtime Node.js as its makers built it, and ';
  return [
    `The package contains software of others, under the licences below: ${runtime}npm\npackages, which are in its programs (*.cjs).`,
    ...chapters.map(({ title, text }) => `${line}\n${title}\n${line}\n\n${text}`),
  ]
    .join('\n\n')
    .concat('\n');
}

const line = '-'.repeat(79);

/** Everything that the package has to say about its licence. */
function textOf({ name, path }: BundledPackage, packages: readonly BundledPackage[], root: string): string | null {
  const texts = readdirSync(join(root, path))
    .filter((file) => /^(licen[cs]e|copying|notice|copyright)/i.test(file))
    .toSorted()
    .map((file) =>
      readFileSync(join(root, path, file), 'utf8')
        .replaceAll('\r\n', '\n')
        .trim(),
    )
    .filter((text) => text !== '');
  if (texts.length > 0) return texts.join('\n\n');
  const beside = packages.find((one) => one.name === textBeside[name]);
  return beside && beside.name !== name ? textOf(beside, packages, root) : null;
}
