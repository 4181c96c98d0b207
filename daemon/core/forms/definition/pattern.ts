/**
 * Matches patterns of form authors in linear time. A parser accepts a subset of JavaScript syntax; a non-backtracking machine runs all
 * states in parallel.
 */

/** Whether a character matches. */
type Fits = (character: string) => boolean

type Node =
  | { readonly kind: 'character'; readonly fits: Fits }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'choice'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly min: number; readonly max: number }

export const maxPattern = 120
/** Maximum number of states, which bounds the cost per character. Forms have many fields, and submissions many characters. */
const maxSteps = 250
const maxCount = 200

/** The reason why a pattern is not accepted. */
export class PatternFault extends Error {
  override readonly name = 'PatternFault'
}

type Step =
  | { readonly kind: 'character'; readonly fits: Fits; readonly next: number }
  | { readonly kind: 'split'; readonly next: readonly number[] }
  | { readonly kind: 'end' }

export type Matcher = (input: string) => boolean

const compiled = new Map<string, Matcher>()
const maxCompiled = 500

/** Returns a function that matches whole inputs. Throws `PatternFault` for an unsupported pattern. */
export function matcherOf(pattern: string): Matcher {
  const known = compiled.get(pattern)
  if (known) return known
  if (pattern.length > maxPattern) throw new PatternFault(`must have at most ${maxPattern} characters`)
  const steps = stepsOf(new Parser(withoutAnchors(pattern)).whole())
  const matcher = (input: string): boolean => run(steps, input)
  if (compiled.size >= maxCompiled) compiled.clear()
  compiled.set(pattern, matcher)
  return matcher
}

/** Removes anchors, because patterns always match whole inputs. */
function withoutAnchors(pattern: string): string {
  const from = pattern.startsWith('^') ? 1 : 0
  const isEnd = pattern.endsWith('$') && !/(?:^|[^\\])(?:\\\\)*\\\$$/.test(pattern)
  return pattern.slice(from, isEnd ? -1 : undefined)
}

const classes: Readonly<Record<string, Fits>> = {
  d: (c) => c >= '0' && c <= '9',
  w: (c) => (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c === '_',
  s: (c) => /^\s$/.test(c),
}
const controlsByLetter: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' }

class Parser {
  readonly #text: readonly string[]
  #at = 0

  constructor(pattern: string) {
    this.#text = [...pattern]
  }

  whole(): Node {
    const node = this.#choice(0)
    if (this.#at < this.#text.length) throw new PatternFault('has an unmatched closing parenthesis')
    return node
  }

  #choice(depth: number): Node {
    if (depth > 10) throw new PatternFault('nests groups deeper than 10 levels')
    const parts = [this.#sequence(depth)]
    while (this.#take('|')) parts.push(this.#sequence(depth))
    return parts.length === 1 && parts[0] ? parts[0] : { kind: 'choice', parts }
  }

  #sequence(depth: number): Node {
    const parts: Node[] = []
    for (let next = this.#peek(); next !== undefined && next !== '|' && next !== ')'; next = this.#peek())
      parts.push(this.#repeated(this.#atom(depth)))
    return { kind: 'sequence', parts }
  }

  #atom(depth: number): Node {
    const next = this.#next()
    if (next === '(') return this.#group(depth)
    if (next === '[') return { kind: 'character', fits: this.#class() }
    if (next === '.') return { kind: 'character', fits: (c) => c !== '\n' && c !== '\r' }
    if (next === '\\') return { kind: 'character', fits: this.#escape() }
    if (next === '^' || next === '$') throw new PatternFault(`has ${next} inside; it always matches the whole input`)
    if (/[*+?{}\]]/.test(next))
      throw new PatternFault(`has ${next} without a preceding character; write \\${next} for the character itself`)
    return { kind: 'character', fits: (c) => c === next }
  }

  #group(depth: number): Node {
    if (this.#take('?') && !this.#take(':')) throw new PatternFault('has look-around or a named group; groups are ( ) and (?: ) only')
    const inner = this.#choice(depth + 1)
    if (!this.#take(')')) throw new PatternFault('has a group that is not closed')
    return inner
  }

  #repeated(part: Node): Node {
    const bounds = this.#bounds()
    if (!bounds) return part
    const [min, max] = bounds
    if (max !== Infinity && max > maxCount) throw new PatternFault(`repeats more than ${maxCount} times`)
    if (max < min) throw new PatternFault('has a repeat with a maximum below its minimum')
    if (max === Infinity && hasUnbounded(part))
      throw new PatternFault('nests unbounded repeats; set a maximum for the inner or outer repeat')
    this.#take('?') // a lazy quantifier does not change whether a whole input matches
    if (/^[*+?{]$/.test(this.#peek() ?? '')) throw new PatternFault('has a repeat of a repeat; put the inner one in parentheses')
    return { kind: 'repeat', part, min, max }
  }

  #bounds(): readonly [number, number] | undefined {
    if (this.#take('*')) return [0, Infinity]
    if (this.#take('+')) return [1, Infinity]
    if (this.#take('?')) return [0, 1]
    if (this.#peek() !== '{') return undefined
    const rest = this.#text.slice(this.#at, this.#at + 12).join('')
    const [whole, min = '', comma, max] = /^\{(\d{1,4})(,)?(\d{1,4})?\}/.exec(rest) ?? []
    if (whole === undefined) throw new PatternFault('has { without a valid repeat such as {2}, {2,} or {2,5}')
    this.#at += whole.length
    if (Number(min) > maxCount) throw new PatternFault(`repeats more than ${maxCount} times`)
    return [Number(min), comma === undefined ? Number(min) : max === undefined || max === '' ? Infinity : Number(max)]
  }

  #escape(): Fits {
    const letter = this.#next()
    const known = classes[letter.toLowerCase()]
    if (known) return letter === letter.toLowerCase() ? known : (c) => !known(c)
    if (letter === 'p' || letter === 'P') return this.#property(letter)
    const literal = controlsByLetter[letter] ?? letter
    if (/[A-Za-z0-9]/.test(letter) && literal === letter)
      throw new PatternFault(`has \\${letter}, which is not supported; back references and word boundaries are not supported either`)
    return (c) => c === literal
  }

  #property(letter: string): Fits {
    const rest = this.#text.slice(this.#at, this.#at + 6).join('')
    const [whole, name] = /^\{(L|Lu|Ll|N|P)\}/.exec(rest) ?? []
    if (whole === undefined || name === undefined) throw new PatternFault(`has \\${letter} without one of {L}, {Lu}, {Ll}, {N}, {P}`)
    this.#at += whole.length
    const one = new RegExp(`^\\${letter}{${name}}$`, 'u')
    return (c) => one.test(c)
  }

  #class(): Fits {
    const isNegated = this.#take('^')
    const parts: Fits[] = []
    while (!this.#take(']')) {
      const first = this.#member()
      if (typeof first === 'string' && this.#peek() === '-' && this.#text[this.#at + 1] !== ']') {
        this.#at++
        const last = this.#member()
        if (typeof last !== 'string' || last < first) throw new PatternFault('has a character range in reverse order')
        parts.push((c) => c >= first && c <= last)
      } else parts.push(typeof first === 'string' ? (c) => c === first : first)
    }
    return (c) => parts.some((fits) => fits(c)) !== isNegated
  }

  #member(): string | Fits {
    if (this.#peek() === undefined) throw new PatternFault('has a class [ ] that is not closed')
    const next = this.#next()
    if (next !== '\\') return next
    const escaped = this.#peek() ?? ''
    if (/[dwspDWSP]/.test(escaped)) return this.#escape()
    this.#escape()
    return controlsByLetter[escaped] ?? escaped
  }

  #peek(): string | undefined {
    return this.#text[this.#at]
  }

  #next(): string {
    const next = this.#text[this.#at++]
    if (next === undefined) throw new PatternFault('ends unexpectedly')
    return next
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }
}

const hasUnbounded = (node: Node): boolean =>
  node.kind === 'repeat' ? node.max === Infinity || hasUnbounded(node.part) : node.kind !== 'character' && node.parts.some(hasUnbounded)

/** Builds the machine from its end; the last step is the start state. */
function stepsOf(root: Node): readonly Step[] {
  const steps: Step[] = [{ kind: 'end' }]
  const add = (step: Step): number => {
    if (steps.length >= maxSteps) throw new PatternFault('has too many repeats in total; use smaller bounds')
    return steps.push(step) - 1
  }
  let builds = 0 // limits parts that add no state but are repeated often
  const build = (node: Node, next: number): number => {
    if (++builds > 10 * maxSteps) throw new PatternFault('has too many repeats in total; use smaller bounds')
    if (node.kind === 'character') return add({ kind: 'character', fits: node.fits, next })
    if (node.kind === 'choice') return add({ kind: 'split', next: node.parts.map((part) => build(part, next)) })
    if (node.kind === 'sequence') return node.parts.reduceRight((after, part) => build(part, after), next)
    let after = next
    if (node.max === Infinity) {
      const again: number[] = [next]
      const loop = add({ kind: 'split', next: again })
      again.push(build(node.part, loop))
      after = loop
    } else
      for (let optional = node.min; optional < node.max; optional++) after = add({ kind: 'split', next: [next, build(node.part, after)] })
    for (let count = 0; count < node.min; count++) after = build(node.part, after)
    return after
  }
  add({ kind: 'split', next: [build(root, 0)] })
  return steps
}

/** Runs the machine; visits each state at most once per character. */
function run(steps: readonly Step[], input: string): boolean {
  const machine = new Machine(steps)
  machine.enter(steps.length - 1)
  for (const character of input) if (!machine.take(character)) return false
  return machine.isAtEnd()
}

/** The set of active states. A state is in the set if its mark equals the current turn. */
class Machine {
  readonly #steps: readonly Step[]
  readonly #marks: Uint32Array
  #turn = 1
  #states: number[] = []
  #before: number[] = []

  constructor(steps: readonly Step[]) {
    this.#steps = steps
    this.#marks = new Uint32Array(steps.length)
  }

  /** Adds a state and all states that follow without a character. */
  enter(state: number): void {
    if (this.#marks[state] === this.#turn) return
    this.#marks[state] = this.#turn
    const step = this.#steps[state]
    if (step?.kind === 'split') for (const next of step.next) this.enter(next)
    else this.#states.push(state)
  }

  /** Consumes a character. Returns false if no state remains. */
  take(character: string): boolean {
    const states = this.#states
    this.#states = this.#before
    this.#states.length = 0
    this.#before = states
    this.#turn++
    for (const state of states) {
      const step = this.#steps[state]
      if (step?.kind === 'character' && step.fits(character)) this.enter(step.next)
    }
    return this.#states.length > 0
  }

  isAtEnd(): boolean {
    return this.#marks[0] === this.#turn
  }
}

/** Predefined patterns by name. */
export const presets: Readonly<Record<string, { readonly pattern: string; readonly isWell?: Matcher }>> = {
  letters: { pattern: "\\p{L}[\\p{L} '’-]*" },
  digits: { pattern: '\\d+' },
  alnum: { pattern: '[\\p{L}\\p{N}]+' },
  slug: { pattern: '[a-z0-9][a-z0-9-]*' },
  postal_ch: { pattern: '[1-9]\\d{3}' },
  iban: { pattern: '[A-Za-z]{2}\\d{2}[A-Za-z0-9 ]{11,40}', isWell: isIban },
}

/** Checks the check digits of an IBAN (ISO 13616), a few digits at a time. */
function isIban(input: string): boolean {
  const compact = input.replaceAll(' ', '').toUpperCase()
  if (compact.length < 15 || compact.length > 34) return false
  let rest = 0
  for (const character of compact.slice(4) + compact.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}
