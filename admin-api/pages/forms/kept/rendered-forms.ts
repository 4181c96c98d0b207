/** Pages and fragments that are the same for every visitor. */
import { raw, type Answer } from '../../../operation/answer.ts'
import type { Fragment } from '../scripts/plan-types.ts'

/** In characters, for all pages together; the largest form has half a million. */
const maxKept = 16_000_000

/** Pages that differ only in the token of the visit. Versions never change, so entries stay valid. */
export class RenderedForms {
  readonly #pages = new Map<string, { readonly made: Answer | Fragment; readonly pieces: readonly string[]; readonly size: number }>()
  #size = 0

  /** Returns the page of this name. Renders it if it is not cached or has no name. */
  async page(name: string | undefined, token: string, make: () => Promise<Answer>): Promise<Answer> {
    const found = await this.#find(name && `page ${name}`, token, make, ({ body }) => (typeof body === 'string' ? body : ''))
    return found.text === undefined ? found.made : withBody(found.made, found.text)
  }

  async fragment(name: string | undefined, token: string, make: () => Promise<Fragment>): Promise<Fragment> {
    const found = await this.#find(name && `fragment ${name}`, token, make, ({ html }) => html)
    return found.text === undefined ? found.made : { ...found.made, html: found.text }
  }

  async #find<Made extends Answer | Fragment>(
    name: string | undefined,
    token: string,
    make: () => Promise<Made>,
    textOf: (made: Made) => string,
  ): Promise<{ readonly made: Made; readonly text?: string }> {
    const known = name === undefined ? undefined : this.#pages.get(name)
    // the name begins with the kind: a page or a fragment
    if (known) return { made: known.made as Made, text: known.pieces.join(token) }
    const made = await make()
    if (name !== undefined) this.#keep(name, made, textOf(made).split(token))
    return { made }
  }

  #keep(name: string, made: Answer | Fragment, pieces: readonly string[]): void {
    const size = pieces.reduce((sum, { length }) => sum + length, 0)
    if (size > maxKept / 4) return
    this.#size += size - (this.#pages.get(name)?.size ?? 0)
    this.#pages.delete(name)
    this.#pages.set(name, { made: withoutText(made), pieces, size })
    for (const [oldest, { size: freed }] of this.#pages) {
      if (this.#size <= maxKept) return
      this.#size -= freed
      this.#pages.delete(oldest)
    }
  }
}

const withBody = (made: Answer, body: string): Answer =>
  raw(body, { contentType: made.contentType, headers: made.headers, ...(made.status !== undefined && { status: made.status }) })

/** Removes the text from a page or fragment. */
const withoutText = (made: Answer | Fragment): Answer | Fragment => ('html' in made ? { ...made, html: '' } : withBody(made, ''))
