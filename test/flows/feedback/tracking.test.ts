/** Click and open tracking with the whole daemon: SMTP and REST in, a smart host out, and a recipient who follows a link. */
import test, { type ExecutionContext } from '#test'
import { simpleParser } from 'mailparser'
import { Daemon, portOf, runCommand } from '../../support/daemon/daemon.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { makeDestination, makeLogin, makeRoute, type Login } from '../../support/daemon/provision.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { column } from '../../support/column.ts'
import { assertVerified } from '../../support/problems.ts'

const publicUrl = 'https://post.example.ch'
const target = 'https://shop.example.ch/order?id=1&lang=de'
const html = '<html><body><p>Gr\u00fc\u00dfe</p><a href="https://shop.example.ch/order?id=1&amp;lang=de">Order</a></body></html>'
const letter = [
  ...[
    'From: shop@example.ch',
    'To: ada@example.net',
    'Subject: order',
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative; boundary=b',
    '',
  ],
  ...[
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Order: https://shop.example.ch/',
    '--b',
    'Content-Type: text/html; charset=utf-8',
  ],
  ...['Content-Transfer-Encoding: base64', '', Buffer.from(html).toString('base64'), '--b--', ''],
].join('\r\n')

async function submit(t: ExecutionContext, daemon: Daemon, login: Login): Promise<string> {
  const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]) }, login)
  t.teardown(() => client.destroy())
  const answer = await client.send({ from: 'shop@example.ch', to: ['ada@example.net'], content: Buffer.from(letter) })
  t.is(answer.reply.code, 250)
  return /[0-9a-f-]{36}/.exec(JSON.stringify(answer.reply))?.[0] ?? ''
}

/** Received messages by trace. */
async function arrived(sink: Sink, traceId: string): Promise<Buffer> {
  const { content } = await waiting(
    'the message arrives',
    sink.delivered((delivery) => delivery.content.includes(traceId)),
  )
  return Buffer.from(content)
}

interface Details {
  readonly status: string
  readonly tracking: { readonly clicks_seen: number; readonly opens_seen: number; readonly untracked_reason: string | null }
  readonly timeline: readonly { readonly event: string; readonly detail: Readonly<Record<string, unknown>> }[]
}

/** Waits for the condition and returns the trace. */
async function details(daemon: Daemon, traceId: string, ready: (details: Details) => boolean): Promise<Details> {
  return waitFor('the trace reports the engagement', async () => {
    const found = (await daemon.rest.must('GET', `/v1/traces/${traceId}`)) as unknown as Details
    return ready(found) && found
  })
}

const follow = (daemon: Daemon, url: string): Promise<Response> =>
  fetch(url.replace(publicUrl, `http://${daemon.addresses.http}`), { redirect: 'manual' })

test.serial('tracking: links are rewritten once, keep their target, and appear in the trace', async (t) => {
  await using folder = await temporaryFolder('tracking')
  await using sink = await Sink.listen()
  const options = { folder: folder.path, env: { POSTERN_BASE_URL: publicUrl } }
  const first = await Daemon.start(options)
  t.teardown(() => first[Symbol.asyncDispose]())
  const destinationId = await makeDestination(first.rest, { name: 'sink', port: sink.port, mode: 'live' })
  await makeRoute(first.rest, destinationId)
  const login = await makeLogin(first.rest, destinationId, { click_tracking_enabled: true, open_tracking_enabled: true })
  const traceId = await submit(t, first, login)
  const mail = await simpleParser(await arrived(sink, traceId))
  t.is(mail.text?.trim(), 'Order: https://shop.example.ch/')
  const [, link = '', image = ''] =
    /^<html><body><p>Gr\u00fc\u00dfe<\/p><a href="([^"]+)">Order<\/a><img src="([^"]+)" width="1" height="1" alt=""><\/body><\/html>$/.exec(
      String(mail.html),
    ) ?? []
  const redirect = await follow(first, link)
  t.is(redirect.status, 302)
  t.is(redirect.headers.get('location'), target)
  t.is((await (await follow(first, image)).bytes()).length, 43)
  const seen = await details(
    first,
    traceId,
    ({ status, tracking }) => status === 'sent' && tracking.clicks_seen + tracking.opens_seen === 2,
  )
  t.deepEqual(
    column(
      seen.timeline.filter(({ event }) => event === 'clicked'),
      'detail',
    ),
    [{ recipient: 'ada@example.net', link: 1, url: target }],
  )

  const { trace_id } = await first.rest.must('POST', '/v1/messages', {
    ...{ from: 'shop@example.ch', to: 'ada@example.net', subject: 'by REST', html },
    click_tracking_enabled: true,
  })
  const sent = await simpleParser(await arrived(sink, String(trace_id)))
  const [, restLink = ''] = /<a href="([^"]+)">/.exec(String(sent.html)) ?? []
  t.true(restLink.startsWith(`${publicUrl}/t/c/`) && !String(sent.html).includes('<img'))

  await first.stop()
  assertVerified(t, await runCommand(options, 'verify'))
  const second = await Daemon.start(options, first.adminKey)
  t.teardown(() => second[Symbol.asyncDispose]())
  t.is((await follow(second, restLink)).headers.get('location'), target)
  t.is((await follow(second, `${link.slice(0, -1)}_`)).headers.get('location'), null)
  await details(second, String(trace_id), ({ tracking }) => tracking.clicks_seen === 1)
})

test.serial('tracking: on the free plan or without a public address, mail stays unchanged', async (t) => {
  for (const [env, reason] of [
    [{ POSTERN_BASE_URL: publicUrl, POSTERN_PLAN: 'free' }, 'plan'],
    [{}, 'no_public_url'],
  ] as const) {
    await using folder = await temporaryFolder('untracked')
    await using sink = await Sink.listen()
    await using daemon = await Daemon.start({ folder: folder.path, env })
    const destinationId = await makeDestination(daemon.rest, { name: 'sink', port: sink.port, mode: 'live' })
    await makeRoute(daemon.rest, destinationId)
    const tracked = { click_tracking_enabled: true, open_tracking_enabled: true }
    const login = await makeLogin(daemon.rest, destinationId, tracked)
    const byRest = await daemon.rest.must('POST', '/v1/messages', {
      from: 'shop@example.ch',
      to: 'ada@example.net',
      subject: 'x',
      html,
      ...tracked,
    })
    const restId = String(byRest['trace_id'])
    t.is(String((await simpleParser(await arrived(sink, restId))).html).trim(), html)
    const told = await details(daemon, restId, ({ status }) => status === 'sent')
    t.is(told.tracking.untracked_reason, reason)
    const bySmtp = await arrived(sink, await submit(t, daemon, login))
    t.true(bySmtp.toString().endsWith(letter))
  }
})
