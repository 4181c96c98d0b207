/**
 * One delivery attempt as it is kept. That it was begun is written before the final dot: in its queue entry, or, where that does not
 * stand in the place that the trace says or more is to be said, in a row of its own as `started`. With what was seen the first one goes
 * into the trace, unless it is large, and any other into its row. While one takes several dialogs, the word of recipients is kept in rows
 * beside it, so that nothing grows with the square of their number.
 */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { QueueEntry } from '#store/queue.ts'
import { pack, unpack, within, type Element } from '#store/tuple.ts'

/** A reply of the peer, verbatim. */
export interface PeerReply {
  readonly code: number
  /** RFC 3463, when the peer gave one. */
  readonly enhanced?: string | undefined
  /** All lines, joined by \n, without codes. */
  readonly text: string
}

/**
 * `accepted`: the peer took responsibility; `transient`: try again later; `permanent`: never again;
 * `unknown`: the link broke after our final dot, so the peer may have it (RFC 1047).
 */
export const recipientVerdicts = ['accepted', 'transient', 'permanent', 'unknown'] as const
export type RecipientVerdict = (typeof recipientVerdicts)[number]

export interface RecipientReport {
  readonly address: string
  readonly verdict: RecipientVerdict
  readonly reply?: PeerReply | undefined
  /** The refusal is of the reverse-path and not of the recipient. */
  readonly ofSender?: true | undefined
  /** The refusal is of the message or its content, and so the same for all recipients that it was still meant for. */
  readonly ofMessage?: true | undefined
  /** No server refused it: it was not asked, as it offers too little for the message. */
  readonly isUnasked?: true | undefined
  /** With VERP, the reverse-path that was given to the provider; null when it takes none. */
  readonly returnPath?: string | null | undefined
}

/** Why an attempt could not come as far as replies for its recipients. */
export interface AttemptError {
  /** A stable name, such as `connect_timeout`, `tls_verification_failed`, `auth_failed`, `address_forbidden`. */
  readonly code: string
  /** One sentence for the trace. Never holds a secret. */
  readonly message: string
  /** The phase it happened in: `dns`, `connect`, `tls`, `greeting`, `ehlo`, `auth`, `mail`, `rcpt`, `data`, `body`, `final`, `answer`. */
  readonly phase: string
  /** What kind of trouble it is, where the transport knows: the provider is busy, or the destination's settings are wrong. */
  readonly class?: 'rate_limited' | 'misconfigured' | undefined
}

/** Where a message goes next because of a failover policy. */
export interface FailoverNote {
  readonly to: string
  readonly cause: string
  /** One sentence for the trace. */
  readonly message: string
}

/**
 * `started` without an end means that the process died; the peer may have the message (RFC 1047). Where it takes several dialogs,
 * its recipients show whose outcome was known already, and whose copy was under way as `unknown`.
 */
export interface AttemptRecord {
  readonly number: number
  readonly destinationId: string
  readonly startedAt: number
  readonly state: 'started' | 'finished' | 'unknown'
  readonly endedAt?: number | undefined
  /** What was spoken to: `smtp`, or a provider with an API. */
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
  /** The provider refused the return paths of VERP with this reply, so that the message went on with its plain reverse-path. */
  readonly verpRefusal?: PeerReply | undefined
  readonly nextAttemptAt?: number | null | undefined
  /** What a failover policy made of its end. */
  readonly failover?: FailoverNote | undefined
}

const attemptKey = (organizationId: string, traceId: string, number: number): readonly Element[] => [
  organizationId,
  'event',
  traceId,
  number,
]

/** Key of a row beside the attempt; rows count from 1. */
const progressKey = (organizationId: string, traceId: string, number: number, row: number): readonly Element[] => [
  ...attemptKey(organizationId, traceId, number),
  row,
]

export const writeAttempt = (change: Change, organizationId: string, traceId: string, attempt: AttemptRecord): Change =>
  change.set(attemptKey(organizationId, traceId, attempt.number), encode(attempt))

/** Lets the write fail when this attempt has got a row of its own meanwhile. */
export const checkNotBegun = (change: Change, organizationId: string, traceId: string, number: number): Change =>
  change.check(attemptKey(organizationId, traceId, number), undefined)

/** Adds to what an attempt under way knows of its recipients. */
export const writeProgress = (
  change: Change,
  organizationId: string,
  traceId: string,
  { number, row, recipients }: { readonly number: number; readonly row: number; readonly recipients: readonly RecipientReport[] },
): Change => change.set(progressKey(organizationId, traceId, number, row), encode(recipients))

/** The attempt as a whole, in place of its rows. */
export function writeWhole(change: Change, organizationId: string, traceId: string, attempt: AttemptRecord, rows: number): Change {
  for (let row = 1; row <= rows; row++) change.delete(progressKey(organizationId, traceId, attempt.number, row))
  return writeAttempt(change, organizationId, traceId, attempt)
}

/** Takes the rows of an attempt away that is kept elsewhere from now on, or not at all. */
export function dropAttempt(change: Change, organizationId: string, traceId: string, number: number, rows: number): Change {
  for (let row = 1; row <= rows; row++) change.delete(progressKey(organizationId, traceId, number, row))
  return change.delete(attemptKey(organizationId, traceId, number))
}

/** The attempt with what its rows say, and how many they are. */
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

/** The attempts of a trace that have rows, in order. */
export async function readAttemptRows(database: Database, organizationId: string, traceId: string): Promise<AttemptRecord[]> {
  const attempts: { readonly attempt: AttemptRecord; readonly later: RecipientReport[][] }[] = []
  for await (const { key, value } of database.kv.range({ ...within([organizationId, 'event', traceId]), whole: true })) {
    if (unpack(key).length > attemptKey('', '', 0).length) attempts.at(-1)?.later.push(decode<RecipientReport[]>(value))
    else attempts.push({ attempt: decode<AttemptRecord>(value), later: [] })
  }
  return attempts.map(({ attempt, later }) => joined(attempt, later))
}

/** Gives the attempt that a queue entry says was begun a row of its own, as the entry goes elsewhere. A row that there is says more. */
export async function keepBegun(
  database: Database,
  change: Change,
  { begun, destinationId, organizationId, traceId }: QueueEntry,
): Promise<void> {
  if (!begun || (await readAttempt(database, organizationId, traceId, begun.number))) return
  writeAttempt(change, organizationId, traceId, { ...begun, destinationId, state: 'started' })
}

/** Whether an attempt that has ended is kept in its trace, which is written with it anyway. What is larger weighs on every list. */
export const fitsTrace = (attempt: AttemptRecord): boolean => attempt.number === 1 && encode(attempt).length <= maxBytesInTrace
const maxBytesInTrace = 1024

/** The latest word on each recipient holds. */
function joined(attempt: AttemptRecord, later: readonly (readonly RecipientReport[])[]): AttemptRecord {
  if (later.length === 0) return attempt
  const known = new Map([attempt.recipients ?? [], ...later].flat().map((report) => [report.address, report]))
  return { ...attempt, recipients: [...known.values()] }
}
