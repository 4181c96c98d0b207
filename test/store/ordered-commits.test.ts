/** Ids in the order of their records' visibility, with several daemons at a store. */
import test from '#test'
import { OneDaemon } from '#store/daemons/one-daemon.ts'
import type { Daemons } from '#store/daemons/daemons.ts'
import { RecordIds } from '#store/ids.ts'
import type { WriteResult } from '#store/kv.ts'
import { OrderedCommits } from '#store/ordered-commits.ts'

const ok: WriteResult = { ok: true, version: 1n }
const conflict: WriteResult = { ok: false, reason: 'conflict', key: Buffer.from('k') }

const lone: Daemons = new OneDaemon()

/** Returns two daemons that ask each other. They cancel ids without a commit after this number of milliseconds. */
function pair(unusedMs = 600_000): [OrderedCommits, OrderedCommits] {
  const acts: ((ids: readonly string[]) => Promise<unknown>)[] = []
  const made = [0, 1].map((at) => {
    const daemons: Pick<Daemons, 'isAlone' | 'onAsked' | 'askOthers'> = {
      isAlone: false,
      onAsked: (_topic, act) => void (acts[at] = act),
      askOthers: async (_topic, ids) => void (await acts[1 - at]?.(ids)),
    }
    return new OrderedCommits(Object.assign(Object.create(lone) as Daemons, daemons), new RecordIds(), unusedMs)
  })
  return made as [OrderedCommits, OrderedCommits]
}

async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false
  void promise.then(() => (done = true))
  await new Promise(setImmediate)
  return done
}

test('ordered commits: an id settles after all earlier ids at all daemons', async (t) => {
  const [a, b] = pair()
  const early = b.next('cap', 1000)
  const later = a.next('cap', 2000)
  t.deepEqual(await a.commit(later, async () => ok), ok)
  const settled = a.settle(later)
  t.false(await isDone(settled), 'not begun')
  const first = Promise.withResolvers<WriteResult>()
  const failing = b.commit(early, () => first.promise)
  t.false(await isDone(settled), 'under way')
  first.resolve(conflict)
  t.is(await failing, conflict)
  t.false(await isDone(settled), 'may be written again')
  t.deepEqual(await b.commit(early, async () => ok), ok)
  t.true(await settled)
  t.false(await a.settle(later), 'known by now')
})

test('ordered commits: later ids of a prefix sort after a settled id at any time', async (t) => {
  const [a, b] = pair()
  b.next('other', 500)
  const later = a.next('cap', 2000)
  await a.commit(later, async () => ok)
  t.true(await a.settle(later))
  t.true(b.next('cap', 1000) > later)
})

test('ordered commits: an unused id is canceled, and its commit conflicts', async (t) => {
  const [a, b] = pair(10)
  const unused = b.next('cap', 1000)
  const later = a.next('cap', 2000)
  await a.commit(later, async () => ok)
  t.true(await a.settle(later))
  t.like(await b.commit(unused, async () => ok), { ok: false, reason: 'conflict' })
})

test('ordered commits: a sole daemon stores nothing and asks no daemon', async (t) => {
  const alone = new OrderedCommits(new OneDaemon(), new RecordIds())
  const id = alone.next('cap', 1000)
  t.is(await alone.commit(id, async () => conflict), conflict)
  t.false(await alone.settle(id))
})
