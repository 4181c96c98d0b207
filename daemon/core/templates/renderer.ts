/**
 * Fills a template in. Variables are looked up among own fields only, so that nothing of the language itself can be
 * reached; size, loops and work are bounded, so that every template ends soon.
 */
import { runAtOnce, type Steps } from '../event-loop.ts'
import type { Node, ParsedTemplate, VariablePath } from './syntax.ts'
import { TemplateFault } from './template-fault.ts'

export interface RenderRules {
  /** Applied to every value that is printed, never to the text of the template. */
  readonly escape: (text: string) => string
  /** What is printed or ranged over must be given; otherwise nothing stands for what is missing. */
  readonly strict: boolean
  readonly maxCharacters: number
}

/** Passes through all loops of a template together. */
const maxLoops = 10_000
/** Parts of the template that are looked at, over and over in loops. */
const maxSteps = 200_000
/** Parts after which the renderer pauses; it takes a few milliseconds. */
const pauseSteps = 5000

/** A value and the name it goes by: empty for the root. */
interface NamedValue {
  readonly value: unknown
  readonly name: string
}

/** Where a value stands in a text, in UTF-16 code units; empty where it printed nothing. */
export type Span = readonly [start: number, end: number]

/** What came of a template, and which parts of it are values. */
export interface Rendered {
  readonly text: string
  readonly filled: readonly Span[]
}

/** Throws a `TemplateFault`: about a variable that does not fit, or about none when a bound was met. */
export const renderMarked = (template: ParsedTemplate, variables: unknown, rules: RenderRules): Rendered =>
  runAtOnce(rendering(template, variables, rules))

/** Renders in steps. Throws as `renderMarked` does. */
export const rendering = ({ nodes }: ParsedTemplate, variables: unknown, rules: RenderRules): Steps<Rendered> =>
  new Rendering(variables, rules).render(nodes)

/** Throws as `renderMarked` does. */
export const render = (template: ParsedTemplate, variables: unknown, rules: RenderRules): string =>
  renderMarked(template, variables, rules).text

/** For text and for quoted attributes: the characters to which HTML gives a meaning there. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (char) => entities[char] ?? char)
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Line breaks and other controls become one blank, so that a value cannot end a header field. */
export const onOneLine = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')

class Rendering {
  readonly #root: NamedValue
  readonly #rules: RenderRules
  readonly #parts: string[] = []
  readonly #filled: Span[] = []
  #characters = 0
  #loops = 0
  #steps = 0
  #pauseAt = pauseSteps

  constructor(variables: unknown, rules: RenderRules) {
    this.#root = { value: variables, name: '' }
    this.#rules = rules
  }

  *render(nodes: readonly Node[]): Steps<Rendered> {
    yield* this.#all(nodes, this.#root)
    return { text: this.#parts.join(''), filled: this.#filled }
  }

  *#all(nodes: readonly Node[], dot: NamedValue): Steps<void> {
    for (const node of nodes) {
      if (this.#steps >= this.#pauseAt) {
        this.#pauseAt = this.#steps + pauseSteps
        yield
      }
      if (node.kind === 'text') this.#put(node.text, 0)
      else if (node.kind === 'print') this.#print(node.path, dot)
      else if (node.kind === 'if') yield* this.#choose(node, dot)
      else yield* this.#repeat(node, dot)
    }
  }

  #print(path: VariablePath, dot: NamedValue): void {
    const { value, name } = this.#look(path, dot)
    const start = this.#characters
    if (value === undefined || value === null) {
      this.#missing(value, path, name)
      this.#filled.push([start, start])
      return
    }
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      const fix = Array.isArray(value) ? 'is a list; go through it with range' : 'is an object; print one of its fields'
      throw new TemplateFault(fix, path.at, name)
    }
    const text = String(value)
    this.#checkSize(text, path.at)
    this.#put(this.#rules.escape(text), path.at)
    this.#filled.push([start, this.#characters])
  }

  #choose({ branches, otherwise }: Extract<Node, { kind: 'if' }>, dot: NamedValue): Steps<void> {
    const branch = branches.find(({ condition }) => isTrue(this.#look(condition, dot).value))
    return this.#all(branch ? branch.body : otherwise, dot)
  }

  *#repeat({ list, body, otherwise }: Extract<Node, { kind: 'range' }>, dot: NamedValue): Steps<void> {
    const { value, name } = this.#look(list, dot)
    if (value === undefined || value === null) this.#missing(value, list, name)
    else if (!Array.isArray(value)) throw new TemplateFault('must be a list', list.at, name)
    const entries: readonly unknown[] = Array.isArray(value) ? value : []
    if (entries.length === 0) return yield* this.#all(otherwise, dot)
    for (const [index, entry] of entries.entries()) {
      if (++this.#loops > maxLoops) throw new TemplateFault(`goes through its loops more than ${maxLoops} times`, list.at)
      this.#step(list.at)
      yield* this.#all(body, { value: entry, name: `${name}[${index}]` })
    }
  }

  #look({ fromRoot, names, at }: VariablePath, dot: NamedValue): NamedValue {
    this.#step(at)
    const start = fromRoot ? this.#root : dot
    let { value } = start
    for (const name of names) value = ownField(value, name)
    return { value, name: [...(start.name === '' ? [] : [start.name]), ...names].join('.') }
  }

  #missing(value: null | undefined, { at }: VariablePath, name: string): void {
    if (value === undefined && this.#rules.strict) throw new TemplateFault('is missing', at, name)
  }

  #put(text: string, at: number): void {
    this.#step(at)
    this.#checkSize(text, at)
    this.#characters += text.length
    this.#parts.push(text)
  }

  #checkSize(text: string, at: number): void {
    const { maxCharacters } = this.#rules
    if (this.#characters + text.length > maxCharacters) throw new TemplateFault(`comes to more than ${maxCharacters} characters`, at)
  }

  #step(at: number): void {
    if (++this.#steps > maxSteps) throw new TemplateFault(`takes more than ${maxSteps} steps`, at)
  }
}

/** A field of an object; lists and texts have none. */
function ownField(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

/** False are what is missing, null, false, 0, the empty text and the empty list. */
const isTrue = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value))
