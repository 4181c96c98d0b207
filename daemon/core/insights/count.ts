/**
 * Counts events in the writes that cause them, so that a crash cannot separate the two. Names are short, because every commit contains
 * them.
 */
import type { Change } from '#store/change.ts'
import {
  apartPrefixes,
  maxDomains,
  maxSenders,
  minuteKey,
  ofDomains,
  ofProject,
  sendersKey,
  wholeOrganization,
  type Place,
} from './levels.ts'
import { timingName, type Timing } from './latency.ts'
import { countPast, type CountTime } from './past.ts'

export type { Place }

/**
 * Count names of projects: messages by outcome, and events without a destination. A code follows the letter of refusals, and a source that
 * of suppressions.
 */
export const projectNames = {
  relayed: 'r',
  'captured.sandbox_destination': 's',
  'captured.no_route': 'n',
  'captured.anonymous_project': 'a',
  /** `capturesLater` accompanies the outcome of a scheduled capture; `capturedLater` counts it at its scheduled time. */
  capturesLater: 'h',
  capturedLater: 'j',
  /** Accompanies the outcome of a message that every route captures, such as a test of a template. */
  capturedByCause: 't',
  /** Accompanies the refusal of an invalid send whose trace is stored. */
  refusedWithTrace: 'X',
  failed: 'f',
  webhookSucceeded: 'v',
  webhookFailed: 'e',
  webhookParked: 'p',
  login: 'l',
  loginRefused: 'm',
  /** A new submission, a changed or removed submission, and the same for forms. */
  formSubmission: 'i',
  formSubmissionChanged: 'I',
  form: 'N',
  formChanged: 'F',
} as const
export const refusedLetter = 'x'
export const smtpRefusedLetter = 'z'
export const suppressedLetter = 'u'

/**
 * Count names of recipients, per destination and per domain. `taken` and `failed` are final results of attempts. `deferred` counts a
 * recipient once per attempt that leaves it queued. The others come from later reports.
 */
export const recipientNames = { taken: 'k', failed: 'g', deferred: 'h', delivered: 'd', bounced: 'b', complained: 'c' } as const
export type RecipientFate = keyof typeof recipientNames
/** Count names of an ingest source's reports, matched or not. `unreadable` counts mails that are not reports. */
export const reportNames = { delivered: 'd', deferred: 't', bounced: 'b', complained: 'c', unreadable: 'y' } as const
/** Count names of attempts at a destination. */
export const attemptNames = { attempts: 'q', errors: 'o' } as const
/** Count names of recipients that were attempted before: deferred again, taken or failed. Shares of recipients leave them out. */
export const retryNames = { deferred: 'H', taken: 'K', failed: 'G' } as const

/** Counts in the row of the project. */
export function count(change: Change, place: Place, names: readonly string[], nowMs: number, delta?: number): void {
  countFor(change, place, ofProject, names, nowMs, delta)
}

/** Counts in the row of one subject of the project, by its id. */
export function countFor(change: Change, place: Place, subject: string, names: readonly string[], nowMs: number, delta?: number): void {
  const key = minuteKey(place.organizationId, place.projectId, subject, nowMs)
  change.tally(delta === undefined ? { key, names } : { key, names, delta })
}

const outcomes = {
  relayed: [projectNames.relayed],
  'captured.sandbox_destination': [projectNames['captured.sandbox_destination']],
  'captured.no_route': [projectNames['captured.no_route']],
  'captured.anonymous_project': [projectNames['captured.anonymous_project']],
} as const

/** Facts about an accepted message for its counts. */
export interface CountedMessage {
  readonly isScheduled: boolean
  /** Captured for another reason than its route. */
  readonly hasCause: boolean
  /** Ids of its template and its publishable key; `undefined` for an absent one. */
  readonly madeWith: readonly (string | undefined)[]
}

/** Counts an accepted message: sent or captured, immediately or at a scheduled time. */
export function countAccepted(
  change: Change,
  place: Place,
  outcome: keyof typeof outcomes,
  nowMs: number,
  { isScheduled, hasCause, madeWith }: CountedMessage,
): void {
  const names: string[] = [...outcomes[outcome]]
  if (isScheduled && outcome !== 'relayed') names.push(projectNames.capturesLater)
  if (hasCause && outcome === 'captured.no_route') names.push(projectNames.capturedByCause)
  count(change, place, names, nowMs)
  for (const id of madeWith) if (id !== undefined) countFor(change, place, id, outcomes[outcome], nowMs)
}

/**
 * Letters of counts by the domain of the sender. `unknown`: accepted messages of domains that are not sending domains of the organization.
 * `captured`, `refused`: messages that match no routing rule.
 */
export const senderLetters = { unknown: 'f', captured: 'n', refused: 'x' } as const

/** Counts messages by the domain of their sender. Of more than `maxSenders` domains a day, domains with few messages lose their counts. */
export function countSender(
  change: Change,
  { organizationId, projectId }: Place,
  domain: string,
  nowMs: number,
  letter: string = senderLetters.unknown,
  delta = 1,
): void {
  if (domain === '' || domain.length > maxSenderLength) return // names of counts are shortened
  change.tally({ key: sendersKey(organizationId, projectId, nowMs), names: [letter + domain], maxSubjects: maxSenders, delta })
}
const maxSenderLength = 80

/** Counts a scheduled send that was captured at its scheduled time. */
export const countCapturedLater = (change: Change, place: Place, nowMs: number): void =>
  count(change, place, [projectNames.capturedLater], nowMs)

/** Counts suppressions. A `projectId` of null means the organization. */
export const countSuppressed = (
  change: Change,
  { organizationId, projectId }: { readonly organizationId: string; readonly projectId: string | null },
  source: string,
  nowMs: number,
  entries: number,
): void => count(change, { organizationId, projectId: projectId ?? wholeOrganization }, [suppressedLetter + source], nowMs, entries)

/** Lists in the dashboard that show counted records. */
export type ListName = 'traces' | 'captures' | 'webhook_deliveries' | 'suppressions' | 'forms' | 'form_submissions'

const newTraces: ReadonlySet<string> = new Set<string>(Object.values(outcomes).flat())

/** Returns the lists that counts affect, each with its number of new entries; 0 means changed entries. */
export function listsOf(subject: string, names: readonly string[], delta: number): ReadonlyMap<ListName, number> {
  const lists = new Map<ListName, number>()
  const add = (list: ListName, entries: number): void => void lists.set(list, (lists.get(list) ?? 0) + entries)
  if (subject.startsWith(apartPrefixes.destination)) return lists.set('traces', 0)
  if (subject !== ofProject) return lists
  for (const name of names) {
    const isTrace = newTraces.has(name)
    for (const [list, isNew] of formLists.get(name) ?? []) add(list, isNew ? delta : 0)
    if (name === projectNames.capturesLater) add('captures', -delta)
    if (name === projectNames.capturedLater) add('captures', delta)
    if (name === projectNames.capturedLater) add('traces', 0)
    if (isTrace && name !== projectNames.relayed) add('captures', delta)
    if (isTrace || name === projectNames.refusedWithTrace) add('traces', delta)
    else if (name.startsWith(suppressedLetter)) add('suppressions', delta)
    else if (webhookNames.has(name)) add('webhook_deliveries', 0)
  }
  return lists
}
/** Form lists by count name, each with whether its entries are new. The list of forms shows the number of new submissions. */
const formLists: ReadonlyMap<string, readonly (readonly [ListName, boolean])[]> = new Map([
  [
    projectNames.formSubmission,
    [
      ['form_submissions', true],
      ['forms', false],
    ],
  ],
  [
    projectNames.formSubmissionChanged,
    [
      ['form_submissions', false],
      ['forms', false],
    ],
  ],
  [projectNames.form, [['forms', true]]],
  [projectNames.formChanged, [['forms', false]]],
])
const webhookNames: ReadonlySet<string> = new Set([projectNames.webhookSucceeded, projectNames.webhookFailed, projectNames.webhookParked])

/** The counted facts of an attempt. */
export interface CountedAttempt {
  readonly destinationId: string
  /** Addresses of recipients with a final result. */
  readonly taken: readonly string[]
  readonly failed: readonly string[]
  /** Addresses of recipients that are queued for another attempt. */
  readonly deferred: readonly string[]
  /** The message was attempted before. */
  readonly isRetry: boolean
  /** The attempt failed because of the destination, not because of this service. */
  readonly isError: boolean
  /** Measured times in milliseconds. */
  readonly timings: Readonly<Partial<Record<Timing, number>>>
}

export function countAttempt(change: Change, place: Place, attempt: CountedAttempt, nowMs: number): void {
  const { destinationId, isError, isRetry, timings } = attempt
  const names: string[] = [attemptNames.attempts]
  if (isError) names.push(attemptNames.errors)
  const byDomain: string[] = []
  for (const end of ['taken', 'failed', 'deferred'] as const)
    for (const address of attempt[end]) {
      names.push(recipientNames[end])
      if (isRetry) names.push(retryNames[end])
      byDomain.push(recipientNames[end] + domainOf(address))
    }
  for (const timing in timings) names.push(timingName(timing as Timing, timings[timing as Timing] ?? 0))
  change.tally({ key: minuteKey(place.organizationId, place.projectId, destinationId, nowMs), names })
  if (byDomain.length > 0) countDomains(change, place, byDomain, nowMs)
}

/**
 * Counts the reported outcome of a recipient in the time in which the message was accepted or refused, so that shares compare the same
 * recipients. See `countTimeOf`.
 */
export function countFate(
  change: Change,
  place: Place & { readonly destinationId: string | null },
  fate: RecipientFate,
  recipient: string | null,
  time: CountTime,
): void {
  const { organizationId, projectId, destinationId } = place
  const name = recipientNames[fate]
  if (time.levels.length > 0) {
    if (destinationId !== null) countPast(change, place, destinationId, [name], time)
    if (recipient !== null) countPast(change, place, ofDomains, [name + domainOf(recipient)], time)
    return
  }
  if (destinationId !== null) change.tally({ key: minuteKey(organizationId, projectId, destinationId, time.at), names: [name] })
  if (recipient !== null) countDomains(change, place, [name + domainOf(recipient)], time.at)
}

/** Counts the reports of an ingest source, which belongs to the whole organization. */
export function countReported(
  change: Change,
  { organizationId, sourceId }: { readonly organizationId: string; readonly sourceId: string },
  names: readonly (keyof typeof reportNames)[],
  nowMs: number,
): void {
  const place = { organizationId, projectId: wholeOrganization }
  if (names.length > 0) countFor(change, place, sourceId, names.map((name) => reportNames[name]), nowMs) // prettier-ignore
}

function countDomains(change: Change, { organizationId, projectId }: Place, names: readonly string[], nowMs: number): void {
  change.tally({ key: minuteKey(organizationId, projectId, ofDomains, nowMs), names, maxSubjects: maxDomains.minute })
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase()
