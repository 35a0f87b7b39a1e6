import type { EventContext, Receiver, Sender } from 'rhea';
import { type Address, audiencePath } from './address.ts';
import { type Answer, refuse, succeed } from './answer.ts';
import type { Broker, Peer } from './broker.ts';
import { answerManagement } from './management.ts';
import { putToken } from './put-token.ts';

/** The two request-response nodes of one connection: `$cbs` for tokens, `$management` for what is in the hub. */
export interface Requests {
  open(receiver: Receiver): void;
  answer(context: EventContext, address: Address): Promise<void>;
}

const credit = 100;

/** @param granted is told the entity path of each token that was accepted. */
export function createRequests(
  { hub, tokens, fault }: Broker,
  peer: Peer,
  granted: (entityPath: string) => void,
): Requests {
  const authorize = async ({ message }: EventContext): Promise<Answer> => {
    if (fault('put-token') !== null) return refuse(401, 'amqp:unauthorized-access', 'InvalidSignature: a fault');
    const { refusal, audience } = await putToken(message, tokens);
    if (refusal !== null) return refuse(401, 'amqp:unauthorized-access', `InvalidSignature: ${refusal}`);
    granted(audiencePath(audience));
    return succeed(202, undefined);
  };

  /** Answers go out on the link that the request names; a client that names none has one such link in its session. */
  const reply = ({ session, message }: EventContext, node: string, answer: Answer): void => {
    const wanted = message?.reply_to;
    const named = (sender: Sender): boolean =>
      wanted !== undefined && (sender.name === wanted || sender.target?.address === wanted);
    const ofNode = (sender: Sender): boolean => sender.source?.address === node;
    const { connection } = peer;
    const link = connection.find_sender(named) ?? session?.find_sender(ofNode) ?? connection.find_sender(ofNode);
    const correlation = message?.message_id === undefined ? {} : { correlation_id: message.message_id };
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
      if (kind === 'cbs') reply(context, '$cbs', await authorize(context));
      else reply(context, '$management', answerManagement(context.message, hub, peer));
    },
  };
}
