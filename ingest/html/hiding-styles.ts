/**
 * Which rules of the style sheets of a message hide text or colour it, and what they come to for an element. As much of the cascade as
 * that needs: simple selectors with ancestors, specificity and !important (CSS Cascading Level 4 §6); rules for other media do not count.
 */
import { createRequire } from 'node:module'
import type { CssNode, Declaration, parse } from 'css-tree'

const require = createRequire(import.meta.url)

export type Declarations = ReadonlyMap<string, string>

/** An element as selectors look at it. */
export interface StyledElement {
  readonly name: string
  readonly classes: ReadonlySet<string>
  readonly id: string | undefined
}

interface Compound {
  readonly name: string | undefined
  readonly classes: readonly string[]
  readonly id: string | undefined
}

interface Rule {
  readonly last: Compound
  readonly ancestors: readonly Compound[]
  readonly weight: number
  readonly property: string
  readonly value: string
}

const watched = new Set([
  ...[
    'display',
    'visibility',
    'opacity',
    'font-size',
    'font',
    'color',
    'background',
    'background-color',
    'position',
    'left',
    'right',
    'top',
  ],
  ...['bottom', 'text-indent', 'margin-left', 'margin-top', 'max-height', 'height', 'max-width', 'width', 'overflow', 'clip', 'clip-path'],
  ...['transform', 'line-height', 'mso-hide'],
])
const maxRules = 2000
const maxAncestors = 4

export class HidingStyles {
  readonly #byKey = new Map<string, Rule[]>()

  /** Reads as much as is given; what cannot be read hides nothing. */
  constructor(sheet: string) {
    if (sheet.trim() === '') return
    try {
      const tree = (require('css-tree/parser') as typeof parse)(sheet, { context: 'stylesheet', parseValue: false })
      let order = 0
      for (const rule of topRules(tree)) for (const one of rulesOf(rule, order++)) if (order < maxRules) this.#add(one)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error // nested deeper than the parser can follow
    }
  }

  /** What the sheets and the element's own `style` say of it. */
  declarationsOf(element: StyledElement, ancestors: readonly StyledElement[], style: string | undefined): Declarations {
    const keys = [
      '*',
      element.name,
      ...[...element.classes].map((name) => `.${name}`),
      ...(element.id === undefined ? [] : [`#${element.id}`]),
    ]
    const found = keys
      .flatMap((key) => this.#byKey.get(key) ?? [])
      .filter((rule) => matches(rule.last, element) && within(rule.ancestors, ancestors))
    const inline = style === undefined ? [] : inlineRules(style)
    const all = [...found, ...inline].toSorted((a, b) => a.weight - b.weight)
    return new Map(all.map(({ property, value }) => [property, value]))
  }

  #add(rule: Rule): void {
    const { id, classes, name } = rule.last
    const key = id !== undefined ? `#${id}` : classes[0] !== undefined ? `.${classes[0]}` : (name ?? '*')
    const there = this.#byKey.get(key)
    if (there) there.push(rule)
    else this.#byKey.set(key, [rule])
  }
}

const matches = ({ name, classes, id }: Compound, element: StyledElement): boolean =>
  (name === undefined || name === element.name) &&
  (id === undefined || id === element.id) &&
  classes.every((one) => element.classes.has(one))

/** In order from outside to inside, as descendants; a child is taken for a descendant too. */
function within(wanted: readonly Compound[], ancestors: readonly StyledElement[]): boolean {
  let at = 0
  for (const ancestor of ancestors) {
    const next = wanted[at]
    if (next && matches(next, ancestor)) at++
  }
  return at === wanted.length
}

function topRules(tree: CssNode): CssNode[] {
  if (tree.type !== 'StyleSheet') return []
  return tree.children.toArray().flatMap((node) => {
    if (node.type === 'Rule') return [node]
    const isForAll = node.type === 'Atrule' && node.name.toLowerCase() === 'media' && node.block && isEveryScreen(node.prelude)
    return isForAll ? (node.block?.children.toArray() ?? []) : []
  })
}

const isEveryScreen = (prelude: CssNode | null): boolean => {
  const words = JSON.stringify(prelude ?? '').toLowerCase()
  return !words.includes('feature') && !words.includes('print')
}

function rulesOf(node: CssNode, order: number): Rule[] {
  if (node.type !== 'Rule' || node.prelude.type !== 'SelectorList') return []
  const declarations = node.block.children.toArray().filter((one): one is Declaration => one.type === 'Declaration')
  return node.prelude.children.toArray().flatMap((selector) => {
    const compounds = selector.type === 'Selector' ? compoundsOf(selector.children.toArray()) : undefined
    const last = compounds?.at(-1)
    if (!compounds || !last || compounds.length > maxAncestors + 1) return []
    const specificity = compounds.reduce(
      (sum, { id, classes, name }) => sum + (id === undefined ? 0 : 10_000) + classes.length * 100 + (name === undefined ? 0 : 1),
      0,
    )
    return declarations.flatMap(({ property, value, important }) => {
      const name = property.toLowerCase()
      if (!watched.has(name) || value.type !== 'Raw') return []
      const weight = (important ? 1e12 : 0) + specificity * 1e4 + order
      return [{ last, ancestors: compounds.slice(0, -1), weight, property: name, value: value.value.trim().toLowerCase() }]
    })
  })
}

/** Undefined for selectors with states, attributes or siblings: they are left to match nothing. */
function compoundsOf(nodes: readonly CssNode[]): Compound[] | undefined {
  const compounds: { name: string | undefined; classes: string[]; id: string | undefined }[] = [
    { name: undefined, classes: [], id: undefined },
  ]
  for (const node of nodes) {
    const current = compounds.at(-1)
    if (!current) return undefined
    if (node.type === 'TypeSelector') current.name = node.name === '*' ? undefined : node.name.toLowerCase()
    else if (node.type === 'ClassSelector') current.classes.push(node.name)
    else if (node.type === 'IdSelector') current.id = node.name
    else if (node.type === 'Combinator' && (node.name === ' ' || node.name === '>'))
      compounds.push({ name: undefined, classes: [], id: undefined })
    else return undefined
  }
  return compounds
}

/** Above every sheet, but for what is important there. */
function inlineRules(style: string): Rule[] {
  const any: Compound = { name: undefined, classes: [], id: undefined }
  return style.split(';').flatMap((text, i) => {
    const colon = text.indexOf(':')
    const property = text.slice(0, Math.max(colon, 0)).trim().toLowerCase()
    if (!watched.has(property)) return []
    const written = text
      .slice(colon + 1)
      .trim()
      .toLowerCase()
    const value = written.replace(/\s*!\s*important$/, '')
    return [{ last: any, ancestors: [], weight: (value === written ? 1e11 : 2e12) + i, property, value }]
  })
}
