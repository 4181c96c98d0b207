/**
 * All gates of a send in one table: entry points as columns, gates as rows in their order. A gate throws a refusal or adds a bounded
 * counter to the write. The whole write fails if a bound is exceeded, so a refused send consumes nothing.
 */
import type { Change } from '#store/change.ts'
import { keyName, pack, type Element } from '#store/tuple.ts'
import { requireFlag, type FeatureSettings } from '../../plan/features.ts'
import { billsOverage, limitsOf, requireIncluded, unpaidOverage } from '../../plan/limits.ts'
import { invalid, Refusal } from '../../refusals.ts'
import { countInGroup } from '../../visitors/stored-windows.ts'
import type { Decision } from '../../routing/match/outcome.ts'
import { captureCapOf, type Project } from '../../tenancy/organization.ts'
import { captureCounter, dayOf, minuteOf, monthOf, organizationSendCounter, rateCounter, sendCounter } from '../../tenancy/counters.ts'
import type { Door } from '../../trace/trace.ts'
import { assertFits } from '../compose/message-size.ts'
import { checkSendAt } from '../schedule/send-schedule.ts'
import type { Submission } from '../submission.ts'

/** Fields that the gates check, of a submission or of a replayed message. */
export type Sendable = Pick<
  Submission,
  'principal' | 'rcptTo' | 'attachments' | 'unsubscribeLink' | 'sendAt' | 'submittedBy' | 'ratePerMinute' | 'windows'
> & {
  readonly door: Door | 'replay'
  readonly draft: Pick<Submission['draft'], 'size'>
}

/** A send with the settings and limits that the gates need. */
export interface Candidate {
  readonly submission: Sendable
  readonly project: Project
  readonly organization: FeatureSettings
  readonly decision: Decision
  readonly nowMs: number
  readonly maxRecipients: number
  readonly maxMessageBytes: number
  /** Messages of this submitter in the previous minute, for the sliding window. */
  readonly previousMinute: number
}

/** Refusals by the key of the bounded counter that causes them. */
export type Limits = Map<string, Refusal>

type Pass = (candidate: Candidate, change: Change, limits: Limits) => void
interface Gate {
  readonly name: string
  readonly doors: readonly Sendable['door'][]
  readonly pass: Pass
}

const REST = 'rest'
const KEY = 'publishable_key'
const MCP = 'mcp'
const FORM = 'form_notification'
const SMTP = 'smtp'
const REPLAY = 'replay'
const NOTICE = 'failure_notice'
const gate = (pass: Pass, doors: readonly Sendable['door'][]): Gate => ({ name: pass.name, doors, pass })

// prettier-ignore
const gates: readonly Gate[] = [
  gate(smtpRelay,       [                      SMTP                ]),
  gate(recipientCount,  [REST, MCP, KEY, FORM, SMTP,         NOTICE]),
  gate(messageSize,     [REST, MCP, KEY, FORM, SMTP,         NOTICE]),
  gate(attachments,     [REST, MCP, KEY,       SMTP                ]),
  gate(schedule,        [REST, MCP, KEY                            ]),
  gate(unsubscribeLink, [REST, MCP, KEY                            ]),
  gate(submitterRate,   [                      SMTP                ]),
  gate(keyWindows,      [           KEY,                     NOTICE]), // publishable-send.ts checks the other gates of the key first
  gate(captureCap,      [REST, MCP, KEY, FORM, SMTP                ]),
  gate(planSends,       [REST, MCP, KEY, FORM, SMTP, REPLAY        ]),
  gate(sendBudget,      [REST, MCP, KEY, FORM, SMTP, REPLAY        ]), // last: a refused send consumes nothing
]

/** Runs the gates of the message's entry point. The returned limits explain a write that failed with reason `limit`. */
export function passGates(candidate: Candidate, change: Change): Limits {
  const limits: Limits = new Map()
  for (const { doors, pass } of gates) if (doors.includes(candidate.submission.door)) pass(candidate, change, limits)
  return limits
}

function bounded(change: Change, limits: Limits, key: readonly Element[], limit: number, refusal: Refusal): void {
  const packed = pack(key)
  change.addPacked(packed, 1, limit)
  limits.set(keyName(packed), refusal)
}

function smtpRelay({ organization }: Candidate): void {
  requireFlag(organization, 'smtp_relay')
}

function recipientCount({ submission, maxRecipients }: Candidate): void {
  if (submission.rcptTo.length === 0)
    throw new Refusal('validation_failed', 'The message has no recipient; give at least one in to, cc or bcc.')
  if (submission.rcptTo.length > maxRecipients) {
    throw new Refusal(
      'validation_failed',
      `The message has ${submission.rcptTo.length} recipients; at most ${maxRecipients} are allowed. Split it.`,
      { details: { recipients: submission.rcptTo.length, recipients_max: maxRecipients } },
    )
  }
}

function messageSize({ submission, maxMessageBytes }: Candidate): void {
  assertFits(submission.draft.size, maxMessageBytes, [])
}

/** Spec "Limits" 7. */
function attachments({ submission, organization }: Candidate): void {
  if ((submission.attachments ?? 0) === 0) return
  requireIncluded(organization, 'attachments', { lacks: 'sends no attachments', instead: 'link to the files' })
}

function schedule({ submission, organization, nowMs }: Candidate): void {
  if (submission.sendAt !== undefined) checkSendAt(submission.sendAt, organization, nowMs)
}

/** Requires a public https address of the service for unsubscribe links in relayed mail (RFC 8058 §3.1). Captures are exempt. */
function unsubscribeLink({ submission, decision }: Candidate): void {
  if (submission.unsubscribeLink !== 'local' || decision.outcome !== 'relayed') return
  const message =
    'requires a public https address of this service, and none is configured; leave it out, or ask the operator to set POSTERN_BASE_URL'
  throw invalid([{ path: 'list_unsubscribe', message }])
}

/** Two-bucket sliding window: the previous minute counts in proportion to its overlap with the window. */
function submitterRate({ submission, nowMs, previousMinute }: Candidate, change: Change, limits: Limits): void {
  const { ratePerMinute, submittedBy, principal } = submission
  if (ratePerMinute === undefined) return
  const elapsed = (nowMs % 60_000) / 60_000
  const allowed = Math.max(0, Math.floor(ratePerMinute - previousMinute * (1 - elapsed)))
  const key = rateCounter(principal.organizationId, submittedBy, minuteOf(nowMs))
  const retryAfterSeconds = Math.max(1, Math.ceil(60 - (nowMs % 60_000) / 1000))
  const message = `This SMTP credential can send ${ratePerMinute} messages per minute; wait and send again.`
  bounded(change, limits, key, allowed, new Refusal('rate_limit_exceeded', message, { retryAfterSeconds }))
  change.expire(nowMs + 3 * 60_000, key)
}

/** Adds the windows of the key as bounded counters. They were checked before; this bounds concurrent sends. */
function keyWindows({ submission }: Candidate, change: Change, limits: Limits): void {
  for (const window of submission.windows ?? []) {
    const { key, most, refusal, expiresAt } = window
    bounded(change, limits, key, most, refusal())
    change.expire(expiresAt, key)
    countInGroup(change, window)
  }
}

function captureCap({ submission, organization, project, decision, nowMs }: Candidate, change: Change, limits: Limits): void {
  if (decision.outcome === 'relayed') return
  const key = captureCounter(submission.principal.organizationId, project.id, monthOf(nowMs))
  const cap = captureCapOf(project, organization)
  if (cap === undefined) return void change.add(key, 1)
  const message = `This project has reached its limit of ${cap} captured messages this month; wait for the next month, promote the destination to live, or raise the plan.`
  bounded(change, limits, key, cap, new Refusal('quota_exhausted_captures', message))
}

/** Spec "Limits" 1 and 2: a fixed plan refuses sends beyond its limit. With billed overage they are only counted. */
function planSends({ submission, organization, nowMs }: Candidate, change: Change, limits: Limits): void {
  const { plan } = organization
  const { sendsPerDay, overageBilled } = limitsOf(organization)
  const key = organizationSendCounter(submission.principal.organizationId, dayOf(nowMs))
  if (sendsPerDay === undefined || billsOverage(organization)) return void change.add(key, 1)
  if (overageBilled) return bounded(change, limits, key, sendsPerDay, unpaidOverage(organization, `${sendsPerDay} sends per day`))
  const message = `The limit of ${sendsPerDay} sends per day of the plan ${plan} is reached; raise the plan, or send again after midnight UTC.`
  bounded(change, limits, key, sendsPerDay, new Refusal('quota_exhausted', message, { retryAfterSeconds: secondsToMidnight(nowMs) }))
}

/** Counts every send for `sends_today`, up to the project's budget if it has one. */
function sendBudget({ submission, project, nowMs }: Candidate, change: Change, limits: Limits): void {
  const key = sendCounter(submission.principal.organizationId, project.id, dayOf(nowMs))
  if (project.sendBudget === null) return void change.add(key, 1)
  const message = `The project's budget of ${project.sendBudget} sends per day is exhausted; raise it, or send again after midnight UTC.`
  bounded(
    change,
    limits,
    key,
    project.sendBudget,
    new Refusal('project_budget_exhausted', message, { retryAfterSeconds: secondsToMidnight(nowMs) }),
  )
}

const secondsToMidnight = (nowMs: number): number => Math.ceil((86_400_000 - (nowMs % 86_400_000)) / 1000)
