import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type About,
  asPackageVersion,
  type DistributedFile,
  description,
  distributedFiles,
  homepage,
  maintainer,
  placed,
  product,
  summary,
} from './distribution.ts';
import type { PackedFile } from './packed-file.ts';
import { platforms } from './platforms.ts';
import { gzipOf, tar } from './tar.ts';

/**
 * The package as a .deb, or null where Debian does not run. The same files make the same bytes. Written here, so that it can be made
 * where there is no dpkg: it is an ar archive of two tar archives. https://manpages.debian.org/deb.5
 */
export async function debOf(files: readonly PackedFile[], { version, platform, at }: About): Promise<Buffer | null> {
  const { debian } = platforms[platform];
  if (debian === null) return null;
  const distributed = await distributedFiles(files, { version, at }, 'usr/share/zsh/vendor-completions');
  const payload = [
    ...distributed,
    plain(`usr/share/doc/${product}/copyright`, copyright()),
    plain(`usr/share/doc/${product}/changelog.gz`, await gzipOf(Buffer.from(changelog(version, at)))),
    plain(`usr/share/lintian/overrides/${product}`, overrides),
  ];
  const scripts = ['postinst', 'prerm', 'postrm'].map(
    (name): PackedFile => ({
      path: name,
      mode: 0o755,
      content: readFileSync(join(import.meta.dirname, 'scripts/deb', name)),
    }),
  );
  const sums = payload.map(({ path, content }) => `${createHash('md5').update(content).digest('hex')}  ${path}\n`);
  const control = [
    plain('control', fields(version, debian, payload)),
    plain('conffiles', conffiles(distributed)),
    plain('md5sums', sums.join('')),
    ...scripts,
  ];
  const [controlTar, dataTar] = await Promise.all(
    [control, payload].map((content) => gzipOf(tar(content, { top: './', at }))),
  );
  return ar(
    [
      { name: 'debian-binary', content: Buffer.from('2.0\n') },
      { name: 'control.tar.gz', content: controlTar ?? Buffer.alloc(0) },
      { name: 'data.tar.gz', content: dataTar ?? Buffer.alloc(0) },
    ],
    at,
  );
}

const plain = (path: string, content: Buffer | string): PackedFile => ({
  path,
  mode: 0o644,
  content: Buffer.from(content),
});

/** https://www.debian.org/doc/debian-policy/ap-pkg-conffiles.html */
const conffiles = (files: readonly DistributedFile[]): string =>
  files
    .filter(({ isConfiguration }) => isConfiguration)
    .map(({ path }) => `/${path}\n`)
    .join('');

/** https://www.debian.org/doc/debian-policy/ch-controlfields.html. */
function fields(version: string, architecture: string, payload: readonly PackedFile[]): string {
  const kilobytes = payload.reduce((sum, { content }) => sum + Math.ceil(content.length / 1024), 0);
  return `${[
    `Package: ${product}`,
    `Version: ${asPackageVersion(version)}`,
    `Architecture: ${architecture}`,
    `Maintainer: ${maintainer}`,
    `Installed-Size: ${kilobytes}`,
    // CXXABI_1.3.11 came with GCC 7.
    'Depends: libc6 (>= 2.28), libstdc++6 (>= 7), passwd, systemd',
    'Section: admin',
    'Priority: optional',
    `Homepage: ${homepage}`,
    `Description: ${summary}`,
    ...description.map((line) => ` ${line}`),
  ].join('\n')}\n`;
}

const copyright = (): string => `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Comment: The licences of what others have written are in /${placed}/THIRD-PARTY-LICENSES.txt.

Files: *
Copyright: 2026 The ${product} authors
License: Expat
 ${licenceText().replaceAll('\n\n', '\n.\n').replaceAll('\n', '\n ')}
`;

/** Without its title and whose it is: both are said in fields. */
const licenceText = (): string =>
  readFileSync(join(import.meta.dirname, '../../LICENSE'), 'utf8')
    .trim()
    .split('\n\n')
    .slice(2)
    .join('\n\n');

const changelog = (
  version: string,
  at: Date,
): string => `${product} (${asPackageVersion(version)}) stable; urgency=medium

  * Version ${version}.

 -- ${maintainer}  ${at.toUTCString().replace('GMT', '+0000')}
`;

/** Of lintian: what it says, and where. */
const overridden = [
  // The runtime is the one that the makers of Node have built and tested: it is not built again, nor stripped.
  ...['embedded-library', 'unstripped-binary-or-object', 'hardening-no-pie', 'hardening-no-fortify-functions'].map(
    (tag) => [tag, `*${placed}/node*`] as const,
  ),
  ['spelling-error-in-binary', `*${placed}/node*`],
  // Its first line is for who unpacks it elsewhere; here the command beside it starts it, with the runtime beside it.
  ['script-not-executable', `*${placed}/${product}.cjs*`],
  // Where it is, is what it is: https://people.debian.org/~hmh/invokerc.d-policyrc.d-specification.txt
  ['command-with-path-in-maintainer-script', '*/usr/sbin/policy-rc.d*'],
] as const;

const overrides = overridden.map(([tag, where]) => `${product}: ${tag} ${where}\n`).join('');

function ar(members: readonly { readonly name: string; readonly content: Buffer }[], at: Date): Buffer {
  const seconds = String(Math.floor(at.getTime() / 1000));
  const pieces = members.flatMap(({ name, content }) => {
    const head = [name.padEnd(16), seconds.padEnd(12), '0'.padEnd(6), '0'.padEnd(6), '100644'.padEnd(8)];
    const padding = content.length % 2 === 0 ? '' : '\n';
    return [Buffer.from(`${head.join('')}${String(content.length).padEnd(10)}\`\n`), content, Buffer.from(padding)];
  });
  return Buffer.concat([Buffer.from('!<arch>\n'), ...pieces]);
}
