/** Every part of a request to another service has an effect, or the trace names it as ignored. */
import test, { type ExecutionContext } from '#test'
import { simpleParser } from 'mailparser'
import { makeDestination, makeRoute } from '../../../support/daemon/provision.ts'
import { startDaemon, type StartedDaemon } from '../../../support/daemon/start-daemon.ts'
import type { RestAnswer } from '../../../support/daemon/rest.ts'
import { Sink } from '../../../support/smtp/sink.ts'
import { brevo } from './brevo-fields.ts'
import type { FullRequest } from './full-request.ts'
import { mailersend } from './mailersend-fields.ts'
import { mailgun } from './mailgun-fields.ts'
import { mailjet } from './mailjet-fields.ts'
import { postmark } from './postmark-fields.ts'
import { resend } from './resend-fields.ts'
import { sendgrid } from './sendgrid-fields.ts'
import { ses } from './ses-fields.ts'
import { sparkpost } from './sparkpost-fields.ts'

const services = { resend, sendgrid, postmark, mailgun, brevo, mailersend, sparkpost, mailjet, ses }

type Request = Pick<FullRequest, 'path' | 'body' | 'files'>

/** Path of a part as in traces, and the request without this part. */
interface Part {
  readonly path: string
  readonly without: Request
}

const isLeaf = (value: unknown): boolean => typeof value !== 'object' || value === null
const saysNothing = (value: unknown): boolean => value === null || value === false || value === ''

/** Yields every value of an object with its path, and a copy without the value. */
function* leavesOf(value: object, path = ''): Generator<readonly [path: string, without: unknown]> {
  for (const [name, inner] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
    const withOther = (other: unknown[]): unknown => {
      if (Array.isArray(value)) return value.toSpliced(Number(name), 1, ...other)
      return Object.fromEntries(Object.entries(value).flatMap(([key, own]) => (key === name ? other.map((it) => [key, it]) : [[key, own]])))
    }
    if (!isLeaf(inner)) for (const [below, without] of leavesOf(inner as object, at)) yield [below, withOther([without])]
    else if (!saysNothing(inner)) yield [at, withOther([])]
  }
}

function partsOf(request: Request): Part[] {
  const { path, body, files } = request
  const [address = '', query] = path.split('?')
  return [
    ...[...leavesOf(body)].map(([at, without]) => ({ path: at, without: { ...request, body: without as Request['body'] } })),
    ...Object.keys(files ?? {}).map((at) => ({
      path: at,
      without: { ...request, files: Object.fromEntries(Object.entries(files ?? {}).filter(([name]) => name !== at)) },
    })),
    ...(query === undefined ? [] : [{ path: `?${query.replace(/=.*/, '')}`, without: { ...request, path: address } }]),
  ]
}

async function posted({ rest, addresses }: StartedDaemon, { path, body, files }: Request): Promise<RestAnswer> {
  if (!files) return rest.call('POST', path, body)
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) form.append(name, String(value))
  for (const [name, content] of Object.entries(files)) form.append(name, new Blob([content], { type: 'text/csv' }), `${content}.bin`)
  const encoded = new Response(form)
  const type = encoded.headers.get('content-type') ?? ''
  return rest.call('POST', `http://${addresses.http}${path}`, Buffer.from(await encoded.arrayBuffer()), { 'content-type': type })
}

interface Outcome {
  readonly id: string
  readonly ignored: readonly string[]
  /** The mail and its trace without ids, or the refusal. */
  readonly seen: string
}

interface Trace {
  readonly held: boolean
  readonly next_attempt_at: string | null
  readonly timeline: readonly { readonly event: string; readonly detail: { readonly ignored_fields?: readonly string[] } }[]
}

/** Sends a request and returns everything that is observable about its message. */
async function outcomeOf(daemon: StartedDaemon, request: Request): Promise<Outcome> {
  const { status, headers, bytes } = await posted(daemon, request)
  const [id] = /[\da-f]{8}-[\da-f]{4}-4[\da-f-]{21}/.exec(`${String(headers['x-message-id'])} ${bytes.toString()}`) ?? []
  if (status >= 300 || id === undefined) return { id: '', ignored: [], seen: `${String(status)} ${bytes.toString()}` }
  const trace = (await daemon.rest.must('GET', `/v1/traces/${id}`)) as unknown as Trace
  const { bytes: raw } = await daemon.rest.call('GET', `/v1/traces/${id}/message/raw`)
  const { headerLines, html, text, attachments } = await simpleParser(raw, { skipImageLinks: true })
  const files = attachments.map(({ filename, contentType, contentDisposition, cid, content }) => [
    ...[filename, contentType, contentDisposition, cid, content.toString()],
  ])
  // a hold can change these at any time after acceptance
  const { timeline, held: _held, next_attempt_at: _next, ...shown } = trace
  const [ignored = []] = timeline.flatMap(({ event, detail }) => (event === 'dialect' ? [detail.ignored_fields ?? []] : []))
  const mail = [headerLines, html, text, files]
  const seen = JSON.stringify([shown, timeline.filter(({ event }) => event !== 'dialect' && event !== 'held'), mail])
  return { id, ignored: ignored.toSorted(), seen: withoutIds(seen, id) }
}

/** Removes values that differ between two equal requests have the same effect. */
const withoutIds = (text: string, id: string): string =>
  text
    .replaceAll(id, 'ID')
    .replaceAll(/boundary=\\*"[^"\\]*\\*"/g, 'boundary')
    .replaceAll(/https:\/\/post\.example\.ch\/[^\s>"\\]+/g, 'https://post.example.ch/')
    .replaceAll(/"(?:size|sha256|content_sha256)":[^,}]*/g, '')

/** Returns whether the trace reports the field or its parent. `[]` in a name matches each entry of a list. */
function isAmong(names: readonly string[], path: string): boolean {
  const plain = path.replaceAll(/\[\d+\]/g, '[]')
  return names.some((name) => [path, plain].some((one) => one === name || one.startsWith(`${name}.`) || one.startsWith(`${name}[`)))
}

async function started(t: ExecutionContext): Promise<StartedDaemon> {
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const env = { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32', POSTERN_BASE_URL: 'https://post.example.ch' }
  const daemon = await startDaemon(t, { env })
  await makeRoute(daemon.rest, await makeDestination(daemon.rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  await daemon.rest.must('POST', '/v1/queue/holds', { filter: {}, reason: 'Nothing changes a trace' })
  for (const [slug, text_tmpl] of Object.entries({ word: '{{n}}', words: '{{n}} {{m}}' })) {
    const { id } = await daemon.rest.must('POST', '/v1/templates', { name: slug, slug, subject_tmpl: '{{n}}', text_tmpl })
    await daemon.rest.must('PUT', `/v1/templates/${String(id)}`, { subject_tmpl: '{{n}}', text_tmpl: `${text_tmpl}!` })
  }
  return daemon
}

test('ignored fields: reported at any position of a long list, for its message', async (t) => {
  const daemon = await started(t)
  const many = Array.from({ length: 60 }, (_, i) => `p${String(i)}@example.net`)
  const tags = many.map((name, i) => ({ name, value: 'x', ...(i === 50 && { note: 'x' }) }))
  const single = { path: '/emails', body: { from: 'shop@example.ch', to: 'ada@example.net', text: 't', tags } }
  t.true((await outcomeOf(daemon, single)).ignored.includes('tags[].note'))
  const personalizations = many.map((email, i) => ({ to: [{ email }], ...(i === 50 && { note: 'x' }) }))
  const mail = { from: { email: 'shop@example.ch' }, subject: 's', content: [{ type: 'text/plain', value: 't' }], personalizations }
  t.is((await daemon.rest.call('POST', '/v3/mail/send', mail)).status, 202)
  const found: string[] = []
  for await (const { trace_id: id, to } of daemon.rest.rows('/v1/traces')) {
    const { timeline } = (await daemon.rest.must('GET', `/v1/traces/${String(id)}`)) as unknown as Trace
    const [ignored] = timeline.flatMap(({ event, detail }) => (event === 'dialect' ? [detail.ignored_fields] : []))
    if (!many.includes(String(to))) continue
    found.push(String(to))
    t.deepEqual(ignored, String(to) === many[50] ? ['personalizations[50].note'] : [], String(to))
  }
  t.deepEqual(found.toSorted(), many.toSorted())
})

for (const [service, requests] of Object.entries(services))
  test(`${service}: every part of a full request has an effect or is reported as ignored`, async (t) => {
    const daemon = await started(t)
    for (const request of requests) {
      const { ignored, seen } = await outcomeOf(daemon, request)
      t.deepEqual(ignored, request.ignored.toSorted(), `${request.path}: ${seen.slice(0, 500)}`)
      t.is((await outcomeOf(daemon, request)).seen, seen, 'two equal requests have the same effect')
      for (const { path, without } of partsOf(request)) {
        const other = await outcomeOf(daemon, without)
        t.true(isAmong(ignored, path) || other.seen !== seen, `${request.path}: ${path} is lost`)
        if (ignored.includes(path) && other.id !== '') t.is(other.seen, seen, `${request.path}: ${path} has an effect`)
      }
    }
  })
