/** A fault in a template or its input, with its position. The engine throws no other errors. */

/** Maximum number of reported faults. */
export const maxFaults = 20

export class TemplateFault extends Error {
  override readonly name = 'TemplateFault'
  /** Offset in the template, in UTF-16 units. */
  readonly at: number
  /** The variable concerned, such as `items[2].name`; empty for all variables, undefined for none. */
  readonly variable: string | undefined

  constructor(message: string, at: number, variable?: string) {
    super(message)
    this.at = at
    this.variable = variable
  }
}

/** Shortens and cleans a caller's text for a message. */
export function quoted(text: string): string {
  const clean = text.replaceAll(/\p{C}+/gu, ' ')
  return clean.length > 40 ? `${clean.slice(0, 39)}…` : clean
}
