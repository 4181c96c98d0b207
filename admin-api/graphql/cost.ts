/** Computes the cost of an operation before any of its fields runs. */
import {
  Kind,
  type FieldNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql'
import { beyond, limits } from './limits.ts'
import { listShapeOf } from './output-types.ts'
import { showsSecret, type RootField } from './root-fields.ts'

/** Maximum page size of a list. */
const maxFirst = 200
const defaultFirst = 50
const queryCost = 10
const mutationCost = 50

export interface Asked {
  readonly operation: OperationDefinitionNode
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly variables: Readonly<Record<string, unknown>>
}

/** Throws for an operation that exceeds the cost limit. The limits of its document are already checked. */
export function requireAffordable(asked: Asked, fields: ReadonlyMap<string, RootField>): void {
  const nodes = [...rootNodes(asked.operation.selectionSet, asked.fragments)]
  const cost = nodes.reduce((sum, node) => sum + costOf(node, fields.get(node.name.value), asked), 0)
  if (cost > limits.cost) throw beyond('cost', cost)
  const secrets = nodes.filter(({ name }) => {
    const field = fields.get(name.value)
    return field !== undefined && showsSecret(field)
  })
  if (secrets.length > limits.secrets) throw beyond('secrets', secrets.length)
}

/** Yields the root fields of the operation, including those in fragments. */
function* rootNodes(
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): Generator<FieldNode, void, void> {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) yield selection
    else {
      const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value)
      if (inner) yield* rootNodes(inner.selectionSet, fragments)
    }
  }
}

function costOf(node: FieldNode, field: RootField | undefined, asked: Asked): number {
  if (!field) return 0 // introspection fields, which have separate limits
  if (field.action.graphql.root === 'mutation') return mutationCost
  if (!field.output || !listShapeOf(field.output)?.isPaged) return queryCost
  const first = node.arguments?.find(({ name }) => name.value === 'first')
  const count = first ? numberOf(first.value, asked) : defaultFirst
  return Math.min(Math.max(Number.isInteger(count) ? count : maxFirst, 1), maxFirst)
}

function numberOf(value: ValueNode, { operation, variables }: Asked): number {
  if (value.kind === Kind.INT) return Number(value.value)
  if (value.kind !== Kind.VARIABLE) return defaultFirst
  const name = value.name.value
  const given = variables[name]
  if (typeof given === 'number') return given
  const fallback = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name)?.defaultValue
  return fallback?.kind === Kind.INT ? Number(fallback.value) : defaultFirst
}
