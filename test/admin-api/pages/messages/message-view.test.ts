/** Captured messages in Chromium: hostile HTML has no effect, and nothing is loaded without consent. */
import { request } from 'node:http'
import type { ExecutionContext } from 'ava'
import { inboxes } from '#core/capture/capture.ts'
import { traces } from '#core/trace/trace.ts'
import { Draft } from '#store/content.ts'
import { newTraceId } from '#store/ids.ts'
import { hostileHtml } from '../../../ingest/html/hostile-html.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { WebhookReceiver } from '../../../support/web/webhook-receiver.ts'
import { startPageServer, type PageServer } from '../page-server.ts'
import { openTab, settled, titleOf, type TabOptions } from '../tab.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { Front } from '../../../support/network/front.ts'

const test = testWith('chromium')

const browser = browserOf(test)

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64')

/** Addresses in the fields of the message. */
const named = ['shop@example.ch', 'ada@example.ch', 'bob@example.org', 'cleo@example.org']

interface Made {
  readonly view: string
  readonly path: string
}

/** Captures a message with this HTML, an inline image, a text and a file. */
async function captured(
  pageServer: PageServer,
  html: string,
  { subject = 'Your order <b>4711</b>', rcptTo = ['ada@example.ch', 'bob@example.org', 'zoe@hidden.example'] } = {},
): Promise<Made> {
  const { database, organizationId, accept, inboxCore } = pageServer
  const [inbox] = await database.all(inboxes, { organizationId })
  if (!inbox) throw new Error('no inbox')
  const { projectId } = inbox.record
  const content = [
    'From: Shop <shop@example.ch>',
    'To: Ada <ada@example.ch>',
    'Cc: Bob <bob@example.org>, cleo@example.org',
    `Subject: ${subject}`,
    'X-Shop: 1',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=m',
    '',
    '--m',
    'Content-Type: multipart/related; boundary=r',
    '',
    '--r',
    'Content-Type: multipart/alternative; boundary=a',
    '',
    '--a',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Thank you <script>alert(1)</script> at https://shop.example.ch/4711?a=1&b=2, javascript:alert(1)',
    '--a',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(html).toString('base64').replaceAll(/.{76}/g, '$&\r\n'),
    '--a--',
    '--r',
    'Content-Type: image/png',
    'Content-ID: <logo@shop>',
    'Content-Transfer-Encoding: base64',
    '',
    png.toString('base64'),
    '--r--',
    '--m',
    'Content-Type: text/html; name="bill.html"',
    'Content-Disposition: attachment; filename="bill.html"',
    '',
    '<script>alert(1)</script>',
    '--m--',
    '',
  ].join('\r\n')
  const traceId = newTraceId()
  const draft = new Draft(database, organizationId, traceId)
  const bytes = Buffer.from(content)
  for (let at = 0; at < bytes.length; at += 100_000) await draft.write(bytes.subarray(at, at + 100_000))
  await accept.accept({
    ...{ door: 'rest', projectId, mailFrom: 'shop@example.ch', rcptTo, submittedBy: 'key_1', traceId, draft },
    principal: { organizationId, projectId, bound: false, scopes: ['api:admin'], credentialId: 'key_1' },
    facts: {
      ...{ prefix: '', subject, messageId: 'm@example.ch', headerFrom: 'shop@example.ch' },
      ...{ headerAddresses: named, eightBit: false },
    },
  })
  const { rows } = await database.list(traces, { organizationId }, { limit: 1 })
  const captureId = rows[0]?.record.capture?.id ?? ''
  const inboxId = inbox.record.id
  const view = inboxCore.messageViews.urlOf({ organizationId, inboxId, captureId })
  return { view, path: `/organizations/${organizationId}/inboxes/${inboxId}/messages/${captureId}` }
}

/** Opens a tab that records dialogs and requests to other sites. */
async function watchedTab(t: ExecutionContext, pageServer: PageServer, options?: TabOptions) {
  const tab = await openTab(t, browser(), options)
  const away: string[] = []
  tab.page.on(
    'request',
    (asked) => void (asked.url().startsWith(pageServer.url) || asked.url().startsWith('data:') || away.push(asked.url())),
  )
  tab.page.on('dialog', (dialog) => void (away.push(`dialog ${dialog.message()}`), dialog.dismiss()))
  tab.page.context().on('page', (opened) => void away.push(`window ${opened.url()}`))
  return { ...tab, away }
}

/** Requests like a program: without cookies and redirects. */
const asked = (url: string) =>
  new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    request(url, (answer) => {
      const pieces: Buffer[] = []
      answer.on('data', (piece: Buffer) => pieces.push(piece))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(pieces) }))
    })
      .on('error', reject)
      .end()
  })

const good =
  '<h1>Thank you</h1><p>Your order <a href="https://shop.example.ch/4711">4711</a> is on its way.</p><img src="cid:logo@shop" alt="Logo" width="40">'

for (const hasScripts of [true, false])
  test(`message link: shows all tabs, ${hasScripts ? 'with' : 'without'} scripts`, async (t) => {
    const pageServer = await startPageServer(t)
    const { view } = await captured(pageServer, good)
    const tab = await watchedTab(t, pageServer, { hasScripts })
    await tab.open(view)
    t.is(await titleOf(tab), 'Your order <b>4711</b>')
    t.is(await tab.page.locator('iframe').getAttribute('sandbox'), 'allow-popups allow-popups-to-escape-sandbox')
    const frame = tab.page.frameLocator('iframe')
    t.is(await frame.locator('h1').innerText(), 'Thank you')
    const logo = frame.locator('img')
    await logo.evaluate((image: { decode(): Promise<void> }) => image.decode())
    t.is(await frame.locator('a').getAttribute('rel'), 'noopener noreferrer nofollow')
    t.deepEqual(
      await tab.page
        .locator('.mail dd')
        .allInnerTexts()
        .then((all) => all.slice(0, 4)),
      ['Shop <shop@example.ch>', 'Ada <ada@example.ch>', 'Bob <bob@example.org>, cleo@example.org', 'zoe@hidden.example'],
    )
    t.regex((await tab.page.getAttribute('.mail a', 'href')) ?? '', /^\/share\/traces\/[0-9a-f-]{36}$/)
    await tab.press('.tabs >> text=Text')
    t.is(
      await tab.page.innerText('pre'),
      'Thank you <script>alert(1)</script> at https://shop.example.ch/4711?a=1&b=2, javascript:alert(1)',
    )
    const link = tab.page.locator('pre a')
    t.is(await link.count(), 1)
    t.deepEqual(
      [await link.getAttribute('href'), await link.getAttribute('target'), await link.getAttribute('rel')],
      ['https://shop.example.ch/4711?a=1&b=2', '_blank', 'noopener noreferrer'],
    )
    await tab.press('.tabs >> text=Headers')
    t.regex(await tab.page.innerText('.fields'), /X-Shop\s+1/)
    await tab.press('.tabs >> text=Source')
    t.regex(await tab.page.innerText('pre'), /^From: Shop <shop@example\.ch>/)
    await tab.press('.tabs >> text=Files')
    t.regex(await tab.page.innerText('.files'), /bill\.html/)
    t.deepEqual(tab.away, [])
    const file = await asked(`${view}/attachments/1`)
    t.like(file.headers, { 'content-type': 'application/octet-stream', 'x-content-type-options': 'nosniff' })
    t.regex(String(file.headers['content-disposition']), /^attachment; filename="bill\.html"/)
    t.like((await asked(`${view}/raw`)).headers, { 'content-type': 'message/rfc822' })
    t.is((await asked(`${view}/embedded/1`)).status, 404, 'HTML is not served as an image')
  })

test('frame: hostile HTML runs, requests and opens nothing', async (t) => {
  const pageServer = await startPageServer(t)
  const { view } = await captured(pageServer, `<p id="end">before</p>${hostileHtml.join('\n')}`)
  for (const query of ['', '?images=1']) {
    const tab = await watchedTab(t, pageServer)
    const failed: string[] = []
    tab.page.on('console', (message) => failed.push(message.text()))
    await tab.page.goto(`${view}/html`)
    await tab.page.goto(view + query)
    await settled(tab.page)
    const frame = tab.page.frames().find((one) => one.url().includes('/html'))
    t.truthy(frame)
    t.is(await frame?.locator('script, iframe, form, input, object, embed, meta[http-equiv], link, svg, base').count(), 0)
    t.deepEqual(tab.away, [], query)
    t.deepEqual(
      failed.filter((text) => !text.includes('404')),
      [],
      query,
    )
  }
  const csp = String((await asked(`${view}/html`)).headers['content-security-policy'])
  t.regex(csp, /^sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; /)
  t.notRegex(csp, /allow-scripts|allow-same-origin|script-src|https:/)
})

test('message page: long headers are shortened, and layouts stay in their frame', async (t) => {
  const pageServer = await startPageServer(t)
  const layout =
    '<div style="position:fixed;top:0;left:0;width:9999px;height:9999px;background:red">over</div><p style="width:5000px">wide</p>' +
    `<p style="font-size:400px">HUGE</p><p>${'w'.repeat(5000)}</p><table width="3000"><tr>${'<td>cell</td>'.repeat(60)}</tr></table>`
  const rcptTo = Array.from({ length: 90 }, (_, i) => `ada${i}@example.ch`)
  const { view } = await captured(pageServer, layout, { subject: `\u202e${'Looong'.repeat(100)}`, rcptTo })
  const tab = await watchedTab(t, pageServer)
  await tab.open(view)
  for (const width of [360, 768, 1280]) {
    await tab.page.setViewportSize({ width, height: 900 })
    t.true(Number(await tab.page.evaluate('document.documentElement.scrollWidth')) <= width)
    const frame = await tab.page.locator('iframe').boundingBox()
    t.true(frame !== null && frame.x >= 0 && frame.x + frame.width <= width)
  }
  t.is([...(await tab.page.innerText('h1'))].length, 201)
  t.regex(await tab.page.innerText('.mail'), /ada19@example\.ch and 70 more/)
})

test('remote images: only after consent, through the service, without reader data', async (t) => {
  await using server = await new WebhookReceiver({ answer: (response) => response.end(png) }).listen()
  const pageServer = await startPageServer(t, { imagesFromHere: true })
  const { view } = await captured(pageServer, `${good}<img id="far" src="${server.url}?a=1&amp;b=2" alt="Far">`)
  const tab = await watchedTab(t, pageServer)
  await tab.open(view)
  t.is(server.connections, 0)
  await tab.press('text=Show remote images')
  const far = tab.page.frameLocator('iframe').locator('img[alt=Far]')
  await far.evaluate((image: { decode(): Promise<void> }) => image.decode())
  t.deepEqual(tab.away, [])
  t.deepEqual(
    server.received.map(({ path, headers }) => [path, headers.cookie, headers.referer, headers['user-agent']]),
    [['/hook?a=1&b=2', undefined, undefined, 'Postern']],
  )
})

test('image proxy: serves only images from public addresses that the view signed', async (t) => {
  await using server = await new WebhookReceiver().listen()
  const answers: readonly [string, WebhookReceiver['answer']][] = [
    ['html', (response) => response.writeHead(200, { 'content-type': 'image/png' }).end('<script>')],
    ['svg', (response) => response.writeHead(200, { 'content-type': 'image/svg+xml' }).end('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['a redirect', (response) => response.writeHead(302, { location: server.url }).end(png)],
    ['too much', (response) => response.end(Buffer.concat([png, Buffer.alloc(6 * 1024 * 1024)]))],
  ]
  const pageServer = await startPageServer(t, { imagesFromHere: true })
  const { view } = await captured(pageServer, good)
  const { messageViews } = pageServer.inboxCore
  const viewed = messageViews.read(view.slice(view.lastIndexOf('/') + 1))
  const signed = `${view}/image?${messageViews.imageQuery(viewed, server.url)}`
  server.answer = (response) => response.end(png)
  t.is((await asked(signed)).headers['content-type'], 'image/png')
  for (const [what, answer] of answers) {
    server.answer = answer
    t.is((await asked(signed)).status, 404, what)
  }
  const seen = server.connections
  t.is((await asked(`${view}/image?u=${encodeURIComponent(server.url)}&s=${'A'.repeat(22)}`)).status, 404)
  t.is((await asked(signed.replace('hook', 'other'))).status, 404)
  t.is(server.connections, seen)
  const guarded = await startPageServer(t)
  const closed = await captured(guarded, good)
  const views = guarded.inboxCore.messageViews
  const query = views.imageQuery(views.read(closed.view.slice(closed.view.lastIndexOf('/') + 1)), server.url)
  t.is((await asked(`${closed.view}/image?${query}`)).status, 404)
  t.is(server.connections, seen, 'loopback is not requested')
})

test('image proxy: a silent server times out', async (t) => {
  await using silent = await Front.silent()
  const pageServer = await startPageServer(t, { imagesFromHere: true })
  const { view } = await captured(pageServer, good)
  const { messageViews } = pageServer.inboxCore
  const viewed = messageViews.read(view.slice(view.lastIndexOf('/') + 1))
  const answer = asked(`${view}/image?${messageViews.imageQuery(viewed, `http://127.0.0.1:${silent.port}/`)}`)
  await silent.reached()
  pageServer.clock.advance(10_000)
  t.is((await answer).status, 404)
})

test('message link: invalid, changed and expired links show nothing', async (t) => {
  const pageServer = await startPageServer(t)
  const { view } = await captured(pageServer, good)
  t.is((await asked(view)).status, 200)
  t.is((await asked(`${view}x`)).status, 404)
  t.is((await asked(view.replace('cap_0', 'cap_1'))).status, 404)
  pageServer.clock.advance(14 * 60_000)
  t.is((await asked(view)).status, 200)
  pageServer.clock.advance(16 * 60_000)
  const late = await asked(view)
  t.is(late.status, 404)
  t.regex(late.body.toString(), /has expired/)
  for (const part of ['/html', '/raw', '/attachments/0', '/embedded/0', '/image']) t.is((await asked(view + part)).status, 404, part)
})

const designed = (pictures: string): string => `<!doctype html><html lang="de"><head><style>
  .hero{background:#0a5 url(${pictures}/hero.png) repeat-x;padding:20px;color:#fff}#code{position:relative;left:4px;font-size:30px}
  @media (max-width:600px){.hero{padding:3px}} @import "${pictures}/import.css"; @font-face{font-family:x;src:url(${pictures}/font.woff)}
  .bad{behavior:url(${pictures}/b.htc);width:expression(alert(1));-moz-binding:url(${pictures}/x.xml#a)} p{content:"</style><script>alert(1)</script>"}
</style></head><body bgcolor="#eeeeee" class="mail" style="margin:0;padding:7px">
  <div class="hero">Thank you</div><p id="code">4711</p>
  <table background="${pictures}/table.png"><tr><td style="background-image:url('${pictures}/cell.png');width:50px;height:50px">x</td></tr></table>
  <div class="own" style="background:url(cid:logo@shop);width:9px;height:9px"></div></body></html>`

/** Properties of a browser window. */
interface Styling {
  getComputedStyle(element: unknown): { getPropertyValue(name: string): string }
}

test('frame: keeps styles, classes and body, without loading before consent', async (t) => {
  await using server = await new WebhookReceiver({ answer: (response) => response.end(png) }).listen()
  const pageServer = await startPageServer(t, { imagesFromHere: true })
  const { view } = await captured(pageServer, designed(new URL(server.url).origin))
  const tab = await watchedTab(t, pageServer)
  await tab.open(view)
  await settled(tab.page)
  const frame = tab.page.frameLocator('iframe')
  const styleOf = (selector: string, property: string): Promise<string> =>
    frame
      .locator(selector)
      .evaluate((element, name) => (globalThis as unknown as Styling).getComputedStyle(element).getPropertyValue(name), property)
  const facts = async (): Promise<string[]> =>
    Promise.all([
      ...[styleOf('.hero', 'background-color'), styleOf('.hero', 'color'), styleOf('.hero', 'padding-top'), styleOf('#code', 'font-size')],
      ...[styleOf('body', 'background-color'), styleOf('body', 'margin-top'), styleOf('body', 'padding-left'), styleOf('#code', 'left')],
    ])
  await tab.page.setViewportSize({ width: 1280, height: 900 })
  t.deepEqual(await facts(), ['rgb(0, 170, 85)', 'rgb(255, 255, 255)', '20px', '30px', 'rgb(238, 238, 238)', '0px', '7px', '4px'])
  t.is(await frame.locator('html').getAttribute('lang'), 'de')
  t.regex(await styleOf('.own', 'background-image'), /\/embedded\/0"\)$/)
  for (const selector of ['.hero', 'table', 'td']) t.is(await styleOf(selector, 'background-image'), 'none', selector)
  t.deepEqual([server.connections, tab.away], [0, []])
  t.regex(await tab.page.innerText('.remote'), /^3 remote images were not loaded/)
  await tab.press('text=Show remote images')
  await settled(tab.page)
  t.regex(await styleOf('.hero', 'background-image'), /\/view\/[^/]+\/image\?u=http/)
  t.deepEqual(
    (await server.hasReceived(3)).map(({ path }) => path).toSorted((a, b) => a.localeCompare(b)),
    ['/cell.png', '/hero.png', '/table.png'],
  )
  t.deepEqual(tab.away, [])
})

test('inboxes: visible to members of the organization only', async (t) => {
  const message = 'Delivery to the destination Main is paused: the login was refused. The next trial is at 10:00.'
  const pageServer = await startPageServer(t)
  pageServer.daemon.probes.waiting = async () => ({ at: 0, event: 'waiting', message, detail: {} })
  const { path } = await captured(pageServer, good)
  const olga = await watchedTab(t, pageServer)
  await olga.open(pageServer.ownerLink)
  await olga.page.fill('#email', 'olga@example.ch')
  await olga.page.fill('#organization', 'Alpenblick')
  await olga.press('text=Sign in >> visible=true >> nth=-1')
  await olga.open(`${pageServer.url}/organizations`)
  await olga.press('a:has-text("Captured mail")')
  t.is(await titleOf(olga), 'Captured mail')
  await olga.press('main .rows a')
  t.true(pageServer.url + path.replace(/\/messages\/.*/, '') === olga.page.url())
  await olga.press('main >> text=Your order')
  await olga.press('text=Timeline')
  t.is(await titleOf(olga), 'Trace of Your order <b>4711</b>')
  t.regex(await olga.page.innerText('.trace-timeline'), /Captured instead of sent/)
  t.true((await olga.page.innerText('.trace-timeline li:last-child')).includes(message), 'a pending message shows the reason')
  t.true((await olga.page.innerText('.mail')).includes(message))
  const tracePath = new URL(olga.page.url()).pathname
  t.regex((await olga.page.getAttribute('text=Public trace page', 'href')) ?? '', /^\/share\/traces\/[0-9a-f-]{36}$/)
  await olga.open(pageServer.url + path)
  t.is(await olga.page.frameLocator('iframe').locator('h1').innerText(), 'Thank you')
  t.is((await asked(pageServer.url + path)).status, 303)
  const ben = await watchedTab(t, pageServer)
  await ben.signIn(await pageServer.operatorLink('ben@example.ch'))
  for (const closed of [path, tracePath, path.replace(/\/[^/]+\/messages\/.*/, '')])
    t.is((await ben.page.goto(pageServer.url + closed))?.status(), 404, closed)
  await olga.press('text=Sign out')
  t.is(await titleOf(olga), 'Signed out')
})
