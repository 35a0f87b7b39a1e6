import type { FaultTest } from '../fault-test.ts';
import { makeCertificates, type TestCertificates } from '../wire/certificates.ts';
import { drawScenes, playScenes, type Scene } from '../wire/scene.ts';

const kinds = [
  ['expired', /^tls-expired$/],
  ['wrongName', /^tls-wrong-name$/],
  ['selfSigned', /^tls-untrusted$/],
] as const;

/** Both services show the same certificate; what is behind it works, and would take the records. */
const sceneOf = ([kind, code]: (typeof kinds)[number], certificates: TestCertificates): Scene => ({
  name: kind,
  sinks: ['event-hubs', 'log-analytics'],
  code,
  configuration: certificates.configuration,
  begin({ hub, table }) {
    for (const front of [hub, table]) front.set({ certificate: certificates[kind], behind: 'pass' });
  },
  end({ hub, table }) {
    for (const front of [hub, table]) front.set('pass');
  },
  // A wrong certificate takes an operator: the pause is at least 30 s.
  heals: 'preempt',
  mostHealSeconds: 8,
  happened: ({ hub, table }) => Math.min(hub.faulted, table.faulted),
});

/** Certificates that have expired, are of another host, or come from an authority that is not trusted. */
export const certificates: FaultTest = {
  id: 'certificates',
  title: 'TLS certificates that have expired, name another host or are not trusted',
  kind: 'processes',
  cases: { quick: 3, full: 30 },
  load: { seconds: 20, processors: 0.2 },
  async run(context) {
    const made = await makeCertificates(context.directory);
    const scenes = kinds.map((kind) => sceneOf(kind, made));
    return await playScenes(drawScenes(scenes, context), context, 3);
  },
};
