/** Flattens nested style rules (CSS Nesting 1), so that readers without nesting support can process them. */
import { createRequire } from 'node:module'
import type { Atrule, CssNode, generate, List, ListItem, parse, Rule, SelectorList, walk } from 'css-tree'

const require = createRequire(import.meta.url)

const maxDepth = 4
const maxNested = 300
/** Limit for the selectors of a rule in characters, because they are repeated in each nested rule. */
const maxSelectors = 1000
/** Limit of places in a selector where the outer selectors are inserted. */
const maxPlaces = 4

/** Flattens nested rules in place. Returns false if rules are omitted because of their depth or number. */
export function unnest(rules: List<CssNode>): boolean {
  const left = { nested: maxNested, isWhole: true }
  const flat = flattened(rules.toArray(), 0, left)
  rules.clear()
  for (const rule of flat) rules.appendData(rule)
  return left.isWhole
}

interface Left {
  nested: number
  isWhole: boolean
}

function flattened(nodes: readonly CssNode[], depth: number, left: Left): CssNode[] {
  return nodes.flatMap((node) => {
    if (node.type === 'Atrule' && node.block) {
      replace(node.block.children, flattened(node.block.children.toArray(), depth, left))
      return [node]
    }
    return node.type === 'Rule' ? [node, ...takenOut(node, depth, left)] : [node]
  })
}

function replace(list: List<CssNode>, nodes: readonly CssNode[]): void {
  list.clear()
  for (const node of nodes) list.appendData(node)
}

/** Removes and returns the rules nested in a rule. The rule keeps its declarations. */
function takenOut(rule: Rule, depth: number, left: Left): CssNode[] {
  const inside = rule.block.children.toArray().flatMap(readRaw)
  const nested = inside.filter((node): node is Rule | Atrule => node.type === 'Rule' || node.type === 'Atrule')
  if (nested.length === 0) return []
  replace(
    rule.block.children,
    inside.filter(({ type }) => type !== 'Rule' && type !== 'Atrule'),
  )
  left.nested -= nested.length
  const { prelude } = rule
  if (depth >= maxDepth || left.nested < 0 || prelude.type !== 'SelectorList' || written(prelude).length > maxSelectors) {
    left.isWhole = false
    return []
  }
  return flattened(
    nested.flatMap((node) => composed(node, prelude, left)),
    depth + 1,
    left,
  )
}

/** Parses nested rules that the parser left as raw text; declarations may follow them. */
function readRaw(node: CssNode): CssNode[] {
  if (node.type !== 'Raw' || !node.value.includes('{')) return [node]
  const read = require('css-tree/parser') as typeof parse
  const sheet = read(node.value, { context: 'stylesheet', parseCustomProperty: true })
  return (sheet.type === 'StyleSheet' ? sheet.children.toArray() : []).flatMap((one) => {
    if (one.type !== 'Raw') return [one]
    const list = read(one.value, { context: 'declarationList', parseCustomProperty: true })
    return list.type === 'DeclarationList' ? list.children.toArray() : []
  })
}

const written = (node: CssNode): string => (require('css-tree/generator') as typeof generate)(node)

const composed = (node: CssNode, around: SelectorList, left: Left): CssNode[] => {
  if (node.type === 'Rule') return outside(node, around, left)
  return node.type === 'Atrule' ? aroundDeclarations(node, around, left) : []
}

/** Returns the rule with the outer selectors, inserted for `&` or prepended. */
function outside(rule: Rule, around: SelectorList, left: Left): CssNode[] {
  if (rule.prelude.type !== 'SelectorList') return []
  const parent = (): CssNode => ({ type: 'PseudoClassSelector', name: 'is', children: listOf<CssNode>([around]) })
  for (const selector of rule.prelude.children.toArray()) {
    if (selector.type !== 'Selector') continue
    const places = nestingPlaces(selector)
    if (places.length > maxPlaces) {
      left.isWhole = false
      return []
    }
    for (const { item, list } of places) list.replace(item, list.createItem(parent()))
    if (places.length > 0) continue
    if (selector.children.first?.type !== 'Combinator') selector.children.prependData({ type: 'Combinator', name: ' ' })
    selector.children.prependData(parent())
  }
  return [rule]
}

interface Place {
  readonly item: ListItem<CssNode>
  readonly list: List<CssNode>
}

function nestingPlaces(selector: CssNode): Place[] {
  const places: Place[] = []
  ;(require('css-tree/walker') as typeof walk)(selector, (node, item, list) => {
    if (node.type === 'NestingSelector' && list) places.push({ item, list })
  })
  return places
}

/** Moves the declarations of an at-rule inside a rule into a rule for the same elements. */
function aroundDeclarations(node: Atrule, around: SelectorList, left: Left): CssNode[] {
  if (!node.block) return []
  const inside = node.block.children.toArray().flatMap(readRaw)
  const own: Rule = {
    type: 'Rule',
    prelude: around,
    block: { type: 'Block', children: listOf(inside.filter(({ type }) => type === 'Declaration')) },
  }
  replace(node.block.children, [own, ...inside.flatMap((one) => composed(one, around, left))])
  return [node]
}

function listOf<T>(nodes: readonly T[]): List<T> {
  const { List: Made } = require('css-tree/utils') as { List: new <Item>() => List<Item> }
  const list = new Made<T>()
  for (const node of nodes) list.appendData(node)
  return list
}
