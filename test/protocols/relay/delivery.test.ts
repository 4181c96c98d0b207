import test from '#test'
import { jobOf, targetOf, testSink, testTransport } from './relay-fixture.ts'
import { column } from '../../support/column.ts'

test('deliver(): report of an accepted message is complete', async (t) => {
  const sink = await testSink(t)
  const report = await testTransport(t).deliver(targetOf(sink), jobOf({ text: 'A: b\r\n\r\n.x\r\n..\r\n.\r\n' }))
  t.deepEqual(report.recipients, [
    { address: 'one@peer.test', verdict: 'accepted', reply: { code: 250, enhanced: '2.0.0', text: 'Queued' } },
  ])
  t.like(report, { host: 'mail.test', port: sink.port, address: '127.0.0.1', reused: false, error: undefined, tls: undefined })
  t.deepEqual(Object.keys(report.milliseconds), [
    'dns',
    'connect',
    'greeting',
    'ehlo',
    'wait',
    'mail',
    'rcpt',
    'data',
    'body',
    'final',
    'total',
  ])
  t.true(Object.values(report.milliseconds).every((ms) => ms >= 0 && ms < 10_000))
  t.is(sink.deliveries[0]?.text, 'A: b\r\n\r\n.x\r\n..\r\n.\r\n')
})

test('deliver(): pipelining needs one write for envelope, one for content and dot', async (t) => {
  const sink = await testSink(t)
  const rcptTo = ['one@peer.test', 'two@peer.test']
  await testTransport(t).deliver(targetOf(sink), jobOf({ rcptTo, text: 'A: b\r\n' }))
  t.deepEqual(sink.connections[0]?.pieces, [
    'EHLO postern.test\r\n',
    'MAIL FROM:<sender@site.test> SIZE=6\r\nRCPT TO:<one@peer.test>\r\nRCPT TO:<two@peer.test>\r\nDATA\r\n',
    'A: b\r\n.\r\n',
  ])
})

test('deliver(): without PIPELINING each command waits for the previous reply', async (t) => {
  const sink = await testSink(t, { offers: [] })
  await testTransport(t).deliver(targetOf(sink), jobOf({ rcptTo: ['one@peer.test', 'two@peer.test'], text: 'A: b\r\n' }))
  t.deepEqual(sink.connections[0]?.pieces, [
    'EHLO postern.test\r\n',
    'MAIL FROM:<sender@site.test>\r\n',
    'RCPT TO:<one@peer.test>\r\n',
    'RCPT TO:<two@peer.test>\r\n',
    'DATA\r\n',
    'A: b\r\n.\r\n',
  ])
})

for (const offers of [undefined, []]) {
  const kind = offers ? 'one by one' : 'pipelined'
  test(`deliver(): ${kind}: separate verdicts; the link stays usable`, async (t) => {
    const sink = await testSink(t, {
      ...(offers && { offers }),
      script: (step, line) => {
        if (step === 'rcpt' && line.includes('later')) return '451 4.2.1 Later'
        return step === 'rcpt' && line.includes('never') ? '550-5.1.1 No such\r\n550 5.1.1 user' : undefined
      },
    })
    const transport = testTransport(t)
    const report = await transport.deliver(targetOf(sink), jobOf({ rcptTo: ['never@p.test', 'one@p.test', 'later@p.test', 'two@p.test'] }))
    t.deepEqual(
      report.recipients.map(({ address, verdict, reply }) => [address, verdict, reply?.code, reply?.enhanced, reply?.text]),
      [
        ['never@p.test', 'permanent', 550, '5.1.1', 'No such\nuser'],
        ['one@p.test', 'accepted', 250, '2.0.0', 'Queued'],
        ['later@p.test', 'transient', 451, '4.2.1', 'Later'],
        ['two@p.test', 'accepted', 250, '2.0.0', 'Queued'],
      ],
    )
    const refused = await transport.deliver(targetOf(sink), jobOf({ rcptTo: ['never@p.test'] }))
    t.is(refused.recipients[0]?.verdict, 'permanent')
    const next = await transport.deliver(targetOf(sink), jobOf())
    t.is(next.recipients[0]?.verdict, 'accepted')
    t.true(next.reused)
    t.is(sink.connections.length, 1)
    t.is(sink.lines.filter((line) => line === 'RSET').length, 1)
    t.deepEqual(column(sink.deliveries, 'to'), [['one@p.test', 'two@p.test'], ['one@peer.test']])
  })
}

test('deliver(): 354 after refused recipients gets a lone dot, no delivery', async (t) => {
  const sink = await testSink(t, {
    script: (step) => (step === 'rcpt' ? '550 5.1.1 No' : step === 'data' ? '354 Go on' : undefined),
  })
  const transport = testTransport(t)
  const report = await transport.deliver(targetOf(sink), jobOf())
  t.deepEqual(report.recipients, [{ address: 'one@peer.test', verdict: 'permanent', reply: { code: 550, enhanced: '5.1.1', text: 'No' } }])
  t.is(sink.deliveries[0]?.text, '')
  t.is(report.error, undefined)
  sink.script = () => undefined
  t.is((await transport.deliver(targetOf(sink), jobOf())).recipients[0]?.verdict, 'accepted')
  t.is(sink.connections.length, 1)
})

test('deliver(): 552 after an accepted recipient means too many recipients', async (t) => {
  const sink = await testSink(t, {
    script: (step, line) =>
      step !== 'rcpt' ? undefined : line.includes('two') ? '552 Too many' : line.includes('big') ? '552 5.2.2 Full' : undefined,
  })
  const report = await testTransport(t).deliver(targetOf(sink), jobOf({ rcptTo: ['one@p.test', 'two@p.test', 'big@p.test'] }))
  t.deepEqual(column(report.recipients, 'verdict'), ['accepted', 'transient', 'permanent'])
})

test("deliver(): message over the peer's SIZE is refused without commands", async (t) => {
  const sink = await testSink(t, { offers: ['PIPELINING', 'SIZE 5'] })
  const report = await testTransport(t).deliver(targetOf(sink), jobOf({ rcptTo: ['one@p.test', 'two@p.test'] }))
  t.deepEqual(
    report.recipients.map(({ verdict, reply }) => [verdict, reply?.enhanced]),
    [
      ['permanent', '5.3.4'],
      ['permanent', '5.3.4'],
    ],
  )
  t.deepEqual(sink.lines, ['EHLO postern.test'])
})

test('deliver(): parameters depend on offered extensions and the message', async (t) => {
  const sink = await testSink(t, { offers: ['8BITMIME', 'SMTPUTF8', 'SIZE'] })
  const transport = testTransport(t)
  await transport.deliver(targetOf(sink), jobOf({ mailFrom: '', eightBit: true, text: 'é\r\n' }))
  await transport.deliver(targetOf(sink), jobOf({ rcptTo: ['jürg@p.test'], text: '' }))
  await transport.deliver(targetOf(sink), jobOf({ smtputf8: true, text: '' }))
  t.deepEqual(
    sink.lines.filter((line) => line.startsWith('MAIL')),
    ['MAIL FROM:<> SIZE=3 BODY=8BITMIME', 'MAIL FROM:<sender@site.test> SIZE=0 SMTPUTF8', 'MAIL FROM:<sender@site.test> SIZE=0 SMTPUTF8'],
  )
  t.is(sink.deliveries[0]?.text, 'é\r\n')
  t.is(sink.deliveries[1]?.to[0], 'jürg@p.test')
})

test('deliver(): without SMTPUTF8 only non-ASCII recipients are refused', async (t) => {
  const sink = await testSink(t, { offers: ['PIPELINING'] })
  const transport = testTransport(t)
  const some = await transport.deliver(targetOf(sink), jobOf({ rcptTo: ['jürg@p.test', 'one@p.test'] }))
  t.deepEqual(
    some.recipients.map(({ verdict, reply }) => [verdict, reply?.enhanced]),
    [
      ['permanent', '5.6.7'],
      ['accepted', '2.0.0'],
    ],
  )
  const all = await transport.deliver(targetOf(sink), jobOf({ smtputf8: true }))
  t.deepEqual(
    all.recipients.map(({ verdict, reply }) => [verdict, reply?.enhanced]),
    [['permanent', '5.6.7']],
  )
  t.is(sink.deliveries.length, 1)
})

test('deliver(): address that could end a command is never written', async (t) => {
  const sink = await testSink(t)
  const transport = testTransport(t)
  const rcptTo = ['a@p.test>\r\nRCPT TO:<b@p.test', 'a b@p.test', '', 'a<b@p.test', 'one@p.test']
  const report = await transport.deliver(targetOf(sink), jobOf({ rcptTo }))
  t.deepEqual(column(report.recipients, 'verdict'), ['permanent', 'permanent', 'permanent', 'permanent', 'accepted'])
  const sender = await transport.deliver(targetOf(sink), jobOf({ mailFrom: 'a@p.test> SIZE=1\r\nDATA\r\n' }))
  t.deepEqual(
    sender.recipients.map(({ verdict, reply }) => [verdict, reply?.enhanced]),
    [['permanent', '5.1.3']],
  )
  t.deepEqual(column(sink.deliveries, 'to'), [['one@p.test']])
})

test('deliver(): accepts replies sent byte by byte', async (t) => {
  const sink = await testSink(t, { split: true })
  const report = await testTransport(t).deliver(targetOf(sink), jobOf())
  t.deepEqual(report.recipients[0]?.reply, { code: 250, enhanced: '2.0.0', text: 'Queued' })
})

test('deliver(): falls back to HELO', async (t) => {
  const sink = await testSink(t, { script: (step) => (step === 'ehlo' ? '502 5.5.1 What?' : undefined) })
  const report = await testTransport(t).deliver(targetOf(sink), jobOf())
  t.is(report.recipients[0]?.verdict, 'accepted')
  t.deepEqual(sink.lines, ['EHLO postern.test', 'HELO postern.test', 'MAIL FROM:<sender@site.test>', 'RCPT TO:<one@peer.test>', 'DATA'])
})
