/**
 * Behavior that the relay needs from every vendor, regardless of its requests. A vendor's rules simulate its endpoint; transport, TLS and
 * sockets are real.
 */
import type { ExecutionContext, SerialFn } from 'ava'
import type { AttemptReport, DeliveryJob, HttpTarget, RecipientReport } from '#core/delivery/transport.ts'
import { addressGuard } from '#core/outbound/address-guard.ts'
import { PartsReader } from '#ingest/messages/parts-reader.ts'
import { HttpTransport, type HttpTransportOptions } from '../../protocols/relay/http/http-transport.ts'
import { authority } from '../protocols/relay/certificates.ts'
import { testResolver } from '../protocols/relay/relay-fixture.ts'
import { withoutAddressing } from '../support/vendors/addressed-by-header.ts'
import { VendorDouble, type VendorRules } from '../support/vendors/double.ts'
import { column } from '../support/column.ts'
import { FakeClock } from '../support/fake-clock.ts'

const letter = [
  'From: =?utf-8?q?Der_L=C3=A4den?= <shop@site.test>',
  'To: "Anna, Beispiel" <anna@peer.test>',
  'Cc: bob@peer.test, nobody-of-this-attempt@peer.test',
  'Reply-To: help@site.test',
  'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
  'Message-ID: <letter-1@site.test>',
  'X-Service-Ref: ref-1',
  'List-Unsubscribe: <https://site.test/u/1>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=outer',
  '',
  '--outer',
  'Content-Type: multipart/alternative; boundary=inner',
  '',
  '--inner',
  'Content-Type: text/plain; charset=utf-8',
  '',
  'Grüße aus Zürich',
  '.dot',
  '--inner',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<p>Grüße</p>',
  '--inner--',
  '--outer',
  'Content-Type: application/pdf; name="r.pdf"',
  'Content-Disposition: attachment; filename="r.pdf"',
  'Content-Transfer-Encoding: base64',
  '',
  'JVBERi0xLjQ=',
  '--outer--',
  '',
].join('\r\n')

/** As PHP sites write it: 8-bit octets in the header, without encoded words. */
const eightBitLetter =
  'From: Der Läden <shop@site.test>\r\nTo: Käthe <anna@peer.test>\r\nSubject: Bestellbestätigung\r\nX-Order: Müller\r\n\r\nDanke.\r\n'

const everybody = ['anna@peer.test', 'bob@peer.test', 'carl@peer.test']

function job(changes: Partial<DeliveryJob> = {}): DeliveryJob {
  const content = Buffer.from(letter)
  return {
    traceId: '00000000-0000-4000-8000-000000000001',
    mailFrom: 'bounce@site.test',
    rcptTo: everybody,
    eightBit: true,
    smtputf8: false,
    size: content.length,
    content: () => [content],
    beforeFinalDot: () => Promise.resolve(),
    signal: new AbortController().signal,
    ...changes,
  }
}

const verdicts = (report: AttemptReport): readonly string[] => report.recipients.map(({ verdict }) => verdict)
const all = (verdict: string): readonly string[] => everybody.map(() => verdict)

// One thread for all tests, because its start takes longer than most of them.
const parts = new PartsReader(new FakeClock())
const reader = { read: (raw: Uint8Array) => parts.read(raw, 'org_1'), [Symbol.asyncDispose]: () => Promise.resolve() }

/** The part of a message that must arrive unchanged. */
const comparable = (rules: VendorRules, mime: Buffer): string =>
  rules.addressedByHeader ? withoutAddressing(mime) : mime.toString('latin1')

interface Fixture {
  readonly double: VendorDouble
  readonly clock: FakeClock
  readonly transport: HttpTransport
  readonly target: HttpTarget
}

/** A transport that trusts the test authority, and a simulated vendor. */
export async function vendorFixture(
  t: ExecutionContext,
  rules: VendorRules,
  options: Partial<HttpTransportOptions> = {},
): Promise<Fixture> {
  const double = await new VendorDouble(rules).listen()
  const clock = FakeClock.atMachineTime()
  const guard = addressGuard([{ cidr: '127.0.0.1/32' }])
  const transport = new HttpTransport({ resolver: testResolver, guard, clock, trusted: [authority], reader, ...options })
  t.teardown(async () => {
    await transport[Symbol.asyncDispose]()
    await double[Symbol.asyncDispose]()
  })
  return { double, clock, transport, target: targetOf(rules, double.origin) }
}

const targetOf = ({ provider, credentials }: VendorRules, baseUrl: string, changes: Readonly<Record<string, string>> = {}): HttpTarget => {
  const given = { ...credentials, ...changes }
  const secrets = Object.entries(given).flatMap(([name, value]) => (/key$|token$|secret/.test(name) ? [value] : []))
  return { destinationId: 'dst_1', revision: '1', provider, maxConnections: 2, baseUrl, credentials: given, secrets }
}

/** Declares the tests of the contract for the vendor with these rules. */
export function vendorContract(test: SerialFn, rules: VendorRules): void {
  const name = `${rules.provider} contract`
  handover(test, name, rules)
  refusals(test, name, rules)
  breakdowns(test, name, rules)
  probes(test, name, rules)
}

function handover(test: SerialFn, name: string, rules: VendorRules): void {
  test(`${name}: exactly the recipients get the whole message in the vendor's format`, async (t) => {
    const { double, transport, target } = await vendorFixture(t, rules)
    const report = await transport.deliver(target, job())
    t.deepEqual(double.faults, [])
    t.deepEqual(verdicts(report), all('accepted'))
    t.like(report, { host: 'localhost', address: '127.0.0.1', error: undefined, tls: { verified: true } })
    t.true(report.recipients.every(({ reply }) => reply !== undefined && reply.code < 300 && reply.text !== ''))
    t.is(double.taken.length, 1)
    const [taken] = double.taken
    t.deepEqual(taken?.recipients.toSorted(), everybody)
    if (taken?.mime) t.is(comparable(rules, taken.mime), comparable(rules, Buffer.from(letter)))
    else {
      t.deepEqual(taken?.named, ['anna@peer.test', 'bob@peer.test'])
      const { headers, attachments, text, html, ...others } = taken?.fields ?? {}
      t.deepEqual(others, { from: 'shop@site.test', subject: 'Grüße', replyTo: ['help@site.test'] } as typeof others)
      t.is(String(text).trimEnd().replaceAll('\r\n', '\n'), 'Grüße aus Zürich\n.dot')
      t.is(String(html).trim(), '<p>Grüße</p>')
      t.like(headers, { 'X-Service-Ref': 'ref-1', 'List-Unsubscribe': '<https://site.test/u/1>' })
      t.deepEqual(attachments, [{ filename: 'r.pdf', content: Buffer.from('%PDF-1.4') }])
    }
  })

  test(`${name}: recipients outside the header do not see each other`, async (t) => {
    const { double, transport, target } = await vendorFixture(t, rules)
    const report = await transport.deliver(target, job({ rcptTo: ['x@peer.test', 'y@peer.test'] }))
    t.deepEqual(double.faults, [])
    t.deepEqual(verdicts(report), ['accepted', 'accepted'])
    t.deepEqual(double.taken.flatMap(({ recipients }) => recipients).toSorted(), ['x@peer.test', 'y@peer.test'])
    if (double.taken[0]?.mime && !rules.addressedByHeader) t.true(double.taken.every(({ mime }) => mime?.toString() === letter))
    else t.true(double.taken.every(({ recipients }) => recipients.length === 1))
  })

  test(`${name}: with several requests, each result is recorded before the next one ends`, async (t) => {
    const { double, transport, target } = await vendorFixture(t, rules)
    const recorded: string[] = []
    const beforeFinalDot = async (known: readonly RecipientReport[] = []): Promise<void> => {
      recorded.push(known.map(({ address, verdict }) => `${address} ${verdict}`).join(', '))
    }
    await transport.deliver(target, job({ rcptTo: ['x@peer.test', 'y@peer.test'], beforeFinalDot }))
    const several = ['x@peer.test unknown', 'x@peer.test accepted, y@peer.test unknown']
    t.deepEqual(recorded, double.handovers === 1 ? [''] : several)
  })

  test(`${name}: a message without text is valid for the vendor`, async (t) => {
    const { double, transport, target } = await vendorFixture(t, rules)
    const content = Buffer.from('From: shop@site.test\r\nTo: anna@peer.test\r\nSubject: empty\r\n\r\n')
    const report = await transport.deliver(target, job({ rcptTo: ['anna@peer.test'], size: content.length, content: () => [content] }))
    t.deepEqual(double.faults, [])
    t.deepEqual(verdicts(report), ['accepted'])
    t.true(double.taken[0]?.fields?.html === undefined)
  })

  for (const encoding of ['utf8', 'latin1'] as const)
    test(`${name}: header fields in raw ${encoding} arrive unchanged or decoded, or the reason names them`, async (t) => {
      const { double, transport, target } = await vendorFixture(t, rules)
      const content = Buffer.from(eightBitLetter, encoding)
      const report = await transport.deliver(target, job({ rcptTo: ['anna@peer.test'], size: content.length, content: () => [content] }))
      t.deepEqual(double.faults, [])
      const [taken] = double.taken
      if (rules.takesText && encoding === 'latin1') {
        t.deepEqual([verdicts(report), taken], [['permanent'], undefined])
        t.like(report.error, { code: 'not_utf8' })
        t.regex(String(report.error?.message), /header field From .*RFC 2047/)
        return
      }
      t.deepEqual(verdicts(report), ['accepted'])
      if (taken?.mime) t.is(comparable(rules, taken.mime), comparable(rules, content))
      else t.like(taken?.fields, { subject: 'Bestellbestätigung', headers: { 'X-Order': 'Müller' } })
    })

  test(`${name}: a second message uses the same connection`, async (t) => {
    const { transport, target } = await vendorFixture(t, rules)
    t.is((await transport.deliver(target, job())).reused, rules.asksFirst === true)
    t.true((await transport.deliver(target, job())).reused)
  })
}

function refusals(test: SerialFn, name: string, rules: VendorRules): void {
  for (const [mood, verdict, code] of [
    ['permanent', 'permanent', undefined],
    ['transient', 'transient', undefined],
    ['rateLimited', 'transient', 'provider_rate_limited'],
    ['misconfigured', 'transient', 'destination_misconfigured'],
  ] as const) {
    test(`${name}: a response of the kind ${mood} gives ${verdict}${code ? ` with ${code}` : ''}`, async (t) => {
      const { double, transport, target } = await vendorFixture(t, rules)
      double.mood = rules.refusals[mood]
      const report = await transport.deliver(target, job())
      t.deepEqual(double.faults, [])
      t.deepEqual(verdicts(report), all(verdict))
      const isOwnFault = mood === 'transient' && rules.refusals[mood].status >= 500
      t.is(report.error?.code, isOwnFault ? 'provider_failed' : code)
      t.is(report.retryAfterSeconds, mood === 'rateLimited' ? 17 : undefined)
      t.true(report.recipients.every(({ reply }) => reply?.code === rules.refusals[mood].status && reply.text !== ''))
      t.is(double.handovers, mood === 'permanent' ? 3 : 1, 'a message that is refused for several is tried with two alone')
    })
  }

  test(`${name}: one invalid recipient does not affect the others`, async (t) => {
    const { double, transport, target } = await vendorFixture(t, rules)
    double.unfit = ({ recipients }) => recipients.includes('bob@peer.test')
    const report = await transport.deliver(target, job())
    t.deepEqual(double.faults, [])
    t.deepEqual(verdicts(report), ['accepted', 'permanent', 'accepted'])
    t.deepEqual(column(double.taken, 'recipients'), [['anna@peer.test'], ['carl@peer.test']])
  })

  test(`${name}: a wrong key is destination_misconfigured and never printed`, async (t) => {
    const { double, transport } = await vendorFixture(t, rules)
    const target = targetOf(rules, double.origin, rules.wrong)
    const report = await transport.deliver(target, job())
    t.deepEqual(verdicts(report), all('transient'))
    t.like(report.error, { code: 'destination_misconfigured', class: 'misconfigured' })
    t.deepEqual(double.taken, [])
    for (const secret of target.secrets) t.false(JSON.stringify(report).includes(secret))
  })

  test(`${name}: a response without the expected fields reports every recipient`, async (t) => {
    const { double, transport, target } = await vendorFixture(t, rules)
    for (const status of [200, 202, 302, 400, 404, 422, 500])
      for (const body of ['', 'null', '[]', '"x"', '{"errors":5,"Messages":{},"message":7}', '<html>', `"${'x'.repeat(100_000)}"`]) {
        double.mood = { status, body, headers: { location: 'https://elsewhere.test/', 'retry-after': 'soon' } }
        const report = await transport.deliver(target, job())
        t.is(report.recipients.length, 3)
        if (status >= 300) t.false(verdicts(report).includes('accepted'), `${status} ${body.slice(0, 20)}`)
        t.true(report.recipients.every(({ reply }) => (reply?.text.length ?? 0) <= 1001))
      }
    t.true(double.requests.every(({ headers }) => headers.host?.startsWith('localhost:')))
  })
}

function breakdowns(test: SerialFn, name: string, rules: VendorRules): void {
  test(`${name}: a connection lost after the body is unknown, without a retry`, async (t) => {
    const { double, transport, target } = await vendorFixture(t, rules)
    double.mood = 'drop'
    const report = await transport.deliver(target, job())
    t.deepEqual(verdicts(report), all('unknown'))
    t.is(report.error?.code, 'connection_lost')
    t.is(double.handovers, 1)
  })

  test(`${name}: a gateway timeout is unknown, without a retry`, async (t) => {
    const { double, transport, target } = await vendorFixture(t, rules)
    for (const status of [504, 524]) {
      double.mood = { status, body: '<html>gateway time-out</html>' }
      const report = await transport.deliver(target, job())
      t.deepEqual(verdicts(report), all('unknown'))
      t.is(report.error?.code, 'final_timeout')
    }
    t.is(double.handovers, 2)
  })

  test(`${name}: no response in time is unknown`, async (t) => {
    const { double, clock, transport, target } = await vendorFixture(t, rules, { deadlines: { header: 200 } })
    double.mood = 'hang'
    const attempt = transport.deliver(target, job())
    await double.arrival()
    clock.advance(200)
    const report = await attempt
    t.deepEqual(verdicts(report), all('unknown'))
    t.is(report.error?.code, 'final_timeout')
  })

  test(`${name}: aborting an attempt after the vendor has the message is unknown`, async (t) => {
    const { double, transport, target } = await vendorFixture(t, rules)
    double.mood = 'hang'
    const arrived = double.arrival()
    const controller = new AbortController()
    const attempt = transport.deliver(target, job({ signal: controller.signal }))
    await arrived
    controller.abort()
    const report = await attempt
    t.deepEqual(verdicts(report), all('unknown'))
    t.is(report.error?.code, 'aborted')
  })

  test(`${name}: the start is durable before the vendor has the whole message`, async (t) => {
    const { double, transport, target } = await vendorFixture(t, rules)
    const { promise: durable, resolve } = Promise.withResolvers<void>()
    const { promise: asked, resolve: noteAsked } = Promise.withResolvers<void>()
    const beforeFinalDot = (): Promise<void> => {
      noteAsked()
      return durable
    }
    const attempt = transport.deliver(target, job({ beforeFinalDot }))
    await asked
    t.deepEqual(double.taken, [])
    resolve()
    t.deepEqual(verdicts(await attempt), all('accepted'))
  })
}

function probes(test: SerialFn, name: string, rules: VendorRules): void {
  test(`${name}: a probe proves the credentials and sends nothing`, async (t) => {
    const { double, transport, target } = await vendorFixture(t, rules)
    const steps = await transport.probe(target, new AbortController().signal)
    t.deepEqual(
      steps.filter(({ ok }) => !ok),
      [],
    )
    t.is(steps.at(-1)?.step, 'auth')
    t.true(steps.some(({ step }) => step === 'tls'))
    t.deepEqual([double.faults, double.taken], [[], []])
  })

  test(`${name}: a probe reports a wrong key without printing it`, async (t) => {
    const { double, transport } = await vendorFixture(t, rules)
    const target = targetOf(rules, double.origin, rules.wrong)
    const steps = await transport.probe(target, new AbortController().signal)
    t.like(steps.at(-1), { step: 'auth', ok: false })
    for (const secret of target.secrets) t.false(JSON.stringify(steps).includes(secret))
    t.deepEqual(double.taken, [])
  })
}
