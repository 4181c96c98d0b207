import test from '#test'
import { SecretBox } from '#core/access/secret-box.ts'
import { serviceRef, traceOfServiceRef } from '#core/trace/trace-token.ts'
import { newTraceId } from '#store/ids.ts'
import { contentOf, take, type Call } from '../scripted-transport.ts'
import { coreFixture, principal, secrets } from '../core-fixture.ts'

test('serviceRef(): resolves to its trace, ignoring case', (t) => {
  for (let n = 0; n < 200; n++) {
    const traceId = newTraceId()
    const token = serviceRef(secrets, traceId)
    t.regex(token, /^[0-9a-f]{48}$/)
    t.is(traceOfServiceRef(secrets, token), traceId)
    t.is(traceOfServiceRef(secrets, token.toUpperCase()), traceId)
  }
})

test('traceOfServiceRef(): refuses changed, truncated and foreign tokens', (t) => {
  const token = serviceRef(secrets, newTraceId())
  for (let at = 0; at < token.length; at++) {
    const digit = (parseInt(token[at] ?? '', 16) ^ 1).toString(16)
    t.is(traceOfServiceRef(secrets, token.slice(0, at) + digit + token.slice(at + 1)), undefined)
  }
  for (const other of ['', token.slice(2), `${token}00`, `${token}zz`, `${token.slice(0, 46)}zz`, newTraceId()])
    t.is(traceOfServiceRef(secrets, other), undefined, other)
  t.is(traceOfServiceRef(new SecretBox(Buffer.alloc(32, 8)), token), undefined)
})

test('service ref: relayed mail has it in its header and envelope id; captures do not', async (t) => {
  const fixture = await coreFixture(t)
  await fixture.destination()
  await fixture.rule({ domain: 'example.com' })
  const calls: { call: Call; content: string }[] = []
  fixture.transport.script = async (call) => {
    calls.push({ call, content: (await contentOf(call)).toString() })
    return take(call)
  }
  const { traceId } = await fixture.submit({ content: 'From: shop@example.com\r\n\r\nHello\r\n' })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'sent')
  const token = serviceRef(secrets, traceId)
  t.is(calls[0]?.content, `X-Service-Ref: ${token}\r\nFrom: shop@example.com\r\n\r\nHello\r\n`)
  t.is(calls[0]?.call.job.envelopeId, token)
  t.is((await fixture.traces.get(principal, token)).trace.id, traceId)
  const captured = await fixture.submit({
    facts: { prefix: '', subject: '', messageId: '', headerFrom: 'a@other.test', headerAddresses: [], eightBit: false },
  })
  t.is(captured.outcome, 'captured.no_route')
  t.is((await fixture.trace(captured.traceId)).prefix, '')
})
