/** Decides whether an element's own styles hide its box: not rendered, moved away, collapsed, transparent or clipped. */
import { anyOf, certainly, type Certainty } from './certainty.ts'
import { functionsIn, partsOf, pixels, share } from './lengths.ts'

/** The value of a property, or undefined if it is not declared. */
export type ValueOf = (property: string) => string | undefined

const far = 400
const veryFar = 2000

/** Returns `yes` if a value certainly hides the box, `no` if it is harmless, and `maybe` otherwise. */
type Check = (value: string, valueOf: ValueOf) => Certainty

/** Returns a check with the harmless values of a property. For all other values, the check is uncertain (`maybe`). */
const unlessOneOf =
  (...harmless: readonly string[]): Check =>
  (value) =>
    harmless.includes(value) ? 'no' : 'maybe'

const unlessNone = unlessOneOf('none', 'initial', 'unset', 'revert')

/** Detects offsets that move text out of view to the left or top. To the right, a reader can scroll. */
const movesAway: Check = (value) => {
  const parts = partsOf(value)
  const lengths = parts.map((part) => pixels(part) ?? (/^(?:auto|initial|unset|inherit|revert|0)$/.test(part) ? 0 : undefined))
  if (lengths.some((length) => length !== undefined && length <= -far)) return 'yes'
  return lengths.some((length) => length === undefined || length >= veryFar) ? 'maybe' : 'no'
}

const movesIfPlaced: Check = (value, valueOf) =>
  /^(?:absolute|fixed|relative|sticky)$/.test(valueOf('position') ?? 'static') ? movesAway(value, valueOf) : 'no'

const indents: Check = (value) => {
  const length = pixels(partsOf(value)[0] ?? '')
  if (length === undefined) return unlessNone(value, () => undefined)
  return length <= -far ? 'yes' : certainlyDoubtful(length >= far)
}

const certainlyDoubtful = (isDoubtful: boolean): Certainty => (isDoubtful ? 'maybe' : 'no')

const filters: Check = (value) => {
  if (/^(?:none|initial|unset)$/.test(value)) return 'no'
  const found = functionsIn(value)
  if (found.length === 0) return 'maybe'
  return anyOf(
    found.map(([name, [part = '']]) => {
      if (/^(?:grayscale|sepia|saturate|hue-rotate|drop-shadow)$/.test(name)) return 'no'
      const amount = name === 'blur' ? pixels(part === '' ? '0' : part) : share(part === '' ? '1' : part)
      if (amount === undefined) return 'maybe'
      if (name === 'opacity') return certainly(amount < faint)
      if (name === 'blur') return certainlyDoubtful(amount > 2)
      return certainlyDoubtful(!/^(?:brightness|contrast)$/.test(name) || amount < 0.5 || amount > 2)
    }),
  )
}

/** Opacity below this value is invisible. */
export const faint = 0.06

const moves = (parts: readonly string[]): Certainty =>
  anyOf(
    parts.map((part) => {
      const length = pixels(part, 160)
      return length === undefined
        ? 'maybe'
        : part.endsWith('%')
          ? certainlyDoubtful(Math.abs(length) > 160)
          : certainly(Math.abs(length) >= far)
    }),
  )

const scales = (parts: readonly string[]): Certainty =>
  anyOf(
    parts.map((part) => {
      const factor = share(part)
      return factor === undefined ? 'maybe' : certainly(Math.abs(factor) < 0.1)
    }),
  )

/** Rotation in the plane does not hide text; a skew of 90 degrees reduces it to a line. */
const turns = (name: string, [part = '']: readonly string[]): Certainty =>
  certainlyDoubtful(
    name !== 'rotate' && name !== 'rotatez' && (share(part.replace(/deg$/, '')) === undefined || Math.abs(Number.parseFloat(part)) > 60),
  )

const transforms: Check = (value) => {
  if (/^(?:none|initial|unset)$/.test(value)) return 'no'
  const found = functionsIn(value)
  if (found.length === 0) return 'maybe'
  return anyOf(
    found.map(([name, parts]) => {
      if (/^translate(?:[xyz]|3d)?$/.test(name)) return moves(parts)
      if (/^scale[xy]?$/.test(name)) return scales(parts)
      return /^(?:rotate|rotatez|skew[xy]?)$/.test(name) ? turns(name, parts) : 'maybe'
    }),
  )
}

const clips: Check = (value) => {
  if (/^(?:none|auto|initial|unset)$/.test(value)) return 'no'
  const [name, parts] = functionsIn(value)[0] ?? ['', []]
  const [first = ''] = parts
  if (/^(?:circle|ellipse)$/.test(name) && pixels(first) === 0) return 'yes'
  if (name === 'inset' && first.endsWith('%') && Number.parseFloat(first) >= 50) return 'yes'
  return name === 'rect' && parts.length > 2 && parts.every((part) => (pixels(part) ?? far) <= 1) ? 'yes' : 'maybe'
}

const checks: Readonly<Record<string, Check>> = {
  display: (value) => (/^(?:none|table-column|table-column-group)$/.test(value) ? 'yes' : value.includes('(') ? 'maybe' : 'no'),
  'content-visibility': (value) => (value === 'hidden' ? 'yes' : unlessOneOf('visible', 'auto', 'initial')(value, () => undefined)),
  'mix-blend-mode': unlessOneOf('normal', 'initial', 'unset'),
  content: (value) => certainlyDoubtful(value.includes('(')),
  zoom: (value) =>
    share(value) === undefined
      ? certainlyDoubtful(value.includes('('))
      : certainly(Number.parseFloat(value) > 0 && (share(value) ?? 1) < 0.1),
  'text-indent': indents,
  'z-index': (value) => certainlyDoubtful(value.includes('(') || Number(value) < 0),
  ...Object.fromEntries(['filter', '-webkit-filter'].map((name) => [name, filters])),
  ...Object.fromEntries(['transform', '-webkit-transform', '-ms-transform', '-moz-transform'].map((name) => [name, transforms])),
  translate: (value) => (/^(?:none|initial|unset)$/.test(value) ? 'no' : moves(partsOf(value))),
  scale: (value) => (/^(?:none|initial|unset)$/.test(value) ? 'no' : scales(partsOf(value))),
  rotate: (value) =>
    /^(?:none|initial|unset|z )/.test(value) || partsOf(value).length === 1 ? certainlyDoubtful(value.includes('(')) : 'maybe',
  ...Object.fromEntries(['clip', 'clip-path', '-webkit-clip-path'].map((name) => [name, clips])),
  ...Object.fromEntries(
    ['mask', 'mask-image', '-webkit-mask', '-webkit-mask-image', '-webkit-mask-box-image', 'mask-border', 'mask-border-source'].map(
      (name) => [name, unlessNone],
    ),
  ),
  offset: unlessNone,
  'offset-path': unlessNone,
  ...Object.fromEntries(
    [
      'left',
      'right',
      'top',
      'bottom',
      'inset',
      'inset-block',
      'inset-inline',
      'inset-block-start',
      'inset-block-end',
      'inset-inline-start',
      'inset-inline-end',
    ].map((name) => [name, movesIfPlaced]),
  ),
  ...Object.fromEntries(
    ['margin', 'margin-left', 'margin-top', 'margin-block', 'margin-block-start', 'margin-inline', 'margin-inline-start'].map((name) => [
      name,
      movesAway,
    ]),
  ),
}

const sizes = ['height', 'max-height', 'width', 'max-width', 'block-size', 'max-block-size', 'inline-size', 'max-inline-size']
const overflows = ['overflow', 'overflow-x', 'overflow-y', 'overflow-block', 'overflow-inline']

/** Detects a box without space that clips its overflow. */
function isClosed(valueOf: ValueOf): Certainty {
  const values = overflows.flatMap((name) => valueOf(name) ?? [])
  const contained = /strict|content|paint|\(/.test(valueOf('contain') ?? '')
  if (!contained && values.every((value) => /^(?:visible|initial|unset)$/.test(value))) return 'no'
  const rooms = sizes.flatMap((name) => valueOf(name) ?? []).map((value) => pixels(value) ?? (value.includes('(') ? 3 : far))
  const least = Math.min(far, ...rooms)
  return least <= 1 ? 'yes' : certainlyDoubtful(least <= 5)
}

/** Decides whether declarations hide the element with its content. */
export function isHiddenBox(declared: Iterable<string>, valueOf: ValueOf, hidingAnimations: ReadonlySet<string>): Certainty {
  const found = [...declared].map((property): Certainty => {
    const value = valueOf(property)
    return value === undefined ? 'no' : (checks[property]?.(value, valueOf) ?? 'no')
  })
  const names = ['animation', 'animation-name', '-webkit-animation', '-webkit-animation-name'].flatMap((name) =>
    partsOf(valueOf(name) ?? ''),
  )
  const animated = certainlyDoubtful(names.some((name) => hidingAnimations.has(name.replace(/,$/, '')) || name.includes('(')))
  return anyOf([...found, isClosed(valueOf), animated])
}
