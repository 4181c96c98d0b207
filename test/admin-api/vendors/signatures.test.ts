/** AWS Signature Version 4 on requests to SES: signed requests are accepted, and changed ones are refused. */
import { createHmac, hash } from 'node:crypto'
import test from '#test'
import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import { adminKey, startDaemon } from '../../support/daemon/start-daemon.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const sesPath = '/v2/email/outbound-emails'
const mail = {
  FromEmailAddress: 'shop@example.ch',
  Destination: { ToAddresses: ['ada@example.net'] },
  Content: { Simple: { Subject: { Data: 'Hi' }, Body: { Text: { Data: 'Hi' } } } },
}

const wrongSignature = [403, 'InvalidSignatureException']

interface Signing {
  readonly secret?: string
  readonly at: Date
  readonly sha256?: string
  readonly more?: Readonly<Record<string, string>>
  /** Day of the scope; the day of `at` by default. */
  readonly day?: string
  readonly region?: string
  /** Header fields that are sent but not signed. */
  readonly unsigned?: readonly string[]
  /** Method, path and canonical query. */
  readonly asked?: readonly [method: string, path: string, query: string]
}

const dateOf = (at: Date): string => at.toISOString().replaceAll(/[-:]|\.\d+/g, '')
const dayOf = (ms: number): string => dateOf(new Date(ms)).slice(0, 8)

/** Returns the header of a signed request without a field for the body digest, as most SDKs except JavaScript send it. */
function signed(host: string, body: string, signing: Signing) {
  const { secret = adminKey, at, sha256 = '', more = {}, unsigned = [], asked = ['POST', sesPath, ''] } = signing
  const { day = dayOf(at.getTime()), region = 'eu-central-1' } = signing
  const date = dateOf(at)
  const fields: Record<string, string> = { host, 'x-amz-date': date, ...(sha256 && { 'x-amz-content-sha256': sha256 }), ...more }
  const names = Object.keys(fields)
    .filter((name) => !unsigned.includes(name))
    .toSorted()
  const list = names.join(';')
  const request = [...asked, ...names.map((name) => `${name}:${String(fields[name])}`), '', list, sha256 || hash('sha256', body)]
  const scope = `${day}/${region}/ses/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', date, scope, hash('sha256', request.join('\n'))].join('\n')
  const mac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()
  const signature = mac(scope.split('/').reduce<Buffer>(mac, Buffer.from(`AWS4${secret}`)), toSign).toString('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${adminKey}/${scope}, SignedHeaders=${list}, Signature=${signature}`
  return { ...fields, authorization, 'content-type': 'application/json' }
}

test('Amazon SES: signatures cover request, body and time, without a digest header', async (t) => {
  const { addresses, clock } = await startDaemon(t)
  const sign = (sent: string, change: Partial<Signing> = {}) => signed(addresses.http, sent, { at: new Date(clock.now()), ...change })
  const body = JSON.stringify(mail)
  const post = async (headers: Record<string, string>, sent = body) => {
    const answer = await fetch(`http://${addresses.http}${sesPath}`, { method: 'POST', headers, body: sent })
    return [answer.status, answer.headers.get('x-amzn-errortype')]
  }
  const good = sign(body)
  t.deepEqual(await post(good), [200, null])
  t.deepEqual(await post(good), [200, null], 'AWS also accepts a repeated request within 15 minutes')
  t.deepEqual(await post(sign(body, { sha256: hash('sha256', body) })), [200, null])
  const large = JSON.stringify({ ...mail, Content: { Simple: { Subject: { Data: 'Hi' }, Body: { Text: { Data: 'x'.repeat(400_000) } } } } })
  t.deepEqual(await post(sign(large), large), [200, null])
  for (const [what, headers, sent] of [
    ['another body', good, body.replace('ada@', 'eva@')],
    ['another large body', sign(large), large.replace('ada@', 'eva@')],
    ['another digest', sign(body, { sha256: hash('sha256', 'x') })],
    ['a digest of nothing', sign(body, { sha256: 'UNSIGNED-PAYLOAD' })],
    ['another secret', sign(body, { secret: 'x' })],
    ['another secret, and a digest', sign(body, { secret: 'x', sha256: hash('sha256', body) })],
    ['another header', { ...sign(body, { more: { 'x-order': 'a' } }), 'x-order': 'b' }],
    ['an old one', sign(body, { at: new Date(clock.now() - 16 * 60_000) })],
    ['a future time', sign(body, { at: new Date(clock.now() + 16 * 60_000) })],
    ['another host', { ...signed('other.example', body, { at: new Date(clock.now()) }), host: addresses.http }],
    ['a broken one', { ...good, authorization: good.authorization.replace('SignedHeaders=host;', 'SignedHeaders=') }],
  ] as [string, Record<string, string>, string?][])
    t.deepEqual(await post(headers, sent), wrongSignature, what)
  t.deepEqual(await post({ ...good, authorization: 'AWS4-HMAC-SHA256 nonsense' }), [403, 'UnrecognizedClientException'])
})

test('Amazon SES: signatures that leave out or change a part are refused', async (t) => {
  const clock = new FakeClock()
  const { addresses, rest } = await startDaemon(t, { replacements: { clock } })
  const body = JSON.stringify(mail)
  const insights = `/v2/email/insights/${String((await rest.must('POST', sesPath, mail))['MessageId'])}`
  const doors: readonly (readonly [method: string, path: string, query: string, body: string, digest?: string])[] = [
    ['POST', sesPath, '', body],
    ['POST', sesPath, '', body, hash('sha256', body)],
    ['GET', insights, 'a=1%20x&b=2', ''],
    ['HEAD', insights, 'a=1%20x&b=2', ''],
  ]
  const day = 86_400_000
  for (const [method, path, query, sent, sha256 = ''] of doors) {
    const ask = async (change: Partial<Signing>) => {
      const signing = { at: new Date(clock.now()), sha256, asked: [method, path, query] as const, ...change }
      const headers = signed(addresses.http, sent, signing)
      const address = `http://${addresses.http}${path}${query && `?${query.split('&').toReversed().join('&')}`}`
      const answer = await fetch(address, { method, headers, ...(sent && { body: sent }) })
      return [answer.status, answer.headers.get('x-amzn-errortype')]
    }
    const what = `${method}${sha256 && ' with a digest'}`
    t.deepEqual(await ask({}), [200, null], what)
    const changes: Readonly<Record<string, Partial<Signing>>> = {
      'the host': { unsigned: ['host'] },
      'the date': { unsigned: ['x-amz-date'] },
      'a scope of yesterday': { day: dayOf(clock.now() - day) },
      'a scope of tomorrow': { day: dayOf(clock.now() + day) },
      'another method': { asked: ['PUT', path, query] },
      'another path': { asked: [method, `${path}/`, query] },
      ...(query && { 'another query': { asked: [method, path, 'a=1%20x&b=3'] }, 'no query': { asked: [method, path, ''] } }),
    }
    for (const [left, change] of Object.entries(changes)) t.deepEqual(await ask(change), wrongSignature, `${what}: ${left}`)
  }
})

test('Amazon SES: each day and each region has its own signing key', async (t) => {
  const clock = new FakeClock(Date.UTC(2030, 0, 15, 23, 59))
  const { addresses } = await startDaemon(t, { replacements: { clock } })
  const body = JSON.stringify(mail)
  const now = (change: Partial<Signing> = {}) => signed(addresses.http, body, { at: new Date(clock.now()), ...change })
  const post = async (headers: Record<string, string>) => {
    const answer = await fetch(`http://${addresses.http}${sesPath}`, { method: 'POST', headers, body })
    return [answer.status, answer.headers.get('x-amzn-errortype')]
  }
  const before = now()
  t.deepEqual(await post(before), [200, null])
  t.deepEqual(await post(now({ region: 'us-east-1' })), [200, null])
  clock.advance(2 * 60_000)
  t.deepEqual(await post(before), [200, null], 'signed before midnight')
  t.deepEqual(await post(now()), [200, null], 'signed after midnight')
  t.deepEqual(await post(now({ day: '20300115' })), wrongSignature, 'the scope of the day before')
})

test('Amazon SES: the client corrects its clock; a key can be the session token', async (t) => {
  const { rest, addresses } = await startDaemon(t, { replacements: { clock: FakeClock.atMachineTime() } })
  const made = async (body: object): Promise<string> => String((await rest.must('POST', '/v1/api-keys', body))['key'])
  const settings = { endpoint: `http://${addresses.http}`, region: 'eu-central-1' }
  const by = (credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }) =>
    new SESv2Client({ ...settings, credentials }).send(new SendEmailCommand(mail))
  const own = { accessKeyId: adminKey, secretAccessKey: adminKey }
  const ahead = new SESv2Client({ ...settings, credentials: own, systemClockOffset: 20 * 60_000 })
  await t.throwsAsync(ahead.send(new SendEmailCommand(mail)), { name: 'InvalidSignatureException', message: /clock/ })
  t.truthy((await ahead.send(new SendEmailCommand(mail))).MessageId)
  t.truthy((await by({ accessKeyId: 'AKIA', secretAccessKey: 'any', sessionToken: adminKey })).MessageId)
  await t.throwsAsync(by({ ...own, sessionToken: `svckey_${'x'.repeat(43)}` }), { name: 'UnrecognizedClientException' })
  const reading = await made({ name: 'reads', scopes: ['api:read'] })
  await t.throwsAsync(by({ accessKeyId: reading, secretAccessKey: reading }), { name: 'AccessDeniedException' })
  const sending = await made({ name: 'sends', send_only: true })
  t.truthy((await by({ accessKeyId: sending, secretAccessKey: sending })).MessageId)
})

test('keys: publishable and read-only keys cannot send, in any place', async (t) => {
  const { rest } = await startDaemon(t)
  const page = { allowed_origins: ['https://example.ch'], allowed_to: ['ada@example.net'], locked_from: 'form@example.ch' }
  const { raw_token: token } = await rest.must('POST', '/v1/publishable-keys', page)
  const { key: reading } = await rest.must('POST', '/v1/api-keys', { name: 'reads', scopes: ['api:read'] })
  const basic = (user: string, password: string) => ({ authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` })
  for (const key of [String(token), String(reading), '', 'x'.repeat(5000), '\u00e4'])
    for (const [path, headers] of [
      ['/v3/smtp/email', { 'api-key': key }],
      ['/v1/email', { authorization: `Bearer ${key}` }],
      ['/api/v1/transmissions', { authorization: key }],
      ['/v3.1/send', basic(key, key)],
      ['/v3.1/send', basic('api', key)],
      [sesPath, { authorization: 'AWS4-HMAC-SHA256 x', 'x-amz-security-token': key }],
      ['/email', { 'x-postmark-server-token': key }],
    ] as [string, Record<string, string>][]) {
      const { status } = await rest.call('POST', path, {}, { authorization: '', origin: 'https://example.ch', ...headers })
      t.true(status === 401 || status === 403, `${path} ${key.slice(0, 7)}: ${String(status)}`)
    }
})
