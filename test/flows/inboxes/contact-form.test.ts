/** A generated form in Chromium, on pages of two origins, that posts to the service at a third origin. Captcha providers are simulated. */
import { createServer } from 'node:http'
import type { ExecutionContext } from 'ava'
import { captchaDouble } from '../../admin-api/rest/fixture/publishable.ts'
import { baseUrl, startFixture, type Fixture, type FixtureOptions } from '../../admin-api/rest/fixture/rest-fixture.ts'
import { axeFaults, becomesTrue, browserOf, overflows, type Page } from '../../support/web/browser.ts'
import { testWith } from '../../support/peers/peers.ts'
import { listenIn } from '../../support/web/listen.ts'

const test = testWith('chromium')

const browser = browserOf(test)

/** Starts a website of one page and returns its origin. */
async function siteWith(t: ExecutionContext, html: { current: string }): Promise<string> {
  const server = createServer((_, res) => {
    const document = `<!doctype html><html lang="en"><head><title>Contact</title></head><body><main><h1>Contact</h1>${html.current}</main></body></html>`
    res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(document)
  })
  return `http://localhost:${await listenIn(t, server, 'localhost')}`
}

interface Form extends Fixture {
  readonly allowed: string
  readonly refused: string
}

/** `paste` imitates the changes of a page editor to the snippet. */
async function formOf(
  t: ExecutionContext,
  changes: object = {},
  options: FixtureOptions = {},
  style = 'minimal',
  paste: (html: string) => string = (html) => html,
): Promise<Form> {
  const fixture = await startFixture(t, options)
  const html = { current: '' }
  const [allowed, refused] = [await siteWith(t, html), await siteWith(t, html)]
  const key = { allowed_origins: [allowed], allowed_to: ['@example.ch'], locked_from: 'Shop <form@example.ch>', ...changes }
  const { reveal_url } = await fixture.rest.must('POST', '/v1/publishable-keys', { ...key, reveal: true })
  const request = { reveal_url, to_address: 'ada@example.ch', from_address: 'form@example.ch', template_style: style }
  const made = await fixture.rest.must('POST', '/v1/publishable-keys/snippets', request)
  html.current = paste(String(made['html']).replace(baseUrl, `http://${fixture.address}`))
  return { ...fixture, allowed, refused }
}

async function openAt(t: ExecutionContext, origin: string, widget?: { readonly host: string; readonly script: string }): Promise<Page> {
  const context = await browser().newContext()
  t.teardown(() => context.close())
  if (widget)
    await context.route(`https://${widget.host}/**`, (route) => route.fulfill({ contentType: 'text/javascript', body: widget.script }))
  const page = await context.newPage()
  page.on('pageerror', (error) => t.fail(String(error)))
  await page.goto(origin)
  return page
}

async function fillIn(page: Page): Promise<void> {
  await page.fill('[name=name]', 'Grace <Hopper>')
  await page.fill('[name=email]', 'grace@example.net')
  await page.fill('[name=message]', 'Hello\nthere')
}

/** Presses Send and returns the final message of the form. */
async function sendAndRead(page: Page): Promise<string> {
  await page.click('button')
  await becomesTrue(page, `/^(?!Sending)./.test(document.querySelector('[role=status]').textContent)`)
  return page.innerText('[role=status]')
}

/** Elements around the text of a field. */
const frameOf = (page: Page, selector: string) =>
  page.evaluate<string>(`(({ font, padding, border, borderRadius }) => [font, padding, border, borderRadius].join())
    (getComputedStyle(document.querySelector('form ${selector}')))`)

const tracesOf = async ({ rest }: Fixture) => (await rest.must('GET', '/v1/traces'))['data'] as Record<string, unknown>[]

for (const style of ['minimal', 'tailwind'])
  test(`${style}: a form sends from its page and confirms it`, async (t) => {
    const form = await formOf(t, {}, {}, style)
    const page = await openAt(t, form.allowed)
    t.deepEqual(await axeFaults(page), [])
    if (style === 'minimal') t.is(await frameOf(page, 'textarea'), await frameOf(page, 'input[name=name]'))
    await fillIn(page)
    t.regex(await sendAndRead(page), /on its way/)
    t.is(await page.inputValue('[name=message]'), '')
    const [trace] = await tracesOf(form)
    t.like(trace, { door: 'publishable_key', from: 'form@example.ch', to: ['ada@example.ch'] })
    const [inbox] = (await form.rest.must('GET', '/v1/inboxes'))['data'] as { id: string }[]
    const [message] = (await form.rest.must('GET', `/v1/inboxes/${inbox?.id ?? ''}/messages`))['data'] as { id: string }[]
    const raw = await form.rest.call('GET', `/v1/inboxes/${inbox?.id ?? ''}/messages/${message?.id ?? ''}/raw`)
    t.regex(raw.bytes.toString('utf8'), /Reply-To: grace@example\.net\r\n[^]*Name: Grace <Hopper>\r\n[^]*Message: Hello\r\nthere/)
  })

test('on a page of another origin, the form is refused with a message', async (t) => {
  const form = await formOf(t)
  const page = await openAt(t, form.refused)
  await fillIn(page)
  t.is(await sendAndRead(page), 'This form does not work on this page.')
  t.deepEqual(await tracesOf(form), [])
})

test('rate limit: names the next try; programs that fill in all fields send nothing', async (t) => {
  const form = await formOf(t, { rates: { per_key_hour: 1 } })
  const bot = await openAt(t, form.allowed)
  await fillIn(bot)
  await bot.evaluate(`document.querySelector('[name=website_url]').value = 'https://spam.example'`)
  t.regex(await sendAndRead(bot), /on its way/)
  t.deepEqual(await tracesOf(form), [])
  const page = await openAt(t, form.allowed)
  await fillIn(page)
  t.regex(await sendAndRead(page), /on its way/)
  await fillIn(page)
  t.regex(await sendAndRead(page), /^Too many messages were sent\. Please try again in \d+ min\.$/)
})

for (const [what, paste] of [
  [
    'is moved away from its form, and runs late',
    (html: string) =>
      html.replace('<p role="status"', '<p></p>$&').replace(/<script>([^]*)<\/script>/, '<p></p><script type="module">$1</script>'),
  ],
  ['is there twice, with its form', (html: string) => html + html],
] as const)
  test(`a script that ${what}, still sends one message`, async (t) => {
    const form = await formOf(t, {}, {}, 'minimal', paste)
    const page = await openAt(t, form.allowed)
    await fillIn(page)
    t.regex(await sendAndRead(page), /on its way/)
    t.is((await tracesOf(form)).length, 1)
    const last = page.locator('form').last()
    for (const [name, value] of [
      ['name', 'Alan'],
      ['email', 'alan@example.net'],
      ['message', 'Me too'],
    ] as const)
      await last.locator(`[name=${name}]`).fill(value)
    await last.locator('button').click()
    await last.locator('[role=status]', { hasText: 'on its way' }).waitFor()
    t.is((await tracesOf(form)).length, 2)
  })

test('no scripts: the form page does not report a successful send', async (t) => {
  const form = await formOf(t)
  const context = await browser().newContext({ javaScriptEnabled: false })
  t.teardown(() => context.close())
  const page = await context.newPage()
  await page.goto(form.allowed)
  t.true(await page.isDisabled('button'))
  t.regex(await page.innerText('form'), /This form needs JavaScript\./)
})

test('every refusal has a message for visitors', async (t) => {
  const form = await formOf(t)
  const page = await openAt(t, form.allowed)
  const refusal = (code: string, message = 'for programmers', details = {}) => ({ error: { code, message, next_action: '', details } })
  const late = (seconds: number) => ({ retry_after_seconds: seconds })
  const fields = (path: string) => ({ fields: [{ path, message: 'is wrong' }] })
  const broken = 'This form is out of order. Please reach us in another way.'
  for (const [status, answer, text] of [
    [401, refusal('invalid_key'), broken],
    [401, refusal('key_kind_mismatch'), broken],
    [403, refusal('recipient_not_allowed'), broken],
    [403, refusal('from_locked'), broken],
    [503, refusal('feature_unavailable'), broken],
    [503, refusal('captcha_not_configured'), broken],
    [200, { trace_id: 'x', outcome: 'relayed', status: 'suppressed' }, broken],
    [403, refusal('origin_not_allowed'), 'This form does not work on this page.'],
    [429, refusal('rate_limit_exceeded', '', late(61)), 'Too many messages were sent. Please try again in 2 min.'],
    [429, refusal('rate_limit_exceeded', '', late(86_400)), 'Too many messages were sent. Please try again in 24 h.'],
    [429, refusal('quota_exhausted', '', late(7201)), 'Too many messages were sent. Please try again in 3 h.'],
    [429, refusal('project_budget_exhausted', '', late(600)), 'Too many messages were sent. Please try again in 10 min.'],
    [400, refusal('captcha_failed'), 'Please confirm once more that you are human.'],
    [400, refusal('validation_failed', 'reply_to: x', fields('reply_to')), 'Please look at your email address again.'],
    [400, refusal('validation_failed', "text: $' is wrong", fields('text')), "Please look at your input again: text: $' is wrong"],
    [413, refusal('request_too_large'), 'Your message is too long.'],
    [503, refusal('captcha_unavailable'), 'Your message could not be sent. Please try again later.'],
    [502, '<html>', 'Your message could not be sent. Please try again later.'],
  ] as const) {
    await page.unroute('**/v1/messages')
    await page.route('**/v1/messages', (route) =>
      route.fulfill({ status, headers: { 'access-control-allow-origin': '*' }, body: JSON.stringify(answer) }),
    )
    await fillIn(page)
    t.is(await sendAndRead(page), text, JSON.stringify(answer))
    t.is(await page.inputValue('[name=message]'), 'Hello\nthere', 'the entered text stays')
    t.true(await page.isEnabled('button'))
  }
})

test('in a sandboxed frame, the form explains that it does not work there', async (t) => {
  const form = await formOf(t)
  const page = await openAt(t, form.allowed)
  await page.evaluate(`document.body.innerHTML = '<iframe sandbox="allow-scripts allow-forms" src="/"></iframe>'`)
  const frame = await (await page.waitForSelector('iframe')).contentFrame()
  if (!frame) return t.fail('no frame')
  await frame.fill('[name=name]', 'Grace')
  await frame.fill('[name=email]', 'grace@example.net')
  await frame.fill('[name=message]', 'Hello')
  await frame.click('button')
  await becomesTrue(frame, `/^(?!Sending)./.test(document.querySelector('[role=status]').textContent)`)
  t.is(await frame.innerText('[role=status]'), 'This form does not work on this page.')
})

const widgets = {
  turnstile: { host: 'challenges.cloudflare.com', className: 'cf-turnstile', field: 'cf-turnstile-response' },
  hcaptcha: { host: 'js.hcaptcha.com', className: 'h-captcha', field: 'h-captcha-response' },
} as const

for (const provider of ['turnstile', 'hcaptcha'] as const)
  test(`captcha ${provider}: the form sends the solution, and each send needs a new one`, async (t) => {
    const double = await captchaDouble(t)
    const captcha = { captcha_provider: provider, captcha_secret: 'right', captcha_site_key: 'site"key' }
    const form = await formOf(t, captcha, { captcha: double.urls })
    const { host, className, field } = widgets[provider]
    const script = `
      let count = 0
      const box = document.querySelector('.${className}[data-sitekey]')
      const input = box.appendChild(Object.assign(document.createElement('input'), { type: 'hidden', name: '${field}' }))
      window.solve = () => { input.value = 'solved-' + box.dataset.sitekey + ++count }
      window.${provider} = { reset() { input.value = '' } }`
    const page = await openAt(t, form.allowed, { host, script })
    await becomesTrue(page, `'solve' in window`)
    await fillIn(page)
    t.is(await sendAndRead(page), 'Please confirm that you are human.')
    for (const round of [1, 2]) {
      await fillIn(page)
      await page.evaluate('solve()')
      t.regex(await sendAndRead(page), /on its way/)
      t.is(double.asked.at(-1)?.fields['response'], `solved-site"key${round}`)
    }
    t.is((await tracesOf(form)).length, 2)
  })

test('reveal link: shows a key without scripts', async (t) => {
  const fixture = await startFixture(t)
  const key = { allowed_origins: ['https://shop.example.ch'], allowed_to: ['ada@example.ch'], locked_from: 'form@example.ch' }
  const { reveal_url } = await fixture.rest.must('POST', '/v1/publishable-keys', { ...key, reveal: true })
  const context = await browser().newContext({ javaScriptEnabled: false, viewport: { width: 360, height: 640 } })
  t.teardown(() => context.close())
  const page = await context.newPage()
  await page.goto(String(reveal_url).replace(baseUrl, `http://${fixture.address}`))
  await Promise.all([page.waitForEvent('load'), page.click('text=Reveal >> nth=-1')])
  t.regex(await page.innerText('main'), /svcpub_eyJ/)
  t.deepEqual(await overflows(page), [])
  await page.reload()
  t.notRegex(await page.innerText('main'), /svcpub_eyJ/)
})
