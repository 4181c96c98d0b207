/** Published forms for visitors: their definition, and every outcome of a submission. Spec "Public forms", "Errors". */
import test from '#test'
import { hash } from 'node:crypto'
import type { RestAnswer } from '../../../support/daemon/rest.ts'
import { forms, formVersions, versionId } from '#core/forms/form.ts'
import { openFormWindows } from '#core/forms/submissions/form-windows.ts'
import { organizations } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import { codeOf } from '../fixture/publishable-page.ts'
import { captchaDouble } from '../fixture/publishable.ts'
import { errorOf } from '../fixture/rest-fixture.ts'
import { definition, formFixture } from './visitor.ts'

type Row = Readonly<Record<string, unknown>>

/** A boundary as browsers write it. */
const boundary = '------WebKitFormBoundary7MA4YWxkTrZu0gW'
const multipartType = `multipart/form-data; boundary=${boundary.slice(2)}`

const good = { email: 'ada@example.ch', message: 'Hello.' }
const fieldsOf = (answer: RestAnswer): unknown =>
  Object.fromEntries(
    Object.entries((errorOf(answer).details?.['fields'] ?? {}) as Record<string, { code: string }[]>).map(([key, [first]]) => [
      key,
      first?.code,
    ]),
  )

test('a published form is public, with a fresh token each time; other forms are not found', async (t) => {
  const { get, rest, path, operator, organizationId, publish } = await formFixture(t)
  const { status, headers, body } = await get()
  t.deepEqual([status, headers['cache-control']], [200, 'no-store'])
  const { public_id, fill_time_token, ...rest_ } = body as Row
  t.regex(String(fill_time_token), /^ft1\.[\w-]+\.[\w-]{22}$/)
  t.not(fill_time_token, ((await get()).body as Row)['fill_time_token'])
  t.like(rest_, {
    version: 1,
    name: 'Contact',
    honeypot_key: '_mnx_hp',
    closed: false,
    uploads: { enabled: true, max_files: 5, max_bytes: 10_485_760 },
  })
  t.deepEqual((rest_['schema'] as Row)['layout'], {
    version: 1,
    rows: ['email', 'message', 'topics'].map((key) => ({ fields: [key], spans: [12] })),
  })
  t.false('settings' in rest_)
  t.is(typeof public_id, 'string')
  await publish({ translations: { fr: { 'fields.email.label': 'Adresse' } } })
  const french = (await get('lang=fr-CH')).body as { version: number; schema: { fields: Row[] } }
  t.deepEqual([french.version, french.schema.fields[0]?.['label']], [2, 'Adresse'])
  const code = async (): Promise<unknown> => codeOf(await get())
  for (const [leave, back] of [
    ['pause', 'resume'],
    ['archive', 'unarchive'],
  ]) {
    await rest.must('POST', `${path}/${String(leave)}`)
    t.is(await code(), '404 form_not_found')
    await rest.must('POST', `${path}/${String(back)}`)
  }
  await rest.must('POST', `${path}/resume`)
  t.is(await code(), 200)
  const flags = `/operator/v1/organizations/${organizationId}/flags`
  await operator.must('PUT', flags, { forms: false })
  t.is(await code(), '404 form_not_found', 'the flag of the owning organization')
  await operator.must('PUT', flags, { forms: true })
  await rest.must('DELETE', `${path}?confirm=Contact`)
  t.is(await code(), '404 form_not_found')
})

test('answers are accepted as wrapped or bare JSON, form or multipart, with their version', async (t) => {
  const { token, send, post, submissions, form } = await formFixture(t)
  const wrapped = await send(good)
  t.is(wrapped.status, 201)
  t.like(wrapped.body, { message: 'We read every message.', title: 'Thank you', redirect_url: null })
  t.is((await post(JSON.stringify({ ...good, _mnx_ft: await token() }), 'application/json')).status, 201)
  const form_ = new URLSearchParams({ ...good, _mnx_ft: await token(), _mnx_hp: '' })
  for (const topic of ['b', 'a']) form_.append('topics', topic)
  t.is((await post(form_.toString(), 'application/x-www-form-urlencoded')).status, 201)
  const multipart = async (parts: Row): Promise<RestAnswer> => {
    const body = Object.entries(parts).map(
      ([name, value]) => `${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${String(value)}\r\n`,
    )
    return post(`${body.join('')}${boundary}--\r\n`, multipartType)
  }
  t.is((await multipart({ data: JSON.stringify({ data: good }), _mnx_ft: await token() })).status, 201)
  t.is((await multipart({ ...good, _mnx_ft: await token() })).status, 201)
  const list = await submissions()
  t.is(list.length, 5)
  for (const row of list) t.like(row, { form_id: form, version: 1, status: 'new', files: [], spam_reasons: [], fill_ms: 5000 })
  t.deepEqual(
    list.map(({ answers }) => answers),
    [good, good, { ...good, topics: ['a', 'b'] }, good, good],
  )
  t.is(list.at(-1)?.['id'], (wrapped.body as Row)['id'])
  t.regex(String(list[0]?.['ip']), /^[\w-]{22}$/, 'addresses are hashed')
})

test('invalid answers are reported by field, and none of them is stored', async (t) => {
  const { send, post, token, submissions } = await formFixture(t)
  const wrong = await send({ email: 'ada@', topics: ['c'], other: 'x' })
  t.is(wrong.status, 400)
  t.like(errorOf(wrong), {
    ...{ code: 'malformed_submission', next_action: 'fix_fields', message: 'Some answers are missing or wrong: email, topics.' },
    details: { fields: { email: [{ code: 'invalid_email', message: 'Enter an email address such as ada@example.ch.' }] } },
  })
  t.deepEqual(fieldsOf(wrong), { email: 'invalid_email', topics: 'not_an_option' })
  t.deepEqual(fieldsOf(await send({})), { email: 'required' })
  for (const [body, type] of [
    ['{', 'application/json'],
    ['[]', 'application/json'],
    ['x', multipartType],
  ] as const)
    t.is(codeOf(await post(body, type)), '400 malformed_submission', body)
  t.is(codeOf(await post(JSON.stringify({ message: 'x'.repeat(70_000) }), 'application/json')), '413 request_too_large')
  t.is(codeOf(await post('x', 'text/plain')), '415 unsupported_media_type')
  const part = `${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\nx\r\n`
  const data = `${boundary}\r\nContent-Disposition: form-data; name="data"\r\n\r\n${JSON.stringify({ ...good, _mnx_ft: await token() })}\r\n`
  t.is(codeOf(await post(`${data}${part}${boundary}--\r\n`, multipartType)), '400 file_uploads_unavailable')
  t.deepEqual(await submissions(), [])
  t.is((await send({ ...good, other: 'x' })).status, 201)
  t.like(await submissions(), [{ answers: good, unknown_keys: 1 }])
})

test('a missing, forged, foreign or expired token is refused with a fresh one', async (t) => {
  const { send, token, rest } = await formFixture(t)
  const other = await rest.must('POST', '/v1/forms', { name: 'Other', definition })
  await rest.must('POST', `/v1/forms/${String(other['id'])}/publish`)
  const foreign = String((await rest.must('GET', `/v1/public/forms/${String(other['public_id'])}`))['fill_time_token'])
  const own = await token()
  const forged = `${own.slice(0, -2)}${own.endsWith('AA') ? 'BB' : 'AA'}`
  const fault = async (given: unknown): Promise<unknown> => {
    const answer = await send(good, { _mnx_ft: given })
    t.is(codeOf(answer), '400 malformed_submission')
    const fresh = errorOf(answer).details?.['fill_time_token']
    t.regex(String(fresh), /^ft1\./)
    return (fieldsOf(answer) as Row)['_mnx_ft']
  }
  t.is(await fault(''), 'required')
  for (const bad of [forged, foreign, 'ft1.x.y', 7, own.replace('ft1', 'ft2')]) t.is(await fault(bad), 'invalid_token', String(bad))
  t.is(await fault(await token(24 * 3_600_000 + 1)), 'token_expired')
  const answer = await send(good, { _mnx_ft: await token(25 * 3_600_000) })
  const fresh = errorOf(answer).details?.['fill_time_token']
  t.is((await send(good, { _mnx_ft: fresh })).status, 201, 'the same answers are accepted with the fresh token')
})

test('the token: a new one replaces a token of a version that a restore lost', async (t) => {
  const { send, token, form, database, organizationId, publish, submissions } = await formFixture(t)
  const find = async () => (await database.get(forms, { organizationId }, form)) ?? t.fail('the form is gone')
  const backedUp = await find()
  await publish({ name: 'Next' })
  const _mnx_ft = await token()
  const restored = new Change().delete([organizationId, formVersions.name, versionId(form, 2)])
  await database.commit(restored.replace(forms, organizationId, await find(), backedUp.record))
  const answer = await send(good, { _mnx_ft })
  t.deepEqual([codeOf(answer), fieldsOf(answer)], ['400 malformed_submission', { _mnx_ft: 'token_expired' }])
  t.is((await send(good, { _mnx_ft: errorOf(answer).details?.['fill_time_token'] })).status, 201)
  t.like(await submissions(), [{ version: 1, status: 'new' }])
})

test('a double click stores one submission; a token reused with other answers is spam', async (t) => {
  const { send, token, submissions, publish } = await formFixture(t)
  const _mnx_ft = await token()
  const answers = await Promise.all([1, 2, 3].map(() => send(good, { _mnx_ft })))
  t.deepEqual(
    answers.map(({ status }) => status),
    [201, 201, 201],
  )
  t.is(new Set(answers.map(({ body }) => (body as Row)['id'])).size, 1)
  t.is((await submissions()).length, 1)
  await publish({ settings: { max_submissions: 1 } })
  const lost = await send(good, { _mnx_ft })
  t.deepEqual([lost.status, lost.body], [201, answers[0]?.body], 'a repeated request gets the same answer, also when the form is full')
  t.is(codeOf(await send(good)), '404 form_not_found')
  await publish({})
  const reused = await send({ ...good, message: 'Buy!' }, { _mnx_ft })
  t.is(reused.status, 201)
  t.like(await submissions('status=spam'), [{ spam_reasons: ['token_reuse'], answers: { message: 'Buy!' } }])
})

test('spam: stored, flagged and thanked, but not counted toward limit or usage', async (t) => {
  const { send, token, clock, submissions, get, rest } = await formFixture(t, { settings: { max_submissions: 1 } })
  const trapped = await send({ email: 'x', message: 'Buy!' }, { _mnx_hp: 'yes', _mnx_ft: 'none' })
  const _mnx_ft = await token(500)
  const fast = await send(good, { _mnx_ft })
  clock.advance(5000)
  const reused = await send({ ...good, message: 'Buy!' }, { _mnx_ft })
  t.like((await get()).body, { closed: false })
  const usual = await send(good)
  t.deepEqual(
    [trapped, fast, reused, usual].map(({ status }) => status),
    [201, 201, 201, 201],
  )
  t.deepEqual(Object.keys(trapped.body as Row), Object.keys(usual.body as Row))
  t.deepEqual(
    (await submissions()).map(({ status, spam_reasons }) => [status, spam_reasons]),
    [
      ['new', []],
      ['spam', ['token_reuse']],
      ['spam', ['too_fast']],
      ['spam', ['honeypot']],
    ],
  )
  t.like((await get()).body, { closed: true })
  const { axes } = (await rest.must('GET', '/v1/usage')) as unknown as { axes: Row[] }
  t.like(
    axes.find(({ axis }) => axis === 'form_submissions'),
    { quantity: 1 },
  )
})

test('a submission uses the version of its token and stays readable in that version', async (t) => {
  const { send, token, publish, submissions } = await formFixture(t)
  const _mnx_ft = await token()
  await publish({ schema: { version: 1, fields: [{ key: 'name', type: 'text', label: 'Name', required: true }] } })
  t.is((await send(good, { _mnx_ft })).status, 201)
  t.deepEqual(fieldsOf(await send(good)), { name: 'required' })
  t.is((await send({ name: 'Ada' })).status, 201)
  t.deepEqual(
    (await submissions()).map(({ version, answers }) => [version, answers]),
    [
      [2, { name: 'Ada' }],
      [1, good],
    ],
  )
})

test('origins: any without a list, else those listed; all pages can read the answer', async (t) => {
  const { send, publish, get } = await formFixture(t)
  const from = (origin: string) => send(good, {}, { origin })
  const taken = await from('https://anywhere.example')
  t.deepEqual([taken.status, taken.headers['access-control-allow-origin']], [201, 'https://anywhere.example'])
  t.is((await get('', { origin: 'https://anywhere.example' })).headers['access-control-allow-origin'], 'https://anywhere.example')
  await publish({ settings: { allowed_origins: ['https://shop.example.ch'] } })
  t.is((await from('https://shop.example.ch')).status, 201)
  t.is((await from('https://post.example.ch')).status, 201, 'pages of the service')
  const refused = await from('https://evil.example')
  t.like(errorOf(refused), { code: 'origin_not_allowed', details: { allowed_origins: ['https://shop.example.ch'] } })
  t.is(refused.headers['access-control-allow-origin'], 'https://evil.example', 'the page can inform its visitor')
  t.is(codeOf(await send(good)), '403 origin_not_allowed', 'without an origin')
})

test('a form accepts 1,000 submissions an hour, from any number of visitors', async (t) => {
  const { send, form, database, organizationId, clock } = await formFixture(t)
  const organization = (await database.get(organizations, { organizationId }, organizationId))?.record
  t.truthy(organization)
  if (!organization) return
  const windows = await openFormWindows(database, { organization, formId: form, remoteAddress: '203.0.113.9' }, clock.now())
  const ofAll = windows.find(({ most }) => most > 60)
  t.is(ofAll?.most, 1000)
  await database.commit(new Change().add(ofAll?.key ?? [], 999))
  t.is((await send(good)).status, 201)
  const refused = await send(good)
  t.is(codeOf(refused), '429 rate_limit_exceeded')
  t.regex(errorOf(refused).message, /1000 times in an hour by all visitors/)
  t.true(Number(refused.headers['retry-after']) > 3000)
  clock.advance(76 * 60_000)
  t.is((await send(good)).status, 201)
})

test('a valid signature keeps signed hidden values; without it they are dropped', async (t) => {
  const plan = { key: 'plan', type: 'hidden', source: 'url_param', param: 'plan', signed: true }
  const { send, rest, path, submissions } = await formFixture(t, { schema: { version: 1, fields: [...definition.schema.fields, plan] } })
  const { url } = await rest.must('POST', `${path}/prefilled-link`, { values: { plan: 'gold' } })
  const signature = new URL(String(url)).searchParams.get('_sig')
  for (const more of [{ _mnx_sig: signature }, {}, { _mnx_sig: 'x' }]) t.is((await send({ ...good, plan: 'gold' }, more)).status, 201)
  t.is((await send({ ...good, plan: 'silver' }, { _mnx_sig: signature })).status, 201)
  const plans = (await submissions()).map(({ answers }) => (answers as Row)['plan'])
  t.deepEqual(plans.toReversed(), ['gold', undefined, undefined, undefined])
})

test('addresses: stored as the same text in one form, and as another text in other forms', async (t) => {
  const { send, rest, clock, submissions } = await formFixture(t)
  for (const _ of [1, 2]) t.is((await send(good, {}, { 'x-forwarded-for': '192.0.2.1' })).status, 201)
  const { id, public_id } = await rest.must('POST', '/v1/forms', { name: 'Other', definition })
  await rest.must('POST', `/v1/forms/${String(id)}/publish`)
  const open = `/v1/public/forms/${String(public_id)}`
  const { fill_time_token: _mnx_ft } = await rest.must('GET', open)
  clock.advance(5000)
  t.is((await rest.call('POST', `${open}/submissions`, { data: good, _mnx_ft }, { 'x-forwarded-for': '192.0.2.1' })).status, 201)
  const { data } = await rest.must('GET', `/v1/forms/${String(id)}/submissions`)
  const [[{ ip: other } = {}], own] = [data as Row[], new Set((await submissions()).map(({ ip }) => ip))]
  t.regex(String(other), /^[\w-]{22}$/)
  t.deepEqual([own.size, own.has(other)], [1, false])
})

test('a captcha is solved once for each submission, by header or field', async (t) => {
  const double = await captchaDouble(t)
  const settings = { captcha: { provider: 'turnstile', site_key: 'site' } }
  const { send, rest, path, get } = await formFixture(t, { settings }, { captcha: double.urls })
  t.like((await get()).body, { captcha: settings.captcha })
  t.is(codeOf(await send(good, { captcha_token: 'solved-0' })), '503 captcha_not_configured')
  t.like(await rest.must('PUT', `${path}/captcha-secret`, { secret: 'right' }), { has_captcha_secret: true })
  t.is(codeOf(await send(good)), '400 captcha_required')
  t.is(codeOf(await send(good, { captcha_token: 'wrong' })), '400 captcha_failed')
  t.is(codeOf(await send(good, { captcha_token: 'solved-1' })), 201)
  t.is(codeOf(await send(good, {}, { 'x-service-captcha-token': 'solved-2' })), 201)
  double.say = () => ({ text: '{"success": true}' })
  t.is(codeOf(await send(good, { captcha_token: 'solved-1' })), '400 captcha_failed', 'also after the provider has forgotten the token')
  t.like(await rest.must('PUT', `${path}/captcha-secret`, { secret: null }), { has_captcha_secret: false })
})

test("rate limits, the plan's daily limit, and closed forms", async (t) => {
  const { send, clock, publish, operator, organizationId, get, rest } = await formFixture(t, { settings: { max_submissions: 70 } })
  const of = (address: string) => send(good, {}, { 'x-forwarded-for': address })
  for (let i = 0; i < 10; i++) t.is((await of('192.0.2.1')).status, 201)
  clock.advance(1)
  t.is((await of('192.0.2.2')).status, 201, 'another visitor')
  clock.advance(61_000)
  const limit = { form_submissions_per_day: 12 }
  await operator.must('PUT', `/operator/v1/organizations/${organizationId}/overrides`, limit)
  t.is((await of('192.0.2.1')).status, 201)
  const full = await of('192.0.2.3')
  t.is(codeOf(full), '429 quota_exhausted')
  t.true(Number(full.headers['retry-after']) > 3600)
  const usage = (await rest.must('GET', '/v1/usage')) as unknown as { axes: Row[]; limits: Row[] }
  t.like(
    usage.axes.find(({ axis }) => axis === 'form_submissions'),
    { quantity: 12 },
  )
  t.deepEqual(
    usage.limits.find(({ name }) => name === 'form_submissions_today'),
    { name: 'form_submissions_today', used: 12, limit: 12 },
  )
  await operator.must('PUT', `/operator/v1/organizations/${organizationId}/overrides`, { form_submissions_per_day: 14 })
  const tokens = await Promise.all(Array.from({ length: 5 }, async () => String(((await get()).body as Row)['fill_time_token'])))
  clock.advance(5000)
  const crowd = await Promise.all(tokens.map((_mnx_ft, at) => send(good, { _mnx_ft }, { 'x-forwarded-for': `192.0.2.${50 + at}` })))
  t.deepEqual(crowd.map((one) => String(codeOf(one))).toSorted(), ['201', '201', ...Array<string>(3).fill('429 quota_exhausted')])
  await operator.must('PUT', `/operator/v1/organizations/${organizationId}/overrides`, { form_submissions_per_day: -1 })
  await publish({ settings: { max_submissions: 15 } })
  t.is((await of('192.0.2.4')).status, 201)
  t.like((await get()).body, { closed: true })
  t.like(errorOf(await of('192.0.2.5')), { code: 'form_not_found', message: 'This form takes no more answers.', details: { closed: true } })
  await publish({ settings: { close_at: new Date(clock.now() + 60_000).toISOString() } })
  t.is((await of('192.0.2.6')).status, 201)
  clock.advance(60_000)
  t.is(codeOf(await of('192.0.2.7')), '404 form_not_found')
})

test('an address may send ten times in a minute', async (t) => {
  const { send, get, clock } = await formFixture(t)
  const tokens = await Promise.all(Array.from({ length: 11 }, async () => String(((await get()).body as Row)['fill_time_token'])))
  clock.advance(5000)
  const answers = await Promise.all(tokens.map((_mnx_ft) => send(good, { _mnx_ft }, { 'x-forwarded-for': '192.0.2.1' })))
  t.deepEqual(answers.map((answer) => String(codeOf(answer))).toSorted(), [...Array<string>(10).fill('201'), '429 rate_limit_exceeded'])
  t.is(answers.find(({ status }) => status === 429)?.headers['retry-after'], '70', 'after the slice has left the window')
})

test('consent is stored with its display language; the thank-you text matches', async (t) => {
  const fields = [{ key: 'terms', type: 'consent', label: 'Terms', text: 'I agree.' }]
  const fr = { 'fields.terms.text': 'Je suis d’accord.', 'thank_you.body': 'Merci.' }
  const { get, clock, send, submissions } = await formFixture(t, { schema: { version: 1, fields }, translations: { fr } })
  const sent = async (lang: string): Promise<unknown> => {
    const { fill_time_token: _mnx_ft } = (await get(`lang=${lang}`)).body as Row
    clock.advance(5000)
    return ((await send({ terms: true }, { _mnx_ft })).body as Row)['message']
  }
  t.deepEqual([await sent('en'), await sent('fr-CH')], ['We read every message.', 'Merci.'])
  const shown = (text: string) => [{ field: 'terms', sha256: hash('sha256', text) }]
  t.deepEqual(
    (await submissions()).map(({ consents }) => consents),
    [shown('Je suis d’accord.'), shown('I agree.')],
  )
})
