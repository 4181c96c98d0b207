/** Variables and fields of recipients: values, defaults, precedence, and escaping in HTML and header fields. */
import test, { type ExecutionContext } from '#test'
import { simpleParser, type ParsedMail } from 'mailparser'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { FakeClock, startOfTime } from '../../support/fake-clock.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { ada, bob, filling, from, one, paths, templated, type Body } from './marked-requests.ts'

const { sendgrid, mailgun, brevo, sparkpost, mailjet, bulkSes } = paths

/** Requests that greet Ada by name. Bob has no value: he gets the default, or no name if the service has no defaults. */
const requests: readonly (readonly [service: string, path: string, body: Body, toAda: string, toBob: string])[] = [
  [
    ...(['SendGrid', '/v3/mail/send'] as const),
    {
      ...{ from: one(from), subject: 'Hi -n-', content: [{ type: 'text/plain', value: 'Hi -n-!' }] },
      personalizations: [
        { to: [one(ada)], substitutions: { '-n-': 'Ada' } },
        { to: [one(bob)], substitutions: { '-n-': '-n-' } },
      ],
    },
    ...(['Hi Ada!', 'Hi -n-!'] as const),
  ],
  [
    ...(['Brevo', '/v3/smtp/email'] as const),
    {
      ...{ sender: one(from), subject: 'Hi', textContent: 'Hi {{ params.n | default: "you" }}!' },
      messageVersions: [{ to: [one(ada)], params: { n: 'Ada' } }, { to: [one(bob)] }],
    },
    ...(['Hi Ada!', 'Hi you!'] as const),
  ],
  [
    ...(['MailerSend', '/v1/email'] as const),
    {
      from: one(from),
      to: [one(ada), one(bob)],
      subject: 'Hi',
      text: 'Hi {{ n }}!',
      personalization: [{ email: ada, data: { n: 'Ada' } }],
    },
    ...(['Hi Ada!', 'Hi !'] as const),
  ],
  [
    ...(['SparkPost', '/api/v1/transmissions'] as const),
    {
      recipients: [{ address: ada, substitution_data: { n: 'Ada' } }, { address: bob }],
      ...{ substitution_data: { n: 'you' }, content: { from, subject: 'Hi', text: 'Hi {{n}}!' } },
    },
    ...(['Hi Ada!', 'Hi you!'] as const),
  ],
  [
    ...(['Mailjet', '/v3.1/send'] as const),
    {
      Globals: { From: { Email: from }, Subject: 'Hi', TextPart: 'Hi {{var:n:"you"}}!', TemplateLanguage: true },
      Messages: [{ To: [{ Email: ada }], Variables: { n: 'Ada' } }, { To: [{ Email: bob }] }],
    },
    ...(['Hi Ada!', 'Hi you!'] as const),
  ],
]

/** A mail that the sink received. */
type Arrived = ParsedMail & { readonly envelope: readonly string[] }

async function started(t: ExecutionContext) {
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const env = { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' }
  const clock = new FakeClock()
  const { rest } = await startDaemon(t, { env, replacements: { clock } })
  await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  const template = { subject_tmpl: '{{n}}', text_tmpl: '{{n}}', html_tmpl: '<p>{{n}}</p>' }
  await rest.must('POST', '/v1/templates', { name: 'Word', slug: 'word', ...template })
  /** Sends a request and returns the mail of each recipient. */
  const sent = async (path: string, body: Body, recipients: readonly string[] = [ada]): Promise<readonly Arrived[]> => {
    const before = sink.deliveries.length
    const form = path === mailgun && Buffer.from(new URLSearchParams(body as Record<string, string>).toString())
    await rest.must('POST', path, form || body, form ? { 'content-type': 'application/x-www-form-urlencoded' } : {})
    return Promise.all(
      recipients.map(async (to) => {
        const mine = () => sink.deliveries.slice(before).find((one) => one.to.includes(to))
        const { content, to: envelope } = mine() ?? (await sink.delivered((given) => given === mine()))
        return { ...(await simpleParser(Buffer.from(content))), envelope }
      }),
    )
  }
  return { clock, rest, sent }
}

test('variables: each recipient gets a message with their values and the defaults', async (t) => {
  const { sent } = await started(t)
  for (const [service, path, body, toAda, toBob] of requests) {
    const [first, second] = await sent(path, body, [ada, bob])
    t.deepEqual([first?.envelope, first?.text?.trim()], [[ada], toAda], service)
    t.deepEqual([second?.envelope, second?.text?.trim()], [[bob], toBob], service)
  }
})

test('variables: escaped in HTML if the service escapes them', async (t) => {
  const { sent } = await started(t)
  const n = `Tom & <b>"Jerry's"</b>`
  const escaped = 'Tom &amp; &lt;b&gt;&quot;Jerry&#39;s&quot;&lt;/b&gt;'
  for (const [service, { path, marker, body }] of Object.entries(filling)) {
    const plain = marker.escaped ?? marker.raw ?? ''
    const html = [...(marker.escaped ? [`<p>${marker.escaped}</p>`] : []), ...(marker.raw ? [`<i>${marker.raw}</i>`] : [])].join('')
    const [mail] = await sent(path, body({ subject: plain, text: plain, html, name: 'Shop', field: 'a' }, n))
    t.deepEqual([mail?.subject, mail?.text?.trim()], [n, n], service)
    const shown = `${marker.escaped ? `<p>${escaped}</p>` : ''}${marker.raw ? `<i>${n}</i>` : ''}`
    t.is(String(mail?.html).trim(), shown, service)
  }
  for (const [service, [path, body]] of Object.entries(templated)) {
    const [mail] = await sent(path, body(n))
    t.deepEqual([mail?.subject, mail?.text?.trim(), String(mail?.html).trim()], [n, n, `<p>${escaped}</p>`], `template of ${service}`)
  }
})

test('variables: line breaks and control characters never reach a header', async (t) => {
  const { sent } = await started(t)
  const n = 'Ada\r\nBcc: eve@example.net\r\n\r\n\u2028\tHi'
  const line = 'Ada Bcc: eve@example.net Hi'
  const check = (mail: Arrived | undefined, what: string): void => {
    t.deepEqual([mail?.envelope, mail?.subject, mail?.bcc], [[ada], line, undefined], what)
    t.is(mail?.text?.trim().split('\n')[1], 'Bcc: eve@example.net', `${what}: the text keeps them`)
  }
  for (const [service, { path, marker, fillsHeader, body }] of Object.entries(filling)) {
    const mark = marker.escaped ?? marker.raw ?? ''
    const [mail] = await sent(path, body({ subject: mark, text: mark, html: mark, name: mark, field: mark }, n))
    check(mail, service)
    const ofHeader = fillsHeader ? line : mark
    const named = path === mailgun ? line : ofHeader
    t.deepEqual([mail?.from?.value[0]?.name, mail?.headers.get('x-n')], [ofHeader, named], service)
  }
  for (const [service, [path, body]] of Object.entries(templated)) check((await sent(path, body(n)))[0], `template of ${service}`)
})

type Seen = 'subject' | 'text' | 'html' | 'bcc' | 'from' | 'replyTo' | 'field' | 'metadata'

/** Each field of the request is `all`. The message to Ada replaces it with `own`; the message to Bob does not. */
const owning: Readonly<Record<string, readonly [path: string, body: Body, seen: readonly Seen[]]>> = {
  SendGrid: [
    sendgrid,
    {
      ...{ from: { email: from, name: 'all' }, subject: 'all', headers: { 'x-n': 'all' }, substitutions: { '-n-': 'all' } },
      ...{ content: [{ type: 'text/plain', value: '-n-' }], custom_args: { n: 'all' } },
      personalizations: [
        {
          ...{ to: [one(ada)], from: { email: from, name: 'own' }, subject: 'own', headers: { 'X-N': 'own' } },
          ...{ substitutions: { '-n-': 'own' }, custom_args: { n: 'own' } },
        },
        { to: [one(bob)] },
      ],
    },
    ['subject', 'text', 'from', 'field', 'metadata'],
  ],
  Brevo: [
    brevo,
    {
      ...{ sender: one(from), subject: 'all', textContent: 'all', htmlContent: 'all', replyTo: one('all@example.ch') },
      bcc: [one('all@example.net')],
      messageVersions: [
        {
          ...{ to: [one(ada)], subject: 'own', textContent: 'own', htmlContent: 'own', replyTo: one('own@example.ch') },
          bcc: [one('own@example.net')],
        },
        { to: [one(bob)] },
      ],
    },
    ['subject', 'text', 'html', 'replyTo', 'bcc'],
  ],
  'Brevo, by params': [
    brevo,
    {
      ...{ sender: one(from), subject: '{{params.n}}', textContent: '{{params.n}}', params: { n: 'all' } },
      messageVersions: [{ to: [one(ada)], params: { n: 'own' } }, { to: [one(bob)] }],
    },
    ['subject', 'text'],
  ],
  'Brevo, by templates': [
    brevo,
    {
      ...{ sender: one(from), templateId: 'all', params: { n: 'all' } },
      messageVersions: [{ to: [one(ada)], templateId: 'word', params: { n: 'own' } }, { to: [one(bob)] }],
    },
    ['subject', 'text'],
  ],
  Mailgun: [
    mailgun,
    {
      ...{ from, to: `${ada}, ${bob}`, template: 'word', 'v:n': 'all' },
      'recipient-variables': JSON.stringify({ [ada]: { n: 'own' } }),
    },
    ['subject', 'text'],
  ],
  SparkPost: [
    sparkpost,
    {
      ...{ substitution_data: { n: 'all' }, metadata: { n: 'all' } },
      content: {
        from: { email: from, name: '{{n}}' },
        reply_to: '{{n}}@example.ch',
        subject: '{{n}}',
        text: '{{n}}',
        headers: { 'X-N': '{{n}}' },
      },
      recipients: [{ address: ada, substitution_data: { n: 'own' }, metadata: { n: 'own' } }, { address: bob }],
    },
    ['subject', 'text', 'from', 'replyTo', 'field', 'metadata'],
  ],
  Mailjet: [
    mailjet,
    {
      Globals: {
        ...{ From: { Email: from, Name: 'all' }, ReplyTo: { Email: 'all@example.ch' }, Headers: { 'X-N': 'all' } },
        ...{ Subject: 'all', TextPart: 'all', EventPayload: 'all' },
      },
      Messages: [
        {
          ...{ To: [{ Email: ada }], From: { Email: from, Name: 'own' }, ReplyTo: { Email: 'own@example.ch' }, Headers: { 'X-N': 'own' } },
          ...{ Subject: 'own', TextPart: 'own', EventPayload: 'own' },
        },
        { To: [{ Email: bob }] },
      ],
    },
    ['subject', 'text', 'from', 'replyTo', 'field'],
  ],
  'Amazon SES': [
    bulkSes,
    {
      ...{ FromEmailAddress: from, DefaultEmailTags: [{ Name: 'n', Value: 'all' }] },
      DefaultContent: {
        Template: { TemplateName: 'word', TemplateData: '{"n":"all"}', Headers: [{ Name: 'X-N', Value: 'all' }] },
      },
      BulkEmailEntries: [
        {
          Destination: { ToAddresses: [ada] },
          ReplacementEmailContent: { ReplacementTemplate: { ReplacementTemplateData: '{"n":"own"}' } },
          ReplacementHeaders: [{ Name: 'x-n', Value: 'own' }],
          ReplacementTags: [{ Name: 'n', Value: 'own' }],
        },
        { Destination: { ToAddresses: [bob] } },
      ],
    },
    ['subject', 'text', 'field', 'metadata'],
  ],
}

test('variables: fields of a recipient override those of the request', async (t) => {
  const { clock, rest, sent } = await started(t)
  await rest.must('POST', '/v1/templates', { name: 'All', slug: 'all', subject_tmpl: 'all', text_tmpl: 'all' })
  const newest = async (to: string) =>
    (await Array.fromAsync(rest.rows('/v1/traces'))).find((trace) => (trace['to'] as string[]).includes(to))
  for (const [service, [path, body, seen]] of Object.entries(owning)) {
    clock.advance(1000)
    const mails = await sent(path, body, [ada, bob])
    for (const [i, word] of ['own', 'all'].entries()) {
      const mail = mails[i]
      const { metadata } = (await newest([ada, bob][i] ?? '')) as { metadata: { n?: string } }
      const found: Readonly<Record<Seen, unknown>> = {
        ...{ subject: mail?.subject, text: mail?.text?.trim(), from: mail?.from?.value[0]?.name, field: mail?.headers.get('x-n') },
        ...{ replyTo: mail?.replyTo?.value[0]?.address?.replace('@example.ch', ''), metadata: metadata.n },
        ...{ html: String(mail?.html).trim(), bcc: mail?.envelope[1]?.replace('@example.net', '') },
      }
      for (const name of seen) t.is(found[name], word, `${service}: ${name}`)
    }
  }
})

test('SendGrid: the time of a recipient overrides that of the request', async (t) => {
  const { rest } = await started(t)
  const [own, all] = [startOfTime / 1000 + 7200, startOfTime / 1000 + 3600]
  const mail = { from: one(from), subject: 's', content: [{ type: 'text/plain', value: 't' }], send_at: all }
  await rest.must('POST', sendgrid, { ...mail, personalizations: [{ to: [one(ada)], send_at: own }, { to: [one(bob)] }] })
  const times = (await Array.fromAsync(rest.rows('/v1/traces'))).map(({ to, send_at: at }) => [String(to), at])
  const expected = { [ada]: new Date(own * 1000).toISOString(), [bob]: new Date(all * 1000).toISOString() }
  t.deepEqual(Object.fromEntries(times), expected)
})
