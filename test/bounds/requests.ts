/** Attacks on every operation of a daemon. New operations are included automatically. */
import { createHmac } from 'node:crypto'
import { Agent, request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { maxImportRows } from '#core/feedback/suppression/suppression-import.ts'
import { maxInflated } from '../../admin-api/bodies/signed-body.ts'
import type { MeasuredDaemon } from './daemon.ts'
import { documentAttacks } from './graphql-attacks.ts'
import { fieldBodies, filled, propertiesOf, wholeBodies, type Attack } from './json-attacks.ts'
import type { Served } from './daemon-probe.ts'
import { agentOf, hostileCalls, type ToolUser } from './tools.ts'

/** An attacking request. */
export interface Hostile {
  readonly operation: string
  readonly title: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Creates the body again for each try. */
  readonly bytes: () => Buffer
  /** Size of a compressed body after inflation. */
  readonly inflated?: number
  /** Number of durable records that it may create. */
  readonly records?: number
}

/** Extent of the attacks: the body size if its limit is larger, and the number of texts in each field. */
export interface Extent {
  readonly bodyBytes: number
  readonly texts: number
}

const kibi = 1024
const mebi = 1024 * kibi
export const operatorKey = `svcop_${'o'.repeat(43)}`
const origin = 'https://shop.example.ch'

interface Answered {
  readonly status: number
  readonly text: string
  /** Cookie that a browser would send. */
  readonly cookie: string
}

/** Sends a request, reads the response and returns its status; 0 if the daemon closed the connection. */
export class HostileClient implements Disposable {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 4 })
  readonly #target: string
  #sent = 0

  constructor(address: string) {
    this.#target = `http://${address}`
  }

  /** Each request has a different client address, so that limits per address do not hide other limits. */
  send(method: string, path: string, headers: Readonly<Record<string, string>>, bytes: Buffer): Promise<Answered> {
    const client = ++this.#sent
    const length: Record<string, string> = method === 'GET' ? {} : { 'content-length': String(bytes.length) }
    const from = { 'x-forwarded-for': `198.${18 + (client >> 16)}.${(client >> 8) & 255}.${client & 255}` }
    return new Promise((resolve) => {
      const sent = request(this.#target + path, { method, agent: this.#agent, headers: { ...from, ...length, ...headers } }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          if (text.length < 65_536) text += chunk
          if (response.headers['content-type'] === 'text/event-stream') sent.destroy() // the response would not end
        })
        const cookie = response.headers['set-cookie']?.map((each) => each.split(';')[0]).join('; ') ?? ''
        response.on('close', () => resolve({ status: response.statusCode ?? 0, text, cookie }))
      })
      sent.on('error', () => resolve({ status: 0, text: '', cookie: '' }))
      sent.end(method === 'GET' ? undefined : bytes)
    })
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}

interface Browser {
  /** Origin field of a form request. */
  readonly origin: string
  /** Cookie of a session, and the token of its forms. */
  readonly cookie: string
  readonly csrf: string
}

/** Data to attack: keys, and an id of every kind of object. */
export interface Ground {
  readonly operations: readonly Served[]
  readonly adminKey: string
  /** The owner, signed in with a browser. */
  readonly browser: Browser
  readonly publishableKey: string
  readonly agent: ToolUser
  readonly ids: ReadonlyMap<string, string>
  readonly sources: ReadonlyMap<string, { readonly id: string; readonly secret: string }>
}

const json = { 'content-type': 'application/json' }

/** Creates one object with each example request. */
export async function prepare(measured: MeasuredDaemon, client: HostileClient): Promise<Ground> {
  const { daemon } = measured
  const operations = await measured.operations()
  const authorization = `Bearer ${daemon.adminKey}`
  const ids = new Map<string, string>()
  for (const { method, path, example } of operations) {
    if (method !== 'POST' || example === undefined || path.includes('{') || !path.startsWith('/v1/')) continue
    const { status, text } = await client.send(method, path, { ...json, authorization }, Buffer.from(JSON.stringify(example)))
    const isObject = status < 300 && /^\{.*\}\s*$/.test(text) // and without lines
    const made = isObject ? (JSON.parse(text) as Record<string, unknown>) : {}
    const id = made['id'] ?? made['trace_id']
    if (typeof id === 'string') ids.set(path, id)
  }
  const sources = new Map<string, { id: string; secret: string }>()
  for (const provider of ['stalwart', 'postfix', 'mailenable', 'generic_arf']) {
    const { status, text } = await client.send(
      'POST',
      '/v1/ingest-sources',
      { ...json, authorization },
      Buffer.from(JSON.stringify({ provider })),
    )
    if (status !== 201) continue
    const { id, hmac_secret: secret } = JSON.parse(text) as { id: string; hmac_secret: string }
    sources.set(provider, { id, secret })
  }
  const key = { allowed_origins: [origin], allowed_to: ['ada@example.ch'], locked_from: 'form@example.ch', name: 'walk' }
  const { raw_token: publishableKey } = await daemon.rest.must('POST', '/v1/publishable-keys', key)
  const browser = await signIn(daemon, client)
  return {
    operations,
    adminKey: daemon.adminKey,
    browser,
    agent: await agentOf(client, measured, browser),
    publishableKey: String(publishableKey),
    ids,
    sources,
  }
}

/** Signs in with the link of the first start. */
async function signIn(daemon: MeasuredDaemon['daemon'], client: HostileClient): Promise<Browser> {
  const origin = `http://${daemon.addresses.http}`
  const [link = ''] = /\/sign-in\/link\/[\w-]+/.exec(daemon.log) ?? []
  const form = { origin, 'content-type': 'application/x-www-form-urlencoded' }
  const { cookie } = await client.send('POST', link, form, Buffer.from('email=owner%40example.ch'))
  const { text } = await client.send('GET', '/account/applications', { cookie }, Buffer.alloc(0))
  const [, csrf] = /name="csrf" value="([^"]+)"/.exec(text) ?? []
  if (csrf === undefined) throw new Error(`sign-in failed with ${link}: ${text.slice(0, 200)}`)
  return { origin, cookie, csrf }
}

/** Operations that would end sessions of the other attacks. */
const endsSession = /^(?:signOut|endSession|endOtherSessions|endOrganization|leaveOrganization|transferOwnership)$/

/** All attacks on all operations. Deletions come last, because the other attacks use their objects. */
export function* hostileRequests(ground: Ground, extent: Extent): Iterable<Hostile> {
  const order = (served: Served): number => (served.method === 'DELETE' ? 2 : served.path.includes('{') ? 1 : 0)
  for (const served of ground.operations.toSorted((a, b) => order(a) - order(b))) yield* against(served, ground, extent)
  yield* hostileCalls(ground.agent, extent)
}

function* against(served: Served, ground: Ground, extent: Extent): Iterable<Hostile> {
  const { method, scope } = served
  const key = scope === 'operator' ? operatorKey : ground.adminKey
  const { browser } = ground
  const isPage = scope === 'none' && !/^\/(?:v1|oauth)\//.test(served.path) && !endsSession.test(served.operationId)
  const authorization: Record<string, string> =
    scope !== 'none' ? { authorization: `Bearer ${key}` } : isPage ? { cookie: browser.cookie } : {}
  const path = pathOf(served, ground)
  const make = (attack: Attack, headers: Record<string, string> = {}, where = path): Hostile => ({
    ...{ ...attack, operation: served.operationId, method, path: where },
    headers: { ...authorization, ...headers },
  })
  const empty = (title: string): Attack => ({ title, bytes: () => Buffer.alloc(0) })
  for (const [title, query] of queries(served)) yield make(empty(title), {}, `${path.split('?')[0]}?${query}`)
  if (path.includes('/walk')) yield make(empty('a long path'), {}, path.replaceAll('walk', filled('%41', 12_000)))
  if (scope === 'none') yield make(empty('many cookies'), { cookie: `${browser.cookie}; ${filled('a=b; ', 14_000)}` })
  if (scope !== 'none' && scope !== 'operator')
    yield* bySession(served, ground, extent, (attack, headers, isWrong) =>
      make(attack, headers, isWrong ? `${path.split('?')[0]}?p=1` : path),
    )
  if (served.body) {
    for (const attack of jsonAttacks(served, extent)) yield make(attack, json)
    if (served.operationId === 'callGraphql') for (const attack of documentAttacks) yield make(attack, json)
    if (served.publishableBytes !== undefined)
      for (const attack of jsonAttacks({ ...served, maxBodyBytes: served.publishableBytes }, extent))
        yield make(
          { ...attack, title: `with a publishable key, ${attack.title}` },
          { ...json, origin, authorization: `Bearer ${ground.publishableKey}` },
        )
  }
  for (const type of served.streams ?? []) yield* streamAttacks(served, type, ground, extent, make)
}

/** Uses a browser session instead of the key, among as many cookies as possible. An unknown parameter keeps objects unchanged. */
function* bySession(
  { body, ...served }: Served,
  { browser }: Ground,
  extent: Extent,
  make: (attack: Attack, headers: Record<string, string>, isWrong: boolean) => Hostile,
): Iterable<Hostile> {
  const cookies = filled('a=b; ', 14_000)
  const headers = { authorization: '', cookie: `${cookies}; ${browser.cookie}`, 'sec-fetch-site': 'same-origin' }
  yield make({ title: 'by a session, with many cookies', bytes: () => Buffer.alloc(0) }, headers, true)
  const ended = browser.cookie.split('=')[0] ?? ''
  const many = filled(`${ended}=usr_${'0'.repeat(32)}.${'A'.repeat(43)}; `, 14_000)
  yield make({ title: 'by many invalid sessions', bytes: () => Buffer.alloc(0) }, { ...headers, cookie: many }, true)
  const [first] = body ? jsonAttacks({ ...served, body }, extent) : []
  if (first) yield make({ ...first, title: `by a session, ${first.title}` }, { ...json, ...headers }, false)
}

/** Returns the path with the id of an existing object, if there is one. */
function pathOf({ path, waits }: Served, { ids }: Ground): string {
  const filledIn = path.replaceAll(/\{(\w+)\}/g, (_, name: string, at: number) => {
    const id = ids.get(path.slice(0, at - 1))
    return id ?? (name === 'version' ? '1' : 'walk')
  })
  return waits ? `${filledIn}?timeout=x` : filledIn
}

function* queries({ query }: Served): Iterable<readonly [string, string]> {
  yield ['many parameters', Array.from({ length: 1300 }, (_, i) => `p${i}=1`).join('&')]
  yield ['one parameter again and again', filled('limit&', 14_000)]
  for (const name of Object.keys(propertiesOf(query ?? {}))) yield [`a long ${name}`, `${name}=${filled('a%40.', 12_000)}`]
}

function* jsonAttacks({ body = {}, example, maxBodyBytes }: Served, { bodyBytes, texts }: Extent): Iterable<Attack> {
  const size = Math.min(maxBodyBytes, bodyBytes)
  const [near = 'name'] = Object.keys(propertiesOf(body))
  yield* wholeBodies(size, near)
  yield* fieldBodies(body, example, size, texts)
  if (maxBodyBytes > mebi) yield* fullSize(maxBodyBytes, example)
}

/** A few attacks with the full size, if a body may have many megabytes. Only these show work done in one piece. */
function* fullSize(bytes: number, example: unknown): Iterable<Attack> {
  const base = { ...(example as object), subject: 'x' }
  const room = Math.min(bytes, 24 * mebi) - kibi
  const whole = (title: string, text: () => string): Attack => ({
    title: `${Math.round(room / mebi)} MiB: ${title}`,
    bytes: () => Buffer.from(text()),
  })
  yield whole('an unknown field', () => JSON.stringify({ ...base, unknown: filled('x', room) }))
  yield whole('values without end', () => `{"to":[${filled('1,', room)}1]}`)
  yield whole('no JSON', () => filled('\n', room))
  if (!('from' in base)) return
  yield whole('lines of text', () => JSON.stringify({ ...base, text: filled('hello world\n', (room * 12) / 13) }))
  yield whole('text of other characters', () => JSON.stringify({ ...base, text: filled('é\n', room / 4) }))
  yield whole('HTML in one line', () => JSON.stringify({ ...base, html: filled('<b>x</b>', room) }))
  yield whole('a file in short lines', () =>
    JSON.stringify({ ...base, attachments: [{ filename: 'a.bin', content: filled('QUJD\n', (room * 5) / 6) }] }),
  )
  yield whole('a message as a file', () => {
    const content = Buffer.from(`A: b\r\n\r\n${filled('xxxxxx\r\n', (room * 3) / 4)}`).toString('base64')
    return JSON.stringify({ ...base, attachments: [{ filename: 'a.eml', content_type: 'message/rfc822', content }] })
  })
}

/** As many rows as allowed: valid and new in each try, valid and identical, and invalid. */
function* rowAttacks(type: string): Iterable<Attack> {
  const isCsv = type === 'text/csv'
  const rowsOf = (email: (at: number) => string): string => {
    const rows = Array.from({ length: maxImportRows }, (_, at) => (isCsv ? email(at) : `{"email":"${email(at)}"}`))
    return isCsv ? `email\n${rows.join('\n')}` : `[${rows.join(',')}]`
  }
  const rows = (title: string, email: (at: number) => string): Attack => ({
    title: `${maxImportRows} rows of ${title}`,
    bytes: () => Buffer.from(rowsOf(email)),
    records: maxImportRows,
  })
  let made = isCsv ? 0 : 50 * maxImportRows
  yield rows('new addresses', () => `somebody${made++}@example.ch`)
  yield rows('new short addresses', () => `${(made++).toString(36)}@b.c`)
  yield rows('one address', () => 'a@b.c')
  yield rows('no address', () => 'a')
}

const deepLine = '{"a":[{"a":['
/** Streamed bodies by their media type: forms, tables, logs and mails. */
function* streamAttacks(
  served: Served,
  type: string,
  ground: Ground,
  extent: Extent,
  make: (attack: Attack, headers?: Record<string, string>, where?: string) => Hostile,
): Iterable<Hostile> {
  const size = Math.min(served.maxBodyBytes, Math.max(extent.bodyBytes, 512 * kibi))
  if (served.operationId === 'importSuppressions') for (const attack of rowAttacks(type)) yield make(attack, { 'content-type': type })
  const isForm = type === 'application/x-www-form-urlencoded'
  const units = isForm
    ? ['a=b&', 'email=', 'a', '%41', '&', 'email=a@b&', 'token=x&csrf=y&', 'name=', 'id=x&', 'scope=api:read&']
    : [
        'x',
        '\n',
        'x\n',
        '"',
        ',',
        '",\n',
        '[',
        deepLine,
        '{"email":"a@b.ch"},',
        '[{"email":"a@b.ch"},',
        'email\na@b.ch\n',
        'a@b.ch,b,c\n',
        ' ',
        '\0',
        'A: 1\r\n',
        'Nov 22 10:00:00 mx postfix/smtp[1]: A1: to=<a@b.ch>, status=sent (250 ok)\n',
        '{"events":[{"type":"x"},',
        '2026-11-22T10:00:00Z INFO x\n',
        '11/22/26 10:00:00 SMTP-OU A.MAI 1 1.2.3.4 RCPT TO:<a@b.ch> 250 ok 1 1\n',
        '--b\r\n\r\nx\r\n',
        'To: a@b,\r\n c@d,\r\n',
      ]
  for (const unit of units) {
    const start = isForm ? `csrf=${encodeURIComponent(ground.browser.csrf)}&` : ''
    const bytes = (): Buffer => Buffer.from(start + filled(unit, size - start.length))
    const title = `${JSON.stringify(unit)} again and again`
    if (!served.path.startsWith('/v1/ingest/')) yield make({ title, bytes }, { 'content-type': type, origin: ground.browser.origin })
    else yield* signed(served, { title, bytes }, size, type, ground, make)
  }
}

/** Signed bodies: plain, and compressed with a high ratio. */
function* signed(
  served: Served,
  attack: Attack,
  size: number,
  type: string,
  { sources }: Ground,
  make: (attack: Attack, headers?: Record<string, string>, where?: string) => Hostile,
): Iterable<Hostile> {
  const providers = ['stalwart', 'postfix', 'mailenable', 'generic_arf'].filter(
    (name) => served.path.includes(name) || !/stalwart|mailenable/.test(served.path),
  )
  const sourceName = served.path.endsWith('/logs') ? 'postfix' : (providers[0] ?? '')
  const source = sources.get(sourceName) ?? [...sources.values()][0]
  if (!source) return
  const log = served.path.endsWith('/logs') ? '&source=postfix' : ''
  const where = `${served.path.replaceAll(/\{\w+\}/g, 'walk')}?source_id=${source.id}${log}`
  for (const zipped of [false, true]) {
    const bytes = zipped ? (): Buffer => packed(attack.bytes()) : attack.bytes
    const sum = createHmac('sha256', source.secret).update(bytes()).digest('hex')
    const headers = { 'content-type': type, 'x-service-signature': `sha256=${sum}`, ...(zipped && { 'content-encoding': 'gzip' }) }
    const title = zipped ? `${attack.title}, compressed` : attack.title
    yield make({ title, bytes, ...(zipped && { inflated: size }) }, headers, where)
  }
}

/** Compresses with the smallest size that may inflate to this much, filled with gzip members that inflate to nothing. */
function packed(bytes: Buffer): Buffer {
  const pieces = [gzipSync(bytes)]
  const nothing = gzipSync('')
  for (let length = pieces[0]?.length ?? 0; maxInflated(length, Infinity) < bytes.length; length += nothing.length) pieces.push(nothing)
  return Buffer.concat(pieces)
}
