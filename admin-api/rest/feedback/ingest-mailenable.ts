/** Posts of the MailEnable agent: bounces, its installation check, and the SMTP activity log. */
import * as z from 'zod'
import type { BounceAnswer, ReportedBounce } from '#core/feedback/intake/mailenable-intake.ts'
import type { SignedSource } from '#core/ingest-sources/signed-source.ts'
import { invalid } from '#core/refusals.ts'
import type { Unreadable } from '#ingest/events/json-value.ts'
import { readActivityEnvelope } from '#ingest/mailenable/mailenable-activity.ts'
import { entryEvents, readBounceEnvelope, type BounceEntry, type BounceEnvelope } from '#ingest/mailenable/mailenable-bounces.ts'
import { readHealthcheck, type Agent } from '#ingest/mailenable/mailenable-envelope.ts'
import type { ReportReader } from '#ingest/report/report-reader.ts'
import { asSent } from '../../bodies/body-stream.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { inflated, withSignedBody, type SignedRequest } from '../../bodies/signed-body.ts'
import { activityAnswer, bounceEnvelopeAnswer, healthcheckAnswer, sourceQuery } from '../../wire/feedback/ingest.ts'
import { toWireTime } from '../../wire/fields/time.ts'
import type { RestCore } from '../rest-core.ts'
import { requireProvider } from '../ingest-core.ts'
import { signedOperation } from './ingest.ts'
import { giveWay } from '#core/event-loop.ts'

const json = asSent({ 'application/json': z.unknown() })

type MailEnableRequest = SignedRequest & { readonly core: RestCore }

/** Passes the body of a MailEnable source to `take`. Throws `validation_failed` for a body that `read` refuses. */
function withEnvelope<Envelope extends object, Answer>(
  { core, ...request }: MailEnableRequest,
  read: (body: Uint8Array, sourceId: string) => Envelope | Unreadable,
  take: (envelope: Envelope, signed: SignedSource) => Promise<Answer>,
): Promise<Answer> {
  return withSignedBody(core.ingest.signed, request, async (body) => {
    requireProvider(body.signed, 'mailenable')
    const envelope = read(await inflated(body), body.signed.source.id)
    if ('problems' in envelope) throw invalid(envelope.problems)
    return take(envelope, body.signed)
  })
}

const takeBounces: Operation<RestCore> = operation({
  ...signedOperation,
  method: 'POST',
  path: '/v1/ingest/mailenable',
  operationId: 'ingestMailEnable',
  summary: 'Ingest bounces from MailEnable',
  description: 'Up to 500 events. If the source has a postoffice mapping, events of postoffices without a mapping are dropped and counted.',
  query: sourceQuery,
  body: json,
  response: bounceEnvelopeAnswer,
  handle: (input) =>
    withEnvelope(input, readBounceEnvelope, async (envelope, signed) => {
      const { reports, mailEnable } = input.core.ingest
      const reported: ReportedBounce[] = []
      for (const entry of envelope.entries) {
        reported.push(await toReported((mail) => reports.read(mail, signed.organizationId), entry))
        await giveWay() // hundreds of small notices would block the event loop
      }
      return toWireBounces(envelope, await mailEnable.bounces(signed, reported))
    }),
})

const tryInstallation: Operation<RestCore> = operation({
  ...signedOperation,
  method: 'POST',
  path: '/v1/ingest/mailenable/healthcheck',
  operationId: 'checkMailEnable',
  errors: ['invalid_signature', 'feature_disabled', 'conflict'],
  summary: 'Check the secret of a MailEnable source',
  status: 200,
  query: sourceQuery,
  body: json,
  response: healthcheckAnswer,
  handle: (input) =>
    withEnvelope(input, readHealthcheck, async (check, signed) => {
      const { ingest, clock } = input.core
      await ingest.signed.seen(signed, agentName(check.agent))
      const { isMultiTenant, postoffices } = await ingest.mailEnable.tenants(signed)
      const now = clock.now()
      return {
        ok: true,
        provider: 'mailenable',
        bounce_source_config_id: signed.source.id,
        nonce: check.nonce,
        server_time: toWireTime(now),
        clock_skew_seconds: check.sentAt === null ? null : Math.round((check.sentAt - now) / 1000),
        multi_tenant: isMultiTenant,
        postoffices: [...postoffices],
      }
    }),
})

const takeActivity: Operation<RestCore> = operation({
  ...signedOperation,
  method: 'POST',
  path: '/v1/ingest/activity-logs',
  operationId: 'ingestActivityLog',
  summary: 'Ingest lines of the MailEnable SMTP activity log',
  description: 'Up to 5,000 lines. Accepted recipients become delivery events; the response counts refusals, which do not become bounces.',
  query: sourceQuery.extend({ source: z.literal('mailenable') }),
  body: json,
  response: activityAnswer,
  handle: (input) =>
    withEnvelope(input, readActivityEnvelope, async (envelope, signed) => {
      const taken = await input.core.ingest.mailEnable.activity(signed, envelope)
      const { acceptedLines, rejected, cursorEnd } = envelope
      return { accepted_lines: acceptedLines, ...taken, rejected: [...rejected], cursor: cursorEnd }
    }),
})

export const mailEnableIngestOperations: readonly Operation<RestCore>[] = [takeBounces, tryInstallation, takeActivity]

async function toReported(read: ReportReader['read'], entry: BounceEntry): Promise<ReportedBounce> {
  const { postoffice, notice, event } = entry
  return { postoffice, events: notice ? entryEvents(entry, await read(notice)) : [event], raw: notice ?? undefined }
}

const maxAgent = 200
const agentName = ({ name, version, hostname }: Agent): string =>
  [name, version, hostname && `(${hostname})`]
    .filter((word) => word !== null && word !== '')
    .join(' ')
    .slice(0, maxAgent)

/** Returns the events in the order of the envelope. */
function toWireBounces({ entries, invalid: bad }: BounceEnvelope, answers: readonly BounceAnswer[]): z.input<typeof bounceEnvelopeAnswer> {
  const count = (wanted: BounceAnswer['result']): number => answers.filter(({ result }) => result === wanted).length
  const good = entries.map(({ index, eventId }, i) => {
    const { result, projectId, traceId } = answers[i] ?? { result: 'dropped', projectId: null, traceId: null }
    const wire = result === 'dropped' ? ('dropped_unmapped_postoffice' as const) : result
    return { index, event: { event_id: eventId, result: wire, project_id: projectId, trace_id: traceId } }
  })
  const rest = bad.map(({ index, eventId, reason }) => ({
    index,
    event: { event_id: eventId, result: 'invalid' as const, project_id: null, trace_id: null, reason },
  }))
  return {
    accepted: count('recorded'),
    duplicates: count('duplicate'),
    dropped: count('dropped'),
    invalid: bad.length,
    events: [...good, ...rest].toSorted((a, b) => a.index - b.index).map(({ event }) => event),
  }
}
