/** Starts a daemon with the dashboard built from these sources, and opens browser tabs for the owner of the organization. */
import type { ExecutionContext } from 'ava'
import type { Replacements } from '../../../daemon/composition/parts.ts'
import { systemClock } from '#core/clock.ts'
import { operatorLink } from '#core/people/sign-in/operator-link.ts'
import { startDaemon, type StartedDaemon } from '../../support/daemon/start-daemon.ts'
import { programPort } from '../../support/network/program-port.ts'
import { builtDashboard } from '../../support/web/built.ts'
import { axeFaults, overflows, rulesOfColours, widths, type Browser, type Page } from '../../support/web/browser.ts'

export const inboundDomain = 'bounces.alpenblick.example'

export interface DashboardServer {
  readonly daemon: StartedDaemon
  /** Base URL without a trailing slash. */
  readonly url: string
  /** Opens a tab on the start screen, signed in as the owner. */
  open(options?: TabOptions): Promise<DashboardTab>
  /** Opens a tab of an anonymous visitor. */
  visit(path: string): Promise<DashboardTab>
  /** Returns a sign-in link for the address. */
  signInLink(email: string): Promise<string>
}

export interface TabOptions {
  /** `both` renders in light mode and also checks dark mode. */
  readonly colorScheme?: 'light' | 'dark' | 'both'
  readonly locale?: string
  /** Sign-in link of another user than the owner. */
  readonly link?: string
}

export interface DashboardTab {
  readonly page: Page
  /** Opens a screen and waits until its data has loaded. */
  go(path: string): Promise<void>
  /** Waits until no content is loading. */
  ready(): Promise<void>
  /** Types into the control with this label. */
  fill(label: string, value: string): Promise<void>
  /** Collected problems: violations of the content security policy, exceptions, console errors, and requests to other hosts. */
  readonly faults: readonly string[]
  /** Collected error responses of the service. */
  readonly refusals: readonly string[]
  /**
   * Asserts that there are no faults, no cut tabs or filters, and no findings by axe-core or at any width. In the other theme, it checks
   * only colors.
   */
  check(t: ExecutionContext): Promise<void>
}

export async function startDashboard(
  t: ExecutionContext,
  browser: () => Browser,
  settings: Readonly<Record<string, string>> = {},
  replacements: Pick<Replacements, 'resolver' | 'trusted'> = {},
): Promise<DashboardServer> {
  await builtDashboard()
  const port = await programPort()
  const url = `http://localhost:${String(port)}`
  const daemon = await startDaemon(t, {
    env: {
      POSTERN_HTTP_LISTEN: `localhost:${String(port)}`,
      POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.0/8;webhooks=127.0.0.0/8',
      POSTERN_INBOUND_DOMAIN: inboundDomain,
      ...settings,
    },
    replacements: { clock: systemClock, ...replacements },
  })
  const { database } = daemon
  const clock = { now: () => Date.now() }
  const signInLink = async (email: string): Promise<string> => url + (await operatorLink(database, clock as never, email))
  return {
    daemon,
    url,
    signInLink,
    async visit(path) {
      const context = await browser().newContext({ locale: 'en-GB', viewport: { width: 1440, height: 900 } })
      t.teardown(() => context.close())
      const tab = watched(await context.newPage(), url)
      await tab.go(path)
      return tab
    },
    async open({ colorScheme = 'light', locale = 'en-GB', link } = {}) {
      const context = await browser().newContext({
        colorScheme: colorScheme === 'both' ? 'light' : colorScheme,
        locale,
        viewport: { width: 1440, height: 900 },
        timezoneId: 'Europe/Zurich',
      })
      t.teardown(() => context.close())
      const signedIn = await context.request.post(link ?? (await signInLink('olga@alpenblick.example')), {
        headers: { origin: url, 'content-type': 'application/x-www-form-urlencoded' },
        maxRedirects: 0,
      })
      if (signedIn.status() !== 303) throw new Error(`signing in: ${String(signedIn.status())}`)
      const page = await context.newPage()
      const tab = watched(page, url, colorScheme === 'both')
      await page.goto(url)
      await page.waitForSelector('.shell')
      return tab
    },
  }
}

function watched(page: Page, url: string, isInBothThemes = false): DashboardTab {
  const [faults, refusals]: [string[], string[]] = [[], []]
  page.on('console', (message) => {
    const isOfRefusal = message.text().startsWith('Failed to load resource')
    if ((message.type() === 'error' && !isOfRefusal) || /Content.Security.Policy|TrustedHTML/i.test(message.text()))
      faults.push(message.text())
  })
  page.on('response', (response) => {
    if (response.status() >= 400) refusals.push(`${String(response.status())} ${response.url()}`)
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('request', (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(`${url}/`)) faults.push(`asked ${request.url()}`)
  })
  const ready = async (): Promise<void> => {
    await page.waitForSelector('main h1')
    await page.waitForSelector('.loading', { state: 'detached' })
  }
  return {
    ...{ page, ready, faults, refusals },
    async go(path) {
      await page.goto(url + path)
      await ready()
    },
    fill: (label, value) => page.getByLabel(label, { exact: true }).fill(value),
    async check(t) {
      for (const width of widths) {
        t.deepEqual(await overflows(page, [width]), [], page.url())
        t.deepEqual(await axeFaults(page, { at: [width] }), [])
        if (isInBothThemes) t.deepEqual(await coloursInTheDark(page, width), [])
      }
      t.deepEqual(faults, [])
      await page.setViewportSize({ width: 1440, height: 900 })
      t.deepEqual(await cutTabs(page), [], page.url())
    },
  }
}

/** Returns the color findings of axe-core in dark mode, and switches back to light mode. */
async function coloursInTheDark(page: Page, width: number): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' })
  const faults = await axeFaults(page, { at: [width], rules: rulesOfColours })
  await page.emulateMedia({ colorScheme: 'light' })
  return faults.map((fault) => `dark: ${fault}`)
}

/** Returns tabs and filters outside of their list, where they would be invisible. */
const cutTabs = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('[role=tab], .pills button')]
    .filter((tab) => tab.getBoundingClientRect().right > tab.parentElement.getBoundingClientRect().right)
    .map((tab) => tab.textContent)`)
