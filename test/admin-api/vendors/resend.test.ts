/** Resend's client: schedules, rescheduling, cancellation, look-ups, and batches with their own results. */
import test, { type ExecutionContext } from '#test'
import { Resend } from 'resend'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { adminKey, startDaemon, type StartedDaemon } from '../../support/daemon/start-daemon.ts'
import { FakeClock, startOfTime } from '../../support/fake-clock.ts'
import { Sink } from '../../support/smtp/sink.ts'

const hour = 3_600_000
const at = (hours: number): string => new Date(startOfTime + hours * hour).toISOString()
const plain = { from: 'Shop <shop@example.ch>', to: 'ada@example.net', subject: 'Your order', text: 'Thank you.' }

interface Started {
  readonly daemon: StartedDaemon
  readonly clock: FakeClock
  readonly sink: Sink
  /** Returns the client with a key of these settings. */
  readonly clientOf: (settings: object) => Promise<Resend>
  readonly client: Resend
}

async function started(t: ExecutionContext): Promise<Started> {
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const clock = new FakeClock()
  const daemon = await startDaemon(t, { env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' }, replacements: { clock } })
  const { rest } = daemon
  await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  const clientWith = (key: string) => new Resend(key, { baseUrl: `http://${daemon.addresses.http}` })
  return {
    ...{ daemon, clock, sink, client: clientWith(adminKey) },
    async clientOf(settings) {
      const { key } = await rest.must('POST', '/v1/api-keys', { name: 'other', ...settings })
      return clientWith(String(key))
    },
  }
}

/** Returns the data for the client; fails the test on an error. */
function must<T>({ data, error }: { readonly data: T | null; readonly error: { readonly message: string } | null }): T {
  if (data === null) throw new Error(error?.message)
  return data
}

test('Resend: a scheduled mail is looked up, rescheduled and canceled, or sent once', async (t) => {
  const { client, clock, sink } = await started(t)
  const { id } = must(
    await client.emails.send({
      ...plain,
      ...{ cc: 'cy@example.net', bcc: ['bea@example.net'], replyTo: ['Help <help@example.ch>', 'two@example.ch'] },
      ...{ html: '<p>Thank you.</p>', scheduledAt: at(1), tags: [{ name: 'kind', value: 'order' }] },
    }),
  )
  const other = must(await client.emails.send({ ...plain, scheduledAt: 'in 1 hour' }))
  const { message_id, html, ...seen } = must(await client.emails.get(id))
  t.regex(message_id, /^<.+@.+>$/)
  t.true(html?.includes('<p>Thank you.</p>'))
  t.deepEqual(seen as unknown, {
    ...{ object: 'email', id, from: 'Shop <shop@example.ch>', to: ['ada@example.net'], subject: 'Your order', text: 'Thank you.' },
    ...{ cc: ['cy@example.net'], bcc: ['bea@example.net'], reply_to: ['Help <help@example.ch>', 'two@example.ch'], topic_id: null },
    ...{ tags: [{ name: 'kind', value: 'order' }], created_at: at(0), scheduled_at: at(1), last_event: 'scheduled' },
  })
  t.deepEqual(must(await client.emails.update({ id, scheduledAt: at(2) })), { object: 'email', id })
  t.is(must(await client.emails.get(id)).scheduled_at, at(2))
  t.deepEqual(must(await client.emails.cancel(other.id)), { object: 'email', id: other.id })
  t.like(must(await client.emails.get(other.id)), { last_event: 'canceled' })
  clock.advance(2 * hour)
  await sink.delivered(({ to }) => to.includes('bea@example.net'))
  t.is(sink.deliveries.length, 1)
  const { error } = await client.emails.update({ id, scheduledAt: at(9) })
  t.is(error?.statusCode, 409)
  t.regex(String(error?.message), /^It is too late/)
})

test('Resend: failed look-ups and changes are client errors; foreign ids are not found', async (t) => {
  const { client, clientOf, daemon } = await started(t)
  const { id } = must(await client.emails.send({ ...plain, scheduledAt: at(1) }))
  const atOnce = must(await client.emails.send(plain))
  const { id: project } = await daemon.rest.must('POST', '/v1/projects', { name: 'Other' })
  const outsider = await clientOf({ scopes: ['api:send'], project_id: project })
  const reader = await clientOf({ scopes: ['api:read'] })
  const sender = await clientOf({ send_only: true })
  const cases = [
    [await outsider.emails.get(id), 404, 'not_found'],
    [await outsider.emails.cancel(id), 404, 'not_found'],
    [await outsider.emails.update({ id, scheduledAt: at(2) }), 404, 'not_found'],
    [await client.emails.get('x'.repeat(500)), 404, 'not_found'],
    [await client.emails.cancel(atOnce.id), 404, 'not_found'],
    [await client.emails.update({ id, scheduledAt: 'soon' }), 422, 'validation_error'],
    [await client.emails.update({ id, scheduledAt: at(100) }), 422, 'validation_error'],
    [await client.emails.update({ id } as never), 422, 'validation_error'],
    [await reader.emails.cancel(id), 401, 'restricted_api_key'],
    [await sender.emails.get(id), 401, 'restricted_api_key'],
  ] as const
  for (const [i, [{ error }, statusCode, name]] of cases.entries()) t.like(error, { statusCode, name: name as never }, String(i))
  t.regex(String(cases[5][0].error?.message), /^scheduled_at: /)
  t.regex(String(cases[6][0].error?.message), /^scheduled_at: must be at most 3 days ahead/)
  t.like(must(await reader.emails.get(id)), { last_event: 'scheduled', scheduled_at: at(1) })
})

test('Resend: batches are strict or permissive and sent once per key', async (t) => {
  const { client, daemon, sink } = await started(t)
  const [good, bad] = [plain, { ...plain, to: 'ada@@example.net' }]
  const strict = await client.batch.send([good, bad])
  t.like(strict.error, { statusCode: 422, name: 'validation_error' })
  t.regex(String(strict.error?.message), /^to\[0\]: |^to: /)
  const permissive = must(await client.batch.send([good, bad, good], { batchValidation: 'permissive' }))
  t.is(permissive.data.length, 2)
  t.deepEqual(
    permissive.errors.map(({ index }) => index),
    [1],
  )
  t.deepEqual(must(await client.batch.send([good], { batchValidation: 'permissive' })).errors, [])
  const idempotencyKey = 'order-4711'
  const first = must(await client.batch.send([good, good], { idempotencyKey }))
  t.deepEqual(must(await client.batch.send([good, good], { idempotencyKey })), first)
  const other = await client.batch.send([{ ...good, subject: 'Another' }, good], { idempotencyKey })
  t.like(other.error, { statusCode: 409, name: 'invalid_idempotent_request' })
  await daemon.rest.must('POST', '/v1/templates', {
    slug: 'hello',
    name: 'Hello',
    subject_tmpl: 'Hello {{name}}',
    text_tmpl: 'Dear {{name}}',
  })
  must(await client.emails.send({ from: plain.from, to: 'tina@example.net', template: { id: 'hello', variables: { name: 'Tina' } } }))
  const { content } = await sink.delivered(({ to }) => to.includes('tina@example.net'))
  t.regex(content.toString(), /^Subject: Hello Tina\r$/m)
  const [{ id } = { id: '' }] = (await daemon.rest.must('GET', '/v1/projects'))['data'] as { id: string }[]
  await daemon.rest.must('PATCH', `/v1/projects/${id}`, { send_budget: 1 })
  t.like((await client.emails.send(plain)).error, { statusCode: 429, name: 'daily_quota_exceeded' })
})
