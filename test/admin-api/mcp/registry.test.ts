/** The tools of agents match the specification in name and arguments. */
import test from '#test'
import * as z from 'zod'
import { featureFlag, features, type Feature } from '#config/plans/features.ts'
import { shown, stepMs } from '../../../admin-api/mcp/tools/tool-requests.ts'
import type { Tool } from '../../../admin-api/mcp/tools/tool.ts'
import { startMcp } from './mcp-fixture.ts'
import { specifiedTools } from './specified-tools.ts'

interface Schema {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
}

interface Kind {
  readonly type?: unknown
  readonly enum?: readonly unknown[]
  readonly format?: string
}

interface Argument extends Kind {
  readonly properties?: object
  readonly examples?: readonly unknown[]
  readonly anyOf?: readonly Kind[]
  readonly items?: Kind
}

const wordsOf = (text: string): number => text.split(/\s+/).length

test('tools/list: contains exactly the specified tools and arguments', async (t) => {
  const { agent } = await startMcp(t)
  const { tools } = await (await agent()).client.listTools()
  t.deepEqual(tools.map(({ name }) => name).toSorted(), Object.keys(specifiedTools).toSorted())
  t.notRegex(JSON.stringify(tools), /9007199254740991/)
  for (const { name, inputSchema } of tools) {
    const specified = (specifiedTools[name] ?? '').split(', ').filter((argument) => argument !== '')
    const isOpen = specified.includes('...')
    const names = specified.filter((argument) => argument !== '...').map((argument) => argument.replace('?', ''))
    const { properties = {}, required = [], additionalProperties } = inputSchema as Schema
    if (isOpen)
      t.deepEqual(
        names.filter((argument) => !(argument in properties)),
        [],
        name,
      )
    else t.deepEqual(Object.keys(properties).toSorted(), names.toSorted(), name)
    const optional = new Set(specified.filter((argument) => argument.endsWith('?')).map((argument) => argument.slice(0, -1)))
    t.deepEqual(
      required.filter((argument) => optional.has(argument)),
      [],
      `${name}: an optional argument is not required`,
    )
    t.is(additionalProperties, false, `${name} is closed to other arguments`)
  }
})

test('tools/list: lists slow tools in steps', async (t) => {
  const { daemon } = await startMcp(t)
  const tools = daemon.agents.tools.slice(0, 3)
  let now = 0
  const slow = tools.map((tool) => Object.create(tool, { listed: { get: () => ((now += stepMs), tool.listed) } }) as Tool)
  let steps = 0
  const listing = shown(slow, () => now)
  let next = listing.next()
  for (; !next.done; next = listing.next()) steps++
  t.is(steps, tools.length)
  t.deepEqual(
    next.value.map(({ name }) => name),
    tools.map(({ binding }) => binding.name),
  )
})

test('tools/list: each tool has a short description, title, hints and result schema', async (t) => {
  const { agent } = await startMcp(t)
  const { tools } = await (await agent()).client.listTools()
  for (const { name, title, description = '', annotations, outputSchema } of tools) {
    t.true(wordsOf(description) <= 60 && wordsOf(description) >= 15, `${name}: ${wordsOf(description)} words`)
    t.truthy(title, name)
    for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const)
      t.is(typeof annotations?.[hint], 'boolean', name)
    t.false(annotations?.readOnlyHint === true && annotations.destructiveHint === true, name)
    t.is(outputSchema?.type, 'object', name)
  }
  const known = new Set(Object.keys(specifiedTools))
  for (const { name, description = '' } of tools)
    for (const [mentioned] of description.matchAll(
      /\b(?:email|virtual|webhook|smtp|account|destination|publishable|project|bounce|mailenable)_[a-z]+_[a-z_]+\b|\bform_(?!id\b)[a-z_]+\b/g,
    ))
      if (!/_at$|_id$|_url$|_code$|_fields$|_seconds$|_progress$|_webhook$/.test(mentioned))
        t.true(known.has(mentioned), `${name} names ${mentioned}`)
})

test('tools/list: stays within its size limit', async (t) => {
  const { agent } = await startMcp(t)
  const { tools } = await (await agent()).client.listTools()
  const sizeOf = (value: unknown): number => JSON.stringify(value).length
  t.true(sizeOf(tools) < 170_000, String(sizeOf(tools)))
  for (const tool of tools) t.true(sizeOf(tool) < 8500, `${tool.name}: ${sizeOf(tool)}`)
})

/** Arguments without an example: their description is sufficient, or any JSON is valid. */
const withoutExample = new Set(['captcha_secret', 'captcha_site_key', 'form_fields', 'schema_json', 'conditions', 'filter', 'rates', 'on'])

test('tools/list: each argument has choices, a clear type, a format or a valid example', async (t) => {
  const { daemon, agent } = await startMcp(t)
  const { tools } = await (await agent()).client.listTools()
  t.is(daemon.agents.tools.length, tools.length)
  const walk = (tool: string, schema: Schema): void => {
    for (const [name, one] of Object.entries(schema.properties ?? {})) {
      const { properties, enum: choices, type, format, examples, anyOf = [], items } = one as Argument
      if (properties) walk(tool, one as Schema)
      const kinds = [{ type, enum: choices, format }, ...anyOf, ...(items ? [items] : [])]
      const speaks = kinds.some((kind) => kind.enum ?? kind.format ?? /boolean|integer|number/.test(String(kind.type)))
      if (!speaks && !withoutExample.has(name)) t.is(examples?.length, 1, `${tool}.${name} has an example`)
      for (const example of examples ?? []) {
        const checked = z.fromJSONSchema(one as never).safeParse(example)
        t.true(checked.success, `${tool}.${name}: ${JSON.stringify(example)} ${checked.error?.message}`)
      }
    }
  }
  for (const { name, inputSchema } of tools) walk(name, inputSchema as Schema)
})

test('flags: the feature registry and the tools have the same flags', async (t) => {
  const { daemon, agent } = await startMcp(t)
  const listed = new Set(await (await agent()).names())
  const { tools } = daemon.agents
  for (const feature of Object.keys(features) as Feature[]) {
    const { tools: named, always } = featureFlag(feature)
    const flagged = tools.filter((tool) => tool.feature === feature).map(({ binding: { name } }) => name)
    const expected = named.filter((name) => listed.has(name) && !always.includes(name))
    t.deepEqual(flagged.toSorted(), expected.toSorted(), feature)
  }
})

test('labels: every labelled field exists in the result schema', async (t) => {
  const { daemon, agent } = await startMcp(t)
  const { tools } = await (await agent()).client.listTools()
  const schemas = new Map(tools.map(({ name, outputSchema }) => [name, JSON.stringify(outputSchema)]))
  const missing = daemon.agents.tools.flatMap(({ binding: { name, untrusted = [] } }) =>
    untrusted
      .filter((label) => !schemas.get(name)?.includes(`"untrusted_${label.slice(label.lastIndexOf('.') + 1)}"`))
      .map((label) => `${name}: ${label}`),
  )
  t.deepEqual(missing, [])
})
