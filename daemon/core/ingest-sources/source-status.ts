/** The status of an ingest source: rows separate from its record. Each row has one writer, so writes never conflict. */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'

/** The last request with a valid signature. */
export interface SourceSeen {
  readonly at: number
  /** Name and version of the posting program, if it sends them. */
  readonly agent: string | null
}

/** Status of the mailbox polling. */
export interface SourcePoll {
  /** Time of the last successful poll; null until then. */
  readonly lastPolledAt: number | null
  /** One sentence without secrets; null without an error. */
  readonly lastError: string | null
  readonly lastErrorAt: number | null
  /** UIDVALIDITY as text and the last processed UID (RFC 9051 §2.3.1.1); null if no poll succeeded yet. */
  readonly checkpoint: Checkpoint | null
  /** Number of unreadable mails skipped since the source was created. */
  readonly skipped?: number | undefined
}

/** Position in a mailbox. UIDs are invalid after a change of UIDVALIDITY. */
export interface Checkpoint {
  readonly uidValidity: string
  readonly lastUid: number
}

export const seenKey = (organizationId: string, sourceId: string): readonly Element[] => [organizationId, 'ingest.seen', sourceId]
export const pollKey = (organizationId: string, sourceId: string): readonly Element[] => [organizationId, 'ingest.poll', sourceId]

export const writeSeen = (change: Change, organizationId: string, sourceId: string, seen: SourceSeen): Change =>
  change.set(seenKey(organizationId, sourceId), encode(seen))

/** Stores the polling status. The poller adds it to the write of fetched mail: pass it as `also` of `Feedback.take`. */
export const writePoll = (change: Change, organizationId: string, sourceId: string, poll: SourcePoll): Change =>
  change.set(pollKey(organizationId, sourceId), encode(poll))

export const readSeen = (database: Database, organizationId: string, sourceId: string): Promise<SourceSeen | undefined> =>
  read(database, seenKey(organizationId, sourceId))

export const readPoll = (database: Database, organizationId: string, sourceId: string): Promise<SourcePoll | undefined> =>
  read(database, pollKey(organizationId, sourceId))

async function read<T>(database: Database, key: readonly Element[]): Promise<T | undefined> {
  const entry = await database.kv.get(pack(key))
  return entry && decode<T>(entry.value)
}
