/** Numbers and booleans of paths and queries: described as such, and read from text. */
import test from '#test'
import { operatorOperations } from '../../../admin-api/operator/operator-operations.ts'
import { buildOpenApi } from '../../../admin-api/openapi/openapi.ts'
import { describedCore, describedService } from '../../../admin-api/rest/described-core.ts'
import { restOperations } from '../../../admin-api/rest/rest-operations.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly schema: Readonly<Record<string, unknown>> & { readonly type?: string }
}

const operations = [...restOperations, ...operatorOperations]
const described = (): ReadonlyMap<string, readonly Parameter[]> => {
  const { paths } = buildOpenApi(operations as never, { ...describedService, core: describedCore as never }) as unknown as {
    readonly paths: Record<string, Record<string, { readonly operationId: string; readonly parameters?: readonly Parameter[] }>>
  }
  return new Map(
    Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId, parameters = [] }) => [operationId, parameters])),
  )
}

test('OpenAPI document: numbers and booleans of parameters are described as such, with bounds and defaults', (t) => {
  const documented = described()
  const schemaOf = (id: string, wanted: string) => documented.get(id)?.find(({ name }) => name === wanted)?.schema
  t.deepEqual(schemaOf('listTraces', 'limit'), { type: 'integer', minimum: 1, maximum: 200, default: 50 })
  t.deepEqual(schemaOf('waitForInboxMessage', 'timeout'), { type: 'integer', minimum: 0, maximum: 120, default: 30 })
  t.deepEqual(schemaOf('countQueue', 'held'), { type: 'boolean' })
  t.deepEqual(schemaOf('importSuppressions', 'dry_run'), { type: 'boolean', default: false })
  t.deepEqual(schemaOf('getFormVersion', 'version'), { type: 'integer', minimum: 1, maximum: 999_999_999 })
  const texts = [...documented.values()].flat().filter(({ schema }) => schema.type === 'string')
  const isNumber = ({ schema: { pattern } }: Parameter): boolean => typeof pattern === 'string' && /^\^[[\]\\d0-9{},-]+\$$/.test(pattern)
  const isBoolean = ({ schema: { enum: values } }: Parameter): boolean => Array.isArray(values) && values.includes('true')
  t.deepEqual(
    texts.filter((one) => isNumber(one) || isBoolean(one)).map(({ name }) => name),
    [],
    'no number or boolean is described as text',
  )
})

test('paths and queries: numbers and booleans are read from text within their bounds', (t) => {
  let checked = 0
  for (const [id, parameters] of described())
    for (const { name, in: where, required, schema } of parameters) {
      if (schema.type !== 'integer' && schema.type !== 'boolean') continue
      const operation = operations.find(({ operationId }) => operationId === id)!
      const field = (where === 'path' ? operation.params : operation.query).shape[name]!
      const read = (text: unknown): unknown => (field as { safeParse: (given: unknown) => { data?: unknown } }).safeParse(text).data
      const { minimum, maximum, default: preset } = schema
      const whole = schema.type === 'integer'
      for (const good of whole ? [minimum, maximum] : [true, false]) t.is(read(String(good)), good, `${id} ${name}=${String(good)}`)
      for (const bad of ['', 'x', '-1', '1.5', '1e2', ' 5', 'TRUE', ['1', '2'], 5, true])
        t.is(read(bad), undefined, `${id} ${name}=${JSON.stringify(bad)}`)
      if (whole && name !== 'min_attempts') t.is(read(String(Number(maximum) + 1)), undefined, `${id} ${name} above ${String(maximum)}`)
      t.is(read(undefined), preset, `${id} without ${name}`)
      t.is(required, where === 'path', `${id} ${name}`)
      checked++
    }
  t.true(checked > 90, String(checked))
})
