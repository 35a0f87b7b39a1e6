import { createHmac } from 'node:crypto';
import rhea, { type AmqpError, type Connection, type Delivery, type Receiver, type Sender } from 'rhea';
import { makeCertificate } from '../../../src/azure-simulator/certificate.ts';
import { createErrorLog } from '../../../src/azure-simulator/errors.ts';
import type { ServiceClock } from '../../../src/azure-simulator/event-hubs/clock.ts';
import {
  type EventHubsOptions,
  type EventHubsSimulator,
  startEventHubs,
} from '../../../src/azure-simulator/event-hubs/server.ts';
import { createTokenIssuer, type TokenIssuer } from '../../../src/azure-simulator/token-issuer.ts';

/** A namespace whose clock advances only when the test advances it. */
export interface Namespace {
  readonly eventHubs: EventHubsSimulator;
  readonly issuer: TokenIssuer;
  readonly ca: string;
  readonly errors: readonly Error[];
  now(): number;
  /** Advances the time and lets the namespace expire what is due. */
  advance(ms: number): void;
  close(): Promise<void>;
}

export async function startNamespace(
  options: Partial<EventHubsOptions> & { readonly lifetimeSeconds?: number } = {},
): Promise<Namespace> {
  const log = createErrorLog();
  const certificate = await makeCertificate();
  const issuer = options.issuer ?? (await createTokenIssuer({ lifetimeSeconds: options.lifetimeSeconds ?? 3_600 }));
  let now = Date.now();
  const acts = new Set<() => void>();
  const clock: ServiceClock = {
    now: () => now,
    everySecond(act) {
      acts.add(act);
      return () => acts.delete(act);
    },
  };
  const { eventHubs, close } = await startEventHubs({ hubs: [{}], ...options, certificate, issuer, log, clock });
  return {
    eventHubs,
    issuer,
    ca: certificate.ca,
    errors: log.errors,
    now: () => now,
    advance(ms) {
      now += ms;
      for (const act of acts) act();
    },
    async close() {
      await Promise.all([close(), certificate.remove()]);
    },
  };
}

/** Opens a connection of a bare AMQP client, for what no SDK does, or not always. */
export function open(
  { plainPort: port }: EventHubsSimulator,
  who: { readonly username: string; readonly password?: string } = { username: 'anybody' },
): Connection {
  const container = rhea.create_container();
  // Without listeners the client would throw the errors that the peer reports.
  for (const event of ['disconnected', 'sender_close', 'receiver_close', 'connection_close']) {
    container.on(event, () => {});
  }
  return container.connect({ host: '127.0.0.1', port, reconnect: false, ...who });
}

/** A signature with the namespace's own key. @param expiresAt milliseconds since the epoch. */
export function signature(
  { connectionString }: EventHubsSimulator,
  path = 'vm-lifecycle',
  expiresAt = Date.now() + 600_000,
): string {
  const resource = encodeURIComponent(`sb://localhost/${path}`);
  const expiry = Math.floor(expiresAt / 1000);
  const signed = createHmac('sha256', sharedAccessKey(connectionString))
    .update(`${resource}\n${expiry}`)
    .digest('base64');
  return `SharedAccessSignature sr=${resource}&sig=${encodeURIComponent(signed)}&se=${expiry}&skn=RootManageSharedAccessKey`;
}

export function sharedAccessKey(connectionString: string): string {
  return /SharedAccessKey=([^;]+)/.exec(connectionString)?.[1] ?? '';
}

/** Puts a token on the connection. @returns the status of the answer and its description. */
export async function putToken(
  connection: Connection,
  token: string,
  path = 'vm-lifecycle',
): Promise<{ status: number; text: string }> {
  const asked = { operation: 'put-token', type: 'jwt', name: `sb://localhost/${path}` };
  const { status, text } = await ask(connection, '$cbs', asked, token);
  return { status, text };
}

/** Asks a service node. @returns the status of the answer, its description and its body. */
export function ask(
  connection: Connection,
  node: '$cbs' | '$management',
  properties: Readonly<Record<string, string>>,
  body?: string,
): Promise<{ status: number; text: string; body: unknown }> {
  return new Promise((resolve) => {
    const answers = connection.open_receiver({ source: node });
    answers.once('message', ({ message }) => {
      const answer = message.application_properties as Record<string, unknown>;
      const [status, text] = [answer['status-code'], answer['status-description']];
      resolve({ status: Number(status), text: String(text), body: message.body });
      answers.close();
      sender.close();
    });
    const sender = connection.open_sender(node);
    // No reply_to: the Python SDK sends none either.
    sender.once('sendable', () => sender.send({ body, message_id: 'request-1', application_properties: properties }));
  });
}

/** Attaches to an address to send. @returns the link, or the error that it was refused with. */
export function attach(connection: Pick<Connection, 'open_sender'>, address: string): Promise<Sender | AmqpError> {
  return new Promise((resolve) => {
    const sender = connection.open_sender(address);
    sender.once('sendable', () => resolve(sender));
    sender.once('sender_error', () => resolve(sender.error as AmqpError));
  });
}

export interface ReadOptions {
  readonly partition?: number;
  readonly credit?: number;
  readonly hub?: string;
  readonly snd_settle_mode?: 0 | 1 | 2;
  readonly rcv_settle_mode?: 0 | 1;
}

/** Attaches to a partition to read, from its beginning. @returns the link, or the error that it was refused with. */
export function read(
  connection: Pick<Connection, 'open_receiver'>,
  { partition = 0, credit = 10, hub = 'vm-lifecycle', ...modes }: ReadOptions = {},
): Promise<Receiver | AmqpError> {
  return new Promise((resolve) => {
    const selector = rhea.types.wrap_described("amqp.annotation.x-opt-offset > '-1'", 0x468c_0000_0004);
    const receiver = connection.open_receiver({
      source: {
        address: `${hub}/ConsumerGroups/$Default/Partitions/${partition}`,
        filter: { 'apache.org:selector-filter:string': selector },
      },
      credit_window: 0,
      ...modes,
    });
    receiver.once('receiver_open', () => {
      if (receiver.source?.address === undefined) return;
      receiver.add_credit(credit);
      resolve(receiver);
    });
    receiver.once('receiver_error', () => resolve(receiver.error as AmqpError));
  });
}

/** Resolves with the error that the service ends the link or the connection with. */
export function ended(endpoint: Sender | Receiver | Connection): Promise<AmqpError> {
  return new Promise((resolve) => {
    for (const event of ['sender_error', 'receiver_error', 'connection_error']) {
      endpoint.once(event, () => resolve(endpoint.error as AmqpError));
    }
  });
}

/** Sends what is already encoded. @returns `accepted`, or the condition that it is rejected with. */
export function outcome(sender: Sender, payload: Buffer, format = 0): Promise<string> {
  return new Promise((resolve) => {
    sender.once('accepted', () => resolve('accepted'));
    sender.once('rejected', ({ delivery }: { delivery: Delivery }) => {
      resolve(String((delivery.remote_state as { error?: AmqpError } | undefined)?.error?.condition));
    });
    sender.send(payload, undefined, format);
  });
}

/** An encoded event with a body of `bytes` bytes. */
export function event(bytes: number): Buffer {
  return rhea.message.encode({ body: rhea.message.data_section(Buffer.alloc(bytes, 'x')) });
}

/** An encoded batch of `count` events. */
export function batch(count: number, bytes = 10): Buffer {
  return Buffer.concat(
    Array.from({ length: count }, () => rhea.message.encode({ body: rhea.message.data_section(event(bytes)) })),
  );
}
