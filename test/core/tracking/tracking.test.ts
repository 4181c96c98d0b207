/** Tracking of a message: rewriting, the trace, and unchanged messages. */
import test, { type ExecutionContext } from '#test'
import type { SmtpCredential } from '#core/access/smtp-credential.ts'
import { readClickToken } from '#core/tracking/click-token.ts'
import { WorkerMessageRewriter } from '#ingest/messages/message-rewriter.ts'
import { readWholeContent } from '#store/content.ts'
import { coreFixture, organizationId, secrets, type CoreFixture, type CoreFixtureOptions, relayingFixture } from '../core-fixture.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const publicUrl = 'https://post.example.ch'
const head = 'From: shop@example.com\r\nTo: anna@example.net\r\nSubject: hi\r\nMIME-Version: 1.0\r\n'
const html = `${head}Content-Type: text/html; charset=utf-8\r\n\r\n<p><a href="https://shop.test/?a=1&amp;b=2">order</a> <a href="https://shop.test/two">two</a></p>\r\n`
const both = { clicks: true, opens: true }

async function trackingFixture(t: ExecutionContext, options: CoreFixtureOptions = {}): Promise<CoreFixture> {
  const rewriter = new WorkerMessageRewriter(new FakeClock())
  t.teardown(() => rewriter[Symbol.asyncDispose]())
  return relayingFixture(t, { deaf: true, publicUrl, rewriter, ...options })
}

async function stored(fixture: CoreFixture, traceId: string): Promise<string> {
  const { content } = await fixture.trace(traceId)
  const bytes = await readWholeContent(fixture.database, organizationId, content)
  if (bytes.length !== content.size) throw new Error('the size in the trace is not that of the content')
  return Buffer.from(bytes).toString()
}

const clicksIn = (text: string): string[] => [...text.matchAll(/\/t\/c\/([\w-]+)/g)].map(([, token = '']) => token)

test('A tracked message is stored rewritten, and its trace records that', async (t) => {
  const fixture = await trackingFixture(t)
  const { traceId } = await fixture.submit({ content: html, tracking: both })
  const text = await stored(fixture, traceId)
  t.true(text.startsWith(html.slice(0, html.indexOf('href='))))
  t.deepEqual(
    clicksIn(text).map((token) => readClickToken(secrets, token)),
    [
      { traceId, link: 1, target: 'https://shop.test/?a=1&b=2' },
      { traceId, link: 2, target: 'https://shop.test/two' },
    ],
  )
  t.regex(text, /<img src="https:\/\/post\.example\.ch\/t\/o\/[0-9a-f]{48}" width="1" height="1" alt="">/)
  t.deepEqual((await fixture.trace(traceId)).tracking, { clicks: true, links: 2, opens: true })
  t.true((await fixture.details(traceId)).includes('tracking: Tracked: clicks on 2 links and openings.'))
})

test('Only the requested tracking is applied', async (t) => {
  const fixture = await trackingFixture(t)
  const clicks = await fixture.submit({ content: html, tracking: { clicks: true, opens: false } })
  const clicked = await stored(fixture, clicks.traceId)
  t.is(clicksIn(clicked).length, 2)
  t.false(clicked.includes('<img'))
  t.deepEqual((await fixture.trace(clicks.traceId)).tracking, { clicks: true, links: 2, opens: false })
  const opens = await fixture.submit({ content: html, tracking: { clicks: false, opens: true } })
  const opened = await stored(fixture, opens.traceId)
  t.deepEqual(clicksIn(opened), [])
  t.true(opened.includes('/t/o/'))
  for (const tracking of [undefined, { clicks: false, opens: false }]) {
    const { traceId } = await fixture.submit({ content: html, tracking })
    t.is(await stored(fixture, traceId), html)
    t.is((await fixture.trace(traceId)).tracking, undefined)
  }
  const linkless = html.replaceAll(/<\/?a[^>]*>/g, '')
  const none = await fixture.submit({ content: linkless, tracking: { clicks: true, opens: false } })
  t.is(await stored(fixture, none.traceId), linkless)
  t.deepEqual((await fixture.trace(none.traceId)).tracking, { clicks: true, links: 0, opens: false })
})

test('A message in many rows is rewritten completely, and its first rows are deleted', async (t) => {
  const fixture = await trackingFixture(t)
  const file = 'QUJD'.repeat(19).concat('\r\n').repeat(12_000)
  const large = `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<a href="https://shop.test/">x</a>\r\n--b\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${file}\r\n--b--\r\n`
  const { traceId } = await fixture.submit({ content: large, tracking: { clicks: true, opens: false } })
  const text = await stored(fixture, traceId)
  t.is(text.replace(/"https:\/\/post\.example\.ch\/t\/c\/[\w-]+"/, '"https://shop.test/"'), large)
  t.deepEqual(await fixture.keys('content.open'), [])
  const { content } = await fixture.trace(traceId)
  t.true(content.rows > 1)
  t.is((await fixture.keys(traceId)).filter((key) => key.includes('content')).length, content.rows)
})

test('Nothing is tracked if plan, flag, base URL or outcome exclude it', async (t) => {
  const submitWith = async (fixture: CoreFixture): Promise<readonly [unknown, string]> => {
    const { traceId } = await fixture.submit({ content: html, tracking: both })
    const { tracking } = await fixture.trace(traceId)
    if (tracking?.off && !tracking.opens) t.is(await stored(fixture, traceId), html)
    return [tracking, (await fixture.details(traceId)).find((line) => line.startsWith('tracking:')) ?? '']
  }
  const untracked = (off: string) => ({ clicks: false, links: 0, opens: false, off })

  const fixture = await trackingFixture(t)
  await fixture.organization({ plan: 'free' })
  t.deepEqual(await submitWith(fixture), [
    untracked('plan'),
    'tracking: Neither clicks nor opens are tracked, because the plan does not include tracking.',
  ])
  await fixture.organization({ plan: 'basic', flags: { click_tracking: false, open_tracking: false } })
  t.like(await submitWith(fixture), [untracked('flag')])
  await fixture.organization({ flags: { click_tracking: false } })
  t.deepEqual(await submitWith(fixture), [
    { clicks: false, links: 0, opens: true, off: 'flag' },
    'tracking: Tracked: openings; the rest is not, because tracking is turned off for this organization.',
  ])
  await fixture.organization({ flags: {} })
  t.like(await submitWith(fixture), [{ clicks: true, links: 2, opens: true }])
  await fixture.destination({ mode: 'sandbox' })
  t.like(await submitWith(fixture), [untracked('captured')])

  const homeless = await coreFixture(t, { deaf: true })
  await homeless.destination()
  await homeless.rule({ any: true })
  t.like(await submitWith(homeless), [untracked('no_public_url')])
})

test('A message that cannot be rewritten is accepted unchanged, with the reason', async (t) => {
  const fixture = await trackingFixture(t)
  const signed = `DKIM-Signature: v=1; a=rsa-sha256; d=example.com\r\n${html}`
  for (const [content, off] of [
    [signed, 'dkim_signed'],
    [`${head}\r\ntext only\r\n`, 'no_html'],
  ] as const) {
    const { traceId } = await fixture.submit({ content, tracking: both })
    t.is(await stored(fixture, traceId), content)
    t.deepEqual((await fixture.trace(traceId)).tracking, { clicks: false, links: 0, opens: false, off })
  }
})

test('A refused message is not rewritten, and one key gives one trace', async (t) => {
  let rewrites = 0
  const rewriter = {
    rewrite: () => Promise.resolve({ ok: true as const, content: Buffer.from(`rewritten ${++rewrites}`), links: 1 }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  const fixture = await trackingFixture(t, { rewriter, maxMessageBytes: 1000 })
  await t.throwsAsync(fixture.submit({ content: html + ' '.repeat(1000), tracking: both }), { code: 'request_too_large' } as object)
  t.is(rewrites, 0)
  const first = await fixture.submit({ content: html, tracking: both, idempotencyKey: 'k' })
  const second = await fixture.submit({ content: html, tracking: both, idempotencyKey: 'k' })
  t.is(second.traceId, first.traceId)
  t.is(rewrites, 1)
  t.is(await stored(fixture, first.traceId), 'rewritten 1')
})

test('Tracking settings of an SMTP credential apply to its messages', async (t) => {
  const fixture = await trackingFixture(t)
  const login = async (changes: Partial<SmtpCredential>): Promise<string> => {
    await fixture.credential('right', changes)
    const live = await fixture.door.login('cms-user', 'right', '192.0.2.1')
    const draft = live.openDraft()
    await draft.write(Buffer.from(html))
    const envelope = {
      mailFrom: 'shop@example.com',
      rcptTo: ['anna@example.net'],
      eightBit: false,
      helo: 'cms',
      remoteAddress: '192.0.2.1',
      protocol: 'ESMTPSA',
    } as const
    return (await live.submit({ ...envelope, draft, head: Buffer.from(html) })).traceId
  }
  const plain = await login({})
  t.is(await stored(fixture, plain), html)
  t.is((await fixture.trace(plain)).tracking, undefined)
  t.like((await fixture.trace(await login({ clickTrackingEnabled: true }))).tracking, { clicks: true, links: 2, opens: false })
  t.like((await fixture.trace(await login({ openTrackingEnabled: true }))).tracking, { clicks: false, opens: true })
})
