import test from '#test'
import { Housekeeping } from '../../../daemon/observability/housekeeping.ts'
import { FakeClock } from '../../support/fake-clock.ts'

test('Housekeeping: checks sandboxes every 10 minutes; sweeps, collects after writes', async (t) => {
  const clock = new FakeClock()
  const done: string[] = []
  const note = (what: string) => async () => done.push(what)
  const database = { commits: 1, sweep: note('rows') }
  const housekeeping = new Housekeeping({
    ...{ database: database as never, clock },
    sweepSandboxes: note('sandboxes'),
    collect: note('values'),
    onError: (error) => t.fail(String(error)),
  })
  const round = async () => {
    clock.advance(600_000)
    await new Promise(setImmediate)
    return done.splice(0)
  }
  housekeeping.start()
  t.deepEqual(await round(), ['rows', 'values', 'sandboxes'])
  t.deepEqual(await round(), ['sandboxes'])
  database.commits = 2
  t.deepEqual(await round(), ['rows', 'values', 'sandboxes'])
  await housekeeping.stop()
  database.commits = 3
  t.deepEqual(await round(), [])
})

test('Housekeeping: collects soon after many deletions, once for all of them', async (t) => {
  const clock = new FakeClock()
  let collected = 0
  const database = { commits: 1, sweep: async () => 0 }
  const housekeeping = new Housekeeping({
    ...{ database: database as never, clock, sweepSandboxes: async () => 0, onError: (error) => t.fail(String(error)) },
    collect: async () => ++collected,
  })
  housekeeping.start()
  for (let i = 0; i < 3; i++) housekeeping.hurry()
  clock.advance(30_000)
  await new Promise(setImmediate)
  t.is(collected, 1)
  clock.advance(30_000)
  await new Promise(setImmediate)
  t.is(collected, 1)
  database.commits++
  housekeeping.hurry()
  clock.advance(30_000)
  await new Promise(setImmediate)
  t.is(collected, 2)
  await housekeeping.stop()
})

test('Housekeeping: reports a failure and continues', async (t) => {
  const clock = new FakeClock()
  const told: unknown[] = []
  let rounds = 0
  const housekeeping = new Housekeeping({
    ...{ database: { commits: 1, sweep: async () => 0 } as never, clock, collect: async () => 0 },
    async sweepSandboxes() {
      if (rounds++ === 0) throw new Error('broken')
      return 0
    },
    onError: (error) => told.push(error),
  })
  housekeeping.start()
  for (let i = 0; i < 2; i++) {
    clock.advance(600_000)
    await new Promise(setImmediate)
  }
  await housekeeping.stop()
  t.deepEqual([rounds, told.map(String)], [2, ['Error: broken']])
})
