/** Plots in a browser: content by pointer, keyboard and table, and downloads. */
import { readFile } from 'node:fs/promises'
import { testWith } from '../../support/peers/peers.ts'
import { browserOf } from '../../support/web/browser.ts'
import { startDashboard, type DashboardTab } from './dashboard-server.ts'
import { seed } from './seed.ts'

const test = testWith('chromium')
const browser = browserOf(test)

const plot = '.plot:has(h2:text-is("Sends"))'

async function fileOf({ page }: DashboardTab, button: string): Promise<{ readonly name: string; readonly bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(`.plot >> [aria-label="${button}"]`)])
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) }
}

test('plots: pictures, tables and downloads show the recorded mail', async (t) => {
  const server = await startDashboard(t, browser)
  const { live } = await seed(t, server)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/insights')
  await page.waitForSelector(`${plot} >> .plot-key >> text=relayed 4`)
  t.regex(await page.innerText(`${plot} .plot-key`), /captured, sandbox\s*3[^]*failed\s*1/)
  t.regex(await page.textContent(`${plot} desc`).then(String), /relayed 4, captured, sandbox 3/)
  await page.waitForSelector('.plot:has(h2:text-is("Bounce rate")) >> text=5 %')
  await page.waitForSelector('.strips >> text=Infomaniak')
  await page.waitForSelector('.strips >> text=/last hour: \\d+ of \\d+ failed/')
  t.is(await page.locator('.strips li:has-text("Infomaniak") .strip rect').count(), 288)
  await page.waitForSelector(`${plot} svg text:has-text("Infomaniak live")`)
  await page.click('.changes summary')
  t.regex(await page.innerText('.changes li >> nth=0'), /^\d\d:\d\d\s+Infomaniak live$/)
  await page.waitForSelector('.plot:has(h2:text-is("Recipients")) >> .plot-key >> text=complained')
  await page.waitForSelector('.plot:has(h2:text-is("Recipients by domain")) >> text=example.org')
  await tab.check(t)
  await page.click(`${plot} >> [aria-label="Show as table: Sends"]`)
  await page.waitForSelector(`${plot} >> tbody tr >> nth=47`)
  t.regex(await page.innerText(`${plot} tfoot`), /Whole time range\s*4\s*3/)
  t.regex(await page.innerText(`${plot} tbody`), /\d\d:\d\d Infomaniak live/)
  await tab.check(t)
  await tab.go('/insights')
  await page.waitForSelector(`${plot} >> .plot-key >> text=relayed 4`)
  const csv = await fileOf(tab, 'CSV: Sends')
  t.is(csv.name, 'sends.csv')
  const lines = csv.bytes.toString().trim().split('\r\n')
  t.regex(lines[0] ?? '', /time,relayed,"captured, sandbox"/)
  t.is(lines.length, 49)
  t.regex(lines[0] ?? '', /,Changes$/)
  t.regex(lines.join(), /\d{4}-\d\d-\d\dT[\d:.]+Z,\d[^]*,\d{4}-\d\d-\d\dT[\d:.]+Z Infomaniak live/)
  const png = await fileOf(tab, 'PNG: Sends')
  t.deepEqual([png.name, png.bytes.subarray(1, 4).toString()], ['sends.png', 'PNG'])
  t.true(png.bytes.length > 5000)
  const strips = await fileOf(tab, 'PNG: Destinations')
  t.deepEqual([strips.name, strips.bytes.subarray(1, 4).toString()], ['health.png', 'PNG'])
  const health = await fileOf(tab, 'CSV: Destinations')
  t.regex(health.bytes.toString(), /^\uFEFFtime,Destination,Attempts,Errors,p95_ms\r\n[^]*Z,Infomaniak,[1-9]/)
  await page.click('[aria-label="Show as table: Destinations"]')
  t.regex(
    await page.innerText('[aria-label="Table: Destinations"] tr:has-text("Infomaniak")'),
    /Infomaniak\s+\d+ of \d+\s+[\d.]+\sm?s\s+\d+\s+\d+ of \d+/,
  )
  const shares = await fileOf(tab, 'PNG: Recipients by domain')
  t.deepEqual([shares.name, shares.bytes.subarray(1, 4).toString()], ['domains.png', 'PNG'])
  await tab.check(t)
  await page.click(`${plot} >> .plot-key >> text=failed`)
  await page.waitForURL(/traces\?.*status=failed/)
  await page.waitForSelector('tbody tr')
  t.is(await page.locator('tbody tr').count(), 1)
  await page.goBack()
  await page.click('.plot:has(h2:text-is("Recipients by domain")) >> tbody a:has-text("example.org")')
  await page.waitForURL(/traces\?.*q=%40example\.org/)
  await page.waitForSelector('tbody tr')
  await page.goBack()
  await page.waitForSelector('.strips >> text=Infomaniak')
  await page.click('.strips li:has-text("Infomaniak") .strip-steps', { position: { x: 5, y: 5 } })
  await page.waitForURL(new RegExp(`traces\\?.*destination_id=${live}.*since=`))
  await tab.go(`/traces?destination_id=${live}`)
  await tab.check(t)
})

test('plots, keyboard: steps, ranges, comparison, and the traces of a step', async (t) => {
  const server = await startDashboard(t, browser)
  const { traces } = await seed(t, server)
  const { created_at: last } = await server.daemon.rest.must('GET', `/v1/traces/${traces.deferred}`)
  const tab = await server.open()
  const { page } = tab
  await page.clock.setFixedTime(String(last)) // the last step then contains mail
  await tab.go('/insights')
  await page.waitForSelector(`${plot} >> .plot-key >> text=relayed 4`)
  const slider = page.locator(`${plot} input[type=range]`)
  await slider.focus()
  await page.keyboard.press('End')
  t.regex(String(await slider.getAttribute('aria-valuetext')), /relayed \d/)
  await page.keyboard.press('Home')
  await page.waitForSelector(`${plot} >> .plot-key >> text=relayed 0`)
  await page.waitForSelector('.plot:has(h2:text-is("Recipients")) >> .plot-key >> text=accepted by the provider 0')
  await page.click('h1')
  await page.keyboard.press('2')
  await page.waitForURL(/range=7d/)
  await page.waitForSelector(`${plot} >> text=per 3 h`)
  await page.click('text=Compare')
  await page.waitForURL(/compare=1/)
  await page.waitForSelector(`${plot} >> .plot-key >> text=Previous period 0`)
  await page.waitForSelector('.plot:has(h2:text-is("Latency")) >> .plot-key >> text=p95, previous period')
  await page.waitForSelector('.strips li:has-text("Infomaniak") >> text=/Previous period: –/')
  await page.waitForSelector('.plot:has(h2:text-is("Recipients by domain")) >> td:nth-of-type(2) >> .before >> text=0')
  await page.click('.segments >> text=UTC')
  await page.waitForURL(/zone=utc/)
  await page.waitForSelector(`${plot} >> .plot-key >> text=relayed 4`)
  await tab.check(t)
  await slider.focus()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.waitForURL(/traces\?.*since=.*range=7d/)
  await page.waitForSelector('tbody tr')
  await page.goBack()
  await page.waitForSelector(`${plot} >> .plot-key >> text=relayed 4`)
  const box = await slider.boundingBox()
  await page.mouse.click((box?.x ?? 0) + (box?.width ?? 0) - 8, (box?.y ?? 0) + 40)
  await page.waitForURL(/traces\?.*since=/)
  await page.waitForSelector('tbody tr')
  await page.goBack()
  await page.click('.plot:has(h2:text-is("New suppressions")) >> .plot-key >> text=bounce')
  await page.waitForURL(/suppressions\?.*source=bounce/)
  for (const [locale, texts] of [
    ['de', 'Auswertung'],
    ['fr', 'Statistiques'],
    ['it', 'Statistiche'],
  ] as const) {
    const other = await server.open({ locale })
    await other.go('/insights')
    await other.page.waitForSelector(`.top-tabs [aria-current]:has-text("${texts}")`)
    await other.page.waitForSelector('.plot-key')
    await other.check(t)
  }
})

test('plots: report failed and missing figures', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  await page.route('**/v1/insights/latency*', (route) => route.fulfill({ status: 503, body: '{}', contentType: 'application/json' }))
  await tab.go('/insights')
  await page.waitForSelector('text=Couldn’t load the figures')
  await page.waitForSelector(`${plot} >> text=No data in this time range.`)
  await tab.check(t)
})
