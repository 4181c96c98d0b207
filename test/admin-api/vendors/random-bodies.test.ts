/** Random bodies at the send addresses of other services cause no defect and no mail to unnamed recipients. */
import test from '#test'
import { adminKey, startDaemon } from '../../support/daemon/start-daemon.ts'
import { Seeded } from '../../support/seeded.ts'

type Json = Readonly<Record<string, unknown>>

const count = 5000
const people = ['ada@example.net', 'bob@example.net', 'eva@example.net', 'zoe@example.net']
const junk = [
  ...[null, true, 0, -1, 1e308, '', ' ', 'x', '\0', '\ud800', [], [[]], {}, { a: 1 }, '\r\n', '@', '__proto__', '🎉', 'x'.repeat(3000)],
  ...[
    'Bcc: mallory@example.org',
    'ada@example.net\r\nBcc: mallory@example.org',
    '"a" <ada@example.net>',
    'group: mallory@example.org;',
    '{{x}}',
    '%recipient%',
  ],
  ...[
    { email: 'bob@example.net', name: '\r\nBcc: mallory@example.org' },
    ['ada@example.net', 'bob@example.net'],
    'eva@example.net, zoe@example.net',
  ],
  ...[new Date(8.64e15).toISOString(), 4_000_000_000, '2030-01-31T09:00:00Z', { enable: true }, 'd-welcome', [{ name: 'a', value: 'b' }]],
]

const [ada = '', bob = '', eva = '', zoe = ''] = people
const one = (email: string) => ({ email, name: 'Ada' })
const upper = (email: string) => ({ Email: email, Name: 'Ada' })
const from = 'shop@example.ch'
const file = { filename: 'a.txt', name: 'a.txt', content: 'aGk=', data: 'aGk=', type: 'text/plain' }

/** A path and a valid body of each service. */
const bodies: readonly (readonly [service: string, path: string, body: unknown, times?: number])[] = [
  [
    'Resend',
    '/emails',
    {
      from,
      to: [ada],
      cc: bob,
      bcc: eva,
      reply_to: zoe,
      subject: 's',
      html: 'h',
      text: 't',
      headers: { 'X-A': 'b' },
      tags: [{ name: 'a', value: 'b' }],
      attachments: [file],
      scheduled_at: '',
    },
  ],
  [
    'SendGrid',
    '/v3/mail/send',
    {
      personalizations: [
        { to: [one(ada)], cc: [one(bob)], substitutions: { '-a-': 'b' } },
        { to: [one(eva)], bcc: [one(zoe)] },
      ],
      from: one(from),
      subject: 's',
      content: [{ type: 'text/plain', value: 't -a-' }],
      categories: ['a'],
      custom_args: { a: 'b' },
      attachments: [file],
      mail_settings: { sandbox_mode: { enable: false } },
    },
  ],
  [
    'Postmark',
    '/email/batch',
    [
      {
        From: from,
        To: `${ada}, "B, c" <${bob}>`,
        Bcc: zoe,
        Subject: 's',
        TextBody: 't',
        Headers: [{ Name: 'X-A', Value: 'b' }],
        Metadata: { a: 'b' },
        Attachments: [{ Name: 'a.txt', Content: 'aGk=', ContentType: 'text/plain' }],
      },
    ],
  ],
  [
    'Brevo',
    '/v3/smtp/email',
    {
      sender: one(from),
      to: [one(ada)],
      subject: 's',
      htmlContent: 'Hi {{params.name}}',
      params: { name: 'x' },
      messageVersions: [{ to: [one(bob)], params: { name: 'y' } }, { to: [one(eva)] }],
      headers: { 'X-A': 'b' },
      tags: ['a'],
      attachment: [file],
    },
  ],
  [
    'MailerSend',
    '/v1/email',
    {
      from: one(from),
      to: [one(ada), one(bob)],
      cc: [one(zoe)],
      subject: 's',
      text: 'Hi {{name}}',
      personalization: [{ email: ada, data: { name: 'x' } }],
      tags: ['a'],
      headers: [{ name: 'X-A', value: 'b' }],
      attachments: [file],
    },
  ],
  [
    'SparkPost',
    '/api/v1/transmissions',
    {
      recipients: [{ address: one(ada), substitution_data: { x: 'y' } }, { address: bob }, { address: { email: eva, header_to: ada } }],
      content: { from: one(from), subject: 's', text: 'Hi {{x}}', headers: { CC: eva }, attachments: [file] },
      metadata: { a: 'b' },
      options: { sandbox: false },
    },
  ],
  [
    'Mailjet',
    '/v3.1/send',
    {
      Messages: [
        {
          From: upper(from),
          To: [upper(ada)],
          Cc: [upper(bob)],
          Subject: 's',
          TextPart: 'Hi {{var:x:"y"}}',
          TemplateLanguage: true,
          Variables: { x: 'z' },
          Headers: { 'X-A': 'b' },
          InlinedAttachments: [{ Filename: 'a', Base64Content: 'aGk=', ContentID: 'a@b' }],
        },
      ],
      Globals: { CustomCampaign: 'a' },
    },
  ],
  [
    'Amazon SES',
    '/v2/email/outbound-emails',
    {
      FromEmailAddress: from,
      Destination: { ToAddresses: [ada], CcAddresses: [bob], BccAddresses: [zoe] },
      EmailTags: [{ Name: 'a', Value: 'b' }],
      Content: { Simple: { Subject: { Data: 's' }, Body: { Text: { Data: 't' } }, Headers: [{ Name: 'X-A', Value: 'b' }] } },
    },
  ],
  [
    'Amazon SES, whole',
    '/v2/email/outbound-emails',
    {
      FromEmailAddress: from,
      Destination: { ToAddresses: [ada], CcAddresses: [bob], BccAddresses: [zoe] },
      Content: { Raw: { Data: Buffer.from(`From: ${from}\nTo: ${eva}, "x" <${ada}>\nBcc: ${bob}\nSubject: s\n\nt`).toString('base64') } },
    },
    1000,
  ],
  [
    'SparkPost, whole',
    '/api/v1/transmissions',
    {
      recipients: [{ address: one(ada), tags: ['a'] }, { address: bob }],
      content: { email_rfc822: `From: ${from}\r\nTo: ${eva}\r\nSubject: s\r\n\r\nt` },
      options: { sandbox: false },
    },
    1000,
  ],
  [
    'Mailgun',
    '/v3/example.ch/messages',
    {
      from,
      to: `${ada}, ${bob}`,
      cc: eva,
      subject: 's',
      text: 'Hi %recipient.x%',
      'recipient-variables': `{"${ada}": {"x": 1}}`,
      'h:X-A': 'b',
      'v:a': 'b',
      'o:tag': 'a',
      't:variables': '{}',
    },
  ],
]

/** Returns the body with a part changed, removed, duplicated or moved. */
function changed(body: unknown, choose: Seeded): unknown {
  const copy: unknown = structuredClone(body)
  const places: { readonly holder: Record<string, unknown>; readonly name: string }[] = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, inner] of Object.entries(value)) {
      places.push({ holder: value as Record<string, unknown>, name })
      walk(inner)
    }
  }
  walk(copy)
  for (let i = choose.between(0, 3); i > 0; i--) {
    const { holder, name } = choose.pick(places)
    const kind = choose.between(0, 4)
    if (kind === 0) Reflect.deleteProperty(holder, name)
    else if (kind === 1) holder[choose.pick(['to', 'To', 'bcc', 'headers', 'x', 'constructor', 'header_to'])] = choose.pick(junk)
    else if (kind === 2) holder[name] = structuredClone(choose.pick(places).holder)
    else holder[name] = choose.pick(junk)
  }
  return copy
}

/** Encodes a body as a form for Mailgun; other values than texts become JSON. */
const formOf = (body: unknown): Buffer => {
  const entries = Object.entries(body as Json).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
  ])
  return Buffer.from(new URLSearchParams(entries).toString())
}

for (const [service, path, body, times = count] of bodies)
  test(`random bodies: ${service}: no defect, and mail only to the named recipients`, async (t) => {
    const { rest, errors } = await startDaemon(t, { env: { POSTERN_ADMIN_KEY: adminKey } })
    const choose = new Seeded(service)
    const statuses = new Map<number, number>()
    const each = async (i: number): Promise<void> => {
      const given = i === 0 ? body : changed(body, choose)
      const form = service === 'Mailgun'
      const { status, bytes } = await rest.call(
        'POST',
        path,
        form ? formOf(given) : given,
        form ? { 'content-type': 'application/x-www-form-urlencoded' } : {},
      )
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (i === 0) t.true(status < 300, bytes.toString())
      if (status >= 500) t.fail(`${String(status)} ${bytes.toString()} for ${JSON.stringify(given)}`)
    }
    await each(0)
    for (let i = 1; i < times; i += 50) await Promise.all(Array.from({ length: Math.min(50, times - i) }, (_, j) => each(i + j)))
    const good = [...statuses].reduce((sum, [status, count]) => (status < 300 ? sum + count : sum), 0)
    t.true(good > times / 10 && good < times, JSON.stringify([...statuses]))
    let seen = 0
    for await (const trace of rest.rows('/v1/traces')) {
      const { to, outcome } = trace as { to: string[]; outcome: string }
      if (outcome === 'refused') continue
      seen++
      t.true(to.length > 0)
      t.deepEqual(
        to.filter((address) => ![...people, from].includes(address)),
        [],
      )
    }
    t.true(seen > times / 10)
    t.deepEqual(errors, [])
  })

test('limits: long lists are read once per request, not once per message', async (t) => {
  const { rest } = await startDaemon(t)
  const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
  const people = many(4000, (i) => ({ email: `p${String(i)}@example.net` }))
  const tags = many(20_000, (i) => `tag ${String(i)}`)
  const map = Object.fromEntries(tags.map((tag) => [tag, tag]))
  const email = 'shop@example.ch'
  const bodies: readonly (readonly [path: string, body: object])[] = [
    [
      '/v1/email',
      { from: { email }, to: people, subject: 's', text: 't', tags, personalization: people.map((one) => ({ ...one, data: { n: 1 } })) },
    ],
    [
      '/v3/smtp/email',
      {
        sender: { email },
        subject: 's',
        textContent: 't',
        tags,
        headers: map,
        messageVersions: people.slice(0, 1000).map((one) => ({ to: [one] })),
      },
    ],
    [
      '/api/v1/transmissions',
      {
        recipients: people.slice(0, 1000).map((address) => ({ address })),
        metadata: map,
        content: { from: email, subject: 's', text: 't', headers: { CC: people.map((one) => one.email).join() } },
      },
    ],
  ]
  for (const [path, body] of bodies) {
    const { status } = await rest.call('POST', path, body)
    t.true(status === 413 || status === 422 || status === 400, `${path}: ${String(status)}`)
  }
  for await (const _ of rest.rows('/v1/traces')) t.fail('no message may be accepted')
})
