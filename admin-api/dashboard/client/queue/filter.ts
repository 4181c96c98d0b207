/** Filters of the queue screen: in the address, and as parameters of lists and actions. */
import { linkHere, query } from '../app/location.ts'
import type { Destination, QueueAct } from '../wire/api.d.ts'
import type { Input } from '../wire/route.ts'

export type ActFilter = Input<'POST /v1/queue/acts'>['body']['filter']
export type HoldFilter = Input<'POST /v1/queue/holds'>['body']['filter']
export type ActBody = Input<'POST /v1/queue/acts'>['body']
export type HoldBody = Input<'POST /v1/queue/holds'>['body']
export type ActName = QueueAct['act']
export type ListQuery = NonNullable<Input<'/v1/queue'>['query']>

export const actNames: readonly ActName[] = ['hold', 'release', 'expedite', 'drop']

/** A destination with its name, if known. */
export type NamedDestination = Pick<Destination, 'id' | 'name'>

const minute = 60_000
const ages = { '': 0, '15m': 15 * minute, '1h': 60 * minute, '6h': 360 * minute, '24h': 1440 * minute } as const
export type Age = keyof typeof ages
export const ageNames = Object.keys(ages) as Age[]

const filterNames = ['of_project', 'destination', 'to_domain', 'from', 'age', 'attempts', 'held_by'] as const
type FilterName = (typeof filterNames)[number]

/** Filters of the address. Operators use `of_project`, because `project` refers to their own organization. */
export type Chosen = Readonly<Record<FilterName | 'held', string>>

export function chosenNow(): Chosen {
  const given = (name: string): string => query.value.get(name) ?? ''
  const [age, held] = [given('age'), given('held')]
  return {
    ...{
      of_project: given('of_project'),
      destination: given('destination'),
      to_domain: given('to_domain'),
      from: given('from'),
      held_by: given('held_by'),
    },
    age: ageNames.find((one) => one === age) ?? '',
    attempts: /^\d{1,3}$/.test(given('attempts')) ? given('attempts') : '',
    held: held === 'true' || held === 'false' ? held : '',
  }
}

export const isFiltered = (chosen: Chosen): boolean => chosen.held !== '' || filterNames.some((name) => chosen[name] !== '')

export const withoutFilters = (): string => linkHere({ held: '', ...Object.fromEntries(filterNames.map((name) => [name, ''])) })

/** `nowMs` must not change while the filter is the same, so that the input stays equal and is read once. */
export function actFilter(
  { destination, to_domain: domain, from, age, attempts, held_by: act }: Chosen,
  project: string | undefined,
  nowMs: number,
): ActFilter {
  return {
    ...(project !== undefined && { project_id: project }),
    ...(destination !== '' && { destination_id: destination }),
    ...(domain !== '' && { to_domain: domain }),
    ...(from !== '' && { from }),
    ...(age !== '' && { accepted_before: new Date(nowMs - ages[age as Age]).toISOString() }),
    ...(attempts !== '' && { min_attempts: Number(attempts) }),
    ...(act !== '' && { held_by: act }),
  }
}

/** Returns the filters of the screen that also apply to future mail. */
export function holdFilter(chosen: Chosen, project: string | undefined): HoldFilter {
  const { destination_id: destination, to_domain: domain, from } = actFilter(chosen, project, 0)
  return {
    ...(project !== undefined && { project_id: project }),
    ...(destination !== undefined && { destination_id: destination }),
    ...(domain !== undefined && { to_domain: domain }),
    ...(from !== undefined && { from }),
  }
}

export function listQuery(chosen: Chosen, project: string | undefined, nowMs: number): ListQuery {
  const { project_id: _, min_attempts: attempts, trace_ids: _ids, ...same } = actFilter(chosen, project, nowMs)
  return {
    ...same,
    ...(project !== undefined && { project }),
    ...(attempts !== undefined && { min_attempts: attempts }),
    ...(chosen.held !== '' && { held: chosen.held === 'true' }),
  }
}

/** Returns the filter of an action without empty values, for another action. */
export const givenOf = (filter: QueueAct['filter']): ActFilter =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== null))
