/** A REST operation as a value: method, path, required scope, and input and output types. */

export interface RequestParts {
  readonly path?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  /** The body, if it is a file. */
  readonly file?: { readonly name: string; readonly type: string }
}

export interface Operation<Input, Output> {
  readonly id: string
  readonly method: string
  /** Path with parameters in braces, such as `/v1/traces/{trace_id}`. */
  readonly path: string
  readonly scope: string
  /** Equivalent agent tool with its arguments: `name argument=field …`. */
  readonly tool?: string | undefined
  /** Carries the types only. Never set. */
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

/** Returns the path and query of a request. */
export function addressOf({ path }: Pick<Operation<unknown, unknown>, 'path'>, { path: values = {}, query = {} }: RequestParts): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encoded(String(values[name] ?? '')))
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined || value === '' ? [] : [[name, String(value)]],
    ),
  )
  return search.size === 0 ? filled : `${filled}?${search.toString()}`
}

/** Also encodes quotes and brackets, so that the URL can be pasted into shells and JavaScript. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*~]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
