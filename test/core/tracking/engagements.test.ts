/** Opens and clicks: counting, storage, and limits on growth. */
import test, { type ExecutionContext } from '#test'
import { Refusal } from '#core/refusals.ts'
import { integrityChecks } from '#core/integrity.ts'
import { engagements, keptEvents } from '#core/trace/timeline/engagement.ts'
import { traceToken } from '#core/trace/trace-token.ts'
import { traces } from '#core/trace/trace.ts'
import { clickToken } from '#core/tracking/click-token.ts'
import { newTraceId } from '#store/ids.ts'
import {
  organizationId,
  projectId,
  principal,
  secrets,
  type CoreFixture,
  type CoreFixtureOptions,
  relayingFixture,
} from '../core-fixture.ts'

const target = 'https://shop.test/order'
const openOf = (traceId: string): string => traceToken(secrets, 'open.v1', traceId)
const clickOf = (traceId: string, link = 1): string => clickToken(secrets, { traceId, link, target })

async function tracked(t: ExecutionContext, options: CoreFixtureOptions = {}, rcptTo = ['anna@example.net']) {
  const rewriter = {
    rewrite: () => Promise.resolve({ ok: true as const, content: Buffer.from('Subject: x\r\n\r\nx\r\n'), links: 1 }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  const fixture = await relayingFixture(t, { deaf: true, publicUrl: 'https://post.example.ch', rewriter, ...options })
  const { traceId } = await fixture.submit({ rcptTo, tracking: { clicks: true, opens: true } })
  return { fixture, traceId }
}

const seen = async (fixture: CoreFixture, traceId: string) => (await fixture.traces.get(principal, traceId)).engagement

test('An open and a click appear in the timeline, with the recipient if known', async (t) => {
  const { fixture, traceId } = await tracked(t)
  t.is(await seen(fixture, traceId), undefined)
  t.true(fixture.engagements.open(openOf(traceId), true))
  await fixture.engagements.settled()
  fixture.clock.step(1000)
  t.is(fixture.engagements.click(clickOf(traceId, 2), true), target)
  await fixture.engagements.settled()
  const at = fixture.clock.now()
  t.deepEqual(await seen(fixture, traceId), {
    ...{ id: traceId, projectId, opens: 1, clicks: 1 },
    firstOpens: [at - 1000],
    firstClicks: [{ at, link: 2, url: target }],
  })
  t.deepEqual((await fixture.details(traceId)).slice(-2), [
    'opened: Opened by anna@example.net: its image was loaded.',
    'clicked: Link 2 was followed by anna@example.net.',
  ])
  t.is((await fixture.trace(traceId)).status, 'queued', 'the trace status depends on delivery only')
})

test('For a message with several recipients the timeline names no recipient', async (t) => {
  const { fixture, traceId } = await tracked(t, {}, ['anna@example.net', 'bob@example.net'])
  fixture.engagements.open(openOf(traceId), true)
  await fixture.engagements.settled()
  t.is((await fixture.details(traceId)).at(-1), 'opened: Opened by one of its 2 recipients: its image was loaded.')
})

test('The public view of a trace shows no tracking', async (t) => {
  const { fixture, traceId } = await tracked(t)
  fixture.engagements.click(clickOf(traceId), true)
  await fixture.engagements.settled()
  const shared = await fixture.traces.shared(traceId)
  t.deepEqual(
    shared.timeline.filter(({ event }) => ['tracking', 'opened', 'clicked'].includes(event)),
    [],
  )
  t.false(JSON.stringify(shared).includes('shop.test'))
})

test('engagement flood: all opens count, few events are stored, writes are sequential', async (t) => {
  const { fixture, traceId } = await tracked(t)
  const before = fixture.database.commits
  for (let n = 0; n < 500; n++) {
    fixture.engagements.open(openOf(traceId), true)
    fixture.engagements.click(clickOf(traceId), true)
  }
  await fixture.engagements.settled()
  t.true(fixture.database.commits - before <= 3)
  const kept = await seen(fixture, traceId)
  t.like(kept, { opens: 500, clicks: 500 })
  t.is(kept?.firstOpens.length, keptEvents)
  t.is(kept?.firstClicks.length, keptEvents)
  fixture.engagements.open(openOf(traceId), true)
  await fixture.engagements.settled()
  t.like(await seen(fixture, traceId), { opens: 501, firstOpens: kept?.firstOpens ?? [] })
})

test('HEAD requests are not counted', async (t) => {
  const { fixture, traceId } = await tracked(t)
  t.true(fixture.engagements.open(openOf(traceId), false))
  t.is(fixture.engagements.click(clickOf(traceId), false), target)
  await fixture.engagements.settled()
  t.is(await seen(fixture, traceId), undefined)
})

test('A link of a deleted trace redirects, and stores nothing', async (t) => {
  const { fixture, traceId } = await tracked(t)
  const gone = newTraceId()
  t.is(fixture.engagements.click(clickOf(gone), true), target)
  t.true(fixture.engagements.open(openOf(gone), true))
  await fixture.engagements.settled()
  t.deepEqual(await fixture.keys('engagement'), [])

  let removed = false
  fixture.kv.beforeWrite = async () => {
    if (removed) return
    removed = true
    await fixture.remove(traces, traceId)
  }
  fixture.engagements.open(openOf(traceId), true)
  await fixture.engagements.settled()
  t.true(removed)
  t.deepEqual(await fixture.keys('engagement'), [], 'also if it is deleted while the open is written')
})

test('A concurrent change of the trace does not lose an event', async (t) => {
  const { fixture, traceId } = await tracked(t)
  let changes = 0
  fixture.kv.beforeWrite = async () => {
    if (++changes % 2 === 1 && changes < 6) await fixture.put(traces, { ...(await fixture.trace(traceId)), updatedAt: changes })
  }
  fixture.engagements.open(openOf(traceId), true)
  await fixture.engagements.settled()
  t.like(await seen(fixture, traceId), { opens: 1 })
})

test('Foreign and malformed tokens are refused, and stored nowhere', async (t) => {
  const { fixture, traceId } = await tracked(t)
  for (const token of ['', 'x', openOf(traceId).slice(1), clickOf(traceId), traceToken(secrets, 'service-ref.v1', traceId)])
    t.false(fixture.engagements.open(token, true), token)
  for (const token of ['', 'x', clickOf(traceId).slice(1), openOf(traceId)]) t.is(fixture.engagements.click(token, true), undefined, token)
  await fixture.engagements.settled()
  t.deepEqual(await fixture.keys('engagement'), [])
})

test('Links redirect when writes are refused or fail', async (t) => {
  let full = true
  const admission = {
    check: () => {
      if (full) throw new Refusal('storage_full', 'The disk is full.')
    },
  }
  const { fixture, traceId } = await tracked(t, { admission })
  t.is(fixture.engagements.click(clickOf(traceId), true), target)
  await fixture.engagements.settled()
  t.is(await seen(fixture, traceId), undefined)
  full = false
  fixture.kv.beforeWrite = () => Promise.reject(new Error('the disk is gone'))
  t.is(fixture.engagements.click(clickOf(traceId), true), target)
  await fixture.engagements.settled()
  t.deepEqual(fixture.errors.splice(0).map(String), ['Error: the disk is gone'])
  fixture.kv.beforeWrite = undefined
  fixture.engagements.click(clickOf(traceId), true)
  await fixture.engagements.settled()
  t.like(await seen(fixture, traceId), { clicks: 1 })
})

test('verify reports an engagement without its trace', async (t) => {
  const { fixture, traceId } = await tracked(t)
  const checks = integrityChecks(fixture.database)
  const record = { id: traceId, projectId, opens: 1, clicks: 0, firstOpens: [1], firstClicks: [] }
  await fixture.put(engagements, record)
  t.deepEqual(await checks.checkRecord?.(engagements.name, organizationId, record), [])
  const orphan = { ...record, id: newTraceId() }
  t.deepEqual(await checks.checkRecord?.(engagements.name, organizationId, orphan), [
    `the trace ${orphan.id} that it belongs to is missing`,
  ])
})
