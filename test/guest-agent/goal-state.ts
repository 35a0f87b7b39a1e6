/** The extension as Azure wants it. */
export interface Goal {
  readonly version: string;
  readonly state: 'enabled' | 'uninstall';
  /** Of the settings. */
  readonly sequence: number;
  readonly publicSettings: object | null;
  /** The cipher text. */
  readonly protectedSettings: string | null;
}

/** What the documents are made of. */
export interface Deployment {
  /** Publisher and type of the extension. */
  readonly extension: string;
  /** Of the wire server, without a slash at the end. */
  readonly url: string;
  /** Another with each goal: what the agent compares. */
  readonly incarnation: number;
  /** SHA-1 of the certificate that protected settings are encrypted to. */
  readonly thumbprint: string;
  /** Every version that was published. */
  readonly versions: readonly string[];
  readonly goal: Goal | null;
}

const container = '11111111-2222-3333-4444-555555555555';
const role = 'web_0';
const head = '<?xml version="1.0" encoding="utf-8"?>';

/** The versions of the protocol; the agent speaks 2012-11-30. */
export const versionsDocument = `${head}<Versions><Preferred><Version>2015-04-05</Version></Preferred><Supported><Version>2015-04-05</Version><Version>2012-11-30</Version></Supported></Versions>`;

export const hostingDocument = `${head}<HostingEnvironmentConfig version="1.0.0.0"><StoredCertificates/><Deployment name="deployment" guid="{${container}}" incarnation="0"/><Incarnation number="1" instance="${role}" guid="{${container}}"/><Role guid="{${container}}" name="${role}"/></HostingEnvironmentConfig>`;

export const sharedDocument = `${head}<SharedConfig version="1.0.0.0" goalStateIncarnation="1"><Deployment name="deployment" guid="{${container}}" incarnation="1"/></SharedConfig>`;

/** `?comp=goalstate`: where the other documents are. */
export function goalStateDocument({ url, incarnation }: Deployment): string {
  const config = (type: string): string => `${url}/machine/${container}/${role}?comp=config&amp;type=${type}`;
  return `${head}<GoalState><Version>2012-11-30</Version><Incarnation>${incarnation}</Incarnation><Machine><ExpectedState>Started</ExpectedState></Machine><Container><ContainerId>${container}</ContainerId><RoleInstanceList><RoleInstance><InstanceId>${role}</InstanceId><State>Started</State><Configuration><HostingEnvironmentConfig>${config('hostingEnvironmentConfig')}</HostingEnvironmentConfig><SharedConfig>${config('sharedConfig')}</SharedConfig><ExtensionsConfig>${config('extensionsConfig')}</ExtensionsConfig><Certificates>${url}/machine/${container}/${role}?comp=certificates</Certificates><ConfigName>deployment.${incarnation}.${role}.xml</ConfigName></Configuration></RoleInstance></RoleInstanceList></Container></GoalState>`;
}

/** The extensions of the VM, and where the agent uploads its status. */
export function extensionsDocument({ url, extension, thumbprint, goal }: Deployment): string {
  const plugins = goal === null ? '' : pluginsOf(goal, { url, extension, thumbprint });
  return `${head}<Extensions version="1.0.0.0" goalStateIncarnation="1"><GuestAgentExtension><GAFamilies/></GuestAgentExtension>${plugins}<StatusUploadBlob statusBlobType="BlockBlob">${url}/blob/status</StatusUploadBlob></Extensions>`;
}

function pluginsOf(goal: Goal, { url, extension, thumbprint }: Omit<Deployment, 'incarnation' | 'versions' | 'goal'>) {
  const { version, state, sequence, publicSettings, protectedSettings } = goal;
  const handlerSettings = {
    publicSettings,
    ...(protectedSettings !== null && { protectedSettings, protectedSettingsCertThumbprint: thumbprint }),
  };
  const settings = escaped(JSON.stringify({ runtimeSettings: [{ handlerSettings }] }));
  const name = `name="${extension}" version="${version}"`;
  return `<Plugins><Plugin ${name} location="${url}/blob/manifest.xml" state="${state}" autoUpgrade="false" runAsStartupTask="false" isJson="true" useExactVersion="true"/></Plugins><PluginSettings><Plugin ${name}><RuntimeSettings seqNo="${sequence}">${settings}</RuntimeSettings></Plugin></PluginSettings>`;
}

/** The versions of the extension, and where their packages are: in two places, as in Azure. The agent takes the second when the first fails. */
export const manifestDocument = ({ url, versions }: Deployment): string =>
  `${head}<PluginVersionManifest><Plugins>${versions
    .map(
      (version) =>
        `<Plugin><Version>${version}</Version><Uris><Uri>${url}/blob/${version}.zip</Uri><Uri>${url}/blob/${version}.zip?copy</Uri></Uris></Plugin>`,
    )
    .join('')}</Plugins></PluginVersionManifest>`;

/** `?comp=certificates`. `data`: base64 of what only this agent can decrypt. */
export const certificatesDocument = (data: string): string =>
  `${head}<CertificateFile><Version>2012-11-30</Version><Incarnation>1</Incarnation><Format>Pkcs7BlobWithPfxContents</Format><Data>${data}</Data></CertificateFile>`;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
