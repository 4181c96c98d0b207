/** Named filters, stored in this browser per organization. Their URL shares them. */
import { signal } from '@preact/signals'
import { organization } from '../app/location.ts'

export interface SavedView {
  readonly name: string
  /** Query string of the address. */
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

/** Loaded views by organization. */
const known = signal<ReadonlyMap<string, readonly SavedView[]>>(new Map())

export const savedViews = (): readonly SavedView[] => known.value.get(keyOf()) ?? stored()

function keep(views: readonly SavedView[]): void {
  known.value = new Map([...known.value, [keyOf(), views]])
  try {
    localStorage.setItem(keyOf(), JSON.stringify(views))
  } catch {
    // without storage, the views last until the window closes
  }
}

/** Replaces a view with the same name. */
export const saveView = (view: SavedView): void => keep([...savedViews().filter(({ name }) => name !== view.name), view].slice(-maxViews))

export const removeView = (name: string): void => keep(savedViews().filter((view) => view.name !== name))
