/** Determines from inline styles whether text is visible. Style sheets are ignored. */

const invisible =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0+)?\s*(?:;|!|$)|max-height\s*:\s*0(?:px)?\s*(?:;|!|$)|mso-hide\s*:\s*all)/i
const sizePx = /(?:^|;)\s*font-size\s*:\s*(\d{1,6}(?:\.\d{1,6})?|\.\d{1,6})(px|pt)?\s*(?:;|!|$)/i
const maxStyle = 4000
const named: Readonly<Record<string, string>> = { white: '#ffffff', black: '#000000', red: '#ff0000', gray: '#808080', silver: '#c0c0c0' }

export class ShownStyle {
  static readonly root = new ShownStyle(false, 16, '#000000', '#ffffff')
  readonly isHidden: boolean
  readonly #px: number
  readonly #ink: string
  readonly #ground: string

  private constructor(isHidden: boolean, px: number, ink: string, ground: string) {
    this.isHidden = isHidden
    this.#px = px
    this.#ink = ink
    this.#ground = ground
  }

  /** The font is too small to read. */
  get isTiny(): boolean {
    return this.#px < 2
  }

  /** The text has exactly the colour of its background. */
  get isCamouflaged(): boolean {
    return this.#ink === this.#ground
  }

  /** The style of an element with these attributes inside an element of this style. */
  inside(attributes: Readonly<Record<string, string>>): ShownStyle {
    const style = (attributes['style'] ?? '').slice(0, maxStyle)
    const { bgcolor, color, hidden } = attributes
    if (style === '' && bgcolor === undefined && color === undefined && hidden === undefined) return this
    const [, size, unit] = sizePx.exec(style) ?? []
    const px = size === undefined ? this.#px : Number(size) * (unit === 'pt' ? 4 / 3 : 1)
    const ink = colour(valueIn(style, 'color') ?? color) ?? this.#ink
    // with a background image or gradient, the background colour is unknown
    const picture = /(?:^|;)\s*background(?:-image)?\s*:[^;]*(?:url\(|gradient\()/i.test(style)
    const ground = picture ? '' : (colour(valueIn(style, 'background-color') ?? valueIn(style, 'background') ?? bgcolor) ?? this.#ground)
    return new ShownStyle(this.isHidden || invisible.test(style) || hidden !== undefined, px, ink, ground)
  }
}

const valueIn = (style: string, property: string): string | undefined =>
  new RegExp(String.raw`(?:^|;)\s*${property}\s*:\s*([^;!]{1,60})`, 'i').exec(style)?.[1]

/** Normalizes a colour; undefined if it is missing or unknown. */
function colour(text: string | undefined): string | undefined {
  const plain = text?.trim().toLowerCase().replaceAll(/\s/g, '') ?? ''
  if (/^#[0-9a-f]{6}$/.test(plain)) return plain
  if (/^#[0-9a-f]{3}$/.test(plain)) return `#${[...plain.slice(1)].map((digit) => digit + digit).join('')}`
  if (/^[0-9a-f]{6}$/.test(plain)) return `#${plain}`
  const [, red, green, blue] = /^rgb\((\d{1,3}),(\d{1,3}),(\d{1,3})\)$/.exec(plain) ?? []
  if (red !== undefined) return `#${[red, green, blue].map((part) => Math.min(255, Number(part)).toString(16).padStart(2, '0')).join('')}`
  return named[plain]
}
