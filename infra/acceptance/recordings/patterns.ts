/** Identifying texts and secrets, wherever they are found. All with the flag g. */

export const guid = /(?<![0-9a-f])[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}(?![0-9a-f])/gi;

export const eMail = /[\p{L}\p{N}._%+'#-]+(?:@|%40)[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;

const byte = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
/** A number of four parts after the word version is no address. */
export const ipv4 = new RegExp(
  `(?<![\\w.]|version["']?\\s?[:=]?\\s?["']?)(?:${byte}\\.){3}${byte}(?![\\w]|\\.\\d)`,
  'gi',
);

/** What may be an IPv6 address; a time of day may be too. */
export const ipv6 = /(?<![\w:.])(?:::)?(?:[0-9a-f]{1,4}::?){1,7}(?:[0-9a-f]{1,4}(?![\w])|(?=\/\d))/gi;

export const macAddress = /(?<![\w:-])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:-])/gi;

export const resourceId = /\/subscriptions\/[^\s"'<>|\\?#&,;()[\]{}]+/gi;

/** Hosts that the name of a customer's resource begins. */
export const hostOfAzure = new RegExp(
  `(?<![\\w.-])(?<name>[a-z0-9](?:[\\w.-]*?[\\w])?)(?<service>\\.(?:${[
    'servicebus\\.(?:windows\\.net|usgovcloudapi\\.net|chinacloudapi\\.cn)',
    '(?:ingest|metrics)\\.monitor\\.azure\\.(?:com|us|cn)',
    '(?:ods|oms)\\.opinsights\\.azure\\.(?:com|us|cn)',
    'vault\\.(?:azure\\.net|usgovcloudapi\\.net|azure\\.cn)',
    '(?:blob|file|queue|table|dfs)\\.(?:core\\.windows|core\\.usgovcloudapi|core\\.chinacloudapi|storage\\.azure)\\.(?:net|cn)',
    '(?:internal\\.)?cloudapp\\.(?:azure\\.com|net)',
    'onmicrosoft\\.com',
    'azurewebsites\\.net',
    'azurecr\\.io',
  ].join('|')}))(?![\\w-])`,
  'gi',
);

/** The folder of a user, in a path of Linux, macOS or Windows. */
export const homeFolder = /(?<=\/(?:home|Users)\/|[A-Z]:\\+Users\\+)[^/\\\s"'<>:;,]+/g;

/** Text in base64 or in its form for URLs; a path may look like it. */
export const base64 = /(?<![\w+/-])[\w+/-]{16,}={0,2}/g;

export const jsonWebToken = /\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g;

/** Replaced as a whole. */
export const secrets: readonly RegExp[] = [
  /-----BEGIN [A-Z ]+-----[\s\S]*?-----END [A-Z ]+-----/g,
  /\b(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\w+)\s+AAAA[\w+/=]+(?:\s+\S+@[\w.-]+)?/g,
  /(?<=\b(?:Bearer|SharedAccessSignature|SharedKey|Basic)\s+)[\w~+/.=%&:-]{12,}/gi,
  jsonWebToken,
  // Keys of 512 and 256 bits, as storage accounts and namespaces have them.
  /(?<![\w+/=])(?:[A-Za-z0-9+/]{86}==|[A-Za-z0-9+/]{43}=)(?!=)/g,
];

const secretName = `(?<![a-z])(?:\\w*(?:secret|password|passwd|pwd|access_?key|account_?key|shared_?key|(?:access|refresh|id)_?token|connection_?string)|sig|assertion)`;
const valueAfter = (quote: string): string => `(?<=${secretName}\\\\*["']?\\s?[=:]\\s?${quote})`;

/** The value after the name of a secret: in JSON, in JSON within JSON, in a URL, a connection string or an environment. */
export const secretValue = new RegExp(
  [
    `${valueAfter('"')}(?:[^"\\\\]|\\\\.)+`,
    `${valueAfter("'")}[^']+`,
    `${valueAfter('\\\\+"')}[^"]+?(?=\\\\+")`,
    `${valueAfter('')}[^\\s"'\\\\&;,<>(){}[\\]]+`,
  ].join('|'),
  'gi',
);
