import { platformPaths } from '../config/config-file.ts';
import { mergeDocuments } from '../config/merge-documents.ts';
import { type ConfigDocument, readConfig } from '../config/read-config.ts';
import { type CheckedContent, describeProblems } from '../service/configure.ts';
import { Refusal } from '../service/refusals.ts';
import { isObject } from './handler-environment.ts';

/** The two documents that make the configuration of the bridge. Null: not given. */
export interface Documents {
  readonly publicSettings: unknown;
  /** Decrypted. */
  readonly protectedSettings: unknown;
}

export interface Place {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
}

const source = 'the settings of the extension';

/**
 * The configuration in the settings of an extension: protected settings override public ones. Null where neither sets anything.
 * @throws Refusal with everything that is wrong with them, secrets in the public ones included.
 */
export function configurationIn(
  { publicSettings, protectedSettings }: Documents,
  { platform, env }: Place,
): CheckedContent | null {
  if (isEmpty(publicSettings) && isEmpty(protectedSettings)) return null;
  const documents: readonly ConfigDocument[] = [
    {
      value: publicSettings,
      source: 'the public settings',
      keepsSecrets: false,
      placeForSecrets: 'it in the protected settings',
    },
    { value: protectedSettings, source: 'the protected settings', keepsSecrets: true, hidesValues: true },
  ];
  const { stateDirectory: defaultStateDirectory } = platformPaths(platform, env);
  // The service does not have the environment of the guest agent.
  const { config, problems } = readConfig({ documents, env: {}, defaultStateDirectory });
  if (!config) throw new Refusal('badConfiguration', describeProblems(problems, source));
  const merged = mergeDocuments(publicSettings, protectedSettings);
  return {
    content: Buffer.from(`${JSON.stringify(merged, null, 2)}\n`),
    source,
    stateDirectory: config.stateDirectory,
  };
}

const isEmpty = (document: unknown): boolean =>
  document === null || document === undefined || (isObject(document) && Object.keys(document).length === 0);
