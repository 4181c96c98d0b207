/** Matches selectors of style sheets (Selectors 4), as far as the preceding elements determine the result. */
import { createRequire } from 'node:module'
import type { CssNode, ident, Selector } from 'css-tree'
import { allOf, anyOf, certainly, notThat, type Certainty } from './certainty.ts'

const require = createRequire(import.meta.url)

/** An element as selectors see it. */
export interface StyledElement {
  readonly name: string
  readonly classes: ReadonlySet<string>
  readonly id: string | undefined
  readonly attributes: Readonly<Record<string, string>>
  readonly parent: StyledElement | undefined
  /** The preceding sibling. */
  readonly previous: StyledElement | undefined
}

/** Remaining comparisons for a message. If a message needs more, the remaining rules are not evaluated. */
export interface Budget {
  comparisons: number
  /** A match was abandoned. */
  isExceeded: boolean
}

type Compare = (element: StyledElement, budget: Budget) => Certainty

interface Test {
  readonly compare: Compare
  /** The test may return `maybe`. */
  readonly isDoubtful: boolean
}

/** The part of a selector for one element, and the combinator to the part on its left. */
interface Compound {
  readonly tests: readonly Test[]
  readonly combinator: string
}

export interface CompiledSelector {
  /** Compounds from right to left. */
  readonly compounds: readonly Compound[]
  /** A class, ID or element name that every match has, such as `.note`; `*` if there is no such name. */
  readonly key: string
  readonly specificity: number
  /** The selector contains a part that is never evaluated. */
  readonly isDoubtful: boolean
}

const maxCompounds = 8
/** Limit of ancestors or siblings that a combinator visits. */
const maxSteps = 300

export const decoded = (name: string): string => (require('css-tree/utils') as { ident: typeof ident }).ident.decode(name)

/** Compiles a selector. Undefined for pseudo-elements, because they are not elements. */
export function compiled(selector: Selector): CompiledSelector | undefined {
  const compounds: { tests: Test[]; combinator: string }[] = [{ tests: [], combinator: '' }]
  let key = '*'
  let specificity = 0
  for (const node of selector.children.toArray()) {
    if (node.type === 'Combinator') {
      compounds.unshift({ tests: [], combinator: node.name })
      key = '*'
      continue
    }
    if (node.type === 'PseudoElementSelector' && !/^first-(?:line|letter)$/i.test(node.name)) return undefined
    if (node.type === 'PseudoClassSelector' && /^(?:before|after)$/i.test(node.name)) return undefined
    specificity += weightOf(node)
    key = keyOf(node, key)
    compounds[0]?.tests.push(testOf(node))
  }
  const isDoubtful = compounds.length > maxCompounds || compounds.some(({ tests }) => tests.some((one) => one.isDoubtful))
  return { compounds, key, specificity: Math.min(specificity, 999_999), isDoubtful }
}

export function matches({ compounds }: CompiledSelector, element: StyledElement, budget: Budget): Certainty {
  return compounds.length > maxCompounds ? 'maybe' : matchesFrom(compounds, 0, element, budget)
}

function matchesFrom(compounds: readonly Compound[], at: number, element: StyledElement, budget: Budget): Certainty {
  const compound = compounds[at]
  if (!compound) return 'yes'
  if (--budget.comparisons < 0) {
    budget.isExceeded = true
    return 'maybe'
  }
  const own = allOf(compound.tests.map(({ compare }) => compare(element, budget)))
  if (own === 'no' || at === compounds.length - 1) return own
  let best: Certainty = 'no'
  const step = stepsOf.get(compound.combinator)
  if (!step) return 'maybe'
  let steps = 0
  for (let other = step.next(element); other && best !== 'yes'; other = step.isOnce ? undefined : step.next(other)) {
    best = anyOf([best, matchesFrom(compounds, at + 1, other, budget)])
    if (++steps < maxSteps) continue
    budget.isExceeded = true
    break
  }
  return allOf([own, best])
}

interface Step {
  readonly next: (element: StyledElement) => StyledElement | undefined
  readonly isOnce: boolean
}

const up = ({ parent }: StyledElement): StyledElement | undefined => parent
const back = ({ previous }: StyledElement): StyledElement | undefined => previous
const stepsOf: ReadonlyMap<string, Step> = new Map([
  [' ', { next: up, isOnce: false }],
  ['>', { next: up, isOnce: true }],
  ['+', { next: back, isOnce: true }],
  ['~', { next: back, isOnce: false }],
])

function keyOf(node: CssNode, known: string): string {
  if (node.type === 'IdSelector') return `#${decoded(node.name)}`
  if (node.type === 'ClassSelector' && !known.startsWith('#')) return `.${decoded(node.name)}`
  return node.type === 'TypeSelector' && node.name !== '*' && known === '*' ? decoded(node.name).toLowerCase() : known
}

function weightOf(node: CssNode): number {
  if (node.type === 'IdSelector') return 10_000
  if (node.type === 'TypeSelector') return node.name === '*' ? 0 : 1
  if (node.type !== 'PseudoClassSelector') return node.type === 'PseudoElementSelector' ? 1 : 100
  if (/^where$/i.test(node.name)) return 0
  const inside = alternativesOf(node.children?.toArray() ?? [])
  return inside.length === 0 ? 100 : Math.max(...inside.map((selector) => sum(selector.children.toArray().map(weightOf))))
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

const alternativesOf = (nodes: readonly CssNode[]): Selector[] =>
  nodes
    .flatMap((node) => (node.type === 'SelectorList' ? node.children.toArray() : [node]))
    .filter((node): node is Selector => node.type === 'Selector')

const maybe: Test = { compare: () => 'maybe', isDoubtful: true }
const sure = (compare: Compare): Test => ({ compare, isDoubtful: false })
const never = sure(() => 'no')

function testOf(node: CssNode): Test {
  switch (node.type) {
    case 'TypeSelector': {
      const name = decoded(node.name)
        .toLowerCase()
        .replace(/^[^|]*\|/, '')
      return sure((element) => certainly(name === '*' || element.name === name))
    }
    case 'ClassSelector': {
      const name = decoded(node.name)
      return sure(({ classes }) => certainly(classes.has(name)))
    }
    case 'IdSelector': {
      const name = decoded(node.name)
      return sure(({ id }) => certainly(id === name))
    }
    case 'AttributeSelector':
      return attributeTest(node)
    case 'PseudoClassSelector':
      return pseudoTest(node.name.toLowerCase(), alternativesOf(node.children?.toArray() ?? []))
    default:
      return maybe
  }
}

/** Attributes that mail clients add. Their styles do not apply to the message as sent. */
const ofPrograms = /^(?:data-ogs[a-z]*|owa|data-outlook.*|data-darkreader.*|x-apple.*)$/
/** Attributes that the sanitizer keeps from the sender. */
const known: ReadonlySet<string> = new Set(['class', 'id', 'hidden', 'align', 'dir', 'lang', 'title', 'bgcolor', 'alt', 'width', 'height'])

function attributeTest(node: Extract<CssNode, { type: 'AttributeSelector' }>): Test {
  const name = decoded(node.name.name).toLowerCase()
  if (ofPrograms.test(name)) return never
  if (!known.has(name)) return maybe
  const isCaseFree = node.flags?.toLowerCase() === 'i' || name === 'align' || name === 'dir'
  const plain = (text: string): string => (isCaseFree ? text.toLowerCase() : text)
  const wanted = node.value ? plain(node.value.type === 'String' ? node.value.value : decoded(node.value.name)) : ''
  const compare = comparisons[node.matcher ?? '']
  if (!compare) return maybe
  return sure(({ attributes }) => {
    const value = attributes[name]
    return certainly(value !== undefined && compare(plain(value), wanted))
  })
}

const comparisons: Readonly<Record<string, (value: string, wanted: string) => boolean>> = {
  '': () => true,
  '=': (value, wanted) => value === wanted,
  '~=': (value, wanted) => value.split(/\s+/).includes(wanted),
  '|=': (value, wanted) => value === wanted || value.startsWith(`${wanted}-`),
  '^=': (value, wanted) => wanted !== '' && value.startsWith(wanted),
  '$=': (value, wanted) => wanted !== '' && value.endsWith(wanted),
  '*=': (value, wanted) => wanted !== '' && value.includes(wanted),
}

/** States that exist only during an interaction. */
const passing =
  /^(?:hover|active|focus|focus-within|focus-visible|visited|target|target-within|checked|indeterminate|placeholder-shown|autofill)$/

/** Selectors that depend on later elements, removed elements or the client are not evaluated. */
function pseudoTest(name: string, inside: readonly Selector[]): Test {
  if (passing.test(name)) return never
  if (name === 'link' || name === 'any-link') return sure((element) => certainly(element.name === 'a' && 'href' in element.attributes))
  if (name === 'root') return sure((element) => certainly(element.parent === undefined))
  if (!/^(?:is|where|not|matches|-webkit-any|-moz-any)$/.test(name)) return maybe
  const alternatives = inside.map(compiled)
  const any: Compare = (element, budget) => anyOf(alternatives.map((one) => (one ? matches(one, element, budget) : 'no')))
  return {
    compare: name === 'not' ? (element, budget) => notThat(any(element, budget)) : any,
    isDoubtful: alternatives.some((one) => one?.isDoubtful === true),
  }
}
