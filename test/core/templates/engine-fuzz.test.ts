/** Random templates: compared with a naive reading of the same tree, and built from arbitrary pieces. */
import test from '#test'
import { parseTemplate } from '#core/templates/parser.ts'
import { escapeHtml, render } from '#core/templates/renderer.ts'
import { TemplateFault } from '#core/templates/template-fault.ts'
import { Seeded } from '../../support/seeded.ts'

const runs = 3000
const rules = { escape: escapeHtml, strict: false, maxCharacters: 2_000 }

/** A tree of the test; paths include their dots. */
type Part =
  | { readonly text: string }
  | { readonly print: string }
  | { readonly cases: readonly (readonly [string, readonly Part[]])[]; readonly otherwise: readonly Part[] }
  | { readonly list: string; readonly body: readonly Part[]; readonly otherwise: readonly Part[] }

const names = ['a', 'b', 'list', 'deep', '__proto__', 'constructor', 'planted']
const paths = (random: Seeded): string => {
  const start = random.pick(['.', '$.', ''])
  return `${start}${Array.from({ length: random.between(1, 3) }, () => random.pick(names)).join('.')}`
}

function parts(random: Seeded, depth: number): readonly Part[] {
  return Array.from({ length: random.between(0, 3) }, (): Part => {
    const kind = depth === 0 ? random.between(0, 1) : random.between(0, 3)
    if (kind === 0) return { text: random.pick(['x', ' ', '<&>', '\n', '}}', '{ ']) }
    if (kind === 1) return { print: paths(random) }
    const otherwise = random.chance(0.5) ? parts(random, depth - 1) : []
    if (kind === 2) return { list: paths(random), body: parts(random, depth - 1), otherwise }
    const cases = Array.from({ length: random.between(1, 3) }, () => [paths(random), parts(random, depth - 1)] as const)
    return { cases, otherwise }
  })
}

const write = (tree: readonly Part[]): string =>
  tree
    .map((part) => {
      if ('text' in part) return part.text
      if ('print' in part) return `{{${part.print}}}`
      const otherwise = part.otherwise.length > 0 ? `{{else}}${write(part.otherwise)}` : ''
      if ('list' in part) return `{{range ${part.list}}}${write(part.body)}${otherwise}{{end}}`
      const cases = part.cases.map(([path, body], index) => `{{${index > 0 ? 'else ' : ''}if ${path}}}${write(body)}`)
      return `${cases.join('')}${otherwise}{{end}}`
    })
    .join('')

/** A value that cannot be used as requested. */
class Unfit extends Error {}

/** Renders the tree by the documentation, over maps without prototypes. */
function naive(tree: readonly Part[], root: unknown, dot: unknown): string {
  const look = (path: string): unknown => {
    let value = path.startsWith('$') ? root : dot
    for (const name of path.split('.').filter((one) => one !== '' && one !== '$'))
      value = value instanceof Map ? value.get(name) : undefined
    return value
  }
  const isTrue = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value))
  return tree
    .map((part) => {
      if ('text' in part) return part.text
      if ('print' in part) {
        const value = look(part.print)
        if (typeof value === 'object' && value !== null) throw new Unfit()
        const text = String((value as string | number | boolean | null | undefined) ?? '')
        return text
          .replaceAll('&', '&amp;')
          .replaceAll('<', '&lt;')
          .replaceAll('>', '&gt;')
          .replaceAll('"', '&quot;')
          .replaceAll("'", '&#39;')
      }
      if ('list' in part) {
        const value = look(part.list)
        if (value !== undefined && value !== null && !Array.isArray(value)) throw new Unfit()
        if (!Array.isArray(value) || value.length === 0) return naive(part.otherwise, root, dot)
        return value.map((entry: unknown) => naive(part.body, root, entry)).join('')
      }
      const taken = part.cases.find(([path]) => isTrue(look(path)))
      return naive(taken ? taken[1] : part.otherwise, root, dot)
    })
    .join('')
}

/** The same value as JSON and as maps. */
function values(random: Seeded, depth: number): readonly [json: string, naive: unknown] {
  const kind = depth === 0 ? random.between(0, 4) : random.between(0, 9)
  if (kind < 5) {
    const value = random.pick(['<b>"\'&', '', 'plain', 0, 7.5, true, false, null])
    return [JSON.stringify(value), value]
  }
  if (kind === 5) {
    const entries = Array.from({ length: random.between(0, 3) }, () => values(random, depth - 1))
    return [`[${entries.map(([json]) => json).join(',')}]`, entries.map(([, value]) => value)]
  }
  return object(random, depth)
}

function object(random: Seeded, depth: number): readonly [json: string, naive: Map<string, unknown>] {
  const own = names.filter((name) => name !== 'planted' && random.chance(0.6))
  const fields = own.map((name) => [name, values(random, depth - 1)] as const)
  return [
    `{${fields.map(([name, [json]]) => `${JSON.stringify(name)}:${json}`).join(',')}}`,
    new Map(fields.map(([name, [, value]]) => [name, value])),
  ]
}

/** Plants inherited fields that print this text if reached. */
function planted<T>(work: () => T): T {
  Object.defineProperty(Object.prototype, 'planted', { value: 'PLANTED', configurable: true })
  try {
    return work()
  } finally {
    Reflect.deleteProperty(Object.prototype, 'planted')
  }
}

const outcome = (work: () => string, expected: new (...args: never[]) => Error): string => {
  try {
    return `text ${work()}`
  } catch (error) {
    if (error instanceof expected) return 'fault'
    throw error
  }
}

test('engine: equals a naive reading for every well-formed template', (t) => {
  const random = new Seeded('templates')
  const seen = { faults: 0, texts: 0 }
  for (let run = 0; run < runs; run++) {
    const tree = parts(random, 4)
    const source = write(tree)
    const [json, root] = object(random, 4)
    const expected = outcome(() => naive(tree, root, root), Unfit)
    if (expected.length > rules.maxCharacters) continue
    const got = planted(() => outcome(() => render(parseTemplate(source), JSON.parse(json), rules), TemplateFault))
    t.is(got, expected, `run ${run}: ${source} with ${json}`)
    seen[got === 'fault' ? 'faults' : 'texts']++
  }
  t.true(seen.faults > 100 && seen.texts > 1000, JSON.stringify(seen))
})

test('engine: arbitrary pieces render or fault, and reach no inherited fields', (t) => {
  const random = new Seeded('pieces')
  const pieces = [
    ...['{{', '}}', '{{', '}}', '{', '}', '-', ' ', '\n', '"', '/*', '*/', '$', '.', '|', '#', 'x', '\u0000', 'ß', '\ud800'],
    ...['if ', 'else', 'else if ', 'end', 'range ', 'with ', '{{end}}', '{{else}}', '{{if .a}}', '{{range .list}}', '{{range $.list}}'],
    ...['.a', '$.a', '.', '.planted', '.__proto__.planted', '.constructor.name', '{{.a}}', '{{.planted}}', '{{.constructor}}'],
  ]
  const seen = { faults: 0, texts: 0 }
  for (let run = 0; run < 20_000; run++) {
    const source = Array.from({ length: random.between(1, 14) }, () => random.pick(pieces)).join('')
    const [json] = object(random, 3)
    const got = planted(() => outcome(() => render(parseTemplate(source), JSON.parse(json), rules), TemplateFault))
    t.false(got.includes('PLANTED') || /native code|\[object/.test(got), `run ${run}: ${source}`)
    t.true(got.length <= rules.maxCharacters + 'text '.length)
    seen[got === 'fault' ? 'faults' : 'texts']++
  }
  t.true(seen.faults > 1000 && seen.texts > 1000, JSON.stringify(seen))
})
