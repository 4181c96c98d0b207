/** Authentication of incoming mail: results as receivers expect them, and isolation of harmful mails. */
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import test from '#test'
import { authenticate } from 'mailauth'
import { dkimSign } from 'mailauth/lib/dkim/sign.js'
import type { ReceivedMail } from '#core/inbound-routes/authentication.ts'
import { AuthenticationThread, type AuthenticationLimits } from '#ingest/authentication/authentication-thread.ts'
import { authenticateMail } from '#ingest/authentication/mail-authentication.ts'
import type { Resolve } from '#ingest/dns/resolve.ts'
import { wallFactor } from '#ingest/threads/thread-time.ts'
import { StubDns, type Zone } from '../inspect/stub-dns.ts'
import { column } from '../../support/column.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { waiting } from '../../support/waits.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string

const zone: Zone = {
  '_dmarc.peer.test TXT': [['v=DMARC1; p=reject']],
  'peer.test TXT': [['v=spf1 ip4:192.0.2.1 -all']],
  's1._domainkey.list.test TXT': [[`v=DKIM1; k=rsa; p=${key}`]],
}
const text = 'From: Ada <ada@peer.test>\r\nSubject: hello\r\n\r\nHello\r\n'
const mailOf = (raw: string, more: Partial<ReceivedMail> = {}): ReceivedMail => ({
  ...{ raw: Buffer.from(raw, 'latin1'), mailFrom: 'ada@peer.test', remoteAddress: '192.0.2.1', helo: 'mx.peer.test' },
  ...more,
})
const found = (raw: string, more: Partial<ReceivedMail> = {}, records: Zone = zone): ReturnType<typeof authenticateMail> =>
  authenticateMail(mailOf(raw, more), 'mx.site.test', new StubDns(records).resolve)

/** Seals a mail like a mailing list. */
async function sealed(raw: string): Promise<string> {
  const resolver = new StubDns(zone).resolve as (name: string, type: string) => Promise<never>
  const seal = { signingDomain: 'list.test', selector: 's1', privateKey: privatePem }
  const session = { ip: '192.0.2.1', helo: 'mx.peer.test', sender: 'ada@peer.test', mta: 'list.test' }
  const { headers } = await authenticate(Buffer.from(raw), { ...session, resolver, seal })
  return headers + raw
}

test('ARC: a valid chain passes; a chain over a changed body fails', async (t) => {
  const raw = await sealed(text)
  t.regex(raw, /^ARC-Seal:/m)
  t.is((await found(raw)).arc.result, 'pass')
  t.is((await found(raw.replace('Hello\r\n', 'Goodbye\r\n'))).arc.result, 'fail')
  t.is((await found(text)).arc.result, 'none')
})

test('SPF: ptr matches only a confirmed reverse DNS name', async (t) => {
  const records = {
    ...zone,
    'peer.test TXT': [['v=spf1 ptr -all']],
    '1.2.0.192.in-addr.arpa PTR': ['mx.peer.test'],
    'mx.peer.test A': ['192.0.2.1'],
  }
  t.like(await found(text, {}, records), { spf: { result: 'pass' }, dmarc: { result: 'pass' } })
  t.is((await found(text, {}, { ...records, 'mx.peer.test A': ['192.0.2.99'] })).spf.result, 'fail')
})

test('DMARC: an author with an ambiguous domain gives permerror, not none', async (t) => {
  const fromOf = (...from: string[]): string => `${from.map((one) => `From: ${one}\r\n`).join('')}Subject: x\r\n\r\nx\r\n`
  t.is((await found(fromOf('ada@peer.test, eve@evil.test'))).dmarc.result, 'permerror')
  t.is((await found(fromOf('ada@peer.test', 'eve@evil.test'))).dmarc.result, 'permerror')
  t.is((await found(fromOf('ada@peer.test', 'ada@peer.test'))).dmarc.result, 'permerror')
  t.deepEqual((await found(fromOf())).dmarc, { result: 'none', domain: null, policy: null })
  t.deepEqual((await found(fromOf('ada@nowhere.test'))).dmarc, { result: 'none', domain: 'nowhere.test', policy: null })
  t.like(await found(fromOf('ada@peer.test'), { mailFrom: '' }), { dmarc: { result: 'fail', domain: 'peer.test', policy: 'reject' } })
})

test('DKIM: a signature with rsa-sha1 never passes (RFC 8301)', async (t) => {
  const records = { ...zone, 's1._domainkey.peer.test TXT': [[`v=DKIM1; k=rsa; p=${key}`]] }
  const foreign = { mailFrom: 'bounce@list.test' }
  for (const [algorithm, dkim, dmarc] of [
    ['rsa-sha1', 'policy', 'fail'],
    ['rsa-sha256', 'pass', 'pass'],
  ] as const) {
    const entry = { signingDomain: 'peer.test', selector: 's1', privateKey: privatePem, algorithm }
    const { signatures } = await dkimSign(Buffer.from(text), { signatureData: [entry] } as unknown as Parameters<typeof dkimSign>[1])
    t.regex(signatures, new RegExp(`a=${algorithm};`))
    t.like(
      await found(signatures + text, foreign, records),
      { dkim: [{ result: dkim, domain: 'peer.test' }], dmarc: { result: dmarc, policy: 'reject' } },
      algorithm,
    )
  }
})

test('SPF: a syntax error gives permerror even after a match (RFC 7208 §4.6)', async (t) => {
  const resultOf = async (record: string, more: Partial<ReceivedMail> = {}): Promise<string> =>
    (await found(text, more, { ...zone, 'peer.test TXT': [[record]] })).spf.result
  for (const record of [
    'v=spf1 ip4:192.0.2.1 ip5:1 -all',
    'v=spf1 ip4:192.0.2.1 exp=a.peer.test exp=b.peer.test -all',
    'v=spf1 ip4:192.0.2.1 redirect=a.peer.test redirect=b.peer.test',
    'v=spf1 ip4:192.0.2.1 a:%{c}.peer.test -all',
  ])
    t.is(await resultOf(record), 'permerror', record)
  t.is(await resultOf('v=spf1 ip4:192.0.2.1 unknown=x -all'), 'pass')
})

test('authentication: a header block over the limit never passes', async (t) => {
  const long = `X: ${'y'.repeat(990)}\r\n`.repeat(270)
  t.deepEqual(await found(long + text), {
    spf: { result: 'pass', domain: 'peer.test' },
    dkim: [],
    dmarc: { result: 'permerror', domain: null, policy: null },
    arc: { result: 'fail' },
  })
})

for (const [ends, end] of [
  ['CRLF', '\r\n'],
  ['a bare LF', '\n'],
] as const)
  test(`DKIM: verifies the first ten signatures if lines end with ${ends}`, async (t) => {
    const signature = (n: number): string => `DKIM-Signature: v=1; a=rsa-sha256; d=peer.test; s=s${n}; h=from;\r\n bh=AAAA; b=AAAA\r\n`
    const flood = Array.from({ length: 500 }, (_, n) => signature(n)).join('')
    const { dkim } = await found((flood + text).replaceAll('\r\n', end))
    t.deepEqual(
      column(dkim, 'selector'),
      Array.from({ length: 10 }, (_, n) => `s${n}`),
    )
  })

test('DKIM: domains and selectors are cut to the length of a DNS name', async (t) => {
  const long = 'x'.repeat(900)
  const { dkim } = await found(`DKIM-Signature: v=1; a=rsa-sha256; d=${long}.test;\r\n s=${long}; h=from; bh=AAAA; b=AAAA\r\n${text}`)
  t.deepEqual(
    dkim.map(({ domain, selector }) => [domain?.length, selector?.length]),
    [[253, 253]],
  )
})

const limits: AuthenticationLimits = { dnsMs: 8000, allMs: 60_000, idleMs: 3_600_000 }
const options = { hostname: 'mx.site.test', limits }

test('AuthenticationThread: same results for parallel mails, ends when idle', async (t) => {
  const dns = new StubDns(zone)
  const clock = new FakeClock()
  await using thread = new AuthenticationThread({ ...options, clock, resolve: dns.resolve })
  const plain = await found(text)
  const all = await Promise.all(Array.from({ length: 20 }, () => thread.authenticate(mailOf(text))))
  t.true(all.every((one) => JSON.stringify(one) === JSON.stringify(plain)))
  t.is(thread.running, 1)
  const started = once(process, 'worker') as Promise<[Worker]>
  await using idle = new AuthenticationThread({ ...options, clock, resolve: dns.resolve })
  await idle.authenticate(mailOf(text))
  const [worker] = await started
  const ended = waiting('the idle thread ends', once(worker, 'exit'))
  clock.advance(limits.idleMs)
  await ended
  t.is(idle.running, 0)
  t.deepEqual(await idle.authenticate(mailOf(text)), plain)
})

test('AuthenticationThread: silent DNS delays a mail up to its deadline only', async (t) => {
  const clock = new FakeClock()
  const hanging: Resolve = () => {
    setImmediate(() => clock.advance(limits.dnsMs))
    return new Promise(() => {})
  }
  await using thread = new AuthenticationThread({ ...options, clock, resolve: hanging })
  t.like(await thread.authenticate(mailOf(text)), { spf: { result: 'temperror' }, dmarc: { result: 'temperror' } })
})

/** A thread that sends 150 queries and reports the number of answers. */
const curious = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from 'node:worker_threads'
  parentPort.on('message', ({ port }) => {
    let answered = 0
    let heard = 0
    port.on('message', ({ kind }) => {
      if (kind === 'answer') answered++
      if (++heard === 150) port.postMessage({ kind: 'authentication', authentication: { answered } })
    })
    for (let number = 0; number < 150; number++) port.postMessage({ kind: 'question', number, name: 'n' + number, type: 'A' })
  })`)}`,
)

test('AuthenticationThread: sends at most 100 DNS queries for a mail', async (t) => {
  let asked = 0
  const resolve: Resolve = async () => [String(++asked)]
  await using thread = new AuthenticationThread({ ...options, clock: new FakeClock(), resolve, entry: curious })
  t.like(await thread.authenticate(mailOf(text)), { answered: 100 })
  t.is(asked, 100)
})

/** A thread that crashes on mails from `crash@`. On mails from `hang@` it sends a query and never returns. */
const fragile = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from 'node:worker_threads'
  parentPort.on('message', ({ mail, port }) => {
    if (mail.mailFrom.startsWith('crash@')) throw new Error('broken')
    if (mail.mailFrom.startsWith('hang@')) {
      port.postMessage({ kind: 'question', number: 0, name: 'hanging.test', type: 'A' })
      for (;;);
    }
    const spf = { result: 'pass', domain: null }
    setImmediate(() => port.postMessage({ kind: 'authentication', authentication: { spf, dkim: [], dmarc: { ...spf, policy: null }, arc: spf } }))
  })`)}`,
)

/** A resolver for the hanging mail. Its query lets the time limit expire once `others` have finished. */
const endHangs =
  (clock: FakeClock, others: Promise<unknown> = Promise.resolve()): Resolve =>
  async () => {
    void others.then(() => clock.advance(limits.allMs * wallFactor))
    return []
  }

test('AuthenticationThread: a crash or hang gives temperror for that mail only', async (t) => {
  for (const harm of ['crash@peer.test', 'hang@peer.test']) {
    const clock = new FakeClock()
    await using thread = new AuthenticationThread({ ...options, clock, resolve: endHangs(clock), entry: fragile })
    const mails = ['a@peer.test', harm, 'b@peer.test'].map((mailFrom) => thread.authenticate(mailOf(text, { mailFrom })))
    const results = (await Promise.all(mails)).map(({ spf }) => spf.result)
    t.deepEqual(results, ['pass', 'temperror', 'pass'], harm)
    t.is((await thread.authenticate(mailOf(text))).spf.result, 'pass')
  }
})

test('AuthenticationThread: a slow large mail does not delay small mails', async (t) => {
  const clock = new FakeClock()
  const small = Promise.withResolvers<void>()
  await using thread = new AuthenticationThread({ ...options, clock, resolve: endHangs(clock, small.promise), entry: fragile })
  const ended: string[] = []
  const ask = async (raw: Buffer, mailFrom: string): Promise<void> => {
    await thread.authenticate({ ...mailOf(text, { mailFrom }), raw })
    ended.push(mailFrom)
  }
  await Promise.all([ask(Buffer.alloc(1024 * 1024 + 1), 'hang@peer.test'), ask(Buffer.from(text), 'ada@peer.test').then(small.resolve)])
  t.deepEqual(ended, ['ada@peer.test', 'hang@peer.test'])
  t.is(thread.running, 1, 'that of the small ones was not ended')
})

test('AuthenticationThread: disposal resolves mails in flight as temperror', async (t) => {
  const hanging: Resolve = () => new Promise(() => {})
  const thread = new AuthenticationThread({ ...options, clock: new FakeClock(), resolve: hanging })
  const mail = thread.authenticate(mailOf(text))
  await thread[Symbol.asyncDispose]()
  t.is((await mail).spf.result, 'temperror')
  t.is((await thread.authenticate(mailOf(text))).spf.result, 'temperror')
  t.is(thread.running, 0)
})
