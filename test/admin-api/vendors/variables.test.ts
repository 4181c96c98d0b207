/** Variables of recipients without a template: each gets a message of their own, with their values and the defaults of the service. */
import test from '#test'
import { simpleParser } from 'mailparser'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { Sink } from '../../support/smtp/sink.ts'

const [ada, bob, from] = ['ada@example.net', 'bob@example.net', 'shop@example.ch']
const one = (email: string) => ({ email })

/** Requests that greet Ada by a name and Bob, who has none, by a default, or by nothing where the service has no defaults. */
const requests: readonly (readonly [service: string, path: string, body: object, toAda: string, toBob: string])[] = [
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

test('each recipient gets a message of their own, with their values and the defaults', async (t) => {
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const { rest } = await startDaemon(t, { env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' } })
  await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  for (const [service, path, body, toAda, toBob] of requests) {
    const before = sink.deliveries.length
    await rest.must('POST', path, body)
    for (const [to, words] of [
      [ada, toAda],
      [bob, toBob],
    ] as const) {
      const mine = () => sink.deliveries.slice(before).find((one) => one.to.includes(to))
      const delivery = mine() ?? (await sink.delivered((given) => given === mine()))
      t.deepEqual(delivery.to, [to], service)
      t.is((await simpleParser(Buffer.from(delivery.content))).text?.trim(), words, service)
    }
  }
})
