import { spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';

/** How a program shows which verbs and options it has. */
interface Manual {
  /** How many words after the name of the program are verbs. */
  readonly verbs: number;
  /** Calls that print the help for some verbs. */
  readonly help: (program: string, verbs: readonly string[]) => readonly (readonly string[])[];
  /** Options that its help leaves out, and its documentation has. */
  readonly alsoHas?: readonly string[];
  /** Where its documentation is, for a reader whose machine does not have it. */
  readonly source: string;
}

const withHelp: Manual['help'] = (program, verbs) => [[program, ...verbs, '--help']];

/** Programs of others. Their verbs and options are looked up in their own help, when they are installed. */
export const manuals: Readonly<Record<string, Manual>> = {
  'apt-get': {
    verbs: 1,
    help: () => [['apt-get', '--help']],
    alsoHas: ['--allow-downgrades'],
    source: 'https://manpages.debian.org/stable/apt/apt-get.8.en.html',
  },
  cargo: { verbs: 1, help: withHelp, source: 'https://doc.rust-lang.org/cargo/commands/' },
  curl: { verbs: 0, help: () => [['curl', '--help', 'all']], source: 'https://curl.se/docs/manpage.html' },
  dnf: { verbs: 1, help: () => [['dnf', '--help']], source: 'https://dnf.readthedocs.io/en/latest/command_ref.html' },
  docker: { verbs: 1, help: withHelp, source: 'https://docs.docker.com/reference/cli/docker/' },
  go: { verbs: 1, help: (_, verbs) => [['go', 'help', ...verbs]], source: 'https://pkg.go.dev/cmd/go' },
  gpg: {
    verbs: 0,
    help: () => [['gpg', '--dump-options']],
    source: 'https://www.gnupg.org/documentation/manuals/gnupg/OpenPGP-Key-Management.html',
  },
  ip: {
    verbs: 0,
    help: () => [
      ['ip', 'help'],
      ['ip', 'netns', 'help'],
      ['ip', 'link', 'help'],
      ['ip', 'address', 'help'],
    ],
    source: 'https://man7.org/linux/man-pages/man8/ip-netns.8.html',
  },
  java: {
    verbs: 0,
    help: () => [['java', '--help']],
    source: 'https://docs.oracle.com/en/java/javase/17/docs/specs/man/java.html',
  },
  javac: {
    verbs: 0,
    help: () => [['javac', '--help']],
    source: 'https://docs.oracle.com/en/java/javase/17/docs/specs/man/javac.html',
  },
  journalctl: {
    verbs: 0,
    help: withHelp,
    source: 'https://www.freedesktop.org/software/systemd/man/latest/journalctl.html',
  },
  keytool: {
    verbs: 0,
    help: () => [['keytool', '-importcert', '-help']],
    source: 'https://docs.oracle.com/en/java/javase/17/docs/specs/man/keytool.html',
  },
  kubectl: {
    verbs: 0,
    help: (_, verbs) => [
      ['kubectl', ...verbs, '--help'],
      ['kubectl', 'options'],
    ],
    source: 'https://kubernetes.io/docs/reference/kubectl/generated/',
  },
  openssl: {
    verbs: 1,
    help: (_, verbs) => [['openssl', ...verbs, '-help']],
    source: 'https://docs.openssl.org/3.0/man1/openssl-pkeyutl/',
  },
  pip: { verbs: 1, help: withHelp, source: 'https://pip.pypa.io/en/stable/cli/' },
  python: {
    verbs: 0,
    help: () => [['python3', '--help']],
    source: 'https://docs.python.org/3/using/cmdline.html',
  },
  sed: { verbs: 0, help: withHelp, source: 'https://www.gnu.org/software/sed/manual/sed.html' },
  systemctl: {
    verbs: 1,
    help: withHelp,
    source: 'https://www.freedesktop.org/software/systemd/man/latest/systemctl.html',
  },
  tar: { verbs: 0, help: withHelp, source: 'https://www.gnu.org/software/tar/manual/html_section/Option-Summary.html' },
  touch: {
    verbs: 0,
    help: withHelp,
    source: 'https://www.gnu.org/software/coreutils/manual/html_node/touch-invocation.html',
  },
  zypper: { verbs: 1, help: withHelp, source: 'https://en.opensuse.org/SDB:Zypper_manual' },
};

const verbsOfKubectl = ['apply', 'delete', 'rollout', 'exec'];

/** The verbs of a call. */
function verbsOf([program = '', ...words]: readonly string[]): readonly string[] {
  const verbs = words.filter((word) => !word.startsWith('-'));
  if (program !== 'kubectl') return verbs.slice(0, manuals[program]?.verbs ?? 0);
  const verb = verbs.find((word) => verbsOfKubectl.includes(word)) ?? '';
  return verb === 'rollout' ? [verb, verbs[verbs.indexOf(verb) + 1] ?? ''] : [verb];
}

/** Each option of a call as its program spells it; `-abc` is three, unless the program has long options with one hyphen. */
function optionsOf([program = '', ...words]: readonly string[]): readonly string[] {
  const end = words.indexOf('--');
  const own = end === -1 ? words : words.slice(0, end);
  const oneHyphen = ['java', 'javac', 'keytool', 'openssl', 'go', 'ip'].includes(program);
  return own
    .filter((word) => /^-./.test(word))
    .flatMap((word) => {
      const name = word.replace(/=.*$/, '');
      if (program === 'java') return [name.replace(/^-D.*/, '-D').replace(/^-cp$/, '-cp')];
      return name.startsWith('--') || oneHyphen ? [name] : [...name.slice(1)].map((letter) => `-${letter}`);
    });
}

const printed = new Map<string, string | null>();

/** What a program prints when it is asked for help, each once; null where the program is not installed. */
function helpPrintedBy(command: readonly string[]): string | null {
  const known = printed.get(command.join(' '));
  if (known !== undefined) return known;
  const [name = '', ...args] = command;
  // As far from node_modules/.bin as possible: a program of that name there would be another one.
  const path = (process.env.PATH ?? '').split(delimiter).filter((one) => !one.includes('node_modules'));
  const env = { ...process.env, PATH: path.join(delimiter) };
  const { error, stdout, stderr } = spawnSync(name, args, { encoding: 'utf8', timeout: 20_000, env });
  const help = error === undefined ? stdout + stderr : null;
  printed.set(command.join(' '), help);
  return help;
}

/** The parts of a call that the help of a program does not have; null when the program is not installed. */
export function missingInHelp(call: readonly string[]): readonly string[] | null {
  const [program = ''] = call;
  const verbs = verbsOf(call);
  const texts = (manuals[program]?.help(program, verbs) ?? []).map(helpPrintedBy);
  if (texts.includes(null)) return null;
  const known = manuals[program]?.alsoHas ?? [];
  const help = texts.join('\n');
  const has = (word: string): boolean =>
    new RegExp(`(^|[\\s,[|/(])${word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}($|[\\s,=<[\\]|).:])`, 'm').test(help);
  return [...verbs, ...optionsOf(call)].filter((word) => !known.includes(word) && !has(word));
}
