/** The keys of usage counters, and the UTC windows they count in. */
import type { Change } from '#store/change.ts'
import type { Element } from '#store/tuple.ts'

/** The UTC date of a time. Kept from call to call, because every send asks for it. */
export function dayOf(ms: number): string {
  const day = Math.floor(ms / 86_400_000)
  if (day !== kept.day) kept = { day, text: new Date(ms).toISOString().slice(0, 10) }
  return kept.text
}
let kept = { day: NaN, text: '' }
export const monthOf = (ms: number): string => dayOf(ms).slice(0, 7)
export const minuteOf = (ms: number): number => Math.floor(ms / 60_000)

/** The key of a counter of an organization: its name, and what it counts apart. */
const counter = (organizationId: string, name: string, ...apart: readonly Element[]): readonly Element[] => [
  organizationId,
  'counter',
  name,
  ...apart,
]
/** The key of a counter that counts by project and by day or month. */
const projectCounter = (name: string) => (organizationId: string, projectId: string, window: string) =>
  counter(organizationId, name, projectId, window)

export const sendCounter = projectCounter('sends')
export const organizationSendCounter = (organizationId: string, day: string): readonly Element[] =>
  counter(organizationId, 'plan_sends', day)
export const captureCounter = projectCounter('captures')
/** Refused sends that left a trace. */
export const refusedCounter = projectCounter('refused_traces')
/** Those of web pages among them. */
export const refusedPagesCounter = projectCounter('refused_page_traces')
/** Those beyond, which left none. */
export const untracedCounter = projectCounter('refused_untraced')
export const rateCounter = (organizationId: string, submitter: string, minute: number): readonly Element[] =>
  counter(organizationId, 'rate', submitter, minute)

/** Axes that are counted as they happen. */
const eventAxes = ['inspect_tests', 'captures', 'vi_notifies', 'smtp_messages', 'pk_sends', 'team_orgs', 'form_submissions'] as const
export type EventAxis = (typeof eventAxes)[number]

/** What happened in a month in the organization, or in one of its projects. */
export const usageCounter = (organizationId: string, axis: EventAxis, month: string, projectId = ''): readonly Element[] =>
  counter(organizationId, 'usage', axis, month, projectId)

/** The same on one day, in the organization. */
export const usageDayCounter = (organizationId: string, axis: EventAxis, day: string): readonly Element[] =>
  counter(organizationId, 'usage_day', axis, day)

/**
 * Counts what is billed by use, in the write that makes it happen: once, whatever crashes. `projectId` is left out for what
 * belongs to the whole organization.
 */
export function meter(change: Change, axis: EventAxis, organizationId: string, projectId: string | undefined, nowMs: number): void {
  const day = dayOf(nowMs)
  const month = day.slice(0, 7)
  change.add(usageCounter(organizationId, axis, month), 1).add(usageDayCounter(organizationId, axis, day), 1)
  if (projectId !== undefined) change.add(usageCounter(organizationId, axis, month, projectId), 1)
}

/** Calls of agents in a month, which are shown and never billed. */
export const agentCallCounter = (organizationId: string, month: string): readonly Element[] => counter(organizationId, 'agent_calls', month)

/** Traces that the organization has now, or one of its projects. */
export const storedTracesCounter = (organizationId: string, projectId?: string): readonly Element[] =>
  counter(organizationId, 'traces', ...(projectId === undefined ? [] : [projectId]))
interface CountedTrace {
  readonly projectId: string
  readonly door: string
}

/** What a trace counts of the traces that a plan stores: a notice of the service itself is on no bill. */
export const weightOfTrace = ({ door }: CountedTrace): number => (door === 'failure_notice' ? 0 : 1)

/** Counts a trace that comes, or one that goes, in the write that makes it so. */
export function countTrace(change: Change, organizationId: string, trace: CountedTrace, delta: 1 | -1): Change {
  if (weightOfTrace(trace) === 0) return change
  return change.add(storedTracesCounter(organizationId), delta).add(storedTracesCounter(organizationId, trace.projectId), delta)
}
/** How many those were when first looked at in a day; a day without a row is as the one before. */
export const storedTracesKey = (organizationId: string, day: string): readonly Element[] => [organizationId, 'usage.stored', day]

/** What the mail weighs that came in by inbound routes and is kept now, in octets. */
export const storedInboundCounter = (organizationId: string): readonly Element[] => counter(organizationId, 'inbound')

/** Submissions of all forms in a UTC day. */
export const formDayCounter = (organizationId: string, day: string): readonly Element[] => counter(organizationId, 'form_submissions', day)

/** Octets of the files that came by forms and are kept now. */
export const storedFormFilesCounter = (organizationId: string): readonly Element[] => counter(organizationId, 'form_files')

const dayMs = 86_400_000

function daysBetween(fromMs: number, toMs: number): string[] {
  const days: string[] = []
  for (let day = Math.floor(fromMs / dayMs); day <= Math.floor(toMs / dayMs); day++) days.push(dayOf(day * dayMs))
  return days
}

/** Every counter that a project can have from its beginning until now, for its removal: counters cannot be listed. */
export function projectCounters(organizationId: string, projectId: string, fromMs: number, toMs: number): (readonly Element[])[] {
  const days = daysBetween(fromMs, toMs)
  const months = [...new Set(days.map((day) => day.slice(0, 7)))]
  return [
    ...days.map((day) => sendCounter(organizationId, projectId, day)),
    storedTracesCounter(organizationId, projectId),
    ...months.map((month) => captureCounter(organizationId, projectId, month)),
    ...months.flatMap((month) => eventAxes.map((axis) => usageCounter(organizationId, axis, month, projectId))),
  ]
}

/** Likewise, those of the organization as a whole. */
export function organizationCounters(organizationId: string, fromMs: number, toMs: number): (readonly Element[])[] {
  const days = daysBetween(fromMs, toMs)
  const months = [...new Set(days.map((day) => day.slice(0, 7)))]
  return [
    ...days.map((day) => organizationSendCounter(organizationId, day)),
    ...days.flatMap((day) => eventAxes.map((axis) => usageDayCounter(organizationId, axis, day))),
    ...months.flatMap((month) => eventAxes.map((axis) => usageCounter(organizationId, axis, month))),
    ...months.map((month) => agentCallCounter(organizationId, month)),
    storedTracesCounter(organizationId),
    storedInboundCounter(organizationId),
    storedFormFilesCounter(organizationId),
  ]
}
