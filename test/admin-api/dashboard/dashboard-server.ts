/** A daemon with its dashboard, built from these sources, and a browser whose user owns the organization. */
import type { ExecutionContext } from 'ava'
import { systemClock } from '#core/clock.ts'
import { operatorLink } from '#core/people/sign-in/operator-link.ts'
import { startDaemon, type StartedDaemon } from '../../support/daemon/start-daemon.ts'
import { programPort } from '../../support/network/program-port.ts'
import { builtDashboard } from '../../support/web/built.ts'
import { axeFaults, overflows, rulesOfColours, widths, type Browser, type Page } from '../../support/web/browser.ts'

export const inboundDomain = 'bounces.alpenblick.example'

export interface DashboardServer {
  readonly daemon: StartedDaemon
  /** Without a slash at the end. */
  readonly url: string
  /** A tab of the owner, at the start. */
  open(options?: TabOptions): Promise<DashboardTab>
  /** A tab of a visitor who is not signed in. */
  visit(path: string): Promise<DashboardTab>
  /** A link by which somebody signs in. */
  signInLink(email: string): Promise<string>
}

export interface TabOptions {
  /** `both` is light, and looked at in the dark, too. */
  readonly colorScheme?: 'light' | 'dark' | 'both'
  readonly locale?: string
  /** Signs in by this link in place of the owner's. */
  readonly link?: string
}

export interface DashboardTab {
  readonly page: Page
  /** Opens a screen and waits until it shows what it reads. */
  go(path: string): Promise<void>
  /** Waits until nothing is loading. */
  ready(): Promise<void>
  /** Types into the control with this label. */
  fill(label: string, value: string): Promise<void>
  /** What went wrong so far: the policy was not kept, something threw or was written as an error, or others were asked. */
  readonly faults: readonly string[]
  /** What the service refused so far. */
  readonly refusals: readonly string[]
  /**
   * The policy was kept, nothing threw, nothing was asked of others, no tab and no filter is cut, and axe-core and the widths find nothing.
   * The same page in the other theme is asked for its colours alone.
   */
  check(t: ExecutionContext): Promise<void>
}

export async function startDashboard(
  t: ExecutionContext,
  browser: () => Browser,
  settings: Readonly<Record<string, string>> = {},
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
    replacements: { clock: systemClock },
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

/** What axe-core finds wrong with the colours of a page that is light otherwise. */
async function coloursInTheDark(page: Page, width: number): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'dark' })
  const faults = await axeFaults(page, { at: [width], rules: rulesOfColours })
  await page.emulateMedia({ colorScheme: 'light' })
  return faults.map((fault) => `dark: ${fault}`)
}

/** Tabs and filters that lie beyond their list, where nothing shows that there is more. */
const cutTabs = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('[role=tab], .pills button')]
    .filter((tab) => tab.getBoundingClientRect().right > tab.parentElement.getBoundingClientRect().right)
    .map((tab) => tab.textContent)`)
