/**
 * One delivery attempt as stored. Its start is written before the final dot: in the queue entry, or as a separate `started` row if the
 * entry has moved or results must be stored. At the end, a small first attempt is stored in the trace, any other in its row. An attempt
 * with several dialogs stores results in additional rows, so that the total size stays linear.
 */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { QueueEntry } from '#store/queue.ts'
import { pack, unpack, within, type Element } from '#store/tuple.ts'

/** A verbatim reply of the peer. */
export interface PeerReply {
  readonly code: number
  /** RFC 3463, if the peer gave one. */
  readonly enhanced?: string | undefined
  /**
   * All lines, joined by
   * , without codes.
   */
  readonly text: string
}

/**
 * `accepted`: the peer took responsibility. `transient`: try again later. `permanent`: never again. `unknown`: the connection failed after
 * our final dot, so the peer may have the message (RFC 1047).
 */
export const recipientVerdicts = ['accepted', 'transient', 'permanent', 'unknown'] as const
export type RecipientVerdict = (typeof recipientVerdicts)[number]

export interface RecipientReport {
  readonly address: string
  readonly verdict: RecipientVerdict
  readonly reply?: PeerReply | undefined
  /** The peer refused the reverse-path, not the recipient. */
  readonly ofSender?: true | undefined
  /** The peer refused the message or its content, so the refusal applies to all remaining recipients. */
  readonly ofMessage?: true | undefined
  /** No server refused the recipient: the peer lacks an extension that the message requires. */
  readonly isUnasked?: true | undefined
  /** With VERP, the reverse-path given to the provider; null if the provider accepts none. */
  readonly returnPath?: string | null | undefined
}

/** Why an attempt got no replies for its recipients. */
export interface AttemptError {
  /** A stable code, such as `connect_timeout`, `tls_verification_failed`, `auth_failed`, `address_forbidden`. */
  readonly code: string
  /** One sentence for the trace. Never contains a secret. */
  readonly message: string
  /** Phase of the error: `dns`, `connect`, `tls`, `greeting`, `ehlo`, `auth`, `mail`, `rcpt`, `data`, `body`, `final`, `answer`. */
  readonly phase: string
  /** Class of the error, if the transport knows it: the provider is busy, or the destination's settings are wrong. */
  readonly class?: 'rate_limited' | 'misconfigured' | undefined
}

/** Next destination of a message by a failover policy. */
export interface FailoverNote {
  readonly to: string
  readonly cause: string
  /** One sentence for the trace. */
  readonly message: string
}

/**
 * `started` without an end means that the process died; the peer may have the message (RFC 1047). With several dialogs, the recipients show
 * the known outcomes, and `unknown` for the copy in flight.
 */
export interface AttemptRecord {
  readonly number: number
  readonly destinationId: string
  readonly startedAt: number
  readonly state: 'started' | 'finished' | 'unknown'
  readonly endedAt?: number | undefined
  /** `smtp`, or a provider with an API. */
  readonly provider?: string | undefined
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly address?: string | undefined
  readonly tls?: { readonly version: string; readonly cipher: string; readonly verified: boolean } | undefined
  readonly reused?: boolean | undefined
  readonly error?: AttemptError | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly milliseconds?: Readonly<Record<string, number>> | undefined
  readonly recipients?: readonly RecipientReport[] | undefined
  /** The provider refused the VERP return paths with this reply, and the message continued with its plain reverse-path. */
  readonly verpRefusal?: PeerReply | undefined
  readonly nextAttemptAt?: number | null | undefined
  /** Failover after the attempt. */
  readonly failover?: FailoverNote | undefined
}

const attemptKey = (organizationId: string, traceId: string, number: number): readonly Element[] => [
  organizationId,
  'event',
  traceId,
  number,
]

/** Key of an additional row of the attempt; rows count from 1. */
const progressKey = (organizationId: string, traceId: string, number: number, row: number): readonly Element[] => [
  ...attemptKey(organizationId, traceId, number),
  row,
]

export const writeAttempt = (change: Change, organizationId: string, traceId: string, attempt: AttemptRecord): Change =>
  change.set(attemptKey(organizationId, traceId, attempt.number), encode(attempt))

/** Makes the write fail if the attempt has a row by now. */
export const checkNotBegun = (change: Change, organizationId: string, traceId: string, number: number): Change =>
  change.check(attemptKey(organizationId, traceId, number), undefined)

/** Stores further results of an attempt in flight. */
export const writeProgress = (
  change: Change,
  organizationId: string,
  traceId: string,
  { number, row, recipients }: { readonly number: number; readonly row: number; readonly recipients: readonly RecipientReport[] },
): Change => change.set(progressKey(organizationId, traceId, number, row), encode(recipients))

/** Replaces the rows of an attempt by the complete attempt. */
export function writeWhole(change: Change, organizationId: string, traceId: string, attempt: AttemptRecord, rows: number): Change {
  for (let row = 1; row <= rows; row++) change.delete(progressKey(organizationId, traceId, attempt.number, row))
  return writeAttempt(change, organizationId, traceId, attempt)
}

/** Deletes the rows of an attempt that is stored elsewhere or dropped. */
export function dropAttempt(change: Change, organizationId: string, traceId: string, number: number, rows: number): Change {
  for (let row = 1; row <= rows; row++) change.delete(progressKey(organizationId, traceId, number, row))
  return change.delete(attemptKey(organizationId, traceId, number))
}

/** Returns the attempt with the results of its rows, and the number of rows. */
export async function readAttempt(
  database: Database,
  organizationId: string,
  traceId: string,
  number: number,
): Promise<{ readonly attempt: AttemptRecord; readonly rows: number } | undefined> {
  const key = attemptKey(organizationId, traceId, number)
  const entry = await database.kv.get(pack(key))
  if (!entry) return undefined
  const later: RecipientReport[][] = []
  for await (const { value } of database.kv.range({ ...within(key), whole: true })) later.push(decode<RecipientReport[]>(value))
  return { attempt: joined(decode<AttemptRecord>(entry.value), later), rows: later.length }
}

/** Returns the attempts of a trace that have rows, in order. */
export async function readAttemptRows(database: Database, organizationId: string, traceId: string): Promise<AttemptRecord[]> {
  const attempts: { readonly attempt: AttemptRecord; readonly later: RecipientReport[][] }[] = []
  for await (const { key, value } of database.kv.range({ ...within([organizationId, 'event', traceId]), whole: true })) {
    if (unpack(key).length > attemptKey('', '', 0).length) attempts.at(-1)?.later.push(decode<RecipientReport[]>(value))
    else attempts.push({ attempt: decode<AttemptRecord>(value), later: [] })
  }
  return attempts.map(({ attempt, later }) => joined(attempt, later))
}

/** Stores the started attempt of a queue entry as a row, because the entry moves. An existing row has more information and stays. */
export async function keepBegun(
  database: Database,
  change: Change,
  { begun, destinationId, organizationId, traceId }: QueueEntry,
): Promise<void> {
  if (!begun || (await readAttempt(database, organizationId, traceId, begun.number))) return
  writeAttempt(change, organizationId, traceId, { ...begun, destinationId, state: 'started' })
}

/** Returns true if an ended attempt is stored in its trace, which is written with it anyway. Larger attempts would slow down every list. */
export const fitsTrace = (attempt: AttemptRecord): boolean => attempt.number === 1 && encode(attempt).length <= maxBytesInTrace
const maxBytesInTrace = 1024

/** Joins the rows; the latest result of each recipient applies. */
function joined(attempt: AttemptRecord, later: readonly (readonly RecipientReport[])[]): AttemptRecord {
  if (later.length === 0) return attempt
  const known = new Map([attempt.recipients ?? [], ...later].flat().map((report) => [report.address, report]))
  return { ...attempt, recipients: [...known.values()] }
}
