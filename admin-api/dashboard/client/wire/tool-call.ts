/** A call as an agent makes it: its tool with the arguments that the fields of the request are. */
import type { Operation, RequestParts } from './operation.ts'

/** Beside these fields of a query, a tool that takes none of a field says the same. */
const aside: ReadonlySet<string> = new Set(['limit', 'cursor', 'project', 'project_id'])

/** Undefined where no tool does the same. */
export function toolOf(operation: Pick<Operation<unknown, unknown>, 'tool'>, input: RequestParts): string | undefined {
  const [name, ...pairs] = operation.tool?.split(' ') ?? []
  if (name === undefined) return undefined
  const fields = { ...input.path, ...input.query, ...(input.body as object | undefined) } as Readonly<Record<string, unknown>>
  const given = Object.keys(fields).filter((field) => fields[field] !== undefined && fields[field] !== '')
  const taken = pairs.map((pair) => pair.split('=') as [argument: string, field: string])
  if (given.some((field) => !aside.has(field) && !taken.some(([, one]) => one === field))) return undefined
  const call = new Map<string, unknown>()
  for (const [argument, field] of taken) {
    if (!given.includes(field)) continue
    const [outer = argument, inner] = argument.split('.')
    const value = field === 'limit' ? Number(fields[field]) : fields[field]
    call.set(outer, inner === undefined ? value : { ...(call.get(outer) as object | undefined), [inner]: value })
  }
  return JSON.stringify({ name, arguments: Object.fromEntries(call) }, undefined, 2)
}
