/** The message that somebody means by an id: of the trace, of the message itself, or of a queue at the next host. */
import type { Database } from '#store/database.ts'
import type { SecretBox } from '../../access/secret-box.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { recipientOfVerp } from '../../trace/return-paths.ts'
import { traceOfServiceRef } from '../../trace/trace-token.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { isQueueIdIn, queueIdForms } from './queue-id.ts'
import { tracesTo, visitTraces } from './trace-reads.ts'

/** So many of the latest messages are searched for an id that leads nowhere by itself. */
export const maxSearch = 2000

export interface MessageMatch {
  readonly trace: Trace
  /** The recipient that the id stands for, where it stands for one. */
  readonly recipient: string | undefined
}

/** Undefined when none that the principal reaches fits. With a recipient, all messages to it are searched, and no others. */
export async function findMessage(
  { database, secrets }: { readonly database: Database; readonly secrets: SecretBox },
  principal: Principal,
  given: string,
  recipient: string | undefined,
  nowMs: number,
): Promise<MessageMatch | undefined> {
  const id = given.trim().replace(/^</, '').replace(/>$/, '').trim()
  const verp = id.includes('@') ? await recipientOfVerp(database, secrets, id) : undefined
  if (verp) {
    const trace = verp.organizationId === principal.organizationId ? await byId(database, principal, verp.traceId) : undefined
    return trace && { trace, recipient: verp.address }
  }
  const trace = (await byItself(database, secrets, principal, id)) ?? (await bySearch(database, principal, id, recipient, nowMs))
  return trace && { trace, recipient }
}

/** A trace id, the token of a relayed message, or a Message-ID of ours, which begins with the trace id. */
async function byItself(database: Database, secrets: SecretBox, principal: Principal, id: string): Promise<Trace | undefined> {
  const traceId =
    traceOfServiceRef(secrets, id.toLowerCase()) ?? /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?=@|$)/.exec(id.toLowerCase())?.[0]
  const trace = traceId === undefined ? undefined : await byId(database, principal, traceId)
  return trace && (!id.includes('@') || trace.messageId.toLowerCase() === id.toLowerCase()) ? trace : undefined
}

async function bySearch(
  database: Database,
  principal: Principal,
  id: string,
  recipient: string | undefined,
  nowMs: number,
): Promise<Trace | undefined> {
  const queueIds = queueIdForms(id)
  const fits = ({ messageId, recipients }: Trace): boolean =>
    messageId === id || (queueIds.length > 0 && recipients.some(({ reply }) => reply !== undefined && isQueueIdIn(reply.text, queueIds)))
  const always = { from: 0, to: nowMs + 1 }
  if (recipient !== undefined) return (await tracesTo(database, principal, recipient, always, maxSearch)).find(fits)
  let found: Trace | undefined
  await visitTraces(database, principal, always, maxSearch, (trace) => {
    if (!fits(trace)) return false
    found = trace
    return true
  })
  return found
}

const byId = async (database: Database, principal: Principal, id: string): Promise<Trace | undefined> =>
  (await database.get(traces, principal, id))?.record
