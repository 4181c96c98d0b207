/** Ids whose order is that in which their records become visible, where several daemons share a store. */
import test from '#test'
import { OneDaemon } from '#store/daemons/one-daemon.ts'
import type { Daemons } from '#store/daemons/daemons.ts'
import { RecordIds } from '#store/ids.ts'
import type { WriteResult } from '#store/kv.ts'
import { OrderedCommits } from '#store/ordered-commits.ts'

const ok: WriteResult = { ok: true, version: 1n }
const conflict: WriteResult = { ok: false, reason: 'conflict', key: Buffer.from('k') }

const lone: Daemons = new OneDaemon()

/** Two that ask each other, and that call off ids without a commit after so many milliseconds of the machine. */
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

test('an id is settled once all before it are committed at every daemon, tries that failed included', async (t) => {
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

test('what is made after an id was settled sorts behind it, whatever the clock says; ids of other prefixes are apart', async (t) => {
  const [a, b] = pair()
  b.next('other', 500)
  const later = a.next('cap', 2000)
  await a.commit(later, async () => ok)
  t.true(await a.settle(later))
  t.true(b.next('cap', 1000) > later)
})

test('an id that is never used is called off, and a commit with it fails as a conflict', async (t) => {
  const [a, b] = pair(10)
  const unused = b.next('cap', 1000)
  const later = a.next('cap', 2000)
  await a.commit(later, async () => ok)
  t.true(await a.settle(later))
  t.like(await b.commit(unused, async () => ok), { ok: false, reason: 'conflict' })
})

test('a daemon that is alone keeps nothing and asks nobody', async (t) => {
  const alone = new OrderedCommits(new OneDaemon(), new RecordIds())
  const id = alone.next('cap', 1000)
  t.is(await alone.commit(id, async () => conflict), conflict)
  t.false(await alone.settle(id))
})
