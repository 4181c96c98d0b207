/** An operation of the REST API as a value: where it is, the scope that it needs, and the types of what it takes and gives. */

/** The places of a request that an operation takes something from. */
export interface RequestParts {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  /** The body, where it is a file as it is. */
  readonly file?: { readonly name: string; readonly type: string }
}

export interface Operation<Input, Output> {
  readonly id: string
  readonly method: string
  /** With parameters in braces: `/v1/traces/{trace_id}`. */
  readonly path: string
  readonly scope: string
  /** The tool of agents that does the same, with its arguments: `name argument=field …`. */
  readonly tool?: string | undefined
  /** The types alone; never there. */
  readonly types?: { readonly input: Input; readonly output: Output }
}

export type InputOf<O> = O extends Operation<infer Input, unknown> ? Input : never

export const operation = <Input, Output>(
  id: string,
  method: string,
  path: string,
  scope: string,
  tool?: string,
): Operation<Input, Output> => ({ id, method, path, scope, tool })

/** The path of a request with its query, as it is asked for. */
export function addressOf({ path }: Pick<Operation<unknown, unknown>, 'path'>, { path: values = {}, query = {} }: RequestParts): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encoded(values[name] ?? ''))
  const search = new URLSearchParams(
    Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== ''),
  )
  return search.size === 0 ? filled : `${filled}?${search.toString()}`
}

/** Also what is a quote or a bracket to shells and to JavaScript, so that an address can be pasted there. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*~]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
