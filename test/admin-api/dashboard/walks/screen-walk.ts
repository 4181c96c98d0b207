/** Goes to every screen that links lead to, each kind of address once, so that a new screen is walked by being there. */
import type { Page } from '../../../support/web/browser.ts'

/** Addresses under one kind look alike. */
export interface Place {
  readonly kind: string
  readonly path: string
}

const isId = (part: string): boolean => /^(?:[a-z]{2,4}_[0-9a-z]{8,}|[0-9a-f]{8}-[0-9a-f-]{27})$/.test(part)

/** Parameters that show something else; of others, such as filters, a screen shows more or fewer rows. */
const opening = new Set(['new', 'edit', 'do', 'tab', 'kind', 'what', 'organization'])

export function kindOf(address: string): string {
  const { pathname, searchParams } = new URL(address, 'http://localhost')
  const path = pathname
    .split('/')
    .map((part) => (isId(part) ? '{id}' : part))
    .join('/')
    .replace(/^\/docs\/api\/\w+$/, '/docs/api/{id}')
  const shown = [...searchParams].filter(([name]) => opening.has(name)).map(([name, value]) => ` ${name}=${isId(value) ? '{id}' : value}`)
  return path + shown.toSorted((a, b) => a.localeCompare(b)).join('')
}

/** Shows another address without loading the page anew, as links do. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate')); 0`)
  await page.waitForSelector('main h1')
}

/** Waits until it shows what it reads, too. */
export async function show(page: Page, path: string): Promise<void> {
  await goTo(page, path)
  await settled(page)
}

/** Nothing loads any more. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector('main h1')
  await page.waitForSelector('.loading', { state: 'detached' })
}

/** Of all links to screens, also those that stand there for narrow windows alone. */
const linksOf = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('#app a[href^="/"]')].map((a) => a.getAttribute('href'))`)

/** Where a walk begins; to the profile leads the menu of the account. */
const beginnings = ['/', '/profile']

/** Calls `visit` at each place, on several pages at once where there are several; `isScreen` says which paths the dashboard has. */
export async function walk(
  pages: Page | readonly Page[],
  isScreen: (path: string) => boolean,
  visit: (place: Place, page: Page) => Promise<void>,
): Promise<readonly Place[]> {
  const known = new Set<string>()
  const done: Place[] = []
  const unknown = (links: readonly string[]): Place[] =>
    links
      .map((path) => ({ kind: kindOf(path), path }))
      .filter(({ kind, path }) => isScreen(new URL(path, 'http://localhost').pathname) && !known.has(kind) && known.add(kind))
  for (let next = unknown(beginnings); next.length > 0;) {
    const [level, found] = [next.values(), [] as Place[]]
    const visitOn = async (page: Page): Promise<void> => {
      for (const place of level) {
        await show(page, place.path)
        found.push(...unknown(await linksOf(page)))
        await visit(place, page)
        done.push(place)
      }
    }
    await Promise.all([pages].flat().map(visitOn))
    next = found
  }
  return done
}
