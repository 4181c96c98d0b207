/** Records the notifications of a submission: one row per mailed recipient, and the webhook delivery. */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, within, type Element } from '#store/tuple.ts'
import { formSubmissions, type FormSubmission } from '../submissions/submission.ts'

/** Identifies a submission. */
type Noticed = Pick<FormSubmission, 'id' | 'formId'>

export interface SentNotice {
  /** `id` is a trace id for `mail`, and a delivery id for `webhook`. */
  readonly kind: 'mail' | 'webhook'
  readonly id: string
  /** Recipient of the mail; null for the webhook. */
  readonly to: string | null
  readonly at: number
}

export const trailRows = 'form.trail'

/** Maximum number of notifications returned. More exist only if recipients changed while mails were pending. */
const maxShown = 100

const trailKey = (organizationId: string, { formId, id }: Noticed, ...rest: readonly Element[]): readonly Element[] => [
  organizationId,
  trailRows,
  formId,
  id,
  ...rest,
]

export interface MailedNotice {
  readonly recipientId: string
  readonly to: string
  readonly traceId: string
  readonly at: number
}

/** Records in the write of a mail that it contained these submissions. Skips deleted submissions. */
export async function addToTrail(
  database: Pick<Database, 'getMany'>,
  change: Change,
  organizationId: string,
  submissions: readonly Noticed[],
  { recipientId, to, traceId, at }: MailedNotice,
): Promise<void> {
  const notice: SentNotice = { kind: 'mail', id: traceId, to, at }
  const ids = submissions.map(({ id }) => id)
  for (const stored of await database.getMany(formSubmissions, { organizationId }, ids))
    if (stored) change.set(trailKey(organizationId, stored.record, recipientId), encode(notice))
}

/** Whether the recipient was notified by mail or digest. */
export async function wasMailed(
  { kv }: Pick<Database, 'kv'>,
  organizationId: string,
  submission: Noticed,
  recipientId: string,
): Promise<boolean> {
  return (await kv.get(pack(trailKey(organizationId, submission, recipientId)))) !== undefined
}

/** Returns the notifications, oldest first. */
export async function noticesOf(
  { kv }: Pick<Database, 'kv'>,
  organizationId: string,
  submission: FormSubmission,
): Promise<readonly SentNotice[]> {
  const { webhookDeliveryId: id, releasedAt: at = submission.createdAt } = submission
  const found: SentNotice[] = id === null ? [] : [{ kind: 'webhook', id, to: null, at }]
  for await (const { value } of kv.range({ ...within(trailKey(organizationId, submission)), limit: maxShown, whole: true }))
    found.push(decode<SentNotice>(value))
  return found.toSorted((a, b) => a.at - b.at)
}

/** Removes the rows in the write that removes the submission. */
export async function removeTrail(
  { kv }: Pick<Database, 'kv'>,
  change: Change,
  organizationId: string,
  submission: Noticed,
): Promise<void> {
  for await (const { key } of kv.range(within(trailKey(organizationId, submission)))) change.deletes.push(key)
}

/** Returns the problems of a row, for `postern verify`. */
export async function checkTrail(database: Database, key: readonly Element[]): Promise<readonly string[]> {
  const [organizationId, , , submissionId] = key.map(String)
  const isThere = await database.get(formSubmissions, { organizationId: organizationId ?? '' }, submissionId ?? '')
  return isThere ? [] : [`the submission ${submissionId ?? ''} of the notice is missing`]
}
