/** Makes one attempt of a delivery: reads, sends, commits. After a crash before the commit, the delivery is still due and is sent again. */
import { Change } from '#store/change.ts'
import type { Core } from '../../core.ts'
import { count, countFor, projectNames } from '../../insights/count.ts'
import { timingName } from '../../insights/latency.ts'
import { isSwitchedOn } from '../../plan/features.ts'
import { traces } from '../../trace/trace.ts'
import {
  addDue,
  dueKey,
  logAttempt,
  removeDelivery,
  removeDue,
  webhookDeliveries,
  type DueRow,
  type AttemptEnding,
  type WebhookDelivery,
} from '../delivery.ts'
import { noteAttempt } from '../receiver-health.ts'
import { transact } from '../../writes/transact.ts'
import { afterAttempt, besideNewSchedule } from './retry-schedule.ts'
import type { SentDelivery } from './request.ts'
import { unsent, type Sender, type Sent } from './sender.ts'
import { findTarget, type DeliveryTarget, type TargetSource } from './target.ts'

export interface AttemptOptions extends Core {
  readonly sender: Pick<Sender, 'send'>
  /** Decodes a raw Subject value (RFC 2047). */
  readonly readSubject: (raw: string) => string
  /** Called after each attempt; must not throw. */
  readonly onAttempted?: ((attempted: WebhookAttempted) => void) | undefined
  /** Targets other than endpoints. */
  readonly targets?: readonly TargetSource[]
}

/** A finished attempt with its message; `traceId` is null if the event is not about a message. */
export interface WebhookAttempted extends Pick<WebhookDelivery, 'traceId' | 'eventType' | 'nextAttemptAt'> {
  readonly ending: AttemptEnding
  readonly endpointId: string
  readonly attempt: number
  readonly sent: Sent
}

/** The result of an attempt, for scheduling. */
export interface AttemptResult {
  readonly isGood: boolean
  readonly milliseconds: number
}

export class DeliveryAttempts {
  readonly #options: AttemptOptions

  constructor(options: AttemptOptions) {
    this.#options = options
  }

  /**
   * Makes an attempt. Returns `paused`, and leaves the delivery due, if the target is paused. Returns undefined if nothing was sent: the
   * delivery is no longer due, its target was deleted, or we aborted the request.
   */
  async run(row: DueRow, signal: AbortSignal): Promise<AttemptResult | 'paused' | undefined> {
    const { database, clock, sender, targets = [] } = this.#options
    const { organizationId, id } = row
    const stored = await database.get(webhookDeliveries, { organizationId }, id)
    if (stored?.record.nextAttemptAt !== row.dueMs) {
      await database.commit(new Change().delete(dueKey(row.endpointId, row.dueMs, id)))
      return undefined
    }
    const target = await findTarget(targets, database, { organizationId }, row.endpointId)
    const bar = target && (await this.#barFor(organizationId, target, stored.record))
    if (!target || bar === 'gone') {
      await database.commit(removeDelivery(new Change(), organizationId, stored))
      return undefined
    }
    if (target.isPaused) return 'paused'
    const sent =
      bar === undefined ? await sender.send(target, await this.#withMessage(row, target, stored.record), signal) : unsent(clock.now(), bar)
    if (sent.isOurs) return undefined
    await this.#commit(row, sent, target.retryDelaysMs)
    return bar === undefined ? { isGood: sent.error === null, milliseconds: sent.milliseconds } : undefined
  }

  /** Adds the current facts of the message from its trace, for formats that need them. */
  async #withMessage(
    { organizationId }: DueRow,
    target: DeliveryTarget,
    { deliveryId, eventType, body, traceId }: WebhookDelivery,
  ): Promise<SentDelivery> {
    const delivery = { deliveryId, eventType, body }
    const format = 'write' in target ? undefined : target.endpoint?.format
    if (traceId === null || (format ?? 'native') === 'native') return delivery
    const found = await this.#options.database.lookup(traces, 'id', [traceId])
    if (found?.organizationId !== organizationId) return delivery
    const { headerFrom: from, mailFrom, subject, createdAt: acceptedAt, dialect } = found.record
    const message = { from, mailFrom, subject: this.#options.readSubject(subject), acceptedAt, answeredId: dialect?.answeredId }
    return { ...delivery, message }
  }

  /**
   * Returns why nothing may be sent now. Returns `gone` if the project of the message or of the target was deleted; the delivery is then
   * removed.
   */
  async #barFor(organizationId: string, target: DeliveryTarget, delivery: WebhookDelivery): Promise<string | undefined> {
    const { organization, projects } = await this.#options.policies.of(organizationId)
    if (organization.deletedAt !== undefined) return 'The organization is deleted.'
    if ([target.projectId, delivery.projectId].some((id) => id !== '' && !projects.has(id))) return 'gone'
    return isSwitchedOn(organization, target.feature) ? undefined : target.whileOff
  }

  async #commit(row: DueRow, sent: Sent, delaysMs: readonly number[] | undefined): Promise<void> {
    const { database, clock } = this.#options
    const { organizationId, endpointId, id } = row
    const now = clock.now()
    const attempted = await transact(database, { organizationId }, async (change) => {
      const stored = await change.get(webhookDeliveries, id)
      if (!stored) return undefined
      const { record } = stored
      const isOwn = record.nextAttemptAt === row.dueMs
      const next = isOwn ? afterAttempt(record, sent, now, delaysMs) : besideNewSchedule(record, sent, now)
      change.replace(webhookDeliveries, organizationId, stored, next)
      const { at, milliseconds, statusCode, error, answer, signature } = sent
      logAttempt(change, organizationId, id, {
        ...{ number: next.attemptCount, at, milliseconds, statusCode, error, answer },
        ...(signature !== undefined && { signature }),
      })
      if (isOwn) removeDue(change, record)
      if (isOwn && next.nextAttemptAt !== null) addDue(change, { endpointId, dueMs: next.nextAttemptAt, id, organizationId })
      const ended = endingOf(sent.error, next.status)
      const place = { organizationId, projectId: record.projectId }
      const counted = namesOf(ended, sent)
      const { traceId, eventType } = record
      if (hasHealth(eventType)) await noteAttempt(change, organizationId, endpointId, sent, now)
      if (eventType !== 'alert') {
        count(change, place, counted, now)
        countFor(change, place, endpointId, counted, now)
      }
      return { ending: ended, endpointId, traceId, eventType, attempt: next.attemptCount, nextAttemptAt: next.nextAttemptAt, sent }
    })
    if (attempted) this.#options.onAttempted?.(attempted)
  }
}

/** Forms and alert channels keep their own results. */
const hasHealth = (type: WebhookDelivery['eventType']): boolean => !['form_submission', 'alert', 'operator_alert'].includes(type)

/** Metric names by result; a parked delivery also counts as failed. */
const countedAs = {
  succeeded: [projectNames.webhookSucceeded],
  failed: [projectNames.webhookFailed],
  parked: [projectNames.webhookFailed, projectNames.webhookParked],
} as const satisfies Record<AttemptEnding, readonly string[]>

/** Adds a duration for every request that was sent, with or without a response. */
const namesOf = (ended: AttemptEnding, { body, milliseconds }: Sent): readonly string[] =>
  body === undefined ? countedAs[ended] : [...countedAs[ended], timingName('attempt', milliseconds)]

/** Uses the attempt's own result, because a redelivery request during it sets the delivery to `pending`. */
const endingOf = (error: string | null, status: WebhookDelivery['status']): AttemptEnding =>
  error === null ? 'succeeded' : status === 'parked' ? 'parked' : 'failed'
