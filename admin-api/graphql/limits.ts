/**
 * Limits of one request. They are checked on the document, before it is validated against the schema and before anything runs, so that no
 * document blocks the service.
 */
import {
  Kind,
  visit,
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { Refusal } from '#core/refusals.ts'

export const limits = {
  /** Octets of the document. */
  documentLength: 65_536,
  tokens: 2000,
  /** Levels of fields. */
  depth: 8,
  aliases: 15,
  /** Fields and fragments; the fields of a fragment count at each use. */
  selections: 200,
  directives: 20,
  /** Levels of lists and objects in one value. */
  valueDepth: 10,
  /** Total cost of the fields: a list costs its `first`, any other query 10, a mutation 50. */
  cost: 500,
  /** Mutations whose results contain a secret. */
  secrets: 1,
  /** The same limits for introspection fields, which allow no aliases. */
  schemaDepth: 20,
  schemaSelections: 400,
  /** Nested lists of fields, values or types, since each level multiplies the response. */
  schemaLists: 2,
} as const

export type Limit = keyof typeof limits

/** Returns the refusal of a request that exceeds the limit. */
export function beyond(limit: Limit, given?: number): Refusal {
  const most = limits[limit]
  const count = given === undefined ? '' : `, this one ${Number.isFinite(given) ? given : 'far more'}`
  return new Refusal(
    'validation_failed',
    `A request has at most ${most} ${texts[limit]}${count}; ${advice[limit] ?? 'ask for less in one request'}.`,
    {
      nextAction: 'ask_for_less',
      details: { limit: limit.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), max: most },
    },
  )
}

const texts: Readonly<Record<Limit, string>> = {
  documentLength: 'octets of document',
  tokens: 'tokens',
  depth: 'levels of fields',
  aliases: 'aliases',
  selections: 'fields, including those of fragments at each use',
  directives: 'directives',
  valueDepth: 'levels in one value',
  cost: 'points of cost',
  secrets: 'mutation whose result contains a secret',
  schemaDepth: 'levels of fields of the schema',
  schemaSelections: 'fields of the schema',
  schemaLists: 'levels of lists of the schema',
}
const advice: Partial<Record<Limit, string>> = {
  cost: 'a list costs its first, any other query 10 and a mutation 50; ask for less in one request',
  tokens: 'give values as variables, or ask for less in one request',
  documentLength: 'give values as variables, or ask for less in one request',
  schemaLists: 'query types by name; the list of types contains the names',
}

interface Measure {
  readonly depth: number
  readonly selections: number
  readonly aliases: number
  /** Nested lists of the schema. */
  readonly lists: number
}
/** Measures of data fields, and of introspection fields. */
interface Measures {
  readonly data: Measure
  readonly schema: Measure
}

const nothing: Measure = { depth: 0, selections: 0, aliases: 0, lists: 0 }
const beside = (a: Measure, b: Measure): Measure => ({
  depth: Math.max(a.depth, b.depth),
  selections: a.selections + b.selections,
  aliases: a.aliases + b.aliases,
  lists: Math.max(a.lists, b.lists),
})

/** Introspection fields with many entries; `args` alone lead to none of them. */
const schemaLists: ReadonlySet<string> = new Set(['fields', 'inputFields', 'interfaces', 'possibleTypes', 'enumValues'])

/** Throws for a document that exceeds the limits, and for fragments that include themselves. */
export function requireWithinLimits(document: DocumentNode): void {
  requireFewDetails(document)
  const count = new Count(document)
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION) continue
    const { data, schema } = count.ofDefinition(definition)
    if (data.depth > limits.depth) throw beyond('depth', data.depth)
    if (data.aliases > limits.aliases) throw beyond('aliases', data.aliases)
    if (data.selections > limits.selections) throw beyond('selections', data.selections)
    if (schema.depth > limits.schemaDepth) throw beyond('schemaDepth', schema.depth)
    if (schema.selections > limits.schemaSelections) throw beyond('schemaSelections', schema.selections)
    if (schema.lists > limits.schemaLists) throw beyond('schemaLists', schema.lists)
    if (schema.aliases > 0)
      throw new Refusal('validation_failed', 'Fields of the schema allow no aliases; query them under their own names.')
  }
}

function requireFewDetails(document: DocumentNode): void {
  let [directives, depth] = [0, 0]
  const nested = {
    enter: () => {
      if (++depth > limits.valueDepth) throw beyond('valueDepth')
    },
    leave: () => {
      depth--
    },
  }
  const directive = () => {
    if (++directives > limits.directives) throw beyond('directives')
  }
  visit(document, { Directive: directive, ListValue: nested, ObjectValue: nested })
}

/** Measures a document. Each fragment is measured once, regardless of the number of its uses. */
class Count {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly #counted = new Map<string, Measures | 'open'>()

  constructor({ definitions }: DocumentNode) {
    const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
    this.#fragments = new Map(fragments.map((fragment) => [fragment.name.value, fragment]))
  }

  ofDefinition(definition: OperationDefinitionNode | FragmentDefinitionNode): Measures {
    const isOfSchema = definition.kind === Kind.FRAGMENT_DEFINITION && definition.typeCondition.name.value.startsWith('__')
    const { data, schema } = this.of(definition.selectionSet)
    return isOfSchema ? { data: nothing, schema: beside(data, schema) } : { data, schema }
  }

  of({ selections }: SelectionSetNode): Measures {
    let [data, schema] = [nothing, nothing]
    for (const selection of selections) {
      const inner = this.#selection(selection)
      data = beside(data, inner.data)
      schema = beside(schema, inner.schema)
    }
    return { data, schema }
  }

  #selection(selection: SelectionNode): Measures {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return oneMore(this.#fragment(selection.name.value))
    if (selection.kind === Kind.INLINE_FRAGMENT) return oneMore(this.of(selection.selectionSet))
    const { name, alias, selectionSet } = selection
    const { data, schema } = selectionSet ? this.of(selectionSet) : { data: nothing, schema: nothing }
    const own = (inner: Measure): Measure => ({
      depth: inner.depth + 1,
      selections: inner.selections + 1,
      aliases: inner.aliases + (alias ? 1 : 0),
      lists: inner.lists + (schemaLists.has(name.value) ? 1 : 0),
    })
    const isOfSchema = name.value === '__schema' || name.value === '__type'
    return isOfSchema ? { data: nothing, schema: own(beside(data, schema)) } : { data: own(data), schema }
  }

  #fragment(name: string): Measures {
    const known = this.#counted.get(name)
    if (known === 'open') throw new Refusal('validation_failed', `The fragment ${name.slice(0, 80)} includes itself.`)
    if (known) return known
    const fragment = this.#fragments.get(name)
    this.#counted.set(name, 'open')
    const measured = fragment ? this.of(fragment.selectionSet) : { data: nothing, schema: nothing }
    this.#counted.set(name, measured)
    return measured
  }
}

const oneMore = ({ data, schema }: Measures): Measures => ({ data: { ...data, selections: data.selections + 1 }, schema })
