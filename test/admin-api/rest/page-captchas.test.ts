/** The captcha of a publishable key, with both providers played. */
import test from 'ava'
import { codeOf, origin, page, plain, siteOf, tracesOf } from './page-site.ts'
import { captchaDouble } from './publishable.ts'

for (const provider of ['turnstile', 'hcaptcha'] as const)
  test(`a captcha of ${provider} is solved once for each send`, async (t) => {
    const double = await captchaDouble(t)
    const captcha = { captcha_provider: provider, captcha_secret: 'right', captcha_site_key: 'site' }
    const { send, rest } = await siteOf(t, { ...captcha, rates: { per_key_hour: 3 } }, { captcha: double.urls })
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
    t.is(codeOf(await solved('solved-1')), '400 captcha_failed', 'also when the provider has forgotten')
    const both = await Promise.all([solved('solved-2'), solved('solved-2')])
    t.deepEqual(new Set(both.map(codeOf)), new Set([200, '400 captcha_failed']))
    const asked = double.asked.length
    t.is(codeOf(await solved('solved-3')), 200)
    t.is(codeOf(await solved('solved-4')), '429 rate_limit_exceeded')
    t.is(double.asked.length, asked + 1, 'a full window comes before the provider')
    t.is((await tracesOf(rest)).length, 3)
  })

test('a provider that cannot be asked or blames the secret is no fault of the visitor', async (t) => {
  const double = await captchaDouble(t)
  const { send, rest, client } = await siteOf(t, { captcha_provider: 'turnstile', captcha_secret: 'right' }, { captcha: double.urls })
  const solved = () => send({}, { 'x-service-captcha-token': 'solved' })
  for (const said of [
    { status: 500, text: '{"success": true}' },
    { text: '<html>' },
    { text: '{}' },
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
  const wrong = await rest.must('POST', '/v1/publishable-keys', { ...page, captcha_provider: 'hcaptcha', captcha_secret: 'wrong' })
  const answer = await client(String(wrong['raw_token'])).call('POST', '/v1/messages', plain, {
    origin,
    'x-service-captcha-token': 'solved-9',
  })
  t.is(codeOf(answer), '503 captcha_not_configured')
})
