/** Deliverability tests: an address for one mail, the mail, and its score. Spec "Inspect". */
import { randomBytes } from 'node:crypto'
import { encode, type Change } from '#store/change.ts'
import { contentRowKey, type ContentRef } from '#store/content.ts'
import { defineRecord, globalKey, type Stored, type Immutable } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import * as z from 'zod'
import type { InspectSession } from './report.ts'

/** The first mail; later mails are only counted. */
export interface ReceivedMail {
  readonly session: InspectSession
  readonly content: ContentRef
}

const session = z.strictObject({
  clientIp: z.string(),
  helo: z.string(),
  mailFrom: z.string(),
  rcptTo: z.string(),
  tls: z.strictObject({ protocol: z.string(), cipher: z.string() }).nullable(),
  tlsOffered: z.boolean(),
  serverName: z.string(),
  smtpUtf8: z.boolean(),
  receivedAt: z.int(),
  bareLineEnd: z.enum(['header', 'body']).optional(),
})
const content = z.strictObject({ id: z.string(), size: z.int(), sha256: z.string(), rows: z.int() })

const schema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  /** Local part of the address: 26 unguessable base32 characters. */
  token: z.string(),
  domain: z.string(),
  /** Token of the public link; it cannot be derived from the address. */
  shareToken: z.string(),
  createdAt: z.int(),
  /** Time after which no mail is accepted. */
  expiresAt: z.int(),
  mail: z.strictObject({ session, content }).nullable(),
  laterMails: z.int(),
  /** `isPartial`: some checks failed because DNS did not answer. */
  result: z.strictObject({ score: z.int(), grade: z.enum(['A', 'B', 'C', 'D', 'F']), isPartial: z.boolean().optional() }).nullable(),
  /** Why the mail could not be scored, as a sentence for people. */
  problem: z.string().nullable(),
})

export type InspectTest = Immutable<z.infer<typeof schema>>

export const inspectTests = defineRecord<InspectTest>({
  name: 'inspect-test',
  schema,
  indexes: { project: ({ projectId, createdAt }) => [[projectId, createdAt]] },
  unique: { content: ({ mail }) => (mail ? [[mail.content.id]] : []) },
  lookups: { token: ({ token }) => [[token]], share: ({ shareToken }) => [[shareToken]] },
  projectOf: ({ projectId }) => projectId,
})

/** Key of the report. */
export const inspectReportKey = (organizationId: string, id: string): readonly Element[] => [organizationId, 'inspect.report', id]

/** Keys of tests with a pending score; the value is the number of started tries. */
export const pendingScoresKey = globalKey('inspect.pending')
export const pendingScoreKey = (organizationId: string, id: string): readonly Element[] => [...pendingScoresKey, organizationId, id]
export const setPendingScore = (change: Change, organizationId: string, id: string, tries: number): Change =>
  change.set(pendingScoreKey(organizationId, id), encode(tries))

export const inspectStatuses = ['waiting', 'scoring', 'ready', 'failed', 'expired'] as const
export type InspectStatus = (typeof inspectStatuses)[number]

export function inspectStatus({ mail, result, problem, expiresAt }: InspectTest, nowMs: number): InspectStatus {
  if (problem !== null) return 'failed'
  if (result) return 'ready'
  if (mail) return 'scoring'
  return nowMs < expiresAt ? 'waiting' : 'expired'
}

/** Returns the keys of a test's report, pending score and content. */
export const keysBeside = (organizationId: string, { id, mail }: InspectTest): readonly (readonly Element[])[] => [
  inspectReportKey(organizationId, id),
  pendingScoreKey(organizationId, id),
  ...Array.from({ length: mail?.content.rows ?? 0 }, (_, row) => contentRowKey(organizationId, mail?.content.id ?? '', row)),
]

/** Removes a test with its report, pending score and content. */
export function removeInspectTest(change: Change, organizationId: string, stored: Stored<InspectTest>): Change {
  for (const key of keysBeside(organizationId, stored.record)) change.delete(key)
  return change.remove(inspectTests, organizationId, stored)
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const tokenLength = 26
const tokenForm = /^[a-z2-7]{26}$/

/** Returns 130 random bits as base32. */
export const newInspectToken = (): string => [...randomBytes(tokenLength)].map((byte) => alphabet.charAt(byte & 31)).join('')

export const isInspectToken = (text: string): boolean => tokenForm.test(text)
