/** Keys of usage counters, and their UTC windows. */
import type { Change } from '#store/change.ts'
import type { Element } from '#store/tuple.ts'

/** Returns the UTC date of a time. The last result is cached, because every send needs it. */
export function dayOf(ms: number): string {
  const day = Math.floor(ms / 86_400_000)
  if (day !== kept.day) kept = { day, text: new Date(ms).toISOString().slice(0, 10) }
  return kept.text
}
let kept = { day: NaN, text: '' }
export const monthOf = (ms: number): string => dayOf(ms).slice(0, 7)
export const minuteOf = (ms: number): number => Math.floor(ms / 60_000)

/** Key of an organization's counter: its name and further parts. */
const counter = (organizationId: string, name: string, ...apart: readonly Element[]): readonly Element[] => [
  organizationId,
  'counter',
  name,
  ...apart,
]
/** Key of a counter by project and by day or month. */
const projectCounter = (name: string) => (organizationId: string, projectId: string, window: string) =>
  counter(organizationId, name, projectId, window)

export const sendCounter = projectCounter('sends')
export const organizationSendCounter = (organizationId: string, day: string): readonly Element[] =>
  counter(organizationId, 'plan_sends', day)
export const captureCounter = projectCounter('captures')
/** Refused sends with a trace. */
export const refusedCounter = projectCounter('refused_traces')
/** Refused sends of web pages with a trace. */
export const refusedPagesCounter = projectCounter('refused_page_traces')
/** Refused sends without a trace, beyond the number of traces for refusals. */
export const untracedCounter = projectCounter('refused_untraced')
export const rateCounter = (organizationId: string, submitter: string, minute: number): readonly Element[] =>
  counter(organizationId, 'rate', submitter, minute)

/** Axes that are counted when events occur. */
const eventAxes = ['inspect_tests', 'captures', 'vi_notifies', 'smtp_messages', 'pk_sends', 'team_orgs', 'form_submissions'] as const
export type EventAxis = (typeof eventAxes)[number]

/** Events of a month in the organization, or in one project. */
export const usageCounter = (organizationId: string, axis: EventAxis, month: string, projectId = ''): readonly Element[] =>
  counter(organizationId, 'usage', axis, month, projectId)

/** Events of one day in the organization. */
export const usageDayCounter = (organizationId: string, axis: EventAxis, day: string): readonly Element[] =>
  counter(organizationId, 'usage_day', axis, day)

/**
 * Counts a billed event in the write that causes it, so that a crash neither loses nor repeats the count. Omit `projectId` for events of
 * the whole organization.
 */
export function meter(change: Change, axis: EventAxis, organizationId: string, projectId: string | undefined, nowMs: number): void {
  const day = dayOf(nowMs)
  const month = day.slice(0, 7)
  change.add(usageCounter(organizationId, axis, month), 1).add(usageDayCounter(organizationId, axis, day), 1)
  if (projectId !== undefined) change.add(usageCounter(organizationId, axis, month, projectId), 1)
}

/** Agents' calls in a month, which are displayed but never billed. */
export const agentCallCounter = (organizationId: string, month: string): readonly Element[] => counter(organizationId, 'agent_calls', month)

/** Currently stored traces of the organization, or of one project. */
export const storedTracesCounter = (organizationId: string, projectId?: string): readonly Element[] =>
  counter(organizationId, 'traces', ...(projectId === undefined ? [] : [projectId]))
interface CountedTrace {
  readonly projectId: string
  readonly door: string
}

/** Returns the weight of a trace in the number of stored traces of a plan. Notices of the service itself are not billed. */
export const weightOfTrace = ({ door }: CountedTrace): number => (door === 'failure_notice' ? 0 : 1)

/** Adds the creation or removal of a trace to the counters, in the same write. */
export function countTrace(change: Change, organizationId: string, trace: CountedTrace, delta: 1 | -1): Change {
  if (weightOfTrace(trace) === 0) return change
  return change.add(storedTracesCounter(organizationId), delta).add(storedTracesCounter(organizationId, trace.projectId), delta)
}
/** Row of the number of stored traces at the first reading of a day. A day without a row has the number of the previous day. */
export const storedTracesKey = (organizationId: string, day: string): readonly Element[] => [organizationId, 'usage.stored', day]

/** Octets of the stored mail of inbound routes. */
export const storedInboundCounter = (organizationId: string): readonly Element[] => counter(organizationId, 'inbound')

/** Submissions of all forms on a UTC day. */
export const formDayCounter = (organizationId: string, day: string): readonly Element[] => counter(organizationId, 'form_submissions', day)

/** Octets of the stored files of forms. */
export const storedFormFilesCounter = (organizationId: string): readonly Element[] => counter(organizationId, 'form_files')

const dayMs = 86_400_000

function daysBetween(fromMs: number, toMs: number): string[] {
  const days: string[] = []
  for (let day = Math.floor(fromMs / dayMs); day <= Math.floor(toMs / dayMs); day++) days.push(dayOf(day * dayMs))
  return days
}

/** Returns every counter that a project can have between two times. Required for its removal, because counters cannot be listed. */
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

/** Returns every counter that an organization can have between two times. */
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
