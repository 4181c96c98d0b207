/** Calls of agent tools that must succeed, and that must be refused. */

type Json = Readonly<Record<string, unknown>>

export interface ToolRefusal {
  readonly code: string
  readonly message: string
  readonly next_action: string
  readonly details?: Json
}

export interface ToolCalls {
  /** The result of a call that must succeed. */
  must(name: string, given?: Json): Promise<Json>
  /** The error of a call that must be refused. */
  refused(name: string, given?: Json): Promise<ToolRefusal>
}

export const toolCalls = (
  call: (name: string, given?: Json) => Promise<{ readonly isError: boolean; readonly value: Json }>,
): ToolCalls => ({
  async must(name, given) {
    const { isError, value } = await call(name, given)
    if (isError) throw new Error(`${name}: ${JSON.stringify(value)}`)
    return value
  },
  async refused(name, given) {
    const { isError, value } = await call(name, given)
    if (!isError) throw new Error(`${name} was not refused: ${JSON.stringify(value)}`)
    return value['error'] as ToolRefusal
  },
})
