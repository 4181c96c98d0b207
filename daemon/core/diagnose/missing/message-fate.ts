/** Explains the outcome of one message for one recipient, as a hypothesis. Pure. */
import { keptEvents } from '../../trace/timeline/engagement.ts'
import type { TimelineEntry } from '../../trace/timeline/send-timeline.ts'
import type { TraceDetails } from '../../trace/timeline/trace-reader.ts'
import { dropOf, holdOf, whoAndWhy } from '../../trace/acts/queue-acts.ts'
import { outsideProject } from '../../trace/timeline/outside-project.ts'
import type { Trace, TraceRecipient } from '../../trace/trace.ts'
import type { Evidence, Hypothesis, NextAction } from '../search/diagnosis.ts'
import { queueIdIn } from '../search/queue-id.ts'
import { refusalOf, type RefusalSeen } from '../search/refusal.ts'
import { domainOf } from '../search/related-refusals.ts'
import { textOf } from '../search/time-window.ts'

/** A message to the recipient and its circumstances. */
export interface MessageSeen {
  readonly details: TraceDetails
  readonly recipient: TraceRecipient
  /** Why the destination delays the message; undefined if it does not. */
  readonly waiting: TimelineEntry | undefined
  /** The suppression in force now, if the caller may read it. */
  readonly suppressionId: string | undefined
  /** A suppression is in force that the caller may not read. */
  readonly isEntryOutside: boolean
}

type Fate = Omit<Hypothesis, 'evidence'> & { readonly evidence?: readonly Evidence[] }

export function fateOf(seen: MessageSeen, nowMs: number): Hypothesis {
  const { trace } = seen.details
  const fate = fates[seen.recipient.status](seen, nowMs)
  const detail = `Accepted at ${textOf(trace.createdAt)}; its status for this recipient is ${seen.recipient.status}.`
  return { ...fate, evidence: [{ kind: 'trace', traceId: trace.id, at: trace.createdAt, detail }, ...(fate.evidence ?? [])] }
}

const read = (trace: Trace): NextAction => ({
  text: `Read the timeline of the trace ${trace.id}.`,
  tool: 'email_trace_lookup',
  arguments: { trace_id: trace.id },
})

export const askForRemoval: NextAction = {
  text: 'If the recipient wants the mail and the address is correct, ask an administrator of the organization to remove the suppression, and send again.',
}

/** The message was not sent because of a suppression. */
const suppressed = ({ recipient: { address, suppression }, suppressionId, isEntryOutside }: MessageSeen): Fate => ({
  ...{ id: 'suppressed', verdict: 'suppressed', confidence: 0.97 },
  explanation: `It was not sent to ${address}, who is suppressed (${whySuppressed(suppression)}).`,
  evidence:
    suppression && suppression.id !== outsideProject
      ? [{ kind: 'suppression', at: suppression.at, detail: `The suppression ${suppression.id} applied.` }]
      : [],
  nextAction: isEntryOutside
    ? askForRemoval
    : suppressionId === undefined
      ? { text: 'The suppression was removed since: send the message again.' }
      : {
          text: `If the recipient wants the mail and the address is correct, remove the suppression ${suppressionId}, and send again.`,
          tool: 'email_suppression_remove',
          arguments: { id: suppressionId },
        },
})

function whySuppressed(suppression: TraceRecipient['suppression']): string {
  if (!suppression) return 'unknown source'
  if (suppression.source === outsideProject) return 'by an entry outside this project'
  return suppression.reason ? `${suppression.source}: ${suppression.reason}` : suppression.source
}

/** The message was not sent because the recipient left its list. */
const unsubscribed = ({ details: { trace }, recipient: { address, suppression } }: MessageSeen): Fate => ({
  ...{ id: 'unsubscribed', verdict: 'suppressed', confidence: 0.97 },
  explanation: `It was not sent to ${address}, who unsubscribed from ${trace.list ? `the list ${trace.list.name}` : 'its list'}.`,
  evidence: suppression ? [{ kind: 'suppression', at: suppression.at, detail: `The opt-out ${suppression.id} applied.` }] : [],
  nextAction: {
    text: `Send mail that they need without list_unsubscribe. If they want the list again, remove the opt-out ${suppression?.id ?? ''} under /v1/unsubscribes.`,
  },
})

const fates: Readonly<Record<TraceRecipient['status'], (seen: MessageSeen, nowMs: number) => Fate>> = {
  captured: ({ details: { trace } }) => ({
    ...{ id: capturedIds[trace.outcome] ?? 'captured', verdict: 'captured', confidence: 0.97 },
    explanation: `It was captured and never sent: ${trace.outcomeReason}`,
    nextAction: releaseOf(trace),
  }),
  suppressed: (seen) => (seen.recipient.suppression?.source === 'unsubscribe' ? unsubscribed(seen) : suppressed(seen)),
  canceled: ({ details: { trace } }) => ({
    ...{ id: 'canceled', verdict: 'not_sent', confidence: 0.97 },
    explanation: whyCanceled(trace),
    nextAction: { text: 'Send it again.' },
  }),
  validation_failed: ({ details: { trace } }) => ({
    ...{ id: 'invalid', verdict: 'not_sent', confidence: 0.97 },
    explanation: `The send was refused: ${trace.outcomeReason}`,
    nextAction: read(trace),
  }),
  pending: ({ details: { trace } }) => ({
    ...{ id: 'awaiting_approval', verdict: 'not_sent', confidence: 0.97 },
    explanation: `It awaits approval by a member of the organization${trace.approval ? `, until ${textOf(trace.approval.expiresAt)}` : ''}.`,
    nextAction: { text: 'Ask a member to decide on the page of the approval.' },
  }),
  queued: (seen, nowMs) => queued(seen, nowMs),
  failed: (seen) => failed(seen),
  bounced: (seen) => bounced(seen, 'bounced', refusalOf(seen.details, seen.recipient)),
  sent: (seen) => sent(seen),
  delivered: (seen) => ({ ...sent(seen), id: 'delivered', confidence: 0.75 }),
  complained: ({ details: { trace } }) => ({
    ...{ id: 'complained', verdict: 'accepted_by_remote', confidence: 0.9 },
    explanation: 'It was delivered: the recipient, or their provider, reported it as spam, so it is in the spam folder.',
    nextAction: read(trace),
  }),
}

function whyCanceled(trace: Trace): string {
  const { approval, canceled } = trace
  const drop = dropOf(trace)
  if (drop) return `It was dropped from the queue ${whoAndWhy(drop)}.`
  if (approval?.decision) return `A person had to approve it, and it was ${approval.decision.as} at ${textOf(approval.decision.at)}.`
  return `It was scheduled and canceled${canceled ? ` at ${textOf(canceled.at)}` : ''} before sending.`
}

const capturedIds: Readonly<Record<string, string>> = {
  'captured.anonymous_project': 'captured_anonymous_project',
  'captured.sandbox_destination': 'captured_sandbox_destination',
  'captured.no_route': 'captured_no_route',
}

/** Returns the action that ends the capture. */
function releaseOf({ outcome, destinationId }: Trace): NextAction {
  if (outcome === 'captured.anonymous_project')
    return { text: 'Claim the project with an email address; it can then relay mail.', tool: 'account_claim' }
  if (outcome === 'captured.sandbox_destination' && destinationId !== null)
    return {
      text: `Promote the destination ${destinationId} to live, then replay or send again.`,
      tool: 'destination_promote_to_live',
      arguments: { destination_id: destinationId },
    }
  return {
    text: 'Create a routing rule from this sender to a live destination, then replay or send again.',
    tool: 'email_routing_rule_create',
  }
}

function queued({ details, recipient, waiting }: MessageSeen, nowMs: number): Fate {
  const { trace } = details
  if (trace.sendAt !== undefined && trace.begunAt === undefined && trace.sendAt > nowMs)
    return {
      ...{ id: 'scheduled', verdict: 'scheduled', confidence: 0.97 },
      explanation: `It is scheduled for ${textOf(trace.sendAt)}.`,
      nextAction: {
        text: 'Wait, or cancel it and send it immediately.',
        tool: 'email_scheduled_cancel',
        arguments: { trace_id: trace.id },
      },
    }
  const hold = holdOf(trace)
  if (hold)
    return {
      ...{ id: 'held', verdict: 'deferred', confidence: 0.97 },
      explanation: `It has been held in the queue since ${textOf(hold.at)} ${whoAndWhy(hold)}.`,
      nextAction: { text: 'Ask who holds it, and release it in the queue.' },
    }
  const next = trace.nextAttemptAt === null ? '' : ` The next attempt is due at ${textOf(trace.nextAttemptAt)}.`
  if (waiting)
    return {
      ...{ id: 'destination_resting', verdict: 'deferred', confidence: 0.95, explanation: waiting.message },
      evidence: [{ kind: 'attempt', traceId: trace.id, at: waiting.at, detail: waiting.message }],
      nextAction: testOf(trace),
    }
  const seen = refusalOf(details, recipient)
  if (!seen)
    return {
      ...{ id: 'under_way', verdict: 'in_progress', confidence: 0.9, explanation: `It is queued, and no attempt has finished yet.${next}` },
      nextAction: { text: 'Wait a minute and repeat the request.' },
    }
  const isSetUp = seen.reply === null && seen.classification.category === 'auth_client'
  return {
    ...{ id: isSetUp ? 'destination_failing' : `deferred_${seen.classification.category}`, verdict: 'deferred', confidence: 0.95 },
    explanation: `${trace.attempts} ${trace.attempts === 1 ? 'attempt' : 'attempts'} failed: ${seen.classification.reason}${next}`,
    evidence: [evidenceOf(trace, seen)],
    nextAction: isSetUp ? testOf(trace) : { text: seen.classification.nextActions[0] ?? 'Wait for the next attempt.' },
  }
}

function testOf({ destinationId }: Trace): NextAction {
  if (destinationId === null) return { text: 'Create a destination and a routing rule.' }
  const text = `Test the destination ${destinationId} and correct what fails; queued mail is then sent automatically.`
  return { text, tool: 'email_provider_test', arguments: { destination_id: destinationId } }
}

function failed(seen: MessageSeen): Fate {
  const { details, recipient } = seen
  const { trace, attempts } = details
  if (attempts.at(-1)?.state === 'unknown' || (recipient.unknownAttempts ?? 0) > 0)
    return {
      ...{ id: 'outcome_unknown', verdict: 'unknown', confidence: 0.6 },
      explanation:
        'The connection broke after the whole message had been transmitted, so it is unknown whether the provider accepted it; it is not sent again, to prevent a second copy.',
      nextAction: read(trace),
    }
  const refusal = refusalOf(details, recipient)
  if (refusal?.reply && refusal.classification.category !== 'auth_client')
    return bounced(seen, refusal.isFinal ? 'refused' : 'given_up', refusal)
  const passes = trace.failover?.passes.length ?? 0
  return {
    ...{ id: 'destination_failed', verdict: 'not_sent', confidence: 0.95 },
    explanation: `The destination could not be used: ${refusal?.classification.reason ?? 'no attempt succeeded.'} ${passes > 0 ? `Failover was tried ${passes} times.` : 'No failover was tried.'}`,
    evidence: refusal ? [evidenceOf(trace, refusal)] : [],
    nextAction: testOf(trace),
  }
}

function bounced({ details: { trace } }: MessageSeen, id: string, refusal: RefusalSeen | undefined): Fate {
  return {
    ...{ id, verdict: 'bounced', confidence: 0.95 },
    explanation: `It bounced: ${refusal?.classification.reason ?? 'the receiving server refused it.'}`,
    evidence: refusal ? [evidenceOf(trace, refusal)] : [],
    nextAction: { text: 'Diagnose the bounce.', tool: 'email_diagnose_bounce', arguments: { message_id: trace.id } },
  }
}

function sent({ details, recipient }: MessageSeen): Fate {
  const { trace, attempts, reports, engagement } = details
  const delayed = refusalOf(details, recipient)
  if (delayed?.report?.type === 'deferred')
    return {
      ...{ id: 'delayed_downstream', verdict: 'deferred', confidence: 0.9 },
      explanation: `The provider accepted it, and has not delivered it yet: ${delayed.classification.reason}`,
      evidence: [evidenceOf(trace, delayed)],
      nextAction: { text: delayed.classification.nextActions[0] ?? 'Wait.' },
    }
  const opened =
    trace.recipients.length === 1
      ? [...(engagement?.firstOpens ?? []), ...(engagement?.firstClicks ?? []).map(({ at }) => at)][0]
      : undefined
  const reply = recipient.reply?.text ?? ''
  const queueId = queueIdIn(reply)
  const taken = attempts.findLast(({ recipients = [] }) =>
    recipients.some(({ address, verdict }) => address === recipient.address && verdict === 'accepted'),
  )
  const at = taken?.endedAt ?? trace.updatedAt
  const confirmed = reports.some(
    ({ type, recipient: reported, isUnverified }) => type === 'delivered' && reported === recipient.address && !isUnverified,
  )
  const where = taken?.host ?? 'the provider'
  return {
    ...{ id: opened === undefined ? 'accepted' : 'opened', verdict: 'accepted_by_remote', confidence: opened === undefined ? 0.7 : 0.9 },
    explanation:
      opened === undefined
        ? `${where} accepted it at ${textOf(at)}${confirmed ? ', and it was reported as delivered' : ''}. It is probably in the spam folder, or was filtered; only the log of the receiving server shows more.`
        : `It was delivered: it was opened, or a link in it was followed, at ${textOf(opened)}. Programs that scan mail do that too.`,
    evidence: [
      {
        kind: 'reply',
        traceId: trace.id,
        at,
        detail: `${where} replied: ${recipient.reply ? `${recipient.reply.code} ${reply.slice(0, 300)}` : 'accepted'}`,
      },
      ...(opened === undefined
        ? []
        : [
            {
              kind: 'opened' as const,
              traceId: trace.id,
              at: opened,
              detail: `Opens and clicks were recorded; the first ${keptEvents} are in the timeline.`,
            },
          ]),
    ],
    nextAction: {
      text: `Ask the recipient to check the spam folder; ask the postmaster of ${domainOf(recipient.address)} to look for ${queueId === undefined ? `the Message-ID <${trace.messageId}>` : `the queue id ${queueId}`} at ${textOf(at)}.`,
    },
  }
}

function evidenceOf({ id }: Trace, { at, reply, trouble, report }: RefusalSeen): Evidence {
  const shown = reply ? [reply.code, reply.enhanced, reply.text].filter((part) => part !== null && part !== '').join(' ') : (trouble ?? '')
  return { kind: report ? 'report' : reply ? 'reply' : 'attempt', traceId: id, at, detail: shown.slice(0, 500) }
}
