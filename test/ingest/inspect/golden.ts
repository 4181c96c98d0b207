/** Two mails without any finding, with their DNS and session. Each test changes one fact. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { digestMessage, dkimSignature } from '#core/domains/dkim-signature.ts'
import type { InspectSession } from '#core/inspect/report.ts'
import type { DnsList } from '#ingest/dns/resolve.ts'
import type { InspectInput } from '#ingest/inspect/facts/score-input.ts'
import { StubDns, type Zone } from './stub-dns.ts'

export const now = Date.UTC(2026, 10, 21, 12, 0, 5)
export const clientIp = '203.0.113.25'

const pair = (bits: number): { privateKey: KeyObject; publicKey: KeyObject } => generateKeyPairSync('rsa', { modulusLength: bits })
const made = new Map<number, ReturnType<typeof pair>>()
/** Caches one key of each size for the whole run, because key generation is slow. */
export function rsaKey(bits = 2048): ReturnType<typeof pair> {
  const key = made.get(bits) ?? pair(bits)
  made.set(bits, key)
  return key
}

const published = (key: KeyObject): string => key.export({ type: 'spki', format: 'der' }).toString('base64')
export const keyRecord = (key: KeyObject, tags = ''): string => `v=DKIM1; k=rsa;${tags} p=${published(key)}`

const lists: readonly DnsList[] = [
  { zone: 'major.ip.test', kind: 'ip', weight: 'major', ignore: [] },
  { zone: 'minor.ip.test', kind: 'ip', weight: 'minor', ignore: ['127.0.0.1'] },
  { zone: 'major.domain.test', kind: 'domain', weight: 'major', ignore: [] },
  { zone: 'minor.domain.test', kind: 'domain', weight: 'minor', ignore: [] },
]

const zone = (): Zone => ({
  'shop.example.com TXT': [['v=spf1 ip4:203.0.113.0/24 ip6:2001:db8::/32 -all']],
  'k1._domainkey.example.com TXT': [[keyRecord(rsaKey().publicKey)]],
  '_dmarc.example.com TXT': [['v=DMARC1; p=reject; rua=mailto:dmarc@example.com']],
  '25.113.0.203.in-addr.arpa PTR': ['mail.example.com'],
  'mail.example.com A': [clientIp],
  'example.com MX': [{ exchange: 'mx.example.com', priority: 10 }],
  'shop.example.com MX': [{ exchange: 'mx.example.com', priority: 10 }],
  'mx.example.com A': ['203.0.113.26'],
  'mx.example.com CNAME': 'ENODATA',
  'example.com SOA': [{ nsname: 'ns.example.com' }],
  '_25._tcp.mx.example.com TLSA': [{ certUsage: 3 }],
  '_smtp._tls.example.com TXT': [['v=TLSRPTv1; rua=mailto:tls@example.com']],
})

const session: InspectSession = {
  clientIp,
  helo: 'mail.example.com',
  mailFrom: 'bounce@shop.example.com',
  rcptTo: 'abcdefghijklmnopqrstuvwxyz@in.postern.test',
  tls: { protocol: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384' },
  tlsOffered: true,
  serverName: 'mx.postern.test',
  smtpUtf8: false,
  receivedAt: now,
}

export type Header = Readonly<Record<string, string | readonly string[] | null>>

/** The changes of a test. `null` removes a header field, an array repeats it. */
export interface Changes {
  readonly header?: Header
  readonly body?: string
  readonly session?: Partial<InspectSession>
  readonly zone?: Record<string, Zone[string] | undefined>
  readonly lists?: readonly DnsList[]
  readonly fetchPolicy?: InspectInput['fetchPolicy']
  /** Adds signatures or other fields at the beginning. Default: the usual signature. */
  readonly sign?: (message: string) => string | Promise<string>
  /** Changes the octets after signing. */
  readonly after?: (message: string) => string
}

const bodyText =
  'Your order of the blue teapot is on its way and will reach you on Monday. You can follow the parcel with the number below.'
const html = (body: string): string => `<!DOCTYPE html><html><head><title>Order</title></head><body>${body}</body></html>`

export const alternative = (text: string, markup: string): string =>
  `--b1\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${text}\r\n--b1\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${markup}\r\n--b1--\r\n`

const header: Header = {
  From: 'Example Shop <orders@example.com>',
  To: 'Ada <ada@in.postern.test>',
  Subject: 'Your order 1042 is on its way',
  Date: 'Sat, 21 Nov 2026 12:00:00 +0000',
  'Message-ID': '<order-1042@example.com>',
  'MIME-Version': '1.0',
  'Content-Type': 'multipart/alternative; boundary="b1"',
}

const letterBody = alternative(
  `${bodyText}\r\nhttps://www.example.com/orders/1042`,
  html(
    `<p>${bodyText}</p><img src="https://www.example.com/pot.png" alt="Blue teapot" width="200"><p><a href="https://www.example.com/orders/1042">Follow the parcel</a></p>`,
  ),
)

const newsletterHeader: Header = {
  ...header,
  Subject: 'New teapots in November',
  'List-Id': 'Example Shop news <news.example.com>',
  'List-Unsubscribe': '<https://www.example.com/unsubscribe/abc>, <mailto:leave@example.com>',
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
}

const newsletterBody = alternative(
  `${bodyText}\r\nTo unsubscribe: https://www.example.com/unsubscribe/abc`,
  html(
    `<div style="display:none">Teapots for the winter</div><p>${bodyText}</p><p><a href="https://www.example.com/unsubscribe/abc">Unsubscribe</a></p>`,
  ),
)

/** The input of a report, with the DNS answers. */
export interface Golden extends InspectInput {
  readonly dns: StubDns
  readonly lists: readonly DnsList[]
}

export const letter = (changes: Changes = {}): Promise<Golden> => build(header, letterBody, changes)
export const newsletter = (changes: Changes = {}): Promise<Golden> => build(newsletterHeader, newsletterBody, changes)

/** The DKIM-Signature field that this service writes. */
export async function signed(
  message: string,
  { bits = 2048, domain = 'example.com', selector = 'k1', at = now - 5000 } = {},
): Promise<string> {
  const digest = await digestMessage([Buffer.from(message, 'latin1')])
  if (!digest) throw new Error('the message cannot be signed')
  return dkimSignature(digest, { algorithm: 'rsa', domain, selector, privateKey: rsaKey(bits).privateKey }, at)
}

async function build(fields: Header, usualBody: string, changes: Changes): Promise<Golden> {
  const { sign = signed, after = (text) => text } = changes
  const lines = Object.entries({ ...fields, ...changes.header }).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one === null ? [] : [`${name}: ${one}\r\n`])),
  )
  const message = Buffer.from(`${lines.join('')}\r\n${changes.body ?? usualBody}`, 'utf8').toString('latin1')
  const whole = after((await sign(message)) + message)
  const records = Object.entries({ ...zone(), ...changes.zone }).filter(([, value]) => value !== undefined) as [string, Zone[string]][]
  const dns = new StubDns(Object.fromEntries(records))
  return {
    ...{ raw: Buffer.from(whole, 'latin1'), session: { ...session, ...changes.session }, resolve: dns.resolve, dns, now },
    lists: changes.lists ?? lists,
    ...(changes.fetchPolicy && { fetchPolicy: changes.fetchPolicy }),
  }
}
