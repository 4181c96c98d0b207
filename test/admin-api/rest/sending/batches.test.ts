import test from '#test'
import { errorOf, objectOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import type { RestAnswer } from '../../../support/daemon/rest.ts'

const plain = { from: 'Shop <shop@example.ch>', to: 'ada@example.ch', subject: 'Your order', text: 'Thank you.' }
const to = (address: string, more: object = {}): object => ({ ...plain, to: address, ...more })

interface Result {
  readonly trace_id?: string
  readonly outcome?: string
  readonly warnings?: readonly object[]
  readonly error?: { readonly code: string; readonly message: string; readonly details?: Readonly<Record<string, unknown>> }
}

const post = ({ rest }: Fixture, messages: readonly unknown[], more: object = {}, headers = {}): Promise<RestAnswer> =>
  rest.call('POST', '/v1/messages/batch', { messages, ...more }, headers)
const resultsOf = (answer: RestAnswer): readonly Result[] => objectOf(answer)['results'] as readonly Result[]
const sends = async ({ rest }: Fixture): Promise<unknown> => (await rest.must('GET', '/v1/projects/me'))['sends_today']

test('a batch sends each message separately, in the order of the request', async (t) => {
  const fixture = await startFixture(t)
  const addresses = Array.from({ length: 100 }, (_, i) => `a${String(i)}@example.ch`)
  const answer = await post(
    fixture,
    addresses.map((address) => to(address)),
  )
  t.is(answer.status, 200)
  t.like(objectOf(answer), { accepted: 100, refused: 0 })
  const results = resultsOf(answer)
  t.is(new Set(results.map(({ trace_id }) => trace_id)).size, 100)
  t.is(await sends(fixture), 100)
  for (const i of [0, 57, 99])
    t.like(await fixture.rest.must('GET', `/v1/traces/${results[i]?.trace_id ?? ''}`), {
      to: [addresses[i]],
      status: 'captured',
      door: 'rest',
    })
  const more = await post(
    fixture,
    [...addresses, 'one more'].map(() => plain),
  )
  t.deepEqual(refusal(more), [400, 'validation_failed', 'messages: at most 100 entries'])
  t.deepEqual(refusal(await post(fixture, [])), [400, 'validation_failed', 'messages: must not be empty'])
  t.deepEqual(refusal(await post(fixture, [plain], { validation: 'lax' })), [
    400,
    'validation_failed',
    'validation: must be one of strict, permissive',
  ])
})

test('a strict batch with an invalid message sends nothing and names each error by index', async (t) => {
  const fixture = await startFixture(t, { plan: 'free' })
  const wrong = [plain, to('x'), { ...plain, text: undefined, replyto: 'a@b.ch' }, 7, to('bob@example.ch', { destination_id: 'dst_none' })]
  const answer = await post(fixture, wrong)
  t.is(answer.status, 400)
  const { code, details } = errorOf(answer)
  t.is(code, 'validation_failed')
  t.deepEqual(
    ((details?.['fields'] ?? []) as readonly { path: string }[]).map(({ path }) => path),
    ['messages[1].to', 'messages[2].replyto', 'messages[2].text', 'messages[3]', 'messages[4].destination_id'],
  )
  const large = to('eva@example.ch', { attachments: [{ filename: 'a.bin', content: Buffer.alloc(100_000, 7).toString('base64') }] })
  t.deepEqual(refusal(await post(fixture, [plain, large])), [
    403,
    'feature_disabled',
    'messages[1]: The plan free sends no attachments; link to the files, or raise the plan to pro or enterprise.',
  ])
  t.is(await sends(fixture), 0)
  const { data } = (await fixture.rest.must('GET', '/v1/traces')) as { data: readonly { status: string; to: readonly string[] }[] }
  t.deepEqual(
    data.map(({ status, to: [address] }) => `${status} ${String(address)}`).toSorted(),
    ['validation_failed ada@example.ch', 'validation_failed bob@example.ch'],
    'messages with readable recipients',
  )
})

test('permissive batch: sends valid messages; invalid ones have an error and a trace', async (t) => {
  const fixture = await startFixture(t)
  const answer = await post(fixture, [plain, to('x'), to('bob@example.ch', { subject: 'a\r\nBcc: eve@example.net' }), null, plain], {
    validation: 'permissive',
  })
  t.is(answer.status, 200)
  t.like(objectOf(answer), { accepted: 2, refused: 3 })
  const [first, unread, injected, none, last] = resultsOf(answer)
  t.is(first?.outcome, 'captured.no_route')
  t.is(last?.outcome, 'captured.no_route')
  t.like(unread?.error, { code: 'validation_failed', message: 'to: must be one address such as ada@example.ch or Ada <ada@example.ch>' })
  t.is(unread?.error?.details?.['trace_id'], undefined)
  t.like(none?.error, { code: 'validation_failed', message: 'body: expected an object, got null' })
  t.like(await fixture.rest.must('GET', `/v1/traces/${String(injected?.error?.details?.['trace_id'])}`), {
    ...{ status: 'validation_failed', to: ['bob@example.ch'] },
  })
  t.is(await sends(fixture), 2)
})

test('limits and budgets count each message of a batch', async (t) => {
  const fixture = await startFixture(t)
  const { project_id } = await fixture.rest.must('GET', '/v1/projects/me')
  await fixture.rest.must('PATCH', `/v1/projects/${String(project_id)}`, { send_budget: 3 })
  const answer = await post(
    fixture,
    Array.from({ length: 8 }, () => plain),
  )
  t.is(answer.status, 200)
  t.like(objectOf(answer), { accepted: 3, refused: 5 })
  for (const { error } of resultsOf(answer).filter((one) => one.error)) {
    t.is(error?.code, 'project_budget_exhausted')
    t.true(Number(error?.details?.['retry_after_seconds']) > 0)
  }
  t.is(await sends(fixture), 3)
})

test('an idempotency key covers every message of a batch, together with message keys', async (t) => {
  const fixture = await startFixture(t)
  const batch = [plain, to('bob@example.ch', { idempotency_key: 'order 2' }), to('cy@example.ch')]
  const [first, second] = await Promise.all([
    post(fixture, batch, { idempotency_key: 'batch 1' }),
    post(fixture, batch, {}, { 'idempotency-key': 'batch 1' }),
  ])
  t.deepEqual(second.body, first.body, 'also concurrently')
  t.is(await sends(fixture), 3)
  const again = await post(fixture, batch, { idempotency_key: 'batch 1' })
  t.is(again.headers['idempotent-replayed'], 'true')
  t.deepEqual(again.body, first.body)
  const other = await post(fixture, [plain, plain, to('dan@example.ch'), to('eva@example.ch')], { idempotency_key: 'batch 1' })
  t.is(other.headers['idempotent-replayed'], undefined)
  const results = resultsOf(other)
  t.is(results[0]?.trace_id, resultsOf(first)[0]?.trace_id)
  t.is(results[2]?.trace_id, resultsOf(first)[2]?.trace_id)
  t.deepEqual(
    results.map(({ warnings = [] }) => warnings.length),
    [0, 0, 1, 0],
  )
  t.is(await sends(fixture), 5, 'the second has its own key from before, and the fourth is new')
  const single = await fixture.rest.must('POST', '/v1/messages', { ...plain, idempotency_key: 'order 2', to: 'bob@example.ch' })
  t.is(single['trace_id'], resultsOf(first)[1]?.trace_id)
  t.is(await sends(fixture), 5)
})

test('a batch has a limit in bytes, and publishable keys cannot send batches', async (t) => {
  const fixture = await startFixture(t)
  const { raw_token } = await fixture.rest.must('POST', '/v1/publishable-keys', {
    ...{ allowed_origins: ['https://example.ch'], allowed_to: ['ada@example.ch'], locked_from: 'form@example.ch' },
  })
  const page = await fixture
    .client(String(raw_token))
    .call('POST', '/v1/messages/batch', { messages: [plain] }, { origin: 'https://example.ch' })
  t.is(page.status, 401)
  t.is(await sends(fixture), 0)
  // Last, since the server closes the connection.
  const over = await post(fixture, [plain, { ...plain, text: 'x'.repeat(3 * 1024 * 1024) }])
  t.is(over.status, 413)
  t.like(errorOf(over), { code: 'request_too_large', details: { max_bytes: 3_145_728 } })
})
