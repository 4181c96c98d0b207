/** Diagnoses why a message did not arrive: all hypotheses from stored facts and DNS, most certain first. */
import { trimInvisible } from '#config/mail/invisible.ts'
import { pack } from '#store/tuple.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { parseAddress } from '../../addresses.ts'
import { matchSuppression } from '../../feedback/suppression/suppressed-recipients.ts'
import { foldEmail } from '../../feedback/suppression/suppression.ts'
import { invalid } from '../../refusals.ts'
import { dayOf, sendCounter, untracedCounter } from '../../tenancy/counters.ts'
import type { Trace } from '../../trace/trace.ts'
import type { MissingContext, MissingOptions } from './missing-context.ts'
import type { Hypothesis, MissingDiagnosis } from '../search/diagnosis.ts'
import { lookAtDomain } from '../search/look-ups.ts'
import { fateOf } from './message-fate.ts'
import { findNearMisses, maxNearScan } from './near-misses.ts'
import { domainOf, domainReports } from '../search/related-refusals.ts'
import { afterAcceptance, fromBudget, fromDomain, fromNearMiss, fromSuppression, nothingSent } from './side-evidence.ts'
import { tracesTo } from '../search/trace-reads.ts'
import { retainedWindow, readWindow, textOf } from '../search/time-window.ts'

export interface MissingRequest {
  readonly recipient: string
  /** See `readWindow`. */
  readonly timeWindow?: string | undefined
}

/** Maximum number of messages explained, latest first. */
const maxExplained = 5
/** Factor for the confidence of messages before the latest. Most questions are about the latest message. */
const earlierFactor = 0.75
const monthMs = 30 * 86_400_000

/** Throws `validation_failed` for an invalid address or time window. */
export async function diagnoseMissing(options: MissingOptions, principal: Principal, request: MissingRequest): Promise<MissingDiagnosis> {
  const { database, policies, clock } = options
  const nowMs = clock.now()
  const mailbox = parseAddress(trimInvisible(request.recipient))
  if (!mailbox) throw invalid([{ path: 'recipient', message: 'must be one address such as ada@example.ch' }])
  const asked = readWindow(request.timeWindow, nowMs)
  if (typeof asked === 'string') throw invalid([{ path: 'time_window', message: asked }])
  const policy = await policies.of(principal.organizationId)
  // includes messages of the current millisecond
  const window = await retainedWindow(database, policy.organization, { ...asked, to: asked.to === nowMs ? nowMs + 1 : asked.to }, nowMs)
  const { address } = mailbox
  const [messages, match, domain] = await Promise.all([
    tracesTo(database, principal, address, window, maxExplained),
    matchSuppression(database, principal, foldEmail(address), nowMs),
    lookAtDomain(options, mailbox.domain),
  ])
  const { entry } = match
  const isEntryOutside = match.isMatch && !entry
  const context: MissingContext = { options, principal, policy, address, window, entry, isEntryOutside, domain, nowMs }
  const found = messages.length > 0 ? await explained(context, messages) : await unsent(context)
  const hypotheses = found.hypotheses.toSorted((a, b) => b.confidence - a.confidence)
  const [first] = hypotheses
  return {
    ...{ recipient: address, window: { from: window.from, to: Math.min(window.to, nowMs) }, hypotheses },
    verdict: first?.verdict ?? 'unknown',
    confidence: first?.confidence ?? 0,
    summary: summaryOf(context, messages.length, first),
    traces: messages.map(({ id, status, subject, createdAt }) => ({ traceId: id, status, subject, createdAt })),
    checked: [
      `Messages to ${address} in the time window.`,
      'The suppression list.',
      ...(domain.state === 'unknown' ? [] : [domain.detail]),
      ...found.checked,
    ],
    notChecked: [...found.notChecked, ...always(context)],
  }
}

type MissingFindings = Pick<MissingDiagnosis, 'hypotheses' | 'checked' | 'notChecked'>

async function explained(context: MissingContext, messages: readonly Trace[]): Promise<MissingFindings> {
  const { options, principal, address, entry, isEntryOutside, nowMs } = context
  const fates = await Promise.all(
    messages.map(async ({ id }) => {
      const details = await options.traces.get(principal, id)
      const recipient = details.trace.recipients.find((one) => foldEmail(one.address) === foldEmail(address))
      const waiting = await options.waiting(principal.organizationId, details.trace)
      return recipient ? [fateOf({ details, recipient, waiting, suppressionId: entry?.id, isEntryOutside }, nowMs)] : []
    }),
  )
  const hypotheses = fates.flat().map((fate, i) => (i === 0 ? fate : { ...fate, confidence: fate.confidence * earlierFactor }))
  const taken = hypotheses.some(({ verdict }) => verdict === 'accepted_by_remote')
  const reports = taken ? await domainReports(options.database, principal, domainOf(address), nowMs - monthMs) : []
  const side = taken ? afterAcceptance(context, messages[0], reports) : { hypotheses: [], checked: [], notChecked: [] }
  return {
    hypotheses: [...hypotheses, ...side.hypotheses, ...fromDomain(context, 0.5)],
    checked: ['Attempts, replies and reports of the latest of them.', 'The health of their destinations.', ...side.checked],
    notChecked: side.notChecked,
  }
}

async function unsent(context: MissingContext): Promise<MissingFindings> {
  const { options, principal, address, window, policy, nowMs } = context
  const { database } = options
  if (window.cut !== undefined && window.from >= window.to) {
    const notChecked = [{ what: 'Messages of that time', why: window.cut }]
    return { hypotheses: [nothingKept(window.cut)], checked: [], notChecked }
  }
  const [near, [before]] = await Promise.all([
    findNearMisses(database, principal, address, window),
    tracesTo(database, principal, address, { from: 0, to: window.from }, 1),
  ])
  const projects = principal.bound
    ? [...policy.projects.values()].filter(({ id }) => id === principal.projectId)
    : [...policy.projects.values()]
  const spent = await Promise.all(
    projects
      .filter(({ sendBudget }) => sendBudget !== null)
      .map(async (project) => ({
        project,
        sends: await database.kv.counter(pack(sendCounter(principal.organizationId, project.id, dayOf(nowMs)))),
      })),
  )
  const untraced = await Promise.all(
    projects.map(({ id }) => database.kv.counter(pack(untracedCounter(principal.organizationId, id, dayOf(nowMs))))),
  )
  const unseen = untraced.reduce((sum, count) => sum + count, 0)
  return {
    hypotheses: [
      nothingSent(context, near.found.length === 0, before),
      ...near.found.map((miss) => fromNearMiss(context, miss)),
      ...fromSuppression(context),
      ...spent.flatMap(({ project, sends }) => fromBudget(project, sends)),
      ...fromDomain(context, 0.6),
    ],
    checked: [
      'Addresses in the time window that differ by a plus tag or by one or two typing errors.',
      'The send budgets of the current day.',
    ],
    notChecked: [
      ...(near.isComplete
        ? []
        : [{ what: 'Similar addresses in the whole time window', why: `Only the latest ${maxNearScan} messages were searched.` }]),
      ...(unseen === 0
        ? []
        : [
            {
              what: 'Refused requests of today',
              why: `${unseen} sends that were refused today have no trace, because there were too many.`,
            },
          ]),
    ],
  }
}

const nothingKept = (cut: string): Hypothesis => ({
  ...{ id: 'not_kept', verdict: 'unknown', confidence: 0.9, explanation: cut, evidence: [] },
  nextAction: { text: 'Choose a later time window.' },
})

/** Lists facts that cannot be checked. */
function always({ principal, window, domain }: MissingContext): { what: string; why: string }[] {
  return [
    ...(window.cut === undefined || window.from >= window.to ? [] : [{ what: `Messages before ${textOf(window.from)}`, why: window.cut }]),
    { what: 'Requests that were refused', why: 'They have no trace; check the responses that your application received.' },
    ...(principal.bound ? [{ what: 'Other projects of the organization', why: 'The key is bound to one project.' }] : []),
    ...(domain.state === 'unknown' ? [{ what: 'Whether the domain of the recipient accepts mail', why: domain.detail }] : []),
  ]
}

function summaryOf({ address, window }: MissingContext, messages: number, first: Hypothesis | undefined): string {
  const what = first?.explanation ?? 'No message was found.'
  if (messages === 0) return what
  const [from, to] = [textOf(window.from), textOf(window.to)]
  return `Of ${messages === maxExplained ? `the latest ${messages}` : messages} ${messages === 1 ? 'message' : 'messages'} to ${address} between ${from} and ${to}: ${what}`
}
