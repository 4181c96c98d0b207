/** How an ingest source is doing: rows beside its record, each written by one part only, so that they never conflict. */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'

/** The last request that was signed with its secret. */
export interface SourceSeen {
  readonly at: number
  /** Name and version of the program that posts, where it gives them. */
  readonly agent: string | null
}

/** The polling of its mailbox, and how far it has come. */
export interface SourcePoll {
  /** When the mailbox was last looked at with success; null before the first time. */
  readonly lastPolledAt: number | null
  /** One sentence without secrets; null while all is well. */
  readonly lastError: string | null
  readonly lastErrorAt: number | null
  /** UIDVALIDITY as text and the last UID that was taken (RFC 9051 §2.3.1.1); null before the first time. */
  readonly checkpoint: Checkpoint | null
  /** Mails that could not be read and were left out, since the source was made. */
  readonly skipped?: number | undefined
}

/** How far a mailbox has been read; another UIDVALIDITY makes its UIDs mean nothing. */
export interface Checkpoint {
  readonly uidValidity: string
  readonly lastUid: number
}

export const seenKey = (organizationId: string, sourceId: string): readonly Element[] => [organizationId, 'ingest.seen', sourceId]
export const pollKey = (organizationId: string, sourceId: string): readonly Element[] => [organizationId, 'ingest.poll', sourceId]

export const writeSeen = (change: Change, organizationId: string, sourceId: string, seen: SourceSeen): Change =>
  change.set(seenKey(organizationId, sourceId), encode(seen))

/** For the poller, in the write that takes what it fetched: pass it as `also` of `Feedback.take`. */
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
