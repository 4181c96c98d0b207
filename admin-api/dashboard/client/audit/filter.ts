/** Filters of the log: read from the address, and converted to API parameters. */
import { query } from '../app/location.ts'

export const filterNames = ['act', 'actor', 'target', 'since', 'until'] as const
export type FilterName = (typeof filterNames)[number]
export type Filter = Readonly<Record<FilterName, string>>

const dayMs = 86_400_000
const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

export const filterHere = (): Filter =>
  Object.fromEntries(
    filterNames.map((name) => {
      const text = query.value.get(name) ?? ''
      return [name, (name === 'since' || name === 'until') && !isDay(text) ? '' : text]
    }),
  ) as Record<FilterName, string>

/** Includes the whole last day. */
export const asQuery = ({ since, until, ...rest }: Filter): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(Object.entries(rest).filter(([, text]) => text !== '')),
  ...(since !== '' && { since: `${since}T00:00:00.000Z` }),
  ...(until !== '' && { until: new Date(Date.parse(until) + dayMs).toISOString() }),
})

export const isFiltered = (filter: Filter): boolean => filterNames.some((name) => filter[name] !== '')
