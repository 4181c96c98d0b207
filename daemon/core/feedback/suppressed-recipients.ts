/** Keeps mail from suppressed recipients: the look-up, and what it makes of a trace. Spec "Trace status". */
import type { Database } from '#store/database.ts'
import { advance, worstStatus } from '../trace/states.ts'
import type { Trace, TraceRecipient } from '../trace/trace.ts'
import { foldEmail, isInForce, suppressions, type Suppression } from './suppression.ts'

const none: ReadonlyMap<string, Suppression> = new Map()

/** The entries in force against recipients that still wait for the message, by address as the trace has it. No read where the list is empty. */
export async function suppressionsAgainst(
  database: Database,
  organizationId: string,
  { recipients }: { readonly recipients: readonly Pick<TraceRecipient, 'address' | 'status'>[] },
  nowMs: number,
): Promise<ReadonlyMap<string, Suppression>> {
  if (await database.isEmpty(suppressions, organizationId)) return none
  const waiting = recipients.filter(({ status }) => status === 'queued')
  const found = await database.findMany(
    suppressions,
    { organizationId },
    'email',
    waiting.map(({ address }) => [foldEmail(address)]),
  )
  const hits = waiting.flatMap(({ address }, i): [string, Suppression][] => {
    const record = found[i]?.record
    return record && isInForce(record, nowMs) ? [[address, record]] : []
  })
  return new Map(hits)
}

/** The trace without them: they are `suppressed` and say by which entry, the others go on. Without hits it is the same trace. */
export function withoutSuppressed(trace: Trace, hits: ReadonlyMap<string, Suppression>, nowMs: number): Trace {
  if (hits.size === 0) return trace
  const recipients = trace.recipients.map((recipient): TraceRecipient => {
    const hit = recipient.status === 'queued' ? hits.get(recipient.address) : undefined
    if (!hit) return recipient
    const { id, source, reason } = hit
    const suppression = { id, source, reason, at: nowMs }
    return { ...recipient, status: advance(recipient.status, 'suppressed'), suppression }
  })
  const status = worstStatus(recipients.map((recipient) => recipient.status))
  return { ...trace, recipients, status, updatedAt: nowMs, nextAttemptAt: status === 'queued' ? trace.nextAttemptAt : null }
}
