/** Mail to inbound routes: over SMTP to the MX listener and on to a webhook, despite failures in between. */
import { createHmac, generateKeyPairSync } from 'node:crypto'
import test, { type ExecutionContext } from '#test'
import { dkimSign } from 'mailauth/lib/dkim/sign.js'
import { Webhook } from 'standardwebhooks'
import { NameServer } from '../../core/outbound/name-server.ts'
import { hostileMail } from '../../ingest/messages/hostile-mail.ts'
import { portOf, type Daemon } from '../../support/daemon/daemon.ts'
import { livesOf, type Lives } from '../../support/daemon/daemon-lives.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { SmtpClient, type Answer } from '../../support/smtp/smtp-client.ts'
import { WebhookReceiver } from '../../support/web/webhook-receiver.ts'
import { assertVerified } from '../../support/problems.ts'

const domain = 'in.site.test'

interface Place extends Pick<Lives, 'verify'> {
  daemon: Daemon
  readonly dns: NameServer
  readonly receiver: WebhookReceiver
  restart(): Promise<void>
}

async function place(t: ExecutionContext): Promise<Place> {
  const dns = new NameServer()
  const receiver = await new WebhookReceiver().listen()
  const env = {
    POSTERN_INBOUND_DOMAIN: domain,
    POSTERN_DNS_SERVERS: await dns.listen(),
    POSTERN_OUTBOUND_ALLOW: 'webhooks=127.0.0.1/32',
  }
  const { start, verify } = await livesOf(t, 'inbound', env, dns, receiver)
  const here: Place = {
    ...{ daemon: await start(), dns, receiver, verify },
    restart: async () => void (here.daemon = await start()),
  }
  return here
}

async function deliver({ daemon }: Place, to: readonly string[], content: string | Buffer, from = 'ada@peer.test'): Promise<Answer> {
  const client = await SmtpClient.connect({ port: portOf(daemon.addresses.mx[0]) })
  const answer = await client.send({ from, to, content: Buffer.from(content as string) })
  await client.quit()
  return answer
}

const routeTo = async ({ daemon, receiver }: Place, local_part_pattern: string): Promise<Record<string, unknown>> =>
  daemon.rest.must('POST', '/v1/inbound-routes', { local_part_pattern, webhook_url: receiver.url })

interface Told {
  readonly id: string
  readonly route_id: string
  readonly subject: string
  readonly text: string
  readonly unreadable: string | null
  readonly raw_url: string
  readonly envelope: { readonly from: string; readonly to: readonly string[] }
  readonly attachments: readonly { readonly filename: string; readonly size: number; readonly url: string }[]
  readonly authentication: unknown
}

const told = ({ body }: { readonly body: string }): Told => (JSON.parse(body) as { data: Told }).data

/** Fetches a link from the port where the daemon listens. */
async function follow({ daemon }: Place, url: string): Promise<Buffer> {
  using nobody = new RestClient(daemon.addresses.http, '')
  const { status, bytes } = await nobody.call('GET', new URL(url).pathname)
  if (status !== 200) throw new Error(`${url} answered ${String(status)}`)
  return bytes
}

/** Publishes SPF, DKIM and DMARC for a domain. Returns a function that signs for it. */
function publishSender({ dns }: Place): Parameters<typeof dkimSign>[1] {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  dns.zones.set('s1._domainkey.peer.test', { txt: [[`v=DKIM1; k=rsa; p=${key.slice(0, 200)}`, key.slice(200)]] })
  dns.zones.set('peer.test', { txt: [['v=spf1 ip4:127.0.0.1 -all']] })
  dns.zones.set('_dmarc.peer.test', { txt: [['v=DMARC1; p=reject']] })
  const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' })
  return { signatureData: [{ signingDomain: 'peer.test', selector: 's1', privateKey: privatePem }] } as Parameters<typeof dkimSign>[1]
}

const mail = [
  'From: Ada <ada@peer.test>',
  `To: Shop <shop@${domain}>`,
  'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
  'Message-ID: <1@peer.test>',
  'Date: Sat, 21 Nov 2026 12:00:00 +0000',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain; charset=utf-8',
  '',
  'Hello',
  '--b',
  'Content-Type: text/csv',
  'Content-Disposition: attachment; filename=list.csv',
  '',
  'a,b',
  '--b--',
  '',
].join('\r\n')

test.serial('inbound route: the webhook gets signed mail with content, sender and file links', async (t) => {
  const here = await place(t)
  const signing = publishSender(here)
  const route = await routeTo(here, 'shop')
  const { signatures } = await dkimSign(mail, signing)
  t.true((await deliver(here, [`SHOP@${domain.toUpperCase()}`], signatures + mail)).accepted)

  const [request] = await waiting('the mail arrives', here.receiver.hasReceived(1))
  if (!request) throw new Error('nothing arrived')
  const secret = String(route['hmac_secret'])
  t.is(request.headers['x-service-signature'], `sha256=${createHmac('sha256', secret).update(request.body).digest('hex')}`)
  t.notThrows(() => new Webhook(secret).verify(request.body, request.headers as Record<string, string>))
  t.is(request.headers['x-service-delivery'], request.headers['webhook-id'])
  const data = told(request)
  t.like(data, {
    route_id: route['id'],
    subject: 'Grüße',
    text: 'Hello',
    unreadable: null,
    from: [{ address: 'ada@peer.test', name: 'Ada' }],
    envelope: { from: 'ada@peer.test', remote_address: '127.0.0.1', tls: false },
    authentication: {
      spf: { result: 'pass', domain: 'peer.test' },
      dkim: [{ result: 'pass', domain: 'peer.test', selector: 's1' }],
      dmarc: { result: 'pass', domain: 'peer.test', policy: 'reject' },
      arc: { result: 'none' },
    },
  })
  const raw = (await follow(here, data.raw_url)).toString()
  t.true(raw.endsWith(mail))
  t.regex(raw, /^Return-Path: <ada@peer\.test>\r\nX-Service-Loop: \w+\r\nReceived: from /)
  t.like(data.attachments, [{ filename: 'list.csv' }])
  t.regex((await follow(here, data.attachments[0]?.url ?? '')).toString(), /^a,b/)
  // mail that returns to us is recognized
  t.like(await deliver(here, [`shop@${domain}`], raw), { accepted: false, reply: { code: 554 } })

  const path = `/v1/inbound-routes/${String(route['id'])}/messages`
  const [row] = (await here.daemon.rest.must('GET', path))['data'] as Record<string, unknown>[]
  t.like(row, { id: data.id, subject: 'Grüße', status: 'processed', envelope_from: 'ada@peer.test' })
  for (const [q, n] of Object.entries({ GRÜ: 1, 'peer.test': 1, other: 0 }))
    t.is(((await here.daemon.rest.must('GET', `${path}?q=${encodeURIComponent(q)}`))['data'] as unknown[]).length, n, q)
  const shown = await here.daemon.rest.must('GET', `${path}/${data.id}`)
  t.is(shown['text'], 'Hello')
  const view = String(shown['view_url'])
  t.regex((await follow(here, view)).toString(), /Received<\/dt>[^]*Hello/)
  t.true((await follow(here, `${view}/html`)).includes('<body'))
  t.regex((await follow(here, `${view}/attachments/0`)).toString(), /^a,b/)
  t.true((await follow(here, `${view}/raw`)).toString().endsWith(mail))
  const attempt = `/v1/webhooks/attempts/${String(row?.['webhook_attempt_id'])}`
  await waitFor('the attempt is on record', async () =>
    (await here.daemon.rest.must('GET', attempt))['status'] === 'succeeded' ? true : undefined,
  )
  await here.daemon.rest.must('POST', `${attempt}/redeliver`)
  const [, again] = await waiting('the mail arrives again', here.receiver.hasReceived(2))
  t.is(again?.body, request.body)
  t.is(again?.headers['x-service-delivery'], request.headers['x-service-delivery'])
  const tested = await here.daemon.rest.must('POST', `/v1/inbound-routes/${String(route['id'])}/test`)
  t.like(tested, { delivered: true, status_code: 204 })
  const [, , sample] = await waiting('the test arrives', here.receiver.hasReceived(3))
  t.is(sample?.body, String(tested['body']))
  t.notThrows(() => new Webhook(secret).verify(sample?.body ?? '', (sample?.headers ?? {}) as Record<string, string>))
  t.like(JSON.parse(sample?.body ?? ''), { type: 'inbound_message', test: true, data: { envelope: { to: [`shop@${domain}`] } } })
  t.is(((await here.daemon.rest.must('GET', path))['data'] as unknown[]).length, 1)
  // neither a send nor a capture
  t.deepEqual((await here.daemon.rest.must('GET', '/v1/traces'))['data'], [])
  t.is((await here.daemon.stop()).code, 0)
  assertVerified(t, await here.verify())
})

test.serial('inbound routes: the most specific pattern matches; unmatched mail fails at RCPT', async (t) => {
  const here = await place(t)
  const ids: Record<string, unknown> = {}
  for (const pattern of ['sales', 'sales+*', 'sales+eu+*']) ids[pattern] = (await routeTo(here, pattern))['id']
  const nobody = await deliver(here, [`other@${domain}`], 'Subject: x\r\n\r\nx\r\n')
  t.like(nobody, { accepted: false, reply: { code: 550 } })
  t.regex(nobody.reply.lines.join(' '), /5\.1\.1/)
  t.like(await deliver(here, ['sales@elsewhere.test'], 'x'), { reply: { code: 550 } })
  const to = ['sales', 'Sales+1', 'sales+2', 'sales+eu+3', 'sales+eu'].map((local) => `${local}@${domain}`)
  t.true((await deliver(here, to, 'Subject: x\r\n\r\nx\r\n', '')).accepted)
  const requests = await waiting('all arrive', here.receiver.hasReceived(3))
  const found = Object.fromEntries(requests.map((request) => [told(request).route_id, told(request).envelope.to]))
  t.deepEqual(found, {
    [String(ids['sales'])]: [`sales@${domain}`],
    [String(ids['sales+*'])]: [`Sales+1@${domain}`, `sales+2@${domain}`, `sales+eu@${domain}`],
    [String(ids['sales+eu+*'])]: [`sales+eu+3@${domain}`],
  })
  await here.daemon.rest.must('POST', '/v1/inbound-routes', { local_part_pattern: '*', webhook_url: here.receiver.url })
  t.true((await deliver(here, [`other@${domain}`], 'Subject: rest\r\n\r\nx\r\n')).accepted)
  // these addresses belong to the operator, regardless of tenants' routes
  t.true((await deliver(here, [`abuse@${domain}`], 'Subject: spam\r\n\r\nx\r\n')).accepted)
  await waiting('the rest arrives', here.receiver.hasReceived(4))
  t.is(here.receiver.received.length, 4)
  await here.daemon.rest.must('DELETE', `/v1/inbound-routes/${String(ids['sales'])}`)
  t.true((await deliver(here, [`sales@${domain}`], 'Subject: now for all\r\n\r\nx\r\n')).accepted)
})

test.serial('kill: an acknowledged mail arrives once afterwards, with late DNS results', async (t) => {
  const here = await place(t)
  const route = await routeTo(here, 'shop')
  // the daemon is killed during the authentication checks
  here.dns.zones.set('peer.test', { silent: true })
  t.true((await deliver(here, [`shop@${domain}`], 'From: ada@peer.test\r\nSubject: kept\r\n\r\nx\r\n')).accepted)
  await here.daemon.kill()
  t.is(here.receiver.received.length, 0)
  await here.restart()
  const [request] = await waiting('the mail arrives', here.receiver.hasReceived(1))
  if (!request) throw new Error('nothing arrived')
  t.like(told(request), { subject: 'kept', route_id: route['id'], authentication: { spf: { result: 'temperror' } } })
  await here.daemon.stop()
  t.is(here.receiver.received.length, 1, 'ledger: the mail arrives once')
  assertVerified(t, await here.verify())
})

test.serial('hostile mail: stored and reported unchanged, and later mail arrives', async (t) => {
  const here = await place(t)
  await routeTo(here, 'shop')
  const mails = hostileMail
    .map(([title, make, sentence]) => ({ title, content: make(), sentence }))
    .filter(({ content }) => content.length < 4_000_000)
  const accepted: typeof mails = []
  for (const mail of mails) {
    const { accepted: isIn, reply } = await deliver(here, [`shop@${domain}`], mail.content, '')
    if (isIn) accepted.push(mail)
    else t.log(`${mail.title}: ${reply.lines.join(' ')}`)
  }
  t.true(accepted.length > 10)
  t.true((await deliver(here, [`shop@${domain}`], 'Subject: after all\r\n\r\nx\r\n')).accepted)
  const requests = await waiting('all arrive', here.receiver.hasReceived(accepted.length + 1))
  t.true(requests.some((request) => told(request).subject === 'after all'))
  const refused = requests.filter((request) => told(request).unreadable !== null)
  t.is(refused.length, accepted.filter(({ sentence }) => sentence !== undefined).length)
  for (const request of refused) t.true((await follow(here, told(request).raw_url)).length > 100)
})
