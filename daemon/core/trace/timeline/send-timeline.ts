/** Timeline of a send from its trace and attempts: every decision with its reason. Spec "Trace". */
import type { AttemptRecord } from '../attempt-record.ts'
import type { TraceStatus } from '../states.ts'
import type { Trace, TraceFailover, TraceReplay } from '../trace.ts'

/** One entry of a timeline. `detail` contains event-specific fields with wire names. */
export interface TimelineEntry {
  readonly at: number
  readonly event:
    | 'accepted'
    | 'routed'
    | 'queued'
    | 'scheduled'
    | 'captured'
    | 'released'
    | 'suppressed'
    | 'verp'
    | 'dialect'
    | 'attempt'
    | 'retry_scheduled'
    | 'replayed'
    | 'retried'
    | 'failover'
    | 'waiting'
    | 'sent'
    | 'partly_sent'
    | 'failed'
    | 'canceled'
    | 'held'
    | 'hold_released'
    | 'expedited'
    | 'dropped'
    | 'approval_requested'
    | 'approved'
    | 'refused'
    | 'expired'
    | 'withdrawn'
    | 'validation_failed'
    | 'tracking'
    | 'opened'
    | 'clicked'
    | 'delivered'
    | 'bounced'
    | 'complained'
    | 'deferred'
    | 'bounce_unparsed'
    | 'auto_suppressed'
    | 'author_notified'
    | 'notice_withheld'
  readonly message: string
  readonly detail: Readonly<Record<string, unknown>>
}

const doorNames = {
  rest: 'the REST API',
  smtp: 'SMTP submission',
  publishable_key: 'a publishable key',
  mcp: 'an agent',
  form_notification: 'a form, as a notification of submissions',
  failure_notice: 'the service, as a notice to the author of a message',
} as const

/** Sorts entries of several sources by time. */
export const inOrder = (entries: readonly TimelineEntry[]): TimelineEntry[] => entries.toSorted((a, b) => a.at - b.at)

/** Returns the timeline, sorted by time. */
export function timelineOf(trace: Trace, attempts: readonly AttemptRecord[]): TimelineEntry[] {
  const { createdAt, recipients, content, template } = trace
  if (trace.outcome === 'refused')
    return [
      {
        at: createdAt,
        event: 'validation_failed',
        message: `Refused: ${trace.outcomeReason}`,
        detail: { submitted_by: trace.submittedBy, code: trace.refusalCode ?? null },
      },
    ]
  const made = template ? `, from the template ${template.slug} in version ${template.version}` : ''
  const from = trace.releasedFrom ? ', released from captured mail' : ''
  const entries: TimelineEntry[] = [
    {
      at: createdAt,
      event: 'accepted',
      message: `Accepted by ${doorNames[trace.door]}: ${content.size} bytes for ${count(recipients.length, 'recipient')}${made}${from}.`,
      detail: {
        ...{ door: trace.door, submitted_by: trace.submittedBy, mail_from: trace.mailFrom, size: content.size },
        ...(template && { template_id: template.id, template_version: template.version }),
        ...(trace.noticeOf !== undefined && { notice_of: trace.noticeOf }),
        ...(trace.releasedFrom && { released_from: trace.releasedFrom.traceId, capture_id: trace.releasedFrom.captureId }),
      },
    },
    ...dialectEntries(trace),
    {
      at: createdAt,
      event: 'routed',
      message: trace.route.reason,
      detail: {
        ...{ by: trace.route.by, rule_id: trace.route.ruleId, destination_id: trace.failover?.primaryId ?? trace.destinationId },
        ...(trace.route.environment !== undefined && { environment: trace.route.environment }),
      },
    },
  ]
  const captured = trace.outcome !== 'relayed'
  if (!trace.approval && (captured || recipients.some(({ suppression }) => suppression?.at !== createdAt)))
    entries.push({
      at: createdAt,
      event: captured && !waitsForCapture(trace) ? 'captured' : 'queued',
      message: trace.outcomeReason,
      detail: { outcome: trace.outcome },
    })
  entries.push(...scheduleEntries(trace), ...verpEntries(trace), ...approvalEntries(trace), ...releaseEntries(trace))
  const tries = [
    ...suppressionEntries(trace),
    ...(trace.failover?.passes ?? []).map(passEntry),
    ...attempts.flatMap(attemptEntries),
    ...(trace.replays ?? []).map(replayEntry),
  ]
  entries.push(...inOrder(tries))
  const end = endOf(trace, attempts)
  if (end) entries.push(end)
  return entries
}

/** Returns true for a send with `send_at` that is captured at its time. Earlier versions captured it immediately. */
const waitsForCapture = ({ sendAt, begunAt, status, outcome }: Trace): boolean =>
  sendAt !== undefined && outcome !== 'relayed' && (begunAt !== undefined || status !== 'captured')

/** Entries of a scheduled send: its time, changes of it, and its capture. */
function scheduleEntries(trace: Trace): TimelineEntry[] {
  const { createdAt, sendAt, outcome, begunAt, approval, broughtForward, rescheduled = [] } = trace
  if (sendAt === undefined) return []
  const last = broughtForward?.planned ?? sendAt
  const time = new Date(rescheduled[0]?.from ?? last).toISOString()
  const isLater = waitsForCapture(trace)
  const what = outcome === 'relayed' ? 'leaves' : 'is captured'
  const message =
    outcome === 'relayed' || isLater
      ? `It ${what} at ${time}${approval ? ', if it is approved,' : ''} and can be canceled until then.`
      : `It was scheduled for ${time} and captured immediately.`
  const scheduled: TimelineEntry[] = [
    { at: createdAt, event: 'scheduled', message, detail: { send_at: time } },
    ...rescheduled.map(({ at, by, from }, i) => moveEntry(what, { at, by, from, to: rescheduled[i + 1]?.from ?? last })),
  ]
  if (broughtForward)
    scheduled.push({
      at: broughtForward.at,
      event: 'scheduled',
      message: `Brought forward by ${broughtForward.by}: it ${what} now instead of at ${new Date(last).toISOString()}.`,
      detail: {
        ...{ send_at: new Date(broughtForward.at).toISOString(), brought_forward_by: broughtForward.by },
        planned: new Date(last).toISOString(),
      },
    })
  if (!isLater || begunAt === undefined) return scheduled
  return [...scheduled, { at: begunAt, event: 'captured', message: 'Its time came, and it was captured.', detail: { outcome } }]
}

/** Entry for a rescheduled send. */
const moveEntry = (what: string, { at, by, from, to }: { at: number; by: string; from: number; to: number }): TimelineEntry => {
  const [before, now] = [new Date(from).toISOString(), new Date(to).toISOString()]
  const message = `Rescheduled by ${by}: it ${what} at ${now} instead of at ${before}.`
  return { at, event: 'scheduled', message, detail: { send_at: now, rescheduled_by: by, planned: before } }
}

/** Entries of an approval: request, decision, and queueing after approval. */
function approvalEntries({ createdAt, approval, outcome, outcomeReason }: Trace): TimelineEntry[] {
  if (!approval) return []
  const { digest, expiresAt, decision } = approval
  const until = new Date(expiresAt).toISOString()
  const requested: TimelineEntry = {
    at: createdAt,
    event: 'approval_requested',
    message: `An agent sent it, so a member of the organization has to approve it until ${until}.`,
    detail: { digest, expires_at: until },
  }
  if (!decision) return [requested]
  const { as, at, by, email } = decision
  const who = email === undefined ? by : `${email} (${by})`
  const texts = {
    approved: `Approved by ${who}.`,
    refused: `Refused by ${who}; it was not sent.`,
    expired: 'Not approved in time; it was not sent.',
    withdrawn: `Withdrawn by ${who}; it was not sent.`,
  } as const
  const decided: TimelineEntry = {
    ...{ at, event: as, message: texts[as] },
    detail: { digest, decided_by: by === '' ? null : by, email: email ?? null },
  }
  return as === 'approved'
    ? [requested, decided, { at, event: 'queued', message: outcomeReason, detail: { outcome } }]
    : [requested, decided]
}

/** Entry for the outcome of a VERP request. */
function verpEntries({ createdAt, verp }: Trace): TimelineEntry[] {
  if (!verp) return []
  const message =
    'off' in verp
      ? `VERP was requested but is not used: ${verp.off}.`
      : `Each recipient gets a copy with a separate return path at ${verp.domain} (VERP).`
  const detail = 'off' in verp ? { bounce_domain: null, off: verp.code ?? null } : { bounce_domain: verp.domain }
  return [{ at: createdAt, event: 'verp', message, detail }]
}

/** Entry for a send in the request format of another vendor's API, with the ignored fields of the request. */
function dialectEntries({ createdAt, dialect }: Trace): TimelineEntry[] {
  if (!dialect) return []
  const { of, ignored } = dialect
  const effect =
    ignored.length === 0 ? 'every field of the request has its effect' : `these fields have no effect here: ${ignored.join(', ')}`
  return [
    { at: createdAt, event: 'dialect', message: `Sent over the API of ${of}; ${effect}.`, detail: { api: of, ignored_fields: ignored } },
  ]
}

/** Entries for recipients skipped because of suppressions and list opt-outs. */
function suppressionEntries({ recipients, list }: Trace): TimelineEntry[] {
  const held = recipients.flatMap(({ address, suppression }) => (suppression ? [{ address, ...suppression }] : []))
  return [...Map.groupBy(held, ({ at, source }) => `${at} ${source === 'unsubscribe'}`).values()].map((rows) => {
    const [first] = rows
    const who = `${rows.length} of ${count(recipients.length, 'recipient')}`
    const message =
      first?.source === 'unsubscribe'
        ? `${who} unsubscribed from the list${list ? ` ${list.name}` : ''}, so the message is not sent to that address.`
        : `The message is not sent to ${who}: suppressed.`
    const detail = { recipients: rows.map(({ address, id, source, reason }) => ({ address, suppression_id: id, source, reason })) }
    return { at: first?.at ?? 0, event: 'suppressed', message, detail }
  })
}

function attemptEntries(attempt: AttemptRecord): TimelineEntry[] {
  const { startedAt, endedAt, recipients, nextAttemptAt, number, failover } = attempt
  const entries: TimelineEntry[] = [{ at: startedAt, event: 'attempt', message: attemptMessage(attempt), detail: attemptDetail(attempt) }]
  if (failover) {
    const detail = { from: attempt.destinationId, to: failover.to, cause: failover.cause }
    entries.push({ at: endedAt ?? startedAt, event: 'failover', message: failover.message, detail })
  }
  if (typeof nextAttemptAt === 'number' && !(failover && nextAttemptAt === endedAt) && recipients) {
    const waiting = recipients.filter(({ verdict }) => verdict === 'transient' || verdict === 'unknown').length
    const message = `Attempt ${number + 1} for ${count(waiting, 'recipient')} is due at ${new Date(nextAttemptAt).toISOString()}.`
    entries.push({
      at: endedAt ?? startedAt,
      event: 'retry_scheduled',
      message,
      detail: { next_attempt_at: new Date(nextAttemptAt).toISOString() },
    })
  }
  return entries
}

const passEntry = ({ at, from, to, cause, message }: TraceFailover['passes'][number]): TimelineEntry => ({
  at,
  event: 'failover',
  message,
  detail: { from, to, cause },
})

const replayEntry = ({ jobId, at, destinationId, recipients }: TraceReplay): TimelineEntry => ({
  at,
  event: jobId === undefined ? 'retried' : 'replayed',
  message: `A ${jobId === undefined ? 'retry' : 'replay'} queued the message again for ${count(recipients, 'recipient')}; recipients that already have it or are suppressed are skipped.`,
  detail: { ...(jobId !== undefined && { job_id: jobId }), destination_id: destinationId, recipients },
})

function attemptMessage({ number, state, host, port, error, recipients = [], verpRefusal, endedAt, startedAt }: AttemptRecord): string {
  const where = host ? ` to ${host}:${port}` : ''
  if (state === 'started') return `Attempt ${number}${where} is in progress.`
  const isMixed = new Set(recipients.map(({ verdict }) => verdict)).size > 1
  const refusal = verpRefusal ? `${verpRefusal.code} ${verpRefusal.text}` : ''
  const outcome = [
    ...(error && !isMixed ? [] : [summary(recipients)]),
    ...(error ? [error.message] : []),
    ...(refusal ? [`The provider refused the return paths of VERP (${refusal}), so the plain one was used.`] : []),
  ].join(' ')
  const unknown = state === 'unknown' ? ' The outcome is unknown: the provider may have accepted the message.' : ''
  return `Attempt ${number}${where}${endedAt === undefined ? '' : ` took ${endedAt - startedAt} ms`}: ${outcome}${unknown}`
}

function summary(recipients: readonly { readonly verdict: string }[]): string {
  const byVerdict = Map.groupBy(recipients, ({ verdict }) => verdict)
  const texts = { accepted: 'accepted', transient: 'deferred', permanent: 'refused', unknown: 'unknown' } as const
  const parts = Object.entries(texts).flatMap(([verdict, word]) =>
    byVerdict.has(verdict) ? [`${byVerdict.get(verdict)?.length ?? 0} ${word}`] : [],
  )
  return `${parts.join(', ') || 'no recipient was tried'}.`
}

function attemptDetail({
  number,
  state,
  destinationId,
  host,
  port,
  address,
  tls,
  reused,
  error,
  milliseconds,
  recipients,
}: AttemptRecord): Record<string, unknown> {
  return {
    attempt: number,
    state,
    destination_id: destinationId,
    host: host ?? null,
    port: port ?? null,
    address: address ?? null,
    tls: tls ?? null,
    connection_reused: reused ?? null,
    error: error ?? null,
    milliseconds: milliseconds ?? {},
    recipients: (recipients ?? []).map(({ address: recipient, verdict, reply, returnPath }) => ({
      address: recipient,
      verdict,
      reply: reply ?? null,
      ...(returnPath !== undefined && { return_path: returnPath }),
    })),
  }
}

/** Texts for recipients of a partly sent message that did not receive it. */
const otherStatusTexts: Partial<Record<TraceStatus, string>> = { failed: 'failed', suppressed: 'are suppressed', canceled: 'were dropped' }

/** States after acceptance by the provider. */
const taken: readonly TraceStatus[] = ['sent', 'delivered', 'bounced', 'complained']

function endOf(trace: Trace, attempts: readonly AttemptRecord[]): TimelineEntry | undefined {
  const { status, recipients, createdAt, sendAt = createdAt, canceled } = trace
  const at = settledAt(trace, attempts)
  const detail = { attempts: trace.attempts, seconds: Math.max(0, Math.round((at - sendAt) / 1000)) }
  if (canceled)
    return {
      at: canceled.at,
      event: 'canceled',
      message: `Canceled by ${canceled.by} before it was sent.`,
      detail: { canceled_by: canceled.by },
    }
  if (status === 'queued') return undefined
  const others = recipients.filter((recipient) => !taken.includes(recipient.status))
  const sent = recipients.length - others.length
  if (sent > 0) {
    if (others.length === 0) return { at, event: 'sent', message: 'The provider accepted the message for all recipients.', detail }
    const texts = [...new Set(others.map((recipient) => otherStatusTexts[recipient.status] ?? ''))]
    const message = `The provider accepted the message for ${sent} of ${count(recipients.length, 'recipient')}; the others ${texts.join(' or ')}.`
    return { at, event: 'partly_sent', message, detail }
  }
  if (status !== 'failed') return undefined
  const all = recipients.every((recipient) => recipient.status === 'failed') ? 'all recipients' : 'all recipients that are not suppressed'
  return { at, event: 'failed', message: `Delivery was abandoned for ${all}.`, detail }
}

/** Returns the time when the last recipient was settled. Later reports change the trace, but not this time. */
function settledAt({ recipients, updatedAt }: Trace, attempts: readonly AttemptRecord[]): number {
  if (recipients.every(({ report }) => report === undefined)) return updatedAt
  const ends = [...attempts.map(({ endedAt }) => endedAt ?? 0), ...recipients.map(({ suppression }) => suppression?.at ?? 0)]
  return Math.max(...ends) || updatedAt
}

function releaseEntries({ capture }: Trace): TimelineEntry[] {
  if (!capture?.released) return []
  const { traceId, destinationId, at, by } = capture.released
  const detail = { trace_id: traceId, destination_id: destinationId, released_by: by }
  return [{ at, event: 'released', message: 'The captured message was released: it was sent as a separate message.', detail }]
}

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`
