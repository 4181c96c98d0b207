/** State of a template translation: the output, the open blocks and the findings. */
/** A part of the template that has no counterpart or behaves differently. */
export interface Finding {
  /** Offset in the template. */
  readonly at: number
  readonly message: string
}

/** An open block. `lost`: a block without a counterpart, which has been reported. */
interface Frame {
  readonly kind: 'if' | 'unless' | 'each' | 'lost'
  /** Name that the closing tag must repeat. */
  readonly name: string
  /** Name of the list entry inside the block. */
  readonly entry?: string | undefined
  readonly at: number
}

const maxFindings = 20
/** Deeper than the template engine permits; it checks its own limit. */
const maxDepth = 50

/** Thrown for code that has no counterpart in Postern's syntax. */
export class NoCounterpart extends Error {}

export class Translation {
  readonly problems: Finding[] = []
  readonly notes: Finding[] = []
  readonly #parts: string[] = []
  readonly #frames: Frame[] = []

  /** Set when the translation was aborted. */
  isGivenUp = false
  #endsWithBrace = false

  get text(): string {
    return this.#parts.join('')
  }

  /** The open loops, innermost last. */
  get loops(): readonly Frame[] {
    return this.#frames.filter(({ kind }) => kind === 'each')
  }

  write(text: string): void {
    if (text === '') return
    if (this.#endsWithBrace && text.startsWith('{'))
      this.problem('a brace touches the braces of a variable; insert a space between them', 0)
    this.#endsWithBrace = text.endsWith('{')
    this.#parts.push(text)
  }

  problem(message: string, at: number): void {
    if (this.problems.length < maxFindings) this.problems.push({ message, at })
  }

  note(message: string, at: number): void {
    if (this.notes.length < maxFindings && !this.notes.some((note) => note.message === message)) this.notes.push({ message, at })
  }

  open(frame: Frame, written: string): void {
    if (this.#frames.length === maxDepth) {
      this.isGivenUp = true
      return this.problem(`blocks nest deeper than ${maxDepth} levels`, frame.at)
    }
    this.#frames.push(frame)
    this.write(written)
  }

  /** Begins the other branch: of an `if`, optionally with a condition, or of a loop over an empty list. */
  otherwise(at: number, condition?: string): void {
    const frame = this.#frames.at(-1)
    if (!frame) return this.problem('else is outside of any block', at)
    if (frame.kind === 'lost') return
    if (frame.kind === 'unless') return this.problem('unless with else has no counterpart; write if with both branches', at)
    if (frame.kind === 'each' && condition !== undefined) return this.problem('else if is inside a loop', at)
    this.write(condition === undefined ? '{{else}}' : `{{else if ${condition}}}`)
  }

  /** Closes the latest block. `name` is the name in the closing tag; undefined if the tag has no name. */
  close(name: string | undefined, at: number): void {
    const frame = this.#frames.at(-1)
    if (!frame || (name !== undefined && name !== frame.name)) {
      const latest = frame ? `; the latest open block is ${frame.name}` : ''
      return this.problem(`the end of ${name ?? 'a block'} does not match an open block${latest}`, at)
    }
    this.#frames.pop()
    if (frame.kind !== 'lost') this.write('{{end}}')
  }

  /** Reports all blocks that are still open. */
  finish(): void {
    for (const { name, at } of this.#frames) this.problem(`${name} is never closed`, at)
  }

  /** Runs one step and reports `NoCounterpart` as a problem at `at`. Returns false if it was thrown. */
  step(at: number, run: () => void): boolean {
    try {
      run()
      return true
    } catch (error) {
      if (!(error instanceof NoCounterpart)) throw error
      this.problem(error.message, at)
      return false
    }
  }
}

const maxShown = 40

/** Shortens the code of a template for a message. */
export function shown(code: string): string {
  const clean = code.slice(0, maxShown + 1).replaceAll(/\p{C}+/gu, ' ')
  return (clean.length > maxShown ? `${clean.slice(0, maxShown - 1)}…` : clean).toWellFormed()
}

/**
 * A variable in Postern's syntax for a dotted name, relative to the loop entry or to the root. The template engine checks the result again.
 */
export function variable(names: string, isFromRoot: boolean): string {
  if (!/^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(names))
    throw new NoCounterpart(`${shown(names)} has no counterpart; variables have letters, digits, _ and -, and dots between them`)
  return `${isFromRoot ? '$' : ''}.${names}`
}

/** A variable with the default for a missing or empty value. */
export function withDefault(path: string, text: string, isHtml: boolean): string {
  if (text.includes('{{')) throw new NoCounterpart('a default with braces has no counterpart')
  const safe = isHtml ? text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;') : text
  return `{{if ${path}}}{{${path}}}{{else}}${safe}{{end}}`
}
