import test from '#test'
import * as z from 'zod'
import { camel, decoder, encoder } from '../../../admin-api/wire/fields/codec.ts'
import { timeInput, wireTime } from '../../../admin-api/wire/fields/time.ts'

const at = Date.UTC(2026, 10, 22, 8, 30, 0, 250)
const written = '2026-11-22T08:30:00.250Z'

const hopShape = z.object({ from_host: z.string(), seen_at: wireTime.nullable() })
const mailShape = z.object({
  id: z.string(),
  sent_at: wireTime,
  read_at: wireTime.nullable(),
  reply_to: z.array(z.string()),
  hops: z.array(hopShape),
  last_hop: hopShape.nullable(),
  meta_data: z.record(z.string(), z.string()).optional(),
  is_late: z.boolean(),
})

interface Mail {
  readonly id: string
  readonly sentAt: number
  readonly readAt?: number | undefined
  readonly replyTo: readonly string[]
  readonly hops: readonly { readonly fromHost: string; readonly seenAt: number | null; readonly secret?: string }[]
  readonly lastHop: { readonly fromHost: string; readonly seenAt: number | null } | undefined
  readonly metaData?: Readonly<Record<string, string>> | undefined
  readonly secret: string
}

const mail: Mail = {
  secret: 'never shown',
  hops: [{ secret: 'neither', seenAt: at, fromHost: 'a.example' }],
  lastHop: undefined,
  sentAt: at,
  replyTo: ['ada@example.ch'],
  id: 'm_1',
}

test('camel() removes underscores before letters and digits', (t) => {
  t.deepEqual(['id', 'created_at', 'no_route_policy', 'last_24_hours', 'a'].map(camel), [
    'id',
    'createdAt',
    'noRoutePolicy',
    'last24Hours',
    'a',
  ])
})

test('an encoder writes the fields of the schema in order, RFC 3339 times and null', (t) => {
  const { encode } = encoder(mailShape).from<Mail>({ is_late: ({ sentAt }) => sentAt > 0 })
  t.is(
    JSON.stringify(encode(mail)),
    JSON.stringify({
      id: 'm_1',
      sent_at: written,
      read_at: null,
      reply_to: ['ada@example.ch'],
      hops: [{ from_host: 'a.example', seen_at: written }],
      last_hop: null,
      is_late: true,
    }),
  )
  const full = encode({ ...mail, readAt: at, lastHop: { fromHost: 'b.example', seenAt: null }, metaData: { snake_case: 'kept_as_it_is' } })
  t.like(full, { read_at: written, last_hop: { from_host: 'b.example', seen_at: null }, meta_data: { snake_case: 'kept_as_it_is' } })
  t.true(mailShape.safeParse(full).success)
})

test("an encoder prefers code for a field over the source's property", (t) => {
  const { encode } = encoder(z.object({ id: z.string() })).from<{ id: string }>({ id: ({ id }) => `m_${id}` })
  t.deepEqual(encode({ id: '7' }), { id: 'm_7' })
})

test('via() makes an encoder for an object that contains the source', (t) => {
  const inner = encoder(z.object({ id: z.string(), secret_key: z.string() })).from<{ id: string; secretKey: string }>()
  const outer = inner.via(({ record, secret }: { record: { id: string }; secret: string }) => ({ ...record, secretKey: secret }))
  t.deepEqual(outer.encode({ record: { id: 'a' }, secret: 's' }), { id: 'a', secret_key: 's' })
  t.is(outer.schema, inner.schema)
})

test('the compiler refuses fields that the source lacks, or has with another type', (t) => {
  const shape = encoder(z.object({ owner_name: z.string(), created_at: wireTime }))
  shape.from<{ ownerName: string; createdAt: number }>()
  // @ts-expect-error the source has no ownerName
  shape.from<{ createdAt: number }>()
  // @ts-expect-error a time is a number inside
  shape.from<{ ownerName: string; createdAt: string }>()
  // @ts-expect-error the source may be undefined, and the field may not
  shape.from<{ ownerName?: string; createdAt: number }>()
  // @ts-expect-error code for only one of two fields
  shape.from<{ id: string }>({ owner_name: ({ id }) => id })
  // @ts-expect-error a nullable field must be there too
  encoder(z.object({ read_at: wireTime.nullable() })).from<{ id: string }>()
  // @ts-expect-error a field deep inside is missing
  encoder(z.object({ hops: z.array(hopShape) })).from<{ hops: { fromHost: string }[] }>()
  // @ts-expect-error code must return the wire type of the field
  shape.from<{ id: string; createdAt: number }>({ owner_name: ({ createdAt }) => createdAt })
  t.pass()
})

test('a decoder returns all fields in camelCase and leaves records of the caller unchanged', (t) => {
  const input = z.strictObject({
    project_id: z.string().optional(),
    send_at: timeInput.nullable().optional(),
    reply_to: z.array(z.strictObject({ full_name: z.string().optional(), at_home: z.boolean() })).default([]),
    template_vars: z.record(z.string(), z.unknown()),
    match: z.union([z.strictObject({ from_host: z.string() }), z.string()]),
  })
  const decode = decoder(input)
  const decoded = decode(
    input.parse({ send_at: written, reply_to: [{ at_home: true }], template_vars: { first_name: 'Ada' }, match: { from_host: 'a' } }),
  )
  const sendAt: number | null | undefined = decoded.sendAt
  const [first] = decoded.replyTo
  t.is(sendAt, at)
  t.deepEqual(first, { fullName: undefined, atHome: true })
  t.deepEqual(Object.keys(decoded), ['projectId', 'sendAt', 'replyTo', 'templateVars', 'match'])
  t.deepEqual(decoded.templateVars, { first_name: 'Ada' })
  t.deepEqual(decoded.match, { from_host: 'a' })
  t.is(decoder(z.string())('as_it_is'), 'as_it_is')
})
