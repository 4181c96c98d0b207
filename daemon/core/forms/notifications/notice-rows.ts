/**
 * What is to be mailed of submissions, as rows by the time at which it is due: a submission whose recipients are still to be found, one
 * for a recipient, or one of a digest of a recipient.
 */
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
  /** Empty while the recipients are still to be found. */
  readonly recipientId: string
  /** How often it was tried. */
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

/** The notifier is woken when the write is durable. */
export const addNotice = (change: Change, notice: Notice): Change =>
  change.set(noticeKey(notice), encode(notice.tries)).schedule(noticeWork, notice.formId)

export const removeNotice = (change: Change, notice: Notice): Change => change.delete(noticeKey(notice))

/** Those of one digest stand together. */
const digestKey = ({ dueMs, organizationId, formId, recipientId }: Omit<DigestEntry, 'submissionId'>): readonly Element[] => [
  ...digestPrefix,
  ...[dueMs, organizationId, formId, recipientId],
]

export const addToDigest = (change: Change, entry: DigestEntry): Change => change.set([...digestKey(entry), entry.submissionId])

export const removeFromDigest = (change: Change, entry: DigestEntry): Change => change.delete([...digestKey(entry), entry.submissionId])

/** The first of those that are due. */
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

/** The first digest that is due, as many of its entries as are asked for, the oldest first; empty when none is. */
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

/** When anything is due next; infinite when nothing waits. */
export async function nextDueMs({ kv }: Pick<Database, 'kv'>): Promise<number> {
  let next = Infinity
  for (const prefix of [noticePrefix, digestPrefix])
    for await (const { key } of kv.range({ ...within(prefix), limit: 1 })) next = Math.min(next, Number(unpack(key)[prefix.length]))
  return next
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Digests of a day are sent in the morning of Europe, and before the day begins in America. */
const dailyAtMs = 6 * hourMs

/** The next time at which a digest is sent, in full hours of UTC. */
export const nextDigestMs = (digest: Exclude<Digest, 'instant'>, nowMs: number): number =>
  digest === 'hourly' ? (Math.floor(nowMs / hourMs) + 1) * hourMs : (Math.floor((nowMs - dailyAtMs) / dayMs) + 1) * dayMs + dailyAtMs
