/** Visits every linked screen, one address per kind. New screens are included without changes. */
import type { Page } from '../../../support/web/browser.ts'

/** A linked address. Addresses of the same kind show similar content. */
export interface Place {
  readonly kind: string
  readonly path: string
}

const isId = (part: string): boolean => /^(?:[a-z]{2,4}_[0-9a-z]{8,}|[0-9a-f]{8}-[0-9a-f-]{27})$/.test(part)

/** Query parameters that change the content. Others, such as filters, only change the rows. */
const opening = new Set(['new', 'edit', 'do', 'tab', 'kind', 'what', 'organization'])

export function kindOf(address: string): string {
  const { pathname, searchParams } = new URL(address, 'http://localhost')
  const path = pathname
    .split('/')
    .map((part) => (isId(part) ? '{id}' : part))
    .join('/')
    .replace(/^\/docs\/api\/\w+$/, '/docs/api/{id}')
    .replace(/^\/destinations\/new\/[\w-]+$/, '/destinations/new/{id}')
    .replace(/\/go-live\/[\w-]+$/, '/go-live/{id}')
  const shown = [...searchParams].filter(([name]) => opening.has(name)).map(([name, value]) => ` ${name}=${isId(value) ? '{id}' : value}`)
  return path + shown.toSorted((a, b) => a.localeCompare(b)).join('')
}

/** Opens another address without a page load, as links do. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate')); 0`)
  await page.waitForSelector('main h1')
}

/** Opens an address and waits until its data has loaded. */
export async function show(page: Page, path: string): Promise<void> {
  await goTo(page, path)
  await settled(page)
}

/** Waits until no content is loading. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector('main h1')
  await page.waitForSelector('.loading', { state: 'detached' })
}

/** Returns all links to screens, including links for narrow windows. */
const linksOf = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('#app a[href^="/"]')].map((a) => a.getAttribute('href'))`)

/** Starting points of a walk. Only the documentation, which is not part of the dashboard, links to the API reference. */
const beginnings = ['/', '/docs/api']

/** Calls `visit` at each place, in parallel with several pages. `isScreen` tells dashboard paths from others. */
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
