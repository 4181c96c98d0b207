/** Trace list in Chromium: virtual scrolling of 100,000 rows, counts over time, and the brush that sets the time filter. */
import type { Page } from '../../../support/web/browser.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { startDashboard } from '../dashboard-server.ts'
import { seed } from '../seed.ts'
import { openAs } from '../open-as.ts'

const test = testWith('chromium')
const browser = browserOf(test)
const all = 100_000

/** Replaces the lists of traces by made-up rows in large pages. The page itself creates them, because transferring them would take long. */
const withManyTraces = (page: Page): Promise<unknown> =>
  page.addInitScript(`{
    const newest = Date.now()
    const trace = (at) => ({
      trace_id: '00000000-0000-4000-8000-' + String(at).padStart(12, '0'), status: at % 7 === 0 ? 'bounced' : 'delivered',
      outcome: 'relayed', outcome_reason: '', project_id: 'prj_1', door: 'rest', submitted_by: 'key_1', bounce: null, recipients: [],
      from: 'shop@alpenblick.example', mail_from: 'shop@alpenblick.example', to: ['to' + at + '@example.org'],
      recipient_counts: {}, summary: '', subject: 'Order ' + at, message_id: '', destination_id: null, size: 1000, attempts: 1,
      template: null, attachment: false,
      route: { by: 'none', rule_id: null, environment: null, reason: '' }, next_attempt_at: null, send_at: null,
      created_at: new Date(newest - at * 1000).toISOString(), updated_at: new Date(newest - at * 1000 + 400).toISOString(),
    })
    const real = window.fetch
    window.fetch = async (asked, options) => {
      const { pathname, searchParams } = new URL(asked instanceof Request ? asked.url : asked, location.href)
      if (pathname !== '/v1/traces') return real(asked, options)
      const from = Number(searchParams.get('cursor') ?? 0)
      const end = Math.min(${String(all)}, from + 20 * Number(searchParams.get('limit')))
      const data = Array.from({ length: searchParams.has('since') ? 0 : end - from }, (_, i) => trace(from + i))
      return Response.json({ data, next_cursor: end < ${String(all)} ? String(end) : null })
    }
  }`)

interface Scrolled {
  /** Processor time of the page, without other processes. */
  readonly seconds: number
  readonly most: number
}

/** Scrolls up by ten rows at a time. Returns the processor time and the maximum number of rendered rows. */
async function scrolled(page: Page): Promise<Scrolled> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const spent = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN
  }
  await session.send('HeapProfiler.collectGarbage') // removes garbage of the loading phase from the measurement
  const before = await spent()
  const most: number = await page.evaluate(`new Promise((done) => {
    const sheet = document.querySelector('.sheet')
    let steps = 0, most = 0
    const go = () => {
      most = Math.max(most, document.querySelectorAll('table.traces tbody tr').length)
      if (++steps > 80) return done(most)
      sheet.scrollTop -= 340
      requestAnimationFrame(() => requestAnimationFrame(go))
    }
    go()
  })`)
  const seconds = (await spent()) - before
  await session.detach()
  return { seconds, most }
}

test('trace list: scrolls 100,000 rows at the cost of few', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  await withManyTraces(page)
  await tab.go('/traces')
  const rows = (): Promise<number> => page.evaluate(`Number(document.querySelector('table.traces').ariaRowCount) - 1`)
  await page.evaluate(`new Promise((done) => {
    const sheet = document.querySelector('.sheet')
    const go = () => {
      if (Number(document.querySelector('table.traces').getAttribute('aria-rowcount')) > 2000) return done()
      sheet.scrollTop = sheet.scrollHeight
      setTimeout(go, 10)
    }
    go()
  })`)
  const few = await scrolled(page)
  const loaded: number = await page.evaluate(`new Promise((done) => {
    const sheet = document.querySelector('.sheet')
    const go = () => {
      const count = Number(document.querySelector('table.traces').getAttribute('aria-rowcount')) - 1
      if (count >= ${String(all)}) return done(count)
      sheet.scrollTop = sheet.scrollHeight
      setTimeout(go, 10)
    }
    go()
  })`)
  t.is(loaded, all)
  await page.evaluate(`document.querySelector('.sheet').scrollTop = 1e9`)
  await page.waitForSelector(`tbody tr[aria-rowindex="${String(all + 1)}"] >> text=Order ${String(all - 1)}`)
  const drawn = (): Promise<number> => page.locator('table.traces tbody tr').count()
  t.true((await drawn()) < 200, `${String(await drawn())} rows`)
  const tasks = await scrolled(page)
  t.true(Math.max(few.most, tasks.most) < 200, JSON.stringify({ few, tasks }))
  t.true(few.seconds > 0 && tasks.seconds < few.seconds * 3 + 0.5, JSON.stringify({ few, tasks }))
  await page.evaluate(`document.querySelector('.sheet').scrollTop = 0`)
  await page.waitForSelector('tbody tr >> text="Order 0"')
  t.is(await rows(), all)
  t.is(await page.getAttribute('tbody tr[data-row]', 'aria-rowindex'), '2')
  await page.evaluate(`document.querySelector('.sheet').scrollTop = 34 * 50_000`)
  await page.waitForSelector('tbody tr[aria-rowindex="50002"]')
  await tab.check(t)
})

test('trace list: bars use the counters; the brush filters by pointer and keys', async (t) => {
  const server = await startDashboard(t, browser)
  await seed(t, server)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/traces')
  await page.waitForSelector('.density-head >> text=/^7 sends/')
  t.true((await page.locator('.density-plot .relayed').count()) > 40)
  await tab.check(t)
  await page.focus('[role=slider][aria-label="From"]')
  await page.keyboard.press('End')
  // two steps, because a step may have ended since the mail was sent
  for (const _ of ['the last', 'the one before']) await page.keyboard.press('ArrowLeft')
  await page.waitForURL(/since=/)
  await page.waitForSelector('tbody tr >> nth=6')
  await page.keyboard.press('Home')
  await page.waitForURL((url) => !url.searchParams.has('since'))
  const box = await page.locator('.density-plot').boundingBox()
  await page.mouse.move((box?.x ?? 0) + 40, (box?.y ?? 0) + 20)
  await page.mouse.down()
  await page.mouse.move((box?.x ?? 0) + 200, (box?.y ?? 0) + 20, { steps: 5 })
  await page.mouse.up()
  await page.waitForURL((url) => url.searchParams.has('since') && url.searchParams.has('until'))
  await page.waitForSelector('text=No matches')
  await tab.check(t)
  await page.click('.density-head >> text=7 d')
  await page.waitForURL((url) => url.searchParams.get('range') === '7d' && !url.searchParams.has('since'))
  await page.waitForSelector('tbody tr >> nth=6')
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('e')])
  t.is(download.suggestedFilename(), 'traces.csv')
  for (const [locale, texts] of [
    ['de', 'E-Mails im Zeitverlauf'],
    ['fr', 'E-mails dans le temps'],
    ['it', 'Posta nel tempo'],
  ] as const) {
    const other = await openAs(browser, server, locale === 'de' ? 'viewer' : locale === 'fr' ? 'developer' : 'admin', { locale })
    await other.go('/traces')
    await other.page.waitForSelector(`.density-plot[aria-label="${texts}"]`)
    await other.check(t)
  }
})

/** Opens the traces with the same metadata, then with the same tag. */
async function byLabels(page: Page): Promise<void> {
  await page.click('tbody tr')
  await page.click('.labels a:has-text("4711")')
  await page.waitForURL(/\/traces\?.*metadata=order%3A4711/)
  await page.waitForSelector('tbody tr >> nth=1', { state: 'detached' })
  await page.click('tbody tr')
  await page.click('.labels a:has-text("Spring sale")')
  await page.waitForURL(/\/traces\?.*tag=Spring/)
  await page.waitForSelector('.chip:has-text("tag:")')
}

test('trace list: template and has: terms, columns and saved views, by keys', async (t) => {
  const server = await startDashboard(t, browser)
  await seed(t, server)
  const { rest } = server.daemon
  await rest.must('POST', '/v1/templates', { slug: 'welcome', name: 'Welcome', subject_tmpl: 'Welcome', text_tmpl: 'Hi' })
  const attachments = [{ filename: 'a.txt', content: 'aGk=', content_type: 'text/plain' }]
  const body = { from: 'shop@alpenblick.example', to: 'ada@example.org', template_slug: 'welcome' }
  await rest.must('POST', '/v1/messages', { ...body, attachments, tags: ['Spring sale'], metadata: { order: '4711' } })
  await rest.must('POST', '/v1/messages', body)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  const ask = async (text: string): Promise<void> => {
    await page.fill('.query-bar input', text)
    await page.keyboard.press('Enter')
  }
  await tab.go('/traces')
  await page.waitForSelector('tbody tr >> nth=8')
  t.is(
    await page.innerText('.pills button:has-text("captured") .count'),
    String(await page.locator('tbody td:has-text("captured ·")').count()),
  )
  await page.click('.pills button:has-text("bounced")')
  await page.waitForURL(/has=bounce/)
  await page.waitForSelector('tbody tr[data-row] >> nth=2', { state: 'detached' })
  t.is(await page.innerText('.pills button:has-text("bounced") .count'), '2', 'a recipient refused by the server is a bounce')
  await page.click('.pills button:has-text("All")')
  await ask('template:welcome')
  await page.waitForURL(/template=welcome/)
  await page.waitForSelector('tbody tr >> nth=2', { state: 'detached' })
  await page.waitForSelector('tbody tr >> nth=1')
  await ask('has:attachment has:template')
  await page.waitForURL(/has=attachment%2Ctemplate/)
  await page.waitForSelector('tbody tr >> nth=1', { state: 'detached' })
  await page.waitForSelector('tbody tr')
  await tab.check(t)
  await byLabels(page)
  await tab.check(t)
  await tab.go('/traces?template=welcome&has=attachment%2Ctemplate')
  await page.click('.chip:has-text("has:attachment") a')
  await page.waitForURL(/has=template(?:&|$)/)
  await ask('has:nothing')
  await page.waitForSelector('.chip.unknown')
  await page.focus('button:has-text("Columns")')
  await page.keyboard.press('Enter')
  await page.getByLabel('Template', { exact: true }).focus()
  await page.keyboard.press('Space')
  await page.getByLabel('Duration', { exact: true }).uncheck()
  await page.waitForSelector('td:has-text("welcome")')
  await tab.check(t)
  await page.keyboard.press('Escape')
  t.is(await page.locator('th:has-text("Duration")').count(), 0)
  t.is(await page.evaluate('document.activeElement.textContent'), 'Columns')
  await page.click('button:has-text("Views")')
  await page.getByLabel('View name').fill('<b>Welcomes</b>')
  await tab.check(t)
  await page.keyboard.press('Enter')
  await page.waitForSelector('.toast >> text=View <b>Welcomes</b> saved')
  await tab.go('/traces')
  await page.waitForSelector('th:has-text("Template")')
  await page.click('button:has-text("Views")')
  await page.click('.menu a:has-text("<b>Welcomes</b>")')
  await page.waitForURL(/template=welcome/)
  await page.click('button:has-text("Views")')
  await tab.check(t)
  await page.click('[aria-label="Remove view <b>Welcomes</b>"]')
  await page.waitForSelector('.menu a', { state: 'detached' })
  await page.click('.toast button')
  await page.click('button:has-text("Views")')
  await page.waitForSelector('.menu a:has-text("Welcomes")')
})
