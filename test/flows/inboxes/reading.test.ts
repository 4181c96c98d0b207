/**
 * The same mail by every entry point and in every interface: capture and inbound route; REST, webhook, agent tool and view return the same
 * reading.
 */
import { readFile } from 'node:fs/promises'
import test, { type ExecutionContext } from '#test'
import { startMcp, type Agent, type McpFixture } from '../../admin-api/mcp/mcp-fixture.ts'
import { text, tnef } from '../../ingest/mime/tnef/tnef-writer.ts'
import { column } from '../../support/column.ts'
import { catchAllInbox, makeDestination, makeLogin, type Login } from '../../support/daemon/provision.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { WebhookReceiver } from '../../support/web/webhook-receiver.ts'

interface Expected {
  readonly subject?: string
  readonly text: string
  /** Sanitized HTML; empty for mail without HTML. */
  readonly html?: string
  /** Set if the HTML of the webhook differs from REST. */
  readonly webhookHtml?: string
  /** Name, type and content of each file. */
  readonly files?: readonly (readonly [name: string, type: string, content: string])[]
  /** Content of the view's frame. */
  readonly frame?: readonly string[]
  /** Codes of notes. */
  readonly notes?: readonly string[]
}

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVQI12P4z8AAAAMBAQAYlN2NAAAAAElFTkSuQmCC', 'base64').toString(
  'latin1',
)

const folder = new URL('../../fixtures/mail/as-it-comes/', import.meta.url)
const fromFile = async (name: string): Promise<Buffer> =>
  Buffer.from((await readFile(new URL(`${name}.eml`, folder), 'latin1')).replaceAll(/\r?\n/g, '\r\n'), 'latin1')

const written = (head: string, ...lines: readonly string[]): (() => Buffer) => {
  const fields = 'From: Ana <ana@sender.example>\r\nSubject: Notes\r\nMIME-Version: 1.0\r\n'
  return () => Buffer.from(`${fields}${head}\r\n\r\n${lines.join('\r\n')}\r\n`, 'latin1')
}

const winmail = tnef(
  [text(0x1000, 'Grüezi')],
  [{ data: Buffer.from('seventeen octets!'), properties: [text(0x3707, 'Müßig.txt'), text(0x370e, 'text/plain')] }],
)
const damaged = winmail.subarray(0, -200)

const mails: readonly (readonly [title: string, make: () => Buffer | Promise<Buffer>, expected: Expected])[] = [
  [
    'padded delimiters',
    () => fromFile('padded-delimiters'),
    { text: 'The report is attached.', files: [['report.pdf', 'application/pdf', 'Hello World']] },
  ],
  [
    'a Japanese subject',
    () => fromFile('japanese-subject'),
    { subject: '年末年始の営業日と発送予定に関する大切なお知らせをお送りいたします', text: 'x' },
  ],
  [
    'an undeclared charset',
    () => fromFile('undeclared-charset'),
    { text: 'Guten Tag Frau Müßig, das Gerät kostet 129 € – passt das?', notes: ['unknown_charset'] },
  ],
  ['a wrong charset', written('Content-Type: text/plain; charset=utf-8', 'M\xfc\xdfig'), { text: 'Müßig', notes: ['wrong_charset'] }],
  ['the charset of cron', () => fromFile('cron-charset'), { text: 'Übersprungen: 3 Dateien' }],
  [
    'inline text files',
    () => fromFile('inline-text-files'),
    {
      text: 'Two files.',
      files: [
        ['server.log', 'text/plain', '10:00 start\r\n10:01 stop'],
        ['report.html', 'text/html', '<html><body><h1>Report</h1></body></html>'],
      ],
    },
  ],
  [
    'a uuencoded file',
    () => fromFile('uuencoded-file'),
    { text: 'Scan', files: [['scan.bin', 'application/octet-stream', 'seventeen octets!']] },
  ],
  [
    'a percent-encoded content id',
    () => fromFile('percent-encoded-cid'),
    { text: 'logo', html: '<p><img alt="logo" src="cid:logo@shop" /></p>', files: [['attachment.png', 'image/png', png]] },
  ],
  [
    'a name with octets of windows-1252 and broken base64',
    written('Content-Type: image/png; name="M\xfcll.png"\r\nContent-Transfer-Encoding: base64', 'SGVs*bG8='),
    { text: '', files: [['Müll.png', 'image/png', 'Hello']], notes: ['broken_transfer_encoding'] },
  ],
  [
    'an unclosed multipart in an unknown charset',
    written('Content-Type: multipart/mixed; boundary=m', '--m', 'Content-Type: text/plain; charset=x-none', '', 'M\xfc\xdfig'),
    { text: 'Müßig', notes: ['unclosed_part', 'unknown_charset'] },
  ],
  [
    'files and a body in winmail.dat',
    written('Content-Type: application/ms-tnef; name=winmail.dat\r\nContent-Transfer-Encoding: base64', winmail.toString('base64')),
    {
      text: 'Grüezi',
      files: [
        ['winmail.dat', 'application/ms-tnef', winmail.toString('latin1')],
        ['Müßig.txt', 'text/plain', 'seventeen octets!'],
      ],
    },
  ],
  [
    'a damaged winmail.dat next to a text',
    written(
      'Content-Type: multipart/mixed; boundary=m',
      ...['--m', '', 'Hello', '--m', 'Content-Type: application/octet-stream; name=winmail.dat', 'Content-Transfer-Encoding: base64', ''],
      ...[damaged.toString('base64'), '--m--'],
    ),
    { text: 'Hello', files: [['winmail.dat', 'application/octet-stream', damaged.toString('latin1')]], notes: ['broken_tnef'] },
  ],
]

const nested = tnef([], [{ data: winmail, properties: [text(0x3707, 'winmail.dat')] }])

/** Mails designed to confuse a parser. */
const nasty: typeof mails = [
  [
    'no empty line after the header',
    written('X-Note: y\r\nHello there', 'more'),
    { text: 'Hello there\n\nmore', notes: ['unended_header'] },
  ],
  [
    'a boundary that does not occur',
    written('Content-Type: multipart/mixed; boundary=m', '--n', '', 'x'),
    { text: '--n\n\nx', notes: ['no_delimiter'] },
  ],
  [
    'text after the last part',
    written('Content-Type: multipart/mixed; boundary=m', '--m', '', 'Hello', '--m--', 'Footer of the list'),
    { text: 'Hello', notes: ['text_after_parts'] },
  ],
  [
    'an encoded multipart',
    written('Content-Type: multipart/mixed; boundary=m\r\nContent-Transfer-Encoding: base64', Buffer.from('Hello').toString('base64')),
    { text: 'Hello', notes: ['no_delimiter'] },
  ],
  [
    'boundaries with a common prefix',
    written(
      'Content-Type: multipart/mixed; boundary=b',
      ...['--b', 'Content-Type: multipart/alternative; boundary=b--', '', '--b--', '', 'page', '--b--', 'Content-Type: text/html', ''],
      ...['<p>page</p>', '--b----', '--b', 'Content-Type: application/pdf; name=a.pdf', '', 'PDF', '--b--'],
    ),
    { text: 'page', html: '<p>page</p>', files: [['a.pdf', 'application/pdf', 'PDF']] },
  ],
  [
    'a name in segments out of order',
    written(`Content-Type: application/pdf;\r\n name*2=" c.pdf";\r\n name*0*=utf-8''%C3;\r\n name*1*=%BC`, 'PDF'),
    { text: '', files: [['ü c.pdf', 'application/pdf', 'PDF\r\n']] },
  ],
  ['ASCII declared as UTF-16', written('Content-Type: text/plain; charset=utf-16', 'Hello'), { text: 'Hello' }],
  ['two types; the first counts', written('Content-Type: text/plain\r\nContent-Type: text/html', '<p>x</p>'), { text: '<p>x</p>' }],
  ['lines that end in bare carriage returns and line feeds', written('X-A: b', 'one\rtwo\nthree'), { text: 'one\ntwo\nthree' }],
  ['names of fields beyond ASCII', written('\xdcber: x\r\nX-A: b', 'Hello'), { text: 'Hello', notes: ['header_cut'] }],
  [
    'text around a uuencoded file',
    written('Content-Type: image/gif; name=a.gif\r\nContent-Transfer-Encoding: x-uuencode', 'begin 644 a', '#86)C', '`', 'end', 'and more'),
    { text: '', files: [['a.gif', 'image/gif', 'abc']], notes: ['broken_transfer_encoding'] },
  ],
  [
    'an encoded message as a part',
    written('Content-Type: message/rfc822\r\nContent-Disposition: inline\r\nContent-Transfer-Encoding: base64', 'U3ViamVjdDogeA=='),
    { text: '', files: [['attachment.eml', 'message/rfc822', 'Subject: x']] },
  ],
  [
    'a winmail.dat in a winmail.dat',
    written('Content-Type: application/ms-tnef; name=winmail.dat\r\nContent-Transfer-Encoding: base64', nested.toString('base64')),
    {
      text: '',
      files: [
        ['winmail.dat', 'application/ms-tnef', nested.toString('latin1')],
        ['winmail.dat', 'application/octet-stream', winmail.toString('latin1')],
      ],
    },
  ],
  [
    'multiparts 200 deep',
    () => {
      const open = Array.from({ length: 200 }, (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`)
      return written(open.join('').slice(0, -2), '', 'deep')()
    },
    { text: 'deep', notes: ['unclosed_part'] },
  ],
]

const lines = (octets: Buffer): string => octets.toString('base64').replaceAll(/.{76}/g, '$&\r\n')

/** HTML with a long gap between two words. */
const long = (between: string): (() => Buffer) =>
  written(
    'Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64',
    lines(Buffer.from(`<p>Hello,</p>${between}<p>Your code is <a href="https://x.example/?code=482913">482913</a></p>`)),
  )

const linkRest = 'target="_blank" rel="noopener noreferrer nofollow"'
const words = {
  before: '<p>Hello,</p>',
  after: `<p>Your code is <a href="https://x.example/?code=482913" ${linkRest}>482913</a></p>`,
}
const picture = (kib: number): string =>
  `<img alt="" src="data:image/png;base64,${Buffer.alloc(kib * 1024, png, 'latin1').toString('base64')}" />`
const withPicture = (kib: number): Expected => ({
  text: 'Hello,\n\nYour code is 482913 <https://x.example/?code=482913>',
  html: `${words.before}${picture(kib)}${words.after}`,
  webhookHtml: `${words.before}<img alt="" />${words.after}`,
  frame: [`${words.before}${picture(kib)}${words.after}`],
})

const linked = (names: string): string =>
  [
    `<img alt="Menu" usemap="#${names}menu" src="data:image/png;base64,AAAA" /><map name="${names}menu">`,
    `<area alt="Order" shape="rect" coords="0,0,9,9" href="https://shop.example/order" ${linkRest} /></map>`,
    `<p><a href="tel:+41441234567" ${linkRest}>Call</a> <a href="sms:+41791234567" ${linkRest}>Text</a>`,
    ` <a href="https://news.example/today" ${linkRest}>News</a></p>`,
  ].join('')

/** Mails with links in places other than web addresses. */
const linkedMails: typeof mails = [
  [
    'links of pictures, of telephones and without a scheme',
    written(
      'Content-Type: text/html',
      '<base href="https://shop.example/"><img alt="Menu" src="data:image/png;base64,AAAA" usemap="#menu"><map name="menu">' +
        '<area alt="Order" shape="rect" coords="0,0,9,9" href="/order"></map>' +
        '<p><a href="tel:+41441234567">Call</a> <a href="sms:+41791234567">Text</a> <a href="//news.example/today">News</a></p>',
    ),
    {
      text: 'Menu Order <https://shop.example/order>\n\nCall <tel:+41441234567> Text <sms:+41791234567> News <https://news.example/today>',
      html: linked('mail-'),
      frame: [linked('')],
    },
  ],
]

/** Mails above a size limit, some only because of an image. */
const longMails: typeof mails = [
  ['a picture of 200 KiB inside the HTML', long(picture(200)), withPicture(200)],
  ['a picture of 800 KiB inside the HTML', long(picture(800)), withPicture(800)],
  [
    'a tag at the limit of HTML',
    long(`<p title="${'x'.repeat(1_000_000)}">y</p>`),
    { text: 'Hello,', html: words.before, notes: ['html_cut'] },
  ],
]

interface Place extends McpFixture {
  readonly agentClient: Agent
  readonly login: Login
  readonly inbox: string
  readonly routeId: string
  readonly receiver: WebhookReceiver
}

async function place(t: ExecutionContext): Promise<Place> {
  const receiver = await new WebhookReceiver().listen()
  t.teardown(() => receiver[Symbol.asyncDispose]())
  const fixture = await startMcp(t, { settings: { POSTERN_SUBMISSION_MAX_MESSAGE_BYTES: '4194304' } })
  const { rest } = fixture
  const login = await makeLogin(rest, await makeDestination(rest, { name: 'Box', port: 1, mode: 'sandbox' }))
  const route = await rest.must('POST', '/v1/inbound-routes', { local_part_pattern: 'shop', webhook_url: receiver.url })
  return { ...fixture, agentClient: await fixture.agent(), login, inbox: await catchAllInbox(rest), routeId: String(route['id']), receiver }
}

type Json = Readonly<Record<string, unknown>>

/** A reading in one form, independent of the interface. */
interface Reading {
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly files: readonly (readonly [name: string, type: string, content: string])[]
  readonly notes: readonly string[]
}

const field = (message: Json, name: string, ...columns: readonly string[]): string[] =>
  (message[name] as readonly Json[]).map((row) => columns.map((one) => String(row[one])).join(' '))

/** The reading by REST and webhook. `fetch` downloads a file by its address. */
async function readingOf(message: Json, fetch: (path: string) => Promise<Buffer>): Promise<Reading> {
  const files = (message['attachments'] as readonly Record<'filename' | 'content_type' | 'url', string>[]).map(
    async ({ filename, content_type, url }) => [filename, content_type, (await fetch(new URL(url).pathname)).toString('latin1')] as const,
  )
  return {
    subject: String(message['subject']),
    text: String(message['text']).trim(),
    html: String(message['html']).trim(),
    files: await Promise.all(files),
    notes: field(message, 'reading_notes', 'code', 'message'),
  }
}

async function send(port: number, login: Login | undefined, to: string, content: Buffer): Promise<void> {
  const client = login ? await SmtpClient.signIn({ port, security: 'starttls' }, login) : await SmtpClient.connect({ port })
  const { accepted, reply } = await client.send({ from: 'ana@sender.example', to: [to], content })
  await client.quit()
  if (!accepted) throw new Error(reply.lines.join(' '))
}

const portIn = (address: string): number => Number(address.slice(address.lastIndexOf(':') + 1))

const newest = async ({ rest }: Place, path: string): Promise<string> =>
  String(((await rest.must('GET', `${path}?limit=1`))['data'] as readonly Json[])[0]?.['id'])

const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' }
const unescaped = (html: string): string => html.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity] ?? '')

/** Asserts that the page of a message equals the reading by REST. */
async function assertView(t: ExecutionContext, { client }: Place, message: Json, reading: Reading, title: string): Promise<void> {
  const get = async (path: string): Promise<string> => (await client('').call('GET', path)).bytes.toString()
  const { pathname } = new URL(String(message['view_url']))
  const page = await get(`${pathname}?tab=text`)
  const notes = [...page.matchAll(/<p class="note"[^>]*>([^<]*)<\/p>/g)].map(([, note = '']) => unescaped(note))
  t.deepEqual(notes, field(message, 'reading_notes', 'message'), title)
  t.true(unescaped(page.replaceAll(/<[^>]*>/g, '')).includes(reading.text), title)
  t.is(unescaped(/<h1[^>]*>([^<]*)</.exec(page)?.[1] ?? ''), reading.subject, title)
  const files = await get(`${pathname}?tab=files`)
  for (const [name] of reading.files) t.true(unescaped(files).includes(`>${name}</a>`), title)
}

/** Asserts that the frame of a message contains these pieces of HTML. */
async function assertFrame(t: ExecutionContext, { client }: Place, message: Json, pieces: readonly string[], title: string): Promise<void> {
  const { pathname } = new URL(String(message['view_url']))
  const page = (await client('').call('GET', `${pathname}/html`)).bytes.toString()
  for (const piece of pieces) t.true(page.includes(piece), `${title}: ${piece.slice(0, 200)}`)
}

/** Asserts that the agent tool returns the same, without file names declared by the sender. */
async function assertTool(t: ExecutionContext, { agentClient }: Place, id: string, message: Json, title: string): Promise<void> {
  const { untrusted } = (await agentClient.must('virtual_inbox_message_get', { id })) as { readonly untrusted: Json }
  t.is(untrusted['subject'], message['subject'], title)
  t.is(String(untrusted['text']).trim(), String(message['text']).trim(), title)
  t.deepEqual(
    field(untrusted, 'attachments', 'filename', 'content_type', 'size'),
    field(message, 'attachments', 'filename', 'content_type', 'size'),
  )
  t.is(untrusted['text_cut'] !== null, field(message, 'reading_notes', 'code').includes('html_cut'), title)
  const addresses = (message['html'] as string).matchAll(/ href="([^"]*)"/g).map(([, href]) => href)
  t.deepEqual(column(untrusted['links'] as readonly { readonly url: string }[], 'url'), [...addresses], title)
  const findings = untrusted['findings'] as readonly string[]
  for (const note of field(message, 'reading_notes', 'message')) t.true(findings.includes(note.replaceAll(/ "[^"]*"/g, '')), title)
}

/** Several tests read some mails each, because under load all mails exceed the deadline of one test. */
const groups: Readonly<Record<string, typeof mails>> = { 'as it comes': mails, nasty, 'with links': linkedMails, 'that is long': longMails }

for (const [kind, some] of Object.entries(groups))
  test(`every interface shows the same reading of mail ${kind}`, (t) => assertReadings(t, some))

async function assertReadings(t: ExecutionContext, some: typeof mails): Promise<void> {
  const here = await place(t)
  const { daemon, rest, client, login, inbox, routeId, receiver } = here
  const own = async (path: string): Promise<Buffer> => (await rest.call('GET', path)).bytes
  const foreign = async (path: string): Promise<Buffer> => (await client('').call('GET', path)).bytes
  for (const [at, [title, make, { subject, text, html = '', webhookHtml = html, frame = [], files = [], notes = [] }]] of some.entries()) {
    const content = await make()
    await send(portIn(daemon.addresses.submission), login, 'desk@example.org', content)
    await send(portIn(daemon.addresses.mx), undefined, 'shop@in.example.ch', content)
    const [request] = (await receiver.hasReceived(at + 1)).slice(at)
    await daemon.settled()
    const captureId = await newest(here, `/v1/inboxes/${inbox}/messages`)
    const captured = await rest.must('GET', `/v1/inboxes/${inbox}/messages/${captureId}`)
    const reading = await readingOf(captured, own)
    t.like(reading, { text, html, ...(subject !== undefined && { subject }) }, title)
    t.deepEqual(reading.files, files, title)
    t.deepEqual(field(captured, 'reading_notes', 'code'), notes, title)

    const traced = await rest.must('GET', `/v1/traces/${String(captured['trace_id'])}/message`)
    t.deepEqual(await readingOf(traced, own), reading, title)
    const path = `/v1/inbound-routes/${routeId}/messages`
    const inbound = await rest.must('GET', `${path}/${await newest(here, path)}`)
    t.deepEqual(await readingOf(inbound, own), reading, title)
    const { data } = JSON.parse(request?.body ?? '') as { readonly data: Json }
    t.deepEqual(await readingOf(data, foreign), { ...reading, html: webhookHtml }, title)
    t.is(data['is_truncated'], webhookHtml !== html || notes.some((code) => code.endsWith('_cut')), title)
    await assertTool(t, here, captureId, captured, title)
    for (const message of [captured, traced, inbound]) await assertView(t, here, message, reading, title)
    if (frame.length > 0) await assertFrame(t, here, captured, frame, title)
  }
}
