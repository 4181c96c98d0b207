/** Handles recipients' links: confirm or end the notifications of a form. */
import type { Change } from '#store/change.ts'
import type { Core } from '../../core.ts'
import { Refusal } from '../../refusals.ts'
import type { Organization } from '../../tenancy/organization.ts'
import { forms, type Form } from '../form.ts'
import { isMember } from './members.ts'
import { formNotifications, type NotificationRecipient, type NotificationSettings } from './notification.ts'
import { readRecipientToken } from './recipient-link.ts'

/** The recipient and the form of a link. */
export interface RecipientView {
  readonly organization: Organization
  readonly form: Form
  readonly recipient: NotificationRecipient
  /** The recipient gets notifications already. */
  readonly isOn: boolean
}

export class Recipients {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Returns the data of a link without changes. Throws `not_found` for invalid links and removed recipients. */
  async look(token: string): Promise<RecipientView> {
    const { database, policies, secrets } = this.#core
    const named = readRecipientToken(secrets, token)
    const found = named && (await database.lookup(forms, 'public', [named.publicId]))
    if (!found) throw gone()
    const { organizationId, record: form } = found
    const { organization, deleted } = await policies.of(organizationId)
    const stored = await database.get(formNotifications, { organizationId }, form.id)
    const recipient = stored?.record.recipients.find(({ id }) => id === named.recipientId)
    if (!recipient || organization.deletedAt !== undefined || deleted.has(form.projectId)) throw gone()
    const isOn = recipient.confirmedAt !== null || (await isMember(database, organizationId, recipient.email))
    return { organization, form, recipient, isOn }
  }

  /** Confirms the recipient. A repeated call changes nothing. */
  confirm(token: string): Promise<void> {
    return this.#change(token, 'form_notifications.confirmed', (recipients, own, now) =>
      recipients.map((one) => (one.id === own.id ? { ...one, confirmedAt: one.confirmedAt ?? now } : one)),
    )
  }

  /** Removes the recipient; pending digest entries are not sent. */
  stop(token: string): Promise<void> {
    return this.#change(token, 'form_notifications.stopped', (recipients, own) => recipients.filter(({ id }) => id !== own.id))
  }

  async #change(
    token: string,
    act: string,
    next: (recipients: NotificationSettings['recipients'], own: NotificationRecipient, now: number) => readonly NotificationRecipient[],
  ): Promise<void> {
    const { database, writes, audit, clock } = this.#core
    const { organization, form } = await this.look(token)
    const { id: organizationId } = organization
    await writes.run(organizationId, async (change: Change) => {
      const { recipient } = await this.look(token)
      const stored = await database.get(formNotifications, { organizationId }, form.id)
      if (!stored) throw gone()
      const now = clock.now()
      change.replace(formNotifications, organizationId, stored, {
        ...{ ...stored.record, recipients: next(stored.record.recipients, recipient, now), updatedAt: now },
      })
      const { id: target, projectId } = form
      const details = { email: recipient.email }
      audit.record(change, { organizationId, projectId, actor: { kind: 'service', id: '' }, act, target, details })
    })
  }
}

const gone = (): Refusal => new Refusal('not_found', 'This link is no longer valid: the notifications were ended, or the form was deleted.')
