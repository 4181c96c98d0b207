/** Converts a request to the equivalent call of an agent tool. */
import type { RequestParts } from './route.ts'

/** Query fields that do not change the meaning of a call. A tool may lack them. */
const aside: ReadonlySet<string> = new Set(['limit', 'cursor', 'project', 'project_id'])

/** Returns undefined if no tool is equivalent. `tool` has the form `name argument=field …`. */
export function toolOf(tool: string | undefined, input: RequestParts): string | undefined {
  const [name, ...pairs] = tool?.split(' ') ?? []
  if (name === undefined) return undefined
  const fields = { ...input.path, ...input.query, ...(input.body as object | undefined) } as Readonly<Record<string, unknown>>
  const given = Object.keys(fields).filter((field) => fields[field] !== undefined && fields[field] !== '')
  const taken = pairs.map((pair) => pair.split('=') as [argument: string, field: string])
  if (given.some((field) => !aside.has(field) && !taken.some(([, one]) => one === field))) return undefined
  const call = new Map<string, unknown>()
  for (const [argument, field] of taken) {
    if (!given.includes(field)) continue
    const [outer = argument, inner] = argument.split('.')
    const value = fields[field]
    call.set(outer, inner === undefined ? value : { ...(call.get(outer) as object | undefined), [inner]: value })
  }
  return JSON.stringify({ name, arguments: Object.fromEntries(call) }, undefined, 2)
}
