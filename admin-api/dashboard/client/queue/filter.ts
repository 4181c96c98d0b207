/** What the screen of the queue is narrowed to: in the address, as a list takes it, and as an act does. */
import { linkHere, query } from '../app/location.ts'
import type { InputOf } from '../wire/operation.ts'
import type { createQueueAct, createQueueHold, Destination, listQueuedMessages, QueueAct } from '../wire/operations.ts'

export type ActFilter = InputOf<typeof createQueueAct>['body']['filter']
export type HoldFilter = InputOf<typeof createQueueHold>['body']['filter']
export type ActBody = InputOf<typeof createQueueAct>['body']
export type HoldBody = InputOf<typeof createQueueHold>['body']
export type ActName = QueueAct['act']
export type ListQuery = NonNullable<InputOf<typeof listQueuedMessages>['query']>

export const actNames: readonly ActName[] = ['hold', 'release', 'expedite', 'drop']

/** As far as it is known which destinations there are. */
export type NamedDestination = Pick<Destination, 'id' | 'name'>

const minute = 60_000
const ages = { '': 0, '15m': 15 * minute, '1h': 60 * minute, '6h': 360 * minute, '24h': 1440 * minute } as const
export type Age = keyof typeof ages
export const ageNames = Object.keys(ages) as Age[]

const filterNames = ['of_project', 'destination', 'to_domain', 'from', 'age', 'attempts', 'held_by'] as const
type FilterName = (typeof filterNames)[number]

/** Each is in the address; `of_project` is the operator's, to whom the chosen project is one of his own organization. */
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

/** `nowMs` stays the same while the filter does, so that it is read once. */
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

/** Of what the screen shows, what can be known of mail to come. */
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
    ...(attempts !== undefined && { min_attempts: String(attempts) }),
    ...(chosen.held !== '' && { held: chosen.held as 'true' | 'false' }),
  }
}

/** Of an act, without what is not there, as another act takes it. */
export const givenOf = (filter: QueueAct['filter']): ActFilter =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== null))
