/** Scheduled sends with a real daemon, a real clock, a smart host that stores mail, and kills. */
import test, { type ExecutionContext } from '#test'
import type { Daemon } from '../../support/daemon/daemon.ts'
import { livesOf, type Lives } from '../../support/daemon/daemon-lives.ts'
import { waiting } from '../../support/waits.ts'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { Sink } from '../../support/smtp/sink.ts'

interface Place extends Pick<Lives, 'start'> {
  readonly sink: Sink
}

async function place(t: ExecutionContext): Promise<Place> {
  const sink = await Sink.listen()
  const { start } = await livesOf(t, 'scheduled', {}, sink)
  return { sink, start }
}

async function routed(daemon: Daemon, sink: Sink): Promise<void> {
  await makeRoute(daemon.rest, await makeDestination(daemon.rest, { name: 'sink', port: sink.port, mode: 'live' }))
}

/** Schedules a send. Returns its trace id and its time. */
async function schedule(
  daemon: Daemon,
  subject: string,
  aheadMs: number,
  at = Date.now() + aheadMs,
): Promise<{ readonly id: string; readonly at: number }> {
  const body = { from: 'shop@site.test', to: 'ada@peer.test', subject, text: 'Thank you.', send_at: new Date(at).toISOString() }
  const { trace_id, status } = await daemon.rest.must('POST', '/v1/messages', body)
  if (status !== 'queued') throw new Error(`${subject} was answered ${String(status)}`)
  return { id: String(trace_id), at }
}

/** Measures the time to schedule a send on this machine, in milliseconds. */
async function slownessOf(daemon: Daemon): Promise<number> {
  const before = Date.now()
  const { id } = await schedule(daemon, 'measured', 3_600_000)
  const took = Date.now() - before
  await daemon.rest.must('DELETE', `/v1/messages/scheduled/${id}`)
  return took
}

/** Resolves with the wall-clock time of the arrival at the smart host. */
async function arrival(sink: Sink, subject: string): Promise<number> {
  const { answeredAt } = await waiting(
    `${subject} arrives`,
    sink.delivered(({ content }) => content.includes(`Subject: ${subject}\r\n`)),
  )
  return performance.timeOrigin + answeredAt
}

test.serial('scheduled sends: reach the provider after their time, in order', async (t) => {
  const { sink, start } = await place(t)
  const daemon = await start()
  await routed(daemon, sink)
  const due = Date.now() + 1000 + 20 * (await slownessOf(daemon))
  const [later, sooner] = [await schedule(daemon, 'later', 0, due + 1500), await schedule(daemon, 'sooner', 0, due)]
  for (const [subject, { at }] of [['sooner', sooner] as const, ['later', later] as const]) {
    const arrived = await arrival(sink, subject)
    t.true(arrived >= at, `${subject} came ${at - arrived} ms early`)
  }
  t.regex(String(sink.deliveries[0]?.content), /^Subject: sooner\r$/m)
  t.deepEqual((await daemon.rest.must('GET', '/v1/messages/scheduled?status=queued'))['data'], [])
})

test.serial('scheduled sends: survive a kill and a shutdown and are sent once', async (t) => {
  const { sink, start } = await place(t)
  const first = await start()
  await routed(first, sink)
  const kept = await schedule(first, 'kept', 3000 + 20 * (await slownessOf(first)))
  const dropped = await schedule(first, 'dropped', 3_600_000)
  await first.kill()
  const second = await start()
  t.is((await second.rest.must('DELETE', `/v1/messages/scheduled/${dropped.id}`))['status'], 'canceled')
  t.is((await second.stop()).code, 0)
  const third = await start()
  const arrived = await arrival(sink, 'kept')
  t.true(arrived >= kept.at, `it came ${kept.at - arrived} ms early`)
  t.is(sink.deliveries.length, 1, 'ledger: it leaves once')
  t.is((await third.rest.must('GET', `/v1/traces/${dropped.id}`))['status'], 'canceled')
})

test.serial('scheduled sends: a cancellation with status 200 prevents the delivery', async (t) => {
  const { sink, start } = await place(t)
  const daemon = await start()
  await routed(daemon, sink)
  // far enough ahead to schedule all of them on a slow machine
  const slowness = await slownessOf(daemon)
  const due = Date.now() + 5000 + 60 * slowness
  const sends = await Promise.all(Array.from({ length: 30 }, (_, i) => schedule(daemon, `race ${i}.`, 0, due)))
  const canceled = new Set<number>()
  await Promise.all(
    sends.map(async ({ id, at }, i) => {
      // spread around their due time
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, at - Date.now() - 30 + i * 2)))
      const answers = await Promise.all([1, 2, 3].map(() => daemon.rest.call('DELETE', `/v1/messages/scheduled/${id}`)))
      // 503: a busy daemon sheds load, and the send is not acknowledged
      for (const { status } of answers) t.true([200, 409, 503].includes(status), String(status))
      if (answers.some(({ status }) => status === 200)) canceled.add(i)
    }),
  )
  await schedule(daemon, 'last', 500 + 10 * slowness)
  await arrival(sink, 'last')
  for (const [i, { id }] of sends.entries()) {
    if (!canceled.has(i)) await arrival(sink, `race ${i}.`)
    const arrived = sink.deliveries.filter(({ content }) => content.includes(`Subject: race ${i}.\r\n`)).length
    t.is(arrived, canceled.has(i) ? 0 : 1, `ledger: race ${i}`)
    if (canceled.has(i)) t.is((await daemon.rest.must('GET', `/v1/traces/${id}`))['status'], 'canceled')
  }
})
