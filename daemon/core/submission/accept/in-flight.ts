/**
 * Tracks tasks in flight, so that a caller can wait for all tasks that have begun. Counts tasks instead of keeping their promises in a set:
 * V8's old tables of a busy set keep references to removed entries. Message contents would then fill the old generation until the next full
 * collection.
 */
export class InFlight {
  #cohort = new Cohort()
  #earlier: Promise<unknown> = Promise.resolve()

  /** Registers a task. The caller calls the returned function when the task has ended. */
  begin(): () => void {
    const cohort = this.#cohort
    cohort.open++
    return () => cohort.end()
  }

  /** Resolves when all tasks that began before the call have ended. */
  settled(): Promise<unknown> {
    const { ended } = this.#cohort
    if (this.#cohort.open === 0) return this.#earlier
    this.#cohort.isClosed = true
    this.#cohort = new Cohort()
    return (this.#earlier = Promise.all([this.#earlier, ended]))
  }
}

/** Tasks that begin between two calls of `settled`. */
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
