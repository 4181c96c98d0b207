/** Signs a message before its first delivery attempt and stores the signature with the trace, so that every retry is identical. */
import { Change } from '#store/change.ts'
import { readContent } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import type { QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import type { Signer } from '../../domains/signer.ts'
import { traces, type Trace } from '../../trace/trace.ts'

export interface SigningOptions extends Core {
  readonly signer: Signer
}

/** The current trace, undefined if it was deleted. `locked` names a domain whose key cannot be decrypted. */
export interface SignedTrace {
  readonly stored: Stored<Trace> | undefined
  readonly locked?: string
}

/**
 * Signs with the keys of the From domain if the organization owns it. A message that is signed or may be at a provider stays unchanged. A
 * signature of the submitter is preserved; ours is added.
 */
export async function signTrace(
  { database, policies, signer }: SigningOptions,
  entry: QueueEntry,
  first: Stored<Trace>,
  content: readonly Uint8Array[] | undefined,
): Promise<SignedTrace> {
  const { sendingDomains } = await policies.of(entry.organizationId)
  if (sendingDomains.size === 0 || !isUnsigned(first.record)) return { stored: first }
  const { record } = first
  const result = await signer.sign(sendingDomains, record.headerFrom, () => wholeMessage(database, entry, record, content))
  if (result.kind === 'unsigned') return { stored: first }
  if (result.kind === 'locked') return { stored: first, locked: result.domain }
  for (let stored: Stored<Trace> | undefined = first; stored; stored = await database.get(traces, entry, entry.traceId)) {
    if (stored.record.status !== 'queued' || !isUnsigned(stored.record)) return { stored }
    const signed = { ...stored.record, prefix: result.fields + stored.record.prefix, signedBy: [...result.by] }
    const change = new Change().rewrite(traces, entry.organizationId, stored, signed)
    if ((await database.commit(change)).ok) break
  }
  return { stored: await database.get(traces, entry, entry.traceId) }
}

const isUnsigned = ({ signedBy, unknownAttempts }: Trace): boolean => signedBy === undefined && unknownAttempts === 0

async function* wholeMessage(
  database: Database,
  { organizationId }: QueueEntry,
  { prefix, content }: Trace,
  inMemory: readonly Uint8Array[] | undefined,
): AsyncIterable<Uint8Array> {
  if (prefix !== '') yield Buffer.from(prefix)
  if (inMemory) yield* inMemory
  else yield* readContent(database, organizationId, content)
}
