/** A tab of a browser in which every page is checked: nothing overflows or is squeezed, no policy is broken, axe-core finds nothing. */
import type { ExecutionContext } from 'ava'
import { axeFaults, overflows, squeezed, type Browser, type Page } from '../../support/web/browser.ts'

/** Pages that a module has checked, so that it checks each page once. */
const checkedIn = new WeakMap<Browser, Set<string>>()

export interface Tab {
  readonly page: Page
  /** Presses something and waits for the page it leads to, which must have nothing wrong with it. */
  press(selector: string): Promise<void>
  open(address: string): Promise<void>
}

export interface TabOptions {
  readonly hasScripts?: boolean
  readonly colorScheme?: 'light' | 'dark'
  /** The language that the browser asks for. */
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
    if (!hasScripts || checked.has(view)) return // axe-core needs scripts; what it sees is the same without
    checked.add(view)
    t.deepEqual(await axeFaults(page), [])
  }
  return {
    page,
    async press(selector) {
      await Promise.all([page.waitForEvent('load'), page.click(selector)])
      await check()
    },
    async open(address) {
      await page.goto(address)
      await check()
    },
  }
}

/**
 * Everything that the page and its frames load has been loaded and drawn, so what they ask for by themselves has been asked for.
 * (Chromium's "network idle" is not to be waited for: a request of a frame in a process of its own may never be reported as ended.)
 */
export async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('load')
  const twoDrawings = 'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(document.readyState))))'
  if ((await page.evaluate(twoDrawings)) !== 'complete') throw new Error(`${page.url()} is loading again`)
}

/** The title of the page, without the name of the product. */
export const titleOf = async ({ page }: Tab): Promise<string> => (await page.title()).replace(/ – Postern$/, '')
