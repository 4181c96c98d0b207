/**
 * What happens is counted in the write that makes it happen, so that no crash can separate the two. The names are short, as every group
 * of writes carries them.
 */
import type { Change } from '#store/change.ts'
import { apartPrefixes, maxDomains, minuteKey, ofDomains, ofProject, wholeOrganization } from './levels.ts'
import { timingName, type Timing } from './latency.ts'

/** Where something happened. */
export interface Place {
  readonly organizationId: string
  readonly projectId: string
}

/** Of a project: messages by outcome, and what else has no destination. A code follows refusals, and a source suppressions. */
export const projectNames = {
  relayed: 'r',
  'captured.sandbox_destination': 's',
  'captured.no_route': 'n',
  'captured.anonymous_project': 'a',
  /** With the outcome, where a capture waits for its time; and that its time came. */
  capturesLater: 'h',
  capturedLater: 'j',
  failed: 'f',
  webhookSucceeded: 'v',
  webhookFailed: 'e',
  webhookParked: 'p',
  login: 'l',
  loginRefused: 'm',
  /** A submission of a form came in, and one was changed or removed; the same of forms. */
  formSubmission: 'i',
  formSubmissionChanged: 'I',
  form: 'N',
  formChanged: 'F',
} as const
export const refusedLetter = 'x'
export const smtpRefusedLetter = 'z'
export const suppressedLetter = 'u'

/**
 * Of recipients, for a destination and for a domain. `taken` and `failed` are the ends of attempts, `deferred` are recipients that an
 * attempt left waiting, once for each; the others are reported later.
 */
export const recipientNames = { taken: 'k', failed: 'g', deferred: 'h', delivered: 'd', bounced: 'b', complained: 'c' } as const
export type RecipientFate = keyof typeof recipientNames
/** Of an ingest source: what it reported, whether or not it fits a message. `unreadable` are mails that are no reports. */
export const reportNames = { delivered: 'd', deferred: 't', bounced: 'b', complained: 'c', unreadable: 'y' } as const
/** Of attempts at a destination. */
export const attemptNames = { attempts: 'q', errors: 'o' } as const

/** Counts in the row of the project. */
export function count(change: Change, place: Place, names: readonly string[], nowMs: number, delta?: number): void {
  countFor(change, place, ofProject, names, nowMs, delta)
}

/** Counts in the row of one thing of the project, by its id. */
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

/** What of a message is counted when it is accepted. */
export interface CountedMessage {
  readonly isScheduled: boolean
  /** Ids of the template and of the publishable key that it was made with; `undefined` for those that it was not. */
  readonly madeWith: readonly (string | undefined)[]
}

/** A message was accepted, to be sent or captured at once or at its time. */
export function countAccepted(
  change: Change,
  place: Place,
  outcome: keyof typeof outcomes,
  nowMs: number,
  { isScheduled, madeWith }: CountedMessage,
): void {
  const isLater = isScheduled && outcome !== 'relayed'
  count(change, place, isLater ? [...outcomes[outcome], projectNames.capturesLater] : outcomes[outcome], nowMs)
  for (const id of madeWith) if (id !== undefined) countFor(change, place, id, outcomes[outcome], nowMs)
}

/** A scheduled send was captured at its time. */
export const countCapturedLater = (change: Change, place: Place, nowMs: number): void =>
  count(change, place, [projectNames.capturedLater], nowMs)

/** `null` for what belongs to the organization alone. */
export const countSuppressed = (
  change: Change,
  { organizationId, projectId }: { readonly organizationId: string; readonly projectId: string | null },
  source: string,
  nowMs: number,
  entries: number,
): void => count(change, { organizationId, projectId: projectId ?? wholeOrganization }, [suppressedLetter + source], nowMs, entries)

/** Lists in which what is counted shows. */
export type ListName = 'traces' | 'captures' | 'webhook_deliveries' | 'suppressions' | 'forms' | 'form_submissions'

const newTraces: ReadonlySet<string> = new Set<string>(Object.values(outcomes).flat())

/** The lists that counts are about, with how many entries are new in each; 0 where entries that were there have changed. */
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
    if (isTrace || name.startsWith(refusedLetter)) add('traces', delta)
    else if (name.startsWith(suppressedLetter)) add('suppressions', delta)
    else if (webhookNames.has(name)) add('webhook_deliveries', 0)
  }
  return lists
}
/** With whether entries are new; forms show how many of their submissions are. */
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

/** An attempt at a destination, as far as it is counted. */
export interface CountedAttempt {
  readonly destinationId: string
  /** Of recipients that came to an end by it. */
  readonly taken: readonly string[]
  readonly failed: readonly string[]
  /** Of recipients that wait for another attempt. */
  readonly deferred: readonly string[]
  /** The destination, and not our own doing, kept it from working. */
  readonly isError: boolean
  /** Milliseconds, where they are known. */
  readonly timings: Readonly<Partial<Record<Timing, number>>>
}

export function countAttempt(change: Change, place: Place, attempt: CountedAttempt, nowMs: number): void {
  const { destinationId, isError, timings } = attempt
  const names: string[] = [attemptNames.attempts]
  if (isError) names.push(attemptNames.errors)
  const byDomain: string[] = []
  for (const end of ['taken', 'failed', 'deferred'] as const)
    for (const address of attempt[end]) {
      names.push(recipientNames[end])
      byDomain.push(recipientNames[end] + domainOf(address))
    }
  for (const timing in timings) names.push(timingName(timing as Timing, timings[timing as Timing] ?? 0))
  change.tally({ key: minuteKey(place.organizationId, place.projectId, destinationId, nowMs), names })
  if (byDomain.length > 0) countDomains(change, place, byDomain, nowMs)
}

/** What was reported about a recipient after the message had left, or with it. */
export function countFate(
  change: Change,
  place: Place & { readonly destinationId: string | null },
  fate: RecipientFate,
  recipient: string | null,
  nowMs: number,
): void {
  const { organizationId, projectId, destinationId } = place
  const name = recipientNames[fate]
  if (destinationId !== null) change.tally({ key: minuteKey(organizationId, projectId, destinationId, nowMs), names: [name] })
  if (recipient !== null) countDomains(change, place, [name + domainOf(recipient)], nowMs)
}

/** What an ingest source reported; sources belong to the whole organization. */
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
