/** Filters of the trace list: in the address, as parameters of `GET /v1/traces`, and as text of the query bar. */
import type { Destination } from '../wire/api.d.ts'

export const filterNames = [
  ...([
    'q',
    'status',
    'outcome',
    'to',
    'from',
    'destination_id',
    'template',
    'tag',
    'metadata',
    'has',
    'bounce',
    'since',
    'until',
  ] as const),
] as const
export type FilterName = (typeof filterNames)[number]
export type Filters = Readonly<Partial<Record<FilterName, string>>>

/** Valid values of `has:`. */
const features = ['attachment', 'bounce', 'error', 'report', 'retry', 'template', 'tracking', 'unsubscribe']

export const filtersOf = (search: URLSearchParams): Filters =>
  Object.fromEntries(filterNames.flatMap((name) => (search.get(name) ? [[name, search.get(name) ?? '']] : [])))

/** Aliases of filter names. */
const synonyms: Readonly<Record<string, FilterName>> = {
  dest: 'destination_id',
  destination: 'destination_id',
  after: 'since',
  before: 'until',
  subject: 'q',
  meta: 'metadata',
}

const nameOf = (key: string): FilterName | undefined => filterNames.find((name) => name === key) ?? synonyms[key]

export interface Parsed {
  readonly filters: Filters
  readonly unknown: readonly string[]
}

/**
 * Parses terms and free text. A time without a date means today, a destination may be given by name, and `has` extends the previous value.
 */
export function parse(text: string, before: Filters, destinations: readonly Destination[]): Parsed {
  const filters: Partial<Record<FilterName, string>> = {}
  const unknown: string[] = []
  const free: string[] = []
  for (const term of text.match(/\S+:"[^"]*"|\S+/g) ?? []) {
    const [, key = '', value = ''] = /^([a-z_]+):"?([^"]+)"?$/i.exec(term) ?? []
    const name = nameOf(key.toLowerCase())
    if (key === '' || /^https?$/i.test(key)) free.push(term)
    else if (name === 'has' && value.split(',').every((one) => features.includes(one)))
      filters.has = [...new Set([...listOf(filters.has ?? before.has), ...value.split(',')])].join(',')
    else if (name && name !== 'has') filters[name] = valueOf(name, value, destinations)
    else unknown.push(name === 'has' ? term : key)
  }
  if (free.length > 0) filters.q = free.join(' ')
  return { filters, unknown }
}

export const listOf = (text: string | undefined): readonly string[] => (text === undefined || text === '' ? [] : text.split(','))

function valueOf(name: FilterName, value: string, destinations: readonly Destination[]): string {
  if (name === 'destination_id') return destinations.find((one) => one.name.toLowerCase() === value.toLowerCase())?.id ?? value
  if (name !== 'since' && name !== 'until') return value
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec(value) ?? []
  const date = hours === undefined ? new Date(value) : new Date(new Date().setHours(Number(hours), Number(minutes), 0, 0))
  return Number.isNaN(date.getTime()) ? value : date.toISOString()
}
