/** The parameters that requests of the protocol need. The package answers malformed ones with the text of its validator. */
import * as z from 'zod'

const text = z.string()
const object = z.looseObject({})

interface Needed {
  readonly schema: z.ZodType
  readonly sentence: string
}

const needed: ReadonlyMap<unknown, Needed> = new Map([
  [
    'initialize',
    {
      schema: z.looseObject({ protocolVersion: text, capabilities: object, clientInfo: z.looseObject({ name: text, version: text }) }),
      sentence:
        'initialize takes protocolVersion (a text such as "2025-11-25"), capabilities (an object) and clientInfo (with name and version).',
    },
  ],
  [
    'tools/call',
    {
      schema: z.looseObject({ name: text, arguments: object.optional() }),
      sentence: 'tools/call takes name (a text) and arguments (an object).',
    },
  ],
  [
    'prompts/get',
    {
      schema: z.looseObject({ name: text, arguments: z.record(text, text).optional() }),
      sentence: 'prompts/get takes name (a text) and arguments (an object of texts).',
    },
  ],
  ['resources/read', { schema: z.looseObject({ uri: text }), sentence: 'resources/read takes uri (a text).' }],
  [
    'completion/complete',
    {
      schema: z.looseObject({ ref: z.looseObject({ type: text }), argument: z.looseObject({ name: text, value: text }) }),
      sentence: 'completion/complete takes ref (with type) and argument (with name and value).',
    },
  ],
])

/** From this revision on there is no `initialize`, which the package answers. */
const stateless = '2026-07-28'

/** Returns what the request takes if its parameters are malformed. */
export function malformedIn(body: unknown, protocolVersion: string): string | undefined {
  const { method, params } = Object(body) as { readonly method?: unknown; readonly params?: unknown }
  if (method === 'initialize' && protocolVersion >= stateless) return undefined
  const known = needed.get(method)
  return known && !known.schema.safeParse(params).success ? known.sentence : undefined
}
