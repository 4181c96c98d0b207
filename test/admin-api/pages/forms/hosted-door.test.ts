/** Form pages over HTTP: headers, unpublished forms, themes, refusals, and the thank-you link. */
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import test from '#test'
import { golden, type Row } from './golden.ts'
import { baseUrl } from '../../rest/fixture/rest-fixture.ts'
import { footerLinks, startHosted, type Hosted } from './hosted.ts'

const contact = golden['contact'] ?? {}
const one = golden['one'] ?? {}

const tokenIn = (page: string): string => /name="_mnx_ft" value="([^"]+)"/.exec(page)?.[1] ?? ''
const read = async (address: string): Promise<string> => (await fetch(address)).text()

async function send(address: string, fields: Row, headers: Record<string, string> = {}): Promise<Response> {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.append(name, String(value))
  return fetch(address, { method: 'POST', body, headers, redirect: 'manual' })
}

test('hosted form: the policy allows only own content and framing by form origins', async (t) => {
  const hosted = await startHosted(t)
  const { page } = await hosted.publish(contact)
  const { headers, status } = await fetch(page)
  t.is(status, 200)
  t.is(
    headers.get('content-security-policy'),
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https:; font-src 'self'; connect-src 'self'; form-action 'self'; " +
      "base-uri 'none'; object-src 'none'; frame-ancestors *; require-trusted-types-for 'script'; trusted-types 'none'",
  )
  t.is(headers.get('x-content-type-options'), 'nosniff')
  t.is(headers.get('referrer-policy'), 'strict-origin-when-cross-origin')
  t.is(headers.get('permissions-policy'), 'camera=(), microphone=(), geolocation=()')
  t.is(headers.get('cache-control'), 'no-store')
  t.is(headers.get('strict-transport-security'), 'max-age=31536000')
  const settings = { allowed_origins: ['https://shop.example.ch'], captcha: { provider: 'turnstile', site_key: '1x00' } }
  const { page: framed } = await hosted.publish({ ...contact, settings })
  const policy = (await fetch(framed)).headers.get('content-security-policy') ?? ''
  t.regex(policy, /frame-ancestors 'self' https:\/\/shop\.example\.ch/)
  t.regex(policy, /script-src 'self' https:\/\/challenges\.cloudflare\.com;/)
  t.notRegex(policy, /trusted-types/)
  const { page: other } = await hosted.publish({ ...contact, settings: { captcha: { provider: 'hcaptcha', site_key: '1x00' } } })
  const hosts = 'https://hcaptcha.com https://*.hcaptcha.com'
  const both = (await fetch(other)).headers.get('content-security-policy')?.split('; ') ?? []
  for (const directive of ["script-src 'self'", "style-src 'self'", "connect-src 'self'", 'frame-src'])
    t.true(both.includes(`${directive} ${hosts}`), directive)
  t.regex(await read(framed), /<noscript>/)
})

test('hosted form: pages differ by token, version, language and address only', async (t) => {
  const hosted = await startHosted(t)
  const definition = { ...contact, translations: { fr: { title: 'Écrivez-nous' } } }
  const { id, page } = await hosted.publish(definition)
  const [first, second] = [await read(page), await read(page)]
  t.not(tokenIn(first), tokenIn(second))
  t.is(second.replaceAll(tokenIn(second), tokenIn(first)), first)
  const [fragment, again] = [JSON.parse(await read(`${page}/fragment`)) as Row, JSON.parse(await read(`${page}/fragment`)) as Row]
  const html = (row: Row): string => String(row['html']).replaceAll(tokenIn(String(row['html'])), '')
  t.deepEqual({ ...again, html: html(again) }, { ...fragment, html: html(fragment) })
  t.regex(await read(`${page}?lang=fr`), /<html lang="fr"/)
  t.regex(await read(`${page}?lang=fr`), /action="[^"]*lang=fr"/)
  t.notRegex(await read(page), /action="[^"]*lang=fr"/)
  t.not(await read(`${page}?embed=1`), await read(page))
  const head = await fetch(page)
  t.deepEqual([head.headers.get('cache-control'), head.headers.get('content-type')], ['no-store', 'text/html; charset=utf-8'])
  const draft = { ...definition, name: 'Talk to us' }
  t.is((await hosted.rest.call('PUT', `/v1/forms/${id}/draft`, draft, { 'if-match': '"1"' })).status, 200)
  await hosted.rest.must('POST', `/v1/forms/${id}/publish`)
  t.regex(await read(page), /<title>Talk to us<\/title>/)
})

test('hosted form: unknown, unpublished, paused and disabled forms get 404', async (t) => {
  const hosted = await startHosted(t)
  const { id, page } = await hosted.publish(contact)
  const draft = await hosted.rest.must('POST', '/v1/forms', { name: 'Draft', definition: contact })
  const statusOf = async (address: string): Promise<number> => (await fetch(address)).status
  t.is(await statusOf(`${hosted.url}/f/unknown`), 404)
  t.is(await statusOf(`${hosted.url}/f/${String(draft['public_id'])}`), 404)
  const theme = /href="(\/f\/[^"]+\/theme\.[0-9a-f]{16}\.css)"/.exec(await read(page))?.[1] ?? ''
  t.is(await statusOf(hosted.url + theme), 200)
  await hosted.rest.must('POST', `/v1/forms/${id}/pause`)
  for (const address of [page, hosted.url + theme, `${page}/thanks?s=x.y`]) t.is(await statusOf(address), 404)
  t.is((await send(page, { email: 'a@example.ch' })).status, 404)
  t.regex(await read(page), /Form not found/)
  await hosted.rest.must('POST', `/v1/forms/${id}/resume`)
  t.is(await statusOf(page), 200)
  await hosted.operator.must('PUT', `/operator/v1/organizations/${hosted.organizationId}/flags`, { forms: false })
  t.is(await statusOf(page), 404)
})

test('hosted form: themes and styles are cached by hashed names', async (t) => {
  const hosted = await startHosted(t)
  const { page } = await hosted.publish(golden['round'] ?? {})
  const text = await read(page)
  const [style, theme] = [...text.matchAll(/rel="stylesheet" href="([^"]+)"/g)].map(([, path]) => path ?? '')
  for (const path of [style, theme]) {
    const { headers, status } = await fetch(hosted.url + path)
    t.is(status, 200)
    t.is(headers.get('cache-control'), 'public, max-age=31536000, immutable')
    t.regex(headers.get('content-type') ?? '', /^text\/css/)
  }
  const css = await read(hosted.url + (theme ?? ''))
  t.regex(css, /--pf-primary: #A01F63;/i)
  t.regex(css, /--pf-on-primary: #ffffff;/)
  t.regex(css, /prefers-color-scheme: dark/)
  const other = await fetch(hosted.url + (theme ?? '').replace(/[0-9a-f]{16}/, '0'.repeat(16)))
  t.is(other.headers.get('cache-control'), 'no-store')
  t.is((await fetch(`${page}/theme.css`)).headers.get('cache-control'), 'no-store')
  t.is((await fetch(`${page}/other.css`)).status, 404)
  t.is((await fetch(`${hosted.url}/f/assets/nothing.css`)).status, 404)
})

test('hosted form: caches keep one response for all sites, or one for each site', async (t) => {
  const hosted = await startHosted(t)
  const { page, publicId } = await hosted.publish(contact)
  const text = await read(page)
  const [style, theme] = [...text.matchAll(/rel="stylesheet" href="([^"]+)"/g)].map(([, path]) => path ?? '')
  const { script } = (await (await fetch(`${page}/fragment`)).json()) as { script: string }
  const origins = [undefined, hosted.url, 'https://a.example', 'https://b.example', 'null']
  const readable = { style, script, fragment: `/f/${publicId}/fragment`, definition: `/v1/public/forms/${publicId}` }
  for (const [name, path] of Object.entries({ ...readable, theme, page: `/f/${publicId}`, embed: '/embed.js' }))
    for (const encoding of ['gzip', 'identity']) {
      const named: (string | null)[] = []
      for (const origin of origins) {
        const headers = { 'accept-encoding': encoding, ...(origin !== undefined && { origin }) }
        const answer = await fetch(hosted.url + path, { headers })
        await answer.arrayBuffer()
        t.is(answer.status, 200, name)
        const allowed = answer.headers.get('access-control-allow-origin')
        const varies = (answer.headers.get('vary') ?? '').toLowerCase().split(/\s*,\s*/)
        named.push(allowed)
        if (name in readable && origin !== undefined) t.true(allowed === '*' || allowed === origin, `${name} for ${origin}`)
        if (allowed === origin) t.true(varies.includes('origin'), `${name} names ${String(origin)} and varies by ${varies.join(', ')}`)
        if (answer.headers.has('content-encoding')) t.true(varies.includes('accept-encoding'), name)
      }
      if (name === 'style' || name === 'script') t.deepEqual([...new Set(named)], ['*'], `${name} is the same for every site`)
    }
})

async function oneForm(t: Parameters<typeof startHosted>[0], more: Row = {}): Promise<Hosted & Awaited<ReturnType<Hosted['publish']>>> {
  const hosted = await startHosted(t)
  return { ...hosted, ...(await hosted.publish({ ...one, ...more })) }
}

test('hosted form: an expired token returns the answers with a valid token', async (t) => {
  const { page, clock, id, submissions } = await oneForm(t, { settings: { min_fill_seconds: 60 } })
  const old = tokenIn(await read(page))
  clock.advance(25 * 3_600_000)
  const back = await send(page, { email: 'ada@example.ch', _mnx_ft: old })
  t.is(back.status, 422)
  const text = await back.text()
  t.regex(text, /Your answers are still here/)
  t.regex(text, /value="ada@example\.ch"/)
  const sent = await send(page, { email: 'ada@example.ch', _mnx_ft: tokenIn(text) })
  t.is(sent.status, 303)
  t.like(await submissions(id), [{ status: 'new', spam_reasons: [] }], 'a form open for a day is not too fast')
})

test('hosted form: a visitor keeps the version until the form is sent', async (t) => {
  const hosted = await oneForm(t, { settings: { min_fill_seconds: 60 } })
  const { page, clock, id, submissions, rest } = hosted
  const _mnx_ft = tokenIn(await read(page))
  clock.advance(61_000)
  const fields = [{ key: 'name', type: 'text', label: 'Your name', required: true }]
  await rest.must('PUT', `/v1/forms/${id}/draft`, { name: 'Next', schema: { version: 1, fields } })
  await rest.must('POST', `/v1/forms/${id}/publish`)
  t.regex(await read(page), /Your name/)
  const back = await (await send(page, { email: 'nonsense', _mnx_ft })).text()
  t.regex(back, /value="nonsense"/)
  t.notRegex(back, /Your name/)
  const live = (await (await send(page, { email: 'nonsense', _mnx_ft }, { accept: 'application/json' })).json()) as { error: unknown }
  t.like(live.error, { code: 'malformed_submission', details: { fields: { email: [{ code: 'invalid_email' }] } } })
  t.is((await send(page, { email: 'ada@example.ch', _mnx_ft: tokenIn(back) })).status, 303)
  t.like(await submissions(id), [{ version: 1, status: 'new', answers: { email: 'ada@example.ch' } }])
})

test('hosted form: a form that closed later shows the message of its latest version', async (t) => {
  const { page, clock, id, rest } = await oneForm(t)
  const _mnx_ft = tokenIn(await read(page))
  clock.advance(5000)
  const settings = { close_at: new Date(clock.now()).toISOString(), closed_message: 'All seats are taken.' }
  await rest.must('PUT', `/v1/forms/${id}/draft`, { ...one, settings })
  await rest.must('POST', `/v1/forms/${id}/publish`)
  t.regex(await (await send(page, { email: 'ada@example.ch', _mnx_ft })).text(), /All seats are taken\./)
})

test('hosted form: after a day, the newest version replaces it with the answers', async (t) => {
  const { page, clock, id, rest, submissions } = await oneForm(t)
  const _mnx_ft = tokenIn(await read(page))
  await rest.must('PUT', `/v1/forms/${id}/draft`, { ...one, locale: 'de', name: 'Next' })
  await rest.must('POST', `/v1/forms/${id}/publish`)
  clock.advance(25 * 3_600_000)
  const live = (await (await send(page, { email: 'a@b.ch', _mnx_ft }, { accept: 'application/json' })).json()) as { error: unknown }
  t.like(live.error, { code: 'malformed_submission', details: { version: 2 } })
  const back = await (await send(page, { email: 'ada@example.ch', _mnx_ft })).text()
  t.regex(back, /value="ada@example\.ch"/)
  t.regex(back, /Das Formular wurde geändert, nachdem Sie es geöffnet haben/)
  t.is((await send(page, { email: 'ada@example.ch', _mnx_ft: tokenIn(back) })).status, 303)
  t.like(await submissions(id), [{ version: 2, status: 'new' }])
})

test('hosted form: too large submissions return the form, or a page beyond all limits', async (t) => {
  const { page, clock, id, submissions } = await oneForm(t, { locale: 'de' })
  const _mnx_ft = tokenIn(await read(page))
  clock.advance(5000)
  const body = new FormData()
  for (const [name, value] of Object.entries({ email: 'ada@example.ch', _mnx_ft })) body.append(name, value)
  for (let n = 0; n < 6; n++) body.append('cv', new Blob([Buffer.alloc(9 << 20)]), 'cv.pdf')
  const back = await fetch(page, { method: 'POST', body, redirect: 'manual' })
  t.true(back.status >= 400 && back.status < 500, String(back.status))
  const html = await back.text()
  t.regex(html, /value="ada@example\.ch"/)
  t.regex(html, /<html lang="de"/)
  const long = await send(page, { email: 'ada@example.ch', note: 'x'.repeat(70_000), _mnx_ft })
  t.is(long.status, 413)
  const kept = await long.text()
  t.regex(kept, /value="ada@example\.ch"/)
  t.regex(kept, /Das Formular ist zu groß/)
  const headers = {
    'content-length': String(300 * 2 ** 20),
    'content-type': 'multipart/form-data; boundary=x',
    'accept-language': 'fr-CH, de;q=0.8',
  }
  const asked = request(page, { method: 'POST', headers }).on('error', () => undefined)
  asked.flushHeaders()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  t.is(answer.statusCode, 413)
  t.regex(await textOf(answer), /<html lang="fr"[^]*Le formulaire est trop volumineux/)
  asked.destroy()
  t.deepEqual(await submissions(id), [])
})

test('hosted form: a quick correction is accepted; a double click counts once', async (t) => {
  const { page, clock, id, submissions } = await oneForm(t, { settings: { min_fill_seconds: 60 } })
  const token = tokenIn(await read(page))
  clock.advance(61_000)
  const back = await send(page, { email: 'nonsense', _mnx_ft: token })
  t.is(back.status, 422)
  t.is(tokenIn(await back.text()), token)
  const [first, second] = [
    await send(page, { email: 'ada@example.ch', _mnx_ft: token }),
    await send(page, { email: 'ada@example.ch', _mnx_ft: token }),
  ]
  t.is(first.headers.get('location'), second.headers.get('location'))
  const all = await submissions(id)
  t.deepEqual(
    all.map(({ status }) => status),
    ['new'],
  )
})

test('hosted form: spam gets the same thank-you page', async (t) => {
  const { page, clock, id, url, submissions } = await oneForm(t)
  const token = tokenIn(await read(page))
  t.is((await send(page, { email: 'fast@example.ch', _mnx_ft: token })).status, 303)
  clock.advance(5000)
  const trapped = await send(page, { email: 'bot@example.ch', _mnx_hp: 'x', _mnx_ft: tokenIn(await read(page)) })
  t.is(trapped.status, 303)
  t.regex(await read(url + (trapped.headers.get('location') ?? '')), /Thank you/)
  const listed = await submissions(id)
  t.true(listed.every(({ status }) => status === 'spam'))
})

test('hosted form: the thank-you link is sealed, bound to its form, and expires', async (t) => {
  const hosted = await oneForm(t)
  const { page, clock, url } = hosted
  const token = tokenIn(await read(page))
  clock.advance(5000)
  const location = (await send(page, { email: 'ada@example.ch', _mnx_ft: token })).headers.get('location') ?? ''
  const thanks = await fetch(url + location)
  t.is(thanks.status, 200)
  t.is(thanks.headers.get('x-robots-tag'), 'noindex, nofollow')
  t.regex(await thanks.text(), /a•••@example\.ch/)
  const { publicId } = await hosted.publish(contact)
  t.is((await fetch(url + location.replace(/\/f\/[^/]+/, `/f/${publicId}`))).status, 404)
  t.is((await fetch(`${url}${location}x`)).status, 404)
  clock.advance(25 * 3_600_000)
  t.is((await fetch(url + location)).status, 404)
})

test('hosted form: rate, origin and closing errors return the form with answers', async (t) => {
  const hosted = await oneForm(t, { settings: { allowed_origins: ['https://shop.example.ch'] } })
  const { page, clock, url } = hosted
  const values = { email: 'ada@example.ch' }
  const text = await read(page)
  clock.advance(5000)
  const foreign = await send(page, { ...values, _mnx_ft: tokenIn(text) }, { origin: 'https://evil.example' })
  t.is(foreign.status, 403)
  t.regex(await foreign.text(), /value="ada@example\.ch"/)
  t.is((await send(page, { ...values, _mnx_ft: tokenIn(text) }, { origin: url })).status, 303)
  let last = 0
  for (let i = 0; i < 12; i++) {
    const token = tokenIn(await read(page))
    const answer = await send(page, { ...values, _mnx_ft: token }, { origin: url })
    last = answer.status
    if (last !== 429) continue
    t.truthy(answer.headers.get('retry-after'))
    t.regex(await answer.text(), /Wait a minute/)
  }
  t.is(last, 429)
  const { page: full } = await hosted.publish({ ...one, settings: { max_submissions: 1, closed_message: 'All seats are taken.' } })
  const [first, second] = [tokenIn(await read(full)), tokenIn(await read(full))]
  clock.advance(5000)
  t.is((await send(full, { ...values, _mnx_ft: first })).status, 303)
  const late = await send(full, { ...values, _mnx_ft: second })
  t.regex(await late.text(), /All seats are taken\./)
})

test('hosted form: signed hidden values count only from a signed address', async (t) => {
  const hosted = await startHosted(t)
  const fields = [
    { key: 'email', type: 'email', label: 'Email', required: true, prefill: true },
    { key: 'plan', type: 'hidden', source: 'url_param', param: 'p', signed: true },
  ]
  const order = { name: 'Order', schema: { version: 1, fields } }
  const { id, page } = await hosted.publish(order)
  const link = (values: Row): Promise<Row> => hosted.rest.must('POST', `/v1/forms/${id}/prefilled-link`, { values })
  const { search } = new URL(String((await link({ email: 'ada@example.ch', plan: 'gold' }))['url']))
  t.regex(search, /^\?email=ada%40example\.ch&p=gold&_sig=[\w-]{22}$/)
  const hiddenIn = (text: string, name: string): string | undefined => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1]
  const signed = await read(page + search)
  t.deepEqual([hiddenIn(signed, 'plan'), hiddenIn(signed, 'email')], ['gold', undefined])
  t.true(signed.includes('value="ada@example.ch"'))
  t.is(hiddenIn(await read(page + search.replace('gold', 'free')), 'plan'), '', 'a changed value is ignored')
  hosted.clock.advance(5000)
  const _mnx_sig = hiddenIn(signed, '_mnx_sig')
  const refused = await (await send(page, { _mnx_ft: tokenIn(signed), _mnx_sig, plan: 'gold', email: 'ada' })).text()
  t.deepEqual([hiddenIn(refused, 'plan'), hiddenIn(refused, '_mnx_sig')], ['gold', _mnx_sig], 'the form returns with its problems')
  await send(page, { _mnx_ft: tokenIn(refused), _mnx_sig, plan: 'gold', email: 'ada@example.ch' })
  for (const forged of [{ plan: 'free', _mnx_sig }, { plan: 'gold' }, { plan: 'gold', _mnx_sig: 'x' }])
    await send(page, { _mnx_ft: tokenIn(await read(page)), ...forged, email: 'eve@example.ch' })
  const plans = (await hosted.submissions(id)).map(({ answers }) => (answers as Row)['plan'])
  t.deepEqual([plans.length, plans.filter((plan) => plan !== undefined)], [4, ['gold']])
  const wrong = await hosted.rest.call('POST', `/v1/forms/${id}/prefilled-link`, { values: { other: 'x' } })
  t.is(wrong.status, 400)
  const other = await hosted.publish(order)
  const foreign = await read(other.page + search)
  t.is(hiddenIn(foreign, 'plan'), '', 'the link is of another form')
  hosted.clock.advance(5000)
  await send(other.page, { _mnx_ft: tokenIn(foreign), _mnx_sig, plan: 'gold', email: 'eve@example.ch' })
  t.like(await hosted.submissions(other.id), [{ status: 'new', answers: { email: 'eve@example.ch', plan: undefined } }])
})

test('hosted form: the footer links privacy information and the report address', async (t) => {
  const hosted = await startHosted(t, { settings: footerLinks })
  const { publicId, page } = await hosted.publish(one)
  const linksOf = async (address: string): Promise<readonly (string | undefined)[]> =>
    [...(await read(address)).matchAll(/<a href="([^"]+)" target="_blank" rel="noopener">/g)].map(([, href]) => href)
  const form = encodeURIComponent(`${baseUrl}/f/${publicId}`)
  const both = ['https://www.example.ch/privacy', `https://www.example.ch/abuse?from=forms&amp;form=${form}`]
  t.deepEqual(await linksOf(page), both)
  t.deepEqual(await linksOf(`${page}?embed=1`), both)
  const byMail = await startHosted(t, { settings: { POSTERN_FORMS_REPORT_URL: 'abuse@example.ch' } })
  const { page: other, publicId: id } = await byMail.publish(one)
  t.deepEqual(await linksOf(other), [`mailto:abuse@example.ch?subject=${encodeURIComponent(`${baseUrl}/f/${id}`)}`])
})
