/** Filter of a replay: in the address, and as a request of the API. */
import { linkHere, projectId, query } from '../app/location.ts'
import type { Replay } from '../wire/api.d.ts'
import type { Input } from '../wire/route.ts'
import type { texts } from './replays-texts.ts'

export type Range = keyof ReturnType<typeof texts>['ranges']
type Body = Input<'POST /v1/replays'>['body']

const hours: Readonly<Partial<Record<Range, number>>> = { '1h': 1, '24h': 24, '7d': 168, '30d': 720 }
export const ranges: readonly Range[] = ['1h', '24h', '7d', '30d', 'all', 'custom']

/** Choices of the user, stored in the address. */
export interface Chosen {
  readonly range: Range
  readonly since: string
  readonly until: string
  readonly to: string
  readonly from: string
  readonly destination: string
  readonly target: string
  readonly unknown: boolean
}

export function chosenNow(): Chosen {
  const given = (name: string): string => query.value.get(name) ?? ''
  const range = ranges.find((one) => one === given('range')) ?? '24h'
  return {
    ...{ range, since: given('since'), until: given('until'), to: given('to'), from: given('from') },
    ...{ destination: given('destination'), target: given('target'), unknown: given('unknown') === '1' },
  }
}

export const linkWith = (changes: Partial<Omit<Chosen, 'unknown'>> & { readonly unknown?: string }): string => linkHere({ ...changes })

/** Parses a time. Text without a zone is local time. */
const timeOf = (typed: string): string | undefined => {
  const ms = Date.parse(typed)
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/** `nowMs` must not change while the filter is the same, so that the messages are counted once. */
export function bodyOf({ range, since, until, to, from, destination, target, unknown }: Chosen, nowMs: number): Body {
  const back = hours[range]
  const span =
    range === 'custom'
      ? { since: timeOf(since), until: timeOf(until) }
      : { since: back === undefined ? undefined : new Date(nowMs - back * 3_600_000).toISOString(), until: undefined }
  return {
    filter: {
      ...(projectId.value !== undefined && { project_id: projectId.value }),
      ...(span.since !== undefined && { since: span.since }),
      ...(span.until !== undefined && { until: span.until }),
      ...(to !== '' && { to }),
      ...(from !== '' && { from }),
      ...(destination !== '' && { destination_id: destination }),
    },
    ...(target !== '' && { target_destination_id: target }),
    ...(unknown && { include_unknown: true }),
  }
}

/** Returns the query of the same messages for the list of traces. */
export const tracesQuery = ({ filter }: Pick<Body, 'filter'>): Readonly<Record<string, string | undefined>> => ({
  ...{ to: filter.to, from: filter.from, destination_id: filter.destination_id, since: filter.since, until: filter.until },
})

/** Returns the query of a new replay with the filter of an earlier one. */
export const sameFilter = ({ filter, target_destination_id: target, include_unknown: unknown }: Replay) => ({
  ...{ new: '1', range: filter.since === null ? 'all' : 'custom', since: filter.since ?? undefined, to: filter.to ?? undefined },
  ...{ from: filter.from ?? undefined, destination: filter.destination_id ?? undefined, target: target ?? undefined },
  ...{ unknown: unknown ? '1' : undefined, project: filter.project_id ?? undefined },
})
