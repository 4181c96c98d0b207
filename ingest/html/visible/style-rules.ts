/**
 * The rules of the style sheets of a message, and their declarations for an element. It implements the part of the cascade that determines
 * visibility (CSS Cascading Level 5 §6), for each screen, with and without uncertain rules.
 */
import { createRequire } from 'node:module'
import type { CssNode, Declaration, parse } from 'css-tree'
import { unjudgedPrefix } from '../mail-styles.ts'
import { allOf, type Certainty } from './certainty.ts'
import { appliesIn, scenes } from './scenes.ts'
import { compiled, decoded, matches, type Budget, type CompiledSelector, type StyledElement } from './selectors.ts'
import { watchedProperties } from './watched-properties.ts'

const require = createRequire(import.meta.url)

/** Values by property, both in lower case. `unjudged()` replaces a value that the sanitizer removed. */
export type Declarations = ReadonlyMap<string, string>

interface Given {
  readonly property: string
  readonly value: string
  readonly isImportant: boolean
}

interface Rule {
  readonly selector: CompiledSelector
  /** The certainty that the rule applies, for each of `scenes`. */
  readonly applies: readonly Certainty[]
  readonly layer: number
  readonly order: number
  readonly given: readonly Given[]
}

/** A declaration with its weight in the cascade; the highest weight wins. */
interface Placed {
  readonly weight: number
  readonly given: Given
}

/** Longhand properties that a shorthand also sets. */
const resets: Readonly<Record<string, readonly string[]>> = {
  font: ['font-size', 'line-height', 'font-size-adjust'],
  background: ['background-color', 'background-image', 'background-clip', '-webkit-background-clip'],
  inset: ['left', 'right', 'top', 'bottom'],
  margin: ['margin-left', 'margin-top', 'margin-block-start', 'margin-inline-start'],
  overflow: ['overflow-x', 'overflow-y'],
  mask: ['mask-image'],
  '-webkit-mask': ['-webkit-mask-image'],
  animation: ['animation-name'],
  offset: ['offset-path'],
}

const maxRules = 4000
/** Longer values are not evaluated. */
const maxValue = 1000
/** Limit of selector comparisons and sorted declarations for a message. Real mail needs some thousands. */
const maxComparisons = 300_000
/** Limit of evaluated steps of an animation. */
const maxSteps = 20
const unlayered = 64
const ofElement = 65

const unjudged = 'unjudged()'

export class StyleRules {
  readonly #byKey = new Map<string, Rule[]>()
  readonly #inline = new Map<string, readonly Given[]>()
  readonly #budget: Budget = { comparisons: maxComparisons, isExceeded: false }
  readonly #layers: string[] = []
  /** The declarations of each step, by name of the animation. */
  readonly animations = new Map<string, readonly Declarations[]>()
  /** `declarationsOf` returns one map for each of these views. Screens without differences share one view. */
  readonly views: readonly View[]
  #order = 0
  #differs = false
  #doubts = false

  /** Parses the sheet. A sheet nested too deeply for the parser has no rules. */
  constructor(sheet: string) {
    if (sheet.trim() !== '') this.#read(sheet)
    const screens = this.#differs ? scenes.map((_, at) => at) : [0]
    this.views = screens.flatMap((scene) => [{ scene, withDoubts: false }, ...(this.#doubts ? [{ scene, withDoubts: true }] : [])])
  }

  /** True if the comparison limit was exceeded; from then on, visibility is uncertain. */
  get isExceeded(): boolean {
    return this.#budget.isExceeded
  }

  /** The declarations for an element, one map for each view. `style` is the value of its attribute. */
  declarationsOf(element: StyledElement, style: string | undefined): Declarations[] {
    const keys = [
      '*',
      element.name,
      ...[...element.classes].map((name) => `.${name}`),
      ...(element.id === undefined ? [] : [`#${element.id}`]),
    ]
    const found = keys
      .flatMap((key) => this.#candidates(key))
      .map((rule) => ({ rule, match: matches(rule.selector, element, this.#budget) }))
      .filter(({ match }) => match !== 'no')
    const own = this.#inlineOf(style).map((given, order) => placed(given, ofElement, 0, order))
    return this.views.map(({ scene, withDoubts }) => {
      const applied = found.filter(({ rule, match }) => {
        const certainty = allOf([match, rule.applies[scene] ?? 'no'])
        return certainty === 'yes' || (certainty === 'maybe' && withDoubts)
      })
      const all = [...applied.flatMap(({ rule }) => placesOf(rule)), ...own].toSorted((a, b) => a.weight - b.weight)
      const declared = new Map<string, string>()
      for (const { given } of all) {
        for (const longer of resets[given.property] ?? []) declared.delete(longer)
        declared.set(given.property, given.value)
      }
      return declared
    })
  }

  /** Rules whose selectors may match. */
  #candidates(key: string): readonly Rule[] {
    const rules = this.#byKey.get(key) ?? []
    this.#budget.comparisons -= rules.reduce((sum, { given: declared }) => sum + declared.length, 0)
    if (this.#budget.comparisons >= 0) return rules
    this.#budget.isExceeded ||= rules.length > 0
    return []
  }

  #read(sheet: string): void {
    try {
      const tree = (require('css-tree/parser') as typeof parse)(sheet, { context: 'stylesheet', parseValue: false })
      const always = scenes.map((): Certainty => 'yes')
      if (tree.type === 'StyleSheet') this.#addAll(tree.children.toArray(), { applies: always, layer: unlayered })
    } catch (error) {
      if (!(error instanceof RangeError)) throw error // nested deeper than the parser supports
    }
  }

  #addAll(nodes: readonly CssNode[], around: Pick<Rule, 'applies' | 'layer'>): void {
    for (const node of nodes) {
      if (node.type === 'Rule') this.#addRule(node, around)
      else if (node.type === 'Atrule') this.#addBlock(node, around)
    }
  }

  #addBlock(node: Extract<CssNode, { type: 'Atrule' }>, around: Pick<Rule, 'applies' | 'layer'>): void {
    const name = node.name.toLowerCase()
    const isKeyframes = name.endsWith('keyframes')
    if (name === 'layer') for (const layer of layerNames(node.prelude)) this.#layerOf(layer)
    if (!node.block) return
    if (isKeyframes) return this.#addAnimation(node)
    const applies = scenes.map((scene, at) => allOf([around.applies[at] ?? 'no', appliesIn(name, node.prelude, scene)]))
    const layer = name === 'layer' ? this.#layerOf(layerNames(node.prelude)[0] ?? '') : around.layer
    this.#addAll(node.block.children.toArray(), { applies, layer })
  }

  #addAnimation({ prelude, block }: Extract<CssNode, { type: 'Atrule' }>): void {
    const steps = (block?.children.toArray() ?? []).flatMap((step) =>
      step.type === 'Rule' ? [givenOf(step.block.children.toArray())] : [],
    )
    const [first] = prelude?.type === 'AtrulePrelude' ? prelude.children.toArray() : []
    const name = first?.type === 'Identifier' ? decoded(first.name) : first?.type === 'String' ? first.value : ''
    const declared = steps.map((given) => new Map(given.map(({ property, value }) => [property, value])))
    this.animations.set(name.toLowerCase(), declared.slice(0, maxSteps))
  }

  #addRule(node: Extract<CssNode, { type: 'Rule' }>, { applies, layer }: Pick<Rule, 'applies' | 'layer'>): void {
    const given = givenOf(node.block.children.toArray())
    if (given.length === 0 || node.prelude.type !== 'SelectorList' || applies.every((one) => one === 'no')) return
    for (const one of node.prelude.children.toArray()) {
      const selector = one.type === 'Selector' ? compiled(one) : undefined
      if (!selector || ++this.#order > maxRules) continue
      this.#differs ||= new Set(applies).size > 1
      this.#doubts ||= applies.includes('maybe') || selector.isDoubtful
      const rule = { selector, applies, layer, order: this.#order, given }
      const there = this.#byKey.get(selector.key)
      if (there) there.push(rule)
      else this.#byKey.set(selector.key, [rule])
    }
  }

  /** The position of a layer, in the order of first occurrence. */
  #layerOf(name: string): number {
    const at = this.#layers.indexOf(name)
    if (at >= 0 && name !== '') return at
    return Math.min(this.#layers.push(name) - 1, unlayered - 1)
  }

  #inlineOf(style: string | undefined): readonly Given[] {
    if (style === undefined || style === '') return []
    const before = this.#inline.get(style)
    if (before) return before
    const given = readInline(style)
    this.#inline.set(style, given)
    return given
  }
}

/** One screen, with or without the uncertain rules. */
export interface View {
  readonly scene: number
  readonly withDoubts: boolean
}

/** A declaration of a sanitized attribute, which contains neither comments nor escapes. */
const declaration = /([a-z-][a-z0-9-]*):((?:"[^"]*"|url\([^()]*\)|[^;"])*)/gi

const readInline = (style: string): readonly Given[] =>
  [...style.matchAll(declaration)].flatMap(([, property = '', text = '']) => {
    const value = text.replace(/\s*!\s*important\s*$/i, '')
    return given(property, value, value !== text)
  })

const givenOf = (nodes: readonly CssNode[]): Given[] =>
  nodes
    .filter((node): node is Declaration => node.type === 'Declaration')
    .flatMap(({ property, value, important }) => (value.type === 'Raw' ? given(decoded(property), value.value, important !== false) : []))

/** Returns no declaration for a property that cannot hide text. */
function given(written: string, text: string, isImportant: boolean): Given[] {
  const property = written.startsWith('--') ? written : written.toLowerCase()
  if (property.startsWith(unjudgedPrefix)) return [{ property: property.slice(unjudgedPrefix.length), value: unjudged, isImportant }]
  if (!watchedProperties.has(property) && !property.startsWith('--')) return []
  const plain = text
    .replaceAll(/url\([^()]*\)/gi, 'url()')
    .trim()
    .toLowerCase()
  return [{ property, value: plain.length > maxValue ? unjudged : plain, isImportant }]
}

/** Orders by importance, inline style, layer, specificity and source order. The order of layers is reversed for important declarations. */
const placed = (given: Given, layer: number, specificity: number, order: number): Placed => {
  const rank = given.isImportant && layer <= unlayered ? unlayered - layer : layer
  return { given, weight: (given.isImportant ? 1e13 : 0) + rank * 1e11 + specificity * 1e4 + order }
}

const placesOf = ({ given, layer, selector, order }: Rule): Placed[] => given.map((one) => placed(one, layer, selector.specificity, order))

/** The names in a `layer` rule; an empty name for an anonymous layer. */
function layerNames(prelude: CssNode | null): string[] {
  if (prelude?.type !== 'AtrulePrelude') return ['']
  const lists = prelude.children.toArray().flatMap((node) => ('children' in node && node.children ? node.children.toArray() : []))
  return (lists as readonly (CssNode & { name?: string })[]).map(({ name = '' }) => name)
}
