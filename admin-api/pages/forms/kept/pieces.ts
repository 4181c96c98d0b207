/** Cached parts of form pages that visitors share. A page with some answers renders only the rows with an answer. */
import type { Html } from '../../layout/html.ts'

/** In characters, for all parts together; the largest form has half a million. */
const maxKept = 16_000_000

/** Parts of one form, version, language and day. */
export class Pieces {
  readonly #kept = new Map<string, Html>()
  readonly #onKept: (size: number) => void
  #size = 0

  /** `onKept` is called for each cached part, with its size in characters. */
  constructor(onKept: (size: number) => void) {
    this.#onKept = onKept
  }

  /** In characters. */
  get size(): number {
    return this.#size
  }

  /** Returns the part of this name, and renders it if it is not cached. */
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

  /** Removes the forms that were cached first. */
  #grow(size: number): void {
    this.#size += size
    for (const [oldest, { size: freed }] of this.#forms) {
      if (this.#size <= maxKept) return
      this.#size -= freed
      this.#forms.delete(oldest)
    }
  }
}
