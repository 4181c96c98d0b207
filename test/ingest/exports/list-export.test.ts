/** Lists in the form that each service exports: recognition, parsing, and refused or skipped rows. */
import test, { type ExecutionContext } from '#test'
import type { MovedRow } from '#core/moving/moved-row.ts'
import { ListExport, type ListExportOptions } from '#ingest/exports/list-export.ts'
import { Seeded } from '../../support/seeded.ts'
import { inPieces, listOf } from '../rows/pieces.ts'

async function read(file: string | Uint8Array, options: ListExportOptions = {}) {
  const exported = new ListExport(options)
  const rows = (await listOf(exported.rows(inPieces(file, file.length < 10_000 ? new Seeded('pieces') : undefined)))).flat()
  return { service: exported.service, rows }
}

/** Summary of a row: address, kind, scope, and the reason for skipping it. */
const short = ({ email, kind, from, skipped, problem }: MovedRow): string =>
  [
    email ?? '-',
    kind,
    typeof from === 'object' ? from.list : from,
    ...(skipped === undefined ? [] : ['skipped']),
    ...(problem === undefined ? [] : ['wrong']),
  ].join(' ')

interface Case {
  readonly file: string
  readonly name?: string
  readonly service: string
  readonly rows: readonly string[]
}

async function holds(t: ExecutionContext, { file, name, service, rows }: Case): Promise<void> {
  const found = await read(file, { fileName: name })
  t.is(found.service, service as never, file)
  t.deepEqual(found.rows.map(short), rows, file)
}

test('SendGrid: bounces, blocks, spam reports, invalid addresses and unsubscribes', async (t) => {
  const bounces = 'status,reason,email,created\n5.1.1,"550 5.1.1 no such\nuser",a@x.ch,1700000000\n4.0.0,later,b@x.ch,1700000000\n'
  await holds(t, { file: bounces, service: 'sendgrid', rows: ['a@x.ch bounces all', 'b@x.ch blocks all'] })
  await holds(t, { file: bounces, name: 'suppression_blocks.csv', service: 'sendgrid', rows: ['a@x.ch blocks all', 'b@x.ch blocks all'] })
  await holds(t, { file: 'reason,email,created\nbad,c@x.ch,1\n', service: 'sendgrid', rows: ['c@x.ch invalid all'] })
  await holds(t, { file: 'ip,email,created\n1.2.3.4,d@x.ch,1\n', service: 'sendgrid', rows: ['d@x.ch complaints all'] })
  await holds(t, { file: '[{"created":1,"email":"e@x.ch"}]', service: 'sendgrid', rows: ['e@x.ch unsubscribes all'] })
  const [row] = (await read(bounces)).rows
  t.is(row?.reason, 'SendGrid: bounce, 5.1.1 550 5.1.1 no such user (2023-11-14)')
  t.deepEqual(
    (await read(bounces)).rows.map(({ row: number, line }) => [number, line]),
    [
      [1, 2],
      [2, 4],
    ],
  )
})

test('Postmark and Mailgun: suppressions, deactivated addresses, tags and allow lists', async (t) => {
  const one = (email: string, reason: string, origin: string) => ({
    EmailAddress: email,
    SuppressionReason: reason,
    Origin: origin,
    CreatedAt: '2019-12-17T08:58:33-05:00',
  })
  const list = [
    one('a@x.ch', 'HardBounce', 'Recipient'),
    one('b@x.ch', 'SpamComplaint', 'Recipient'),
    one('c@x.ch', 'ManualSuppression', 'Recipient'),
    one('d@x.ch', 'ManualSuppression', 'Admin'),
  ]
  const rows = ['a@x.ch bounces all', 'b@x.ch complaints all', 'c@x.ch unsubscribes all', 'd@x.ch manual all']
  await holds(t, { file: JSON.stringify({ Suppressions: list }), service: 'postmark', rows })
  await holds(t, {
    file: 'EmailAddress;SuppressionReason;Origin\r\na@x.ch;HardBounce;Recipient\r\n',
    service: 'postmark',
    rows: rows.slice(0, 1),
  })
  const bounced = {
    TotalCount: 2,
    Bounces: [
      { Type: 'HardBounce', Email: 'e@x.ch', Inactive: true, BouncedAt: 'x' },
      { Type: 'SoftBounce', Email: 'f@x.ch', Inactive: false, BouncedAt: 'x' },
    ],
  }
  await holds(t, {
    file: JSON.stringify(bounced, undefined, 2),
    service: 'postmark',
    rows: ['e@x.ch bounces all', 'f@x.ch bounces all skipped'],
  })
  await holds(t, {
    file: '{"items":[{"address":"a@x.ch","code":"550","error":"no"}],"paging":{"next":"x"}}',
    service: 'mailgun',
    rows: ['a@x.ch bounces all'],
  })
  await holds(t, {
    file: 'address,created_at\na@x.ch,"Tue, 07 Jan 2025 19:25:45 UTC"\n',
    service: 'mailgun',
    rows: ['a@x.ch complaints all'],
  })
  const tags =
    '{"items":[{"address":"a@x.ch","tags":["*"]},{"address":"b@x.ch","tags":["news"]}]}\n{"items":[{"address":"c@x.ch","tags":["a","b"]}]}'
  await holds(t, {
    file: tags,
    service: 'mailgun',
    rows: ['a@x.ch unsubscribes all', 'b@x.ch unsubscribes news', 'c@x.ch unsubscribes all'],
  })
  await holds(t, {
    file: '{"items":[{"type":"domain","value":"x.ch","reason":"r","createdAt":"d"}]}',
    service: 'mailgun',
    rows: ['x.ch allowed all'],
  })
})

test('exports of Brevo, MailerSend, SparkPost, Mailjet, Amazon SES and Resend', async (t) => {
  const blocked = (email: string, code: string) => ({
    email,
    senderEmail: 's@x.ch',
    reason: { code, message: 'm' },
    blockedAt: '2024-01-01T00:00:00Z',
  })
  const brevo = {
    count: 3,
    contacts: [blocked('a@x.ch', 'hardBounce'), blocked('b@x.ch', 'unsubscribedViaEmail'), blocked('c@x.ch', 'odd')],
  }
  await holds(t, {
    file: JSON.stringify(brevo),
    service: 'brevo',
    rows: ['a@x.ch bounces all', 'b@x.ch unsubscribes all', 'c@x.ch manual all skipped'],
  })
  await holds(t, {
    file: '{"contacts":[{"email":"a@x.ch","emailBlacklisted":true},{"email":"b@x.ch","emailBlacklisted":false}]}',
    service: 'brevo',
    rows: ['a@x.ch unsubscribes lists', 'b@x.ch unsubscribes all skipped'],
  })
  const hard = '{"data":[{"id":"1","reason":"no","created_at":"2024-01-01","recipient":{"id":"2","email":"a@x.ch"}}],"links":{"next":null}}'
  await holds(t, { file: hard, service: 'mailersend', rows: ['a@x.ch bounces all'] })
  await holds(t, { file: hard, name: 'spam-complaints.json', service: 'mailersend', rows: ['a@x.ch complaints all'] })
  await holds(t, {
    file: '{"data":[{"id":"1","type":"pattern","pattern":".*@x.ch"},{"id":"2","type":"exact","pattern":"a@x.ch"}]}',
    service: 'mailersend',
    rows: ['.*@x.ch manual all skipped', 'a@x.ch manual all'],
  })
  const spark =
    'recipient,type,source,description\na@x.ch,transactional,Bounce Rule,x\nb@x.ch,non_transactional,List Unsubscribe,x\nc@x.ch,transactional,Spam Complaint,x\n'
  await holds(t, { file: spark, service: 'sparkpost', rows: ['a@x.ch bounces all', 'b@x.ch unsubscribes lists', 'c@x.ch complaints all'] })
  await holds(t, {
    file: '{"Count":1,"Data":[{"Email":"a@x.ch","IsExcludedFromCampaigns":true,"IsSpamComplaining":false}]}',
    service: 'mailjet',
    rows: ['a@x.ch unsubscribes lists'],
  })
  await holds(t, {
    file: '{"Data":[{"ContactAlt":"a@x.ch","Status":"hardbounced"},{"ContactAlt":"b@x.ch","Status":"sent"}]}',
    service: 'mailjet',
    rows: ['a@x.ch bounces all', 'b@x.ch manual all skipped'],
  })
  const ses =
    '{"SuppressedDestinationSummaries":[{"EmailAddress":"a@x.ch","Reason":"BOUNCE","LastUpdateTime":1700000000.1},{"EmailAddress":"b@x.ch","Reason":"COMPLAINT"}]}'
  await holds(t, { file: ses, service: 'ses', rows: ['a@x.ch bounces all', 'b@x.ch complaints all'] })
  await holds(t, {
    file: '{"emailAddress":"a@x.ch","reason":"BOUNCE"}\n{"emailAddress":"b@x.ch","reason":"COMPLAINT"}\n',
    service: 'ses',
    rows: ['a@x.ch bounces all', 'b@x.ch complaints all'],
  })
  await holds(t, { file: 'a@x.ch,BOUNCE\nb@x.ch, COMPLAINT\n', service: 'ses', rows: ['a@x.ch bounces all', 'b@x.ch complaints all'] })
  const resend =
    '{"object":"list","has_more":false,"data":[{"object":"suppression","id":"1","email":"a@x.ch","origin":"manual","source_id":null},{"object":"suppression","id":"2","email":"b@x.ch","origin":"bounce","source_id":"3"}]}'
  await holds(t, { file: resend, service: 'resend', rows: ['a@x.ch manual all', 'b@x.ch bounces all'] })
  await holds(t, {
    file: 'id,email,first_name,unsubscribed\n1,a@x.ch,A,true\n2,b@x.ch,B,false\n',
    service: 'resend',
    rows: ['a@x.ch unsubscribes lists', 'b@x.ch unsubscribes all skipped'],
  })
})

test('ListExport: reads a plain list of addresses and reasons without a service', async (t) => {
  for (const file of ['email,reason\na@x.ch,moved away\nb@x.ch,spam complaint\n', 'Reason;E-Mail\nmoved;a@x.ch\nspam;b@x.ch\n']) {
    const { service, rows } = await read(file)
    t.is(service, undefined)
    t.deepEqual(rows.map(short), ['a@x.ch manual all', 'b@x.ch complaints all'])
  }
  t.deepEqual((await read('email\na@x.ch\n')).rows.map(short), ['a@x.ch manual all'])
  await t.throwsAsync(read('email,first_name\na@x.ch,A\n'), { message: /^matches no known service/ }, 'a list of subscribers')
})

test('ListExport: reads a list of unknown form if the service is given', async (t) => {
  const file = 'Kontakt;Email address;Reason\nA;a@x.ch;spam\nB;b@x.ch;Hard bounce\n'
  await t.throwsAsync(read('x;y\n1;2\n'), {
    message: /^matches no known service; its fields are x, y; name the service, or use a plain list with the columns email and reason$/,
  })
  t.deepEqual((await read(file.replace('Email address', 'Email'), { service: 'mailjet' })).rows.map(short), [
    'a@x.ch complaints all',
    'b@x.ch bounces all',
  ])
  t.deepEqual((await read('["a@x.ch","b@x.ch"]', { service: 'sendgrid', kind: 'unsubscribes' })).rows.map(short), [
    'a@x.ch unsubscribes all',
    'b@x.ch unsubscribes all',
  ])
})

test('ListExport: accepts encodings and line ends, skips broken rows, names archives', async (t) => {
  const text = 'email,created,status,reason\r\n"a@x.ch",1,5.1.1,"two\r\nlines"\r\nb@x.ch,1,5,"x",more\r\n\r\nc@x.ch,1,5,\u0000=1+1\r\n'
  const rows = ['a@x.ch bounces all', '- manual all wrong', 'c@x.ch bounces all']
  const bigEndian = Buffer.from(`\ufeff${text}`, 'utf16le').swap16()
  for (const bytes of [
    Buffer.from(text),
    Buffer.from(`\ufeff${text}`),
    Buffer.from(`\ufeff${text}`, 'utf16le'),
    Buffer.from(text, 'utf16le'),
    bigEndian,
  ]) {
    const { rows: found } = await read(bytes)
    t.deepEqual(found.map(short), rows)
    t.deepEqual(
      found.map(({ line }) => line),
      [2, 4, 6],
    )
  }
  const long = `email,created,status,reason\na@x.ch,1,5,${'x'.repeat(1_000_000)}\nb@x.ch,1,5,no\n`
  t.deepEqual((await read(long)).rows.map(short), ['- manual all wrong', 'b@x.ch bounces all'])
  const longJson = `[{"created":1,"email":"a@x.ch","x":"${'y'.repeat(1_000_000)}"},{"created":1,"email":"b@x.ch"},17,{"created":1,"email":]},{"email":"c@x.ch","created":1}]`
  t.deepEqual((await read(longJson, { service: 'sendgrid' })).rows.map(short).slice(0, 3), [
    '- manual all wrong',
    'b@x.ch unsubscribes all',
    '- manual all wrong',
  ])
  for (const [bytes, expected] of [
    [Buffer.from('PK\u0003\u0004…'), /zip archive/],
    [Buffer.from([0x1f, 0x8b, 8, 0, 0]), /gzip/],
    [Buffer.from('email,created\na@x.ch,1\n\xff', 'latin1'), /UTF-8/],
    [Buffer.from('email,created\n"a@x.ch,1\n'), /never closed/],
    [Buffer.from('{"Suppressions":[{"EmailAddress":"a@x.ch"'), /not JSON/],
    [Buffer.from(' \n'), /is empty/],
    [Buffer.from('{"Suppressions":[]}'), /has no rows/],
  ] as const)
    await t.throwsAsync(read(bytes), { message: expected })
})

test('ListExport: reads or refuses random files, in pieces of any size', async (t) => {
  const seeded = new Seeded('hostile exports')
  const bits = [
    '{',
    '}',
    '[',
    ']',
    '"',
    ',',
    ':',
    '\n',
    '\r',
    ';',
    'email',
    'created',
    'a@x.ch',
    '\\',
    '"items":[',
    '{"email":"a@x.ch","created":1}',
    'null',
    '1',
    '\u0000',
    'é',
  ]
  for (let round = 0; round < 3000; round++) {
    const text = Array.from({ length: seeded.between(1, 30) }, () => seeded.pick(bits)).join('')
    const outcome = () =>
      read(text, { service: 'sendgrid' }).then(
        ({ rows }) => rows.map(short),
        (error: unknown) => (error as Error).name,
      )
    const found = await outcome()
    if (typeof found === 'string') t.is(found, 'UnreadableRows', JSON.stringify(text))
    const exported = new ListExport({ service: 'sendgrid' })
    const whole = await listOf(exported.rows(inPieces(text))).then(
      (rows) => rows.flat().map(short),
      (error: unknown) => (error as Error).name,
    )
    t.deepEqual(whole, found, JSON.stringify(text))
  }
})
