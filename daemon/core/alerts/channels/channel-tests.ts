/** Sends a test alert at once, and returns the response of the receiver. */
import type { Principal } from '../../access/principal/principal.ts'
import type { Core } from '../../core.ts'
import { membersWho } from '../../people/mail/member-notices.ts'
import type { Outbox } from '../../people/mail/outbox.ts'
import type { SystemMail } from '../../people/mail/system-mail.ts'
import { Refusal } from '../../refusals.ts'
import { RateWindow } from '../../visitors/rate-window.ts'
import type { TestDeliveries } from '../../webhooks/endpoints/test-delivery.ts'
import { alertsUrl } from '../alerts-url.ts'
import { testEvent } from '../kinds/alert-event.ts'
import { alertMail } from '../kinds/mail.ts'
import type { AlertChannel } from './alert-channel.ts'
import { openTarget, requestTarget } from './channel-target.ts'
import { requireChange, type AlertChannels } from './channels.ts'
import { recipientPath } from './confirmations.ts'

export interface ChannelTestsOptions extends Core {
  readonly channels: Pick<AlertChannels, 'get' | 'noteTest'>
  readonly tests: Pick<TestDeliveries, 'send'>
  readonly mail: Pick<SystemMail, 'isReady' | 'urlOf' | 'send'>
  readonly outbox: Pick<Outbox, 'add'>
}

export interface ChannelTestResult {
  /** A chat or webhook accepted the alert; a mail was queued. */
  readonly isGood: boolean
  readonly milliseconds: number
  readonly statusCode: number | null
  readonly error: string | null
  readonly answer: string | null
}

interface SentTest extends ChannelTestResult {
  /** Keys of the mails; empty for a chat or webhook. */
  readonly mailIds: readonly string[]
}

/** A test mail leaves through the destination of the service, and its recipient did not ask for it. */
const mailLimit = {
  ...{ name: 'test mails of alerts', windowMs: 3_600_000, most: 5 },
  message: 'This channel sent five test mails in the last hour. Try again later.',
} as const

export class ChannelTests {
  readonly #options: ChannelTestsOptions
  readonly #mails: RateWindow

  constructor(options: ChannelTestsOptions) {
    this.#options = options
    this.#mails = new RateWindow(options, mailLimit)
  }

  /**
   * Throws `not_found`, `rate_limit_exceeded` during another test and after five mails in an hour, and `conflict` for mail that cannot be
   * sent.
   */
  async run(principal: Principal, id: string, signal: AbortSignal): Promise<ChannelTestResult> {
    const { channels, clock } = this.#options
    const channel = await channels.get(principal, id)
    requireChange(principal, channel.projectId)
    const { mailIds, ...result } = await this.#send(principal, channel, signal)
    signal.throwIfAborted()
    await channels.noteTest(principal, id, { at: clock.now(), isGood: result.isGood, status: result.statusCode }, mailIds)
    return result
  }

  async #send(principal: Principal, channel: AlertChannel, signal: AbortSignal): Promise<SentTest> {
    const { database, clock, policies, mail, secrets, tests } = this.#options
    const { organizationId } = principal
    const { organization } = await policies.of(organizationId)
    const at = clock.now()
    const url = mail.urlOf(alertsUrl(organizationId, channel))
    const event = testEvent({ id: database.newId('evt', at), at, organization, url, language: channel.language })
    const target = requestTarget(secrets, channel)
    if (target) {
      const sent = await tests.send(channel.id, target, { eventType: 'alert', body: JSON.stringify(event) }, signal)
      return { ...sent, isGood: sent.error === null, mailIds: [] }
    }
    if (!(await mail.isReady()))
      throw new Refusal('conflict', 'This service sends no mail; ask the operator to set POSTERN_SYSTEM_DESTINATION.')
    const mailIds: string[] = []
    const addresses = await this.#addresses(organizationId, channel)
    // several channels can have the same address
    await this.#mails.take(channel.kind === 'members' ? organizationId : (addresses[0] ?? channel.id))
    for (const address of addresses) {
      const id = database.newId('mail', at)
      const stopUrl = mail.urlOf(recipientPath(secrets, organizationId, { id: channel.id, address }))
      const text = alertMail(event, channel.language, channel.kind === 'members' ? 'member' : { stopUrl })
      await mail.send(address, text, id)
      mailIds.push(id)
    }
    return { isGood: true, milliseconds: Math.round(clock.now() - at), statusCode: null, error: null, answer: null, mailIds }
  }

  async #addresses(organizationId: string, channel: AlertChannel): Promise<readonly string[]> {
    const { database, secrets } = this.#options
    if (channel.kind === 'mail') {
      if (channel.confirmedAt === null) throw new Refusal('conflict', 'The recipient has not confirmed this channel yet.')
      return [openTarget(secrets, channel)?.address ?? []].flat()
    }
    const people = await membersWho(database, organizationId, ({ administersOrganization }) => administersOrganization)
    return people.flatMap(({ email, noAlertMail }) => (noAlertMail === true ? [] : [email]))
  }
}
