/**
 * Notifies the operator of findings, by mail and by webhook. The write that stores the mail and the delivery also records the notified
 * findings.
 */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import { Change, decode, encode } from '#store/change.ts'
import { globalKey } from '#store/record-kind.ts'
import { unpack, within, type Element } from '#store/tuple.ts'
import * as z from 'zod'
import type { Core } from '../core.ts'
import { writtenMail, type MailText } from '../people/mail/mail-texts.ts'
import type { Outbox } from '../people/mail/outbox.ts'
import type { SystemMail } from '../people/mail/system-mail.ts'
import { systemOrganizationId, systemProjectId } from '../routing/policy/system-policy.ts'
import { addDelivery } from '../webhooks/events/add-delivery.ts'
import type { TargetSource } from '../webhooks/sending/target.ts'
import { findingKinds, severities } from '../findings/kinds.ts'
import { inOrder, openReport, type ReportedFinding } from './report.ts'
import { dayOf, toTell, type Telling, type Reported, type NotifiedFinding } from './telling.ts'

export interface AlertOptions extends Core {
  readonly mail: Pick<SystemMail, 'isReady' | 'urlOf'>
  readonly outbox: Outbox
  /** Recipient of alert mail; null for no mail. */
  readonly mailTo: string | null
  /** Whether a webhook is configured; see `alertTarget`. */
  readonly hasWebhook: boolean
}

/** Endpoint id of alerts among the webhook deliveries. */
const receiverId = 'operator_alerts'
const reportedKey = (...rest: readonly Element[]): readonly Element[] => globalKey('doctor.reported', ...rest)
/** Resolved findings remain recorded for this time, so that the day of their end is over in every case. */
const rememberedMs = 2 * 86_400_000
/** Maximum number of findings in a mail; the dashboard shows all. */
const maxListed = 100

const findingShape = z.object({
  ...{ id: z.enum(findingKinds), severity: z.enum(severities), subject: z.string() },
  ...{ summary: z.string(), fix: z.string() },
})

/** Body of the alert webhook, signed like event webhooks. */
const alertEventShape = z.object({
  ...{ id: z.string(), type: z.literal('operator_alert'), created_at: z.string() },
  data: z.object({ standing: z.array(findingShape), over: z.array(findingShape) }),
})

export class Alerts {
  readonly #options: AlertOptions

  constructor(options: AlertOptions) {
    this.#options = options
  }

  /** Sends one mail and one delivery for all new and resolved findings. Has no effect if neither can be sent. */
  async tell(): Promise<void> {
    const { database, clock, mail, outbox, mailTo, hasWebhook } = this.#options
    const mailed = mailTo !== null && (await mail.isReady()) ? mailTo : undefined
    if (mailed === undefined && !hasWebhook) return
    const now = clock.now()
    const stored = await this.#stored()
    const known = new Map([...stored].map(([name, { reported }]) => [name, reported]))
    const telling = toTell((await openReport(database)).map(notifiedOf), known, dayOf(now))
    if (telling.rows.size === 0) return
    const change = new Change()
    for (const [name, row] of telling.rows) {
      const key = reportedKey(name)
      change.check(key, stored.get(name)?.version)
      if (row === undefined) change.delete(key)
      else change.set(key, encode(row))
      if (row?.overOn !== undefined) change.expire(now + rememberedMs, key)
    }
    if (telling.standing.length + telling.over.length > 0) {
      if (mailed !== undefined) await outbox.add(change, mailed, alertMail(telling, mail.urlOf('/operator')))
      if (hasWebhook) this.#deliver(change, telling, now)
    }
    if ((await database.commit(change)).ok) outbox.wake()
    // otherwise another daemon sends the same alert
  }

  #deliver(change: Change, { standing, over }: Telling, at: number): void {
    const { database } = this.#options
    const eventId = database.newId('evt', at)
    const event: z.input<typeof alertEventShape> = {
      ...{ id: eventId, type: 'operator_alert', created_at: new Date(at).toISOString() },
      data: { standing: inOrder(standing), over: inOrder(over) },
    }
    addDelivery(database, change, systemOrganizationId, {
      ...{ eventId, eventType: 'operator_alert', endpointId: receiverId, projectId: systemProjectId },
      ...{ traceId: null, body: JSON.stringify(event), at },
    })
  }

  async #stored(): Promise<ReadonlyMap<string, { readonly reported: Reported; readonly version: bigint }>> {
    const rows = new Map<string, { reported: Reported; version: bigint }>()
    for await (const { key, value, version } of this.#options.database.kv.range(within(reportedKey())))
      rows.set(String(unpack(key).at(-1)), { reported: decode<Reported>(value), version })
    return rows
  }
}

/** Returns the webhook target of alerts. Without a configured webhook, waiting deliveries are dropped. */
export function alertTarget(
  { secrets }: Pick<Core, 'secrets'>,
  webhook: { readonly url: string; readonly secret: string } | undefined,
): TargetSource {
  const secretContext = 'operator_alerts/webhook'
  const sealedSecret = webhook && secrets.seal(webhook.secret, secretContext)
  return async (_, { organizationId }, id) => {
    if (id !== receiverId || organizationId !== systemOrganizationId || !webhook || sealedSecret === undefined) return undefined
    const target = { projectId: systemProjectId, targetUrl: webhook.url, sealedSecret, secretContext }
    return { ...target, feature: 'webhooks', whileOff: 'Alerts are turned off.' }
  }
}

const notifiedOf = ({ organizationName, summary, ...one }: ReportedFinding): NotifiedFinding => ({
  ...one,
  summary: organizationName === undefined ? summary : `${organizationName}: ${summary}`,
})

function alertMail({ standing, over }: Pick<Telling, 'standing' | 'over'>, url: string): MailText {
  const texts = catalogIn('mails', 'en').alert
  const worst = inOrder(standing)
  const listed = worst.slice(0, maxListed)
  const [first] = worst
  const subject =
    first === undefined
      ? over.length === 1
        ? texts.over({ summary: over[0]?.summary ?? '' })
        : texts.allOver({ count: over.length })
      : texts.subject({ severity: first.severity, summary: first.summary, more: worst.length - 1 })
  return writtenMail({
    subject: subject.length > 150 ? `${subject.slice(0, 149)}…` : subject,
    paragraphs: [
      ...listed.map(({ id, severity, summary, fix }) => texts.finding({ id, severity, summary, fix })),
      ...(worst.length > listed.length ? [texts.more({ count: worst.length - listed.length })] : []),
      ...over.slice(0, maxListed).map(({ id, summary }) => texts.findingOver({ id, summary })),
    ],
    button: { label: texts.button, url },
    footnote: texts.footnote,
  })
}
