/** Creates destinations on loopback and mail of a shop: accepted, deferred, rejected, bounced and captured. */
import type { ExecutionContext } from 'ava'
import { waitFor } from '../../support/waits.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { addSource, postSigned } from '../rest/fixture/ingest-posts.ts'
import type { DashboardServer } from './dashboard-server.ts'

type Json = Readonly<Record<string, unknown>>

export interface Seeded {
  readonly sink: Sink
  readonly live: string
  readonly sandbox: string
  /** Trace ids by result. */
  readonly traces: Readonly<Record<'sent' | 'deferred' | 'failed' | 'bounced' | 'captured', string>>
}

const from = 'Alpenblick <shop@alpenblick.example>'
const html = `<div style="max-width:520px;margin:auto;padding:20px"><h2 style="color:#7a2d20">ALPENBLICK</h2><h1>Ihre Bestellung ist unterwegs</h1>
<p>Guten Tag, Ihr Paket hat heute unser Lager in Chur verlassen und sollte am Dienstag bei Ihnen sein.</p>
<table width="100%"><tr><td>2 × Bergkräutertee, 80 g</td><td align="right">CHF 19.00</td></tr><tr><td><b>Total mit Versand</b></td><td align="right"><b>CHF 61.40</b></td></tr></table>
<p><a href="https://alpenblick.example/track/48213" style="background:#7a2d20;color:#fff;padding:12px 18px;border-radius:4px">Sendung verfolgen</a></p>
<img src="https://alpenblick.example/logo.png" alt="" width="331" height="84"></div>`

export async function seed(t: ExecutionContext, { daemon }: DashboardServer): Promise<Seeded> {
  const { rest } = daemon
  const sink = await Sink.listen({
    script: {
      recipient: (address) =>
        address.startsWith('late')
          ? '451 4.7.1 Recipient address rejected: Greylisted, come back in 00:01:00'
          : address.startsWith('gone')
            ? '550 5.1.1 Recipient address rejected: User unknown in virtual mailbox table'
            : undefined,
    },
  })
  t.teardown(() => sink[Symbol.asyncDispose]())
  const destination = (name: string): Promise<Json> =>
    rest.must('POST', '/v1/destinations', { name, provider: 'smtp', credentials: { host: '127.0.0.1', port: sink.port, security: 'none' } })
  const live = String((await destination('Infomaniak'))['id'])
  await rest.must('POST', `/v1/destinations/${live}/promote-to-live`)
  const sandbox = String((await destination('SES Frankfurt'))['id'])
  const send = async (to: string, subject: string, more: Json = {}): Promise<string> =>
    String(
      (await rest.must('POST', '/v1/messages', { from, to, subject, html, text: 'Guten Tag', destination_id: live, ...more }))['trace_id'],
    )
  const sent = await send('kontakt@example.org', 'Your receipt from Alpenblick')
  const failed = await send('gone@example.org', 'Ihre Bestellung #48207 ist unterwegs')
  const captured = await send('hallo@alpenblick.example', 'Contact form: opening hours in December', {
    destination_id: sandbox,
    attachments: [{ filename: 'rechnung.pdf', content: Buffer.from('%PDF-1.4').toString('base64'), content_type: 'application/pdf' }],
  })
  await send('qa+signup@example.test', 'Confirm your address', { destination_id: sandbox })
  await send('qa+reset@example.test', 'Password reset', { destination_id: sandbox })
  const bounced = await send('office@example.org', 'Ihre Bestellung #48213 ist unterwegs', { verp_enabled: true })
  const deferred = await send('late@example.net', 'Rechnung 2026-11-0482')
  const reached = (id: string, isThere: (trace: Json) => boolean): Promise<Json> =>
    waitFor('the trace has the expected state', async () => {
      const trace = await rest.must('GET', `/v1/traces/${id}`)
      return isThere(trace) ? trace : undefined
    })
  await reached(sent, ({ status }) => status === 'sent')
  await reached(failed, ({ status }) => status === 'failed')
  await reached(deferred, ({ attempts }) => attempts === 1)
  const trace = await reached(bounced, ({ status }) => status === 'sent')
  const [recipient] = trace['recipients'] as { readonly return_path: string }[]
  const source = await addSource({ rest }, 'arf')
  await postSigned(
    { address: daemon.addresses.http } as never,
    '/v1/ingest/arf',
    source,
    bounceMail(recipient?.return_path ?? '', 'office@example.org'),
  )
  await reached(bounced, ({ status }) => status === 'bounced')
  return { sink, live, sandbox, traces: { sent, deferred, failed, bounced, captured } }
}

const bounceMail = (returnPath: string, recipient: string): string =>
  [
    'From: MAILER-DAEMON@mx.example.org',
    `To: ${returnPath}`,
    'Subject: Undelivered Mail Returned to Sender',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    '',
    'It could not be delivered.',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.org',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    'Action: failed',
    'Status: 5.1.1',
    `Diagnostic-Code: smtp; 550 5.1.1 <${recipient}>: Recipient address rejected: User unknown in virtual mailbox table`,
    '',
    '--b--',
    '',
  ].join('\r\n')
