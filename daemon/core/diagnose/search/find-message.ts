/** Finds a message by any id: trace id, Message-ID, token, return path, or queue id of the next host. */
import type { Database } from '#store/database.ts'
import type { SecretBox } from '../../access/secret-box.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { recipientOfVerp } from '../../trace/return-paths.ts'
import { traceOfServiceRef } from '../../trace/trace-token.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { isQueueIdIn, queueIdForms } from './queue-id.ts'
import { tracesTo, visitTraces } from './trace-reads.ts'

/** Maximum number of messages searched for an id that does not contain the trace id, latest first. */
export const maxSearch = 2000

export interface MessageMatch {
  readonly trace: Trace
  /** The recipient that the id identifies; otherwise the given recipient. */
  readonly recipient: string | undefined
}

/** Returns undefined if no message within the principal's reach matches. With a recipient, searches only messages to it. */
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

/** Finds the trace of an id that contains its trace id: the trace id itself, a token, or a Message-ID of this service. */
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
