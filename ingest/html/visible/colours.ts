/** Colours of text and background, as far as they determine whether text is readable (CSS Color 4). */

/** Components from 0 to 255; `alpha` from 0 to 1. */
export interface Colour {
  readonly red: number
  readonly green: number
  readonly blue: number
  readonly alpha: number
}

export const white: Colour = { red: 255, green: 255, blue: 255, alpha: 1 }
export const black: Colour = { red: 0, green: 0, blue: 0, alpha: 1 }
export const linkBlue: Colour = { red: 0, green: 0, blue: 238, alpha: 1 }

/** Colour names in the order of their values, each followed by six digits. */
const namedDigits =
  'black 000000 navy 000080 darkblue 00008b mediumblue 0000cd blue 0000ff darkgreen 006400 green 008000 teal 008080 darkcyan 008b8b ' +
  'deepskyblue 00bfff darkturquoise 00ced1 mediumspringgreen 00fa9a lime 00ff00 springgreen 00ff7f aqua 00ffff cyan 00ffff ' +
  'midnightblue 191970 dodgerblue 1e90ff lightseagreen 20b2aa forestgreen 228b22 seagreen 2e8b57 darkslategray 2f4f4f ' +
  'darkslategrey 2f4f4f limegreen 32cd32 mediumseagreen 3cb371 turquoise 40e0d0 royalblue 4169e1 steelblue 4682b4 ' +
  'darkslateblue 483d8b mediumturquoise 48d1cc indigo 4b0082 darkolivegreen 556b2f cadetblue 5f9ea0 cornflowerblue 6495ed ' +
  'rebeccapurple 663399 mediumaquamarine 66cdaa dimgray 696969 dimgrey 696969 slateblue 6a5acd olivedrab 6b8e23 slategray 708090 ' +
  'slategrey 708090 lightslategray 778899 lightslategrey 778899 mediumslateblue 7b68ee lawngreen 7cfc00 chartreuse 7fff00 ' +
  'aquamarine 7fffd4 maroon 800000 purple 800080 olive 808000 gray 808080 grey 808080 skyblue 87ceeb lightskyblue 87cefa ' +
  'blueviolet 8a2be2 darkred 8b0000 darkmagenta 8b008b saddlebrown 8b4513 darkseagreen 8fbc8f lightgreen 90ee90 mediumpurple 9370db ' +
  'darkviolet 9400d3 palegreen 98fb98 darkorchid 9932cc yellowgreen 9acd32 sienna a0522d brown a52a2a darkgray a9a9a9 darkgrey a9a9a9 ' +
  'lightblue add8e6 greenyellow adff2f paleturquoise afeeee lightsteelblue b0c4de powderblue b0e0e6 firebrick b22222 ' +
  'darkgoldenrod b8860b mediumorchid ba55d3 rosybrown bc8f8f darkkhaki bdb76b silver c0c0c0 mediumvioletred c71585 indianred cd5c5c ' +
  'peru cd853f chocolate d2691e tan d2b48c lightgray d3d3d3 lightgrey d3d3d3 thistle d8bfd8 orchid da70d6 goldenrod daa520 ' +
  'palevioletred db7093 crimson dc143c gainsboro dcdcdc plum dda0dd burlywood deb887 lightcyan e0ffff lavender e6e6fa darksalmon e9967a ' +
  'violet ee82ee palegoldenrod eee8aa lightcoral f08080 khaki f0e68c aliceblue f0f8ff honeydew f0fff0 azure f0ffff sandybrown f4a460 ' +
  'wheat f5deb3 beige f5f5dc whitesmoke f5f5f5 mintcream f5fffa ghostwhite f8f8ff salmon fa8072 antiquewhite faebd7 linen faf0e6 ' +
  'lightgoldenrodyellow fafad2 oldlace fdf5e6 red ff0000 fuchsia ff00ff magenta ff00ff deeppink ff1493 orangered ff4500 tomato ff6347 ' +
  'hotpink ff69b4 coral ff7f50 darkorange ff8c00 lightsalmon ffa07a orange ffa500 lightpink ffb6c1 pink ffc0cb gold ffd700 ' +
  'peachpuff ffdab9 navajowhite ffdead moccasin ffe4b5 bisque ffe4c4 mistyrose ffe4e1 blanchedalmond ffebcd papayawhip ffefd5 ' +
  'lavenderblush fff0f5 seashell fff5ee cornsilk fff8dc lemonchiffon fffacd floralwhite fffaf0 snow fffafa yellow ffff00 ' +
  'lightyellow ffffe0 ivory fffff0 white ffffff windowtext 000000 canvastext 000000 window ffffff canvas ffffff'
const words = namedDigits.split(' ')
const named: ReadonlyMap<string, string> = new Map(
  words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1] ?? ''] as const] : [])),
)

/** Parses a colour. `unknown` for an unsupported notation such as `oklch()`; undefined if the text is not a colour. */
export function colourOf(written: string): Colour | 'unknown' | undefined {
  const text = written.trim().toLowerCase()
  if (text === 'transparent') return { ...white, alpha: 0 }
  const hex = named.get(text) ?? /^#?([0-9a-f]{3,8})$/.exec(text)?.[1]
  if (hex !== undefined) return ofHex(hex)
  const [, name, parts = ''] = /^(rgba?|hsla?|hwb)\(([^()]*)\)$/.exec(text) ?? []
  if (name !== undefined)
    return (
      ofParts(
        name,
        parts.split(/[\s,/]+/).filter((part) => part !== ''),
      ) ?? 'unknown'
    )
  return /^(?:lab|lch|oklab|oklch|color|color-mix|light-dark|device-cmyk|rgba?|hsla?|hwb|unjudged)\(/.test(text) ? 'unknown' : undefined
}

function ofHex(hex: string): Colour | undefined {
  const wide = hex.length < 6 ? [...hex].map((digit) => digit + digit).join('') : hex
  if (wide.length !== 6 && wide.length !== 8) return undefined
  const part = (at: number): number => Number.parseInt(wide.slice(at, at + 2), 16)
  return { red: part(0), green: part(2), blue: part(4), alpha: wide.length === 8 ? part(6) / 255 : 1 }
}

function ofParts(name: string, [one = '', two = '', three = '', four = '1']: readonly string[]): Colour | undefined {
  const share = (part: string, whole: number): number => (part.endsWith('%') ? Number.parseFloat(part) / 100 : Number(part) / whole)
  const alpha = share(four, 1)
  const rgb = name.startsWith('rgb')
    ? [share(one, 255), share(two, 255), share(three, 255)]
    : byHue(name, Number.parseFloat(one) * (turns.find(([unit]) => one.endsWith(unit))?.[1] ?? 1), share(two, 100), share(three, 100))
  const [red = NaN, green = NaN, blue = NaN] = rgb.map((part) => 255 * Math.min(1, Math.max(0, part)))
  return [red, green, blue, alpha].some(Number.isNaN) ? undefined : { red, green, blue, alpha }
}

/** Units of angles in degrees. `grad` comes first because it ends with `rad`. */
const turns: readonly (readonly [string, number])[] = [
  ['deg', 1],
  ['grad', 0.9],
  ['rad', 180 / Math.PI],
  ['turn', 360],
]

function byHue(name: string, degrees: number, second: number, third: number): number[] {
  const pure = [0, 8, 4].map((offset) => {
    const k = (offset + (((degrees % 360) + 360) % 360) / 30) % 12
    return [k, Math.max(-1, Math.min(k - 3, 9 - k, 1))] as const
  })
  if (name === 'hwb') {
    const [whiteness, blackness] = [second, third].map((part) => part / Math.max(1, second + third))
    return pure.map(([, wave]) => (0.5 - 0.5 * wave) * (1 - (whiteness ?? 0) - (blackness ?? 0)) + (whiteness ?? 0))
  }
  const reach = second * Math.min(third, 1 - third)
  return pure.map(([, wave]) => third - reach * wave)
}

/** Finds all colours in a longer value, such as `background` or a gradient. */
export const coloursIn = (value: string): (Colour | 'unknown')[] =>
  [...value.matchAll(/#[0-9a-f]{3,8}\b|[a-z-]+\([^()]*\)|[a-z]{3,24}/g)].flatMap(([part]) => {
    const colour = part.startsWith('url(') ? undefined : colourOf(part)
    return colour === undefined ? [] : [colour]
  })

/** Text is unreadable if its colour differs from the background by less than this, summed over all components. */
const leastDifference = 48

/** Reports whether text is indistinguishable from its background. */
export function isAlike(ink: Colour, ground: Colour): boolean {
  const difference = (part: 'red' | 'green' | 'blue'): number => Math.abs(ink[part] - ground[part]) * ink.alpha
  return difference('red') + difference('green') + difference('blue') < leastDifference
}
