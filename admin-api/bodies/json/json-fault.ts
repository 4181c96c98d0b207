/** Finds the position of the first syntax error (RFC 8259). Runs only after the parser refused the text. */

/** The first position that cannot be JSON, as an offset in UTF-16 units, and the expected token. */
export interface JsonFault {
  readonly offset: number
  readonly expected: string
}

type Expecting = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or }' | ', or ]' | 'end'

const texts: Record<Expecting, string> = {
  value: 'a value',
  'value or ]': 'a value or "]"',
  name: 'a field name in double quotes',
  'name or }': 'a field name in double quotes or "}"',
  ':': '":"',
  ', or }': '"," or "}"',
  ', or ]': '"," or "]"',
  end: 'the end of the body',
}

const blank = /[ \t\n\r]*/y
const literal = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const escape = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y

/** Parses the text by the grammar, one token at a time and without recursion, up to the first token that does not fit. */
export function findJsonFault(text: string): JsonFault {
  const open: ('}' | ']')[] = []
  let expecting: Expecting = 'value'
  let at = 0
  for (;;) {
    at = matchEnd(blank, text, at) ?? at
    const step = take(text, at, expecting, open)
    if (!step) return { offset: at, expected: texts[expecting] }
    if (step.fault !== undefined) return { offset: step.end, expected: step.fault }
    expecting = step.next
    at = step.end
  }
}

interface Step {
  readonly end: number
  readonly next: Expecting
  /** The expected text if a token starts correctly but breaks at `end`. */
  readonly fault?: string
}

function take(text: string, at: number, expecting: Expecting, open: ('}' | ']')[]): Step | undefined {
  const char = text[at]
  if (char === undefined) return undefined
  if (expecting === ':') return char === ':' ? { end: at + 1, next: 'value' } : undefined
  if (char === open.at(-1) && expecting.endsWith(char)) {
    open.pop()
    return { end: at + 1, next: after(open) }
  }
  if (expecting === ', or }' || expecting === ', or ]') {
    return char === ',' ? { end: at + 1, next: expecting === ', or }' ? 'name' : 'value' } : undefined
  }
  if (expecting === 'name' || expecting === 'name or }') return char === '"' ? takeString(text, at, ':') : undefined
  return expecting === 'end' ? undefined : takeValue(text, at, open)
}

function takeValue(text: string, at: number, open: ('}' | ']')[]): Step | undefined {
  const char = text[at]
  if (char === '"') return takeString(text, at, after(open))
  if (char === '{' || char === '[') {
    open.push(char === '{' ? '}' : ']')
    return { end: at + 1, next: char === '{' ? 'name or }' : 'value or ]' }
  }
  const end = matchEnd(literal, text, at)
  return end === undefined ? undefined : { end, next: after(open) }
}

function takeString(text: string, from: number, next: Expecting): Step {
  let at = from + 1
  for (;;) {
    const code = text.charCodeAt(at)
    if (Number.isNaN(code)) return { end: at, next, fault: 'the closing double quote' }
    if (code === 0x22) return { end: at + 1, next }
    if (code < 0x20) return { end: at, next, fault: 'no control character inside text; write it as an escape such as \\n' }
    const end = code === 0x5c ? matchEnd(escape, text, at) : at + 1
    if (end === undefined) return { end: at, next, fault: 'a known escape such as \\n, \\" or \\u00e9' }
    at = end
  }
}

function after(open: readonly string[]): Expecting {
  if (open.length === 0) return 'end'
  return open.at(-1) === '}' ? ', or }' : ', or ]'
}

function matchEnd(token: RegExp, text: string, at: number): number | undefined {
  token.lastIndex = at
  return token.test(text) ? token.lastIndex : undefined
}
