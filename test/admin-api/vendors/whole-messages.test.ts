/** Whole MIME messages of clients are sent unchanged except for Bcc, under the rules of SMTP. */
import test from '#test'
import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import Mailgun from 'mailgun.js'
import { createTransport } from 'nodemailer'
import SparkPost from 'sparkpost'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { adminKey, startDaemon } from '../../support/daemon/start-daemon.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { Sink } from '../../support/smtp/sink.ts'

/** Differs from mail created by REST: a custom field, folded lines, 8-bit octets, lines that begin with a dot, and no final line end. */
const mime = Buffer.concat([
  Buffer.from(
    'X-Order: 4711\r\nFROM:  "Shop, Müller" <shop@example.ch>\r\nTo: undisclosed-recipients:;\r\nSubject: =?utf-8?Q?Gr=C3=BCezi?=\r\n',
  ),
  Buffer.from(' and\r\n\tmore\r\nDate: Tue, 24 Nov 2026 01:02:03 +0100\r\nMessage-ID: <own@example.ch>\r\nMIME-Version: 1.0\r\n'),
  Buffer.from(
    'Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: 8bit\r\n\r\nHi {{name}} %recipient%\r\n.\r\n..\r\n',
  ),
  Buffer.from([0xe4, 0xf6, 0xfc, 0xff, 0x0d, 0x0a]),
  Buffer.from('the end'),
])
const ascii = Buffer.from(mime.toString('latin1').replaceAll(/[^\u0000-\u007f]/g, '?'))

const sesOf = (address: string, key = adminKey) =>
  new SESv2Client({ endpoint: address, region: 'eu-central-1', credentials: { accessKeyId: key, secretAccessKey: key }, maxAttempts: 1 })

type Give = (address: string, to: string, message: Buffer) => Promise<string>

const ways: Readonly<Record<string, Give>> = {
  'Amazon SES': async (address, to, Data) => {
    const given = { FromEmailAddress: 'shop@example.ch', Destination: { ToAddresses: [to] }, Content: { Raw: { Data } } }
    return (await sesOf(address).send(new SendEmailCommand(given))).MessageId ?? ''
  },
  Mailgun: async (address, to, message) => {
    const client = new Mailgun(FormData).client({ username: 'api', key: adminKey, url: address })
    const { id = '' } = await client.messages.create('example.ch', { to: [to], message, 'o:tag': ['spring'] })
    return id.replace(/^<|@.*$/g, '')
  },
  SparkPost: async (address, to, message) => {
    const content = { email_rfc822: message.toString('utf8') }
    return (await new SparkPost(adminKey, { origin: address }).transmissions.send({ recipients: [{ address: to }], content })).results.id
  },
}

test('whole messages: arrive unchanged after our Received field', async (t) => {
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const { rest, addresses } = await startDaemon(t, {
    env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' },
    replacements: { clock: FakeClock.atMachineTime() },
  })
  await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  for (const [name, give] of Object.entries(ways)) {
    const to = `ada-${name.toLowerCase().replace(' ', '')}@example.net`
    // SparkPost sends the message as JSON text, which cannot contain invalid characters
    const message = name === 'SparkPost' ? ascii : mime
    const id = await give(`http://${addresses.http}`, to, message)
    const delivery = await sink.delivered((one) => one.to.includes(to))
    t.deepEqual([delivery.from, delivery.to], ['shop@example.ch', [to]], name)
    const [received, rest_] = [delivery.content.subarray(0, -message.length - 2), delivery.content.subarray(-message.length - 2)]
    t.deepEqual(rest_, Buffer.concat([message, Buffer.from('\r\n')]), name)
    t.regex(
      received.toString('latin1'),
      new RegExp(`^Received: by \\S+ \\(Postern\\) with HTTP id ${id};\r\n\t[^\r\n]+\r\n(?:X-Service-Ref: \\S+\r\n)?$`),
      name,
    )
    const trace = await rest.must('GET', `/v1/traces/${id}`)
    t.like(trace, { mail_from: 'shop@example.ch', message_id: 'own@example.ch', to: [to] }, name)
  }
})

test('whole messages: nodemailer’s SES transport works, and Bcc stays hidden', async (t) => {
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const { rest, addresses } = await startDaemon(t, {
    env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' },
    replacements: { clock: FakeClock.atMachineTime() },
  })
  await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  const sesClient = sesOf(`http://${addresses.http}`)
  const transport = createTransport({ SES: { sesClient, SendEmailCommand } })
  const from = { name: 'Müller, Shop', address: 'shop@example.ch' }
  const sent = await transport.sendMail({
    from,
    to: 'ada@example.net',
    bcc: 'bob@example.net',
    subject: 'Hi',
    text: 'Grüezi',
    html: '<p>Hi</p>',
  })
  const delivery = await sink.delivered((one) => one.to.includes('bob@example.net'))
  t.deepEqual(delivery.to.toSorted(), ['ada@example.net', 'bob@example.net'])
  const { raw } = sent as unknown as { raw: Buffer }
  t.deepEqual(delivery.content.subarray(-raw.length), raw)
  t.notRegex(delivery.text, /bob@/)

  const lines = (header: string) =>
    Buffer.from(`From: shop@example.ch\nTo: =?utf-8?Q?Ad=C3=A4?= <eva@example.net>, friends: zoe@example.net;\n${header}\nHi\rthere`)
  const { MessageId = '' } = await sesClient.send(
    new SendEmailCommand({ Content: { Raw: { Data: lines('bcc: Max <max@example.net>,\n mia@example.net\nSubject: Hi\n') } } }),
  )
  const second = await sink.delivered((one) => one.to.includes('mia@example.net'))
  t.deepEqual(
    second.to.toSorted(),
    ['eva', 'max', 'mia', 'zoe'].map((name) => `${name}@example.net`),
  )
  t.regex(second.text, /\r\nSubject: Hi\r\n\r\nHi\r\nthere(?:\r\n)?$/)
  t.notRegex(second.text, /^bcc|max@|mia@/im)
  const { recipients } = (await rest.must('GET', `/v1/traces/${MessageId}`)) as { recipients: { address: string; bcc: boolean }[] }
  const hidden = recipients.filter(({ bcc }) => bcc).map(({ address }) => address)
  t.deepEqual(hidden.toSorted(), ['max@example.net', 'mia@example.net'])
})

test('whole messages: the rules of SMTP for refusal, suppression and capture apply', async (t) => {
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const env = { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32', POSTERN_SUBMISSION_MAX_MESSAGE_BYTES: '100000' }
  const { rest, addresses } = await startDaemon(t, { env, replacements: { clock: FakeClock.atMachineTime() } })
  await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  await rest.must('POST', '/v1/suppressions', { email: 'gone@example.net' })
  const ses = sesOf(`http://${addresses.http}`)
  const head = 'From: shop@example.ch\r\nTo: ada@example.net\r\n'
  const refused: readonly (readonly [message: string | Buffer, sentence: RegExp, more?: object])[] = [
    [`${head}\r\n\0`, /Content\.Raw\.Data.*NUL/],
    [`${head}\r\n${'x'.repeat(65_537)}`, /Content\.Raw\.Data.*line over 65536/],
    [`${'Received: by a\r\n'.repeat(51)}${head}\r\n`, /in a mail loop/],
    ['To: ada@example.net\r\n\r\nHi', /exactly one From/],
    [`${head}From: eva@example.ch\r\n\r\nHi`, /exactly one From/],
    ['From: a@example.ch, b@example.ch\r\n\r\nHi', /exactly one address/],
    ['From: shop@example.ch\r\nTo: ada@@example.net\r\n\r\nHi', /header to contains an invalid address/],
    ['From: shop@example.ch\r\nSubject: Hi\r\n\r\nHi', /no recipient/],
    [`${head}\r\nHi`, /Content\.Raw: contains the whole/, { ReplyToAddresses: ['help@example.ch'] }],
    [`${head}\r\nHi`, /FromEmailAddress/, { FromEmailAddress: 'a@b@c' }],
  ]
  for (const [message, sentence, more] of refused) {
    const sent = ses.send(new SendEmailCommand({ ...more, Content: { Raw: { Data: Buffer.from(message) } } }))
    const error = await t.throwsAsync(sent, { name: 'BadRequestException' }, String(sentence))
    t.regex(error?.message ?? '', sentence)
  }
  const large = ses.send(new SendEmailCommand({ Content: { Raw: { Data: Buffer.from(`${head}\r\n${'x\r\n'.repeat(40_000)}`) } } }))
  t.like(await t.throwsAsync(large), { $metadata: { httpStatusCode: 413 } })
  const { MessageId } = await ses.send(new SendEmailCommand({ Content: { Raw: { Data: Buffer.from(head.replace('ada', 'gone')) } } }))
  t.is((await rest.must('GET', `/v1/traces/${String(MessageId)}`))['status'], 'suppressed')

  const sparkpost = new SparkPost(adminKey, { origin: `http://${addresses.http}` })
  const transmission = { recipients: [{ address: 'ada@example.net' }], content: { email_rfc822: `${head}\r\nHi {{name}}` } }
  const { results } = await sparkpost.transmissions.send({ ...transmission, options: { sandbox: true } })
  t.is((await rest.must('GET', `/v1/traces/${results.id}`))['outcome'], 'captured.sandbox_destination')
  const filled = sparkpost.transmissions.send({ ...transmission, substitution_data: { name: 'Ada' } })
  t.regex(JSON.stringify(await t.throwsAsync(filled)), /substitution_data: has no effect/)
  const mailgun = new Mailgun(FormData).client({ username: 'api', key: adminKey, url: `http://${addresses.http}` })
  const beside = { to: 'ada@example.net', cc: 'bob@example.net', 'h:X-A': 'b', message: `${head}\r\nHi` }
  t.regex(String(((await t.throwsAsync(mailgun.messages.create('example.ch', beside))) as { details?: string }).details), /cc.*h:X-A|h:X-A/)
  t.is(sink.deliveries.length, 0)
})
