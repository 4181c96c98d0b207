import test from '#test'
import { messageNotice, recipientNotice, xtext } from '../../../protocols/relay/smtp/transaction/delivery-notice.ts'
import { jobOf, targetOf, testSink, testTransport } from './relay-fixture.ts'

test('deliver(): sends DSN parameters to a peer with DSN (RFC 3461 §4)', async (t) => {
  const sink = await testSink(t, { offers: ['PIPELINING', 'SIZE', 'DSN'] })
  const rcptTo = ['one+tag@peer.test', "o'two=2@peer.test"]
  await testTransport(t).deliver(targetOf(sink), jobOf({ rcptTo, text: 'A: b\r\n', envelopeId: 'a1+b=2' }))
  t.deepEqual(sink.connections[0]?.pieces, [
    'EHLO postern.test\r\n',
    'MAIL FROM:<sender@site.test> SIZE=6 RET=HDRS ENVID=a1+2Bb+3D2\r\n' +
      'RCPT TO:<one+tag@peer.test> NOTIFY=FAILURE ORCPT=rfc822;one+2Btag@peer.test\r\n' +
      "RCPT TO:<o'two=2@peer.test> NOTIFY=FAILURE ORCPT=rfc822;o'two+3D2@peer.test\r\nDATA\r\n",
    'A: b\r\n.\r\n',
  ])
})

test('deliver(): no DSN parameters for a peer without DSN', async (t) => {
  const sink = await testSink(t)
  await testTransport(t).deliver(targetOf(sink), jobOf({ envelopeId: 'a1' }))
  t.notRegex(sink.lines.join('\n'), /ENVID|RET=|NOTIFY|ORCPT/)
})

test('deliver(): requests no notification for a null reverse-path', async (t) => {
  const sink = await testSink(t, { offers: ['DSN'] })
  await testTransport(t).deliver(targetOf(sink), jobOf({ mailFrom: '', envelopeId: 'a1' }))
  t.true(sink.lines.includes('MAIL FROM:<> RET=HDRS ENVID=a1'))
  t.true(sink.lines.includes('RCPT TO:<one@peer.test>'))
})

test('recipientNotice(): omits an invalid ORCPT', (t) => {
  const job = { mailFrom: 'a@b.test' }
  t.is(recipientNotice(job, 'jürg@peer.test', { dsn: true }), ' NOTIFY=FAILURE')
  t.is(recipientNotice(job, `${'+'.repeat(200)}@peer.test`, { dsn: true }), ' NOTIFY=FAILURE')
  t.is(messageNotice({ ...job, envelopeId: '+'.repeat(40) }, { dsn: true }), ' RET=HDRS')
})

test('xtext(): encodes all octets except printable ASCII without + and =', (t) => {
  const kept = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).filter((c) => c !== '+' && c !== '=')
  t.is(xtext(kept.join('')), kept.join(''))
  t.is(xtext('a b+c=d\u0000é'), 'a+20b+2Bc+3Dd+00+C3+A9')
})
