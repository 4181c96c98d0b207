/** Sent messages, and reports about them, for tests of feedback. */
import { hash } from 'node:crypto'
import type { ExecutionContext } from 'ava'
import type { Feedback } from '#core/feedback/intake/feedback.ts'
import type { FeedbackEvidence, FeedbackEvent } from '#core/feedback/event.ts'
import type { FeedbackOrigin } from '#core/feedback/feedback-origin.ts'
import type { PendingReports } from '#core/feedback/intake/pending-reports.ts'
import { serviceRef } from '#core/trace/trace-token.ts'
import type { Trace } from '#core/trace/trace.ts'
import type { WebhookEndpoint } from '#core/webhooks/endpoint.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { coreFixture, organizationId, projectId, secrets, type CoreFixture } from '../core-fixture.ts'

export const noClues: FeedbackEvidence = { returnPaths: [], references: [], envelopeIds: [], messageIds: [], queueIds: [], originalTo: [] }

type EventChanges = Partial<Omit<FeedbackEvent, 'clues'>> & { readonly clues?: Partial<FeedbackEvidence> }

/** A hard bounce of Anna by default. Its key follows from its content. */
export function event({ clues, ...changes }: EventChanges = {}): FeedbackEvent {
  const told: FeedbackEvent = {
    ...{ format: 'dsn', type: 'bounced', key: '', occurredAt: null, recipient: 'anna@example.net', originalRecipient: null },
    ...{ action: 'failed', status: '5.1.1', smtpCode: 550, diagnostic: '550 5.1.1 no such user', remoteMta: 'mx.example.net' },
    ...{ remoteIp: null, reportingMta: null, feedbackType: null, isStructured: true },
    ...changes,
    clues: { ...noClues, ...clues },
  }
  return { ...told, key: changes.key ?? hash('sha256', JSON.stringify(told)) }
}

export const delivered = (changes: EventChanges = {}): FeedbackEvent =>
  event({ type: 'delivered', action: 'delivered', status: '2.0.0', smtpCode: 250, diagnostic: '250 2.0.0 ok', ...changes })

export const complaint = (changes: EventChanges = {}): FeedbackEvent =>
  event({
    ...{ format: 'arf', type: 'complained', action: 'complaint', status: null, smtpCode: null, diagnostic: null, feedbackType: 'abuse' },
    ...changes,
  })

export const tokenOf = ({ id }: Trace): Partial<FeedbackEvidence> => ({ references: [serviceRef(secrets, id)] })

/** Posted with the secret of a source of the fixture's organization. */
export const signed: FeedbackOrigin = { organizationId, sourceId: 'src_1', channel: 'signed' }
/** Mail that any sender could have sent to the mailbox of a source. */
export const mailed: FeedbackOrigin = { ...signed, sourceId: 'src_2', channel: 'mailbox' }

/** Returns the intake of reports, and the retry of reports that arrived early. */
export function intakeOf(fixture: CoreFixture): { readonly feedback: Feedback; readonly pending: PendingReports } {
  const { feedback, pendingReports } = fixture.part('ingest')
  return { feedback, pending: pendingReports }
}

/** An endpoint that subscribes to every event. */
export const hook: WebhookEndpoint = {
  ...{ id: 'whk_1', projectId, name: 'Shop', targetUrl: 'https://hooks.example.net/', eventTypes: [], sealedSecret: '' },
  ...{ createdAt: startOfTime, updatedAt: startOfTime },
}

/** Returns a message that the provider has accepted. */
export async function sentMessage(fixture: CoreFixture, changes: Parameters<CoreFixture['submit']>[0] = {}): Promise<Trace> {
  const { traceId } = await fixture.submit({ destinationId: 'dst_1', ...changes })
  await fixture.settled()
  return fixture.trace(traceId)
}

export async function switchFlag(fixture: CoreFixture, flag: string, on: boolean): Promise<void> {
  const { organization } = await fixture.policies.of(organizationId)
  await fixture.organization({ flags: { ...organization.flags, [flag]: on } })
}

/** Returns a fixture with a destination and a running queue. */
export async function sendingFixture(t: ExecutionContext): Promise<CoreFixture> {
  const fixture = await coreFixture(t)
  await fixture.destination()
  await fixture.queue.start()
  t.teardown(() => fixture.queue.stop(0))
  return fixture
}

/** Returns a fixture that suppresses bounced recipients. */
export async function suppressingFixture(t: ExecutionContext): Promise<CoreFixture> {
  const fixture = await sendingFixture(t)
  await switchFlag(fixture, 'bounce_auto_suppress', true)
  return fixture
}

/** Asserts that the store is consistent and that no background work failed. */
export const sound = async (t: ExecutionContext, fixture: CoreFixture): Promise<void> => {
  await fixture.assertSound(t)
}
