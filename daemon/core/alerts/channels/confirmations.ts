/**
 * Confirmation of `mail` channels by their recipients. The link names organization, channel and address, with 16 octets of an HMAC, so that
 * it becomes invalid when the channel is deleted or gets another address.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Change } from '#store/change.ts'
import type { SecretBox } from '../../access/secret-box.ts'
import type { Core } from '../../core.ts'
import type { Outbox } from '../../people/mail/outbox.ts'
import { alertRecipientMail } from '../../people/mail/mail-texts.ts'
import type { SystemMail } from '../../people/mail/system-mail.ts'
import { Refusal } from '../../refusals.ts'
import type { Organization } from '../../tenancy/organization.ts'
import { RateWindow } from '../../visitors/rate-window.ts'
import type { Transaction } from '../../writes/transact.ts'
import type { ChannelBook } from '../channel-book.ts'
import { lookBy } from '../channel-state.ts'
import { alertChannels, type AlertChannel } from './alert-channel.ts'
import { openTarget } from './channel-target.ts'
import { forgetFailures, type FailuresOptions } from './forget-failures.ts'

export interface ConfirmationsOptions extends Core, FailuresOptions {
  readonly book: Pick<ChannelBook, 'asOfNow'>
  readonly mail: Pick<SystemMail, 'isReady' | 'urlOf'>
  readonly outbox: Pick<Outbox, 'add'>
}

/** The channel of a link. */
export interface ChannelRecipient {
  readonly organization: Organization
  readonly channel: AlertChannel
  readonly address: string
}

const hourMs = 3_600_000
const limits = {
  organization: {
    ...{ name: 'recipients of alerts by organization', windowMs: hourMs, most: 30 },
    message: 'This organization sent 30 confirmation mails in the last hour. Add the other addresses later.',
  },
  address: {
    ...{ name: 'recipients of alerts by address', windowMs: 24 * hourMs, most: 3 },
    message: 'This address got three confirmation mails in the last 24 hours. Try again later.',
  },
} as const

export class Confirmations {
  readonly #options: ConfirmationsOptions
  readonly #organizations: RateWindow
  readonly #addresses: RateWindow

  constructor(options: ConfirmationsOptions) {
    this.#options = options
    this.#organizations = new RateWindow(options, limits.organization)
    this.#addresses = new RateWindow(options, limits.address)
  }

  /** Adds the mail with the link to the write. Throws `conflict` without system mail, and `rate_limit_exceeded`. */
  async ask(change: Change, organizationId: string, { id }: AlertChannel, address: string): Promise<void> {
    const { mail, outbox, policies, secrets } = this.#options
    if (!(await mail.isReady())) {
      const message = `${address} is not a member, and this service cannot send confirmation mail; use another kind of channel, or ask the operator to set POSTERN_SYSTEM_DESTINATION.`
      throw new Refusal('conflict', message)
    }
    await this.#organizations.take(organizationId)
    await this.#addresses.take(address)
    const { organization } = await policies.of(organizationId)
    const url = mail.urlOf(recipientPath(secrets, organizationId, { id, address }))
    await outbox.add(change, address, alertRecipientMail(organization.name, url))
  }

  /** Returns the channel of a link without changes. Throws `not_found` for invalid links, deleted channels and other addresses. */
  async look(token: string): Promise<ChannelRecipient> {
    const { database, policies, secrets, book } = this.#options
    const [, organizationId, channelId, mac] = /^(\w{1,64})\.(\w{1,64})\.([\w-]{22})$/.exec(token) ?? []
    if (organizationId === undefined || channelId === undefined || mac === undefined) throw gone()
    const stored = await database.get(alertChannels, { organizationId }, channelId)
    const address = stored && openTarget(secrets, stored.record)?.address
    if (!stored || address === undefined || !isMacOf(secrets, { organizationId, channelId, address }, mac)) throw gone()
    const { organization } = await policies.of(organizationId)
    if (organization.deletedAt !== undefined) throw gone()
    return { organization, channel: await book.asOfNow(organizationId, stored.record), address }
  }

  /** Confirms the channel. A repeated call changes nothing. */
  async confirm(token: string): Promise<void> {
    const { database, clock } = this.#options
    await this.#change(token, 'alert_channel.confirmed', async (change, organizationId, channel) => {
      const now = clock.now()
      await lookBy(database, change, organizationId, channel.id, now)
      const { isOfMember, ...own } = channel
      return channel.confirmedAt === null || isOfMember ? { ...own, confirmedAt: now } : channel
    })
  }

  /** Drops the confirmation; the channel gets nothing until its recipient confirms again. */
  async stop(token: string): Promise<void> {
    const { database, clock } = this.#options
    await this.#change(token, 'alert_channel.stopped', async (change, organizationId, channel) => {
      await forgetFailures(this.#options, change, organizationId, channel.id)
      await lookBy(database, change, organizationId, channel.id, clock.now())
      const { isOfMember: _, ...own } = channel
      return { ...own, confirmedAt: null }
    })
  }

  async #change(
    token: string,
    act: string,
    next: (change: Transaction, organizationId: string, channel: AlertChannel) => Promise<AlertChannel>,
  ): Promise<void> {
    const { writes, audit, clock } = this.#options
    const { organization } = await this.look(token)
    const { id: organizationId } = organization
    await writes.run(organizationId, async (change) => {
      const { channel } = await this.look(token)
      const stored = await change.must(alertChannels, channel.id)
      const record = await next(change, organizationId, stored.record)
      if (record === stored.record) return
      change.replace(alertChannels, organizationId, stored, { ...record, updatedAt: clock.now() })
      const actor = { kind: 'service', id: '' } as const
      audit.record(change, { organizationId, projectId: record.projectId || undefined, actor, act, target: channel.id, details: {} })
    })
  }
}

interface Named {
  readonly organizationId: string
  readonly channelId: string
  readonly address: string
}

type Secrets = Pick<SecretBox, 'mac'>
const macBytes = 16

const macOf = (secrets: Secrets, { organizationId, channelId, address }: Named): Buffer =>
  secrets.mac('alert.recipient.v1', Buffer.from(`${organizationId}.${channelId}.${address}`)).subarray(0, macBytes)

function isMacOf(secrets: Secrets, named: Named, text: string): boolean {
  const given = Buffer.from(text, 'base64url')
  return given.length === macBytes && timingSafeEqual(given, macOf(secrets, named))
}

/** Returns the path of the page on which the recipient confirms or ends the alerts. */
export function recipientPath(secrets: Secrets, organizationId: string, { id, address }: { id: string; address: string }): string {
  const mac = macOf(secrets, { organizationId, channelId: id, address })
  return `/alert-channels/${organizationId}.${id}.${mac.toString('base64url')}`
}

const gone = (): Refusal => new Refusal('not_found', 'This link is no longer valid: the channel was deleted, or has another address.')
