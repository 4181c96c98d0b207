/**
 * Knows when everything that had begun by now has ended. It counts instead of keeping a set of promises: a set that many
 * short-lived things pass through outgrows its table again and again, and V8 lets each old table hold on to the next one and
 * to what stood in it, so that contents of messages would fill the old generation until the next full collection.
 */
export class InFlight {
  #cohort = new Cohort()
  #earlier: Promise<unknown> = Promise.resolve()

  /** Call what it answers when it has ended. */
  begin(): () => void {
    const cohort = this.#cohort
    cohort.open++
    return () => cohort.end()
  }

  /** Resolves when all that has begun before the call has ended. */
  settled(): Promise<unknown> {
    const { ended } = this.#cohort
    if (this.#cohort.open === 0) return this.#earlier
    this.#cohort.isClosed = true
    this.#cohort = new Cohort()
    return (this.#earlier = Promise.all([this.#earlier, ended]))
  }
}

/** What begins between two calls of `settled`. */
class Cohort {
  open = 0
  isClosed = false
  readonly #end = Promise.withResolvers<void>()
  readonly ended = this.#end.promise

  end(): void {
    this.open--
    if (this.isClosed && this.open === 0) this.#end.resolve()
  }
}
