/** Chromium as people use it, driven over its debugging protocol, and axe-core as the check of every page. */
import assert from 'node:assert'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TestFn } from 'ava'
import {
  chromium,
  type Browser as PlaywrightBrowser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  type Frame,
  type Page,
  type Route,
} from 'playwright-core'
import { shareUntilTheEnd, type SharedResource } from '../../suite/process/shared-resources.ts'
import { waitFor } from '../waits.ts'

/** The Debian package `chromium-headless-shell`: the engine without windows, whose drawing costs a third of the processor time. */
const executablePath = '/usr/bin/chromium-headless-shell'
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Websites of tenants have separate hosts.
  '--host-resolver-rules=MAP *.sites.test 127.0.0.1',
  // Pages exist for seconds. Code optimization and small heap steps would cost more than they save.
  '--js-flags=--max-opt=1 --min-semi-space-size=16',
]

/** axe-core in its minified form for browsers. */
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Shorter than the deadline of a test, so that the error names the selector. */
const timeout = 150_000

/** The part of Playwright's browser that tests use. */
export type Browser = Pick<PlaywrightBrowser, 'newContext' | 'newPage'>

/** Starts Chromium; fails the test if the machine has no Chromium. Waits in pages end shortly before the deadline of the test. */
export async function launchBrowser(): Promise<PlaywrightBrowser> {
  const browser = await chromium.launch({ executablePath, args, timeout })
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (options) => {
    const context = await newContext(options)
    context.setDefaultTimeout(timeout)
    return context
  }
  return browser
}

/** The Chromium of a test process. */
class SharedBrowser implements SharedResource {
  #browser: PlaywrightBrowser

  private constructor(browser: PlaywrightBrowser) {
    this.#browser = browser
  }

  static async start(): Promise<SharedBrowser> {
    return new SharedBrowser(await launchBrowser())
  }

  newContext(options?: BrowserContextOptions): Promise<BrowserContext> {
    return this.#browser.newContext(options)
  }

  async renew(): Promise<void> {
    if (!this.#browser.isConnected()) this.#browser = await launchBrowser()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#browser.close()
  }
}

/** Chromium for the tests of a module. All modules of a process share it; the contexts of a module close after its last test. */
export function browserOf(test: TestFn): () => Browser {
  const contexts = new Set<BrowserContext>()
  let shared: SharedBrowser | undefined
  test.before(async () => {
    shared = await shareUntilTheEnd('browser', () => SharedBrowser.start())
  })
  test.after.always(async () => {
    for (const context of contexts) await context.close()
  })
  const newContext = async (options?: BrowserContextOptions): Promise<BrowserContext> => {
    const context = await (shared ?? assert.fail('the tests have not begun')).newContext(options)
    contexts.add(context)
    context.once('close', () => contexts.delete(context))
    return context
  }
  const newPage = async (options?: BrowserContextOptions): Promise<Page> => (await newContext(options)).newPage()
  const browser = { newContext, newPage }
  return () => browser
}

/**
 * Resolves when an expression is true in the page. Playwright's own polling evaluates text inside the page, which strict content security
 * policies forbid.
 */
export const becomesTrue = (page: Page | Frame, expression: string): Promise<unknown> =>
  waitFor(expression, async () => await page.evaluate<unknown>(`Boolean(${expression})`))

/** The widths for checks of every page: a small phone and a desktop. */
export const widths = [320, 1280] as const

/** The rules of axe-core about colours. */
export const rulesOfColours = ['color-contrast', 'link-in-text-block'] as const

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

interface Look {
  readonly at?: readonly number[]
  /** Runs only these rules, by id. */
  readonly rules?: readonly string[]
}

/** Returns all violations that axe-core finds in the page at both widths, one per line; WCAG 2.2 AA and target sizes. */
export async function axeFaults(page: Page, { at = widths, rules }: Look = {}): Promise<string[]> {
  const faults: string[] = []
  for (const width of at) {
    await page.setViewportSize({ width, height: 900 })
    await settle(page)
    faults.push(...(await run(page, rules)).map((fault) => `${width} px, ${new URL(page.url()).pathname}: ${fault}`))
  }
  return faults
}

/**
 * Waits until all visible transitions have ended, since colours in transition have other contrasts. A transition starts in the next frame,
 * and a test's clock may show the page earlier. Invisible transitions, such as in closed details, may never report their end.
 */
async function settle(page: Page): Promise<void> {
  const evaluate = await apart(page)
  await evaluate(`new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() => Promise.allSettled(document.getAnimations()
    .filter(({ effect }) => Number.isFinite(effect.getComputedTiming().endTime) && effect.target?.checkVisibility()).map(({ finished }) => finished))).then(() => 0)`)
}

/** Returns the widths at which the page is wider than the window. */
export async function overflows(page: Page, at: readonly number[] = widths): Promise<number[]> {
  const session = await debugging(page)
  const wide: number[] = []
  for (const width of at) {
    await page.setViewportSize({ width, height: 900 })
    const { cssContentSize } = await session.send('Page.getLayoutMetrics')
    if (cssContentSize.width > width) wide.push(width)
  }
  return wide
}

/** Returns words that are squeezed at the smaller width: in a column so narrow that letters are below each other. */
export async function squeezed(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: widths[0], height: 900 })
  return page.evaluate(`[...document.querySelectorAll('h1, h2, h3, p, dd, li, a, button')]
    .filter((one) => one.textContent.trim().length >= 7 && !one.closest('.hidden, .skip'))
    .filter((one) => { const { width, height } = one.getBoundingClientRect(); return height > 0 && width < 64 && height > 2 * width })
    .map((one) => one.outerHTML.slice(0, 120))`)
}

const sessions = new WeakMap<Page, Promise<CDPSession>>()

/** One session for each page, kept while the page exists: an authenticator ends with its session. */
function debugging(page: Page): Promise<CDPSession> {
  const session = sessions.get(page) ?? page.context().newCDPSession(page)
  sessions.set(page, session)
  return session
}

/** Evaluates in an isolated world of the debugging protocol, which no page's policy binds and no test's clock reaches. */
async function apart(page: Page): Promise<(expression: string) => Promise<unknown>> {
  const session = await debugging(page)
  const { frameTree } = await session.send('Page.getFrameTree')
  // The world of that name exists as long as the document.
  const world = { frameId: frameTree.frame.id, worldName: 'axe' }
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', world)
  return async (expression) => {
    const asked = { expression, contextId, awaitPromise: true, returnByValue: true }
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', asked)
    if (exceptionDetails) throw new Error(`failed in the page: ${JSON.stringify(exceptionDetails)}`)
    return result.value
  }
}

/** Needs scripts enabled in the tab. */
async function run(page: Page, rules?: readonly string[]): Promise<string[]> {
  const evaluate = await apart(page)
  if ((await evaluate('typeof axe')) === 'undefined') await evaluate(`${axe}; 0`)
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  const wanted = rules ? { runOnly: { type: 'rule', values: rules } } : { runOnly: tags, rules: { 'target-size': { enabled: true } } }
  // Omits passed rules, and does not wait for frames, which do not contain axe-core.
  const asked = { ...wanted, resultTypes: ['violations'], selectors: false, iframes: false }
  const found = await evaluate(`axe.run(document, ${JSON.stringify(asked)}).then(({ violations }) => JSON.stringify(violations))`)
  return (JSON.parse(String(found)) as Violation[]).map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary ?? ''}`).join(' | ')}`,
  )
}

/** Adds an authenticator that answers automatically, like a phone whose owner agrees. */
export async function addAuthenticator(page: Page): Promise<void> {
  const session = await debugging(page)
  await session.send('WebAuthn.enable')
  const options = {
    ...({ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true } as const),
    ...{ isUserVerified: true, automaticPresenceSimulation: true },
  }
  await session.send('WebAuthn.addVirtualAuthenticator', { options })
}

export type { BrowserContext, Page, Route }

/** Disables passkey autofill, which an automatic authenticator would answer immediately. */
export const withoutAutofill = (page: Page): Promise<unknown> =>
  page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false')

/**
 * Presses Tab, Enter and Tab at the top of a page, and returns faults of its skip link: after Enter the focus is on `main`, and after
 * Tab in it. A page without controls in `main` has no second stop. Then restores the address.
 */
export async function skipFaults(page: Page): Promise<string[]> {
  const at = (): Promise<string> =>
    page.evaluate(
      `((one, main) => one === main ? 'main' : main.contains(one) ? 'inside' : one.outerHTML.slice(0, 100))(document.activeElement, document.querySelector('main'))`,
    )
  const before = page.url()
  // without it, Tab would continue from the last focused element
  await page.evaluate(
    `document.body.prepend(Object.assign(document.createElement('button'), { id: 'top' })); document.getElementById('top').focus()`,
  )
  await page.keyboard.press('Tab')
  const first = await at()
  await page.evaluate(`document.getElementById('top').remove()`)
  await page.keyboard.press('Enter')
  const landed = await at()
  await page.keyboard.press('Tab')
  const after = await at()
  const hasControls =
    await page.evaluate(`[...document.querySelectorAll('main :is(a[href], button, input, select, textarea, summary, [tabindex="0"])')]
    .some((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ visibilityProperty: true }))`)
  await page.evaluate(`document.activeElement?.blur(); history.replaceState(history.state, '', ${JSON.stringify(before)})`)
  return [
    ...(landed === 'main' ? [] : [`${before}: Tab reaches ${first}, and Enter leads to ${landed}`]),
    ...(after === 'inside' || hasControls !== true ? [] : [`${before}: Tab after the skip link leads to ${after}`]),
  ]
}
