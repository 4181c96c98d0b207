/** The documentation over HTTP and in Chromium: pages, Markdown, search, tabs and copying, from a daemon and from files. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { systemClock } from '#core/clock.ts'
import { writeDocs } from '../../../admin-api/docs-site/static-files.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { testWith } from '../../support/peers/peers.ts'
import { axeFaults, becomesTrue, browserOf, skipFaults } from '../../support/web/browser.ts'
import { builtDocs } from '../../support/web/built.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test.before(() => builtDocs())

test('daemon: serves pages, their Markdown and the lists for models', async (t) => {
  const { addresses } = await startDaemon(t, { replacements: { clock: systemClock } })
  const get = async (path: string, sent: Readonly<Record<string, string>> = {}) => {
    const answer = await fetch(`http://${addresses.http}${path}`, { headers: { accept: 'text/html', ...sent } })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  const page = await get('/docs/smtp')
  t.is(page.status, 200)
  t.regex(page.headers.get('content-type') ?? '', /^text\/html/)
  t.regex(
    page.headers.get('content-security-policy') ?? '',
    /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'none'/,
  )
  t.regex(page.text, /<h1[^>]*>Send by SMTP<\/h1>/)
  t.is((await get('/docs/smtp', { 'accept-encoding': 'identity' })).text, page.text)
  t.regex((await get('/docs')).text, /Guides for your software/)
  const source = await get('/docs/smtp.md')
  t.is(source.headers.get('content-type'), 'text/markdown; charset=utf-8')
  t.regex(source.text, /^# Send by SMTP/)
  t.regex((await get('/llms.txt')).text, /\(http:\/\/\S+:\d+\/docs\/smtp\.md\)/)
  t.regex((await get('/llms-full.txt')).text, /^# Send by SMTP$/m)
  for (const path of ['/docs/smtp', '/docs/smtp.md', '/llms.txt', '/llms-full.txt']) {
    const [plain, packed] = [await get(path, { 'accept-encoding': 'identity' }), await get(path, { 'accept-encoding': 'gzip' })]
    t.deepEqual([plain.headers.get('content-encoding'), packed.headers.get('content-encoding')], [null, 'gzip'], path)
    t.is(packed.text, plain.text, path)
    const etag = plain.headers.get('etag') ?? ''
    t.not(packed.headers.get('etag'), etag, path)
    t.is((await get(path, { 'accept-encoding': 'identity', 'if-none-match': etag })).status, 304, path)
    t.is((await get(path, { 'accept-encoding': 'identity', 'if-none-match': '"other"' })).status, 200, path)
  }
  for (const path of ['/docs/nothing', '/docs/guides/nothing', '/docs/..%2Fsmtp', '/docs/files/manifest.json', '/docs/files/smtp.html']) {
    const missing = await get(path)
    t.is(missing.status, 404, path)
    if (!path.includes('/files/')) t.regex(missing.text, /Nothing here/, path)
  }
  t.not((await get('/docs/api')).status, 404, 'the reference stays')
})

/** Searches and follows the first result. */
async function find(page: Page, texts: string): Promise<void> {
  await page.keyboard.press('/')
  await page.keyboard.type(texts)
  await becomesTrue(page, "document.querySelector('#found [role=option]')")
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
}

test('browser: search, language selection, color switch and copy buttons work', async (t) => {
  const { addresses } = await startDaemon(t, { replacements: { clock: systemClock } })
  const context = await browser().newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await context.newPage()
  const refused: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && refused.push(message.text())))
  await page.goto(`http://${addresses.http}/docs`)
  await find(page, 'Ports and TLS')
  await page.waitForURL(/\/docs\/smtp/)
  await page.click('figure.code button >> nth=1')
  await becomesTrue(page, "document.body.innerText.includes('Copied')")
  t.regex(await page.evaluate<string>('navigator.clipboard.readText()'), /^swaks --server 127\.0\.0\.1:2587 -tls/)
  const ground = (): Promise<string> => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  const before = await ground()
  await page.click('button.theme')
  t.not(await ground(), before)
  await page.reload()
  t.not(await ground(), before, 'the selection is stored')
  await page.keyboard.press('/')
  await page.keyboard.type('zzzzqqqq')
  await becomesTrue(page, "document.querySelector('#found').innerText.startsWith('No results')")
  t.deepEqual(refused, [])
  await context.close()
})

test('pages: axe finds no problems in light and dark, on phone and desktop', async (t) => {
  const { addresses } = await startDaemon(t, { replacements: { clock: systemClock } })
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser().newContext({ colorScheme })
    const page = await context.newPage()
    for (const path of ['', '/guides/node', '/settings', '/errors/method_not_allowed']) {
      await page.goto(`http://${addresses.http}/docs${path}`)
      t.deepEqual(await axeFaults(page), [], `${path} ${colorScheme}`)
      t.deepEqual(await skipFaults(page), [])
      await page.setViewportSize({ width: 320, height: 800 })
      t.true(await page.evaluate<boolean>('document.documentElement.scrollWidth <= 320'), `${path} scrolls sideways`)
    }
    await page.click('button.menu')
    await becomesTrue(page, "document.querySelector('#side').matches(':popover-open')")
    t.deepEqual(await axeFaults(page, { at: [320] }), [], `the menu ${colorScheme}`)
    await context.close()
  }
})

test('files: readable and searchable without a server', async (t) => {
  const folder = join(mkdtempSync(join(tmpdir(), 'docs-')), 'site')
  t.true((await writeDocs(folder)) > 30)
  const page = await browser().newPage()
  await page.goto(pathToFileURL(join(folder, 'index.html')).href)
  await page.click('text=Start in five minutes')
  await page.waitForURL(/getting-started\.html$/)
  await find(page, 'idempotency')
  await page.waitForURL(/site\/[\w/-]+\.html#[\w-]*idempotency/)
  await page.close()
})
