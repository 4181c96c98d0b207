import test from '#test'
import { FakeClock } from '../../support/fake-clock.ts'
import { gate, jobOf, targetOf, testSink, testTransport } from './relay-fixture.ts'
import type { SinkAnswer } from '../../support/smtp/sink-script.ts'
import { column } from '../../support/column.ts'

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))

test('deliver(): respects maxConnections and reuses connections', async (t) => {
  const sink = await testSink(t)
  const transport = testTransport(t)
  const target = targetOf(sink, { maxConnections: 3 })
  const reports = await Promise.all(times(60, (index) => transport.deliver(target, jobOf({ rcptTo: [`r${index}@p.test`] }))))
  t.true(reports.every(({ recipients }) => recipients[0]?.verdict === 'accepted'))
  t.is(sink.connections.length, 3)
  t.is(sink.deliveries.length, 60)
  t.deepEqual(new Set(sink.deliveries.map(({ to }) => to[0])), new Set(times(60, (index) => `r${index}@p.test`)))
  t.is(reports.filter(({ reused }) => !reused).length, 3)
})

test('deliver(): next envelope follows the dot; outcomes stay separate', async (t) => {
  const sink = await testSink(t, {
    script: (step, line) => {
      if (step === 'rcpt' && line.includes('never')) return '550 5.1.1 No'
      return step === 'dot' && line.includes('later') ? '451 4.3.0 Later' : undefined
    },
  })
  const transport = testTransport(t, { clock: new FakeClock() })
  const kinds = ['good', 'never', 'later', 'good', 'good', 'never', 'later', 'later', 'good']
  const reports = await Promise.all(
    kinds.map((kind, index) => transport.deliver(targetOf(sink), jobOf({ rcptTo: [`${kind}${index}@p.test`], text: `A: ${kind}\r\n` }))),
  )
  const verdicts = { good: 'accepted', never: 'permanent', later: 'transient' } as Readonly<Record<string, string>>
  t.deepEqual(
    reports.map(({ recipients }) => recipients[0]?.verdict as string),
    kinds.map((kind) => verdicts[kind] ?? ''),
  )
  t.deepEqual(
    sink.deliveries.map(({ to, text }) => [to[0], text]),
    [
      ['good0@p.test', 'A: good\r\n'],
      ['good3@p.test', 'A: good\r\n'],
      ['good4@p.test', 'A: good\r\n'],
      ['good8@p.test', 'A: good\r\n'],
    ],
  )
  t.is(sink.connections.length, 1)
  t.true(sink.connections[0]?.pieces.some((piece) => piece.includes('\r\n.\r\nMAIL FROM')))
})

for (const act of ['drop', 'reset'] as const) {
  test(`deliver(): ${act} after a dot: message is unknown, the next uses a new link`, async (t) => {
    const sink = await testSink(t, {
      script: (step, line): SinkAnswer | undefined => (step === 'dot' && line.includes('bad') ? { act } : undefined),
    })
    const transport = testTransport(t, { clock: new FakeClock() })
    const texts = ['A: first\r\n', 'A: bad\r\n', 'A: third\r\n']
    const reports = await Promise.all(texts.map((text) => transport.deliver(targetOf(sink), jobOf({ text }))))
    t.deepEqual(
      reports.map(({ recipients }) => recipients[0]?.verdict),
      ['accepted', 'unknown', 'accepted'],
    )
    t.deepEqual(column(sink.deliveries, 'text'), ['A: first\r\n', 'A: third\r\n'])
    t.deepEqual(column(reports, 'reused'), [false, true, false])
  })
}

test('deliver(): no envelope is sent ahead to a slow peer', async (t) => {
  const clock = new FakeClock()
  const sink = await testSink(t, { script: (step) => (step === 'dot' ? { act: 'hold' } : undefined) })
  const transport = testTransport(t, { clock })
  const attempts = times(3, () => transport.deliver(targetOf(sink), jobOf()))
  for (const dots of [1, 2, 3]) {
    await sink.reached('dot', dots)
    t.false(sink.connections[0]?.pieces.some((piece) => piece.includes('.\r\nMAIL')))
    clock.advance(1_000)
    sink.release()
  }
  t.is((await Promise.all(attempts)).length, 3)
})

test('deliver(): replaces a dead idle connection once within the attempt', async (t) => {
  for (const act of ['drop', 'reset'] as const) {
    const sink = await testSink(t)
    const transport = testTransport(t)
    await transport.deliver(targetOf(sink), jobOf())
    sink.script = (step, _line, { number }) => (step === 'mail' && number === 0 ? { act } : undefined)
    let recorded = 0
    const beforeFinalDot = (): Promise<void> => Promise.resolve(void (recorded += 1))
    const report = await transport.deliver(targetOf(sink), jobOf({ beforeFinalDot }))
    t.is(report.recipients[0]?.verdict, 'accepted')
    t.false(report.reused)
    t.is(recorded, 1)
    sink.script = (step) => (step === 'mail' ? { act } : undefined)
    const second = await transport.deliver(targetOf(sink), jobOf())
    t.is(second.recipients[0]?.verdict, 'transient')
    t.is(sink.connections.length, 3)
  }
})

test('deliver(): replaces an idle connection that answers 421', async (t) => {
  const sink = await testSink(t)
  const transport = testTransport(t)
  await transport.deliver(targetOf(sink), jobOf())
  sink.script = (step, _line, { number }) => (step === 'mail' && number === 0 ? '421 4.4.2 Idle for too long' : undefined)
  const report = await transport.deliver(targetOf(sink), jobOf())
  t.is(report.recipients[0]?.verdict, 'accepted')
  t.is(sink.deliveries.length, 2)
})

test('deliver(): connection that fails later in the dialog is not replaced', async (t) => {
  const sink = await testSink(t)
  const transport = testTransport(t)
  await transport.deliver(targetOf(sink), jobOf())
  sink.script = (step) => (step === 'data' ? { act: 'drop' } : undefined)
  const report = await transport.deliver(targetOf(sink), jobOf())
  t.is(report.recipients[0]?.verdict, 'transient')
  t.is(sink.connections.length, 1)
})

test('deliver(): idle connection closed by the peer is not reused', async (t) => {
  const sink = await testSink(t)
  const transport = testTransport(t)
  await transport.deliver(targetOf(sink), jobOf())
  sink.connections[0]?.socket.end('421 4.4.2 Idle\r\n')
  await sink.open(0)
  const report = await transport.deliver(targetOf(sink), jobOf())
  t.is(report.recipients[0]?.verdict, 'accepted')
  t.is(sink.connections.length, 2)
})

test('deliver(): connections end at their limit of messages or time', async (t) => {
  const clock = new FakeClock()
  const sink = await testSink(t)
  const transport = testTransport(t, { clock, limits: { messages: 3, ageMs: 20_000 } })
  await Promise.all(times(7, () => transport.deliver(targetOf(sink), jobOf())))
  t.deepEqual(
    times(3, (number) => sink.deliveries.filter(({ connection }) => connection === number).length),
    [3, 3, 1],
  )
  clock.advance(20_000)
  t.is((await transport.deliver(targetOf(sink), jobOf())).recipients[0]?.verdict, 'accepted')
  t.is(sink.deliveries.at(-1)?.connection, 3)
  await sink.open(1)
})

test('deliver(): new revision opens new connections; old ones finish', async (t) => {
  const sink = await testSink(t)
  const transport = testTransport(t)
  await transport.deliver(targetOf(sink), jobOf())
  const held = gate()
  const under1 = transport.deliver(targetOf(sink), jobOf({ beforeFinalDot: () => held.passed }))
  await sink.reached('data', 2)
  const under2 = transport.deliver(targetOf(sink, { revision: '2' }), jobOf())
  t.is((await under2).recipients[0]?.verdict, 'accepted')
  held.open()
  t.is((await under1).recipients[0]?.verdict, 'accepted')
  await sink.reached('quit')
  await sink.open(1)
  t.deepEqual(column(sink.deliveries, 'connection'), [0, 1, 0])
})

test('forget(): closes idle connections', async (t) => {
  const sink = await testSink(t)
  const transport = testTransport(t)
  await transport.deliver(targetOf(sink), jobOf())
  transport.forget('dst_other')
  transport.forget('dst_1')
  await sink.open(0)
  t.is(sink.lines.at(-1), 'QUIT')
  t.is((await transport.deliver(targetOf(sink), jobOf())).recipients[0]?.verdict, 'accepted')
})

test('deliver(): failure of a dead host ends all waiting deliveries', async (t) => {
  const sink = await testSink(t)
  await sink[Symbol.asyncDispose]()
  const transport = testTransport(t)
  const reports = await Promise.all(times(20, () => transport.deliver(targetOf(sink, { maxConnections: 2 }), jobOf())))
  t.true(reports.every(({ recipients, error }) => recipients[0]?.verdict === 'transient' && error?.code === 'connect_refused'))
})

test('deliver(): peer with fewer connections gets all mail over them', async (t) => {
  const sink = await testSink(t, {
    script: (step, _line, { number }) => (step === 'greeting' && number > 0 ? '421 4.7.0 Too many' : undefined),
  })
  const transport = testTransport(t, { clock: new FakeClock() })
  const target = targetOf(sink, { maxConnections: 4 })
  await transport.deliver(target, jobOf())
  for (let round = 0; round < 3; round += 1) {
    const reports = await Promise.all(times(30, () => transport.deliver(target, jobOf())))
    t.true(reports.every(({ recipients }) => recipients[0]?.verdict === 'accepted'))
  }
  // The existing connection, and one try for each of the three others, not for each message.
  t.true(sink.connections.length <= 4)
})

test('deliver(): aborts before the start, waiting, running, before and after the dot', async (t) => {
  const sink = await testSink(t, { script: (step) => (step === 'mail' ? { act: 'hold' } : undefined) })
  const transport = testTransport(t)
  const [under, waiting, last] = times(3, () => new AbortController())
  const first = transport.deliver(targetOf(sink), jobOf({ ...(under && { signal: under.signal }) }))
  const second = transport.deliver(targetOf(sink), jobOf({ ...(waiting && { signal: waiting.signal }) }))
  await sink.reached('mail')
  waiting?.abort()
  t.like(await second, { error: { code: 'aborted', phase: 'connect' } })
  under?.abort()
  const report = await first
  t.is(report.recipients[0]?.verdict, 'transient')
  t.is(report.error?.code, 'aborted')
  sink.script = (step) => (step === 'dot' ? { act: 'hold' } : undefined)
  const third = transport.deliver(targetOf(sink), jobOf({ ...(last && { signal: last.signal }) }))
  await sink.reached('dot')
  last?.abort()
  t.is((await third).recipients[0]?.verdict, 'unknown')
  const early = await transport.deliver(targetOf(sink), jobOf({ signal: AbortSignal.abort() }))
  t.is(early.error?.code, 'aborted')
})

test('deliver(): aborted job with sent envelope ends the link after the previous one', async (t) => {
  const sink = await testSink(t)
  const transport = testTransport(t, { clock: new FakeClock() })
  await transport.deliver(targetOf(sink), jobOf())
  sink.script = (step) => (step === 'dot' ? { act: 'hold' } : undefined)
  const controller = new AbortController()
  const first = transport.deliver(targetOf(sink), jobOf({ text: 'A: first\r\n' }))
  const rider = transport.deliver(targetOf(sink), jobOf({ text: 'A: rider\r\n', signal: controller.signal }))
  const third = transport.deliver(targetOf(sink), jobOf({ text: 'A: third\r\n' }))
  await sink.reached('dot', 2)
  controller.abort()
  t.is((await rider).recipients[0]?.verdict, 'transient')
  sink.script = () => undefined
  sink.release()
  t.deepEqual([(await first).recipients[0]?.verdict, (await third).recipients[0]?.verdict], ['accepted', 'accepted'])
  t.deepEqual(sink.deliveries.map(({ text }) => text).slice(1), ['A: first\r\n', 'A: third\r\n'])
})

test('dispose(): reports all deliveries and refuses new ones', async (t) => {
  const sink = await testSink(t, { script: (step, line) => (step === 'dot' && line.includes('held') ? { act: 'hold' } : undefined) })
  const transport = testTransport(t)
  const handed = transport.deliver(targetOf(sink), jobOf({ text: 'A: held\r\n' }))
  const waiting = transport.deliver(targetOf(sink), jobOf())
  await sink.reached('dot')
  await transport[Symbol.asyncDispose]()
  t.deepEqual([(await handed).recipients[0]?.verdict, (await waiting).recipients[0]?.verdict], ['unknown', 'transient'])
  t.is((await transport.deliver(targetOf(sink), jobOf())).error?.code, 'closed')
  await sink.open(0)
})
