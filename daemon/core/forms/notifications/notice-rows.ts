/** Stored rows of due notifications, by due time: a new submission, a mail to one recipient, or an entry of a recipient's digest. */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, unpack, within, type Element } from '#store/tuple.ts'
import type { Digest } from './notification.ts'

export interface Notice {
  readonly dueMs: number
  readonly organizationId: string
  readonly formId: string
  readonly submissionId: string
  /** Empty until the recipients are determined. */
  readonly recipientId: string
  /** Number of failed tries. */
  readonly tries: number
}

/** A submission in the next digest of a recipient. */
export type DigestEntry = Omit<Notice, 'tries'>

const noticePrefix = globalKey('form.notice')
const digestPrefix = globalKey('form.digest')

/** See `Database.onWork`. */
export const noticeWork = 'form.notice'

const noticeKey = ({ dueMs, organizationId, formId, submissionId, recipientId }: Notice): readonly Element[] => [
  ...noticePrefix,
  ...[dueMs, organizationId, formId, submissionId, recipientId],
]

/** Adds a notification. The notifier is notified after the write is durable. */
export const addNotice = (change: Change, notice: Notice): Change =>
  change.set(noticeKey(notice), encode(notice.tries)).schedule(noticeWork, notice.formId)

export const removeNotice = (change: Change, notice: Notice): Change => change.delete(noticeKey(notice))

/** Key prefix of one digest; its entries are adjacent. */
const digestKey = ({ dueMs, organizationId, formId, recipientId }: Omit<DigestEntry, 'submissionId'>): readonly Element[] => [
  ...digestPrefix,
  ...[dueMs, organizationId, formId, recipientId],
]

export const addToDigest = (change: Change, entry: DigestEntry): Change => change.set([...digestKey(entry), entry.submissionId])

export const removeFromDigest = (change: Change, entry: DigestEntry): Change => change.delete([...digestKey(entry), entry.submissionId])

/** Returns the first due notifications. */
export async function dueNotices({ kv }: Pick<Database, 'kv'>, nowMs: number, limit: number): Promise<readonly Notice[]> {
  const found: Notice[] = []
  for await (const { key, value } of kv.range({ start: pack(noticePrefix), end: pack([...noticePrefix, nowMs + 1]), limit })) {
    const [dueMs, organizationId, formId, submissionId, recipientId] = unpack(key).slice(noticePrefix.length)
    found.push({
      ...{ dueMs: Number(dueMs), organizationId: String(organizationId), formId: String(formId) },
      ...{ submissionId: String(submissionId), recipientId: String(recipientId) },
      tries: decode<number>(value),
    })
  }
  return found
}

/** Returns the first due digest with at most `limit` entries, oldest first; empty if no digest is due. */
export async function dueDigest({ kv }: Pick<Database, 'kv'>, nowMs: number, limit: number): Promise<readonly DigestEntry[]> {
  const due = { start: pack(digestPrefix), end: pack([...digestPrefix, nowMs + 1]) }
  for await (const { key } of kv.range({ ...due, limit: 1 })) {
    const entries: DigestEntry[] = []
    for await (const row of kv.range({ ...within(digestKey(toEntry(key))), limit })) entries.push(toEntry(row.key))
    return entries
  }
  return []
}

function toEntry(key: Uint8Array): DigestEntry {
  const [dueMs, organizationId, formId, recipientId, submissionId] = unpack(key).slice(digestPrefix.length)
  return {
    ...{ dueMs: Number(dueMs), organizationId: String(organizationId), formId: String(formId) },
    ...{ recipientId: String(recipientId), submissionId: String(submissionId) },
  }
}

/** Returns the next due time; `Infinity` without pending notifications. */
export async function nextDueMs({ kv }: Pick<Database, 'kv'>): Promise<number> {
  let next = Infinity
  for (const prefix of [noticePrefix, digestPrefix])
    for await (const { key } of kv.range({ ...within(prefix), limit: 1 })) next = Math.min(next, Number(unpack(key)[prefix.length]))
  return next
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Time of daily digests: morning in Europe, before the working day in America. */
const dailyAtMs = 6 * hourMs

/** Returns the next time of a digest, a full hour in UTC. */
export const nextDigestMs = (digest: Exclude<Digest, 'instant'>, nowMs: number): number =>
  digest === 'hourly' ? (Math.floor(nowMs / hourMs) + 1) * hourMs : (Math.floor((nowMs - dailyAtMs) / dayMs) + 1) * dayMs + dailyAtMs
