/**
 * Section "dashboard": time until a screen is usable in a browser with an empty cache, and scrolling of a long list in a store full of
 * traces. The browser is Chromium on the same machine.
 */
import { Daemon } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { programPort } from '../../support/network/program-port.ts'
import { launchBrowser, type Browser, type BrowserContext, type Page } from '../../support/web/browser.ts'
import { contender, posternOptions, provision } from '../contenders.ts'
import { percentile } from '../load/load-job.ts'
import type { BenchOptions } from '../options.ts'
import { judge, row, type Section } from '../results.ts'
import { accept, pipelined } from './intake.ts'

const fillSeconds = 1800
const starts = 10
/** Number of list rows to load before scrolling. */
const mostRows = 2000
const email = 'olga@alpenblick.example'
/** Goal: a screen is usable within one second. */
const mostStartMs = 1000
/** Users notice a longer frame as a stall. */
const mostFrameMs = 100

const screens = [
  ['overview', '/', '.shell main h2'],
  ['traces', '/traces', 'main tbody tr'],
  ['captures', '/captures', '.message-list a'],
] as const

export async function measureDashboard({ stored }: BenchOptions): Promise<Section> {
  await using folder = await temporaryFolder('bench-dashboard')
  const port = await programPort()
  const usual = posternOptions(folder.path, { POSTERN_HTTP_LISTEN: `localhost:${String(port)}` })
  await using daemon = await Daemon.start(usual)
  const login = await provision(daemon, 25, 'sandbox')
  const subject = { ...contender(daemon, login), [Symbol.asyncDispose]: () => Promise.resolve() }
  const traces = Math.max(...stored, 0)
  await accept(subject, { ...pipelined, size: 1024 }, traces, fillSeconds)
  const url = `http://localhost:${String(port)}`
  const [link = ''] = /http:\/\/localhost:\d+\/sign-in\/link\/[\w-]{43}/.exec(daemon.log) ?? []
  const browser = await launchBrowser()
  try {
    const cookies = await signIn(browser, link)
    const took = []
    for (const [name, path, shown] of screens) took.push({ name, ms: await coldStarts(browser, cookies, url + path, shown) })
    const { rows, frames } = await scroll(browser, cookies, `${url}/traces`, Math.min(mostRows, traces))
    const longest = Math.max(...frames)
    return {
      name: 'dashboard',
      lines: [
        `In a browser without anything of it, ${String(starts)} times each, with ${traces.toLocaleString('en')} traces stored:`,
        row('', ['p50 ms', 'most ms']),
        ...took.map(({ name, ms }) => row(name, [percentile([...ms], 0.5), Math.max(...ms)])),
        `Frames while ${rows.toLocaleString('en')} rows are scrolled from one end to the other:`,
        row('', ['p50 ms', 'p99 ms', 'most ms']),
        row('traces', [percentile([...frames], 0.5), percentile([...frames], 0.99), longest]),
      ],
      verdicts: [
        ...took.map(({ name, ms }) =>
          judge(`${name} can be used after a cold start: p50 <= 1 s`, percentile([...ms], 0.5), '<=', mostStartMs, 'ms'),
        ),
        judge(
          `traces scroll without a stall at ${rows.toLocaleString('en')} rows: a frame <= ${String(mostFrameMs)} ms`,
          longest,
          '<=',
          mostFrameMs,
          'ms',
        ),
      ],
      data: { traces, took, rows, frames },
    }
  } finally {
    await browser.close()
  }
}

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>

async function signIn(browser: Browser, link: string): Promise<Cookies> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(link)
  await page.fill('input[type=email]', email)
  await page.fill('#organization', 'Bench')
  await page.click('main >> text=Sign in >> visible=true >> nth=-1')
  await page.waitForSelector('.shell')
  const cookies = await context.cookies()
  await context.close()
  return cookies
}

async function openPage(browser: Browser, cookies: Cookies): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await context.addCookies(cookies)
  return context.newPage()
}

/** Milliseconds from the navigation until the screen has its data and the browser can handle a click. */
async function coldStarts(browser: Browser, cookies: Cookies, url: string, shown: string): Promise<readonly number[]> {
  const took: number[] = []
  for (let i = 0; i < starts; i++) {
    const page = await openPage(browser, cookies)
    await page.goto(url, { waitUntil: 'commit' })
    await page.waitForSelector(shown)
    took.push(await page.evaluate<number>('new Promise((idle) => requestIdleCallback(() => idle(performance.now())))'))
    await page.context().close()
  }
  return took
}

/** Loads this number of rows and scrolls through them. Returns the time between frames. */
async function scroll(
  browser: Browser,
  cookies: Cookies,
  url: string,
  wanted: number,
): Promise<{ readonly rows: number; readonly frames: readonly number[] }> {
  const page = await openPage(browser, cookies)
  await page.goto(url)
  await page.waitForSelector('main tbody tr')
  const rows = await page.evaluate<number>(`new Promise((done) => {
    const sheet = document.querySelector('.sheet')
    const go = () => {
      const loaded = Number(document.querySelector('table.traces').getAttribute('aria-rowcount')) - 1
      if (loaded >= ${String(wanted)}) return done(loaded)
      sheet.scrollTop = sheet.scrollHeight
      setTimeout(go, 10)
    }
    go()
  })`)
  await page.evaluate(`document.querySelector('.sheet').scrollTop = 0`)
  const frames = await page.evaluate<number[]>(`new Promise((done) => {
    const sheet = [...document.querySelectorAll('main *')].find((one) => one.scrollHeight > one.clientHeight + 500 && /auto|scroll/.test(getComputedStyle(one).overflowY))
      ?? document.scrollingElement
    const frames = []
    let before = performance.now()
    const next = (now) => {
      frames.push(now - before)
      before = now
      sheet.scrollTop += 400
      if (sheet.scrollTop + sheet.clientHeight >= sheet.scrollHeight - 1 || frames.length > 2000) return done(frames.slice(1))
      requestAnimationFrame(next)
    }
    requestAnimationFrame(next)
  })`)
  await page.context().close()
  return { rows, frames }
}
