/** What the screen of the queue is narrowed to: in the address, as a list takes it, and as an act does. */
import { linkHere, projectId, query } from '../app/location.ts'
import type { InputOf } from '../wire/operation.ts'
import type { createQueueAct, createQueueHold, listQueuedMessages, QueueAct } from '../wire/operations.ts'

export type ActFilter = InputOf<typeof createQueueAct>['body']['filter']
export type HoldFilter = InputOf<typeof createQueueHold>['body']['filter']
export type ActName = QueueAct['act']
type ListQuery = NonNullable<InputOf<typeof listQueuedMessages>['query']>

export const actNames: readonly ActName[] = ['hold', 'release', 'expedite', 'drop']

const minute = 60_000
const ages = { '': 0, '15m': 15 * minute, '1h': 60 * minute, '6h': 360 * minute, '24h': 1440 * minute } as const
export type Age = keyof typeof ages
export const ageNames = Object.keys(ages) as Age[]

const filterNames = ['destination', 'to_domain', 'from', 'age', 'attempts', 'held_by'] as const
type FilterName = (typeof filterNames)[number]

/** Each is in the address. */
export type Chosen = Readonly<Record<FilterName | 'held', string>>

export function chosenNow(): Chosen {
  const given = (name: string): string => query.value.get(name) ?? ''
  const [age, held] = [given('age'), given('held')]
  return {
    ...{ destination: given('destination'), to_domain: given('to_domain'), from: given('from'), held_by: given('held_by') },
    age: ageNames.find((one) => one === age) ?? '',
    attempts: /^\d{1,3}$/.test(given('attempts')) ? given('attempts') : '',
    held: held === 'true' || held === 'false' ? held : '',
  }
}

export const isFiltered = (chosen: Chosen): boolean => chosen.held !== '' || filterNames.some((name) => chosen[name] !== '')

export const withoutFilters = (): string => linkHere({ held: '', ...Object.fromEntries(filterNames.map((name) => [name, ''])) })

/** `nowMs` stays the same while the filter does, so that it is read once. */
export function actFilter({ destination, to_domain: domain, from, age, attempts, held_by: act }: Chosen, nowMs: number): ActFilter {
  return {
    ...(projectId.value !== undefined && { project_id: projectId.value }),
    ...(destination !== '' && { destination_id: destination }),
    ...(domain !== '' && { to_domain: domain }),
    ...(from !== '' && { from }),
    ...(age !== '' && { accepted_before: new Date(nowMs - ages[age as Age]).toISOString() }),
    ...(attempts !== '' && { min_attempts: Number(attempts) }),
    ...(act !== '' && { held_by: act }),
  }
}

/** Of what the screen shows, what can be known of mail to come. */
export function holdFilter(chosen: Chosen): HoldFilter {
  const { project_id: project, destination_id: destination, to_domain: domain, from } = actFilter(chosen, 0)
  return {
    ...(project !== undefined && { project_id: project }),
    ...(destination !== undefined && { destination_id: destination }),
    ...(domain !== undefined && { to_domain: domain }),
    ...(from !== undefined && { from }),
  }
}

export function listQuery(chosen: Chosen, nowMs: number): ListQuery {
  const { project_id: project, min_attempts: attempts, trace_ids: _, ...same } = actFilter(chosen, nowMs)
  return {
    ...same,
    ...(project !== undefined && { project }),
    ...(attempts !== undefined && { min_attempts: String(attempts) }),
    ...(chosen.held !== '' && { held: chosen.held as 'true' | 'false' }),
  }
}

/** Of an act, without what is not there, as another act takes it. */
export const givenOf = (filter: QueueAct['filter']): ActFilter =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== null))
