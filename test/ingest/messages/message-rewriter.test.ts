import test, { type ExecutionContext } from '#test'
import type { MessageSource } from '#core/tracking/rewriter.ts'
import { WorkerMessageRewriter } from '#ingest/messages/message-rewriter.ts'
import { wallFactor } from '#ingest/threads/thread-time.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const own = 'https://post.example.ch'
const pixel = `${own}/t/o/1`
const linkFor = (link: number, target: string): string => `${own}/${link}?${target}`
const sourceOf = (text: string): MessageSource => {
  const raw = new Uint8Array(Buffer.from(text))
  return { organizationId: 'org_1', size: raw.length, read: () => Promise.resolve(raw) }
}
const htmlText = (body: string): string => `Content-Type: text/html; charset=utf-8\r\n\r\n${body}\r\n`
const html = (body: string): MessageSource => sourceOf(htmlText(body))
const two = '<a href="https://a.test/">a</a><a href="https://b.test/">b</a>'

const deadlineMs = 10_000

function rewriter(t: ExecutionContext, code?: string, clock = new FakeClock()): WorkerMessageRewriter {
  const entry = code === undefined ? [] : [new URL(`data:text/javascript,${encodeURIComponent(code)}`)]
  const made = new WorkerMessageRewriter(clock, { deadlineMs, idleMs: 30_000 }, ...entry)
  t.teardown(() => made[Symbol.asyncDispose]())
  return made
}

test('rewrite() requests an address for every link in order and inserts the image', async (t) => {
  const asked: (readonly [number, string])[] = []
  const result = await rewriter(t).rewrite(html(two), {
    ownUrl: own,
    pixel,
    linkFor(link, target) {
      asked.push([link, target])
      return linkFor(link, target)
    },
  })
  t.deepEqual(asked, [
    [1, 'https://a.test/'],
    [2, 'https://b.test/'],
  ])
  t.true(result.ok && result.links === 2)
  t.is(
    result.ok && Buffer.from(result.content).toString().split('\r\n\r\n')[1]?.trim(),
    `<a href="${own}/1?https://a.test/">a</a><a href="${own}/2?https://b.test/">b</a><img src="${pixel}" width="1" height="1" alt="">`,
  )
})

test('rewrite() tracks only links or only openings if requested', async (t) => {
  const made = rewriter(t)
  const opens = await made.rewrite(html(two), { ownUrl: own, pixel, linkFor: undefined })
  t.true(opens.ok && opens.links === 0 && Buffer.from(opens.content).includes(`${two}<img `))
  const clicks = await made.rewrite(html(two), { ownUrl: own, pixel: undefined, linkFor })
  t.true(clicks.ok && clicks.links === 2 && !Buffer.from(clicks.content).includes('<img'))
  const none = await made.rewrite(html('<p>x</p>'), { ownUrl: own, pixel: undefined, linkFor })
  t.deepEqual(none, { ok: true, content: new Uint8Array(Buffer.from(htmlText('<p>x</p>'))), links: 0 })
})

test('rewrite() returns the reason for an unchanged message', async (t) => {
  const made = rewriter(t)
  const text = (): MessageSource => sourceOf('Subject: x\r\n\r\ntext\r\n')
  t.deepEqual(await made.rewrite(text(), { ownUrl: own, pixel, linkFor }), { ok: false, reason: 'no_html' })
  t.deepEqual(await made.rewrite(text(), { ownUrl: own, pixel, linkFor: undefined }), { ok: false, reason: 'no_html' })
  t.deepEqual(
    await made.rewrite(
      { organizationId: 'org_1', size: 64 * 1024 * 1024 + 1, read: () => Promise.reject(new Error('must not be called')) },
      { ownUrl: own, pixel, linkFor },
    ),
    { ok: false, reason: 'too_large' },
  )
})

test('rewrite() processes simultaneous messages one after the other', async (t) => {
  const made = rewriter(t)
  const results = await Promise.all([1, 2, 3].map((n) => made.rewrite(html(`<p>${n}</p>`), { ownUrl: own, pixel, linkFor })))
  t.true(results.every((result, at) => result.ok && Buffer.from(result.content).includes(`<p>${at + 1}</p>`)))
})

test('rewrite() reads a message in its turn; a read error affects only that message', async (t) => {
  const made = rewriter(t)
  const addresses = { ownUrl: own, pixel, linkFor }
  const order: string[] = []
  const noting = (name: string): MessageSource => {
    const { size, read } = html(two)
    return { organizationId: 'org_1', size, read: () => (order.push(`${name} is read`), read()) }
  }
  const done = (name: string) => () => void order.push(`${name} is done`)
  const broken = { organizationId: 'org_1', size: 1, read: () => Promise.reject(new Error('the disk is gone')) }
  await Promise.all([
    made.rewrite(noting('one'), addresses).then(done('one')),
    t.throwsAsync(made.rewrite(broken, addresses), { message: 'the disk is gone' }),
    made.rewrite(noting('two'), addresses).then(done('two')),
  ])
  t.deepEqual(order, ['one is read', 'one is done', 'two is read', 'two is done'])
})

test('rewrite() fails on a timeout or crash, and the next message gets a new thread', async (t) => {
  const addresses = { ownUrl: own, pixel, linkFor }
  const endless = `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { for (;;); })`
  const clock = new FakeClock()
  const stuck = rewriter(t, endless, clock)
  for (let times = 0; times < 2; times++) {
    const rewriting = stuck.rewrite(html(two), addresses)
    await new Promise(setImmediate)
    clock.advance(deadlineMs * wallFactor)
    t.deepEqual(await rewriting, { ok: false, reason: 'failed' })
  }
  const dying = rewriter(
    t,
    `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { throw new Error('as asked') })`,
  )
  t.deepEqual(await dying.rewrite(html(two), addresses), { ok: false, reason: 'failed' })
})

test('disposal resolves waiting messages without tracking', async (t) => {
  const made = rewriter(t)
  const first = made.rewrite(html(two), { ownUrl: own, pixel, linkFor })
  const second = made.rewrite(html(two), { ownUrl: own, pixel, linkFor })
  await made[Symbol.asyncDispose]()
  t.deepEqual(await second, { ok: false, reason: 'failed' })
  t.truthy(await first)
  t.deepEqual(await made.rewrite(html(two), { ownUrl: own, pixel, linkFor }), { ok: false, reason: 'failed' })
})
