/** Reveal links and snippets over REST. */
import test, { type ExecutionContext } from '#test'
import type { RestAnswer } from '../../../support/daemon/rest.ts'
import { baseUrl, errorOf, objectOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { column } from '../../../support/column.ts'

const page = { allowed_origins: ['https://shop.example.ch'], allowed_to: ['ada@example.ch'], locked_from: 'form@example.ch' }

interface Link {
  readonly id: string
  readonly url: string
  /** The path and query of the URL. */
  readonly path: string
}

async function linkOf({ rest }: Fixture, changes: object = {}): Promise<Link> {
  const minted = await rest.must('POST', '/v1/publishable-keys', { ...page, ...changes, reveal: true })
  const url = String(minted['reveal_url'])
  return { id: String(minted['id']), url, path: url.slice(baseUrl.length) }
}

const asPerson = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', host: 'post.example.ch' }
const asProgram = { accept: 'application/json', host: 'post.example.ch' }
const textOf = ({ bytes }: RestAnswer): string => bytes.toString('utf8')

const started = (t: ExecutionContext): Promise<Fixture> => startFixture(t)

test('createPublishableKey with reveal returns a link that shows the token once', async (t) => {
  const fixture = await started(t)
  const minted = await fixture.rest.call('POST', '/v1/publishable-keys', { ...page, reveal: true })
  t.notRegex(textOf(minted), /svcpub_eyJ/)
  t.is(objectOf(minted)['reveal_expires_in_seconds'], 300)
  const url = String(objectOf(minted)['reveal_url'])
  t.true(url.startsWith(`${baseUrl}/reveal/`))
  const path = url.slice(baseUrl.length)
  for (const accept of [asPerson.accept, '*/*', 'text/html, application/json', '']) {
    const asked = await fixture.rest.call('GET', path, undefined, { ...asPerson, accept })
    t.is(asked.status, 200)
    t.regex(textOf(asked), /<button>Reveal<\/button>/)
    t.notRegex(textOf(asked), /svcpub_eyJ/)
    t.is(asked.headers['cache-control'], 'no-store')
  }
  const shown = await fixture.rest.call('POST', path, undefined, asPerson)
  const [token = ''] = /svcpub_eyJ[\w.-]+/.exec(textOf(shown)) ?? []
  t.is(shown.headers['referrer-policy'], 'no-referrer')
  const sent = await fixture
    .client(token)
    .call('POST', '/v1/messages', { to: 'ada@example.ch', text: 'x' }, { origin: 'https://shop.example.ch' })
  t.is(sent.status, 200)
  for (const method of ['GET', 'POST'] as const) {
    const again = await fixture.rest.call(method, path, undefined, asPerson)
    t.is(again.status, 410)
    t.regex(textOf(again), /already used/)
  }
  const acts = (await fixture.rest.must('GET', '/v1/audit?act=publishable_key'))['data'] as { act: string }[]
  t.deepEqual(column(acts, 'act'), ['publishable_key.revealed', 'publishable_key.minted'])
})

test('a reveal link returns JSON once; of 8 concurrent requests one gets the token', async (t) => {
  const fixture = await started(t)
  const { path } = await linkOf(fixture)
  t.is((await fixture.rest.call('GET', path, undefined, { ...asProgram, accept: '*/*' })).status, 200)
  const answers = await Promise.all(Array.from({ length: 8 }, () => fixture.rest.call('GET', path, undefined, asProgram)))
  const [token] = answers.filter(({ status }) => status === 200).map((answer) => objectOf(answer)['raw_token'])
  t.regex(String(token), /^svcpub_eyJ/)
  t.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, ...Array<number>(7).fill(410)],
  )
  const late = await fixture.rest.call('GET', path, undefined, asProgram)
  t.deepEqual([late.status, errorOf(late).code, errorOf(late).next_action], [410, 'reveal_expired', 'rotate_key'])
})

test('a reveal link expires after five minutes, and a modified link is refused', async (t) => {
  const fixture = await started(t)
  const { path } = await linkOf(fixture)
  for (const wrong of [
    `${path}x`,
    path.slice(0, -1),
    `${path.slice(0, -4)}AAAA`,
    '/reveal/x',
    `/reveal/${'a'.repeat(16)}.${'a'.repeat(43)}`,
  ])
    t.is((await fixture.rest.call('POST', wrong, undefined, asProgram)).status, 410, wrong)
  fixture.clock.advance(5 * 60_000 - 1)
  t.is((await fixture.rest.call('GET', path, undefined, asPerson)).status, 200)
  fixture.clock.advance(1)
  t.is((await fixture.rest.call('GET', path, undefined, asPerson)).status, 410)
  t.is((await fixture.rest.call('POST', path, undefined, asProgram)).status, 410)
})

for (const [what, end] of [
  ['rotated', (fixture: Fixture, id: string) => fixture.rest.must('POST', `/v1/publishable-keys/${id}/rotate`)],
  ['revoked', (fixture: Fixture, id: string) => fixture.rest.must('DELETE', `/v1/publishable-keys/${id}`)],
] as const)
  test(`the reveal link of a key that was ${what} shows no token`, async (t) => {
    const fixture = await started(t)
    const { id, path } = await linkOf(fixture)
    await end(fixture, id)
    for (const method of ['GET', 'POST'] as const) {
      const answer = await fixture.rest.call(method, path, undefined, asProgram)
      t.deepEqual([answer.status, errorOf(answer).code], [410, 'reveal_expired'])
      t.is((await fixture.rest.call(method, path, undefined, asPerson)).status, 410)
    }
  })

test('the reveal page names the key and its origins', async (t) => {
  const fixture = await started(t)
  const named = await linkOf(fixture, { name: 'Contact <form>' })
  const page_ = textOf(await fixture.rest.call('GET', named.path, undefined, asPerson))
  t.true(page_.includes('Contact &lt;form&gt;'))
  t.true(page_.includes('https://shop.example.ch'))
  const nameless = await linkOf(fixture)
  t.true(textOf(await fixture.rest.call('GET', nameless.path, undefined, asPerson)).includes(nameless.id))
})

test('rotatePublishableKey can return a reveal link', async (t) => {
  const fixture = await started(t)
  const { id } = await linkOf(fixture)
  const rotated = await fixture.rest.must('POST', `/v1/publishable-keys/${id}/rotate`, { reveal: true })
  t.is(rotated['raw_token'], undefined)
  const path = String(rotated['reveal_url']).slice(baseUrl.length)
  t.regex(String(objectOf(await fixture.rest.call('POST', path, undefined, asProgram))['raw_token']), /^svcpub_/)
})

test('snippet: a created one consumes the reveal link; a refused request does not', async (t) => {
  const fixture = await started(t)
  const { url, path } = await linkOf(fixture)
  const request = { reveal_url: url, to_address: 'ada@example.ch', from_address: 'form@example.ch' }
  const generate = (changes: object = {}, rest = fixture.rest) =>
    rest.call('POST', '/v1/publishable-keys/snippets', { ...request, ...changes })
  t.regex(errorOf(await generate({ to_address: 'eve@example.ch' })).message, /^to_address: /)
  t.regex(errorOf(await generate({ from_address: 'x@example.ch' })).message, /^from_address: /)
  t.regex(errorOf(await generate({ reveal_url: url.replace('post.', 'evil.') })).message, /^reveal_url: /)
  const twice = [
    { name: 'a', label: 'A' },
    { name: 'a', label: 'B' },
  ]
  t.regex(errorOf(await generate({ form_fields: twice })).message, /^form_fields: /)
  const other = await fixture.addOrganization()
  t.is((await generate({}, other.rest)).status, 404)
  const made = await generate()
  t.is(made.status, 200)
  t.deepEqual(objectOf(made)['allowed_origins'], page.allowed_origins)
  t.is((await generate()).status, 410)
  t.is((await fixture.rest.call('GET', path, undefined, asPerson)).status, 410)
})

test('snippet: refused for the link of a rotated key, or a captcha without site key', async (t) => {
  const fixture = await started(t)
  const snippet = (reveal_url: string) =>
    fixture.rest.call('POST', '/v1/publishable-keys/snippets', {
      reveal_url,
      to_address: 'ada@example.ch',
      from_address: 'form@example.ch',
    })
  const { id, url } = await linkOf(fixture)
  await fixture.rest.must('POST', `/v1/publishable-keys/${id}/rotate`)
  t.is((await snippet(url)).status, 410)
  const captcha = await linkOf(fixture, { captcha_provider: 'turnstile', captcha_secret: 'x' })
  t.regex(refusal(await snippet(captcha.url))[2], /captcha_site_key/)
})

test('snippet: escapes markup in request fields', async (t) => {
  const fixture = await started(t)
  const { url } = await linkOf(fixture)
  const nasty = '"><script>alert(1)</script><!--'
  const made = await fixture.rest.must('POST', '/v1/publishable-keys/snippets', {
    ...{ reveal_url: url, to_address: 'ada@example.ch', from_address: 'form@example.ch', template_style: 'tailwind' },
    form_fields: [{ name: 'x', label: nasty, required: false }],
  })
  const html = String(made['html'])
  t.is(html.match(/<script/g)?.length, 1)
  t.false(html.includes('<!--'))
  t.true(html.includes('&quot;&gt;&lt;script&gt;'))
})
