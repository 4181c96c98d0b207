/** What is wrong with a template, or with what it is given, and where. The engine throws nothing else. */

/** The most faults that are reported at once. */
export const maxFaults = 20

export class TemplateFault extends Error {
  override readonly name = 'TemplateFault'
  /** Offset in the template, in UTF-16 units. */
  readonly at: number
  /** The variable that it is about, such as `items[2].name`; empty for all of them, undefined when it is about none. */
  readonly variable: string | undefined

  constructor(message: string, at: number, variable?: string) {
    super(message)
    this.at = at
    this.variable = variable
  }
}

/** Text of a caller, short enough and harmless enough to stand in a message. */
export function quoted(text: string): string {
  const clean = text.replaceAll(/\p{C}+/gu, ' ')
  return clean.length > 40 ? `${clean.slice(0, 39)}…` : clean
}
