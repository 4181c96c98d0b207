/** Values of REST requests arrive unchanged at a real SMTP server: names, header fields, files, and only the counted recipients. */
import test, { type ExecutionContext } from '#test'
import { simpleParser, type AddressObject } from 'mailparser'
import { column } from '../../support/column.ts'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { startDaemon, type StartedDaemon } from '../../support/daemon/start-daemon.ts'
import { Seeded } from '../../support/seeded.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'

type Json = Readonly<Record<string, unknown>>

async function start(
  t: ExecutionContext,
): Promise<{ readonly daemon: StartedDaemon; readonly rest: StartedDaemon['rest']; readonly sink: Sink }> {
  const sink = await Sink.listen({ script: { recipient: (to) => (to.startsWith('gone') ? '550 5.1.1 no such user' : undefined) } })
  t.teardown(() => sink[Symbol.asyncDispose]())
  const daemon = await startDaemon(t, { env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32;webhooks=127.0.0.1/32' } })
  const { rest } = daemon
  await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  return { daemon, rest, sink }
}

const names = [
  ...['Ada', 'Müller, "AG"', "O'Brien (Sales)", 'a\\b"c', '=?utf-8?Q?a=40b?=', '=?utf-8?B?QmNjOg==?=', '日本語 テスト', 'Zoë 😀'],
  ...['Ada <eva@example.net>', 'eva@example.net, bob@example.net', 'team: eva@example.net;', '<eva@example.net>', '"', '.', '(', '\\'],
  ...['Bcc: eva@example.net', 'x'.repeat(200), 'é '.repeat(80).trim(), '\u05E9\u05DC\u05D5\u05DD', '%0d%0aBcc: eva@example.net', 'a  b'],
]

const readNames = (field: AddressObject | AddressObject[] | undefined): string[] =>
  [field ?? []].flat().flatMap(({ value }) => value.map(({ name, address = '' }) => `${name.replaceAll(/\s+/g, ' ')} <${address}>`))

test('names: arrive unchanged in every position and never become addresses', async (t) => {
  const { rest, sink } = await start(t)
  // this parser decodes text that looks like an encoded word twice; `fixtures/composed` tests such names with another parser
  const readable = names.filter((name) => !name.includes('=?'))
  for (const [i, name] of readable.entries()) {
    const at = (place: string): string => `${place}${String(i)}@example.ch`
    const whole = (...places: string[]): string[] => places.map((place) => `${name.replaceAll(/\s+/g, ' ')} <${at(place)}>`)
    const one = (place: string): Json => ({ email: at(place), name })
    const body = {
      from: one('from'),
      to: [one('to'), one('too')],
      cc: one('cc'),
      bcc: [one('bcc')],
      reply_to: [one('reply'), one('second')],
    }
    await rest.must('POST', '/v1/messages', { ...body, subject: name, text: 'x', headers: { 'X-Name': name } })
    const { from, to, content } = await sink.delivered((delivery) => delivery.to.includes(at('to')))
    t.deepEqual([from, to.toSorted()], [at('from'), [at('bcc'), at('cc'), at('to'), at('too')].toSorted()], name)
    const read = await simpleParser(Buffer.from(content))
    t.deepEqual(readNames(read.from), whole('from'))
    t.deepEqual(readNames(read.to), whole('to', 'too'))
    t.deepEqual(readNames(read.cc), whole('cc'))
    t.deepEqual(readNames(read.replyTo), whole('reply', 'second'))
    t.is(read.subject?.replaceAll(/\s+/g, ' '), name.replaceAll(/\s+/g, ' '))
    t.is(read.bcc, undefined)
    t.false(Buffer.from(content).includes(at('bcc')), 'a blind copy is in no octet of the message')
  }
  t.is(sink.deliveries.length, readable.length)
})

const breaks = [
  '\r\nBcc: eva@example.net',
  '\nBcc: eva@example.net',
  '\rBcc: eva@example.net',
  '\0',
  '\u0085x',
  '\u2028x',
  '\r\n\r\n.\r\nMAIL FROM:<>',
]
const provider = { 'X-SMTPAPI': '{"to":["eva@example.net"]}', 'x-msys-api': '{}', 'X-MC-BccAddress': 'eva@example.net' }
const owned = [
  'Bcc',
  'To',
  'From',
  'Sender',
  'Subject',
  'Return-Path',
  'Received',
  'Content-Type',
  'Resent-To',
  'DKIM-Signature',
  'MIME-Version',
]

test('field values: cannot inject fields, recipients or mail; errors name the field', async (t) => {
  const { rest, sink } = await start(t)
  const good = { from: 'shop@example.ch', to: 'ada@example.ch', subject: 'Order', text: 'Thank you.' }
  const bodies = breaks.flatMap((broken): [string, Json][] => {
    const text = `a${broken}`
    return [
      ...['from', 'to', 'cc', 'bcc', 'reply_to'].flatMap((field): [string, Json][] => [
        [field, { [field]: `ada@example.ch${broken}` }],
        [field, { [field]: `"${text}" <ada@example.ch>` }],
        [field, { [field]: { email: 'ada@example.ch', name: text } }],
        [field, { [field]: { email: `ada@example.ch${broken}` } }],
      ]),
      ['subject', { subject: text }],
      ['headers.X-A', { headers: { 'X-A': text } }],
      ['headers', { headers: { [`X-A: b${broken}`]: 'x' } }],
      ['tags[0]', { tags: [text] }],
      ['metadata.a', { metadata: { a: text } }],
      ['metadata', { metadata: { [text]: 'a' } }],
      ['attachments[0].content_id', { attachments: [{ filename: 'a', content: '', content_id: text }] }],
      ['attachments[0].content_type', { attachments: [{ filename: 'a', content: '', content_type: `text/plain${broken}` }] }],
    ]
  })
  const named = [...Object.entries(provider), ...owned.map((name) => [name, 'eva@example.net'])]
  const headers = named.map(([name = '', value = '']): [string, Json] => [`headers.${name}`, { headers: { [name]: value } }])
  for (const [field, wrong] of [...bodies, ...headers]) {
    const { status, body } = await rest.call('POST', '/v1/messages', { ...good, ...wrong })
    const { error } = body as { error?: { code: string; details?: { fields?: { path: string }[] } } }
    t.deepEqual([status, error?.code], [400, 'validation_failed'], JSON.stringify(wrong))
    const path = error?.details?.fields?.[0]?.path ?? ''
    t.true(path.startsWith(field.slice(0, 40)), `${path} is ${field}: ${JSON.stringify(wrong)}`)
  }
  await rest.must('POST', '/v1/messages', { ...good, subject: 'Last' })
  await sink.delivered(({ content }) => Buffer.from(content).includes('Subject: Last'))
  t.is(sink.deliveries.length, 1)
})

test('files: arrive unchanged, inline or attached; events contain tags and metadata', async (t) => {
  const { rest, sink } = await start(t)
  const receiver = await receiverOf(t)
  await rest.must('POST', '/v1/webhooks', { name: 'All', target_url: `${receiver.url}/hook` })
  const octets = Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 7) % 256))
  const file = (filename: string, more: Json): Json => ({
    filename,
    content: octets.toString('base64'),
    content_type: 'image/png',
    ...more,
  })
  const labels = { tags: ['Order mail', 'x, y'], metadata: { order_id: 'No. 1234', 'customer:name': 'Zoë' } }
  const sent = await rest.must('POST', '/v1/messages', {
    ...{ from: 'shop@example.ch', to: ['ada@example.ch', 'gone@example.ch'], subject: 'Files', html: '<img src="cid:one@x">', ...labels },
    attachments: [
      file('one.png', { content_id: 'one@x' }),
      file('two.png', { content_id: 'two@x', disposition: 'attachment' }),
      file('three.png', { disposition: 'inline' }),
      file('four.png', {}),
    ],
  })
  const { content } = await sink.delivered(({ to }) => to.includes('ada@example.ch'))
  t.notRegex(Buffer.from(content).toString('latin1'), /Order mail|order_id|No\. 1234/, 'recipients do not see them')
  const { attachments } = await simpleParser(Buffer.from(content))
  t.true(attachments.every((one) => one.content.equals(octets)))
  const places: string[] = attachments.map(
    ({ filename = '', contentDisposition, related }) => `${filename} ${contentDisposition}${related ? ' related' : ''}`,
  )
  t.deepEqual(places.toSorted(), ['four.png attachment', 'one.png inline related', 'three.png inline', 'two.png attachment'])
  t.like(await rest.must('GET', `/v1/traces/${String(sent['trace_id'])}`), labels)
  const [event] = await receiver.hasReceived(1)
  t.like(JSON.parse(event?.body ?? ''), { type: 'failed', data: { recipient: 'gone@example.ch', ...labels } })
  const shared = await rest.must('GET', `/share/traces/${String(sent['trace_id'])}`)
  t.notRegex(JSON.stringify(shared), /Order mail|No\. 1234/)
})

const junk = [
  ...[null, true, 0, -1, 1e308, '', ' ', 'x', '\0', '\ud800', [], [[]], {}, { a: 1 }, '\r\n', 'a@b', '@', 'a@b.ch,c@d.ch', '__proto__'],
  ...['Bcc: eva@example.net', 'a@b.ch\r\nBcc: eva@example.net', '"a" <a@b.ch>', 'group: a@b.ch;', '=?utf-8?Q?=0D=0ABcc:_e@f.ch?=', '🎉'],
]
const fields = [
  ...['to', 'cc', 'bcc', 'from', 'reply_to', 'subject', 'text', 'html', 'headers', 'attachments', 'tags', 'metadata', 'idempotency_key'],
  ...['send_at', 'list_unsubscribe', 'verp_enabled', 'template_id', 'template_vars', 'destination_id', 'project_id', 'environment', 'odd'],
]

/** Creates a body with some invalid fields. Returns also the numbers of the addresses in it. */
function randomBody(random: Seeded, i: number): { readonly body: Json; readonly marks: readonly string[] } {
  const marks: string[] = []
  const mailbox = (): unknown => {
    if (random.chance(0.08)) return random.pick(junk)
    const mark = `m${String(i)}-${String(marks.length)}@example.ch`
    marks.push(mark)
    const name = random.pick(names)
    return random.pick([mark, { email: mark }, { email: mark, name }, { name, email: mark.toUpperCase().toLowerCase() }])
  }
  const mailboxes = (): unknown => (random.chance(0.5) ? mailbox() : Array.from({ length: random.between(0, 3) }, mailbox))
  const good: Json = {
    from: { email: 'shop@example.ch', name: random.pick(names) },
    to: mailboxes(),
    ...(random.chance(0.4) && { cc: mailboxes() }),
    ...(random.chance(0.4) && { bcc: mailboxes() }),
    subject: `${random.pick(names)} [${String(i)}]`,
    text: random.pick(['Thank you.', '.\r\n.\r\n', 'a\r\n.\r\nMAIL FROM:<eva@example.net>\r\n', names.join('\n')]),
    ...(random.chance(0.3) && { headers: { 'X-Name': random.pick(names) } }),
    ...(random.chance(0.2) && {
      attachments: [{ filename: random.pick(names), content: 'aGk=', disposition: random.pick(['inline', 'attachment']) }],
    }),
    ...(random.chance(0.3) && { tags: Array.from({ length: random.between(0, 11) }, () => random.pick(names)) }),
    ...(random.chance(0.3) && { metadata: { [random.pick(names)]: random.pick(names) } }),
  }
  const wrong = Array.from({ length: random.pick([0, 0, 1, 1, 2]) }, () => [random.pick(fields), random.pick(junk)])
  return { body: { ...good, ...Object.fromEntries(wrong) }, marks }
}

interface Result {
  readonly trace_id?: string
  readonly error?: { readonly code: string }
}

test('5,000 random bodies: no internal error, and only named recipients get mail', async (t) => {
  const { daemon, rest, sink } = await start(t)
  const random = new Seeded('sent as given')
  const taken = new Map<string, Set<string>>()
  const codes = new Set<string>()
  for (let from = 0; from < 5000; from += 100) {
    const made = Array.from({ length: 100 }, (_, i) => randomBody(random, from + i))
    const messages = column(made, 'body')
    const results: Result[] =
      from % 500 === 0
        ? await Promise.all(messages.map(async (one) => (await rest.call('POST', '/v1/messages', one)).body as Result))
        : ((await rest.must('POST', '/v1/messages/batch', { messages, validation: 'permissive' }))['results'] as Result[])
    for (const [i, { trace_id: id, error }] of results.entries()) {
      // a repeated key belongs to the first body with it
      if (id !== undefined) taken.set(id, new Set([...(taken.get(id) ?? []), ...(made[i]?.marks ?? [])]))
      else codes.add(error?.code ?? 'none')
    }
  }
  t.deepEqual(
    [...codes].toSorted(),
    ['feature_disabled', 'not_found', 'validation_failed'].filter((code) => codes.has(code)),
  )
  t.true(taken.size > 1000 && taken.size < 4500, `${String(taken.size)} were accepted`)
  await daemon.settled()
  const arrived = new Map(
    sink.deliveries.map((delivery) => [/^Message-ID: <([^@]+)@/m.exec(Buffer.from(delivery.content).toString())?.[1], delivery]),
  )
  t.is(arrived.size, sink.deliveries.length, 'ledger: each went once')
  for (const [id, marks] of taken) {
    const delivery = arrived.get(id)
    if (!delivery) return t.fail(`ledger: ${id} did not arrive`)
    const head = Buffer.from(delivery.content).toString('latin1').split('\r\n\r\n')[0] ?? ''
    if (delivery.to.length === 0 || !delivery.to.every((to) => marks.has(to) || /^a@b(?:\.ch)?$/.test(to)))
      return t.fail(`ledger: ${id} to ${delivery.to.join()}`)
    if (/^Bcc:/im.test(head) || (head.match(/^(?:From|To|Subject):/gim) ?? []).length > 3) return t.fail(head)
  }
})
