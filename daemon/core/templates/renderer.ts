/**
 * Renders a template. Looks up only own fields of variables, so that templates cannot reach JavaScript's objects. Size, loops and steps are
 * bounded, so that every rendering ends.
 */
import { runAtOnce, type Steps } from '../event-loop.ts'
import type { Node, ParsedTemplate, VariablePath } from './syntax.ts'
import { TemplateFault } from './template-fault.ts'

export interface RenderRules {
  /** Applied to every printed value, never to the template's text. */
  readonly escape: (text: string) => string
  /** If true, printed values and lists are required. Otherwise missing values render as empty. */
  readonly strict: boolean
  readonly maxCharacters: number
}

/** Maximum iterations of all loops together. */
const maxLoops = 10_000
/** Maximum evaluated parts, including repeats in loops. */
const maxSteps = 200_000
/** Parts between pauses; they take a few milliseconds. */
const pauseSteps = 5000

/** A value with its path: empty for the root. */
interface NamedValue {
  readonly value: unknown
  readonly name: string
}

/** Range of a value in the text, in UTF-16 code units; empty if it printed nothing. */
export type Span = readonly [start: number, end: number]

/** A rendered text, with the ranges of values. */
export interface Rendered {
  readonly text: string
  readonly filled: readonly Span[]
}

/** Throws a `TemplateFault`: for an invalid variable, or without a variable if a bound is exceeded. */
export const renderMarked = (template: ParsedTemplate, variables: unknown, rules: RenderRules): Rendered =>
  runAtOnce(rendering(template, variables, rules))

/** Renders in steps. Throws like `renderMarked`. */
export const rendering = ({ nodes }: ParsedTemplate, variables: unknown, rules: RenderRules): Steps<Rendered> =>
  new Rendering(variables, rules).render(nodes)

/** Throws like `renderMarked`. */
export const render = (template: ParsedTemplate, variables: unknown, rules: RenderRules): string =>
  renderMarked(template, variables, rules).text

/** Escapes the HTML metacharacters of text and quoted attributes. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (char) => entities[char] ?? char)
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Replaces line breaks and other control characters by one blank, so that a value cannot end a header field. */
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
      const fix = Array.isArray(value) ? 'is a list; iterate over it with range' : 'is an object; print one of its fields'
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

/** Returns an own field of an object; undefined for lists and text. */
function ownField(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

/** Missing values, null, false, 0, empty text and empty lists are false. */
const isTrue = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value))
