/** The two screens of the visibility check, and the evaluation of media queries for them (Media Queries 4). */
import type { CssNode } from 'css-tree'
import { allOf, anyOf, certainly, notThat, type Certainty } from './certainty.ts'

/** Sizes in CSS pixels. */
export interface Scene {
  readonly width: number
  readonly height: number
  /** Device pixels per CSS pixel. */
  readonly ratio: number
  readonly canHover: boolean
}

/** A desktop window and a phone, both in light mode. Text visible on either screen is visible to people. */
export const scenes: readonly Scene[] = [
  { width: 1100, height: 800, ratio: 1, canHover: true },
  { width: 390, height: 800, ratio: 3, canHover: false },
]

/** Decides whether the rules of an at-rule apply on the screen. */
export function appliesIn(name: string, prelude: CssNode | null, scene: Scene): Certainty {
  if (name === 'layer') return 'yes'
  if (name === 'media') return prelude ? queryOf(prelude, scene) : 'yes'
  return 'maybe'
}

function queryOf(node: CssNode, scene: Scene): Certainty {
  switch (node.type) {
    case 'AtrulePrelude':
    case 'MediaQueryList':
      return anyOf(node.children.toArray().map((child) => queryOf(child, scene)))
    case 'MediaQuery': {
      const { modifier, mediaType, condition } = node as unknown as {
        modifier: string | null
        mediaType: string | null
        condition: CssNode | null
      }
      const isScreen = certainly(mediaType === null || /^(?:all|screen)$/i.test(mediaType))
      const found = allOf([isScreen, condition ? queryOf(condition, scene) : 'yes'])
      return modifier?.toLowerCase() === 'not' ? notThat(found) : found
    }
    case 'Condition':
      return conditionOf(node.children.toArray(), scene)
    case 'Feature':
      return featureOf(node.name.toLowerCase(), node.value, scene)
    case 'FeatureRange':
      return rangeOf(node, scene)
    default:
      return 'maybe'
  }
}

/** Evaluates terms joined by `and`, `or` and `not`. */
function conditionOf(nodes: readonly CssNode[], scene: Scene): Certainty {
  const words = nodes.flatMap((node) => (node.type === 'Identifier' ? [node.name.toLowerCase()] : []))
  const parts = nodes.filter(({ type }) => type !== 'Identifier').map((node) => queryOf(node, scene))
  if (words[0] === 'not') return notThat(allOf(parts))
  return words.includes('or') ? anyOf(parts) : allOf(parts)
}

/** Converts a number to CSS pixels; undefined for other units. */
function numberOf(node: CssNode | null): number | undefined {
  if (node?.type === 'Number') return Number(node.value)
  if (node?.type !== 'Dimension') return undefined
  const per: Readonly<Record<string, number>> = { px: 1, em: 16, rem: 16, pt: 4 / 3, in: 96, cm: 37.8, dppx: 1, x: 1, dpi: 1 / 96 }
  const unit = per[node.unit.toLowerCase()]
  return unit === undefined ? undefined : Number(node.value) * unit
}

const quantities: Readonly<Record<string, (scene: Scene) => number>> = {
  width: ({ width }) => width,
  height: ({ height }) => height,
  'device-width': ({ width }) => width,
  'device-height': ({ height }) => height,
  resolution: ({ ratio }) => ratio,
  'device-pixel-ratio': ({ ratio }) => ratio,
  color: () => 8,
  monochrome: () => 0,
}

/** Features with keyword values. Assumes light mode and default preferences. */
const words: Readonly<Record<string, (scene: Scene) => string>> = {
  orientation: ({ width, height }) => (width > height ? 'landscape' : 'portrait'),
  hover: ({ canHover }) => (canHover ? 'hover' : 'none'),
  'any-hover': ({ canHover }) => (canHover ? 'hover' : 'none'),
  pointer: ({ canHover }) => (canHover ? 'fine' : 'coarse'),
  'any-pointer': ({ canHover }) => (canHover ? 'fine' : 'coarse'),
  'prefers-color-scheme': () => 'light',
  'prefers-reduced-motion': () => 'no-preference',
  'prefers-contrast': () => 'no-preference',
  'forced-colors': () => 'none',
  '-ms-high-contrast': () => 'none',
}

function featureOf(written: string, value: CssNode | null, scene: Scene): Certainty {
  const [, bound, name = ''] = /^(?:-(?:webkit|moz|ms|o)-)?(?:(min|max)-{1,2}(?:moz-)?)?(.+)$/.exec(written) ?? []
  const word = (words[written] ?? words[name])?.(scene)
  if (word !== undefined) return value?.type === 'Identifier' ? certainly(value.name.toLowerCase() === word) : certainly(word !== 'none')
  const quantity = quantities[name]?.(scene)
  if (quantity === undefined) return 'maybe'
  if (value === null) return certainly(quantity !== 0)
  const limit = numberOf(value)
  if (limit === undefined) return 'maybe'
  return certainly(bound === 'min' ? quantity >= limit : bound === 'max' ? quantity <= limit : quantity === limit)
}

interface Range {
  readonly left: CssNode
  readonly leftComparison: string
  readonly middle: CssNode
  readonly rightComparison: string | null
  readonly right: CssNode | null
}

/** Evaluates a range such as `400px <= width < 800px`. */
function rangeOf({ left, leftComparison, middle, rightComparison, right }: Range, scene: Scene): Certainty {
  const valueOf = (node: CssNode | null): number | undefined =>
    node?.type === 'Identifier' ? quantities[node.name.toLowerCase()]?.(scene) : numberOf(node)
  const first = compared(valueOf(left), leftComparison, valueOf(middle))
  return rightComparison === null ? first : allOf([first, compared(valueOf(middle), rightComparison, valueOf(right))])
}

function compared(one: number | undefined, comparison: string, other: number | undefined): Certainty {
  if (one === undefined || other === undefined) return 'maybe'
  if (comparison.startsWith('<')) return certainly(one < other || (comparison === '<=' && one === other))
  if (comparison.startsWith('>')) return certainly(one > other || (comparison === '>=' && one === other))
  return certainly(one === other)
}
