/** Filters under a name, kept in this browser for each organization; to share one, its address is enough. */
import { signal } from '@preact/signals'
import { organization } from '../app/location.ts'

export interface SavedView {
  readonly name: string
  /** The query of the address. */
  readonly query: string
}

export const maxViews = 20
const keyOf = (): string => `postern.trace-views.${organization.value?.id ?? ''}`

const isView = (value: unknown): value is SavedView =>
  typeof value === 'object' && value !== null && 'name' in value && 'query' in value && typeof value.query === 'string'

function stored(): readonly SavedView[] {
  try {
    const views: unknown = JSON.parse(localStorage.getItem(keyOf()) ?? '[]')
    return Array.isArray(views) ? views.filter(isView).map(({ name, query }) => ({ name: String(name), query })) : []
  } catch {
    return []
  }
}

/** Those of each organization that was looked at. */
const known = signal<ReadonlyMap<string, readonly SavedView[]>>(new Map())

export const savedViews = (): readonly SavedView[] => known.value.get(keyOf()) ?? stored()

function keep(views: readonly SavedView[]): void {
  known.value = new Map([...known.value, [keyOf(), views]])
  try {
    localStorage.setItem(keyOf(), JSON.stringify(views))
  } catch {
    // a browser without storage forgets when the window closes
  }
}

/** One of the same name is replaced. */
export const saveView = (view: SavedView): void => keep([...savedViews().filter(({ name }) => name !== view.name), view].slice(-maxViews))

export const removeView = (name: string): void => keep(savedViews().filter((view) => view.name !== name))
