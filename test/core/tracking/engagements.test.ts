/** Openings and clicks: what is counted, what is kept, and that nobody can make it grow. */
import test, { type ExecutionContext } from 'ava'
import { Refusal } from '#core/refusals.ts'
import { integrityChecks } from '#core/integrity.ts'
import { engagements, keptEvents } from '#core/trace/story/engagement.ts'
import { traceToken } from '#core/trace/trace-token.ts'
import { traces } from '#core/trace/trace.ts'
import { clickToken } from '#core/tracking/click-token.ts'
import { newTraceId } from '#store/ids.ts'
import { organizationId, projectId, principal, secrets, type House, type HouseOptions, relayingHouse } from '../house.ts'

const target = 'https://shop.test/order'
const openOf = (traceId: string): string => traceToken(secrets, 'open.v1', traceId)
const clickOf = (traceId: string, link = 1): string => clickToken(secrets, { traceId, link, target })

async function tracked(t: ExecutionContext, options: HouseOptions = {}, rcptTo = ['anna@example.net']) {
  const rewriter = {
    rewrite: () => Promise.resolve({ ok: true as const, content: Buffer.from('Subject: x\r\n\r\nx\r\n'), links: 1 }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  const house = await relayingHouse(t, { deaf: true, publicUrl: 'https://post.example.ch', rewriter, ...options })
  const { traceId } = await house.submit({ rcptTo, tracking: { clicks: true, opens: true } })
  return { house, traceId }
}

const seen = async (house: House, traceId: string) => (await house.traces.get(principal, traceId)).engagement

test('An opening and a click show in the timeline, with the recipient when there is one', async (t) => {
  const { house, traceId } = await tracked(t)
  t.is(await seen(house, traceId), undefined)
  t.true(house.engagements.open(openOf(traceId), true))
  await house.engagements.settled()
  house.clock.step(1000)
  t.is(house.engagements.click(clickOf(traceId, 2), true), target)
  await house.engagements.settled()
  const at = house.clock.now()
  t.deepEqual(await seen(house, traceId), {
    ...{ id: traceId, projectId, opens: 1, clicks: 1 },
    firstOpens: [at - 1000],
    firstClicks: [{ at, link: 2, url: target }],
  })
  t.deepEqual((await house.story(traceId)).slice(-2), [
    'opened: Opened by anna@example.net: its image was loaded.',
    'clicked: Link 2 was followed by anna@example.net.',
  ])
  t.is((await house.trace(traceId)).status, 'queued', 'the status of the trace is about delivery alone')
})

test('Of a message with several recipients nobody is named', async (t) => {
  const { house, traceId } = await tracked(t, {}, ['anna@example.net', 'bob@example.net'])
  house.engagements.open(openOf(traceId), true)
  await house.engagements.settled()
  t.is((await house.story(traceId)).at(-1), 'opened: Opened by one of its 2 recipients: its image was loaded.')
})

test('The public view of a trace tells nothing of tracking', async (t) => {
  const { house, traceId } = await tracked(t)
  house.engagements.click(clickOf(traceId), true)
  await house.engagements.settled()
  const shared = await house.traces.shared(traceId)
  t.deepEqual(
    shared.timeline.filter(({ event }) => ['tracking', 'opened', 'clicked'].includes(event)),
    [],
  )
  t.false(JSON.stringify(shared).includes('shop.test'))
})

test('A flood is counted, and keeps to its first events and to one write after the other', async (t) => {
  const { house, traceId } = await tracked(t)
  const before = house.database.commits
  for (let n = 0; n < 500; n++) {
    house.engagements.open(openOf(traceId), true)
    house.engagements.click(clickOf(traceId), true)
  }
  await house.engagements.settled()
  t.true(house.database.commits - before <= 3)
  const kept = await seen(house, traceId)
  t.like(kept, { opens: 500, clicks: 500 })
  t.is(kept?.firstOpens.length, keptEvents)
  t.is(kept?.firstClicks.length, keptEvents)
  house.engagements.open(openOf(traceId), true)
  await house.engagements.settled()
  t.like(await seen(house, traceId), { opens: 501, firstOpens: kept?.firstOpens ?? [] })
})

test('Who asks for a header only is not counted', async (t) => {
  const { house, traceId } = await tracked(t)
  t.true(house.engagements.open(openOf(traceId), false))
  t.is(house.engagements.click(clickOf(traceId), false), target)
  await house.engagements.settled()
  t.is(await seen(house, traceId), undefined)
})

test('A link of a trace that is gone leads on, and leaves nothing behind', async (t) => {
  const { house, traceId } = await tracked(t)
  const gone = newTraceId()
  t.is(house.engagements.click(clickOf(gone), true), target)
  t.true(house.engagements.open(openOf(gone), true))
  await house.engagements.settled()
  t.deepEqual(await house.keys('engagement'), [])

  let removed = false
  house.kv.beforeWrite = async () => {
    if (removed) return
    removed = true
    await house.remove(traces, traceId)
  }
  house.engagements.open(openOf(traceId), true)
  await house.engagements.settled()
  t.true(removed)
  t.deepEqual(await house.keys('engagement'), [], 'also when it goes while the opening is written')
})

test('A trace that changes meanwhile is no obstacle', async (t) => {
  const { house, traceId } = await tracked(t)
  let changes = 0
  house.kv.beforeWrite = async () => {
    if (++changes % 2 === 1 && changes < 6) await house.put(traces, { ...(await house.trace(traceId)), updatedAt: changes })
  }
  house.engagements.open(openOf(traceId), true)
  await house.engagements.settled()
  t.like(await seen(house, traceId), { opens: 1 })
})

test('What is not ours is told apart, and recorded nowhere', async (t) => {
  const { house, traceId } = await tracked(t)
  for (const token of ['', 'x', openOf(traceId).slice(1), clickOf(traceId), traceToken(secrets, 'service-ref.v1', traceId)])
    t.false(house.engagements.open(token, true), token)
  for (const token of ['', 'x', clickOf(traceId).slice(1), openOf(traceId)]) t.is(house.engagements.click(token, true), undefined, token)
  await house.engagements.settled()
  t.deepEqual(await house.keys('engagement'), [])
})

test('While nothing may be written, and when a write fails, links lead on all the same', async (t) => {
  let full = true
  const admission = {
    check: () => {
      if (full) throw new Refusal('storage_full', 'The disk is full.')
    },
  }
  const { house, traceId } = await tracked(t, { admission })
  t.is(house.engagements.click(clickOf(traceId), true), target)
  await house.engagements.settled()
  t.is(await seen(house, traceId), undefined)
  full = false
  house.kv.beforeWrite = () => Promise.reject(new Error('the disk is gone'))
  t.is(house.engagements.click(clickOf(traceId), true), target)
  await house.engagements.settled()
  t.deepEqual(house.errors.splice(0).map(String), ['Error: the disk is gone'])
  house.kv.beforeWrite = undefined
  house.engagements.click(clickOf(traceId), true)
  await house.engagements.settled()
  t.like(await seen(house, traceId), { clicks: 1 })
})

test('verify misses the trace of an engagement', async (t) => {
  const { house, traceId } = await tracked(t)
  const checks = integrityChecks(house.database)
  const record = { id: traceId, projectId, opens: 1, clicks: 0, firstOpens: [1], firstClicks: [] }
  await house.put(engagements, record)
  t.deepEqual(await checks.checkRecord?.(engagements.name, organizationId, record), [])
  const orphan = { ...record, id: newTraceId() }
  t.deepEqual(await checks.checkRecord?.(engagements.name, organizationId, orphan), [
    `the trace ${orphan.id} that it belongs to is missing`,
  ])
})
