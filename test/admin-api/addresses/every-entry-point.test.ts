/** One grammar of addresses: a list of inputs at every entry point, each with the same verdict. */
import test from '#test'
import { asSeen, trimInvisible } from '#config/mail/invisible.ts'
import { emailAddress, mailbox } from '#config/settings/formats.ts'
import { parseAddress } from '#core/addresses.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { makeDestination, makeLogin } from '../../support/daemon/provision.ts'
import { portOf } from '../../support/daemon/daemon.ts'
import { graphqlCaller } from '../graphql/graphql-fixture.ts'
import { startMcp, type McpFixture } from '../mcp/mcp-fixture.ts'
import { one, paths } from '../vendors/marked-requests.ts'

const unseen = ['\u200b', '\u00ad', '\u2060', '\u200c', '\u3164', '\u{e0041}', '\ufeff', '\u202e', '\u00a0']

/** Accepted ones, and refused ones with a part of the reason if it is more than "not an address". */
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
  ['"ada"@example.org', 'quoted local parts'],
  ['"odd user"@example.org', 'quoted local parts'],
  ['"first..last."@example.org', 'quoted local parts'],
  ...unseen.map((character) => [`a${character}da@example.org`, 'invisible character; remove U+'] as const),
  ['\u200bada@example.org', 'U+200B ZERO WIDTH SPACE'],
  ['ada@example.org\u200b'],
]

interface Entry {
  /** What the entry point takes from an input before it judges it. */
  readonly clean: (text: string) => string
  /** Whether refusals of the entry point have the reason in words. */
  readonly tells?: false
  /** Returns the words of the refusal; undefined for an accepted input. */
  readonly ask: (text: string) => Promise<string | undefined>
}

test('every input has the same verdict at every entry point', async (t) => {
  const fixture = await startMcp(t)
  const entries = await entryPoints(fixture)
  for (const [text, reason] of inputs)
    for (const [name, { clean, ask, tells }] of Object.entries(entries)) {
      const isAccepted = parseAddress(clean(text)) !== undefined
      const refusal = await ask(text)
      t.is(refusal === undefined, isAccepted, `${name}: ${JSON.stringify(text)}: ${refusal ?? 'accepted'}`)
      if (!isAccepted && tells !== false && reason !== undefined)
        t.true(refusal?.includes(reason), `${name}: ${JSON.stringify(text)}: ${refusal ?? 'accepted'} without ${reason}`)
    }
})

async function entryPoints(fixture: McpFixture): Promise<Readonly<Record<string, Entry>>> {
  const { rest, daemon } = fixture
  const destination = await makeDestination(rest, { name: 'Sandbox', port: 2525, mode: 'sandbox' })
  const login = await makeLogin(rest, destination)
  /** A session of its own, as the clock of forms ends those that are idle. */
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
  const posts = (path: string, bodyOf: (text: string) => object, clean = trimInvisible): Entry => ({
    clean,
    async ask(text) {
      const { status, bytes } = await rest.call('POST', path, bodyOf(text))
      return status < 300 ? undefined : bytes.toString().replaceAll('\\u200B', '\u200b')
    },
  })
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
    Resend: posts(paths.resend, (to) => ({ from: mail.from, to: [to], subject: 's', text: 't' })),
    SendGrid: posts(paths.sendgrid, (to) => ({
      ...{ from: one(mail.from), subject: 's', content: [{ type: 'text/plain', value: 't' }] },
      personalizations: [{ to: [one(to)] }],
    })),
    Postmark: posts('/email', (To) => ({ From: mail.from, To, Subject: 's', TextBody: 't' })),
    Brevo: posts(paths.brevo, (to) => ({ sender: one(mail.from), to: [one(to)], subject: 's', textContent: 't' })),
    MailerSend: posts(paths.mailersend, (to) => ({ from: one(mail.from), to: [one(to)], subject: 's', text: 't' })),
    SparkPost: posts(paths.sparkpost, (to) => ({
      ...{ recipients: [{ address: one(to) }], content: { from: one(mail.from), subject: 's', text: 't' } },
    })),
    Mailjet: posts(paths.mailjet, (to) => ({
      Messages: [{ From: { Email: mail.from }, To: [{ Email: to }], Subject: 's', TextPart: 't' }],
    })),
    SES: posts(paths.ses, (to) => ({
      ...{ FromEmailAddress: mail.from, Destination: { ToAddresses: [to] } },
      Content: { Simple: { Subject: { Data: 's' }, Body: { Text: { Data: 't' } } } },
    })),
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

/** A form with a field for an address, and what a visitor is told. */
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
