/** One grammar of addresses: a list of inputs at every entry point, each with the same verdict. */
import test from '#test'
import { asSeen, trimInvisible } from '#config/mail/invisible.ts'
import { emailAddress, mailbox } from '#config/settings/formats.ts'
import { parseAddress } from '#core/addresses.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { makeDestination, makeLogin } from '../../support/daemon/provision.ts'
import { portOf } from '../../support/daemon/daemon.ts'
import { sendmailPath, sendmailType } from '../../../admin-api/operator/sendmail-address.ts'
import { graphqlCaller } from '../graphql/graphql-fixture.ts'
import { startMcp, type McpFixture } from '../mcp/mcp-fixture.ts'
import { ada, from, one, paths } from '../vendors/marked-requests.ts'
import { callsOf, type Calls, type Entry } from './entry.ts'
import { settingsEntryPoints } from './settings-entry-points.ts'

const unseen = ['\u200b', '\u00ad', '\u2060', '\u200c', '\u3164', '\u{e0041}', '\ufeff', '\u202e', '\u00a0']

/** Inputs. Without a reason an input is accepted; a reason is a part of the refusal, or empty for "not an address". */
const inputs: readonly (readonly [text: string, reason?: string])[] = [
  ['ada@example.org'],
  ['Ada.L+tag@Example.ORG'],
  ['ada@localhost'],
  ['ada@cor_pus.example'],
  ['j\u00fcrg@b\u00fccher.example'],
  ['ada@192.0.2.1', ''],
  ['ada@[192.0.2.1]', ''],
  ['ada..b@example.org', ''],
  ['ada@example..org', ''],
  ['a(comment)@example.org', ''],
  ['a\ufffdda@example.org', ''],
  ['"ada"@example.org', 'quoted local parts'],
  ['"odd user"@example.org', 'quoted local parts'],
  ['"first..last."@example.org', 'quoted local parts'],
  ...unseen.map((character) => [`a${character}da@example.org`, 'invisible character; remove U+'] as const),
  ['\u200bada@example.org', 'U+200B ZERO WIDTH SPACE'],
  ['ada@example.org\u200b'],
]

test('addresses: every entry point accepts and refuses the same ones', async (t) => {
  const fixture = await startMcp(t)
  const entries = await entryPoints(fixture)
  const wrong: string[] = []
  for (const [text, reason] of inputs)
    for (const [name, { clean, ask, tells }] of Object.entries(entries)) {
      const isAccepted = parseAddress(clean(text)) !== undefined
      const refusal = await ask(text)
      const isRight = isAccepted ? refusal === undefined : refusal?.includes(tells === false ? '' : (reason ?? ''))
      if (!isRight) wrong.push(`${name}: ${JSON.stringify(text)}: ${refusal ?? 'accepted'}`)
    }
  t.deepEqual(wrong, [])
})

async function entryPoints(fixture: McpFixture): Promise<Readonly<Record<string, Entry>>> {
  const { rest, daemon } = fixture
  const destination = await makeDestination(rest, { name: 'Sandbox', port: 2525, mode: 'sandbox' })
  const login = await makeLogin(rest, destination)
  /** Opens a separate session each time, since the clock of forms ends idle sessions. */
  const smtp = (...commands: readonly ((text: string) => string)[]): Entry => ({
    clean: (text) => text,
    async ask(text) {
      const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission) }, login)
      let reply: Awaited<ReturnType<SmtpClient['command']>> | undefined
      for (const command of commands) reply = await client.command(command(text))
      await client.quit()
      return reply?.code === 250 ? undefined : reply?.lines.join(' ')
    },
  })
  const agent = await fixture.agent({ reachesOrganization: true })
  const graphql = graphqlCaller(fixture)
  const form = await publishedForm(fixture)
  const posts = callsOf(rest)
  const mail = { from: 'shop@example.ch', subject: 's', text: 't', destination_id: destination }
  const parsed = (parse: (text: string) => unknown, clean: Entry['clean']): Entry => ({
    ...{ clean, tells: false },
    ask: (text) => Promise.resolve(parse(text) === undefined ? 'no address' : undefined),
  })
  return {
    SMTP: smtp(
      () => 'MAIL FROM:<shop@example.ch> SMTPUTF8',
      (text) => `RCPT TO:<${text}>`,
    ),
    'SMTP sender': smtp((text) => `MAIL FROM:<${text}> SMTPUTF8`),
    REST: posts('/v1/messages', (to) => ({ ...mail, to })),
    'REST object': posts('/v1/messages', (email) => ({ ...mail, to: { email } })),
    suppressions: posts('/v1/suppressions', (email) => ({ email })),
    ...serviceEntryPoints(posts),
    ...(await settingsEntryPoints(fixture, posts, destination)),
    'bulk import': importing(fixture),
    'postern sendmail': posts(sendmailPath, (to) => sendmailBody(from, to), sendmail),
    'sender of postern sendmail': posts(sendmailPath, (sender) => sendmailBody(sender, ada), sendmail),
    MX: incoming(fixture),
    GraphQL: {
      clean: trimInvisible,
      async ask(email) {
        const document = 'mutation ($email: String!) { createSuppression(input: { email: $email }) { id } }'
        return graphql.must(document, { email }).then(
          () => undefined,
          async () => (await graphql.refused(document, { email })).message,
        )
      },
    },
    MCP: {
      clean: trimInvisible,
      async ask(email) {
        const { isError, text } = await agent.call('email_suppression_add', { email })
        return isError ? text : undefined
      },
    },
    form: { ...form, clean: (text) => asSeen(text).trim(), tells: false },
    operators: parsed(emailAddress.parse, (text) => text),
    'sender of the service': parsed(mailbox.parse, trimInvisible),
  }
}

/** Entry points in the formats of other services. */
const serviceEntryPoints = (calls: Calls): Readonly<Record<string, Entry>> => ({
  Resend: calls(paths.resend, (to) => ({ from, to: [to], subject: 's', text: 't' })),
  SendGrid: calls(paths.sendgrid, (to) => ({
    ...{ from: one(from), subject: 's', content: [{ type: 'text/plain', value: 't' }] },
    personalizations: [{ to: [one(to)] }],
  })),
  Postmark: calls('/email', (To) => ({ From: from, To, Subject: 's', TextBody: 't' })),
  Brevo: calls(paths.brevo, (to) => ({ sender: one(from), to: [one(to)], subject: 's', textContent: 't' })),
  MailerSend: calls(paths.mailersend, (to) => ({ from: one(from), to: [one(to)], subject: 's', text: 't' })),
  SparkPost: calls(paths.sparkpost, (to) => ({
    ...{ recipients: [{ address: one(to) }], content: { from: one(from), subject: 's', text: 't' } },
  })),
  Mailjet: calls(paths.mailjet, (to) => ({
    Messages: [{ From: { Email: from }, To: [{ Email: to }], Subject: 's', TextPart: 't' }],
  })),
  SES: calls(paths.ses, (to) => ({
    ...{ FromEmailAddress: from, Destination: { ToAddresses: [to] } },
    Content: { Simple: { Subject: { Data: 's' }, Body: { Text: { Data: 't' } } } },
  })),
  Mailgun: calls(paths.mailgun, (to) => formBody({ from, to, subject: 's', text: 't' })),
  'Mailgun MIME': calls('/v3/example.ch/messages.mime', (to) => formBody({ to, message: new File([whole(from, ada)], 'm.eml') })),
  'SES raw': calls(paths.ses, (to) => ({ Destination: { ToAddresses: [to] }, Content: { Raw: { Data: base64(whole(from, ada)) } } })),
  'From of SES raw': calls(paths.ses, (sender) => ({
    ...{ FromEmailAddress: sender, Destination: { ToAddresses: [ada] } },
    Content: { Raw: { Data: base64(whole(from, ada)) } },
  })),
})

const whole = (sender: string, to: string): string => `From: ${sender}\r\nTo: ${to}\r\nSubject: s\r\n\r\nt\r\n`
const base64 = (text: string): string => Buffer.from(text).toString('base64')

async function formBody(fields: Readonly<Record<string, string | File>>) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  const response = new Response(form)
  return { bytes: Buffer.from(await response.arrayBuffer()), contentType: response.headers.get('content-type') ?? '' }
}

const sendmail = { clean: (text: string) => text, headers: { 'idempotency-key': 'same' } }
const sendmailBody = (sender: string, to: string) => ({
  bytes: Buffer.from(`${JSON.stringify({ from: sender, to: [to] })}\n${whole(from, ada)}`),
  contentType: sendmailType,
})

/** The report of an import names refused rows. */
const importing = ({ rest }: McpFixture): Entry => ({
  clean: trimInvisible,
  async ask(email) {
    const { refused, rows } = await rest.must('POST', '/v1/suppressions/bulk-import?dry_run=true', { rows: [{ email }] })
    return refused === 0 ? undefined : JSON.stringify(rows)
  },
})

/** A recipient of another domain is still a valid address: only a refusal of its syntax counts. */
const incoming = ({ daemon }: McpFixture): Entry => ({
  clean: (text) => text,
  async ask(text) {
    const client = await SmtpClient.connect({ port: portOf(daemon.addresses.mx) })
    await client.command('EHLO mx.example')
    await client.command('MAIL FROM:<> SMTPUTF8')
    const { lines } = await client.command(`RCPT TO:<${text}>`)
    await client.quit()
    return lines[0]?.startsWith('5.1.3 ') ? lines[0] : undefined
  },
})

/** A form with an address field, and the error that a visitor sees. */
async function publishedForm({ rest, clock }: McpFixture): Promise<Pick<Entry, 'ask'>> {
  const schema = { version: 1, fields: [{ key: 'email', type: 'email', label: 'Email' }] }
  const { id, public_id } = await rest.must('POST', '/v1/forms', { name: 'Contact', definition: { name: 'Contact', schema } })
  await rest.must('POST', `/v1/forms/${String(id)}/publish`)
  const open = `/v1/public/forms/${String(public_id)}`
  return {
    async ask(email) {
      const { fill_time_token: _mnx_ft } = await rest.must('GET', open)
      clock.advance(120_000)
      const { status, bytes } = await rest.call('POST', `${open}/submissions`, { data: { email }, _mnx_ft })
      return status === 201 ? undefined : bytes.toString()
    },
  }
}
