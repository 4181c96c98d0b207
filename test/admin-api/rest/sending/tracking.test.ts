/** Click and open tracking for callers, recipients and other organizations. */
import { request, type IncomingHttpHeaders } from 'node:http'
import test, { type ExecutionContext } from '#test'
import { SecretBox } from '#core/access/secret-box.ts'
import { traces } from '#core/trace/trace.ts'
import { clickToken } from '#core/tracking/click-token.ts'
import { Change } from '#store/change.ts'
import { readWholeContent } from '#store/content.ts'
import { newTraceId } from '#store/ids.ts'
import type { PlanName } from '#config/plans/plans.ts'
import { addDestination, baseUrl, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { columns } from '../../../support/column.ts'

const target = 'https://shop.test/order?id=1&lang=de'
const html = '<p>Thank you. <a href="https://shop.test/order?id=1&amp;lang=de">Your order</a></p>'
const message = { from: 'shop@example.ch', to: 'ada@example.ch', subject: 'Your order', html }
const both = { click_tracking_enabled: true, open_tracking_enabled: true }

interface Got {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

/** Makes a request as a mail client or browser: without a key, and without following redirects. */
const get = ({ address }: Fixture, path: string, method = 'GET'): Promise<Got> =>
  new Promise((resolve, reject) => {
    const [host, port] = address.split(':')
    const sent = request({ host, port, path, method, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }))
    })
    sent.on('error', reject)
    sent.end()
  })

async function relaying(t: ExecutionContext, plan: PlanName = 'enterprise', settings: Record<string, string> = {}): Promise<Fixture> {
  const fixture = await startFixture(t, { plan, settings })
  const live = await addDestination(fixture.rest, {}, true)
  await fixture.rest.must('POST', '/v1/routing/rules', { match: 'example.ch', destination_id: live })
  return fixture
}

/** Sends; returns the trace's id and the stored message, unfolded and decoded. */
async function send(fixture: Fixture, fields: object): Promise<{ readonly id: string; readonly text: string }> {
  const { trace_id } = await fixture.rest.must('POST', '/v1/messages', { ...message, ...fields })
  const id = String(trace_id)
  const stored = await fixture.database.get(traces, fixture, id)
  if (!stored) throw new Error('the trace is not there')
  const raw = Buffer.from(await readWholeContent(fixture.database, fixture.organizationId, stored.record.content)).toString()
  return { id, text: raw.replaceAll('=\r\n', '').replaceAll('=3D', '=') }
}

const pathIn = (text: string, kind: 'c' | 'o'): string => new RegExp(`${baseUrl}(/t/${kind}/[\\w-]+)`).exec(text)?.[1] ?? ''

interface WireTrace {
  readonly tracking: Record<string, unknown> | null
  readonly timeline: readonly { readonly event: string; readonly detail: Record<string, unknown> }[]
}
const traceOf = async (fixture: Fixture, id: string) => (await fixture.rest.must('GET', `/v1/traces/${id}`)) as unknown as WireTrace

test('links in a message with an embedded picture of usual size are tracked', async (t) => {
  const fixture = await relaying(t, 'enterprise', { POSTERN_SUBMISSION_MAX_MESSAGE_BYTES: '3145728' })
  const picture = `<img src="data:image/png;base64,${'A'.repeat(1_200_000)}">`
  const { id, text } = await send(fixture, { html: `${picture}${html}`, ...both })
  t.like(await fixture.rest.must('GET', `/v1/traces/${id}`), { tracking: { untracked_reason: null } })
  t.is((await get(fixture, pathIn(text, 'c'))).headers.location, target)
})

test('sendMessage with tracking rewrites links; the trace shows which recipient clicked', async (t) => {
  const fixture = await relaying(t)
  const { id, text } = await send(fixture, both)
  t.false(text.includes('shop.test'))
  const click = await get(fixture, pathIn(text, 'c'))
  t.is(click.status, 302)
  t.is(click.headers.location, target)
  t.like(click.headers, { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow' })
  t.is(click.bytes.length, 0)
  const open = await get(fixture, pathIn(text, 'o'))
  t.is(open.status, 200)
  t.is(open.bytes.length, 43)
  t.is(open.bytes.toString('latin1', 0, 6), 'GIF89a')
  t.like(open.headers, { 'content-type': 'image/gif', 'content-length': '43', 'cache-control': 'no-store' })
  await fixture.engagements.settled()
  const { tracking, timeline } = await traceOf(fixture, id)
  t.deepEqual(tracking, { clicks: true, links: 1, opens: true, untracked_reason: null, clicks_seen: 1, opens_seen: 1 })
  t.deepEqual(
    columns(
      timeline.filter(({ event }) => ['tracking', 'clicked', 'opened'].includes(event)),
      'event',
      'detail',
    ),
    [
      ['tracking', { clicks: true, links: 1, opens: true, untracked_reason: null }],
      ['opened', { recipient: 'ada@example.ch' }],
      ['clicked', { recipient: 'ada@example.ch', link: 1, url: target }],
    ],
  )
  const shared = (await get(fixture, `/share/traces/${id}`)).bytes.toString()
  t.notRegex(shared, /tracking|clicked|opened|shop\.test/)
})

test('HEAD redirects and is not counted', async (t) => {
  const fixture = await relaying(t)
  const { id, text } = await send(fixture, both)
  const head = await get(fixture, pathIn(text, 'c'), 'HEAD')
  t.is(head.status, 302)
  t.is(head.headers.location, target)
  t.is((await get(fixture, pathIn(text, 'o'), 'HEAD')).status, 200)
  await fixture.engagements.settled()
  t.like((await traceOf(fixture, id)).tracking, { clicks_seen: 0, opens_seen: 0 })
})

test('sendMessage leaves HTML unchanged without tracking fields or plan, or if captured', async (t) => {
  const fixture = await relaying(t)
  for (const fields of [{}, { click_tracking_enabled: false, open_tracking_enabled: false }]) {
    const { id, text } = await send(fixture, fields)
    t.true(text.endsWith(html))
    t.is((await traceOf(fixture, id)).tracking, null)
  }
  const captured = await send(fixture, { ...both, from: 'shop@unrouted.ch' })
  t.true(captured.text.endsWith(html))
  t.like((await traceOf(fixture, captured.id)).tracking, { clicks: false, opens: false, untracked_reason: 'captured' })
  const free = await relaying(t, 'free')
  const barred = await send(free, both)
  t.true(barred.text.endsWith(html))
  t.like((await traceOf(free, barred.id)).tracking, { clicks: false, opens: false, untracked_reason: 'plan' })
})

test('sendMessage does not rewrite its unsubscribe link, and accepts only booleans', async (t) => {
  const fixture = await relaying(t)
  const { text } = await send(fixture, { ...both, list_unsubscribe: true, html: `${html}<a href="${baseUrl}/unsubscribe/abc">out</a>` })
  t.true(text.includes(`<${baseUrl}/unsubscribe/`) && text.includes(`<a href="${baseUrl}/unsubscribe/abc">`))
  const wrong = await fixture.rest.call('POST', '/v1/messages', { ...message, click_tracking_enabled: 'yes' })
  t.is(wrong.status, 400)
})

test('a link of a deleted trace still redirects, and the image is still served', async (t) => {
  const fixture = await relaying(t)
  const { id, text } = await send(fixture, both)
  const stored = await fixture.database.get(traces, fixture, id)
  if (stored) await fixture.database.commit(new Change().remove(traces, fixture.organizationId, stored))
  t.is((await get(fixture, pathIn(text, 'c'))).headers.location, target)
  t.is((await get(fixture, pathIn(text, 'o'))).bytes.length, 43)
})

test('a changed, shortened or invented link does not redirect', async (t) => {
  const fixture = await relaying(t)
  const { id, text } = await send(fixture, both)
  const path = pathIn(text, 'c')
  const elsewhere = clickToken(new SecretBox(Buffer.alloc(32, 9)), { traceId: newTraceId(), link: 1, target: 'https://evil.test/' })
  const swapped = path.slice(0, -1) + (path.endsWith('A') ? 'B' : 'A')
  const wrong = [
    ...[swapped, path.slice(0, -1), `${path}A`, `${path}=`, `${path}%0d%0aSet-Cookie:x`, `${path}%00`, path.toLowerCase()],
    ...[`/t/c/${elsewhere}`, '/t/c/https:%2F%2Fevil.test', '/t/c/%2F%2Fevil.test', '/t/c/javascript:alert(1)', `/t/c/${'A'.repeat(9000)}`],
    pathIn(text, 'o').replace('/o/', '/c/'),
  ]
  for (const one of wrong) {
    const answer = await get(fixture, one)
    t.is(answer.status, 404, one)
    t.is(answer.headers.location, undefined, one)
    t.is(answer.headers['set-cookie'], undefined)
  }
  const page = await get(fixture, swapped)
  t.regex(page.headers['content-type'] ?? '', /^text\/html/)
  t.regex(String(page.headers['content-security-policy']), /default-src 'none'/)
  t.regex(page.bytes.toString(), /Go back to the message and follow the link there/)
  for (const one of ['/t/c/', `${path}/x`, '/t/o/', '/t/x/y', '/t']) {
    const answer = await get(fixture, one)
    t.true(answer.status === 404 && answer.headers.location === undefined, one)
  }
  t.is((await get(fixture, `${path}%E0%A4%A`)).status, 400)
  t.is((await get(fixture, path, 'POST')).status, 405)
  t.is((await get(fixture, `${path}?to=https://evil.test/&url=//evil.test`)).headers.location, target)
  const image = pathIn(text, 'o')
  for (const one of [image.slice(0, -1), `${image}0`, path.replace('/c/', '/o/'), '/t/o/x'])
    t.is((await get(fixture, one)).status, 404, one)
  await fixture.engagements.settled()
  t.like((await traceOf(fixture, id)).tracking, { clicks_seen: 1, opens_seen: 0 })
})

test("engagement is visible to the sender's organization only", async (t) => {
  const fixture = await relaying(t)
  const { id, text } = await send(fixture, both)
  await get(fixture, pathIn(text, 'c'))
  await fixture.engagements.settled()
  const other = await fixture.addOrganization()
  t.is((await other.rest.call('GET', `/v1/traces/${id}`)).status, 404)
  const elsewhere = await fixture.withKey(['api:read'], await fixture.addProject())
  t.is((await elsewhere.call('GET', `/v1/traces/${id}`)).status, 404)
})

test('the test of a credential reports that tracking changes its mail', async (t) => {
  const { rest } = await startFixture(t)
  const default_destination_id = await addDestination(rest)
  const { id } = await rest.must('POST', '/v1/smtp-credentials', { default_destination_id, open_tracking_enabled: true })
  const { checks } = await rest.must('POST', `/v1/smtp-credentials/${String(id)}/test-connection`)
  t.like((checks as object[])[2], {
    check: 'adapter_forwards_verbatim',
    detail:
      'The provider smtp relays the message byte for byte as submitted, except for tracking changes in its HTML, below a Received field of this service.',
  })
})
