import rhea, { type EventContext, type Receiver, type Sender } from 'rhea';
import type { Address } from './address.ts';
import { type Answer, type Request, refuse, succeed } from './answer.ts';
import type { Broker, Peer } from './broker.ts';
import type { Grants } from './grants.ts';
import { answerManagement } from './management.ts';
import { putToken } from './put-token.ts';

/** The two request-response nodes of one connection: `$cbs` for tokens, `$management` for what is in the hubs. */
export interface Requests {
  open(receiver: Receiver): void;
  answer(context: EventContext, address: Address): Promise<void>;
}

const credit = 100;

export function createRequests(broker: Broker, peer: Peer, grants: Grants): Requests {
  const { tokens, fault, clock } = broker;
  const unauthorized = (description: string): Answer => refuse(401, 'com.microsoft:auth-failed', description);

  const authorize = async (message: Request): Promise<Answer | null> => {
    const played = fault('put-token');
    if (played !== null && typeof played === 'object' && 'closeOnToken' in played) {
      peer.connection.close({ condition: played.closeOnToken, description: 'a fault' });
      return null;
    }
    if (played !== null) return unauthorized('InvalidSignature: a fault');
    const judged = await putToken(message, tokens, clock.now());
    if (!judged.accepted) return unauthorized(judged.description);
    grants.add(judged.entityPath, judged.expiresAt);
    return succeed(202, undefined);
  };

  /** Answers go out on the link that the request names; a client that names none has one such link in its session. */
  const reply = ({ session }: EventContext, message: Request, node: string, answer: Answer): void => {
    const wanted = message.reply_to;
    const named = (sender: Sender): boolean =>
      wanted !== undefined && (sender.name === wanted || sender.target?.address === wanted);
    const ofNode = (sender: Sender): boolean => sender.source?.address === node;
    const { connection } = peer;
    const link = connection.find_sender(named) ?? session?.find_sender(ofNode) ?? connection.find_sender(ofNode);
    const correlation = message.message_id === undefined ? {} : { correlation_id: message.message_id };
    if (link?.is_open()) link.send({ ...answer, ...correlation });
  };

  return {
    open(receiver) {
      receiver.set_source(receiver.source);
      receiver.set_target(receiver.target);
      receiver.set_credit_window(credit);
      receiver.add_credit(credit);
    },
    async answer(context, { kind }) {
      context.delivery?.accept();
      peer.links.used();
      if (!Buffer.isBuffer(context.message)) return;
      const message = rhea.message.decode(context.message);
      if (kind === 'cbs') {
        const answer = await authorize(message);
        if (answer) reply(context, message, '$cbs', answer);
      } else reply(context, message, '$management', await answerManagement(message, broker, peer));
    },
  };
}
