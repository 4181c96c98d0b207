/** Signatures of AWS (Signature Version 4) on requests to SES: what their clients sign is taken, and what was changed since is not. */
import { createHmac, hash } from 'node:crypto'
import test from '#test'
import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import { systemClock } from '#core/clock.ts'
import { adminKey, startDaemon } from '../../support/daemon/start-daemon.ts'

const sesPath = '/v2/email/outbound-emails'
const mail = {
  FromEmailAddress: 'shop@example.ch',
  Destination: { ToAddresses: ['ada@example.net'] },
  Content: { Simple: { Subject: { Data: 'Hi' }, Body: { Text: { Data: 'Hi' } } } },
}

interface Signing {
  readonly secret?: string
  readonly at?: Date
  readonly sha256?: string
  readonly more?: Readonly<Record<string, string>>
}

/** Header fields of a request that is signed as most SDKs do, but those of JavaScript: without a field for the digest of the body. */
function signed(host: string, body: string, { secret = adminKey, at = new Date(), sha256 = '', more = {} }: Signing = {}) {
  const date = at.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const fields: Record<string, string> = { host, 'x-amz-date': date, ...(sha256 && { 'x-amz-content-sha256': sha256 }), ...more }
  const names = Object.keys(fields).toSorted()
  const list = names.join(';')
  const request = ['POST', sesPath, '', ...names.map((name) => `${name}:${String(fields[name])}`), '', list, sha256 || hash('sha256', body)]
  const scope = `${date.slice(0, 8)}/eu-central-1/ses/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', date, scope, hash('sha256', request.join('\n'))].join('\n')
  const mac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()
  const signature = mac(scope.split('/').reduce<Buffer>(mac, Buffer.from(`AWS4${secret}`)), toSign).toString('hex')
  const authorization = `AWS4-HMAC-SHA256 Credential=${adminKey}/${scope}, SignedHeaders=${list}, Signature=${signature}`
  return { ...fields, authorization, 'content-type': 'application/json' }
}

test('a signature is that of the request, its body and the time; a digest in the header is not needed', async (t) => {
  const { addresses } = await startDaemon(t, { replacements: { clock: systemClock } })
  const body = JSON.stringify(mail)
  const post = async (headers: Record<string, string>, sent = body) => {
    const answer = await fetch(`http://${addresses.http}${sesPath}`, { method: 'POST', headers, body: sent })
    return [answer.status, answer.headers.get('x-amzn-errortype')]
  }
  const good = signed(addresses.http, body)
  t.deepEqual(await post(good), [200, null])
  t.deepEqual(await post(good), [200, null], 'AWS takes a request again within its minutes, too')
  t.deepEqual(await post(signed(addresses.http, body, { sha256: hash('sha256', body) })), [200, null])
  const large = JSON.stringify({ ...mail, Content: { Simple: { Subject: { Data: 'Hi' }, Body: { Text: { Data: 'x'.repeat(400_000) } } } } })
  t.deepEqual(await post(signed(addresses.http, large), large), [200, null])
  const wrong = [403, 'InvalidSignatureException']
  for (const [what, headers, sent] of [
    ['another body', good, body.replace('ada@', 'eva@')],
    ['another large body', signed(addresses.http, large), large.replace('ada@', 'eva@')],
    ['another digest', signed(addresses.http, body, { sha256: hash('sha256', 'x') })],
    ['a digest of nothing', signed(addresses.http, body, { sha256: 'UNSIGNED-PAYLOAD' })],
    ['another secret', signed(addresses.http, body, { secret: 'x' })],
    ['another secret, and a digest', signed(addresses.http, body, { secret: 'x', sha256: hash('sha256', body) })],
    ['another header', { ...signed(addresses.http, body, { more: { 'x-order': 'a' } }), 'x-order': 'b' }],
    ['an old one', signed(addresses.http, body, { at: new Date(Date.now() - 16 * 60_000) })],
    ['one of the future', signed(addresses.http, body, { at: new Date(Date.now() + 16 * 60_000) })],
    ['another host', { ...signed('other.example', body), host: addresses.http }],
    ['a broken one', { ...good, authorization: good.authorization.replace('SignedHeaders=host;', 'SignedHeaders=') }],
  ] as [string, Record<string, string>, string?][])
    t.deepEqual(await post(headers, sent), wrong, what)
  t.deepEqual(await post({ ...good, authorization: 'AWS4-HMAC-SHA256 nonsense' }), [403, 'UnrecognizedClientException'])
})

test('their client puts a wrong clock right by our answer, and a key can be the token of a session', async (t) => {
  const { rest, addresses } = await startDaemon(t, { replacements: { clock: systemClock } })
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

test('keys of web pages and keys that only read send at no address of another service, wherever a client puts them', async (t) => {
  const { rest } = await startDaemon(t, { replacements: { clock: systemClock } })
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
