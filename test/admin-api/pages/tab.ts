/** A browser tab that checks every page: no overflow, no squeezed text, no policy violation, no findings of axe-core, a skip link. */
import type { ExecutionContext } from 'ava'
import { axeFaults, overflows, skipFaults, squeezed, type Browser, type Page } from '../../support/web/browser.ts'

/** Checked pages, so that each module checks a page once. */
const checkedIn = new WeakMap<Browser, Set<string>>()

export interface Tab {
  readonly page: Page
  /** Clicks an element and waits for the resulting page, which must pass all checks. */
  press(selector: string): Promise<void>
  open(address: string): Promise<void>
  /** Signs in with a link. The first owner keeps the name of the organization. */
  signIn(link: string): Promise<void>
}

export interface TabOptions {
  readonly hasScripts?: boolean
  readonly colorScheme?: 'light' | 'dark'
  /** The language that the browser requests. */
  readonly locale?: string
}

export async function openTab(
  t: ExecutionContext,
  browser: Browser,
  { hasScripts = true, colorScheme = 'light', locale = 'en-US' }: TabOptions = {},
): Promise<Tab> {
  const checked = checkedIn.get(browser) ?? new Set()
  checkedIn.set(browser, checked)
  const context = await browser.newContext({ javaScriptEnabled: hasScripts, colorScheme, locale })
  t.teardown(() => context.close())
  const page = await context.newPage()
  const blocked: string[] = []
  page.on('console', (message) => /Content.Security.Policy/i.test(message.text()) && blocked.push(message.text()))
  page.on('pageerror', (error) => blocked.push(String(error)))
  const check = async (): Promise<void> => {
    t.deepEqual(await overflows(page), [], page.url())
    t.deepEqual(await squeezed(page), [], page.url())
    t.deepEqual(blocked, [])
    const view = `${colorScheme} ${await page.title()} ${await page.locator('form').count()}`
    if (!hasScripts || checked.has(view)) return // axe-core needs scripts; without scripts, the content is the same
    checked.add(view)
    t.deepEqual(await axeFaults(page), [])
    t.deepEqual(await skipFaults(page), [])
  }
  const press = async (selector: string): Promise<void> => {
    await Promise.all([page.waitForEvent('load'), page.click(selector)])
    await check()
  }
  const open = async (address: string): Promise<void> => {
    await page.goto(address)
    await check()
  }
  return {
    page,
    press,
    open,
    async signIn(link) {
      await open(link)
      const name = page.locator('#organization')
      if ((await name.count()) > 0) await name.fill('Default')
      await press('main form button')
    },
  }
}

/**
 * Waits until the page and its frames are loaded and drawn, so that their automatic requests have been sent. Chromium's "network idle" is
 * not reliable: the end of a request in an out-of-process frame may never be reported.
 */
export async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('load')
  const twoDrawings = 'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(document.readyState))))'
  if ((await page.evaluate(twoDrawings)) !== 'complete') throw new Error(`${page.url()} is loading again`)
}

/** Returns the title of the page without the name of the product. */
export const titleOf = async ({ page }: Tab): Promise<string> => (await page.title()).replace(/ – Postern$/, '')
