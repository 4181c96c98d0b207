/** HTML templates that prevent injection: every inserted value is escaped unless a template made it. */

/** A piece of HTML that only `html` can create. */
export class Html {
  readonly #text: string

  /** Use the template tag `html`; the constructor does not escape the text. */
  private constructor(text: string) {
    this.#text = text
  }

  static of(strings: readonly string[], values: readonly HtmlValue[]): Html {
    return new Html(strings.map((text, i) => text + rendered(values[i])).join(''))
  }

  toString(): string {
    return this.#text
  }
}

/** Values in a template; `undefined`, `null` and `false` are omitted. */
export type HtmlValue = Html | string | number | undefined | null | false | readonly HtmlValue[]

/** Values are escaped for text and for attributes in quotes; an attribute without quotes is not safe. */
export const html = (strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html => Html.of(strings, values)

function rendered(value: HtmlValue): string {
  if (value instanceof Html) return value.toString()
  if (typeof value === 'string') return escape(value)
  if (typeof value === 'number') return String(value)
  return Array.isArray(value) ? value.map(rendered).join('') : ''
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
