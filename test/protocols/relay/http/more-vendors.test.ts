/** Vendor behavior beyond the contract: regions, refused recipients, header fields, tokens. */
import test from '#test'
import { brevo } from '../../../../protocols/relay/http/vendors/brevo.ts'
import { mailersend } from '../../../../protocols/relay/http/vendors/mailersend.ts'
import { mailjet } from '../../../../protocols/relay/http/vendors/mailjet.ts'
import { msgraph } from '../../../../protocols/relay/http/vendors/msgraph.ts'
import { scaleway } from '../../../../protocols/relay/http/vendors/scaleway.ts'
import { smtp2go } from '../../../../protocols/relay/http/vendors/smtp2go.ts'
import { sparkpost } from '../../../../protocols/relay/http/vendors/sparkpost.ts'
import { makeVendors } from '../../../../protocols/relay/http/vendors/vendors.ts'
import {
  VendorRefusal,
  type Credentials,
  type MessageFields,
  type OutgoingMessage,
  type Vendor,
  type VendorAnswer,
  type VendorContext,
  type VendorRequest,
} from '../../../../protocols/relay/http/contract/vendor.ts'

const fields: MessageFields = {
  from: { name: 'The Shop', address: 'shop@site.test' },
  to: [{ name: 'Zoë "Z" Ünal', address: 'zoe@peer.test' }],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: 'Hello',
  text: 'Hello.',
  html: '<img src="cid:logo@site">',
  headers: [
    { name: 'Message-ID', value: '<1@site.test>' },
    { name: 'In-Reply-To', value: '<0@site.test>' },
    { name: 'References', value: '<a@site.test> <0@site.test>' },
    { name: 'X-Service-Ref', value: 'ref-1' },
  ],
  attachments: [{ filename: 'l.png', contentType: 'image/png', content: Buffer.from('png'), contentId: 'logo@site', inline: true }],
}

const letter = 'From: shop@site.test\r\nTo: zoe@peer.test\r\nSubject: Hello {{name}}\r\n\r\nHello.\r\n'

function messageOf(mime: string | Buffer = letter, changes: Partial<MessageFields> = {}, rcptTo = ['zoe@peer.test']): OutgoingMessage {
  const content = Buffer.from(mime)
  return {
    traceId: 'trace-1',
    mailFrom: 'bounce@site.test',
    rcptTo,
    mime: () => Promise.resolve(content),
    fields: () => Promise.resolve({ ...fields, ...changes }),
  }
}

const nothingAsked = (): Promise<never> => Promise.reject(new Error('nothing is asked'))
const contextOf = (changes: Partial<VendorContext> = {}): VendorContext => ({ base: undefined, nowMs: 0, ask: nothingAsked, ...changes })
const bodyOf = ({ body }: VendorRequest): Record<string, unknown> => JSON.parse(String(body)) as Record<string, unknown>
const answerOf = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): VendorAnswer => ({
  status,
  headers,
  text: JSON.stringify(body),
})
const send = async (vendor: Vendor, credentials: Credentials = {}, message = messageOf()) =>
  bodyOf(await vendor.send(credentials, message, contextOf()))

const places: readonly (readonly [Vendor, Credentials, string])[] = [
  [mailjet, {}, 'https://api.mailjet.com/v3.1/send'],
  [mailjet, { region: 'us' }, 'https://api.us.mailjet.com/v3.1/send'],
  [sparkpost, {}, 'https://api.sparkpost.com/api/v1/transmissions?num_rcpt_errors=1'],
  [sparkpost, { region: 'eu' }, 'https://api.eu.sparkpost.com/api/v1/transmissions?num_rcpt_errors=1'],
  [mailersend, {}, 'https://api.mailersend.com/v1/email'],
  [smtp2go, {}, 'https://api.smtp2go.com/v3/email/mime'],
  [smtp2go, { region: 'eu' }, 'https://eu-api.smtp2go.com/v3/email/mime'],
  [scaleway, {}, 'https://api.scaleway.com/transactional-email/v1alpha1/regions/fr-par/emails'],
  [scaleway, { region: 'nl-ams' }, 'https://api.scaleway.com/transactional-email/v1alpha1/regions/nl-ams/emails'],
]

for (const [vendor, credentials, url] of places)
  test(`${vendor.provider}: ${JSON.stringify(credentials)} uses ${new URL(url).host}`, async (t) => {
    t.is((await vendor.send(credentials, messageOf(), contextOf())).url, url)
    t.is(new URL((await vendor.probe(credentials, contextOf())).url).host, new URL(url).host)
    const elsewhere = await vendor.send(credentials, messageOf(), contextOf({ base: 'https://inside.test:8443' }))
    t.is(new URL(elsewhere.url).origin, 'https://inside.test:8443')
  })

const partly: readonly (readonly [Vendor, VendorAnswer, string | undefined])[] = [
  [
    mailersend,
    answerOf(
      202,
      { warnings: [{ type: 'SOME_SUPPRESSED', recipients: [{ email: 'b@peer.test', reasons: ['blocklisted'] }] }] },
      { 'x-message-id': '5e42' },
    ),
    '5e42',
  ],
  [
    scaleway,
    answerOf(200, {
      emails: [
        { id: 'e1', mail_rcpt: 'a@peer.test', status: 'new' },
        { id: 'e2', mail_rcpt: 'b@peer.test', status: 'failed' },
      ],
    }),
    'e1',
  ],
  [smtp2go, answerOf(200, { data: { succeeded: 1, failed: 1, failures: ['b@peer.test is suppressed'], email_id: '1er' } }), '1er'],
  [
    sparkpost,
    answerOf(200, {
      results: {
        ...{ total_accepted_recipients: 1, total_rejected_recipients: 1, id: '116' },
        rcpt_to_errors: [{ message: 'invalid data', description: 'Error validating domain name for recipient b@peer.test', code: '1300' }],
      },
    }),
    '116',
  ],
]

for (const [vendor, answer, messageId] of partly)
  test(`${vendor.provider}: reports refused recipients of an accepted message`, (t) => {
    t.deepEqual(vendor.read(answer), { kind: 'accepted', messageId, refused: ['b@peer.test'] })
  })

/** Statuses of accepting answers other than 200. */
const accepting: Readonly<Record<string, number>> = { sendgrid: 202, mailersend: 202, msgraph: 202, brevo: 201 }

const nobody: readonly (readonly [Vendor, VendorAnswer])[] = [
  [scaleway, answerOf(200, { emails: [{ id: 'e2', mail_rcpt: 'b@peer.test', status: 'failed', status_details: 'blocklisted' }] })],
  [smtp2go, answerOf(200, { data: { succeeded: 0, failed: 1, failures: ['b@peer.test is suppressed'], email_id: '1er' } })],
  [sparkpost, answerOf(200, { results: { total_accepted_recipients: 0, total_rejected_recipients: 1, id: '116' } })],
  [mailjet, answerOf(200, { Messages: [{ Status: 'error', Errors: [{ ErrorCode: 'mj-0013', StatusCode: 400, ErrorMessage: 'no' }] }] })],
]

for (const [vendor, answer] of nobody)
  test(`${vendor.provider}: permanent if all recipients are refused, with any status`, (t) => {
    t.is(vendor.read(answer).kind, 'permanent')
  })

for (const [name, vendor] of Object.entries(makeVendors()))
  test(`${name}: an unreadable 2xx answer is accepted, to avoid a second message`, (t) => {
    for (const text of ['', 'OK', '{"id":"1', '[]', '{}'])
      t.is(vendor.read({ status: accepting[name] ?? 200, headers: {}, text }).kind, 'accepted', text)
  })

test('sparkpost: disables substitutions; refuses bytes that are not UTF-8', async (t) => {
  const body = await send(sparkpost)
  t.deepEqual(body['content'], { email_rfc822: letter })
  t.like(body['options'], { perform_substitutions: false, open_tracking: false, click_tracking: false })
  const error = await t.throwsAsync(send(sparkpost, {}, messageOf(Buffer.from([...Buffer.from(letter), 0xe9]))), {
    instanceOf: VendorRefusal,
  })
  t.like(error?.verdict, { kind: 'permanent', code: 'not_utf8' })
})

test('mailjet: keeps inline images; omits reserved headers', async (t) => {
  const [message] = (await send(mailjet))['Messages'] as Record<string, unknown>[]
  t.deepEqual(message?.['Headers'], { 'In-Reply-To': '<0@site.test>', References: '<a@site.test> <0@site.test>', 'X-Service-Ref': 'ref-1' })
  t.deepEqual(message?.['InlinedAttachments'], [
    { Filename: 'l.png', ContentType: 'image/png', Base64Content: 'cG5n', ContentID: 'logo@site' },
  ])
  t.deepEqual(message?.['Attachments'], [])
})

test('mailersend: custom headers only if allowed; threading always', async (t) => {
  const plain = await send(mailersend)
  t.like(plain, { in_reply_to: '<0@site.test>', references: ['<a@site.test>', '<0@site.test>'] })
  t.false('headers' in plain)
  t.deepEqual((await send(mailersend, { custom_headers: 'yes' }))['headers'], [{ name: 'X-Service-Ref', value: 'ref-1' }])
})

test('smtp2go: sends fields for hidden recipients, so that no Bcc is visible', async (t) => {
  const hidden = messageOf(letter, { bcc: [{ name: '', address: 'b@peer.test' }] }, ['zoe@peer.test', 'b@peer.test'])
  const request = await smtp2go.send({}, hidden, contextOf())
  t.is(new URL(request.url).pathname, '/v3/email/send')
  t.like(bodyOf(request), { to: ['"Zoë \\"Z\\" Ünal" <zoe@peer.test>'], bcc: ['b@peer.test'], sender: '"The Shop" <shop@site.test>' })
})

const application = { tenant: 'site.test', client_id: 'app', client_secret: 'hidden', mailbox: 'shop@site.test' }

test('msgraph: caches a token until it is old or refused', async (t) => {
  const asked: VendorRequest[] = []
  const ask = (request: VendorRequest): Promise<VendorAnswer> => {
    asked.push(request)
    return Promise.resolve(answerOf(200, { access_token: `token-${asked.length}`, expires_in: 3600 }))
  }
  const vendor = msgraph()
  const tokenAt = async (nowMs: number): Promise<string | undefined> =>
    (await vendor.send(application, messageOf(), contextOf({ base: 'https://once.test', nowMs, ask }))).headers['authorization']
  t.is(await tokenAt(0), 'Bearer token-1')
  t.is(await tokenAt(9 * 60_000), 'Bearer token-1')
  t.is(await tokenAt(11 * 60_000), 'Bearer token-2')
  t.is(vendor.read(answerOf(401, { error: { code: 'InvalidAuthenticationToken' } })).kind, 'misconfigured')
  t.is(await tokenAt(11 * 60_000), 'Bearer token-3')
  t.is(asked[0]?.url, 'https://once.test/site.test/oauth2/v2.0/token')
})

test("msgraph: reports Microsoft's token error without the secret", async (t) => {
  for (const [status, body, kind] of [
    [401, { error: 'invalid_client', error_description: 'AADSTS7000215: hidden is wrong' }, 'misconfigured'],
    [503, {}, 'transient'],
  ] as const) {
    const ask = (): Promise<VendorAnswer> => Promise.resolve(answerOf(status, body))
    const attempt = msgraph().send(application, messageOf(), contextOf({ base: `https://refused-${status}.test`, ask }))
    const error = await t.throwsAsync(attempt, { instanceOf: VendorRefusal })
    t.is(error?.verdict.kind, kind)
    t.false(error?.message.includes('hidden'))
  }
})

test('msgraph: supports the national clouds', async (t) => {
  const urls: string[] = []
  const ask = (request: VendorRequest): Promise<VendorAnswer> => {
    urls.push(request.url)
    return Promise.resolve(answerOf(200, { access_token: 'x', expires_in: 3600 }))
  }
  for (const cloud of ['global', 'us_gov', 'us_dod', 'china'])
    urls.push((await msgraph().send({ ...application, cloud }, messageOf(), contextOf({ ask }))).url)
  t.deepEqual(
    urls.map((url) => new URL(url).host),
    [
      ...['login.microsoftonline.com', 'graph.microsoft.com', 'login.microsoftonline.us', 'graph.microsoft.us'],
      ...['login.microsoftonline.us', 'dod-graph.microsoft.us', 'login.partner.microsoftonline.cn', 'microsoftgraph.chinacloudapi.cn'],
    ],
  )
})

test('brevo: encodes non-ASCII header fields', async (t) => {
  const headers = [
    { name: 'X-Campaign', value: 'Grüße' },
    { name: 'X-Service-Ref', value: 'ref-1' },
  ]
  t.deepEqual((await send(brevo, {}, messageOf(letter, { headers })))['headers'], {
    'X-Campaign': `=?UTF-8?B?${Buffer.from('Grüße').toString('base64')}?=`,
    'X-Service-Ref': 'ref-1',
  })
})
