/** A deliverability test with a real daemon, a name server, mail over SMTP with TLS, and the report by REST and as a page. */
import test, { type ExecutionContext } from '#test'
import { Daemon, portOf, runCommand } from '../../support/daemon/daemon.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { NameServer } from '../../support/web/name-server.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { keyRecord, rsaKey, signed } from '../../ingest/inspect/golden.ts'
import { assertVerified } from '../../support/problems.ts'

const domain = 'in.postern.test'
const records = {
  'shop.example.com TXT': ['v=spf1 ip4:127.0.0.1 -all'],
  'soft.example.com TXT': ['v=spf1 ip4:192.0.2.9 ~all'],
  'shop.example.com MX': ['10 mx.example.com'],
  'k1._domainkey.example.com TXT': [keyRecord(rsaKey().publicKey)],
  '_dmarc.example.com TXT': ['v=DMARC1; p=reject; rua=mailto:dmarc@example.com'],
  'mail.example.com A': ['127.0.0.1'],
  'example.com MX': ['10 mx.example.com'],
  'example.com SOA': ['ns.example.com'],
  'mx.example.com A': ['192.0.2.26'],
  '_25._tcp.mx.example.com TLSA': ['0301010000'],
  '_smtp._tls.example.com TXT': ['v=TLSRPTv1; rua=mailto:tls@example.com'],
  'test.bad.domains.test A': ['127.0.0.2'],
  'example.com.bad.domains.test A': ['127.0.0.2'],
}

interface Report {
  readonly id: string
  readonly address: string
  readonly status: string
  readonly score: number | null
  readonly grade: string | null
  readonly report_url: string
  readonly checks: readonly { readonly id: string; readonly status: string; readonly points: number }[]
  readonly requirements: readonly unknown[]
  readonly caps: readonly unknown[]
}

test('deliverability test: a mail is scored once within seconds; the link shows it', async (t) => {
  await using names = await NameServer.start(records)
  await using folder = await temporaryFolder('inspect')
  const env = {
    ...{ POSTERN_INBOUND_DOMAIN: domain, POSTERN_MX_LISTEN: '127.0.0.1:0', POSTERN_DNS_SERVERS: names.address },
    POSTERN_INSPECT_DNS_LISTS: 'domain/minor/bad.domains.test',
    POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32',
  }
  const options = { folder: folder.path, env }
  const daemon = await Daemon.start(options)
  t.teardown(() => daemon[Symbol.asyncDispose]())
  const made = (await daemon.rest.must('POST', '/v1/inspect/tests', {})) as unknown as Report
  t.like(made, { status: 'waiting', score: null })
  t.regex(made.address, /^[a-z2-7]{26}@in\.postern\.test$/)
  const page = async (): Promise<string> =>
    (await fetch(new URL(new URL(made.report_url).pathname, `http://${daemon.addresses.http}`))).text()
  t.regex(await page(), new RegExp(`Waiting for your mail[^]*${made.address}`))

  const head = `From: Example Shop <orders@example.com>\r\nTo: ${made.address}\r\nSubject: Your order\r\nDate: ${new Date().toUTCString().replace('GMT', '+0000')}\r\nMessage-ID: <1@example.com>\r\n`
  const message = `${head}MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nYour order is on its way.\r\n`
  const content = Buffer.from((await signed(message, { at: Date.now() })) + message, 'latin1')
  const client = await SmtpClient.connect({ port: portOf(daemon.addresses.mx[0]), security: 'starttls' })
  t.is((await client.command('EHLO mail.example.com')).code, 250)
  const { accepted } = await client.send({ from: 'bounce@shop.example.com', to: [made.address], content })
  t.true(accepted)
  await client.quit()

  const report = await waitFor('the report is there', async () => {
    const found = (await daemon.rest.must('GET', `/v1/inspect/tests/${made.id}`)) as unknown as Report
    return found.status === 'ready' ? found : undefined
  })
  const of = (status: string): string[] => report.checks.filter((check) => check.status === status).map(({ id }) => id)
  t.is(report.checks.length, 17)
  t.deepEqual(of('fail'), [])
  t.deepEqual(of('warn'), ['domain_blocklist'])
  t.deepEqual(of('na'), ['fcrdns', 'ip_blocklist', 'list_unsubscribe', 'html_content', 'links'])
  t.is(report.grade, 'A')
  t.is(report.requirements.length, 11)
  t.deepEqual(report.caps, [])
  const shown = await page()
  for (const expected of ['Ready for the inbox', 'Your order', 'Domain blocklists', 'example.com', 'bad.domains.test', 'Gmail'])
    t.true(shown.includes(expected), expected)
  t.false(shown.includes('<script'))
  t.true(names.questions.includes('shop.example.com TXT'))

  await advisedReport(t, daemon)
  await promotionScore(t, daemon)
  t.is((await daemon.stop()).code, 0)
  assertVerified(t, await runCommand(options, 'verify'))
})

/** A forged mail from a similar domain: its findings, and advice based on the DNS records. */
async function advisedReport(t: ExecutionContext, { rest, addresses }: Daemon): Promise<void> {
  const { id, address } = (await rest.must('POST', '/v1/inspect/tests', {})) as unknown as Report
  const head = `From: Bank <news@xn--bnk-6cd.com>\r\nTo: ${address}\r\nSubject: Your account\r\nMessage-ID: <2@example.com>\r\n`
  const html = '<a href="https://evil.test/">Log in at www.bank.com now</a>'
  const content = Buffer.from(`${head}MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${html}\r\n`, 'latin1')
  const client = await SmtpClient.connect({ port: portOf(addresses.mx[0]), security: 'starttls' })
  await client.command('EHLO mail.example.com')
  t.true((await client.send({ from: 'bounce@soft.example.com', to: [address], content })).accepted)
  await client.quit()
  const { checks } = await waitFor('the second report is there', async () => {
    const found = (await rest.must('GET', `/v1/inspect/tests/${id}`)) as unknown as Report
    return found.status === 'ready' ? found : undefined
  })
  const adviceOf = (check: string) => checks.find((one) => one.id === check)
  t.like(adviceOf('subject_and_sender'), { status: 'fail', summary_said: [{ code: 'from_lookalike', values: { plain: 'bank.com' } }] })
  t.like(adviceOf('links'), { status: 'fail', summary_said: [{ code: 'link_deceives', values: { shown: 'www.bank.com' } }] })
  t.like(adviceOf('spf'), { status: 'warn', fix_said: [{ code: 'fix_foreign_domain' }] })
  const begin = { code: 'fix_dmarc_begin', values: { where: '_dmarc.xn--bnk-6cd.com' } }
  t.like(adviceOf('dmarc_policy'), { status: 'fail', fix_said: [begin] })
}

/** The test mail of a promotion goes through the provider to our MX and is scored. The destination stores the score. */
async function promotionScore(t: ExecutionContext, { rest, addresses }: Daemon): Promise<void> {
  await using provider = await Sink.listen()
  const credentials = { host: '127.0.0.1', port: provider.port, security: 'none' }
  const { id } = await rest.must('POST', '/v1/destinations', { name: 'Provider', provider: 'smtp', credentials })
  const path = `/v1/destinations/${String(id)}/evidence`
  const from = 'Example Shop <orders@example.com>'
  const { proof } = await rest.must('POST', path, { send_test: true, from })
  t.like(proof, { status: 'waiting' })
  const sent = await waiting(
    'the provider has the test',
    provider.delivered(({ to }) => to.some((address) => address.endsWith(`@${domain}`))),
  )
  const hop = await SmtpClient.connect({ port: portOf(addresses.mx[0]), security: 'starttls' })
  await hop.command('EHLO mail.example.com')
  t.true((await hop.send({ from: 'bounce@shop.example.com', to: [...sent.to], content: Buffer.from(sent.text, 'latin1') })).accepted)
  await hop.quit()
  const evidence = await waitFor('the score is stored with the destination', async () => {
    const { evidence: found } = (await rest.must('GET', path)) as { evidence: { inspect: object | null; proof: { status: string } } }
    return found.proof.status === 'scored' ? found : undefined
  })
  const { test_id: testId, trace_id: traceId } = proof as { test_id: string; trace_id: string }
  const { score, grade } = (await rest.must('GET', `/v1/inspect/tests/${testId}`)) as unknown as Report
  t.like(evidence, { inspect: { test_id: testId, score, grade }, proof: { trace_id: traceId } })
  t.true(score !== null && score > 0)
  t.like(await rest.must('GET', `/v1/destinations/${String(id)}`), { mode: 'sandbox' })
  await rest.must('POST', `/v1/destinations/${String(id)}/promote-to-live`)
  t.like(await rest.must('GET', path), { evidence: { inspect: { score, grade } } }, 'it stays when the destination is live')
}
