/**
 * Mails notifications of submissions through the routing of the project. Due rows are added in the write of the submission and removed in
 * the write of the mail. The idempotency key prevents two daemons from sending a mail twice.
 */
import { Change } from '#store/change.ts'
import { parseMailbox, type Mailbox } from '../../addresses.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Core } from '../../core.ts'
import { observed } from '../../findings/finding.ts'
import type { Settle } from '../../findings/settle.ts'
import { isSwitchedOn } from '../../plan/features.ts'
import { Refusal } from '../../refusals.ts'
import type { SystemMail } from '../../people/mail/system-mail.ts'
import type { SendMessages } from '../../submission/doors/send-messages.ts'
import { DueRounds } from '../../work-loop.ts'
import { transact } from '../../writes/transact.ts'
import { holds } from '../definition/conditions.ts'
import { forms, formVersions, versionId, type Form } from '../form.ts'
import { formSubmissions } from '../submissions/submission.ts'
import { isMember } from './members.ts'
import { formNotifications, type NotificationRecipient, type NotificationSettings } from './notification.ts'
import { digestMail, noticeMail, type Noticed, type NoticeMail } from './notice-mail.ts'
import {
  addNotice,
  addToDigest,
  dueDigest,
  dueNotices,
  nextDigestMs,
  nextDueMs,
  noticeWork,
  removeFromDigest,
  removeNotice,
  type DigestEntry,
  type Notice,
} from './notice-rows.ts'
import { addToTrail, wasMailed } from './notice-trail.ts'
import { recipientPath } from './recipient-link.ts'

export interface NotifierOptions extends Core {
  readonly sendMessages: Pick<SendMessages, 'send'>
  readonly mail: Pick<SystemMail, 'urlOf'>
  readonly settle: Pick<Settle, 'observe' | 'end'>
  readonly onError: (error: unknown, id?: string) => void
}

/** A form with its notification settings. */
interface Notifying {
  readonly organizationId: string
  readonly form: Form
  readonly settings: NotificationSettings
}

/** A mail with its idempotency key. */
interface Notification {
  readonly mail: NoticeMail
  readonly replyTo: readonly Mailbox[]
  readonly key: string
  /** Removes the due rows in the write of the mail. */
  readonly stage: (change: Change) => void
  /** Submissions in the mail. */
  readonly about: readonly Noticed[]
}

/** Number of concurrent notifications; their writes share a disk sync. */
const atOnce = 16
/** Maximum number of submissions per digest; the rest follows in another digest. */
const maxInDigest = 500
const minuteMs = 60_000
/** Pauses between tries. Their sum is shorter than the retention of idempotency keys. */
const pausesMs = [1, 5, 30, 120, 360, 720].map((minutes) => minutes * minuteMs)
/** Maximum age of submissions in a digest that cannot be sent. */
const maxDigestAgeMs = 3 * 24 * 60 * minuteMs

export class FormNotifier {
  readonly #options: NotifierOptions
  readonly #rounds: DueRounds

  constructor(options: NotifierOptions) {
    this.#options = options
    const { database, clock, onError } = options
    this.#rounds = new DueRounds({ round: (stopping) => this.#round(stopping), onError, clock, nextDueMs: () => nextDueMs(database) })
    database.onWork(noticeWork, () => this.#rounds.wake())
  }

  /** Starts with the stored rows of an earlier process. */
  start(): void {
    this.#rounds.wake()
  }

  /** Resolves when no work is in progress. Notifications that are due later remain. */
  idle(): Promise<void> {
    return this.#rounds.idle()
  }

  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  async #round(stopping: () => boolean): Promise<void> {
    const { database, clock } = this.#options
    const now = clock.now()
    while (!stopping()) {
      const notices = await dueNotices(database, now, atOnce)
      if (notices.length === 0) break
      await Promise.all(notices.map((notice) => this.#take(notice)))
    }
    while (!stopping()) {
      const entries = await dueDigest(database, now, maxInDigest)
      if (entries.length === 0) break
      await this.#sendDigest(entries)
    }
  }

  /** Processes a due row; schedules a retry after an error. */
  async #take(notice: Notice): Promise<void> {
    const { database, clock, onError } = this.#options
    const { organizationId, formId, submissionId } = notice
    let change = new Change()
    try {
      const notifying = await this.#notifying(notice)
      const [noticed] = notifying ? await this.#noticed(organizationId, formId, [submissionId]) : []
      if (notifying && noticed) await this.#follow(change, notice, notifying, noticed)
    } catch (error) {
      if (!(error instanceof Refusal)) onError(error, formId)
      const pauseMs = pausesMs[notice.tries]
      change = new Change()
      if (pauseMs !== undefined) addNotice(change, { ...notice, dueMs: clock.now() + pauseMs, tries: notice.tries + 1 })
      await this.#noteProblem(notice, messageOf(error))
    }
    await database.commit(removeNotice(change, notice))
  }

  /** Adds a row for each recipient of a new submission, or mails one recipient. */
  async #follow(change: Change, notice: Notice, notifying: Notifying, noticed: Noticed): Promise<void> {
    const { form, settings } = notifying
    const recipient = settings.recipients.find(({ id }) => id === notice.recipientId)
    if (notice.recipientId === '') return this.#share(change, notice, notifying, noticed)
    if (!recipient || !(await this.#isOn(notice.organizationId, recipient))) return
    const mail = noticeMail({ form, settings, endUrl: this.#endUrl(form, recipient.id) }, noticed)
    const key = `form notification ${notice.submissionId} ${recipient.id}`
    const stage = (own: Change): void => void removeNotice(own, notice)
    await this.#send(notifying, recipient, { mail, replyTo: replyToOf(settings, noticed), key, stage, about: [noticed] })
    if (settings.problem) await this.#noteProblem(notice, null)
  }

  async #share(change: Change, notice: Notice, { organizationId, settings }: Notifying, noticed: Noticed): Promise<void> {
    const now = this.#options.clock.now()
    const fields = new Map(noticed.definition.schema.fields.map((field) => [field.key, field]))
    for (const recipient of settings.recipients) {
      if (recipient.when !== null && !holds(recipient.when, noticed.submission.answers, fields)) continue
      const { id: recipientId, digest } = recipient
      if (!(await this.#isOn(organizationId, recipient))) continue
      if (await wasMailed(this.#options.database, organizationId, noticed.submission, recipientId)) continue
      if (digest === 'instant') addNotice(change, { ...notice, recipientId, tries: 0 })
      else addToDigest(change, { ...notice, recipientId, dueMs: nextDigestMs(digest, now) })
    }
  }

  /**
   * Mails a digest. All entries have the same recipient and due time. The first entry determines the idempotency key, so the same entries
   * are mailed once.
   */
  async #sendDigest(entries: readonly DigestEntry[]): Promise<void> {
    const { database, onError, clock } = this.#options
    const [first] = entries
    if (!first) return
    const change = new Change()
    for (const entry of entries) removeFromDigest(change, entry)
    try {
      const notifying = await this.#notifying(first)
      const recipient = notifying?.settings.recipients.find(({ id }) => id === first.recipientId)
      const ids = entries.map(({ submissionId }) => submissionId)
      const all = notifying && recipient ? await this.#noticed(first.organizationId, first.formId, ids) : []
      if (notifying && recipient && all.length > 0 && (await this.#isOn(first.organizationId, recipient))) {
        const { form, settings } = notifying
        const mail = digestMail({ form, settings, endUrl: this.#endUrl(form, recipient.id) }, all, all.length)
        const key = `form digest ${recipient.id} ${first.dueMs} ${first.submissionId}`
        const stage = (own: Change): void => {
          for (const entry of entries) removeFromDigest(own, entry)
        }
        await this.#send(notifying, recipient, { mail, replyTo: [], key, stage, about: all })
        if (settings.problem) await this.#noteProblem(first, null)
      }
    } catch (error) {
      if (!(error instanceof Refusal)) onError(error, first.formId)
      const now = clock.now()
      const dueMs = nextDigestMs('hourly', now)
      const kept = await this.#young(first.organizationId, entries, now)
      for (const entry of kept) addToDigest(change, { ...entry, dueMs })
      await this.#noteProblem(first, messageOf(error))
    }
    await database.commit(change)
  }

  async #young(organizationId: string, entries: readonly DigestEntry[], now: number): Promise<readonly DigestEntry[]> {
    const ids = entries.map(({ submissionId }) => submissionId)
    const found = await this.#options.database.getMany(formSubmissions, { organizationId }, ids)
    return entries.filter((_, at) => (found[at]?.record.createdAt ?? 0) > now - maxDigestAgeMs)
  }

  /** Returns undefined if nothing may be sent: the form is deleted, or forms are switched off. */
  async #notifying({ organizationId, formId }: Pick<Notice, 'organizationId' | 'formId'>): Promise<Notifying | undefined> {
    const { database, policies } = this.#options
    const form = (await database.get(forms, { organizationId }, formId))?.record
    const settings = (await database.get(formNotifications, { organizationId }, formId))?.record
    if (!form || !settings) return undefined
    const { organization, projects } = await policies.of(organizationId)
    const isOff = organization.deletedAt !== undefined || !projects.has(form.projectId) || !isSwitchedOn(organization, 'forms')
    return isOff ? undefined : { organizationId, form, settings }
  }

  /** Returns the existing submissions that are not spam, each with the definition of its version. */
  async #noticed(organizationId: string, formId: string, ids: readonly string[]): Promise<readonly Noticed[]> {
    const { database } = this.#options
    const versions = new Map<number, Noticed['definition']>()
    const all: Noticed[] = []
    for (const stored of await database.getMany(formSubmissions, { organizationId }, ids)) {
      if (stored?.record.formId !== formId || stored.record.status === 'spam') continue
      const { record: submission } = stored
      const known = versions.get(submission.version)
      const found =
        known ?? (await database.get(formVersions, { organizationId }, versionId(formId, submission.version)))?.record.definition
      if (!found) continue
      versions.set(submission.version, found)
      all.push({ submission, definition: found })
    }
    return all
  }

  async #isOn(organizationId: string, { confirmedAt, email }: NotificationRecipient): Promise<boolean> {
    return confirmedAt !== null || isMember(this.#options.database, organizationId, email)
  }

  #endUrl({ publicId }: Form, recipientId: string): string {
    return this.#options.mail.urlOf(recipientPath(this.#options.secrets, { publicId, recipientId }))
  }

  /** Sends the mail like any send of the project: routing, suppressions, budgets and captures apply. */
  async #send(
    { organizationId, form, settings }: Notifying,
    { id: recipientId, email }: NotificationRecipient,
    { mail, replyTo, key, stage, about }: Notification,
  ): Promise<void> {
    const recipient = parseMailbox(email)
    if (!recipient) throw new Error('a recipient without an address')
    const { projectId, id: credentialId } = form
    const principal: Principal = { organizationId, projectId, bound: true, scopes: ['api:send'], credentialId }
    const none = { cc: [], bcc: [], attachments: [], template: undefined, destinationId: undefined }
    const from = settings.from === null ? undefined : parseMailbox(settings.from)
    const headers = [{ name: 'Auto-Submitted', value: 'auto-generated' }] // RFC 3834 §5
    const order = { ...none, ...mail, to: [recipient], replyTo, from, headers, projectId, idempotencyKey: key }
    const { sendMessages, database, clock } = this.#options
    await sendMessages.send(principal, order, {
      door: 'form_notification',
      stage: async (change, { id: traceId }) => {
        stage(change)
        const submissions = about.map(({ submission }) => submission)
        await addToTrail(database, change, organizationId, submissions, { recipientId, to: email, traceId, at: clock.now() })
      },
    })
  }

  /** Stores the problem in the settings, where members see why no mail is sent, with its finding. */
  async #noteProblem(
    { organizationId, formId }: { readonly organizationId: string; readonly formId: string },
    message: string | null,
  ): Promise<void> {
    const { database, clock, settle } = this.#options
    await transact(database, { organizationId }, async (change) => {
      const [stored, form] = [await change.get(formNotifications, formId), await change.get(forms, formId)]
      if (!stored || !form || (stored.record.problem === null && message === null)) return
      const problem = message === null ? null : { at: clock.now(), message }
      change.replace(formNotifications, organizationId, stored, { ...stored.record, problem })
      const kind = 'form.notification_failing'
      const { name, projectId } = form.record
      if (message === null) await settle.end(change, organizationId, { kind, subject: formId })
      else
        await settle.observe(
          change,
          organizationId,
          observed(kind, formId, { name, by: 'mail', counted: 'no', undelivered: 0, status: 'none' }, projectId),
        )
    })
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Refusal ? error.message : 'The mail could not be created because of an internal error.'

/**
 * Returns the visitor's address from the Reply-To field of the settings. Returns no address if the visitor's version of the form masks that
 * field.
 */
function replyToOf({ replyToField }: NotificationSettings, { submission, definition }: Noticed): readonly Mailbox[] {
  const field = definition.schema.fields.find(({ key }) => key === replyToField)
  if (field?.type !== 'email' || field.email_mask === true) return []
  const { [field.key]: answer } = submission.answers
  const mailbox = typeof answer === 'string' ? parseMailbox(answer) : undefined
  return mailbox ? [mailbox] : []
}
