/** Pieces of the pages of forms that visitors share, so that a page with some answers renders only their rows. */
import type { Html } from '../../layout/html.ts'

/** Characters of all kept pieces; a form at its limits has half a million. */
const maxKept = 16_000_000

/** The pieces of one form, version, language and day. */
export class Pieces {
  readonly #kept = new Map<string, Html>()
  readonly #onKept: (size: number) => void
  #size = 0

  /** `onKept` is called for each kept piece, with its size in characters. */
  constructor(onKept: (size: number) => void) {
    this.#onKept = onKept
  }

  /** In characters. */
  get size(): number {
    return this.#size
  }

  /** The piece of this name; it is made if it is not kept. */
  get(name: string, make: () => Html): Html {
    const known = this.#kept.get(name)
    if (known) return known
    const made = make()
    this.#kept.set(name, made)
    this.count(name.length + made.toString().length)
    return made
  }

  count(size: number): void {
    this.#size += size
    this.#onKept(size)
  }
}

export class KeptPieces {
  readonly #forms = new Map<string, Pieces>()
  #size = 0

  of(form: string): Pieces {
    const known = this.#forms.get(form)
    if (known) return known
    const pieces = new Pieces((size) => {
      if (this.#forms.get(form) === pieces) this.#grow(size)
    })
    this.#forms.set(form, pieces)
    pieces.count(form.length)
    return pieces
  }

  /** Forgets the forms whose pieces were kept first. */
  #grow(size: number): void {
    this.#size += size
    for (const [oldest, { size: freed }] of this.#forms) {
      if (this.#size <= maxKept) return
      this.#size -= freed
      this.#forms.delete(oldest)
    }
  }
}
