/** Where the browser is: path and query as signals, and going elsewhere without loading the page anew. */
import { computed, signal } from '@preact/signals'
import { boot, type OwnOrganization } from './boot.ts'

const here = signal(new URL(location.href))

/** Path and query of the screen. */
export const address = computed(() => here.value)
export const path = computed(() => here.value.pathname)
export const query = computed(() => here.value.searchParams)

/** Those of the user, as they are called now. */
export const organizations = signal(boot.organizations)

/** The organization that the address names, or the first one; undefined for one that the user does not belong to. */
export const organization = computed((): OwnOrganization | undefined => {
  const named = query.value.get('org')
  return named === null ? organizations.value[0] : organizations.value.find(({ id }) => id === named)
})

/** The project that lists are limited to; undefined is the whole organization. */
export const projectId = computed(() => query.value.get('project') ?? undefined)

/** How many parts of the screen hold what cannot be had again. */
let holds = 0

/** Keeps the screen: going back stays here, and the browser asks before the page is left or loaded anew. The answer ends that. */
export function holdHere(): () => void {
  holds++
  addEventListener('beforeunload', askFirst)
  return () => {
    if (--holds === 0) removeEventListener('beforeunload', askFirst)
  }
}

const askFirst = (event: Event): void => event.preventDefault()

addEventListener('popstate', () => {
  if (holds > 0) history.pushState(null, '', here.value)
  else here.value = new URL(location.href)
})

export interface Going {
  /** In place of the current entry of the history. */
  readonly replaces?: boolean
}

export function go(to: string, { replaces = false }: Going = {}): void {
  const next = new URL(to, location.href)
  if (next.href === location.href) return
  history[replaces ? 'replaceState' : 'pushState'](null, '', next)
  const isOther = next.pathname !== here.value.pathname
  here.value = next
  if (isOther) document.querySelector('.sheet')?.scrollTo(0, 0)
}

/** An address of the dashboard in the same organization and project, with a query of its own. */
export function link(to: string, own: Readonly<Record<string, string | undefined>> = {}): string {
  const search = new URLSearchParams()
  if (organizations.value.length > 1 && organization.value) search.set('org', organization.value.id)
  if (projectId.value !== undefined) search.set('project', projectId.value)
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined || value === '') search.delete(name)
    else search.set(name, value)
  }
  return search.size === 0 ? to : `${to}?${search.toString()}`
}

/** The address of this screen with some of its query changed; empty values go. */
export function linkHere(changes: Readonly<Record<string, string | undefined>>): string {
  const search = new URLSearchParams(query.value)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') search.delete(name)
    else search.set(name, value)
  }
  return search.size === 0 ? path.value : `${path.value}?${search.toString()}`
}

/** Takes over plain clicks on links that stay in the dashboard. */
export function followLinks(isOurs: (path: string) => boolean): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const anchor = event.target instanceof Element ? event.target.closest('a') : null
    if (!anchor || anchor.target || anchor.hasAttribute('download') || anchor.origin !== location.origin) return
    if (!isOurs(anchor.pathname)) return
    event.preventDefault()
    go(anchor.href)
  })
}
