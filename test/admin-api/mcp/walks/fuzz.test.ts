/** Random and distorted arguments from the input schemas of the tools: every call returns a result or a refusal, without a defect. */
import test from '#test'
import { Seeded } from '../../../support/seeded.ts'
import { callDirectly, startMcp } from '../mcp-fixture.ts'
import { makeForTools, type ToolMade } from './tool-requests.ts'

const calls = 5000

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly format?: string
}

/** Difficult texts: empty, long, control characters, lone surrogates, names of Object, and other languages. */
const texts = [
  ...['', ' ', 'a', '0', 'null', '__proto__', 'constructor', 'toString', '../../etc/passwd', '%00', '\u0000', '\r\nBcc: x@example.ch', '*'],
  ...['\uD800', '\u202E\u200B', 'ä'.repeat(300), 'x'.repeat(5000), '{{#each a}}{{/each}}', '{{a.__proto__.b}}', "' OR 1=1 --", '<script>'],
  ...[
    '2026-11-23T08:00:00Z',
    '9999-12-31T23:59:59.999Z',
    '24h',
    '7d',
    '1e9h',
    'https://shop.example.ch/x',
    'http://127.0.0.1:1/',
    'file:///x',
  ],
  ...['ada@example.ch', '"Ada" <ada@example.ch>', 'ada@[127.0.0.1]', 'a@b@c', `${'a'.repeat(65)}@example.ch`, '@example.ch', 'ü@ü.example'],
]
const numbers = [0, -0, 1, -1, 2, 50, 200, 1000, 1.5, 1e21, -1e21, Number.MAX_SAFE_INTEGER, Number.MIN_VALUE, 2 ** 53]
const strange: readonly unknown[] = [null, true, false, [], {}, [[]], [null], { $ref: '#' }, ...numbers, ...texts]

class Arguments {
  readonly #seeded: Seeded
  readonly #ids: readonly string[]

  constructor(seed: number, made: ToolMade) {
    this.#seeded = new Seeded(seed)
    this.#ids = Object.values(made)
  }

  /** Generates mostly valid values, with some of another type, some missing and some unknown. */
  of(schema: Schema, depth = 0): unknown {
    const one = this.#seeded
    if (one.chance(0.06)) return one.pick(strange)
    if (schema.const !== undefined) return schema.const
    if (schema.enum) return one.pick(schema.enum)
    const choices = schema.anyOf ?? schema.oneOf
    if (choices) return this.of(one.pick(choices), depth)
    const type = typeof schema.type === 'object' ? one.pick(schema.type) : schema.type
    return this.#ofType(type, schema, depth)
  }

  #ofType(type: string | undefined, schema: Schema, depth: number): unknown {
    const one = this.#seeded
    if (type === 'object') return this.#object(schema, depth)
    if (type === 'array') return Array.from({ length: one.between(0, depth > 3 ? 1 : 4) }, () => this.of(schema.items ?? {}, depth + 1))
    if (type === 'boolean') return one.chance(0.5)
    if (type === 'null') return null
    if (type === 'integer' || type === 'number') return this.#number(schema)
    if (type === 'string') return one.chance(0.35) ? one.pick(this.#ids) : one.pick(texts)
    return depth > 3 ? one.pick(texts) : one.pick(strange)
  }

  #number({ minimum = 0, maximum = 1000 }: Schema): number {
    const one = this.#seeded
    return one.chance(0.7) ? one.between(Math.max(minimum, -1e6), Math.min(maximum, 1e6)) : one.pick(numbers)
  }

  #object({ properties = {}, required = [], additionalProperties }: Schema, depth: number): unknown {
    const one = this.#seeded
    const kept = Object.entries(properties).filter(([name]) => one.chance(required.includes(name) ? 0.97 : 0.4))
    const fields = kept.map(([name, schema]): [string, unknown] => [name, this.of(schema, depth + 1)])
    const isOpen = typeof additionalProperties === 'object' || additionalProperties === undefined
    const others = isOpen || one.chance(0.03) ? one.between(0, 3) : 0
    const schema = typeof additionalProperties === 'object' ? additionalProperties : {}
    for (let i = 0; i < others; i++) fields.push([one.pick(texts.filter((text) => text !== '__proto__')), this.of(schema, depth + 1)])
    return Object.fromEntries(fields)
  }
}

test(`fuzz: ${calls} calls with random arguments from the schemas cause no internal error`, async (t) => {
  const fixture = await startMcp(t)
  const made = await makeForTools(fixture)
  const token = await fixture.tokenOf()
  const one = new Arguments(20_261_123, made)
  const tools = fixture.daemon.agents.tools.map(({ binding, listed }) => ({ name: binding.name, schema: listed['inputSchema'] as Schema }))
  const outcomes = new Map<string, number>()
  for (let n = 0; n < calls; n++) {
    const tool = tools[n % tools.length]
    if (!tool) break
    const generated = one.of(tool.schema)
    // the clock stands still, so a wait would not end
    const given = tool.name === 'virtual_inbox_message_wait' ? { ...(generated as object), timeout_seconds: 121 } : generated
    const { status, text } = await callDirectly(fixture, token, tool.name, given)
    const code = /"code\\?":\\?"?(-?\w+)/.exec(text)?.[1] ?? 'ok'
    const what = `${n}: ${tool.name} ${JSON.stringify(given)} ${status} ${text.slice(0, 500)}`
    t.true(status < 500 && code !== 'internal_error', what)
    t.deepEqual(fixture.failures, [], what)
    outcomes.set(code, (outcomes.get(code) ?? 0) + 1)
  }
  t.true((outcomes.get('ok') ?? 0) > calls / 10, JSON.stringify([...outcomes]))
  t.true((outcomes.get('validation_failed') ?? 0) > calls / 10, JSON.stringify([...outcomes]))
  t.log([...outcomes].map(([code, count]) => `${code} ${count}`).join(', '))
})
