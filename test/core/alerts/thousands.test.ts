/** Cost of 5,000 open findings of one organization: no long turn of the event loop, and linear work. */
import type { ExecutionContext } from 'ava'
import test from '#test'
import { observed, type Observed } from '#core/findings/finding.ts'
import { count, projectNames } from '#core/insights/count.ts'
import { Change } from '#store/change.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { heldLoop, type HeldLoop } from '../../support/measure/held-loop.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'
import { organizationId, projectId } from '../core-fixture.ts'
import { alertsFixture, minute } from './alerts-fixture.ts'

const manyOf = (many: number, project = projectId): readonly Observed[] =>
  Array.from({ length: many }, (_, i) => observed('domain.dkim', `d${i}.example`, { domain: `d${i}.example` }, project))

type Costs = Readonly<Record<string, HeldLoop>>

/** Measures a look that opens the findings, a second look, the alerts of one channel, a round of the watch, and a look that ends them. */
async function costsOfCore(t: ExecutionContext, many: number): Promise<Costs> {
  const setup = await alertsFixture(t, { hasMail: false, hasOwner: false })
  const { fixture } = setup
  const receiver = await receiverOf(t)
  await setup.channel({ kind: 'slack', target: { url: `${receiver.url}/secretpath` } })
  const watch = fixture.part('watch')
  await watch.start()
  await setup.pass(2 * minute)
  const found = manyOf(many)
  const open = await heldLoop(() => setup.look(...found))
  const again = await heldLoop(() => setup.look(...found))
  const alerts = await heldLoop(() => setup.pass(5 * minute, minute))
  const change = new Change()
  count(change, { organizationId, projectId }, [projectNames.relayed], fixture.clock.now(), 1)
  await fixture.database.commit(change)
  const round = await heldLoop(async () => {
    await fixture.pass(30_000)
    await watch.idle()
  })
  const end = await heldLoop(() => setup.look())
  const told = receiver.received.filter(({ body }) => body.includes(`and ${(many - 1).toLocaleString('en')} more`))
  t.is(told.length, 1, 'one alert counts all findings')
  return { open, again, alerts, round, end }
}

/** Measures all pages of the list over REST. Includes the client, which runs on the same thread. */
async function costsOfPages(t: ExecutionContext, many: number): Promise<Costs> {
  const daemon = await startDaemon(t)
  const { id } = await daemon.rest.must('POST', '/v1/projects', { name: 'Shop' })
  const observedNow = manyOf(many, String(id))
  await daemon.part('settle').settle({ organizationId: daemon.organizationId, check: 'test', observed: observedNow })
  let read = 0
  const pages = await heldLoop(async () => {
    for await (const { kind } of daemon.rest.rows('/v1/findings')) if (kind === 'domain.dkim') read++
  })
  t.is(read, many)
  return { pages }
}

const costs = async (t: ExecutionContext, many: number): Promise<Costs> => ({
  ...(await costsOfCore(t, many)),
  ...(await costsOfPages(t, many)),
})

/** Shorter work is mostly the fixed cost of a step. */
const floorMs = 10

test('5,000 findings: no turn of 100 ms, and linear work', async (t) => {
  await costs(t, 500) // the first run compiles
  const [few, many] = [await costs(t, 500), await costs(t, 5000)]
  for (const [step, { longestMs, totalMs }] of Object.entries(many)) {
    const ratio = totalMs / Math.max(floorMs, few[step]?.totalMs ?? 0)
    t.log(`${step}: longest turn ${longestMs.toFixed()} ms, ${totalMs.toFixed()} ms in all, ${ratio.toFixed(1)} times the work of 500`)
    t.true(longestMs < 100, `${step}: ${longestMs} ms`)
    t.true(ratio < 30, `${step}: ${ratio} times; quadratic work takes 100 times`)
  }
})
