/** The current address as signals (path and query), and navigation without a page load. */
import { computed, signal } from '@preact/signals'
import { currentAddress } from '../../moved.ts'
import { boot, type OwnOrganization } from './boot.ts'

/** Returns the URL, or the current one if a screen moved. */
function current(url: URL): URL {
  const now = currentAddress(url.pathname, url.searchParams)
  return now === undefined ? url : new URL(now + url.hash, url)
}

const here = signal(new URL(location.href))

/** URL of the current screen. */
export const address = computed(() => here.value)
export const path = computed(() => here.value.pathname)
export const query = computed(() => here.value.searchParams)

/** Organizations of the user, with their current names. */
export const organizations = signal(boot.organizations)

/** The organization of the address, by default the first one. Undefined if the user is not a member of it. */
export const organization = computed((): OwnOrganization | undefined => {
  const named = query.value.get('org')
  return named === null ? organizations.value[0] : organizations.value.find(({ id }) => id === named)
})

/** The project that lists are limited to. Undefined for the whole organization. */
export const projectId = computed(() => query.value.get('project') ?? undefined)

/** Number of components with unsaved content. */
let holds = 0

/** Blocks leaving the screen: Back has no effect, and the browser asks for confirmation. Returns a function that ends the block. */
export function holdHere(): () => void {
  holds++
  addEventListener('beforeunload', askFirst)
  return () => {
    if (--holds === 0) removeEventListener('beforeunload', askFirst)
  }
}

const askFirst = (event: Event): void => event.preventDefault()

/** Returns whether the address differs from the current one only by its fragment. */
const isHere = ({ pathname, search }: Pick<URL, 'pathname' | 'search'>): boolean =>
  pathname === here.value.pathname && search === here.value.search

addEventListener('popstate', () => {
  if (isHere(location)) return
  if (holds > 0) return history.pushState(null, '', here.value)
  const next = current(new URL(location.href))
  if (next.href !== location.href) history.replaceState(null, '', next)
  here.value = next
})

export interface Going {
  readonly replaces?: boolean
}

export function go(to: string, { replaces = false }: Going = {}): void {
  const next = current(new URL(to, location.href))
  if (next.href === location.href) return
  history[replaces ? 'replaceState' : 'pushState'](null, '', next)
  const isOther = next.pathname !== here.value.pathname
  here.value = next
  if (isOther) document.querySelector('.sheet')?.scrollTo(0, 0)
}

/** Returns a dashboard URL with the current organization and project and the given query parameters. */
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

/** Returns the URL of this screen with changed query parameters. Empty values remove a parameter. */
export function linkHere(changes: Readonly<Record<string, string | undefined>>): string {
  const search = new URLSearchParams(query.value)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') search.delete(name)
    else search.set(name, value)
  }
  return search.size === 0 ? path.value : `${path.value}?${search.toString()}`
}

/** Handles plain clicks on links within the dashboard without a page load. The browser handles links to a part of the current screen. */
export function followLinks(isOurs: (path: string) => boolean): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const anchor = event.target instanceof Element ? event.target.closest('a') : null
    if (!anchor || anchor.target || anchor.hasAttribute('download') || anchor.origin !== location.origin) return
    const next = current(new URL(anchor.href))
    if (!isOurs(next.pathname) || (next.hash !== '' && isHere(next))) return
    event.preventDefault()
    go(anchor.href)
  })
}
