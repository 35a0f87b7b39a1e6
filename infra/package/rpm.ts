import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
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

const run = promisify(execFile);

/** Why no .rpm can be built; null if the program for it is installed. */
export async function whyNoRpm(): Promise<string | null> {
  try {
    await run('rpmbuild', ['--version']);
    return null;
  } catch {
    return 'the program rpmbuild is missing (Debian and Ubuntu: apt-get install rpm)';
  }
}

interface Contents extends About {
  /** SPDX identifiers of everything in it. */
  readonly licences: readonly string[];
}

/** The package as an .rpm, or null where no rpm runs. The same files make the same bytes, by the same version of rpmbuild. */
export async function rpmOf(files: readonly PackedFile[], contents: Contents): Promise<Buffer | null> {
  const { rpm } = platforms[contents.platform];
  if (rpm === null) return null;
  const folder = mkdtempSync(join(tmpdir(), 'rpm-'));
  try {
    const payload = join(folder, 'payload');
    const placedFiles = await distributedFiles(files, contents, 'usr/share/zsh/site-functions');
    for (const { path, mode, content } of placedFiles) {
      mkdirSync(dirname(join(payload, path)), { recursive: true });
      writeFileSync(join(payload, path), content, { mode });
      utimesSync(join(payload, path), contents.at, contents.at);
    }
    for (const path of ownedFolders) utimesSync(join(payload, path), contents.at, contents.at);
    const spec = join(folder, `${product}.spec`);
    writeFileSync(spec, specOf(placedFiles, contents, payload));
    const out = join(folder, 'made');
    const asked = [
      '-bb',
      spec,
      '--target',
      `${rpm}-linux`,
      '--define',
      `_topdir ${folder}/top`,
      '--define',
      `_rpmdir ${out}`,
    ];
    const epoch = String(Math.floor(contents.at.getTime() / 1000));
    // Without the user's macros.
    await run('rpmbuild', asked, {
      env: { PATH: process.env.PATH, HOME: folder, LC_ALL: 'C', SOURCE_DATE_EPOCH: epoch },
    });
    const [made] = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.rpm'));
    if (made === undefined) throw new Error('rpmbuild has made nothing');
    return readFileSync(join(out, made));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Those of completions belong to every package that puts a file there, since no shell need be installed.
 * https://docs.fedoraproject.org/en-US/packaging-guidelines/UnownedDirectories/
 */
const ownedFolders = [
  placed,
  'usr/share/bash-completion',
  'usr/share/bash-completion/completions',
  'usr/share/fish',
  'usr/share/fish/vendor_completions.d',
  'usr/share/zsh',
  'usr/share/zsh/site-functions',
];

/** The runtime stays as its makers built it, and nothing is guessed from the contents. */
const specOf = (files: readonly DistributedFile[], { version, at, licences }: Contents, payload: string): string => `\
%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
%global use_source_date_epoch_as_buildtime 1
%global source_date_epoch_from_changelog 0
%global _buildhost reproducible
# Every rpm reads xz, and its gzip is too large.
%global _binary_payload w6.xzdio

Name: ${product}
Version: ${asPackageVersion(version)}
Release: 1
Summary: ${summary}
License: ${licences.join(' AND ')}
URL: ${homepage}
Group: System/Monitoring
Vendor: The ${product} authors
Packager: ${maintainer}
AutoReqProv: no
Requires: libc.so.6(GLIBC_2.28)(64bit)
Requires: libstdc++.so.6(CXXABI_1.3.11)(64bit)
Requires: systemd
Requires(post): libc.so.6(GLIBC_2.28)(64bit)
Requires(post): libstdc++.so.6(CXXABI_1.3.11)(64bit)
Requires(post): systemd
Requires(post): /usr/sbin/useradd

%description
${description.join('\n')}

%install
mkdir -p %{buildroot}
cp -a ${payload}/. %{buildroot}/

%post
${scriptlet('post')}
%preun
${scriptlet('preun')}
%postun
${scriptlet('postun')}
%files
${ownedFolders.map((path) => `%dir %attr(0755, root, root) /${path}`).join('\n')}
${files.map(entryOf).join('\n')}

%changelog
* ${at.toUTCString().replace(/^(\w+), (\d+) (\w+) (\d+) .*/, '$1 $3 $2 $4')} ${maintainer} - ${asPackageVersion(version)}-1
- Version ${version}
`;

function entryOf({ path, mode, isConfiguration }: DistributedFile): string {
  const rights = `%attr(${mode.toString(8).padStart(4, '0')}, root, root)`;
  const kind = isConfiguration ? '%config(noreplace) ' : path.startsWith('usr/share/man/') ? '%doc ' : '';
  return `${kind}${rights} /${path}`;
}

const scriptlet = (name: string): string => readFileSync(join(import.meta.dirname, 'scripts/rpm', name), 'utf8');
