/** Reads and saves the notification settings of a form, and sends confirmation links to recipients who are not members. */
import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Change } from '#store/change.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { foldAddress } from '../../addresses.ts'
import type { Core } from '../../core.ts'
import type { Outbox } from '../../people/mail/outbox.ts'
import { formRecipientMail } from '../../people/mail/mail-texts.ts'
import type { SystemMail } from '../../people/mail/system-mail.ts'
import { invalid, Refusal } from '../../refusals.ts'
import { RateWindow } from '../../visitors/rate-window.ts'
import { checkTargetUrl, keptUrl, shownUrl, type TargetGuards } from '../../webhooks/endpoints/target-url.ts'
import { scheduleCleanup } from '../../webhooks/sending/cleanup.ts'
import { newWebhookSecret } from '../../webhooks/sending/signature.ts'
import { must } from '../../writes/transact.ts'
import { forms, type Form } from '../form.ts'
import { isMember } from './members.ts'
import {
  formNotifications,
  webhookSecretContext,
  type NewRecipient,
  type NotificationOrder,
  type NotificationRecipient,
  type NotificationSettings,
} from './notification.ts'
import { recipientPath } from './recipient-link.ts'
import { problemsOf } from './settings-check.ts'

export interface NotificationsOptions extends TargetGuards, Core {
  readonly mail: SystemMail
  readonly outbox: Outbox
}

export type RecipientStatus = 'member' | 'confirmed' | 'unconfirmed'

export interface ShownRecipient extends NotificationRecipient {
  readonly status: RecipientStatus
}

/** Settings in responses. `secret` is present only in the response that creates it. */
export interface ShownNotifications {
  /** Changes with every change of the settings. */
  readonly revision: string
  readonly settings: NotificationSettings
  readonly recipients: readonly ShownRecipient[]
  readonly secret: string | undefined
}

const hourMs = 3_600_000
const confirmations = {
  organization: {
    name: 'recipients of forms by organization',
    windowMs: hourMs,
    most: 30,
    message: 'This organization sent 30 confirmation mails in the last hour. Add the other addresses later.',
  },
  address: {
    name: 'recipients of forms by address',
    windowMs: 24 * hourMs,
    most: 3,
    message: 'This address got three confirmation mails in the last 24 hours. Try again later.',
  },
} as const

export class FormNotifications {
  readonly #options: NotificationsOptions
  /** Rate limits of confirmation mails by organization and by address, so that no address is flooded. */
  readonly #asked: { readonly [Whose in keyof typeof confirmations]: RateWindow }

  constructor(options: NotificationsOptions) {
    this.#options = options
    this.#asked = {
      organization: new RateWindow(options, confirmations.organization),
      address: new RateWindow(options, confirmations.address),
    }
  }

  /** Returns the settings, by default without recipients. Throws `not_found` for a form outside the caller's reach. */
  async get(principal: Principal, formId: string): Promise<ShownNotifications> {
    const { database } = this.#options
    const { record: form } = await must(database, forms, principal, formId)
    const stored = await this.#stored(principal, formId)
    return this.#shown(principal, stored?.record ?? emptySettings(form))
  }

  /**
   * Replaces the settings; with a revision tag, only that revision. A new recipient who is not a member first gets a confirmation link.
   * Throws `validation_failed`. Throws `conflict` for another revision, and for such a recipient if the service cannot send system mail.
   */
  async save(principal: Principal, formId: string, order: NotificationOrder, revisionTag = '*'): Promise<ShownNotifications> {
    const { writes, database, secrets, outbox } = this.#options
    await must(database, forms, principal, formId)
    const seen = (await this.#stored(principal, formId))?.record.webhookUrl ?? null
    const isShown = seen !== null && order.webhookUrl === shownUrl(seen)
    const given = order.webhookUrl === null || isShown ? null : await checkTargetUrl(order.webhookUrl, this.#options, 'webhook_url')
    const secret = newWebhookSecret()
    const sealedSecret = secrets.seal(secret, webhookSecretContext(formId))
    const saved = await writes.runAudited(principal, 'form_notifications.updated', async (change) => {
      const { record: form } = await must(database, forms, principal, formId)
      const stored = await this.#stored(principal, formId)
      const before = stored?.record ?? emptySettings(form)
      if (revisionTag !== '*' && revisionTag !== tagOf(before)) throw changed(before)
      const { recipients: asked, ...own } = order
      const problems = await problemsOf(database, principal, form, order)
      if (problems.length > 0) throw invalid(problems)
      const recipients = asked.map((one) => this.#recipient(before, one))
      const sealed = given === null ? null : keptUrl(secrets, given, webhookSecretContext(formId), before.webhookUrl)
      const webhookUrl = isShown ? before.webhookUrl : sealed
      const sealedWebhookSecret = webhookUrl === null ? null : (before.sealedWebhookSecret ?? sealedSecret)
      const next: NotificationSettings = { ...before, ...own, recipients, webhookUrl, sealedWebhookSecret }
      if (stored && isDeepStrictEqual(next, before)) return next
      await this.#askOutsiders(change, principal, form, before, recipients)
      if (before.webhookUrl !== null && webhookUrl === null) scheduleCleanup(change, principal.organizationId, formId)
      return this.#put(change, principal.organizationId, stored, next)
    })
    outbox.wake()
    return this.#shown(principal, saved, saved.sealedWebhookSecret === sealedSecret ? secret : undefined)
  }

  /** Replaces the webhook secret; all later attempts use it. Throws `conflict` without a webhook. */
  async rotateSecret(principal: Principal, formId: string): Promise<ShownNotifications> {
    const { writes, secrets } = this.#options
    const secret = newWebhookSecret()
    const sealedWebhookSecret = secrets.seal(secret, webhookSecretContext(formId))
    const saved = await writes.runAudited(principal, 'form_notifications.secret_rotated', async (change) => {
      await must(this.#options.database, forms, principal, formId)
      const stored = await this.#stored(principal, formId)
      if (!stored || stored.record.webhookUrl === null) throw new Refusal('conflict', 'The form has no webhook; set webhook_url first.')
      return this.#put(change, principal.organizationId, stored, { ...stored.record, sealedWebhookSecret })
    })
    return this.#shown(principal, saved, secret)
  }

  /** Keeps the id and the confirmation of an existing address. */
  #recipient({ recipients }: NotificationSettings, { email, when, digest }: NewRecipient): NotificationRecipient {
    const folded = foldAddress(email)
    const known = recipients.find((one) => one.email === folded)
    const { id, confirmedAt } = known ?? { id: this.#options.database.newId('fnr', this.#options.clock.now()), confirmedAt: null }
    return { id, email: folded, when: when as NotificationRecipient['when'], digest, confirmedAt }
  }

  async #askOutsiders(
    change: Change,
    principal: Principal,
    form: Form,
    before: NotificationSettings,
    recipients: readonly NotificationRecipient[],
  ): Promise<void> {
    const known = new Set(before.recipients.map(({ id }) => id))
    for (const recipient of recipients)
      if (!known.has(recipient.id) && !(await isMember(this.#options.database, principal.organizationId, recipient.email)))
        await this.#ask(change, principal, form, recipient)
  }

  async #ask(change: Change, { organizationId }: Principal, { name, publicId }: Form, { id, email }: NotificationRecipient): Promise<void> {
    const { mail, outbox, policies, secrets } = this.#options
    if (!(await mail.isReady())) {
      const why = 'is not a member, and this service cannot send confirmation mail'
      throw new Refusal('conflict', `${email} ${why}; invite the person, or ask the operator to set POSTERN_SYSTEM_DESTINATION.`)
    }
    await this.#asked.organization.take(organizationId)
    await this.#asked.address.take(email)
    const { organization } = await policies.of(organizationId)
    const url = mail.urlOf(recipientPath(secrets, { publicId, recipientId: id }))
    await outbox.add(change, email, formRecipientMail(organization.name, name, url))
  }

  #put(
    change: Change,
    organizationId: string,
    stored: Stored<NotificationSettings> | undefined,
    settings: NotificationSettings,
  ): NotificationSettings {
    const next = { ...settings, updatedAt: this.#options.clock.now() }
    if (stored) change.replace(formNotifications, organizationId, stored, next)
    else change.insert(formNotifications, organizationId, next)
    return next
  }

  async #shown({ organizationId }: Principal, settings: NotificationSettings, secret?: string): Promise<ShownNotifications> {
    const recipients: ShownRecipient[] = []
    for (const recipient of settings.recipients) {
      const isOne = await isMember(this.#options.database, organizationId, recipient.email)
      recipients.push({ ...recipient, status: isOne ? 'member' : recipient.confirmedAt === null ? 'unconfirmed' : 'confirmed' })
    }
    return { revision: revisionOf(settings), settings, recipients, secret }
  }

  #stored({ organizationId }: Principal, formId: string): Promise<Stored<NotificationSettings> | undefined> {
    return this.#options.database.get(formNotifications, { organizationId }, formId)
  }
}

/** Hash of the settings, without confirmations and the last problem. */
function revisionOf({ recipients, from, replyToField, subjectTmpl, includeAnswers, webhookUrl }: NotificationSettings): string {
  const asked = recipients.map(({ email, when, digest }) => [email, when, digest])
  return hash('sha256', JSON.stringify([asked, from, replyToField, subjectTmpl, includeAnswers, webhookUrl]), 'base64url').slice(0, 22)
}

/** Returns the revision as an entity tag (RFC 9110 §8.8.3). */
const tagOf = (settings: NotificationSettings): string => `"${revisionOf(settings)}"`

function changed({ updatedAt }: NotificationSettings): Refusal {
  const message = `The notifications were changed at ${new Date(updatedAt).toISOString()}; read them again and repeat your changes.`
  return new Refusal('conflict', message, { nextAction: 'read_and_retry' })
}

const emptySettings = ({ id, createdAt }: Form): NotificationSettings => ({
  ...{ id, recipients: [], from: null, replyToField: null, subjectTmpl: '', includeAnswers: true },
  ...{ webhookUrl: null, sealedWebhookSecret: null, problem: null, createdAt, updatedAt: createdAt },
})
