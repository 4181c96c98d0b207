/** Forms on pages of another origin under a strict policy: in a frame, inline and in a dialog. Forged messages have no effect. */
import { createServer } from 'node:http'
import type { ExecutionContext } from 'ava'
import { axeFaults, becomesTrue, browserOf, type Page } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { listenIn } from '../../../support/web/listen.ts'
import { baseUrl } from '../../rest/fixture/rest-fixture.ts'
import { captchaDouble } from '../../rest/fixture/publishable.ts'
import { golden, type Row } from './golden.ts'
import { startHosted, type Hosted } from './hosted.ts'

const test = testWith('chromium')
const browser = browserOf(test)

interface Site {
  /** Address of the other origin. */
  readonly url: string
  /** Its pages by path. */
  readonly pages: Map<string, { readonly body: string; readonly policy: string }>
}

async function site(t: ExecutionContext): Promise<Site> {
  const pages: Site['pages'] = new Map()
  const server = createServer(({ url = '' }, res) => {
    const { body, policy } = pages.get(new URL(url, 'http://x').pathname) ?? { body: '', policy: "default-src 'none'" }
    res.setHeader('content-security-policy', policy)
    res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    res.end(`<!doctype html><html lang="en"><head><title>Workshop</title></head><body><main><h1>Workshop</h1>${body}</main></body></html>`)
  })
  return { url: `http://localhost:${await listenIn(t, server)}`, pages }
}

/** Inserts the snippet of the service into a page whose policy allows only the sources that the service lists. */
async function paste(
  hosted: Hosted,
  { pages, url }: Site,
  id: string,
  mode: string,
  change: (html: string) => string = (html) => html,
): Promise<string> {
  const made = await hosted.rest.must('POST', `/v1/forms/${id}/embed-snippet`, { mode, origin: url })
  const here = (text: string): string => text.replaceAll(baseUrl, hosted.url)
  const policy = ["default-src 'none'", ...(made['content_security_policy'] as string[]).map(here), "base-uri 'none'"].join('; ')
  const path = `/${mode}-${pages.size}`
  pages.set(path, { body: change(here(String(made['html']))), policy })
  return url + path
}

/** Opens a tab that records the events of forms and the violations of policies. */
async function tab(t: ExecutionContext): Promise<{ page: Page; blocked: string[]; events: () => Promise<Row[]> }> {
  const context = await browser().newContext({ viewport: { width: 1000, height: 800 } })
  t.teardown(() => context.close())
  const page = await context.newPage()
  const blocked: string[] = []
  page.on('console', (message) => /Content.Security.Policy|Trusted/i.test(message.text()) && blocked.push(message.text()))
  page.on('pageerror', (error) => blocked.push(String(error)))
  await page.addInitScript(`globalThis.seen = []
    for (const name of ['ready', 'focus', 'step', 'submit', 'error'])
      addEventListener('svc-form:' + name, ({ detail }) => seen.push({ name, ...detail }))`)
  return { page, blocked, events: () => page.evaluate('seen') }
}

const seen = (page: Page, name: string): Promise<unknown> => becomesTrue(page, `seen.some(({ name }) => name === ${JSON.stringify(name)})`)
/** axe-core inserts styles of shadow roots into its own document, which the page's policy blocks. */
async function accessible(t: ExecutionContext, page: Page, blocked: string[]): Promise<void> {
  t.deepEqual(blocked, [])
  t.deepEqual(await axeFaults(page, { at: [320, 1000] }), [])
  blocked.length = 0
}

const prefilled = {
  name: 'Newsletter',
  schema: { version: 1, fields: [{ key: 'email', type: 'email', label: 'Email', prefill: true }] },
}

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click()

test('embed: a frame has the height of its form and ignores forged messages', async (t) => {
  const hosted = await startHosted(t)
  const other = await site(t)
  const { id, publicId } = await hosted.publish(golden['one'] ?? {})
  const { page, blocked, events } = await tab(t)
  await page.goto(await paste(hosted, other, id, 'iframe'))
  await seen(page, 'ready')
  const frame = page.frame({ url: /\?embed=1$/ })
  const heights = async (): Promise<unknown[]> => [
    await page.evaluate("document.querySelector('iframe').offsetHeight"),
    await frame?.evaluate('Math.ceil(document.body.getBoundingClientRect().height / 8) * 8'),
  ]
  const [first, inside] = await heights()
  t.is(first, inside)
  const forged = (height: number, event = 'height', form = publicId) => ({ type: 'svc:form', v: 1, id: form, event, height })
  // from the page itself, from another frame, from the form for another one, and out of range
  await page.evaluate(`postMessage(${JSON.stringify(forged(4000))}, '*')`)
  await page.evaluate(`document.querySelector('iframe').after(Object.assign(document.createElement('iframe'), { name: 'liar' }))`)
  const liar = await (await page.waitForSelector('iframe[name=liar]')).contentFrame()
  for (const event of ['height', 'submitted']) await liar?.evaluate(`parent.postMessage(${JSON.stringify(forged(4000, event))}, '*')`)
  t.truthy(liar)
  for (const message of [
    forged(4000, 'height', 'other'),
    forged(99_992),
    forged(-8),
    forged(1001),
    { ...forged(4000), v: 2 },
    'svc:form',
    null,
  ])
    await frame?.evaluate(`parent.postMessage(${JSON.stringify(message)}, '*')`)
  await frame?.locator('button[type=submit]').click()
  await becomesTrue(page, `document.querySelector('iframe').offsetHeight > ${Number(first)}`)
  const [after, grown] = await heights()
  t.is(after, grown)
  t.deepEqual(
    (await events()).map(({ name }) => name),
    ['ready', 'focus'],
  )
  hosted.clock.advance(5000)
  await frame?.locator('#f-email').fill('ada@example.ch')
  await frame?.locator('button[type=submit]').click()
  await seen(page, 'submit')
  t.regex(String(await frame?.locator('h1').innerText()), /Thank you/)
  t.is((await hosted.submissions(id)).length, 1)
  t.deepEqual(blocked, [])
})

test('embed: an inline form works under the policy that the service prints', async (t) => {
  const hosted = await startHosted(t)
  const other = await site(t)
  const { id } = await hosted.publish({ ...golden['support'], settings: { allowed_origins: [other.url], submit_label: 'Send to support' } })
  const { page, blocked, events } = await tab(t)
  const address = await paste(hosted, other, id, 'script', (html) => html.replace('<div ', '<div data-title data-pass-params="name" '))
  await page.goto(`${address}?name=Ruth`)
  await seen(page, 'ready')
  await accessible(t, page, blocked)
  await press(page, 'Continue')
  t.is(await page.locator('.error').count(), 2)
  await page.check('input[name=about][value=o3]')
  await page.fill('#f-site', 'https://example.ch')
  t.is(await page.locator('.error').count(), 0)
  await press(page, 'Continue')
  t.is(await page.innerText('.step:visible .step-of'), 'Step 2 of 2')
  await page.fill('#f-name', 'Ruth')
  await page.fill('#f-email', 'ruth@posteo.de')
  await page.check('input[name=how][value=o1]')
  hosted.clock.advance(5000)
  await press(page, 'Send to support')
  await seen(page, 'submit')
  await page.locator('.thanks h2').waitFor()
  t.is(await page.innerText('.thanks h2'), 'Thank you')
  const [submission] = await hosted.submissions(id)
  t.like(submission, { status: 'new', origin: other.url })
  const noted = (await events()).map(({ form: _, ...event }) => event)
  t.true(noted.some(({ name }) => name === 'focus'))
  t.deepEqual(
    noted.filter(({ name }) => name !== 'focus'),
    [{ name: 'ready' }, { name: 'step', step: 3 }, { name: 'submit', submission: submission?.['id'] }],
  )
  t.deepEqual(blocked, [])
})

test('embed: an old inline form is replaced by the new version with its answers', async (t) => {
  const hosted = await startHosted(t)
  const other = await site(t)
  const { id } = await hosted.publish(golden['one'] ?? {})
  const { page, blocked, events } = await tab(t)
  await page.goto(await paste(hosted, other, id, 'script'))
  await seen(page, 'ready')
  await page.fill('#f-email', 'ruth@posteo.de')
  hosted.clock.advance(3 * 86_400_000)
  await hosted.rest.must('PUT', `/v1/forms/${id}/draft`, {
    name: 'Newsletter',
    schema: { version: 1, fields: [...prefilled.schema.fields, { key: 'name', type: 'text', label: 'Your name', required: true }] },
  })
  await hosted.rest.must('POST', `/v1/forms/${id}/publish`)
  await press(page, 'Send')
  await page.locator('#f-name').waitFor()
  t.regex(await page.innerText('[role=alert]'), /^The form changed after you opened it\./)
  t.is(await page.inputValue('#f-email'), 'ruth@posteo.de')
  await page.fill('#f-name', 'Ruth')
  hosted.clock.advance(5000)
  await press(page, 'Send')
  await seen(page, 'submit')
  t.like(await hosted.submissions(id), [{ version: 2, answers: { email: 'ruth@posteo.de', name: 'Ruth' } }])
  t.is((await events()).filter(({ name }) => name === 'ready').length, 1)
  t.deepEqual(blocked, [])
})

test('embed: a popup has a button and a dialog, and starts again after sending', async (t) => {
  const hosted = await startHosted(t)
  const other = await site(t)
  const { id } = await hosted.publish(golden['one'] ?? {})
  const { page, blocked } = await tab(t)
  await page.goto(await paste(hosted, other, id, 'popup'))
  await press(page, 'Newsletter')
  await page.locator('dialog[open] #f-email').fill('ada@example.ch')
  await accessible(t, page, blocked)
  await page.keyboard.press('Escape')
  t.false(await page.locator('#f-email').isVisible())
  await press(page, 'Newsletter')
  t.is(await page.inputValue('#f-email'), 'ada@example.ch')
  hosted.clock.advance(5000)
  await press(page, 'Send')
  await page.locator('dialog .thanks').waitFor()
  await press(page, 'Close')
  await press(page, 'Newsletter')
  await page.locator('dialog[open] #f-email').waitFor()
  t.is(await page.inputValue('#f-email'), '')
  t.is((await hosted.submissions(id)).length, 1)
  const { id: filled } = await hosted.publish(prefilled)
  const slide = (html: string): string => html.replace('"popup"', '"slide"').replace('<div ', '<div data-prefill-email="ruth@posteo.de" ')
  await page.goto(await paste(hosted, other, filled, 'popup', slide))
  await press(page, 'Newsletter')
  const dialog = page.locator('dialog[open]')
  await dialog.locator('#f-email').waitFor()
  t.is(await dialog.locator('#f-email').inputValue(), 'ruth@posteo.de')
  t.is((await dialog.boundingBox())?.height, page.viewportSize()?.height, 'the dialog has the full height')
  // right-to-left in a left-to-right page
  const { id: arabic } = await hosted.publish(golden['arabic'] ?? {})
  await page.goto(await paste(hosted, other, arabic, 'popup'))
  await page.locator('.launch').click()
  const title = await page.locator('dialog[open] .title').boundingBox()
  const close = await page.locator('dialog[open] .pf-close').boundingBox()
  t.true(close !== null && title !== null && close.x + close.width <= title.x, 'the close button follows the title')
  t.deepEqual(blocked, [])
})

test('embed: a frame if the policy or a captcha requires it; foreign sites get none', async (t) => {
  const hosted = await startHosted(t)
  const other = await site(t)
  const { id, publicId } = await hosted.publish(golden['one'] ?? {})
  const captcha = { provider: 'turnstile', site_key: 'site' }
  const { id: asked } = await hosted.publish({ ...golden['one'], settings: { captcha } })
  const { id: closedTo } = await hosted.publish({ ...golden['one'], settings: { allowed_origins: ['https://www.example.ch'] } })
  const { page } = await tab(t)
  await page.route(/^https:/, (route) => route.abort())
  const strict = await paste(hosted, other, id, 'script')
  const { body, policy } = other.pages.get(new URL(strict).pathname) ?? { body: '', policy: '' }
  other.pages.set('/strict', { body, policy: policy.replace(/connect-src [^;]+; /, '') })
  for (const address of [`${other.url}/strict`, await paste(hosted, other, asked, 'script')]) {
    await page.goto(address)
    await page.frameLocator('iframe').locator('#f-email').waitFor()
    await seen(page, 'ready')
  }
  other.pages.set('/dark', {
    body: `<style>body { background: #111; color: #eee }</style>${body}`,
    policy: policy.replace('style-src ', "style-src 'unsafe-inline' "),
  })
  await page.goto(`${other.url}/dark`)
  await seen(page, 'ready')
  t.is(await page.locator('.pf.apart').count(), 1)
  await page.goto(await paste(hosted, other, closedTo, 'script'))
  await seen(page, 'error')
  t.deepEqual(await page.evaluate('seen'), [
    { name: 'error', form: await page.evaluate("document.querySelector('[data-svc-form]').dataset.svcForm"), code: 'form_not_found' },
  ])
  t.is(await page.innerText('main a'), 'Newsletter', 'the content of the page remains')
  t.not(publicId, '')
})

test('captcha: shown, checked with its provider, and shown again after a failure', async (t) => {
  const double = await captchaDouble(t)
  const hosted = await startHosted(t, { captcha: double.urls })
  const captcha = { provider: 'turnstile', site_key: 'site' }
  const { id, page: address } = await hosted.publish({ ...golden['one'], settings: { captcha } })
  await hosted.rest.must('PUT', `/v1/forms/${id}/captcha-secret`, { secret: 'right' })
  const { page, blocked } = await tab(t)
  // fake widget of the provider: its first token is invalid
  await page.route('https://challenges.cloudflare.com/turnstile/v0/api.js', (route) =>
    route.fulfill({
      contentType: 'text/javascript',
      body: `const place = document.querySelector('.cf-turnstile'), input = document.createElement('input')
        input.type = 'hidden'; input.name = place.dataset.responseFieldName; input.value = 'wrong'; place.append(input)
        window.turnstile = { reset() { input.value = 'solved ' + place.dataset.sitekey } }`,
    }),
  )
  await page.goto(address)
  await page.fill('#f-email', 'ada@example.ch')
  hosted.clock.advance(5000)
  await press(page, 'Send')
  await page.locator('[role=alert]').waitFor()
  t.is(await page.innerText('[role=alert]'), 'The captcha was not passed. Solve it again, then send the form.')
  t.is(await page.inputValue('#f-email'), 'ada@example.ch')
  await press(page, 'Send')
  await page.waitForURL(/\/thanks/)
  t.deepEqual(
    double.asked.map(({ fields: { response } }) => response),
    ['wrong', 'solved site'],
  )
  t.deepEqual(blocked, [])
})
