import type { ErrorDetail } from '../azure/error-detail.ts';
import { classify } from '../azure/errors.ts';
import { type Destination, retry } from '../azure/failure.ts';
import { readClaims } from '../check/claims.ts';
import { oneLine } from '../http/one-line.ts';
import { amqpFailure } from '../sinks/event-hubs/amqp-failure.ts';
import { destinationOf, type EventHubsConfig } from '../sinks/event-hubs/config.ts';
import {
  addConsumerGroup,
  grantReceive,
  listEventHubs,
  listPolicies,
  showNetworkRules,
  switchHubOn,
} from '../sinks/event-hubs/remedy.ts';
import type { Failure } from '../sinks/sink.ts';

/** What is wrong with reading a hub. */
export interface HubProblem {
  /** `unauthorized`, `consumer-group-not-found`, `connection-refused`, … */
  readonly code: string;
  /** One or two sentences: what happened, where, what to do. */
  readonly message: string;
  /** The command that fixes it, or shows what is wrong; null without one. */
  readonly remedy: string | null;
  /** It lasts until the settings in Azure or on the command line are changed. */
  readonly isPermanent: boolean;
}

/** A hub cannot be read. */
export class HubRefused extends Error {
  readonly problem: HubProblem;

  constructor(problem: HubProblem, options?: ErrorOptions) {
    super(problem.message, options);
    this.problem = problem;
  }
}

/** What was tried: a token, the properties of the hub, or the events of a partition. */
export type Stage = 'token' | 'hub' | 'partition';

/** Who reads from where. */
export interface ReadFrom {
  readonly config: EventHubsConfig;
  readonly consumerGroup: string;
  /** Empty where none was needed, or given. */
  readonly token: string;
}

/** What an error of the client or the credential means for a reader, and how to fix it. */
export function explainRefusal(error: unknown, stage: Stage, from: ReadFrom): HubProblem {
  if (error instanceof HubRefused) return error.problem;
  if (stage === 'token')
    return isRejectedIdentity(error) ? rejectedIdentity(error) : noToken(reasonWithoutToken(error));
  const destination = destinationOf(from.config);
  const to: Destination = {
    ...destination,
    addressKey: destination.addressKey.replace('sinks.eventHubs.fullyQualifiedNamespace', '--namespace'),
    explain: (detail, to) => readingFailure(detail, stage, from) ?? amqpFailure(detail, to),
  };
  const { kind, code, cause, reason } = classify(error, to);
  return {
    code,
    // A partition is tried again; a command that cannot begin ends.
    message: stage === 'partition' ? reason : reason.replace('; retrying', ''),
    remedy: remedyFor(code, from),
    isPermanent: kind === 'rejected' || cause === 'configuration',
  };
}

/**
 * A chain of credentials reports each one that it tried. Those that are merely not there say nothing: what counts is the one that is
 * there and fails.
 */
function reasonWithoutToken(error: unknown): string {
  const failures = error instanceof Error && 'errors' in error && Array.isArray(error.errors) ? error.errors : [error];
  const telling = failures.find(({ name }) => name !== 'CredentialUnavailableError');
  return telling === undefined
    ? 'the environment, the managed identity and the Azure CLI have none'
    : oneLine(telling instanceof Error ? telling.message : String(telling));
}

/** @param reason of the credential. */
export const noToken = (reason: string) =>
  ({
    code: 'no-token',
    message: `No identity to read with (${reason}). Sign in (az login), run on a VM with a managed identity, or set SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_CONNECTION_STRING.`,
    remedy: 'az login',
    isPermanent: true,
  }) satisfies HubProblem;

/**
 * Of a service principal or workload identity: the credentials that read the variables fail with this error, all others of the SDK's
 * chain with one of a credential that is not there.
 */
const isRejectedIdentity = (error: unknown): error is Error =>
  error instanceof Error && error.name === 'AuthenticationError';

function rejectedIdentity({ message }: Error): HubProblem {
  const [, ofEntra = message] = /(AADSTS\d+:.*?)(?:Trace ID:|$)/s.exec(message) ?? [];
  const reason = oneLine(ofEntra.replace(/To troubleshoot, visit \S+/g, '')).replace(/[\s.,;:]+$/, '');
  return {
    code: 'identity-rejected',
    message: `The identity in the AZURE_ variables gets no token (${reason}). Correct AZURE_TENANT_ID, AZURE_CLIENT_ID and its secret or certificate, or unset them to read with a managed identity or the account of the Azure CLI.`,
    remedy: null,
    isPermanent: true,
  };
}

/** Errors that mean something else to a reader than to a sender. */
function readingFailure({ code, message }: ErrorDetail, stage: Stage, from: ReadFrom): Failure | null {
  const { config, consumerGroup } = from;
  const { name, host } = destinationOf(config);
  const say = (code: string, reason: string): Failure => retry('configuration', code, reason);
  switch (code) {
    case 'UnauthorizedError':
    case 'amqp:unauthorized-access':
      // The firewall of a namespace answers with the same code.
      return /\bIp has been prevented\b/i.test(message)
        ? say(
            'network-refused',
            `The firewall of ${host} blocks the address of this machine: allow it, or read from a network that is allowed.`,
          )
        : say('unauthorized', notAllowed(from));
    case 'ServiceCommunicationError':
    case 'MessagingEntityNotFoundError':
    case 'amqp:not-found':
      if (/^Websocket/i.test(message)) return null;
      return stage === 'hub'
        ? say('hub-not-found', `There is no event hub ${config.eventHubName} in ${host}: check --namespace and --hub.`)
        : say(
            'consumer-group-not-found',
            `The event hub ${config.eventHubName} has no consumer group ${consumerGroup}: create it, or name another with --consumer-group.`,
          );
    case 'ReceiverDisconnectedError':
    case 'amqp:link:stolen':
      return say(
        'exclusive-reader',
        `Another program reads the consumer group ${consumerGroup} of ${name} exclusively (with an owner level), so this one is disconnected: use a consumer group of its own with --consumer-group.`,
      );
    case 'QuotaExceededError':
    case 'amqp:resource-limit-exceeded':
      if (!/receivers?\b/i.test(message)) return null;
      return say(
        'too-many-readers',
        `Five programs already read the consumer group ${consumerGroup} of ${name}, which is the maximum: stop one, or use a consumer group of its own with --consumer-group.`,
      );
    case 'MessagingEntityDisabledError':
    case 'com.microsoft:entity-disabled':
      return say('disabled', `Reading from ${name} is switched off: set its status to Active.`);
    default:
      return null;
  }
}

function notAllowed({ config, token }: ReadFrom): string {
  const { name } = destinationOf(config);
  if (config.connectionString !== null)
    return `The access policy ${policyOf(config) ?? ''} of the connection string may not read ${name}: it needs the right Listen, or its key is wrong.`;
  const objectId = readClaims(token)?.objectId;
  return `The identity${objectId ? ` with the object id ${objectId}` : ''} may not read ${name}: it needs the role Azure Event Hubs Data Receiver, which takes effect within 30 minutes.`;
}

const policyOf = ({ connectionString }: EventHubsConfig): string | null =>
  /SharedAccessKeyName\s*=\s*([^;]+)/i.exec(connectionString ?? '')?.[1]?.trim() ?? null;

function remedyFor(code: string, { config, consumerGroup, token }: ReadFrom): string | null {
  const namespace = destinationOf({ ...config, customEndpoint: null }).host;
  const hub = { namespace, eventHub: config.eventHubName };
  switch (code) {
    case 'unauthorized':
      return config.connectionString === null
        ? grantReceive(hub, readClaims(token)?.objectId ?? null)
        : listPolicies({ ...hub, policy: policyOf(config) });
    case 'hub-not-found':
      return listEventHubs(namespace);
    case 'consumer-group-not-found':
      return addConsumerGroup(hub, consumerGroup);
    case 'too-many-readers':
    case 'exclusive-reader':
      return addConsumerGroup(hub, `${consumerGroup}-2`.replace('$Default-2', 'tail'));
    case 'network-refused':
      return showNetworkRules(namespace);
    case 'disabled':
      return switchHubOn(hub);
    default:
      return null;
  }
}
