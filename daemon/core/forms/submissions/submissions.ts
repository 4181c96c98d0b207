/** Lists, changes and deletes the submissions of forms. */
import type { Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Change } from '#store/change.ts'
import { listed, recordsOf, sieve, type OfProject, type PageQuery } from '../../access/principal/lists.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Core } from '../../core.ts'
import { members } from '../../people/members/member.ts'
import { invalid, Refusal } from '../../refusals.ts'
import { must, transact, type Transaction } from '../../writes/transact.ts'
import { forms, type Form } from '../form.ts'
import { namedAnswers } from '../uploads/submission-file.ts'
import { followSubmission } from '../notifications/follow-submission.ts'
import { noticesOf, type SentNotice } from '../notifications/notice-trail.ts'
import { removeFollowed } from './followed.ts'
import {
  formSubmissions,
  isOpen,
  referenceOf,
  replaceSubmission,
  takeOut,
  type FormSubmission,
  type SubmissionStatus,
} from './submission.ts'
import { count, projectNames } from '../../insights/count.ts'
import { meter } from '../../tenancy/counters.ts'

export interface SubmissionFilter {
  /** `open` means neither archived nor spam. */
  readonly status?: SubmissionStatus | 'open' | undefined
  /** Words that the answers, the note or the tags must contain. */
  readonly q?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly tag?: string | undefined
  /** Id of the assigned user; `none` means no assignee. */
  readonly assignee?: string | undefined
}

interface OfForm extends SubmissionFilter {
  readonly id: string
  readonly version?: number | undefined
}

/** Missing fields do not change. */
export interface SubmissionChanges {
  readonly status?: SubmissionStatus | undefined
  readonly tags?: readonly string[] | undefined
  readonly assignee?: string | null | undefined
  readonly note?: string | undefined
}

export const bulkActions = ['not_spam', 'spam', 'archive', 'delete'] as const
export type BulkAction = (typeof bulkActions)[number]

/** Maximum number of submissions examined per page; a filtered page can have fewer entries than requested. */
const maxLooks = 2000

export class Submissions {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Lists submissions of one form, newest first. Throws `not_found` for a form outside the caller's reach. */
  async list(principal: Principal, { id: formId, version, ...query }: PageQuery & OfForm): Promise<Page<FormSubmission>> {
    const { database } = this.#core
    await must(database, forms, principal, formId)
    const { status, limit, cursor } = query
    const fits = chosenBy(query)
    const chosen = sieve((one: FormSubmission) => (version === undefined || one.version === version) && fits(one), pastOf(query), maxLooks)
    const walk = status === undefined || status === 'open' ? { values: [formId] } : { index: 'status', values: [formId, status] }
    const { organizationId } = principal
    return recordsOf(await database.list(formSubmissions, { organizationId }, { ...walk, limit, cursor }, chosen))
  }

  /** Lists submissions of all forms within the caller's reach, newest first. Throws `not_found` for a project outside it. */
  async listAll(principal: Principal, query: PageQuery & OfProject & SubmissionFilter): Promise<Page<FormSubmission>> {
    const { database } = this.#core
    const { organizationId } = principal
    const { reach } = await listed(this.#core, principal, query.projectId)
    const fits = chosenBy(query)
    const reached = new Map<string, boolean>()
    const rows: FormSubmission[] = []
    let looks = 0
    let { cursor } = query
    do {
      const counted = (one: FormSubmission): boolean => ((looks += 1), fits(one))
      const walk = { index: 'all', limit: query.limit - rows.length, cursor }
      const page = await database.list(formSubmissions, { organizationId }, walk, sieve(counted, pastOf(query), maxLooks - looks))
      const unknown = [...new Set(page.rows.map(({ record }) => record.formId))].filter((id) => !reached.has(id))
      const found = await database.getMany(forms, reach, unknown)
      for (const [i, id] of unknown.entries()) reached.set(id, found[i] !== undefined)
      rows.push(...page.rows.map(({ record }) => record).filter(({ formId }) => reached.get(formId)))
      cursor = page.nextCursor
    } while (cursor !== undefined && rows.length < query.limit && looks < maxLooks)
    return { rows, nextCursor: cursor }
  }

  /** Throws `not_found` for missing and foreign ids. */
  async get(principal: Principal, formId: string, id: string): Promise<FormSubmission> {
    await must(this.#core.database, forms, principal, formId)
    return (await this.#get(principal, formId, id)).record
  }

  /** Returns the notification mails and the webhook delivery of a submission, oldest first. Throws the errors of `get`. */
  async notices(principal: Principal, formId: string, id: string): Promise<readonly SentNotice[]> {
    return noticesOf(this.#core.database, principal.organizationId, await this.get(principal, formId, id))
  }

  update(principal: Principal, formId: string, id: string, changes: SubmissionChanges): Promise<FormSubmission> {
    return transact(this.#core.database, principal, async (change) => {
      this.#note(change, principal, (await change.must(forms, formId)).record)
      const stored = await this.#get(principal, formId, id)
      const { status, tags, assignee, note } = changes
      if (assignee !== undefined && assignee !== null && !(await change.get(members, assignee)))
        throw invalid([{ path: 'assignee', message: 'is not a member of the organization; send the id of a member' }])
      return this.#change(change, principal, stored, {
        ...(status !== undefined && { status }),
        ...(tags !== undefined && { tags: [...new Set(tags)] }),
        ...(assignee !== undefined && { assignee }),
        ...(note !== undefined && { note }),
      })
    })
  }

  /** Applies the action. Returns the number of submissions; missing ids are ignored. */
  bulk(principal: Principal, formId: string, ids: readonly string[], action: BulkAction): Promise<number> {
    const { database, writes } = this.#core
    const chosen = async (change: Change): Promise<readonly Stored<FormSubmission>[]> => {
      const { record: form } = await must(database, forms, principal, formId)
      const found = await database.getMany(formSubmissions, { organizationId: principal.organizationId }, [...new Set(ids)])
      const own = found.flatMap((stored) => (stored?.record.formId === formId ? [stored] : []))
      if (own.length > 0) this.#note(change, principal, form)
      return own
    }
    if (action === 'delete')
      return writes.runAudited(principal, 'form_submission.deleted', async (change) => {
        const own = await chosen(change)
        for (const stored of own) await this.#remove(change, principal, stored)
        return own.length
      })
    return transact(database, principal, async (change) => {
      const own = await chosen(change)
      for (const stored of own) {
        const isSpam = stored.record.status === 'spam'
        if (action !== 'not_spam' || isSpam) await this.#change(change, principal, stored, { status: statusAfter[action] })
      }
      return own.length
    })
  }

  /** Deletes permanently. */
  async remove(principal: Principal, formId: string, id: string): Promise<void> {
    const { writes, database } = this.#core
    await writes.runAudited(principal, 'form_submission.deleted', async (change) => {
      const { record: form } = await must(database, forms, principal, formId)
      this.#note(change, principal, form)
      await this.#remove(change, principal, await this.#get(principal, formId, id))
    })
  }

  /** Records a change, so that open submission lists are reloaded. */
  #note(change: Change, { organizationId }: Principal, { projectId }: Form): void {
    count(change, { organizationId, projectId }, [projectNames.formSubmissionChanged], this.#core.clock.now())
  }

  async #remove(change: Change, { organizationId }: Principal, stored: Stored<FormSubmission>): Promise<void> {
    await removeFollowed(this.#core.database, change, organizationId, stored.record)
    takeOut(change, organizationId, stored)
  }

  async #change(
    change: Transaction,
    { organizationId }: Principal,
    stored: Stored<FormSubmission>,
    changes: Partial<FormSubmission>,
  ): Promise<FormSubmission> {
    const now = this.#core.clock.now()
    const next = { ...stored.record, ...changes, updatedAt: now }
    const record = isReleased(stored.record, next) ? await this.#release(change, organizationId, next, now) : next
    replaceSubmission(change, organizationId, stored, record)
    return record
  }

  /** Sends the notifications of a submission that arrived as spam and is now marked as not spam. */
  async #release(change: Transaction, organizationId: string, submission: FormSubmission, now: number): Promise<FormSubmission> {
    const { record: form } = await change.must(forms, submission.formId)
    if (submission.releasedAt === undefined) meter(change, 'form_submissions', organizationId, form.projectId, now)
    return followSubmission(this.#core.database, change, organizationId, form, { releasedAt: now, ...submission }, now)
  }

  async #get({ organizationId }: Principal, formId: string, id: string): Promise<Stored<FormSubmission>> {
    const stored = await this.#core.database.get(formSubmissions, { organizationId }, id)
    if (stored?.record.formId === formId) return stored
    throw new Refusal('not_found', 'No submission of this form has this id.')
  }
}

const statusAfter = { not_spam: 'new', spam: 'spam', archive: 'archived' } as const

/** Whether a submission that arrived as spam becomes open. Archiving it does not mark it as not spam. */
const isReleased = ({ status, spamReasons }: FormSubmission, next: FormSubmission): boolean =>
  spamReasons.length > 0 && !isOpen({ status }) && isOpen(next)

function chosenBy({ status, q = '', to, tag, assignee }: SubmissionFilter): (submission: FormSubmission) => boolean {
  const wanted = wordsIn(q)
  const [isStatus, isAssignee] = [status === 'open' ? isOpen : hasStatus(status), isOf(assignee)]
  return (submission) =>
    isStatus(submission) &&
    isAssignee(submission) &&
    (to === undefined || submission.createdAt < to) &&
    (tag === undefined || submission.tags.includes(tag)) &&
    (wanted.length === 0 || hasWords(submission, wanted))
}

const hasStatus =
  (wanted: SubmissionStatus | undefined) =>
  ({ status }: FormSubmission): boolean =>
    wanted === undefined || status === wanted

const isOf =
  (wanted: string | undefined) =>
  ({ assignee }: FormSubmission): boolean =>
    wanted === undefined || assignee === (wanted === 'none' ? null : wanted)

/** The list ends at the first submission older than `from`. */
const pastOf = ({ from }: SubmissionFilter): ((submission: FormSubmission) => boolean) | undefined =>
  from === undefined ? undefined : ({ createdAt }) => createdAt < from

const wordsIn = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')

/** Matches whole references only, because parts of the hexadecimal text would match ordinary words. */
const isReference = (word: string, submission: FormSubmission): boolean =>
  word.replaceAll(/[#-]/g, '').toUpperCase() === referenceOf(submission)

function hasWords(submission: FormSubmission, words: readonly string[]): boolean {
  const { id, note, tags } = submission
  const text = [...Object.values(namedAnswers(submission)).flat(), note, ...tags].join('\n').toLowerCase()
  return words.every((word) => text.includes(word) || word === id || isReference(word, submission))
}
