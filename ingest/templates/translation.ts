/** A template of another service on its way into our syntax: what is written, the blocks that are open, and what could not be taken. */
/** What could not be taken, or is different here. */
export interface Finding {
  /** Offset in the template. */
  readonly at: number
  readonly message: string
}

/** A block that is open. `lost`: one without a counterpart, which is reported already. */
interface Frame {
  readonly kind: 'if' | 'unless' | 'each' | 'lost'
  /** By what it is closed. */
  readonly name: string
  /** What an entry of the list is called inside. */
  readonly entry?: string | undefined
  readonly at: number
}

const maxFindings = 20
/** More than our engine takes, which has its own bound. */
const maxDepth = 50

/** Something that our syntax has no words for. */
export class NoCounterpart extends Error {}

export class Translation {
  readonly problems: Finding[] = []
  readonly notes: Finding[] = []
  readonly #parts: string[] = []
  readonly #frames: Frame[] = []

  /** Nothing more can come of it. */
  isGivenUp = false
  #endsWithBrace = false

  get text(): string {
    return this.#parts.join('')
  }

  /** The loops that are open, the innermost last. */
  get loops(): readonly Frame[] {
    return this.#frames.filter(({ kind }) => kind === 'each')
  }

  write(text: string): void {
    if (text === '') return
    if (this.#endsWithBrace && text.startsWith('{'))
      this.problem('a brace stands beside the braces of a variable; put a blank between them', 0)
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

  /** The other branch: of an `if`, with a further condition, or of a loop for an empty list. */
  otherwise(at: number, condition?: string): void {
    const frame = this.#frames.at(-1)
    if (!frame) return this.problem('else stands in no block', at)
    if (frame.kind === 'lost') return
    if (frame.kind === 'unless') return this.problem('unless with else has no counterpart; write if with both branches', at)
    if (frame.kind === 'each' && condition !== undefined) return this.problem('else if stands in a loop', at)
    this.write(condition === undefined ? '{{else}}' : `{{else if ${condition}}}`)
  }

  /** `name` is what the end says that it closes; an end without a name closes the latest block. */
  close(name: string | undefined, at: number): void {
    const frame = this.#frames.at(-1)
    if (!frame || (name !== undefined && name !== frame.name)) {
      const latest = frame ? `; the latest is ${frame.name}` : ''
      return this.problem(`the end of ${name ?? 'a block'} closes no block that is open${latest}`, at)
    }
    this.#frames.pop()
    if (frame.kind !== 'lost') this.write('{{end}}')
  }

  /** Whatever is still open is reported. */
  finish(): void {
    for (const { name, at } of this.#frames) this.problem(`${name} is never closed`, at)
  }

  /** Runs a step whose failure belongs to this place. Returns whether it went well. */
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

/** Code of a template as a message shows it. */
export function shown(code: string): string {
  const clean = code.slice(0, maxShown + 1).replaceAll(/\p{C}+/gu, ' ')
  return (clean.length > maxShown ? `${clean.slice(0, maxShown - 1)}…` : clean).toWellFormed()
}

/** Names with dots between them as a variable of ours, from the entry of a loop or from the root. The template engine checks them again. */
export function variable(names: string, isFromRoot: boolean): string {
  if (!/^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(names))
    throw new NoCounterpart(`${shown(names)} has no counterpart; variables have letters, digits, _ and -, and dots between them`)
  return `${isFromRoot ? '$' : ''}.${names}`
}

/** A variable with what stands there where it has no value. */
export function withDefault(path: string, text: string, isHtml: boolean): string {
  if (text.includes('{{')) throw new NoCounterpart('a default with braces has no counterpart')
  const safe = isHtml ? text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;') : text
  return `{{if ${path}}}{{${path}}}{{else}}${safe}{{end}}`
}
