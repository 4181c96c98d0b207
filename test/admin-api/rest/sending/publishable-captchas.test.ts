/** The captcha of a publishable key, with fakes of both providers. */
import test from '#test'
import { SecretBox } from '#core/access/secret-box.ts'
import { captchaContext, publishableKeys } from '#core/publishable/publishable-key.ts'
import { Change } from '#store/change.ts'
import { codeOf, origin, page, plain, publishableFixture, tracesOf } from '../fixture/publishable-page.ts'
import { captchaDouble, type Said } from '../fixture/publishable.ts'

for (const provider of ['turnstile', 'hcaptcha'] as const)
  test(`a captcha of ${provider} is solved once for each send`, async (t) => {
    const double = await captchaDouble(t)
    const captcha = { captcha_provider: provider, captcha_secret: 'right', captcha_site_key: 'site' }
    const { send, rest } = await publishableFixture(t, { ...captcha, rates: { per_key_hour: 3 } }, { captcha: double.urls })
    const solved = (token: string) => send({}, { 'x-service-captcha-token': token, 'x-forwarded-for': '192.0.2.9' })
    t.is(codeOf(await send()), '400 captcha_required')
    t.deepEqual(double.asked, [])
    t.is(codeOf(await solved('wrong')), '400 captcha_failed')
    t.is(codeOf(await solved('solved-1')), 200)
    t.deepEqual(double.asked.at(-1), {
      path: `/${provider}`,
      fields: { secret: 'right', response: 'solved-1', remoteip: '192.0.2.9', ...(provider === 'hcaptcha' && { sitekey: 'site' }) },
    })
    t.is(codeOf(await solved('solved-1')), '400 captcha_failed')
    double.say = () => ({ text: '{"success": true}' })
    t.is(codeOf(await solved('solved-1')), '400 captcha_failed', 'also after the provider has forgotten the token')
    const both = await Promise.all([solved('solved-2'), solved('solved-2')])
    t.deepEqual(both.map(codeOf).map(String).toSorted(), ['200', '400 captcha_failed'])
    const asked = double.asked.length
    t.is(codeOf(await solved('solved-3')), 200)
    t.is(codeOf(await solved('solved-4')), '429 rate_limit_exceeded')
    t.is(double.asked.length, asked + 1, 'a full window refuses before the provider is called')
    t.is((await tracesOf(rest)).length, 3)
  })

test('captcha provider failures and a wrong secret are 503, not visitor errors', async (t) => {
  const double = await captchaDouble(t)
  const { send, rest, client } = await publishableFixture(
    t,
    { captcha_provider: 'turnstile', captcha_secret: 'right' },
    { captcha: double.urls },
  )
  const solved = () => send({}, { 'x-service-captcha-token': 'solved' })
  for (const said of [
    { status: 500, text: '{"success": true}' },
    { status: 502, text: '<html>' },
    { status: 302, text: '{"success": true}' },
    { status: 404, text: '{"success": true}' },
    { status: 429, text: '{"success": false, "error-codes": []}' },
    { status: 204, text: '' },
    { text: '<html>' },
    { text: '{}' },
    { text: 'null' },
    { text: '[true]' },
    { text: '{"success": "true"}' },
    { text: '{"success": 1}' },
    { text: '{"success": true' },
    { text: `{"success": true, "padding": "${'x'.repeat(20_000)}"}` },
    { text: '{"success":false,"error-codes":["internal-error"]}' },
    'hang up',
  ] as const) {
    double.say = () => said
    const answer = await solved()
    t.is(codeOf(answer), '503 captcha_unavailable', JSON.stringify(said))
    t.is(answer.headers['access-control-allow-origin'], origin)
  }
  t.deepEqual(await tracesOf(rest), [])
  double.say = undefined
  t.is(codeOf(await solved()), 200, 'the token was not used up')
  for (const code of ['timeout-or-duplicate', 'already-seen-response', 'invalid-input-response', 'something-new']) {
    double.say = () => ({ status: 400, text: JSON.stringify({ success: false, 'error-codes': [code] }) })
    t.is(codeOf(await solved()), '400 captcha_failed', code)
  }
  double.say = undefined
  const wrong = await rest.must('POST', '/v1/publishable-keys', { ...page, captcha_provider: 'hcaptcha', captcha_secret: 'wrong' })
  const answer = await client(String(wrong['raw_token'])).call('POST', '/v1/messages', plain, {
    origin,
    'x-service-captcha-token': 'solved-9',
  })
  t.is(codeOf(answer), '503 captcha_not_configured')
})

test('a captcha provider without an answer times out after eight seconds', async (t) => {
  const double = await captchaDouble(t)
  const { send, rest, clock } = await publishableFixture(
    t,
    { captcha_provider: 'hcaptcha', captcha_secret: 'right' },
    { captcha: double.urls },
  )
  const asked = Promise.withResolvers<void>()
  double.say = () => (asked.resolve(), new Promise(() => undefined))
  const sent = send({}, { 'x-service-captcha-token': 'solved' })
  await asked.promise
  clock.advance(8000)
  const answer = await sent
  t.is(codeOf(answer), '503 captcha_unavailable')
  t.is(answer.headers['retry-after'], '60')
  t.deepEqual(await tracesOf(rest), [])
})

test('while a captcha provider hangs, waiting sends are limited for each key', async (t) => {
  const double = await captchaDouble(t)
  const captcha = { captcha_provider: 'turnstile', captcha_secret: 'right', rates: { per_ip_hour: 0, per_recipient_hour: 0 } }
  const { send, rest, client } = await publishableFixture(t, captcha, { captcha: double.urls })
  const held = Promise.withResolvers<Said>()
  const full = Promise.withResolvers<void>()
  double.say = ({ response }) => {
    if (response === 'other') return { text: '{"success": true}' }
    if (double.asked.length === 32) full.resolve()
    return held.promise
  }
  const waiting = Array.from({ length: 32 }, (_, i) => send({}, { 'x-service-captcha-token': `solved-${i}` }))
  await full.promise
  const answer = await send({}, { 'x-service-captcha-token': 'one-more' })
  t.is(codeOf(answer), '503 captcha_unavailable')
  t.is(double.asked.length, 32)
  const other = client(String((await rest.must('POST', '/v1/publishable-keys', { ...page, ...captcha }))['raw_token']))
  t.is(codeOf(await other.call('POST', '/v1/messages', plain, { origin, 'x-service-captcha-token': 'other' })), 200)
  held.resolve({ text: '{"success": true}' })
  t.deepEqual(new Set((await Promise.all(waiting)).map(codeOf)), new Set([200]))
  t.is(codeOf(await send({}, { 'x-service-captcha-token': 'solved-again' })), 200)
})

test('an unreadable captcha secret is 503, not an error of the visitor', async (t) => {
  const double = await captchaDouble(t)
  const fixture = await publishableFixture(t, { captcha_provider: 'turnstile', captcha_secret: 'right' }, { captcha: double.urls })
  const { database, organizationId, id } = fixture
  const stored = await database.get(publishableKeys, { organizationId }, id)
  const captcha = stored?.record.captcha
  if (!stored || !captcha) return t.fail('the key has no captcha')
  const sealedSecret = new SecretBox(Buffer.alloc(32, 9)).seal('right', captchaContext(id))
  const record = { ...stored.record, captcha: { ...captcha, sealedSecret } }
  await database.commit(new Change().replace(publishableKeys, organizationId, stored, record))
  t.is(codeOf(await fixture.send({}, { 'x-service-captcha-token': 'solved' })), '503 captcha_not_configured')
  t.deepEqual(double.asked, [])
})
