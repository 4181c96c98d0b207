/** Signatures of delivered mail, verified by other implementations: dkimpy and mailauth. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from '#test'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { systemClock } from '#core/clock.ts'
import { dkimRecordName, dkimRecordText, newDkimKey } from '#core/domains/dkim-keys.ts'
import { sendingDomains, type SendingDomain } from '#core/domains/sending-domain.ts'
import { serviceRef, serviceRefField } from '#core/trace/trace-token.ts'
import { WorkerMessageRewriter } from '#ingest/messages/message-rewriter.ts'
import { testWith } from '../support/peers/peers.ts'
import { column } from '../support/column.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { coreFixture, secrets, type CoreFixture, type CoreFixtureOptions } from '../core/core-fixture.ts'
import { contentOf, report, ScriptedTransport, take } from '../core/scripted-transport.ts'

const run = promisify(execFile)

const dkimpy = testWith('python', 'dkimpy', 'nacl')

/** Verifies every signature of a message with records from a table, and prints each outcome. */
const verifier = `
import sys, json, base64, dkim
given = json.load(sys.stdin)
def lookup(name, timeout=5):
    name = name.decode() if isinstance(name, bytes) else name
    text = given['records'].get(name.rstrip('.'))
    return text.encode() if text else None
def judge(text):
    message = base64.b64decode(text)
    count = sum(1 for name, _ in dkim.DKIM(message).headers if name.lower() == b'dkim-signature')
    verdicts = []
    for index in range(count):
        try:
            verdicts.append(dkim.DKIM(message).verify(idx=index, dnsfunc=lookup))
        except dkim.DKIMException as error:
            verdicts.append(str(error))
    return verdicts
print(json.dumps([judge(text) for text in given['messages']]))
`

/** Returns the message as submitted, without a signature. */
const withoutToken = (message: Buffer | undefined): string => message?.toString().replace(/^X-Service-Ref: .*\r\n/, '') ?? ''

/** Returns dkimpy's result for each signature of each message. */
async function verdictsOf(messages: readonly Buffer[], records: Readonly<Record<string, string>>): Promise<unknown> {
  const child = run('/usr/bin/python3', ['-c', verifier], { maxBuffer: 1 << 20 })
  child.child.stdin?.end(JSON.stringify({ records, messages: messages.map((message) => message.toString('base64')) }))
  return JSON.parse((await child).stdout)
}

/** A live destination that stores its messages, and a verified domain with an RSA and an Ed25519 key. */
async function signingFixture(t: ExecutionContext, name = 'example.com', options: CoreFixtureOptions = {}) {
  const delivered: Buffer[] = []
  const transport = new ScriptedTransport(async (call) => {
    delivered.push(await contentOf(call))
    return take(call)
  })
  const clock = new FakeClock(Date.now()) // verifiers refuse signatures from the future
  const fixture = await coreFixture(t, { transport, clock, ...options })
  await fixture.destination()
  await fixture.rule({ any: true })
  const made = await Promise.all([newDkimKey(secrets, 'dom_1', 'rsa', clock.now()), newDkimKey(secrets, 'dom_1', 'ed25519', clock.now())])
  const keys = made.map((key) => ({ ...key, state: 'active' as const }))
  const now = clock.now()
  const domain: SendingDomain = { id: 'dom_1', domain: name, status: 'verified', keys, check: null, createdAt: now, updatedAt: now }
  await fixture.put(sendingDomains, domain)
  const records = Object.fromEntries(keys.map((key) => [dkimRecordName(key, name), dkimRecordText(key)]))
  return { fixture, domain, delivered, records }
}

async function deliver(fixture: CoreFixture, content: Uint8Array | string, prefix = '', headerFrom = 'shop@example.com'): Promise<string> {
  const facts = { prefix, subject: '', messageId: '', headerFrom, headerAddresses: [], eightBit: true }
  const { traceId } = await fixture.submit({ content, facts })
  await fixture.settled()
  return traceId
}

const head = 'From: Shop <shop@example.com>\r\nTo: anna@example.net\r\nSubject: Hi\r\nDate: Sat, 21 Nov 2026 12:00:00 +0000\r\n'
const awkward: readonly (readonly [string, string | Uint8Array])[] = [
  ['a short text', `${head}\r\nHello.\r\n`],
  ['no body', `${head}\r\n`],
  ['a body without an end of line', `${head}\r\nHello`],
  ['blank lines before, between and after', `${head}\r\n\r\n\r\nA\r\n\r\n \t\r\n\r\nB\r\n \r\n\r\n`],
  ['only blank lines', `${head}\r\n\r\n \r\n\r\n`],
  ['blanks, tabs and trailing blanks', `${head}\r\n a  b\t\tc \t d  \r\n\t\r\n..dots\r\n \te\t\r\n`],
  ['folded and odd headers', `${head}CC:  a@b.test,\r\n\t c@d.test \r\nX-Other:  x\r\nmime-version:1.0\r\n\r\nHello\r\n`],
  ['repeated fields', `${head}Cc: one@b.test\r\nCc: two@b.test\r\nReferences: <a@b>\r\n <c@d>\r\n\r\nHello\r\n`],
  ['octets over 127', Buffer.from(`${head}Subject-2: x\r\n\r\nGr\u00fc\u00dfe \u00a0 \u0085 x\r\n`, 'latin1')],
  [
    'a signature of the submitter',
    `DKIM-Signature: v=1; a=rsa-sha256; d=example.com; s=old; h=from; bh=AA==; b=AA==\r\n${head}\r\nHello\r\n`,
  ],
  ['700 KiB in several rows', `${head}\r\n${'a line  with\ttwo kinds of blanks \r\n\r\n'.repeat(20_000)}`],
  ['700 KiB of blank lines at the end', `${head}\r\n${'\r\n'.repeat(350_000)}end\r\n`],
]

dkimpy('dkimpy and mailauth verify both signatures of every sort of message', async (t) => {
  const { fixture, delivered, records } = await signingFixture(t)
  for (const [, content] of awkward) await deliver(fixture, content, 'Received: from x\r\n\tby y;\r\n\tSat, 21 Nov 2026 12:00:00 +0000\r\n')
  const verdicts = (await verdictsOf(delivered, records)) as unknown[][]
  awkward.forEach(([what], index) => t.deepEqual(verdicts[index]?.slice(0, 2), [true, true], what))
  const resolver = (name: string) => Promise.resolve([[records[name] ?? '']])
  for (const [index, [what]] of awkward.entries()) {
    const { results } = await dkimVerify(delivered[index] ?? '', { resolver })
    const ours = results.filter(({ selector }) => selector !== 'old')
    t.deepEqual(column(ours, 'status', 'result'), ['pass', 'pass'], what)
    t.true(ours.every(({ status }) => status.aligned === 'example.com'))
  }
})

dkimpy('both signatures fit a message that was rewritten for tracking', async (t) => {
  await using rewriter = new WorkerMessageRewriter(systemClock)
  const { fixture, delivered, records } = await signingFixture(t, 'example.com', { rewriter, publicUrl: 'https://post.example.ch' })
  const html = `${head}MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<a href="https://shop.test/">${'long '.repeat(190)}</a>\r\n`
  const facts = {
    prefix: '',
    subject: '',
    messageId: '',
    headerFrom: 'shop@example.com',
    headerAddresses: [],
    eightBit: false,
  }
  await fixture.submit({ content: html, facts, tracking: { clicks: true, opens: true } })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'attempted')
  const [message = Buffer.alloc(0)] = delivered
  t.true(message.includes('/t/c/') && message.includes('quoted-printable') && !message.includes('shop.test'))
  t.deepEqual(await verdictsOf(delivered, records), [[true, true]])
  const { results } = await dkimVerify(message, { resolver: (name: string) => Promise.resolve([[records[name] ?? '']]) })
  t.deepEqual(column(results, 'status', 'result'), ['pass', 'pass'])
})

dkimpy('added, changed or repeated fields break the signature', async (t) => {
  const { fixture, delivered, records } = await signingFixture(t)
  await deliver(fixture, `${head}\r\nHello.\r\n`)
  const signed = delivered[0]?.toString('latin1') ?? ''
  const end = signed.indexOf('From:')
  const changed = [
    signed.replace('Hello', 'Hallo'),
    signed.replace('Subject: Hi', 'Subject: Ho'),
    ...['From: other@example.net', 'Subject: Another', 'To: everybody@example.net', 'Date: Sun, 22 Nov 2026 12:00:00 +0000'].map(
      (field) => `${signed.slice(0, end)}${field}\r\n${signed.slice(end)}`,
    ),
  ]
  const verdicts = (await verdictsOf(
    [signed, ...changed].map((text) => Buffer.from(text, 'latin1')),
    records,
  )) as unknown[][]
  t.deepEqual(verdicts[0], [true, true])
  for (const [index, verdict] of verdicts.slice(1).entries()) t.false(verdict.includes(true), changed[index])
})

dkimpy('DKIM: a subdomain uses the key of its parent domain; other domains are unsigned', async (t) => {
  const { fixture, delivered, records } = await signingFixture(t)
  const from = (address: string) => `From: ${address}\r\n\r\nHello\r\n`
  await deliver(fixture, from('a@news.example.com'), '', 'a@news.example.com')
  await deliver(fixture, from('a@notexample.com'), '', 'a@notexample.com')
  await deliver(fixture, from('a@com'), '', 'a@com')
  t.deepEqual(await verdictsOf(delivered, records), [[true, true], [], []])
  t.is(withoutToken(delivered[1]), from('a@notexample.com'))
})

test('DKIM: a retry has the same signature, also after a key change', async (t) => {
  const { fixture, domain, delivered } = await signingFixture(t)
  const keep = fixture.transport.script
  fixture.transport.script = async (call) => {
    await keep(call)
    return report(call, call.nth === 1 ? 'transient' : 'accepted')
  }
  const traceId = await deliver(fixture, `${head}\r\nHello.\r\n`)
  const key = { ...(await newDkimKey(secrets, 'dom_1', 'rsa', fixture.clock.now())), state: 'active' as const }
  await fixture.put(sendingDomains, { ...domain, keys: [key] })
  fixture.clock.advance(3_600_000)
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'tried again')
  t.is(delivered.length, 2)
  t.deepEqual(delivered[1], delivered[0])
  const trace = await fixture.trace(traceId)
  t.deepEqual(
    trace.signedBy,
    domain.keys.map(({ selector }) => ({ domain: 'example.com', selector })),
  )
  t.true(trace.prefix.startsWith('DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.com;\r\n'))
})

test('DKIM: the signature is stored before the provider gets data', async (t) => {
  const { fixture } = await signingFixture(t)
  let stored = ''
  fixture.transport.script = async (call) => {
    stored = (await fixture.trace(call.job.traceId)).prefix
    const ours = stored + serviceRefField(serviceRef(secrets, call.job.traceId))
    t.is((await contentOf(call)).toString('latin1'), `${ours}${head}\r\nHello.\r\n`)
    t.is(call.job.size, Buffer.byteLength(ours) + head.length + 10)
    return take(call)
  }
  await deliver(fixture, `${head}\r\nHello.\r\n`)
  t.regex(stored, /^DKIM-Signature: /)
})

test('DKIM: pending and retired keys do not sign; possibly delivered mail is unchanged', async (t) => {
  const { fixture, domain, delivered } = await signingFixture(t)
  const [rsa] = domain.keys
  if (!rsa) throw new Error('no key')
  await fixture.put(sendingDomains, { ...domain, keys: [{ ...rsa, state: 'pending' }] })
  const keep = fixture.transport.script
  fixture.transport.script = async (call) => {
    await keep(call)
    return report(call, call.nth === 1 ? 'unknown' : 'accepted')
  }
  await deliver(fixture, `${head}\r\nHello.\r\n`)
  await fixture.put(sendingDomains, domain)
  fixture.clock.advance(24 * 3_600_000)
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'tried again')
  t.deepEqual(delivered.map(withoutToken), [`${head}\r\nHello.\r\n`, `${head}\r\nHello.\r\n`])
})

test('DKIM: an unreadable key delays the mail and is reported', async (t) => {
  const { fixture, domain, delivered } = await signingFixture(t)
  const keys = domain.keys.map((key) => ({ ...key, sealedPrivateKey: 'v1.00000000.AAAA.AAAA' }))
  await fixture.put(sendingDomains, { ...domain, keys })
  const traceId = await deliver(fixture, `${head}\r\nHello.\r\n`)
  t.is((await fixture.trace(traceId)).status, 'queued')
  t.true((await fixture.details(traceId)).some((line) => line.includes('The DKIM key of example.com cannot be decrypted; rotate it.')))
  await fixture.put(sendingDomains, domain)
  fixture.clock.advance(3_600_000)
  await fixture.settled()
  t.is(delivered.length, 1, 'sent')
  t.regex(delivered[0]?.toString() ?? '', /^DKIM-Signature: /)
})
