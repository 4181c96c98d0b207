/** Nulls and missing fields in the bodies of all operations. */
import test from '#test'
import * as z from 'zod'
import { Refusal } from '#core/refusals.ts'
import { isStreamed } from '../../../../admin-api/bodies/body-stream.ts'
import { check } from '../../../../admin-api/bodies/validation.ts'
import { errorOf, startFixture } from '../fixture/rest-fixture.ts'
import type { RestAnswer } from '../../../support/daemon/rest.ts'

const outcomeOf = (schema: z.ZodType, body: unknown): string => {
  try {
    check(schema, body, 'body')
    return 'taken'
  } catch (error) {
    if (error instanceof Refusal) return JSON.stringify(error.details)
    throw error
  }
}

const missingOf = (answer: RestAnswer): readonly string[] =>
  ((errorOf(answer).details?.['fields'] ?? []) as { path: string; message: string }[]).map(({ path }) => path).sort()

test('every operation accepts null for an optional field', async (t) => {
  const { operations } = await startFixture(t)
  let fields = 0
  for (const { operationId, body, examples } of operations) {
    if (body === undefined || isStreamed(body) || typeof examples.body !== 'object') continue
    const { properties = {}, required = [] } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as {
      properties?: Record<string, unknown>
      required?: readonly string[]
    }
    for (const name of Object.keys(properties).filter((each) => !required.includes(each))) {
      const { [name]: _, ...without } = examples.body as Record<string, unknown>
      const outcome = outcomeOf(body, { ...without, [name]: null })
      t.true(outcome === 'taken' || outcome === outcomeOf(body, without), `${operationId} ${name}: ${outcome}`)
      fields++
    }
  }
  t.true(fields > 80, `${fields} fields`)
})

test('sendMessage accepts null for every optional field', async (t) => {
  const { rest } = await startFixture(t)
  const said = { from: 'shop@example.ch', to: 'ada@example.ch', text: 'Hello.' }
  const nothing = { cc: null, bcc: null, reply_to: null, subject: null, html: null, headers: null, attachments: null, send_at: null }
  const options = { project_id: null, idempotency_key: null, destination_id: null, list_unsubscribe: null, verp_enabled: null }
  t.is((await rest.call('POST', '/v1/messages', { ...said, ...nothing, ...options })).status, 200)
  const file = { filename: null, content: 'YQ==', content_type: null, content_id: null }
  t.is((await rest.call('POST', '/v1/messages', { ...said, to: { email: 'ada@example.ch', name: null }, attachments: [file] })).status, 200)
})

test('validation errors name every missing field, including fields checked in the core', async (t) => {
  const { rest } = await startFixture(t)
  t.deepEqual(missingOf(await rest.call('POST', '/v1/messages', {})), ['from', 'text', 'to'])
  t.deepEqual(missingOf(await rest.call('POST', '/v1/messages', { from: null, to: null, subject: 'x' })), ['from', 'text', 'to'])
  t.deepEqual(missingOf(await rest.call('POST', '/v1/messages', { from: 'a@b.ch', cc: 5 })), ['cc', 'text', 'to'])
  t.deepEqual(missingOf(await rest.call('POST', '/v1/routing/rules', {})), ['destination_id', 'match'])
})
